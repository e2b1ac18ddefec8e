/**
 * CPU time of system calls, ns: what the kernel computes apart from what file system and device do. A call costs its own
 * entry, `enter`, and for each page or path component what is named here. It is spent when the call ends, whatever its
 * outcome.
 */
export interface CallCosts {
  /** Entry and return of any call. */
  readonly enter: number;
  /** One component of a path that is in the dentry cache. */
  readonly component: number;
  /** One component that the file system had to look up. */
  readonly lookup: number;
  readonly open: number;
  readonly close: number;
  readonly read: number;
  readonly write: number;
  /** Each page (or part of one) that a read copies out of the cache. */
  readonly readPage: number;
  /** Each page (or part of one) that a write copies into the cache. */
  readonly writePage: number;
  /** A direct read or write, besides the device's time. */
  readonly direct: number;
  readonly seek: number;
  /** fsync, fdatasync, sync and their kind. */
  readonly synchronise: number;
  /** The stat family, access, readlink, attributes. */
  readonly attributes: number;
  /** Creation, removal, renaming and linking of an entry. */
  readonly entry: number;
  /** Each entry that a listing returns. */
  readonly listed: number;
  /** A page of a shared mapping that is touched first. */
  readonly fault: number;
}

/** Names of the costs, for checks and tables. */
export type CallCostName = keyof CallCosts;

/** Measured with `scripts/measure-system-calls.mjs` on Linux 6.18; see the README for machine and method. */
export const DEFAULT_COSTS: CallCosts = {
  enter: 100,
  component: 60,
  lookup: 600,
  open: 600,
  close: 200,
  read: 150,
  write: 250,
  readPage: 250,
  writePage: 350,
  direct: 1500,
  seek: 30,
  synchronise: 300,
  attributes: 300,
  entry: 2000,
  listed: 60,
  fault: 500,
};

import type { ParameterTable } from '@flashstack/sim';

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

/**
 * Measured with `scripts/measure-system-calls.mjs` in a virtual machine (AMD EPYC, Linux 6.18, ext4) and rounded, but for
 * `direct` and `synchronise`, which are those of tmpfs, without a device's driver, and `fault`, which is set by us: see the
 * README.
 */
export const DEFAULT_COSTS: CallCosts = {
  enter: 1100,
  component: 60,
  lookup: 1100,
  open: 900,
  close: 60,
  read: 550,
  write: 650,
  readPage: 400,
  writePage: 400,
  direct: 1000,
  seek: 130,
  synchronise: 200,
  attributes: 300,
  entry: 2700,
  listed: 150,
  fault: 1000,
};

const helps: CostHelp = {
  enter: 'Entry and return of any call.',
  component: 'A component of a path that is remembered.',
  lookup: 'A component that the file system looks up.',
  open: 'Opening a file.',
  close: 'Closing it.',
  read: 'A read, before its pages.',
  write: 'A write, before its pages.',
  readPage: 'Each page or part of one that is read.',
  writePage: 'Each page or part of one that is written.',
  direct: 'Direct I/O instead of pages.',
  seek: 'lseek and advice.',
  synchronise: 'fsync and its kind.',
  attributes: 'The stat family and changes of attributes.',
  entry: 'A new, removed or renamed entry.',
  listed: 'Each entry of a listing.',
  fault: 'A page of a mapping that is touched first.',
};

type CostHelp = Readonly<Record<CallCostName, string>>;

/** The costs with their defaults and limits, for tables of options and checks. */
export const COST_PARAMETERS: ParameterTable = (Object.keys(DEFAULT_COSTS) as CallCostName[]).map((name) => ({
  name,
  type: 'integer',
  unit: 'ns',
  default: DEFAULT_COSTS[name],
  min: 0,
  max: 1_000_000_000,
  help: `CPU time. ${helps[name]}`,
}));

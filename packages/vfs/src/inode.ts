import { RwLock, type Simulator } from '@flashstack/sim';
import type { Mapping } from './page-cache.js';

/** What an inode is; the numbers are those of `S_IFMT >> 12` on Linux and of `d_type`. */
export const FileKind = {
  fifo: 1,
  characterDevice: 2,
  directory: 4,
  blockDevice: 6,
  regular: 8,
  symlink: 10,
  socket: 12,
} as const;

/** Which times `Inode.stamp` sets. */
export const Stamp = { accessed: 1, modified: 2, changed: 4, born: 8 } as const;

/** Calendar time of a simulation: `epochSec` plus simulated time. */
export class WallClock {
  /** Seconds since 1970 at the last `read`. */
  sec = 0;
  /** Nanoseconds within the second at the last `read`. */
  nsec = 0;
  private readonly simulator: Simulator;
  private readonly epochSec: number;

  /** @param epochSec seconds since 1970 at simulated time 0. */
  constructor(simulator: Simulator, epochSec: number) {
    this.simulator = simulator;
    this.epochSec = epochSec;
  }

  /** Sets `sec` and `nsec` to the present. */
  read(): this {
    const now = this.simulator.now;
    const seconds = Math.floor(now / 1e9);
    this.sec = this.epochSec + seconds;
    this.nsec = now - seconds * 1e9;
    return this;
  }
}

/**
 * One file, directory or link in memory: made by its file system, one object per inode number as long as anybody refers
 * to it. The file system writes every field but `references` and `mapping`.
 */
export class Inode {
  readonly ino: number;
  /** A `FileKind`. */
  readonly kind: number;
  /** Permission bits, 0–0o7777. */
  mode = 0;
  uid = 0;
  gid = 0;
  /** Hard links; with 0 links and 0 references the file is gone. */
  links = 0;
  /** Bytes. */
  size = 0;
  /** Space taken, in units of 512 bytes (`st_blocks`). */
  sectors = 0;
  /** Device number of a device node. */
  device = 0;
  /** Tells an inode from an earlier one of the same number. */
  generation = 0;
  accessedSec = 0;
  accessedNsec = 0;
  modifiedSec = 0;
  modifiedNsec = 0;
  changedSec = 0;
  changedNsec = 0;
  bornSec = 0;
  bornNsec = 0;
  /** Open files, dentries and working directories; counted by whoever implements `SystemCalls`. */
  references = 0;
  /** Directories: exclusive to change entries, shared to look them up. Files: exclusive to write, truncate, allocate. */
  readonly lock: RwLock;
  /** The file system's own state. */
  state: unknown = null;
  /** Its pages; set by the page cache, which makes and forgets them. */
  mapping: Mapping | null = null;

  constructor(simulator: Simulator, ino: number, kind: number) {
    this.ino = ino;
    this.kind = kind;
    this.lock = new RwLock(simulator, `inode ${ino}`);
  }

  /** Sets the times named by `Stamp` bits to the present. */
  stamp(times: number, clock: WallClock): void {
    const { sec, nsec } = clock.read();
    if ((times & Stamp.accessed) !== 0) {
      this.accessedSec = sec;
      this.accessedNsec = nsec;
    }
    if ((times & Stamp.modified) !== 0) {
      this.modifiedSec = sec;
      this.modifiedNsec = nsec;
    }
    if ((times & Stamp.changed) !== 0) {
      this.changedSec = sec;
      this.changedNsec = nsec;
    }
    if ((times & Stamp.born) !== 0) {
      this.bornSec = sec;
      this.bornNsec = nsec;
    }
  }
}

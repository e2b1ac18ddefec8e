import type { FailedUnit } from './reprogram.js';

/** The slots that each frontier has collected for its next program, as columns of `width` entries per frontier. */
export class PendingUnits {
  /** Physical slot, job that waits for it (−1: none), and physical slot that it supersedes (−1: none). */
  readonly psn: Int32Array;
  readonly job: Int32Array;
  readonly older: Int32Array;
  /** Priority class of the program: that of its most urgent slot. */
  readonly cls: Uint8Array;
  private readonly width: number;

  constructor(frontiers: number, width: number) {
    this.width = width;
    this.psn = new Int32Array(frontiers * width);
    this.job = new Int32Array(frontiers * width);
    this.older = new Int32Array(frontiers * width);
    this.cls = new Uint8Array(frontiers);
  }

  /** Adds slot number `fill` of the unit of frontier `f`. */
  add(f: number, fill: number, psn: number, job: number, older: number, cls: number): void {
    const at = f * this.width + fill;
    this.psn[at] = psn;
    this.job[at] = job;
    this.older[at] = older;
    if (fill === 0 || cls < this.cls[f]) this.cls[f] = cls;
  }

  /** A copy of the unit, whose program has failed. */
  failed(f: number, count: number): FailedUnit {
    const from = f * this.width;
    const cut = (column: Int32Array): Int32Array => column.slice(from, from + count);
    return { psns: cut(this.psn), jobs: cut(this.job), older: cut(this.older) };
  }
}

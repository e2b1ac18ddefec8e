import type { NandClient, NandScheduler } from '@flashstack/nand-device';
import { FtlStatus } from '../contract.js';
import type { Jobs } from '../jobs.js';
import type { SegmentArea } from './segment-area.js';

/** What `nandDone` gets in the low bits of its argument for a change; no other completion has it. */
export const SETTLED = 6;

/** Where the parts of a change are issued, and who is told of its end. */
export interface SettlerTarget extends NandClient {
  readonly area: SegmentArea;
  readonly jobs: Jobs;
  readonly scheduler: NandScheduler;
  /** Makes durable what the page map has been told; `SettlerTarget` calls `partDone` with the change. */
  flushStore(change: number): void;
  /** A change is durable: writes that waited for it may go on. */
  settled(): void;
}

/** A reset, a finish, or the end of a filled segment, on its way to being durable. */
interface Change {
  segment: number;
  /** Job that ends with it; −1: none. */
  job: number;
  /** Parts that are not done. */
  parts: number;
  /** It waits for all erases up to this one; 0: for none. */
  erase: number;
}

/**
 * Changes to whole segments that a power cut could still undo. A segment counts as active until its change is durable, so
 * that a power cut never leaves more of them partly written than may be active.
 */
export class ZoneSettler {
  private readonly target: SettlerTarget;
  private readonly maxActive: number;
  /** Per segment: changes under way. */
  private readonly underWay: Int32Array;
  private readonly changes: Change[] = [];
  private readonly free: number[] = [];

  /** `maxActive`: 0 for any number. */
  constructor(target: SettlerTarget, maxActive: number) {
    this.target = target;
    this.maxActive = maxActive;
    this.underWay = new Int32Array(target.area.layout.segments);
  }

  /** True if nothing is under way. */
  get isIdle(): boolean {
    return this.free.length === this.changes.length;
  }

  /** True while a change of the segment is not durable. */
  isChanging(segment: number): boolean {
    return this.underWay[segment] > 0;
  }

  /** Of a segment that holds nothing: true if a power cut now could leave more segments active than may be with it. */
  mustWait(segment: number): boolean {
    if (this.maxActive === 0 || this.isIdle) return false;
    const { area } = this.target;
    let active = 0;
    let changing = 0;
    for (let other = 0; other < area.layout.segments; other++) {
      if (other === segment) continue;
      if (this.underWay[other] > 0) changing++;
      else if (area.isPartlyWritten(other)) active++;
    }
    return changing > 0 && active + changing >= this.maxActive;
  }

  /** A segment has been released: waits for its erases, and if need be for the page map. */
  reset(segment: number, storeToo: boolean, job: number): void {
    this.end(this.begin(segment, storeToo, job), 0);
  }

  /** A segment takes no more writes: waits for its programs too. */
  closed(segment: number, storeToo: boolean, job: number): void {
    const { scheduler } = this.target;
    const change = this.begin(segment, storeToo, job);
    this.changes[change].parts++;
    scheduler.then(scheduler.fence(), this.target, (change << 3) | SETTLED);
    this.end(change, 0);
  }

  /** True if the number of active segments is limited. */
  get isLimited(): boolean {
    return this.maxActive > 0;
  }

  /** Programs or the page map's part of a change are done. */
  partDone(change: number, status: number, token: number): void {
    const { job } = this.changes[change];
    if (status !== FtlStatus.ok && job >= 0) this.target.jobs.fail(job, status);
    if (this.end(change, token)) this.target.settled();
  }

  /** Groups or blocks have been erased. The owner goes on with what waited. */
  erased(token: number): void {
    const { eraser } = this.target.area;
    for (let change = 0; change < this.changes.length; change++) {
      const { erase } = this.changes[change];
      // Whoever hears of an end may begin another change, and its erase.
      if (erase === 0 || erase >= eraser.oldestErase()) continue;
      this.changes[change].erase = 0;
      this.end(change, token);
    }
  }

  /** Nothing is under way any more: power loss. */
  clear(): void {
    this.underWay.fill(0);
    this.changes.length = 0;
    this.free.length = 0;
  }

  /** A change, with a part for its caller. */
  private begin(segment: number, storeToo: boolean, job: number): number {
    const change = this.free.pop() ?? this.changes.length;
    const erase = this.target.area.eraser.eraseNeededBy(segment);
    this.changes[change] = { segment, job, parts: 1 + (erase > 0 ? 1 : 0) + (storeToo ? 1 : 0), erase };
    this.underWay[segment]++;
    if (storeToo) this.target.flushStore(change);
    return change;
  }

  /** A part of a change is done. @returns true if it was the last one. */
  private end(change: number, token: number): boolean {
    if (--this.changes[change].parts > 0) return false;
    const { segment, job } = this.changes[change];
    this.underWay[segment]--;
    this.free.push(change);
    if (token > 0 && job >= 0) this.target.jobs.partDone(job, token);
    else if (job >= 0) this.target.jobs.finishLater(job);
    return true;
  }
}

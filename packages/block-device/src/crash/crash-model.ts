import { InputError, unknownName } from '@flashstack/sim';
import { type CrashLog, PENDING } from './crash-log.js';

const NAMES = ['volatile', 'torn', 'ordered', 'protected', 'shorn', 'unreadable'] as const;

/**
 * What a device does to writes that it has not promised to keep, when power is cut. Every block is kept or lost by itself.
 * - `volatile`: any of them may be lost.
 * - `torn`: and each sector of 512 bytes of a write in flight by itself.
 * - `ordered`: what has completed is kept up to some write in order of completion; any of those in flight.
 * - `protected`: what has completed is kept, as with protection against loss of power.
 * - `lying(n)`: as volatile, but the last n flushes and durable writes have kept nothing. A control.
 * - `shorn`: as volatile, but of a write there may be only the first 3/8 or 7/8 (FAST'13). A control.
 * - `unreadable`: as volatile, but a block in flight may be unreadable.
 */
export type CrashModel = (typeof NAMES)[number] | `lying(${number})`;

/** What happens to a request at a cut. */
export const Fate = { absent: 0, open: 1, present: 2 } as const;

/** A model as it is applied to a record. */
export class AppliedModel {
  readonly name: CrashModel;
  /** Flushes and durable writes without effect. */
  readonly lies: number;
  /** Each sector of what is in flight is lost or kept by itself. */
  readonly tears: boolean;
  readonly shears: boolean;
  readonly breaks: boolean;
  readonly ordered: boolean;
  /** What an image holds may become impossible whenever anything completes, not only when something is promised. */
  readonly everyCompletion: boolean;
  /** What is possible for a block does not depend on others, and becomes impossible at a time that is known. */
  readonly independent: boolean;
  private readonly protects: boolean;
  private readonly log: CrashLog;
  /** Promises in order of completion. */
  private readonly promises: number[] = [];
  /** Per request: when it becomes durable. */
  private durable: Int32Array = new Int32Array(64);
  private flushedAt = -1;
  private cut = 0;
  private liedFrom: number = PENDING;
  private flushedBefore = -1;
  private boundary = 0;
  /** Writes in flight that flush first, and the position up to which of them that is done. */
  private readonly flying: number[] = [];
  private stageFrom = -1;
  /** Of each stage of `ordered`: number of the first case behind it. */
  private readonly boundaries: number[] = [];
  /** Requests that are complete and not durable, in order of completion. */
  private readonly completed: number[] = [];
  private readonly ranks: Map<number, number> = new Map();

  /** @throws InputError `ERR_UNKNOWN_NAME`, `ERR_CRASH_MODEL` */
  constructor(model: CrashModel, log: CrashLog) {
    this.name = model;
    this.lies = liesOf(model);
    this.log = log;
    this.tears = model === 'torn';
    this.shears = model === 'shorn';
    this.breaks = model === 'unreadable';
    this.ordered = model === 'ordered';
    this.protects = model === 'protected';
    this.everyCompletion = this.tears || this.breaks || this.ordered || this.protects;
    this.independent = !this.ordered && !this.shears && this.lies === 0;
  }

  /** Looks at the record anew. */
  prepare(): void {
    const { log, promises } = this;
    promises.length = 0;
    for (let row = 0; row < log.length; row++) if (log.isPromise(row) && log.done[row] !== PENDING) promises.push(row);
    promises.sort((a, b) => log.done[a] - log.done[b]);
    if (this.durable.length < log.length) this.durable = new Int32Array(2 * log.length);
    for (let row = 0; row < log.length; row++) this.durable[row] = this.whenDurable(row);
  }

  /** When a request becomes durable, were every promise kept. */
  durableAt(row: number): number {
    return this.durable[row];
  }

  /** Positions just before which something becomes impossible, ascending, and the last one. */
  cuts(end: number): number[] {
    const { log } = this;
    const cuts: number[] = [];
    for (let row = 0; row < log.length; row++) {
      if (log.done[row] !== PENDING && (this.everyCompletion || log.isPromise(row))) cuts.push(log.done[row] - 1);
    }
    cuts.push(end);
    return cuts.sort((a, b) => a - b);
  }

  /** Takes up a cut; returns how many cases there are of it, each with its own fates. */
  at(cut: number): number {
    const { log, promises, flying } = this;
    this.cut = cut;
    this.flushedBefore = -1;
    let kept = promises.length;
    while (kept > 0 && log.done[promises[kept - 1]] > cut) kept--;
    kept = Math.max(0, kept - this.lies);
    this.liedFrom = kept < promises.length ? log.done[promises[kept]] : PENDING;
    for (let at = 0; at < kept; at++) {
      if (log.isFlush(promises[at])) this.flushedBefore = Math.max(this.flushedBefore, log.issued[promises[at]]);
    }
    flying.length = 0;
    for (let row = 0; row < log.length && this.lies === 0 && !this.protects; row++) {
      if (log.issued[row] <= cut && log.done[row] > cut && log.counts[row] > 0 && log.isFlush(row)) flying.push(row);
    }
    if (!this.ordered) return flying.length + 1;
    this.boundaries.length = 0;
    let cases = 0;
    for (let stage = 0; stage <= flying.length; stage++) {
      this.stage(stage);
      this.order();
      cases += Math.max(1, this.completed.length);
      this.boundaries.push(cases);
    }
    return cases;
  }

  /**
   * Which case of a cut `fate` is about: of writes in flight that flush first, the last one that has done so (later ones
   * have not begun to write); and for `ordered` the completed write up to which all are kept.
   */
  case(index: number): void {
    if (!this.ordered) {
      this.stage(index);
      return;
    }
    const stage = this.boundaries.findIndex((end) => index < end);
    this.stage(stage);
    this.order();
    this.boundary = index - (stage === 0 ? 0 : this.boundaries[stage - 1]);
  }

  /** What becomes of a request that was issued before the cut, a `Fate`. */
  fate(row: number): number {
    const { log } = this;
    if (this.isDurable(row)) return Fate.present;
    if (log.done[row] > this.cut) {
      const waits = this.flying.length > 0 && log.issued[row] > this.stageFrom && log.isFlush(row);
      return waits ? Fate.absent : Fate.open;
    }
    if (!this.ordered) return Fate.open;
    const rank = this.ranks.get(row) as number;
    return rank < this.boundary ? Fate.present : rank === this.boundary ? Fate.open : Fate.absent;
  }

  private stage(stage: number): void {
    this.stageFrom = stage === 0 ? -1 : this.log.issued[this.flying[stage - 1]];
    this.flushedAt = Math.max(this.flushedBefore, this.stageFrom);
  }

  /** Puts what is complete and not durable in order. */
  private order(): void {
    const { completed, log, ranks } = this;
    completed.length = 0;
    ranks.clear();
    for (let row = 0; row < log.length; row++) {
      if (log.done[row] <= this.cut && log.counts[row] > 0 && !this.isDurable(row)) completed.push(row);
    }
    completed.sort((a, b) => log.done[a] - log.done[b]);
    for (let rank = 0; rank < completed.length; rank++) ranks.set(completed[rank], rank);
  }

  private isDurable(row: number): boolean {
    const { log, cut } = this;
    const done = log.done[row];
    if (done > cut) return false;
    return this.protects || done < this.flushedAt || (log.isFua(row) && done < this.liedFrom);
  }

  private whenDurable(row: number): number {
    const { log, promises } = this;
    const done = log.done[row];
    if (done === PENDING || this.protects || log.isFua(row)) return done;
    for (const promise of promises) {
      if (log.isFlush(promise) && log.issued[promise] > done) return log.done[promise];
    }
    return PENDING;
  }
}

function liesOf(model: string): number {
  if (NAMES.includes(model as 'torn')) return 0;
  const found = /^lying\((\d+)\)$/.exec(model);
  if (found === null) throw unknownName('crash model', model, [...NAMES, 'lying(1)']);
  const lies = Number(found[1]);
  if (!(lies >= 1 && lies <= 1_000_000)) {
    const message = `crash model ${model}: the number of flushes without effect must be from 1 to 1000000.`;
    throw new InputError('ERR_CRASH_MODEL', message, 'model');
  }
  return lies;
}

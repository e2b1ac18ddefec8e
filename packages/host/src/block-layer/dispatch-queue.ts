import { BlockFlag, BlockOp } from '@flashstack/block-device';
import type { Held } from './held.js';

/** Requests of one class, in order of arrival and of place. */
class ClassQueue {
  /** By first block; equal ones in order of arrival. */
  readonly sorted: Held[] = [];
  private readonly arrivals: Held[] = [];
  /** Which use of the object is meant: objects are used again. */
  private readonly sequences: number[] = [];
  private firstArrival = 0;

  insert(held: Held): void {
    this.sorted.splice(this.from(held.block + 0.5), 0, held);
    this.arrivals.push(held);
    this.sequences.push(held.sequence);
  }

  /** Place of the first request at or behind a block. */
  from(block: number): number {
    const { sorted } = this;
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle].block < block) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The one that has waited longest. */
  oldest(): Held {
    const { arrivals, sequences } = this;
    for (;;) {
      const held = arrivals[this.firstArrival];
      if (held.sequence === sequences[this.firstArrival] && !held.sent) return held;
      this.firstArrival++;
      if (this.firstArrival > 1024 && this.firstArrival * 2 > arrivals.length) this.forgetPast();
    }
  }

  /** Takes one out that is sent, or has been merged into another. */
  remove(held: Held): void {
    let at = this.from(held.block);
    while (this.sorted[at] !== held) at++;
    this.sorted.splice(at, 1);
    held.sent = true;
    if (this.sorted.length === 0) {
      this.firstArrival = this.arrivals.length;
      this.forgetPast();
    }
  }

  private forgetPast(): void {
    this.arrivals.splice(0, this.firstArrival);
    this.sequences.splice(0, this.firstArrival);
    this.firstArrival = 0;
  }
}

/** In which order waiting requests are sent. */
export type SchedulerName = 'none' | 'deadline';

/** Requests that are sent in one sweep before the oldest is looked at again. */
const BATCH = 16;

/**
 * Requests that wait because the device is at its depth. Those that somebody waits for (reads and synchronous writes) go
 * first, but after `starved` batches of them one of the others. `none`: each class in order of arrival. `deadline`: from
 * the oldest upwards in order of place, sixteen at a time.
 */
export class DispatchQueue {
  private readonly deadline: boolean;
  private readonly starved: number;
  private readonly urgent: ClassQueue = new ClassQueue();
  private readonly others: ClassQueue = new ClassQueue();
  private current: ClassQueue = this.urgent;
  private left = 0;
  private next = 0;
  private urgentBatches = 0;

  constructor(scheduler: SchedulerName, starved: number) {
    this.deadline = scheduler === 'deadline';
    this.starved = starved;
  }

  get size(): number {
    return this.urgent.sorted.length + this.others.sorted.length;
  }

  insert(held: Held): void {
    this.classOf(held).insert(held);
  }

  /** The waiting request that `held` goes on from, or null. */
  before(held: Held, maxBlocks: number, maxSegments: number): Held | null {
    const { sorted } = this.classOf(held);
    if (sorted.length === 0) return null;
    const at = this.classOf(held).from(held.block) - 1;
    return at >= 0 && sorted[at].canGoOn(held, maxBlocks, maxSegments) ? sorted[at] : null;
  }

  /** The waiting request that goes on where `held` ends, or null. */
  after(held: Held, maxBlocks: number, maxSegments: number): Held | null {
    const { sorted } = this.classOf(held);
    if (sorted.length === 0) return null;
    const at = this.classOf(held).from(held.end);
    return at < sorted.length && held.canGoOn(sorted[at], maxBlocks, maxSegments) ? sorted[at] : null;
  }

  /** Takes out a request that becomes part of another. */
  remove(held: Held): void {
    this.classOf(held).remove(held);
  }

  /** Takes the next one to be sent; there must be one. */
  shift(): Held {
    if (this.left === 0) this.startBatch();
    const { current } = this;
    let held = current.oldest();
    if (this.deadline && this.left < BATCH) {
      const at = current.from(this.next);
      if (at < current.sorted.length) held = current.sorted[at];
    }
    this.left--;
    this.next = held.end;
    current.remove(held);
    if (current.sorted.length === 0) this.left = 0;
    return held;
  }

  private startBatch(): void {
    const passed = this.urgentBatches >= this.starved && this.others.sorted.length > 0;
    this.current = this.urgent.sorted.length > 0 && !passed ? this.urgent : this.others;
    this.urgentBatches = this.current === this.urgent ? this.urgentBatches + 1 : 0;
    this.left = BATCH;
  }

  private classOf({ op, flags }: Held): ClassQueue {
    return op === BlockOp.read || (flags & BlockFlag.sync) !== 0 ? this.urgent : this.others;
  }
}

import { BlockFlag, BlockOp } from '@flashstack/block-device';
import type { Held } from './held.js';

/** Requests of one class, in order of arrival and of place. */
class ClassQueue {
  /** Requests that wait. */
  size = 0;
  /** By first block, equal ones in order of arrival. One that has left leaves a hole until there are more holes than others. */
  private readonly sorted: (Held | null)[] = [];
  /** First blocks of those, holes too: a search looks at these alone. */
  private keys: Float64Array = new Float64Array(256);
  private readonly arrivals: Held[] = [];
  /** Which use of the object is meant: objects are used again. */
  private readonly sequences: number[] = [];
  private firstArrival = 0;

  insert(held: Held): void {
    const { sorted } = this;
    const at = this.place(held.block + 0.5);
    if (sorted.length === this.keys.length) this.grow();
    if (at < sorted.length) this.keys.copyWithin(at + 1, at, sorted.length);
    this.keys[at] = held.block;
    if (at === sorted.length) sorted.push(held);
    else sorted.splice(at, 0, held);
    this.size++;
    this.arrivals.push(held);
    this.sequences.push(held.sequence);
  }

  /** The first request at or behind a block, or null. */
  from(block: number): Held | null {
    const { sorted } = this;
    for (let at = this.place(block); at < sorted.length; at++) if (sorted[at] !== null) return sorted[at];
    return null;
  }

  /** The last request in front of a block, or null. */
  before(block: number): Held | null {
    const { sorted } = this;
    for (let at = this.place(block) - 1; at >= 0; at--) if (sorted[at] !== null) return sorted[at];
    return null;
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
    const { sorted } = this;
    let at = this.place(held.block);
    while (sorted[at] !== held) at++;
    sorted[at] = null;
    held.sent = true;
    this.size--;
    if (this.size === 0) {
      sorted.length = 0;
      this.firstArrival = this.arrivals.length;
      this.forgetPast();
    } else if (sorted.length > 2 * this.size + SPARE_HOLES) {
      this.closeHoles();
    }
  }

  /** Place of the first request or hole at or behind a block. */
  private place(block: number): number {
    const { keys } = this;
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[middle] < block) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private closeHoles(): void {
    const { sorted, keys } = this;
    let kept = 0;
    for (let at = 0; at < sorted.length; at++) {
      if (sorted[at] === null) continue;
      sorted[kept] = sorted[at];
      keys[kept++] = keys[at];
    }
    sorted.length = kept;
  }

  private grow(): void {
    const larger = new Float64Array(2 * this.keys.length);
    larger.set(this.keys);
    this.keys = larger;
  }

  private forgetPast(): void {
    this.arrivals.splice(0, this.firstArrival);
    this.sequences.splice(0, this.firstArrival);
    this.firstArrival = 0;
  }
}

/** Holes that a queue may have in any case. */
const SPARE_HOLES = 64;

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
    return this.urgent.size + this.others.size;
  }

  insert(held: Held): void {
    this.classOf(held).insert(held);
  }

  /** The waiting request that `held` goes on from, or null. */
  before(held: Held, maxBlocks: number, maxSegments: number): Held | null {
    const queue = this.classOf(held);
    if (queue.size === 0) return null;
    const found = queue.before(held.block);
    return found?.canGoOn(held, maxBlocks, maxSegments) === true ? found : null;
  }

  /** The waiting request that goes on where `held` ends, or null. */
  after(held: Held, maxBlocks: number, maxSegments: number): Held | null {
    const queue = this.classOf(held);
    if (queue.size === 0) return null;
    const found = queue.from(held.end);
    return found !== null && held.canGoOn(found, maxBlocks, maxSegments) ? found : null;
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
    if (this.deadline && this.left < BATCH) held = current.from(this.next) ?? held;
    this.left--;
    this.next = held.end;
    current.remove(held);
    if (current.size === 0) this.left = 0;
    return held;
  }

  private startBatch(): void {
    const passed = this.urgentBatches >= this.starved && this.others.size > 0;
    this.current = this.urgent.size > 0 && !passed ? this.urgent : this.others;
    this.urgentBatches = this.current === this.urgent ? this.urgentBatches + 1 : 0;
    this.left = BATCH;
  }

  private classOf({ op, flags }: Held): ClassQueue {
    return op === BlockOp.read || (flags & BlockFlag.sync) !== 0 ? this.urgent : this.others;
  }
}

import { nthSmallest } from './nth-smallest.js';

/** Where a component reads simulated time: the simulator. */
export interface NandClock {
  readonly now: number;
}

/** So many numbers are moved one by one. */
const FEW = 24;
/** Numbers kept free before the first interval, so that what comes early moves what is before it. */
const ROOM = 16;
/** Numbers that may be over before the others move to the front. */
const CACHED = 96;

/**
 * The reservations of every channel: sorted intervals in flat columns, adjoining ones merged. A read books its data
 * transfer ahead of time, so later commands must be able to use the gap before it; a single next-free time per channel
 * would take way interleaving away. When a channel's list is too long, the smallest gap is given up: nothing is booked
 * twice, and what is lost is the gap that the fewest transfers would have fitted into.
 */
export class Bus {
  /** Arguments and results of `reserve` and `reserveBoth`, as columns because doubles that cross a call would be boxed. */
  readonly io: Float64Array = new Float64Array(5);
  /** ns for which each channel has been booked. */
  readonly busyNs: Float64Array;
  /** Who is told of bookings, or null. */
  trace: { onBus(channel: number, startNs: number, endNs: number): void } | null = null;
  /** Start and end of each interval, by channel, in order; the first entries may be over already. */
  private readonly spans: Float64Array;
  /** Per channel: index of its first interval in `spans`, and of the end of its last one. */
  private readonly firsts: Int32Array;
  private readonly lasts: Int32Array;
  private readonly limit: number;
  /** Intervals that are left when a list that was too long has been shortened. */
  private readonly kept: number;
  private readonly gaps: Float64Array;
  private readonly stride: number;
  private readonly clock: NandClock;

  constructor(channels: number, limit: number, clock: NandClock) {
    // Twice the room needed, so that a long list moves to the front only now and then.
    this.stride = 4 * limit + ROOM;
    this.busyNs = new Float64Array(channels);
    this.spans = new Float64Array(channels * this.stride);
    this.firsts = Int32Array.from({ length: channels }, (_, channel) => channel * this.stride);
    this.lasts = Int32Array.from(this.firsts);
    this.limit = 2 * limit;
    this.kept = Math.max(1, Math.floor((3 * limit) / 4));
    this.gaps = new Float64Array(limit);
    this.clock = clock;
  }

  /** Books the first gap of `io[1]` ns at or after `io[0]`; its start is left in `io[2]`. */
  reserve(channel: number): void {
    const { io, spans } = this;
    const length = io[1];
    let at = io[0];
    this.busyNs[channel] += length;
    const first = this.firsts[channel];
    const last = this.lasts[channel];
    let index = this.firstAfter(channel, at);
    while (index < last && spans[index] - at < length) {
      at = spans[index + 1];
      index += 2;
    }
    io[2] = at;
    const until = at + length;
    if (this.trace !== null) this.trace.onBus(channel, at, until);
    if (index > first && spans[index - 1] === at) {
      spans[index - 1] = until;
      if (index < last && spans[index] === until) this.close(channel, index);
    } else if (index < last && spans[index] === until) spans[index] = at;
    else this.insert(channel, index, until);
  }

  /**
   * Books `io[1]` ns as `reserve` does, then `io[3]` ns in the first gap behind them; their starts are left in `io[2]` and
   * `io[4]`. Mostly the second follow at once, and the two are one interval.
   */
  reserveBoth(channel: number): void {
    const { io, spans } = this;
    const length = io[1];
    let at = io[0];
    const first = this.firsts[channel];
    const last = this.lasts[channel];
    let index = this.firstAfter(channel, at);
    while (index < last && spans[index] - at < length) {
      at = spans[index + 1];
      index += 2;
    }
    const both = length + io[3];
    // A list that is full gives up gaps between the two bookings.
    if ((index < last && spans[index] - at <= both) || last - first >= this.limit || this.trace !== null) {
      this.reserve(channel);
      const start = io[2];
      io[0] = start + length;
      io[1] = io[3];
      this.reserve(channel);
      io[4] = io[2];
      io[2] = start;
      return;
    }
    this.busyNs[channel] += both;
    io[2] = at;
    io[4] = at + length;
    if (index > first && spans[index - 1] === at) spans[index - 1] = at + both;
    else this.insert(channel, index, at + both);
  }

  /** Nothing is booked any more. */
  clear(): void {
    this.lasts.set(this.firsts);
  }

  /** Adds an interval from `io[2]` to `until` before the one at `index`. */
  private insert(channel: number, index: number, until: number): void {
    const { spans, io, clock } = this;
    const { now } = clock;
    const base = channel * this.stride;
    let at = index;
    let first = this.firsts[channel];
    let last = this.lasts[channel];
    while (first < last && spans[first + 1] <= now) first += 2;
    // What is left stays in few cache lines: it moves to the front when as much is over, and when there is no room.
    const over = first - base;
    if (over > ROOM && (over > last - first + CACHED || last === base + this.stride)) {
      const moved = over - ROOM;
      if (last > first) spans.copyWithin(first - moved, first, last);
      first -= moved;
      last -= moved;
      at -= moved;
    }
    // The shorter side makes room.
    if (first > base && at - first < last - at) {
      first -= 2;
      at -= 2;
      if (at - first > FEW) spans.copyWithin(first, first + 2, at + 2);
      else for (let i = first; i < at; i++) spans[i] = spans[i + 2];
    } else {
      if (last - at > FEW) spans.copyWithin(at + 2, at, last);
      else for (let i = last + 1; i > at + 1; i--) spans[i] = spans[i - 2];
      last += 2;
    }
    spans[at] = io[2];
    spans[at + 1] = until;
    this.firsts[channel] = first;
    this.lasts[channel] = last;
    if (last - first > this.limit) this.closeSmallest(channel);
  }

  /** Gives up the smallest gaps between intervals, the first of equal ones, until a quarter of the list is free again. */
  private closeSmallest(channel: number): void {
    const { spans, gaps } = this;
    const first = this.firsts[channel];
    const last = this.lasts[channel];
    const count = (last - first) / 2;
    const closing = count - this.kept;
    const sizes = gaps.subarray(0, count - 1);
    for (let i = 0; i < count - 1; i++) sizes[i] = spans[first + 2 * i + 2] - spans[first + 2 * i + 1];
    const largest = nthSmallest(sizes, closing - 1);
    // Everything before its place is at most as large now.
    let equal = 1;
    for (let i = 0; i < closing - 1; i++) if (sizes[i] === largest) equal++;
    let to = first;
    for (let from = first + 2; from < last; from += 2) {
      const gap = spans[from] - spans[from - 1];
      if (gap < largest || (gap === largest && equal > 0)) {
        if (gap === largest) equal--;
      } else {
        to += 2;
        spans[to] = spans[from];
      }
      spans[to + 1] = spans[from + 1];
    }
    this.lasts[channel] = to + 2;
  }

  /** Index of the first interval that ends after `at`. */
  private firstAfter(channel: number, at: number): number {
    const { spans } = this;
    let low = this.firsts[channel];
    let high = this.lasts[channel];
    // Most requests come behind most reservations, so the search begins at the far end.
    for (let i = 0; i < 4 && high > low; i++, high -= 2) if (spans[high - 1] <= at) return high;
    while (low < high) {
      const middle = low + (((high - low) >> 2) << 1);
      if (spans[middle + 1] > at) high = middle;
      else low = middle + 2;
    }
    return low;
  }

  /** The interval at `index` and the one before it become one. */
  private close(channel: number, index: number): void {
    const { spans } = this;
    const last = this.lasts[channel];
    if (last - index > FEW) spans.copyWithin(index - 1, index + 1, last);
    else for (let i = index + 1; i < last; i++) spans[i - 2] = spans[i];
    this.lasts[channel] = last - 2;
  }
}

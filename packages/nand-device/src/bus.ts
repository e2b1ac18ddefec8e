/** Where a component reads simulated time: the simulator. */
export interface NandClock {
  readonly now: number;
}

/**
 * The reservations of every channel: sorted intervals in flat columns, adjoining ones merged. A read books its data
 * transfer ahead of time, so later commands must be able to use the gap before it; a single next-free time per channel
 * would take way interleaving away. When a channel's list is full the farthest interval is forgotten.
 */
export class Bus {
  /** Arguments and result of `reserve`, as columns because doubles that cross a call would be boxed. */
  readonly io: Float64Array = new Float64Array(3);
  /** ns for which each channel has been booked. */
  readonly busyNs: Float64Array;
  /** Reservations that did not fit in the list, per channel: from then on the channel may be double-booked. */
  readonly forgotten: Int32Array;
  /** Who is told of bookings, or null. */
  trace: { onBus(channel: number, startNs: number, endNs: number): void } | null = null;
  /** Intervals of channel c from `c * capacity + firsts[c]`, `counts[c]` of them; what is over leaves at the front. */
  private readonly starts: Float64Array;
  private readonly ends: Float64Array;
  private readonly firsts: Int32Array;
  private readonly counts: Int32Array;
  private readonly limit: number;
  private readonly capacity: number;
  private readonly clock: NandClock;

  constructor(channels: number, limit: number, clock: NandClock) {
    this.capacity = 4 * limit;
    this.busyNs = new Float64Array(channels);
    this.forgotten = new Int32Array(channels);
    this.starts = new Float64Array(channels * this.capacity);
    this.ends = new Float64Array(channels * this.capacity);
    this.firsts = new Int32Array(channels);
    this.counts = new Int32Array(channels);
    this.limit = limit;
    this.clock = clock;
  }

  /** Books the first gap of `io[1]` ns at or after `io[0]`; its start is left in `io[2]`. */
  reserve(channel: number): void {
    const { io, starts, ends } = this;
    const now = this.clock.now;
    const length = io[1];
    let at = io[0];
    this.busyNs[channel] += length;
    let first = channel * this.capacity + this.firsts[channel];
    const end = first + this.counts[channel];
    while (first < end && ends[first] <= now) first++;
    // Most requests come behind most reservations, so the search begins at the far end.
    let index = end;
    while (index > first && ends[index - 1] > at) index--;
    while (index < end && starts[index] - at < length) at = ends[index++];
    io[2] = at;
    const until = at + length;
    if (this.trace !== null) this.trace.onBus(channel, at, until);
    this.firsts[channel] = first - channel * this.capacity;
    const joinsNext = index < end && starts[index] === until;
    if (index > first && ends[index - 1] === at) {
      ends[index - 1] = until;
      this.counts[channel] = end - first;
      if (joinsNext) {
        ends[index - 1] = ends[index];
        this.remove(channel, index, end);
      }
    } else if (joinsNext) {
      starts[index] = at;
      this.counts[channel] = end - first;
    } else this.insert(channel, index, end, at, until);
  }

  /** Nothing is booked any more. */
  clear(): void {
    this.counts.fill(0);
    this.firsts.fill(0);
    this.forgotten.fill(0);
  }

  private insert(channel: number, index: number, end: number, start: number, until: number): void {
    const { starts, ends, firsts } = this;
    const base = channel * this.capacity;
    const first = base + firsts[channel];
    let last = end;
    let at = index;
    if (end - first === this.limit) {
      this.forgotten[channel]++;
      this.counts[channel] = this.limit;
      if (index === end) return;
      last--;
    } else {
      this.counts[channel] = end - first + 1;
      if (end === base + this.capacity) {
        starts.copyWithin(base, first, end);
        ends.copyWithin(base, first, end);
        firsts[channel] = 0;
        last -= first - base;
        at -= first - base;
      }
    }
    for (let i = last; i > at; i--) {
      starts[i] = starts[i - 1];
      ends[i] = ends[i - 1];
    }
    starts[at] = start;
    ends[at] = until;
  }

  private remove(channel: number, index: number, end: number): void {
    this.starts.copyWithin(index, index + 1, end);
    this.ends.copyWithin(index, index + 1, end);
    this.counts[channel]--;
  }
}

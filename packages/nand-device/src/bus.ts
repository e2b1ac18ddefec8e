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
  private readonly starts: Float64Array;
  private readonly ends: Float64Array;
  private readonly counts: Int32Array;
  private readonly limit: number;
  private readonly clock: NandClock;

  constructor(channels: number, limit: number, clock: NandClock) {
    this.busyNs = new Float64Array(channels);
    this.forgotten = new Int32Array(channels);
    this.starts = new Float64Array(channels * limit);
    this.ends = new Float64Array(channels * limit);
    this.counts = new Int32Array(channels);
    this.limit = limit;
    this.clock = clock;
  }

  /** Books the first gap of `io[1]` ns at or after `io[0]`; its start is left in `io[2]`. */
  reserve(channel: number): void {
    const { io, starts, ends, limit } = this;
    const base = channel * limit;
    const length = io[1];
    let at = io[0];
    this.busyNs[channel] += length;
    const first = this.forgetPast(channel, base);
    let end = base + this.counts[channel];
    let index = base + first;
    while (index < end && starts[index] - at < length) {
      if (ends[index] > at) at = ends[index];
      index++;
    }
    io[2] = at;
    const until = at + length;
    if (this.trace !== null) this.trace.onBus(channel, at, until);
    const joinsNext = index < end && starts[index] === until;
    if (index > base && ends[index - 1] === at) {
      if (joinsNext) {
        ends[index - 1] = ends[index];
        this.remove(channel, index);
      } else ends[index - 1] = until;
      return;
    }
    if (joinsNext) {
      starts[index] = at;
      return;
    }
    if (end === base + limit) {
      this.forgotten[channel]++;
      if (index === end) return;
      end--;
    } else this.counts[channel]++;
    for (let i = end; i > index; i--) {
      starts[i] = starts[i - 1];
      ends[i] = ends[i - 1];
    }
    starts[index] = at;
    ends[index] = until;
  }

  /** Nothing is booked any more. */
  clear(): void {
    this.counts.fill(0);
    this.forgotten.fill(0);
  }

  /** Drops intervals that are over; always leaves the list starting at index 0. */
  private forgetPast(channel: number, base: number): number {
    const { ends, starts } = this;
    const now = this.clock.now;
    const count = this.counts[channel];
    let past = 0;
    while (past < count && ends[base + past] <= now) past++;
    if (past === 0) return 0;
    const left = count - past;
    for (let i = 0; i < left; i++) {
      starts[base + i] = starts[base + past + i];
      ends[base + i] = ends[base + past + i];
    }
    this.counts[channel] = left;
    return 0;
  }

  private remove(channel: number, index: number): void {
    const { starts, ends } = this;
    const last = channel * this.limit + --this.counts[channel];
    for (let i = index; i < last; i++) {
      starts[i] = starts[i + 1];
      ends[i] = ends[i + 1];
    }
  }
}

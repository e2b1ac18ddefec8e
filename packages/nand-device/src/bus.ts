/** Where a component reads simulated time: the simulator. */
export interface NandClock {
  readonly now: number;
}

/**
 * The reservations of every channel: sorted intervals in flat columns, adjoining ones merged. A read books its data
 * transfer ahead of time, so later commands must be able to use the gap before it; a single next-free time per channel
 * would take way interleaving away. When a channel's list is too long, the smallest gap is given up: nothing is booked
 * twice, and what is lost is the gap that the fewest transfers would have fitted into.
 */
export class Bus {
  /** Arguments and result of `reserve`, as columns because doubles that cross a call would be boxed. */
  readonly io: Float64Array = new Float64Array(3);
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
  private readonly stride: number;
  private readonly clock: NandClock;

  constructor(channels: number, limit: number, clock: NandClock) {
    // Twice the room needed, so that intervals move to the front only now and then.
    this.stride = 4 * limit;
    this.busyNs = new Float64Array(channels);
    this.spans = new Float64Array(channels * this.stride);
    this.firsts = Int32Array.from({ length: channels }, (_, channel) => channel * this.stride);
    this.lasts = Int32Array.from(this.firsts);
    this.limit = 2 * limit;
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
    // Most requests come behind most reservations, so the search begins at the far end.
    let index = last;
    while (index > first && spans[index - 1] > at) index -= 2;
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

  /** Nothing is booked any more. */
  clear(): void {
    this.lasts.set(this.firsts);
  }

  /** Adds an interval from `io[2]` to `until` before the one at `index`. */
  private insert(channel: number, index: number, until: number): void {
    const { spans, io } = this;
    let at = index;
    let first = this.firsts[channel];
    let last = this.lasts[channel];
    if (last - first === this.limit) {
      const { now } = this.clock;
      while (first < last && spans[first + 1] <= now) first += 2;
    }
    const base = channel * this.stride;
    if (last === base + this.stride) {
      const moved = first - base;
      for (let i = first; i < last; i++) spans[i - moved] = spans[i];
      first = base;
      last -= moved;
      at -= moved;
    }
    for (let i = last + 1; i > at + 1; i--) spans[i] = spans[i - 2];
    spans[at] = io[2];
    spans[at + 1] = until;
    this.firsts[channel] = first;
    this.lasts[channel] = last + 2;
    if (last + 2 - first > this.limit) this.closeSmallest(channel);
  }

  /** Gives up the smallest gap between intervals, the first of equal ones. */
  private closeSmallest(channel: number): void {
    const { spans } = this;
    const last = this.lasts[channel];
    let smallest = this.firsts[channel] + 2;
    for (let i = smallest + 2; i < last; i += 2) {
      if (spans[i] - spans[i - 1] < spans[smallest] - spans[smallest - 1]) smallest = i;
    }
    this.close(channel, smallest);
  }

  /** The interval at `index` and the one before it become one. */
  private close(channel: number, index: number): void {
    this.spans.copyWithin(index - 1, index + 1, this.lasts[channel]);
    this.lasts[channel] -= 2;
  }
}

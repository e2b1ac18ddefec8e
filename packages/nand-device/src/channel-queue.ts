/**
 * Who waits for each channel, first come first served: a transaction with data to transfer (its token) or a die that
 * wants to start something (−1 − die).
 */
export class ChannelQueue {
  /** Until when each channel is taken. */
  readonly busyUntilNs: Float64Array;
  /** ns for which each channel has been taken. */
  readonly busyNs: Float64Array;
  /** When somebody will look at the channel again: at the end of a transfer, or by an event of its own. */
  readonly wakeNs: Float64Array;
  private readonly rings: Int32Array[];
  private readonly first: Int32Array;
  private readonly counts: Int32Array;

  constructor(channels: number) {
    this.busyUntilNs = new Float64Array(channels);
    this.busyNs = new Float64Array(channels);
    this.wakeNs = new Float64Array(channels).fill(-1);
    this.rings = Array.from({ length: channels }, () => new Int32Array(32));
    this.first = new Int32Array(channels);
    this.counts = new Int32Array(channels);
  }

  isEmpty(channel: number): boolean {
    return this.counts[channel] === 0;
  }

  push(channel: number, waiter: number): void {
    let ring = this.rings[channel];
    if (this.counts[channel] === ring.length) {
      const larger = new Int32Array(ring.length * 2);
      for (let i = 0; i < ring.length; i++) larger[i] = ring[(this.first[channel] + i) & (ring.length - 1)];
      this.rings[channel] = larger;
      this.first[channel] = 0;
      ring = larger;
    }
    ring[(this.first[channel] + this.counts[channel]++) & (ring.length - 1)] = waiter;
  }

  shift(channel: number): number {
    const ring = this.rings[channel];
    const waiter = ring[this.first[channel]];
    this.first[channel] = (this.first[channel] + 1) & (ring.length - 1);
    this.counts[channel]--;
    return waiter;
  }

  clear(): void {
    this.busyUntilNs.fill(0);
    this.wakeNs.fill(-1);
    this.counts.fill(0);
  }
}

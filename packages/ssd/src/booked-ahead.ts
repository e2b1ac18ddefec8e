/** Bookings of several counters that may not be over yet, in no order: how much of them lies in the future. */
export class BookedAhead {
  private startNs: Float64Array = new Float64Array(64);
  private endNs: Float64Array = new Float64Array(64);
  private counter: Uint8Array = new Uint8Array(64);
  private size = 0;

  /** Takes a booking; what is over by `nowNs` may be forgotten. */
  add(counter: number, startNs: number, endNs: number, nowNs: number): void {
    if (this.size === this.endNs.length) this.makeRoom(nowNs);
    const at = this.size++;
    this.startNs[at] = startNs;
    this.endNs[at] = endNs;
    this.counter[at] = counter;
  }

  /** Time booked for a counter after `nowNs`, ns; no earlier time may be asked for afterwards. */
  after(nowNs: number, counter: number): number {
    this.forget(nowNs);
    let ahead = 0;
    for (let at = 0; at < this.size; at++) {
      if (this.counter[at] === counter) ahead += this.endNs[at] - Math.max(this.startNs[at], nowNs);
    }
    return ahead;
  }

  private makeRoom(nowNs: number): void {
    this.forget(nowNs);
    if (this.size <= this.endNs.length / 2) return;
    const { startNs, endNs, counter } = this;
    this.startNs = new Float64Array(2 * startNs.length);
    this.endNs = new Float64Array(2 * endNs.length);
    this.counter = new Uint8Array(2 * counter.length);
    this.startNs.set(startNs);
    this.endNs.set(endNs);
    this.counter.set(counter);
  }

  private forget(nowNs: number): void {
    let left = 0;
    for (let at = 0; at < this.size; at++) {
      if (this.endNs[at] <= nowNs) continue;
      this.startNs[left] = this.startNs[at];
      this.endNs[left] = this.endNs[at];
      this.counter[left++] = this.counter[at];
    }
    this.size = left;
  }
}

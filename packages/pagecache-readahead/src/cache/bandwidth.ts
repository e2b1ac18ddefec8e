import type { Simulator } from '@flashstack/sim';

/** Least time over which the speed is measured, ns. */
const SPAN_NS = 200_000_000;
/** Speed before anything has been measured, pages a second: 100 MB/s. */
const FIRST_PAGES_PER_S = 24_414;

/** How fast write-back is, from what has been written lately. */
export class WriteBandwidth {
  private readonly simulator: Simulator;
  private readonly state: Float64Array = new Float64Array([FIRST_PAGES_PER_S, 0]);
  private pages = 0;

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  get pagesPerSecond(): number {
    return this.state[0];
  }

  /** Pages have been written. */
  add(pages: number): void {
    const { state } = this;
    this.pages += pages;
    const spent = this.simulator.now - state[1];
    if (spent < SPAN_NS) return;
    // A pause says nothing about the speed: what comes after it starts a new measurement.
    if (spent < 10 * SPAN_NS) state[0] = Math.max(1, (7 * state[0] + (this.pages * 1e9) / spent) / 8);
    state[1] = this.simulator.now;
    this.pages = 0;
  }
}

import { SimulationError } from './errors.js';
import type { EventTarget } from './event-queue.js';
import type { Process, Wait } from './process.js';
import type { Simulator } from './simulator.js';

/** A timer for one process at a time: `yield delay.for(ns)`. Made once and reused. */
export class Delay implements Wait, EventTarget {
  private readonly simulator: Simulator;
  private ns = 0;
  private process: Process | null = null;
  private generation = 0;

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  /** Sets the time to wait. @throws RangeError if `ns` is negative or not an integer. */
  for(ns: number): this {
    if (!(ns >= 0) || Math.floor(ns) !== ns) throw new RangeError(`delay must be an integer ≥ 0 ns, found ${ns}`);
    this.ns = ns;
    return this;
  }

  arm(process: Process): boolean {
    if (this.process !== null && !this.process.finished) {
      throw new SimulationError(
        'ERR_SIM_WAIT',
        `delay is in use by process "${this.process.name}": every process needs its own`,
      );
    }
    if (this.simulator.tryAdvance(this.ns)) return true;
    this.process = process;
    const due = this.simulator.now + this.ns;
    process.timerNs = due;
    this.generation = (this.generation + 1) | 0;
    this.simulator.at(due, this, this.generation);
    return false;
  }

  interrupt(_process: Process): boolean {
    this.process = null;
    return true;
  }

  /** Kernel only. */
  fire(generation: number): void {
    const process = this.process;
    if (process === null || generation !== this.generation) return;
    this.process = null;
    this.simulator.timerFired(process);
    process.wake();
  }

  describe(): string {
    return `a delay of ${this.ns} ns`;
  }
}

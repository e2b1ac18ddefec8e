import type { Process, Wait } from './process.js';
import type { Simulator } from './simulator.js';

/** Lets time pass: `yield delay.for(ns)`. The time is taken when it is yielded, so one object may serve many processes. */
export class Delay implements Wait {
  private readonly simulator: Simulator;
  private ns = 0;

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
    if (this.simulator.tryAdvance(this.ns)) return true;
    process.startTimer(this.ns);
    return false;
  }

  interrupt(_process: Process): boolean {
    return true;
  }

  describe(): string {
    return 'a delay';
  }
}

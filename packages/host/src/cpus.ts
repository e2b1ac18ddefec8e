import { Delay, Semaphore, type Simulator, type Task } from '@flashstack/sim';

/**
 * The processors of a host. Whoever computes takes one, first come first served, and gives it up at the end of its time
 * slice if others wait.
 */
export class Cpus {
  /** Time that processors computed, ns, summed over them. */
  busyNs = 0;
  /** Times that somebody had to wait for a processor. */
  waits = 0;
  private readonly simulator: Simulator;
  private readonly units: Semaphore;
  private readonly delay: Delay;
  private readonly sliceNs: number;

  constructor(simulator: Simulator, count: number, sliceNs: number) {
    this.simulator = simulator;
    this.units = new Semaphore('cpus', count);
    this.delay = new Delay(simulator);
    this.sliceNs = sliceNs;
  }

  /** Number of processors. */
  get count(): number {
    return this.units.capacity;
  }

  /** Computes for `ns` if a processor is free and nothing else could happen meanwhile; otherwise false: use `run`. */
  tryRun(ns: number): boolean {
    if (this.units.available === 0 || !this.simulator.tryAdvance(ns)) return false;
    this.busyNs += ns;
    return true;
  }

  /** Computes for `ns`; returns `result`, so that a call can end with it. */
  *run(ns: number, result: number): Task<number> {
    const { units } = this;
    for (let left = ns; left > 0; ) {
      if (!units.tryTake(1)) {
        this.waits++;
        yield units.take(1);
      }
      const slice = Math.min(left, this.sliceNs);
      yield this.delay.for(slice);
      this.busyNs += slice;
      left -= slice;
      units.give(1);
    }
    return result;
  }
}

import type { NandClock } from './bus.js';
import type { PhaseTrace } from './phase-trace.js';

/** For how long each die has been taken, and for how long by the garbage collector. */
export class DieOccupancy {
  /** ns for which each die has been taken, up to the last time it became free. */
  readonly busyNs: Float64Array;
  private readonly busySinceNs: Float64Array;
  private readonly gcTotalNs: Float64Array;
  private readonly gcSinceNs: Float64Array;
  private readonly clock: NandClock;

  constructor(dies: number, clock: NandClock) {
    this.busyNs = new Float64Array(dies);
    this.busySinceNs = new Float64Array(dies).fill(-1);
    this.gcTotalNs = new Float64Array(dies);
    this.gcSinceNs = new Float64Array(dies).fill(-1);
    this.clock = clock;
  }

  /** Something takes the die, or takes it over. */
  begin(die: number, isGc: boolean): void {
    const { now } = this.clock;
    if (this.busySinceNs[die] < 0) this.busySinceNs[die] = now;
    if (this.gcSinceNs[die] >= 0) this.gcTotalNs[die] += now - this.gcSinceNs[die];
    this.gcSinceNs[die] = isGc ? now : -1;
  }

  /** The die is free. */
  end(die: number, trace: PhaseTrace | null): void {
    const { now } = this.clock;
    if (this.busySinceNs[die] >= 0) {
      this.busyNs[die] += now - this.busySinceNs[die];
      if (trace !== null) trace.onDie(die, this.busySinceNs[die], now);
    }
    this.busySinceNs[die] = -1;
    if (this.gcSinceNs[die] >= 0) this.gcTotalNs[die] += now - this.gcSinceNs[die];
    this.gcSinceNs[die] = -1;
  }

  /** Time for which garbage collection has held the die so far. */
  gcNow(die: number): number {
    const since = this.gcSinceNs[die];
    return since < 0 ? this.gcTotalNs[die] : this.gcTotalNs[die] + this.clock.now - since;
  }
}

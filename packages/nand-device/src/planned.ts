import type { EventTarget, Simulator } from '@flashstack/sim';
import type { NandArray } from './array.js';
import { NandScheduleError } from './errors.js';
import type { PhaseTrace } from './phase-trace.js';
import type { PowerCut } from './power-cut.js';
import { type TimelineOptions, TimelineScheduler } from './timeline.js';

/**
 * The event scheduler with die policy `fifo` and bus policy `reserve`. There the order of issue decides everything, so
 * each transaction is planned when it is issued; events then carry the plan out, and an event that finds its resource
 * taken throws `NandScheduleError`.
 */
export class PlannedScheduler extends TimelineScheduler {
  private watch: PlanGuard;

  constructor(array: NandArray, simulator: Simulator, options: TimelineOptions = {}) {
    super(array, simulator, options);
    this.watch = new PlanGuard(array, simulator);
    this.placement.trace = this.watch;
  }

  override powerCut(): PowerCut {
    const result = super.powerCut();
    this.watch.alive = false;
    this.watch = new PlanGuard(this.array, this.simulator);
    this.placement.trace = this.watch;
    return result;
  }
}

/** Carries out booked phases: at the start of each its resource must be free. */
class PlanGuard implements PhaseTrace, EventTarget {
  alive = true;
  private readonly simulator: Simulator;
  private readonly channels: number;
  /** Per resource (channels, then dies): until when it is taken. */
  private readonly takenUntilNs: Float64Array;
  /** Phases that have not started: resource and end, with a free list. */
  private readonly resource: number[] = [0];
  private readonly endNs: number[] = [0];
  private readonly free: number[] = [];

  constructor(array: NandArray, simulator: Simulator) {
    this.simulator = simulator;
    this.channels = array.geometry.channels;
    this.takenUntilNs = new Float64Array(array.geometry.channels + array.geometry.dies);
  }

  onBus(channel: number, startNs: number, endNs: number): void {
    this.plan(channel, startNs, endNs);
  }

  onDie(die: number, startNs: number, endNs: number): void {
    this.plan(this.channels + die, startNs, endNs);
  }

  fire(phase: number): void {
    if (!this.alive) return;
    const resource = this.resource[phase];
    const now = this.simulator.now;
    this.free.push(phase);
    if (this.takenUntilNs[resource] > now) throw this.taken(resource, now);
    if (this.endNs[phase] > this.takenUntilNs[resource]) this.takenUntilNs[resource] = this.endNs[phase];
  }

  private plan(resource: number, startNs: number, endNs: number): void {
    if (endNs <= startNs) return;
    const phase = this.free.pop() ?? this.resource.length;
    this.resource[phase] = resource;
    this.endNs[phase] = endNs;
    this.simulator.at(startNs, this, phase);
  }

  private taken(resource: number, now: number): NandScheduleError {
    const name = resource < this.channels ? `channel ${resource}` : `die ${resource - this.channels}`;
    return new NandScheduleError(
      `at ${now} ns a phase starts on ${name}, which is taken until ${this.takenUntilNs[resource]} ns`,
    );
  }
}

import type { Row } from '../row.js';

const FIRST = 0;
const START = 1;

/**
 * Times relative to that of the first request, exact although the times themselves may exceed 2^53 ns. A time is a
 * whole number of steps of `stepNs` and a rest in ns.
 */
export class RelativeClock {
  private readonly stepNs: number;
  // A typed array, so that the engine stores the doubles unboxed.
  private readonly state = new Float64Array(2);

  constructor(stepNs: number) {
    this.stepNs = stepNs;
  }

  /** The time in ns after the first one. `field` is blamed if it is too far from it. */
  ns(row: Row, field: number, steps: number, restNs: number): number {
    const state = this.state;
    if (state[FIRST] === 0) {
      state[FIRST] = 1;
      state[START] = steps;
    }
    const ns = (steps - state[START]) * this.stepNs + restNs;
    if (!Number.isSafeInteger(ns)) row.fail(field, 'time is more than 104 days from that of the first line');
    return ns;
  }
}

/** Digits after the point that make one nanosecond of a second. */
export const SECOND_DIGITS = 9;
/** Nanoseconds of a second. */
export const SECOND_NS = 1e9;

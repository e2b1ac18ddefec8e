import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { PHASES, Ssd, type SsdProbe } from '../src/index.js';
import { onScheduler, variants } from './small-drives.js';
import { Traffic } from './traffic.js';

const full = process.env.CI !== undefined;
/** The deep profile multiplies the seeds. */
const depth = process.env.FLASHSTACK_LONG === undefined ? 1 : 3;
const seeds = depth * (full ? 40 : 3);

/** Checks that the phases of every request are whole, not negative, and sum to its latency. */
class PhaseCheck implements SsdProbe {
  requests = 0;

  requestDone(op: number, _status: number, latencyNs: number, phasesNs: Float64Array, at: number): void {
    this.requests++;
    let sum = 0;
    for (let phase = 0; phase < PHASES; phase++) {
      const ns = phasesNs[at + phase];
      if (!Number.isInteger(ns) || ns < 0) throw new Error(`phase ${phase} of operation ${op} is ${ns} ns`);
      sum += ns;
    }
    if (sum !== latencyNs)
      throw new Error(`phases of operation ${op} sum to ${sum} ns, its latency is ${latencyNs} ns`);
  }
}

describe('random requests, several in flight', () => {
  for (const { drive, kind } of variants) {
    test(`read what was written last, and phases sum to latencies: ${drive.name}, ${kind}`, () => {
      for (let seed = 1; seed <= seeds; seed++) {
        const simulator = new Simulator();
        const ssd = new Ssd(simulator, onScheduler(drive, kind), { seed });
        const phases = new PhaseCheck();
        ssd.probe = phases;
        const traffic = new Traffic(simulator, ssd, new RandomSource(seed).stream('traffic'));
        traffic.start(1500, 1 + (seed % 24));
        traffic.finish();
        traffic.verifyAll();
        expect(phases.requests).toBeGreaterThanOrEqual(1500);
        expect(traffic.reads).toBeGreaterThan(300);
      }
    });
  }
});

import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { Ssd, type SsdConfig } from '../src/index.js';
import { ZoneTraffic } from './zone-traffic.js';
import { zonedDrives } from './zoned-drives.js';

const full = process.env.CI !== undefined;
const depth = process.env.FLASHSTACK_LONG === undefined ? 1 : 10;
const cutsPerSeed = 3;
/** Ten kinds of drive: 2,100 power cuts in the full run. */
const seeds = full ? 70 * depth : 3;

function run(config: SsdConfig, seed: number): number {
  const simulator = new Simulator();
  const random = new RandomSource(seed);
  const ssd = new Ssd(simulator, config, { seed });
  if (seed % 3 === 0) ssd.precondition('fill', 0.5);
  const traffic = new ZoneTraffic(simulator, ssd, random.stream('traffic'));
  // What preconditioning wrote is zero, which no word is.
  if (seed % 3 === 0) traffic.emptyAll();
  const moments = random.stream('cuts');
  for (let cut = 0; cut < cutsPerSeed; cut++) {
    traffic.start(400, 1 + moments.below(20));
    simulator.runUntil(simulator.now + 1 + moments.below(10 ** (5 + moments.below(4))));
    traffic.cut();
    traffic.verify(true);
    ssd.flash.ftl.inspect();
  }
  traffic.start(300, 12);
  simulator.drain();
  traffic.verify(false);
  ssd.assertDrained();
  return traffic.accepted;
}

describe('power cuts of zoned drives: what was acknowledged and durable is there, and pointers end where data ends', () => {
  for (const drive of zonedDrives) {
    for (const kind of ['timeline', 'event'] as const) {
      test(`${drive.name}, ${kind}`, () => {
        const config = { ...drive, scheduler: { ...drive.scheduler, kind } };
        for (let seed = 1; seed <= seeds; seed++) expect(run(config, seed)).toBeGreaterThan(80);
      });
    }
  }
});

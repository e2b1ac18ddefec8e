import { defaultReliability } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { Ssd, type SsdConfig } from '../src/index.js';
import { onScheduler, variants } from './small-drives.js';
import { Traffic } from './traffic.js';

const full = process.env.CI !== undefined;
/** The deep profile multiplies the seeds. */
const depth = process.env.FLASHSTACK_LONG === undefined ? 1 : 3;
const seeds = depth * (full ? 1000 : 50);
const cutsPerSeed = 3;

/** Requests, a power cut at a random moment, recovery, a look at every block; three times over. */
function run(config: SsdConfig, seed: number, requests: number): { mounted: number; erases: number; failures: number } {
  const simulator = new Simulator();
  const random = new RandomSource(seed);
  const ssd = new Ssd(simulator, config, { seed });
  // Half of the runs begin with a full drive, so that garbage collection is at work from the start.
  if (seed % 2 === 1) ssd.precondition('fill');
  const traffic = new Traffic(simulator, ssd, random.stream('traffic'));
  const moments = random.stream('cuts');
  let mounted = 0;
  for (let cut = 0; cut < cutsPerSeed; cut++) {
    traffic.start(requests, 1 + moments.below(16));
    simulator.runUntil(simulator.now + 1 + moments.below(requests * 150_000));
    traffic.cut();
    mounted += ssd.powerOn();
    traffic.verifyAfterCut();
    ssd.flash.ftl.inspect();
  }
  traffic.start(200, 8);
  traffic.finish();
  traffic.verifyAll();
  const { erases, programFailures, eraseFailures } = ssd.flash.ftl.stats;
  return { mounted, erases, failures: programFailures + eraseFailures };
}

describe('power cuts: whatever was acknowledged and flushed is there, nothing is torn', () => {
  // Spread over the kinds of drive, so that the number of seeds is that of the whole suite.
  for (const [index, { drive, kind }] of variants.entries()) {
    test(`${drive.name}, ${kind}`, () => {
      const config = onScheduler(drive, kind);
      let mounted = 0;
      let erases = 0;
      for (let n = 0; index + n * variants.length < seeds; n++) {
        const result = run(config, 1000 * index + n + 1, 400);
        mounted += result.mounted;
        erases += result.erases;
      }
      expect(erases).toBeGreaterThan(0);
      if (drive.powerLossProtection) expect(mounted).toBe(0);
      else expect(mounted).toBeGreaterThan(0);
    });
  }
});

describe('power cuts with bad blocks, failing operations and wear', () => {
  let failures = 0;

  for (const { drive, kind } of variants) {
    test(`${drive.name}, ${kind}`, () => {
      const reliability = {
        ...defaultReliability(2),
        factoryBad: 0.02,
        ratedCycles: 5,
        eraseFailFrom: 0,
        eraseFailTo: 20,
        programFailShare: 1,
      };
      const { geometry } = drive.nand;
      const nand = { ...drive.nand, geometry: { ...geometry, blocksPerPlane: 20 }, reliability };
      const config = onScheduler({ ...drive, nand }, kind);
      for (let seed = 1; seed <= (full ? 15 : 3); seed++) failures += run(config, seed, 1500).failures;
    });
  }

  test('operations did fail in these runs', () => {
    expect(failures).toBeGreaterThan(0);
  });
});

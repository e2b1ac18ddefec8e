import { BlockStatus } from '@flashstack/block-device';
import { type DiePolicy, defaultReliability, type NandReliability } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { Ssd, type SsdConfig } from '../src/index.js';
import { plainDrive, wideDrive } from './small-drives.js';
import { Traffic } from './traffic.js';

const full = process.env.CI !== undefined;

interface Bus {
  readonly policy: DiePolicy;
  readonly bus: 'reserve' | 'arbitrate';
}

/** What goes on between cuts. */
interface Plan {
  readonly cuts: number;
  readonly requests: number;
  /** Probability that a program fails, or null: as the wear says. */
  readonly programFailure: number | null;
}

const wornOut = `status ${BlockStatus.readOnly}`;

/** Requests, a power cut at a random moment, recovery, a look at every block. @returns operations that failed. */
function run(config: SsdConfig, seed: number, plan: Plan): number {
  const simulator = new Simulator();
  const random = new RandomSource(seed);
  const ssd = new Ssd(simulator, config, { seed });
  if (seed % 2 === 1) ssd.precondition('fill');
  const { reliability } = ssd.flash.array;
  let failures = 0;
  if (plan.programFailure !== null && reliability !== null) {
    const draws = random.stream('failures');
    const probability = plan.programFailure;
    reliability.programFails = (): boolean => {
      const fails = draws.nextFloat() < probability;
      if (fails) failures++;
      return fails;
    };
  }
  const traffic = new Traffic(simulator, ssd, random.stream('traffic'));
  const moments = random.stream('cuts');
  try {
    for (let cut = 0; cut < plan.cuts; cut++) {
      traffic.start(plan.requests, 1 + moments.below(16));
      simulator.runUntil(simulator.now + 1 + moments.below(plan.requests * 150_000));
      traffic.cut();
      ssd.powerOn();
      traffic.verifyAfterCut();
      ssd.flash.ftl.inspect();
    }
  } catch (error) {
    const { message } = error as Error;
    // With too few good blocks left it refuses writes: the end of its life, and of the run.
    if (!message.includes(wornOut)) throw new Error(`seed ${seed}: ${message}`, { cause: error });
  }
  const { programFailures, eraseFailures } = ssd.flash.ftl.stats;
  return plan.programFailure === null ? programFailures + eraseFailures : failures;
}

function withNand(drive: SsdConfig, blocksPerPlane: number, reliability: NandReliability, bus: Bus): SsdConfig {
  const nand = { ...drive.nand, geometry: { ...drive.nand.geometry, blocksPerPlane }, reliability };
  return { ...drive, nand, scheduler: { ...drive.scheduler, kind: 'event', ...bus } };
}

function expectFailures(config: SsdConfig, seeds: readonly number[], plan: Plan): void {
  let failures = 0;
  for (const seed of seeds) failures += run(config, seed, plan);
  expect(failures).toBeGreaterThan(0);
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

const buses: readonly Bus[] = [
  { policy: 'fifo', bus: 'reserve' },
  { policy: 'outOfOrder', bus: 'reserve' },
  { policy: 'fifo', bus: 'arbitrate' },
  { policy: 'readFirst', bus: 'arbitrate' },
  { policy: 'outOfOrder', bus: 'arbitrate' },
];

describe('erases and programs fail, the power is cut, dies work out of order', () => {
  // Locally those that lost data as long as erases and retirements did not wait for what protects the newer version.
  const seeds = full ? upTo(120) : [7, 47, 61, 67, 77];
  const worn = {
    ...defaultReliability(2),
    factoryBad: 0.02,
    ratedCycles: 5,
    eraseFailFrom: 0,
    eraseFailTo: 8,
    programFailShare: 1,
  };
  for (const bus of buses) {
    test(`${bus.policy}, ${bus.bus}`, () => {
      const config = withNand(plainDrive, 16, worn, bus);
      expectFailures(config, seeds, { cuts: 3, requests: 1500, programFailure: null });
    });
  }
});

describe('many programs fail in units of several slots, the power is cut', () => {
  // Locally those that lost a trim as long as a copy of a page of the trim map could overtake what it speaks of.
  const seeds = full ? upTo(80) : [64, 72, 78, 79];
  const sound = { ...defaultReliability(2), factoryBad: 0 };
  for (const bus of buses.filter(({ policy }) => policy === 'outOfOrder')) {
    test(`${bus.policy}, ${bus.bus}`, () => {
      const config = withNand(wideDrive, 24, sound, bus);
      expectFailures(config, seeds, { cuts: 6, requests: 400, programFailure: 0.004 });
    });
  }
});

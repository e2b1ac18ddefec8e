import { HotColdRanks, RandomSource, type RankDistribution, UniformRanks, ZipfRanks } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import {
  dChoicesWriteAmplification,
  type FtlOptions,
  fifoHotColdWriteAmplification,
  fifoWriteAmplification,
  greedyWriteAmplification,
  optimalSeparation,
  preconditionByWriting,
  randomWriteAmplification,
} from '../src/index.js';
import { bed, full } from './support.js';

const N = 64;
/** Blocks of the device; more of them, and more writes, in the full run. */
const BLOCKS = full ? 3000 : 1500;
const alphas = [1.1, 1.15, 1.25, 1.4, 1.6];

/**
 * Write amplification of `options` where host and relocated data share a frontier. When a victim is chosen, two blocks
 * are erased and the frontier is empty: the other blocks hold all data, so alpha counts those.
 */
function measure(
  alpha: number,
  options: Partial<FtlOptions>,
  ranksOf: (slots: number) => RankDistribution,
  capacities: number = full ? 6 : 3,
): number {
  const logicalSlots = Math.round(((BLOCKS - 3) * N) / alpha);
  const on = bed(
    { blocksPerPlane: BLOCKS, pagesPerBlock: N },
    { placement: 'mixed', gcMode: 'blocking', ...options, logicalSlots },
  );
  const ranks = ranksOf(logicalSlots);
  const random = new RandomSource(11).stream('writes');
  preconditionByWriting(on.ftl, { capacities: full ? 6 : 4, ranks, random });
  on.ftl.stats.reset();
  preconditionByWriting(on.ftl, { fill: false, capacities, ranks, random });
  expect(on.ftl.stats.unexplained()).toBe(0);
  return on.ftl.stats.writeAmplification;
}

const uniform = (slots: number): RankDistribution => new UniformRanks(slots);

describe('closed forms of uniform random writes', () => {
  test.each(alphas)('greedy within 1 percent at alpha %d', (alpha) => {
    expect(
      Math.abs(measure(alpha, { victim: 'greedy' }, uniform) / greedyWriteAmplification(alpha, N) - 1),
    ).toBeLessThan(0.01);
  });

  test.each(alphas)('FIFO within 0.5 percent at alpha %d', (alpha) => {
    expect(Math.abs(measure(alpha, { victim: 'fifo' }, uniform) / fifoWriteAmplification(alpha) - 1)).toBeLessThan(
      0.005,
    );
  });

  test.each(alphas)('d-choices within 1 percent at alpha %d', (alpha) => {
    const victim = { name: 'd-choices', parameters: { d: 4 } };
    expect(Math.abs(measure(alpha, { victim }, uniform) / dChoicesWriteAmplification(alpha, N, 4) - 1)).toBeLessThan(
      0.01,
    );
  });

  // Random victims differ so much that it takes many of them to know their mean within 1 %.
  test.each([1.15, 1.25, 1.4, 1.6, 2])('random within 1 percent (3 in the short run) at alpha %d', (alpha) => {
    const found = measure(alpha, { victim: 'random' }, uniform, full ? 30 : 4);
    expect(Math.abs(found / randomWriteAmplification(alpha) - 1)).toBeLessThan(full ? 0.01 : 0.03);
  });
});

describe('hot and cold data', () => {
  const classes = [
    { writes: 0.8, slots: 0.2 },
    { writes: 0.2, slots: 0.8 },
  ];
  const hotCold = (slots: number): RankDistribution => new HotColdRanks(slots, 0.2, 0.8);

  test.each(alphas)('FIFO within 1 percent of its closed form at alpha %d', (alpha) => {
    const found = measure(alpha, { victim: 'fifo' }, hotCold);
    expect(Math.abs(found / fifoHotColdWriteAmplification(alpha, classes) - 1)).toBeLessThan(0.01);
  });

  test('mixed skew is worse than uniform, separation is better, and cannot beat the optimum', () => {
    const together = measure(1.25, { victim: 'greedy' }, hotCold);
    expect(together).toBeGreaterThan(greedyWriteAmplification(1.25, N));
    const apart = measure(
      1.25,
      { victim: 'greedy', streams: 'hot-cold', placement: 'separate', gcKeepsStream: true },
      hotCold,
    );
    expect(apart).toBeLessThan(0.97 * together);
    expect(apart).toBeGreaterThan(optimalSeparation(1.25, classes).writeAmplification);
  });

  test('host hints separate at least as well as guessing', () => {
    const logicalSlots = Math.round(((BLOCKS - 3) * N) / 1.25);
    const on = bed(
      { blocksPerPlane: BLOCKS, pagesPerBlock: N },
      {
        logicalSlots,
        streams: { name: 'host', parameters: { maxStreams: 2 } },
        gcKeepsStream: true,
        gcMode: 'blocking',
      },
    );
    const ranks = hotCold(logicalSlots);
    const random = new RandomSource(3).stream('w');
    const hot = Math.round(0.2 * logicalSlots);
    for (let lpn = 0; lpn < logicalSlots; lpn++) on.ftl.write(lpn, 1, 0, lpn < hot ? 1 : 0, 0);
    on.scheduler.deliver();
    for (let i = 0; i < 6 * logicalSlots; i++) {
      if (i === 3 * logicalSlots) on.ftl.stats.reset();
      const lpn = ranks.next(random);
      on.ftl.write(lpn, 1, 0, lpn < hot ? 1 : 0, 0);
      on.scheduler.deliver();
    }
    expect(on.ftl.stats.writeAmplification).toBeLessThan(0.85 * fifoHotColdWriteAmplification(1.25, classes));
  });
});

test('policies between FIFO and greedy, and policies that use age under skew', () => {
  const victim = (window: number): NonNullable<FtlOptions['victim']> => ({
    name: 'windowed-greedy',
    parameters: { window },
  });
  const greedy = measure(1.25, { victim: 'greedy' }, uniform);
  const fifo = measure(1.25, { victim: 'fifo' }, uniform);
  expect(measure(1.25, { victim: victim(0) }, uniform)).toBe(fifo);
  expect(measure(1.25, { victim: victim(1) }, uniform)).toBe(greedy);
  const between = measure(1.25, { victim: victim(0.1) }, uniform);
  expect(between).toBeGreaterThan(greedy);
  expect(between).toBeLessThan(fifo);
  const zipf = (slots: number): RankDistribution => new ZipfRanks(slots, 0.99);
  const separate = { placement: 'separate' } as const;
  const greedySkew = measure(1.25, { victim: 'greedy', ...separate }, zipf);
  for (const name of ['cost-benefit', 'cost-age-times']) {
    expect(measure(1.25, { victim: name, ...separate }, zipf)).toBeLessThan(greedySkew);
  }
});

import { TimelineScheduler } from '@flashstack/nand-device';
import { HotColdRanks, RandomSource, Simulator } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { eraseCounts, type FtlOptions, PageMapFtl, preconditionByWriting, type WearLevelling } from '../src/index.js';
import { type Bed, bed, CountingClient, nandArray } from './support.js';

/** 50 drive writes of which 90 % go to 10 % of the slots. */
function wear(wearLevelling: WearLevelling, options: Partial<FtlOptions> = {}): Bed {
  const on = bed({ blocksPerPlane: 128, pagesPerBlock: 32 }, { ...options, logicalSlots: 3400, wearLevelling });
  const ranks = new HotColdRanks(3400, 0.1, 0.9);
  preconditionByWriting(on.ftl, { capacities: 50, ranks, random: new RandomSource(1).stream('w') });
  on.ftl.inspect();
  return on;
}

test('the threshold keeps erase counts within delta + 10, at a price that is reported apart', () => {
  for (const delta of [10, 20, 40]) {
    const on = wear({ kind: 'threshold', delta });
    const { least, most } = eraseCounts(on.ftl.table);
    expect(most - least).toBeLessThanOrEqual(delta + 10);
    expect(on.ftl.stats.moved[1]).toBeGreaterThan(0);
    expect(on.ftl.stats.runs[1]).toBeGreaterThan(0);
  }
});

test('without it, cold blocks are never erased', () => {
  const none = eraseCounts(wear({ kind: 'none' }).ftl.table);
  expect(none.most - none.least).toBeGreaterThan(45);
});

test('a block erasing table levels too', () => {
  const none = eraseCounts(wear({ kind: 'none' }).ftl.table);
  for (const [k, threshold] of [
    [0, 4],
    [1, 8],
  ]) {
    const on = wear({ kind: 'bet', k, threshold });
    expect(on.ftl.stats.runs[1]).toBeGreaterThan(0);
    expect(eraseCounts(on.ftl.table).deviation).toBeLessThan(none.deviation);
  }
});

test('dynamic wear levelling spreads erases over the free blocks', () => {
  // Half of the space is free: the order in which free blocks are taken decides their wear.
  const run = (freeOrder: 'youngest' | 'fifo'): number => {
    const on = bed(
      { blocksPerPlane: 128, pagesPerBlock: 32 },
      { logicalSlots: 2000, freeOrder, gcFreeOrder: 'oldest' },
    );
    const ranks = new HotColdRanks(2000, 0.1, 0.9);
    preconditionByWriting(on.ftl, { capacities: 20, ranks, random: new RandomSource(1).stream('w') });
    return eraseCounts(on.ftl.table).deviation;
  };
  expect(run('youngest')).toBeLessThanOrEqual(run('fifo'));
});

test('wear levelling makes progress while host writes wait for every free block', () => {
  const simulator = new Simulator();
  const array = nandArray({ channels: 2, blocksPerPlane: 64, pagesPerBlock: 32 });
  const client = new CountingClient();
  const scheduler = new TimelineScheduler(array, simulator);
  const options = { logicalSlots: 3400, wearLevelling: { kind: 'threshold', delta: 5, interval: 2 } } as const;
  const ftl = new PageMapFtl({ array, scheduler, client, random: new RandomSource(1), options });
  preconditionByWriting(ftl);
  const random = new RandomSource(2).stream('w');
  const ranks = new HotColdRanks(3400, 0.1, 0.9);
  let job = 0;
  // A queue of writes that is never empty: free blocks are taken as soon as there are any.
  for (let i = 0; i < 60_000; i++) {
    ftl.write(ranks.next(random), 1, 0, 0, job++ % 512);
    if (i % 256 === 255) while (client.done < i - 128) simulator.runUntil(simulator.now + 1_000_000);
  }
  while (client.done < 60_000) simulator.runUntil(simulator.now + 1_000_000);
  const { least, most } = eraseCounts(ftl.table);
  expect(most - least).toBeLessThanOrEqual(15);
  expect(ftl.stats.runs[1]).toBeGreaterThan(10);
  ftl.inspect();
});

import { HotColdRanks, RandomSource } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { eraseCounts, type FtlOptions, preconditionByWriting, type WearLevelling } from '../src/index.js';
import { type Bed, bed } from './support.js';

/** 50 drive writes of which 90 % go to 10 % of the slots. */
function wear(wearLevelling: WearLevelling, options: Partial<FtlOptions> = {}): Bed {
  const on = bed({ blocksPerPlane: 128, pagesPerBlock: 32 }, { ...options, logicalSlots: 3400, wearLevelling });
  const ranks = new HotColdRanks(3400, 0.1, 0.9);
  preconditionByWriting(on.ftl, { capacities: 50, ranks, random: new RandomSource(1).stream('w') });
  on.ftl.inspect();
  return on;
}

test('the threshold keeps erase counts within delta + 10, at a price that is reported apart', () => {
  for (const delta of [10, 20]) {
    const on = wear({ kind: 'threshold', delta, interval: 1 });
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

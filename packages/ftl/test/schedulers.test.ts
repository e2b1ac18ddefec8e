import { createEventScheduler, type NandScheduler, TimelineScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { type FtlOptions, type FtlStats, PageMapFtl, preconditionAnalytically } from '../src/index.js';
import { CountingClient, full, nandArray } from './support.js';

type Order = 'timeline' | 'as issued' | 'out of order';

/** Client that keeps the jobs that are free. */
class Pool extends CountingClient {
  readonly free: number[] = [];

  override ftlDone(job: number, status: number): void {
    super.ftlDone(job, status);
    this.free.push(job);
  }
}

/** Books of uniform random overwrites with `depth` in flight, on a drive in its steady state from the start. */
function saturate(order: Order, depth: number, options: Partial<FtlOptions>, extraBlocks = 0): FtlStats {
  const simulator = new Simulator();
  const blocks = 100;
  const array = nandArray({ channels: 2, ways: 2, blocksPerPlane: blocks + extraBlocks, pagesPerBlock: 32 });
  let scheduler: NandScheduler = new TimelineScheduler(array, simulator);
  if (order === 'as issued') scheduler = createEventScheduler(array, simulator, { policy: 'fifo', bus: 'reserve' });
  if (order === 'out of order')
    scheduler = createEventScheduler(array, simulator, { policy: 'outOfOrder', bus: 'arbitrate' });
  const client = new Pool();
  const logicalSlots = Math.floor(4 * blocks * 32 * 0.85);
  const random = new RandomSource(1);
  const ftl = new PageMapFtl({ array, scheduler, client, random, options: { ...options, logicalSlots } });
  preconditionAnalytically(ftl, { workload: { kind: 'uniform' }, random: random.stream('state') });
  for (let job = 0; job < depth; job++) client.free.push(job);
  const writes = random.stream('writes');
  const capacities = full ? 6 : 3;
  for (let i = 0; i < capacities * logicalSlots; i++) {
    if (i === logicalSlots) ftl.stats.reset();
    while (client.free.length === 0) simulator.runUntil(simulator.now + 10_000);
    ftl.write(writes.below(logicalSlots), 1, 0, 0, client.free.pop() as number);
  }
  ftl.inspect();
  return ftl.stats;
}

describe('write amplification and the order in which dies serve', () => {
  test.each(['static', 'striped', 'dynamic'] as const)('served as issued, it is the same: %s', (allocation) => {
    expect(saturate('as issued', 32, { allocation })).toEqual(saturate('timeline', 32, { allocation }));
  });

  test('with one write in flight it hardly depends on the order', () => {
    const timeline = saturate('timeline', 1, {}).writeAmplification;
    const event = saturate('out of order', 1, {}).writeAmplification;
    expect(Math.abs(event / timeline - 1)).toBeLessThan(0.01);
  });

  // A die that serves host writes before collection lets the free blocks be used up before more come back, so that more
  // blocks hold data when a victim is chosen: as on a drive with a block or two more per unit.
  test('out of order it is that of a drive with up to two blocks more per unit', () => {
    for (const allocation of ['static', 'dynamic'] as const) {
      const event = saturate('out of order', 32, { allocation }).writeAmplification;
      expect(event).toBeLessThan(saturate('timeline', 32, { allocation }).writeAmplification * 1.005);
      expect(event).toBeGreaterThan(saturate('timeline', 32, { allocation }, 2).writeAmplification * 0.995);
    }
  });
});

import { NandClass, TimelineScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { createFtl, type FtlOptions, type HybridFtl, MoveReason, mappingTableBytes } from '../src/index.js';
import { mostSlots } from './hybrid-subjects.js';
import { HybridBed } from './hybrid-support.js';
import { CountingClient, full, nandArray, type Shape } from './support.js';

const schemes = ['block', 'bast', 'sast', 'fast', 'last'] as const;
const shape: Shape = { blocksPerPlane: 64, pagesPerBlock: 32 };

function bed(
  mapping: NonNullable<FtlOptions['mapping']>,
  options: Partial<FtlOptions> = {},
  on: Shape = shape,
): HybridBed {
  return new HybridBed(on, { logicalSlots: 40 * 32, ...options, mapping }, 'contents');
}

describe('options', () => {
  test('more log blocks than spare blocks are refused, with what there is and what would do', () => {
    let message = '';
    try {
      bed({ name: 'bast', parameters: { logBlocks: 30 } });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toMatch(/logBlocks: bast needs 30 log blocks .* found 20 spare blocks: of 64 blocks .* 40 hold/);
    const logBlocks = Number(/at most (\d+) log blocks/.exec(message)?.[1]);
    const logicalSlots = Number(/at most (\d+) logical slots/.exec(message)?.[1]);
    expect(bed({ name: 'bast', parameters: { logBlocks } }).ftl.logBlocks).toBe(logBlocks);
    expect(bed({ name: 'bast', parameters: { logBlocks: 30 } }, { logicalSlots }).ftl.logBlocks).toBe(30);
    expect(() => bed({ name: 'bast', parameters: { logBlocks: 30 } }, { logicalSlots: logicalSlots + 32 })).toThrow(
      /spare blocks/,
    );
  });

  test('what is too little for a scheme, or not used by it, is refused', () => {
    expect(() => bed({ name: 'fast', parameters: { logBlocks: 1 } })).toThrow(/found 1, but fast needs at least 2/);
    expect(() => bed('last', { logicalSlots: 60 * 32 })).toThrow(/ftl\.logicalSlots: last needs 3 log blocks/);
    expect(() => bed('bast', { gcMode: 'token' })).toThrow(/ftl\.gcMode: has no meaning with ftl\.mapping bast/);
    expect(() => bed({ name: 'sast', parameters: { datablocks: 2 } })).toThrow(/Did you mean "dataBlocks"/);
    expect(() => bed({ name: 'sast', parameters: { dataBlocks: 4, cap: 5 } })).toThrow(
      /cap: found 5, expected at most dataBlocks \(4\)/,
    );
    expect(() => bed({ name: 'last', parameters: { hi: 2 } })).toThrow(/last\.hi is 2/);
  });

  test('block mapping speaks of replacement blocks, and of what can be done', () => {
    const asked = (replacementBlocks: number, on: Shape = shape) =>
      bed({ name: 'block', parameters: { replacementBlocks } }, {}, on);
    expect(() => asked(30)).toThrow(
      /replacementBlocks: block needs 30 replacement blocks .*\. Use at most 2\d replacement blocks, or at most \d+ logical slots/,
    );
    expect(() => asked(100)).toThrow(/failures and trims\. Use at most 2\d replacement blocks$/);
    expect(() => asked(1, { ...shape, blocksPerPlane: 3 })).toThrow(
      /No capacity is small enough for that on this device/,
    );
  });

  test('wear levelling of kind none asks for nothing', () => {
    expect(() => bed('fast', { wearLevelling: { kind: 'none' } })).not.toThrow();
    expect(() => bed('fast', { wearLevelling: { kind: 'bet' } })).toThrow(/wearLevelling: has no meaning with/);
  });

  test('LAST takes neither more sequential log blocks than it can have nor a window beyond the domain', () => {
    const last = (parameters: Record<string, number>) =>
      bed({ name: 'last', parameters: { logBlocks: 6, ...parameters } });
    expect(() => last({ sequentialBlocks: 4, hotWindow: 40 * 32 })).not.toThrow();
    expect(() => last({ sequentialBlocks: 5 })).toThrow(/sequentialBlocks: found 5, expected at most 4: of the 6 log/);
    expect(() => last({ hotWindow: 2 ** 24 })).toThrow(/hotWindow: found 16777216, expected at most 1280, the logical/);
  });

  test('tables are those of block mapping, and a page map of the log blocks', () => {
    const space = { capacityBytes: 40 * 32 * 4096, slotBytes: 4096, blockBytes: 32 * 4096 };
    expect(bed('block').ftl.tableBytes).toBe(mappingTableBytes('block', space));
    const { ftl } = bed({ name: 'fast', parameters: { logBlocks: 5 } });
    expect(ftl.tableBytes).toBe(mappingTableBytes('hybrid', { ...space, logBlocks: 5 }));
  });
});

describe.each(schemes)('%s', (scheme) => {
  test.each([
    { domain: 'unit', on: { ...shape, blocksPerPlane: 24 } },
    { domain: 'die', on: { blocksPerPlane: 24, pagesPerBlock: 8, planes: 2, pageBytes: 8192 } },
    {
      domain: 'superblock',
      on: { blocksPerPlane: 24, pagesPerBlock: 12, channels: 2, cellBits: 2, pairing: 'shifted' },
    },
  ] as const)('goes on for ever at the largest capacity, with trims and flushes: $domain', ({ domain, on }) => {
    const logicalSlots = mostSlots(on, { domain, mapping: scheme });
    const { ftl, scheduler, client } = bed(scheme, { domain, logicalSlots }, on);
    const random = new RandomSource(1).stream('writes');
    let jobs = 0;
    const issue = (run: (job: number) => void): void => {
      run(jobs++);
      scheduler.deliver();
    };
    for (let lpn = 0; lpn < logicalSlots; lpn++) issue((job) => ftl.write(lpn, 1, 0, 0, job));
    for (let i = 0; i < (full ? 4000 : 1000); i++) {
      const lpn = random.below(logicalSlots - 8);
      issue((job) => ftl.write(lpn, 1 + random.below(8), 0, 0, job));
      if (i % 40 === 0) issue((job) => ftl.trim(lpn, 8, job));
      if (i % 60 === 0) issue((job) => ftl.flush(job));
      if (i % 200 === 0) ftl.inspect();
    }
    issue((job) => ftl.flush(job));
    expect(client.done).toBe(jobs);
    expect(client.failed).toBe(0);
    ftl.inspect();
  });

  test('every flash operation is accounted for', () => {
    const { ftl, scheduler, array } = bed(scheme, {}, { ...shape, pageBytes: 8192, pagesPerBlock: 16 });
    const random = new RandomSource(2).stream('writes');
    let job = 0;
    for (let i = 0; i < 6000; i++) {
      const lpn = random.below(ftl.logicalSlots - 4);
      ftl.write(lpn, 1 + random.below(4), 0, 0, job++);
      scheduler.deliver();
      if (i % 100 === 0) ftl.trim(lpn, 4, job++);
      if (i % 150 === 0) ftl.flush(job++);
      scheduler.deliver();
    }
    ftl.flush(job);
    scheduler.deliver();
    const { stats } = ftl;
    const { counts } = scheduler;
    expect(stats.unexplained()).toBe(0);
    expect(stats.pending).toBe(0);
    expect(counts.total(counts.programs) * array.geometry.slotsPerPage).toBe(stats.programmed);
    expect(counts.reads[NandClass.gcRead]).toBe(stats.moveReads);
    expect(counts.total(counts.erases)).toBe(stats.erases);
    expect(stats.moved[MoveReason.merge]).toBeGreaterThan(0);
    expect(stats.runs[MoveReason.merge]).toBe(stats.switchMerges + stats.partialMerges + stats.fullMerges);
    expect(stats.trimMap).toBeGreaterThan(0);
  });

  test('two runs are the same to the last bit', () => {
    const run = (): string => {
      const simulator = new Simulator();
      const array = nandArray({ channels: 2, blocksPerPlane: 32, pagesPerBlock: 16 }, 'contents');
      const client = new CountingClient();
      const options = { logicalSlots: 640, mapping: scheme };
      const scheduler = new TimelineScheduler(array, simulator);
      const ftl = createFtl({ array, scheduler, client, random: new RandomSource(1), options }) as HybridFtl;
      const random = new RandomSource(3).stream('writes');
      for (let i = 0; i < 2000; i++) {
        ftl.write(random.below(636), 1 + random.below(4), 0, 0, i);
        if (i % 4 === 0) simulator.runUntil(simulator.now + 3_000_000);
      }
      simulator.drain();
      ftl.inspect();
      return JSON.stringify([simulator.now, ftl.stats, [...ftl.frontiers.l2p], [...array.eraseCount]]);
    };
    expect(run()).toBe(run());
  });

  test('a logical block that is trimmed as a whole is erased without copies', () => {
    const on = bed(scheme);
    for (let lpn = 0; lpn < 40 * 32; lpn++) on.write(lpn);
    on.spent();
    on.trim(5 * 32, 32);
    on.ftl.flush(0);
    on.scheduler.deliver();
    expect(on.spent()).toMatchObject({ copies: 0, erases: 1 });
    on.ftl.inspect();
    on.ftl.powerCut();
    on.ftl.recover();
    on.scheduler.deliver();
    on.ftl.inspect();
    expect(on.ftl.lookup(5 * 32)).toBe(-1);
    expect(on.ftl.lookup(4 * 32)).toBeGreaterThanOrEqual(0);
  });

  test('idle time is used for merges only if that was asked for', () => {
    for (const idleMerge of [false, true]) {
      const on = bed({ name: scheme, parameters: { idleMerge } });
      for (let lpn = 0; lpn < 40 * 32; lpn++) on.write(lpn);
      const random = new RandomSource(4).stream('writes');
      for (let i = 0; i < 2000; i++) on.write(random.below(40 * 32));
      // Until no log block is left unused.
      while (on.ftl.logs.used[0] < on.ftl.logBlocks) on.write(random.below(40 * 32));
      const before = on.ftl.stats.moved[MoveReason.merge] + on.ftl.stats.erases;
      on.ftl.idle(1000);
      expect(on.ftl.stats.moved[MoveReason.merge] + on.ftl.stats.erases).toBe(before);
      on.ftl.idle(Number.MAX_SAFE_INTEGER);
      expect(on.ftl.stats.moved[MoveReason.merge] + on.ftl.stats.erases > before).toBe(idleMerge);
    }
  });
});

test('a trim is durable before the version that it trimmed is erased, or an older one would be back', () => {
  const on = bed({ name: 'fast', parameters: { logBlocks: 4 } });
  for (let lpn = 0; lpn < 40 * 32; lpn++) on.write(lpn);
  // Its older version stays in the data block; the newer one is the only slot of its logical block in the log.
  on.write(3);
  on.ftl.flush(0);
  on.trim(3, 1);
  for (let i = 0; i < 4 * 32; i++) on.write((1 + (i % 8)) * 32 + 5);
  expect(on.ftl.stats.trimMap).toBe(1);
  expect(on.ftl.stats.fullMerges).toBe(0);
  expect(on.ftl.stats.erases).toBeGreaterThan(0);
  on.ftl.powerCut();
  on.ftl.recover();
  on.scheduler.deliver();
  on.ftl.inspect();
  expect(on.ftl.lookup(3)).toBe(-1);
  expect(on.ftl.lookup(4)).toBeGreaterThanOrEqual(0);
});

test('SAST takes other groups while it is in use', () => {
  const on = bed({ name: 'sast', parameters: { logBlocks: 6, dataBlocks: 2, logBlocksPerGroup: 1 } });
  const random = new RandomSource(5).stream('writes');
  for (let lpn = 0; lpn < 40 * 32; lpn++) on.write(lpn);
  for (const [dataBlocks, logBlocksPerGroup] of [
    [8, 3],
    [1, 1],
    [40, 6],
  ]) {
    on.ftl.reconfigure({ dataBlocks, logBlocksPerGroup });
    for (let i = 0; i < 500; i++) on.write(random.below(40 * 32));
    on.ftl.inspect();
  }
  expect(() => on.ftl.reconfigure({ dataBlocks: 2, logBlocksPerGroup: 7 })).toThrow(
    /found 7, expected an integer from 1 to 6/,
  );
  expect(() => bed('bast').ftl.reconfigure({ dataBlocks: 2, logBlocksPerGroup: 1 })).toThrow(/expected sast/);
});

test('KAST: a write waits for the merge of so many logical blocks at most', () => {
  const copiesOf = (cap: number): number => {
    const on = bed({ name: 'sast', parameters: { logBlocks: 8, dataBlocks: 40, logBlocksPerGroup: 8, cap } });
    for (let lpn = 0; lpn < 40 * 32; lpn++) on.write(lpn);
    const random = new RandomSource(6).stream('writes');
    let most = 0;
    for (let i = 0; i < 3000; i++) {
      const before = on.ftl.stats.moved[MoveReason.merge];
      on.write(random.below(40 * 32));
      most = Math.max(most, on.ftl.stats.moved[MoveReason.merge] - before);
    }
    return most;
  };
  expect(copiesOf(3)).toBe(3 * 32);
  expect(copiesOf(0)).toBeGreaterThan(10 * 32);
});

test('LAST: hot slots die together, so that their log blocks cost an erase each', () => {
  const on = bed({ name: 'last', parameters: { logBlocks: 8, hotWindow: 64 } });
  for (let lpn = 0; lpn < 40 * 32; lpn++) on.write(lpn);
  // Eight slots of eight logical blocks, out of order.
  for (let i = 0; i < 2000; i++) on.write(((i * 3) % 8) * 32 + 5);
  on.spent();
  for (let i = 0; i < 3200; i++) on.write(((i * 3) % 8) * 32 + 5);
  expect(on.spent()).toMatchObject({ copies: 0, erases: 100 });
});

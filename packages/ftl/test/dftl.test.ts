import {
  createEventScheduler,
  defaultReliability,
  InstantScheduler,
  NandStatus,
  TimelineScheduler,
} from '@flashstack/nand-device';
import { RandomSource, Simulator, UniformRanks } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  analyticRefusal,
  createFtl,
  type FtlOptions,
  MoveReason,
  mappingTableBytes,
  PageMapFtl,
  preconditionByWriting,
} from '../src/index.js';
import { type Bed, CountingClient, nandArray, type Shape, write } from './support.js';

const SLOT = 4096;

type Parameters = Record<string, number | boolean | string>;

/** DFTL on the instant scheduler. */
function cached(
  shape: Shape,
  options: FtlOptions,
  parameters: Parameters,
  keeps: 'nothing' | 'contents' = 'nothing',
): Bed {
  const array = nandArray(shape, keeps);
  const scheduler = new InstantScheduler(array);
  const client = new CountingClient();
  const mapping = { name: 'dftl', parameters };
  const ftl = createFtl({ array, scheduler, client, random: new RandomSource(1), options: { ...options, mapping } });
  if (!(ftl instanceof PageMapFtl)) throw new Error('DFTL is page mapping with a cache');
  return { ftl, array, scheduler, client };
}

function read(on: Bed, lpn: number, count = 1): void {
  on.ftl.read(lpn, count, 0);
  on.scheduler.deliver();
}

/** Empties the block that holds slot `psn`, and writes back what became due. */
function empty(on: Bed, psn: number): void {
  on.ftl.collector.require(on.ftl.frontiers.blockOf(psn), MoveReason.refresh);
  on.ftl.idle(0);
  on.scheduler.deliver();
  on.ftl.idle(0);
  on.scheduler.deliver();
}

/** So much room that nothing is collected in a test. */
const roomy: Shape = { blocksPerPlane: 2000, pagesPerBlock: 64 };

describe('costs of look-ups', () => {
  test('uniform random reads: hit ratio c/L, one more page read per miss', () => {
    const slots = 10_000;
    const on = cached(roomy, { logicalSlots: slots }, { cmtEntries: 2000, entryBytes: 16 });
    const random = new RandomSource(3).stream('reads');
    for (let lpn = 0; lpn < slots; lpn++) write(on, lpn);
    // Entries of the writes are written back first.
    for (let i = 0; i < 20_000; i++) read(on, random.below(slots));
    on.ftl.stats.reset();
    const count = 100_000;
    for (let i = 0; i < count; i++) read(on, random.below(slots));
    const { stats } = on.ftl;
    expect(stats.mapHits + stats.mapMisses).toBe(count);
    expect(Math.abs(stats.mapHits / count / 0.2 - 1)).toBeLessThan(0.02);
    expect(stats.mapReads).toBe(stats.mapMisses);
    expect(stats.pageReads).toBe(count);
    expect(stats.mapping).toBe(0);
  });

  test('uniform random writes one by one: two more reads and one more program per miss', () => {
    const slots = 8000;
    const on = cached(roomy, { logicalSlots: slots }, { cmtEntries: 800, entryBytes: 16, batchUpdate: false });
    const random = new RandomSource(3).stream('writes');
    for (let lpn = 0; lpn < slots; lpn++) write(on, lpn);
    for (let i = 0; i < 3000; i++) write(on, random.below(slots));
    on.ftl.stats.reset();
    for (let i = 0; i < 30_000; i++) write(on, random.below(slots));
    const { stats } = on.ftl;
    expect(stats.runs[0]).toBe(0);
    expect(Math.abs(stats.mapHits / 30_000 / 0.1 - 1)).toBeLessThan(0.05);
    // Every entry in the cache is dirty, since all were written.
    expect(stats.mapping).toBe(stats.mapMisses);
    expect(stats.mapReads).toBe(2 * stats.mapMisses);
    expect(stats.programmed).toBe(stats.host + stats.mapping);
  });

  test('a batch update saves what it took along: a read per miss and per program remains', () => {
    const slots = 8000;
    const on = cached(roomy, { logicalSlots: slots }, { cmtEntries: 800, entryBytes: 16 });
    const random = new RandomSource(3).stream('writes');
    for (let lpn = 0; lpn < slots; lpn++) write(on, lpn);
    for (let i = 0; i < 3000; i++) write(on, random.below(slots));
    on.ftl.stats.reset();
    for (let i = 0; i < 30_000; i++) write(on, random.below(slots));
    const { stats } = on.ftl;
    expect(stats.mapReads).toBe(stats.mapMisses + stats.mapping);
    // 800 entries over 32 pages: some 25 of a page are dirty when the first of them has to go.
    expect(stats.mapping / stats.mapMisses).toBeLessThan(0.1);
  });

  test('page granularity: a sequential pass reads each translation page once', () => {
    const slots = 8192;
    const on = cached(roomy, { logicalSlots: slots }, { cmtEntries: 1024, entryBytes: 16, granularity: 'page' });
    for (let lpn = 0; lpn < slots; lpn++) write(on, lpn);
    for (let lpn = 0; lpn < slots; lpn++) read(on, lpn);
    on.ftl.stats.reset();
    for (let lpn = 0; lpn < slots; lpn++) read(on, lpn);
    const entries = SLOT / 16;
    expect(on.ftl.stats.mapMisses).toBe(slots / entries);
    expect(on.ftl.stats.mapReads).toBe(slots / entries);
    expect(on.ftl.stats.mapHits).toBe(slots - slots / entries);
  });

  test('prefetch of k entries: a sequential pass misses every k + 1st, and at page borders', () => {
    const slots = 2048;
    const on = cached(roomy, { logicalSlots: slots }, { cmtEntries: 64, entryBytes: 16, prefetch: 7 });
    for (let lpn = 0; lpn < slots; lpn++) write(on, lpn);
    for (let lpn = 0; lpn < slots; lpn++) read(on, lpn);
    on.ftl.stats.reset();
    for (let lpn = 0; lpn < slots; lpn++) read(on, lpn);
    expect(on.ftl.stats.mapMisses).toBe(slots / 8);
    expect(on.ftl.stats.mapReads).toBe(slots / 8);
  });

  test('a translation page larger than a slot is read and written as a whole', () => {
    const shape = { blocksPerPlane: 200, pagesPerBlock: 64, pageBytes: 4 * SLOT };
    const slots = 4096;
    const parameters = { cmtEntries: 1, entryBytes: 16, translationPageBytes: 4 * SLOT, batchUpdate: false };
    const on = cached(shape, { logicalSlots: slots }, parameters, 'contents');
    for (let lpn = 0; lpn < slots; lpn++) write(on, lpn);
    on.ftl.inspect();
    on.ftl.stats.reset();
    // Alternating between two pages, so that each write displaces the entry of the one before.
    for (let i = 0; i < 100; i++) write(on, (i * 1024 + i) % 2048);
    const { stats } = on.ftl;
    expect(stats.mapMisses).toBe(100);
    expect(stats.mapping).toBe(400);
    expect(stats.mapReads).toBe(200);
    on.ftl.inspect();
  });

  test('collection updates each translation page of a victim once, entries in the cache for nothing', () => {
    const entryBytes = 256;
    const parameters = { cmtEntries: 8, entryBytes, foldOnCopy: false };
    const on = cached({ blocksPerPlane: 64, pagesPerBlock: 64 }, { logicalSlots: 1024 }, parameters, 'contents');
    for (let lpn = 0; lpn < 1024; lpn++) write(on, lpn);
    // Of the first block, two slots out of four.
    for (let lpn = 0; lpn < 64; lpn += 4) on.ftl.trim(lpn, 2, 0);
    on.ftl.flush(0);
    on.scheduler.deliver();
    // These entries are cached and clean, so that their new places need no update now.
    for (let lpn = 2; lpn < 16; lpn += 4) read(on, lpn, 2);
    const before = on.ftl.frontiers.l2p.slice(0, 1024);
    on.ftl.stats.reset();
    empty(on, before[2]);
    const moved = [...before.keys()].filter((lpn) => before[lpn] !== on.ftl.frontiers.l2p[lpn]);
    expect(moved.length).toBe(32);
    const pages = new Set(moved.filter((lpn) => lpn >= 16).map((lpn) => Math.floor(lpn / (SLOT / entryBytes))));
    expect(pages.size).toBe(3);
    expect(on.ftl.stats.mapping).toBe(3);
    expect(on.ftl.stats.mapReads).toBe(3);
    on.ftl.inspect();
  });

  test('a relocated translation page takes its dirty entries with it, unless told not to', () => {
    for (const foldOnCopy of [true, false]) {
      const parameters = { cmtEntries: 100, entryBytes: 256, foldOnCopy };
      const on = cached({ blocksPerPlane: 64, pagesPerBlock: 64 }, { logicalSlots: 1024 }, parameters, 'contents');
      for (let lpn = 0; lpn < 1024; lpn++) write(on, lpn);
      for (let i = 0; i < 200; i++) read(on, 500 + i);
      for (let lpn = 16; lpn < 24; lpn++) write(on, lpn);
      const firstPage = on.ftl.mapCache?.firstSlot as number;
      on.ftl.stats.reset();
      empty(on, on.ftl.frontiers.l2p[firstPage + 1]);
      expect(on.ftl.stats.moved[MoveReason.refresh]).toBeGreaterThan(0);
      expect(on.ftl.stats.mapping).toBe(0);
      on.ftl.powerCut();
      expect(on.ftl.recover().mapChanges).toBe(foldOnCopy ? 0 : 8);
      on.ftl.inspect();
    }
  });
});

/** What §10 of the specification says a sequence of accesses costs while nothing is collected, with plain arrays. */
function naiveCosts(
  accesses: readonly (readonly [boolean, number])[],
  { cmtEntries, perPage, batchUpdate }: { cmtEntries: number; perPage: number; batchUpdate: boolean },
): object {
  let lists: [number[], number[]] = [[], []];
  const dirty = new Set<number>();
  const written = new Set<number>();
  const cost = { mapHits: 0, mapMisses: 0, mapReads: 0, mapping: 0 };
  const pageOf = (lpn: number): number => Math.floor(lpn / perPage);
  const evict = (): void => {
    const victim = (lists[0].length > 0 ? lists[0].pop() : lists[1].pop()) as number;
    if (!dirty.has(victim)) return;
    const page = pageOf(victim);
    for (const lpn of [...dirty]) if (lpn === victim || (batchUpdate && pageOf(lpn) === page)) dirty.delete(lpn);
    if (written.has(page)) cost.mapReads++;
    cost.mapping++;
    written.add(page);
  };
  for (const [isWrite, lpn] of accesses) {
    const without = (list: number[]): number[] => list.filter((other) => other !== lpn);
    if (lists[0].includes(lpn) || lists[1].includes(lpn)) {
      cost.mapHits++;
      lists = [without(lists[0]), [lpn, ...without(lists[1])]];
      if (lists[1].length > Math.floor(cmtEntries / 2)) lists[0].unshift(lists[1].pop() as number);
    } else {
      cost.mapMisses++;
      if (written.has(pageOf(lpn))) cost.mapReads++;
      if (lists[0].length + lists[1].length === cmtEntries) evict();
      lists[0].unshift(lpn);
    }
    if (isWrite) dirty.add(lpn);
  }
  return cost;
}

describe('the cache', () => {
  test('costs what a plain model says', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10 }),
        fc.boolean(),
        fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 0, max: 99 })), { maxLength: 200 }),
        (cmtEntries, batchUpdate, accesses) => {
          const on = cached(
            { blocksPerPlane: 60, pagesPerBlock: 16 },
            { logicalSlots: 100 },
            { cmtEntries, batchUpdate, entryBytes: 256 },
            'contents',
          );
          for (const [isWrite, lpn] of accesses) {
            if (isWrite) write(on, lpn);
            else read(on, lpn);
          }
          on.ftl.inspect();
          const { mapHits, mapMisses, mapReads, mapping } = on.ftl.stats;
          expect({ mapHits, mapMisses, mapReads, mapping }).toEqual(
            naiveCosts(accesses, { cmtEntries, batchUpdate, perPage: 16 }),
          );
        },
      ),
    );
  });

  test('after a power cut exactly the entries that flash does not have are written again', () => {
    const on = cached(
      { blocksPerPlane: 60, pagesPerBlock: 16 },
      { logicalSlots: 300 },
      { cmtEntries: 20, entryBytes: 128 },
      'contents',
    );
    const random = new RandomSource(5).stream('writes');
    for (let lpn = 0; lpn < 300; lpn++) write(on, lpn);
    // Nothing but reads for a while: every entry in the cache is clean.
    for (let i = 0; i < 400; i++) read(on, random.below(300));
    for (let lpn = 100; lpn < 107; lpn++) write(on, lpn);
    on.ftl.powerCut();
    expect(on.ftl.recover().mapChanges).toBe(7);
    on.ftl.inspect();
    on.ftl.stats.reset();
    read(on, 0);
    // All seven are in translation page 3.
    expect(on.ftl.stats.mapping).toBe(1);
    on.ftl.powerCut();
    expect(on.ftl.recover().mapChanges).toBe(0);
    on.ftl.inspect();
  });

  test.each([
    ['entry', true, 1],
    ['entry', false, 2],
    ['page', true, 1],
    ['page', true, 2],
  ] as const)('translation pages that cannot be read are written anew: %s, %s, %d', (granularity, flag, slots) => {
    const base = defaultReliability(1);
    const none = { ...base.rawBitErrors, r0: 0, a: 0, c: 0, f: 0 };
    const reliability = { ...base, factoryBad: 0, ratedCycles: 1e9, rawBitErrors: none };
    const shape = { blocksPerPlane: 80, pagesPerBlock: 16, pageBytes: slots * SLOT, reliability };
    const parameters = {
      ...{ cmtEntries: 32, entryBytes: 256, translationPageBytes: slots * SLOT },
      ...{ granularity, batchUpdate: flag, foldOnCopy: flag },
    };
    const on = cached(shape, { logicalSlots: 600 * slots }, parameters, 'contents');
    const model = on.array.reliability as NonNullable<typeof on.array.reliability>;
    const random = new RandomSource(6).stream('operations');
    const first = on.ftl.mapCache?.firstSlot as number;
    let lost = 0;
    model.readPage = (ppn) => {
      const lpn = on.array.lpn[ppn * slots];
      if (lpn < first || lpn >= on.ftl.frontiers.l2p.length || random.below(10) > 0) return NandStatus.ok;
      lost++;
      return NandStatus.uncorrectable;
    };
    for (let i = 0; i < 6000; i++) {
      const lpn = random.below(600 * slots);
      if (random.below(3) === 0) read(on, lpn);
      else write(on, lpn);
      if (i % 100 === 0) on.ftl.inspect();
    }
    expect(lost).toBeGreaterThan(50);
    expect(on.client.failed).toBe(0);
    expect(on.ftl.stats.lost).toBe(0);
    expect(on.ftl.stats.runs[0]).toBeGreaterThan(0);
    on.ftl.powerCut();
    on.ftl.recover();
    on.ftl.inspect();
  });

  test('two runs with the same seed are identical', () => {
    const run = (): unknown => {
      const on = cached(
        { blocksPerPlane: 80, pagesPerBlock: 32 },
        { logicalSlots: 1500 },
        { cmtEntries: 50, entryBytes: 64 },
      );
      const random = new RandomSource(8).stream('writes');
      preconditionByWriting(on.ftl, { capacities: 4, ranks: new UniformRanks(1500), random });
      return [on.ftl.stats, on.ftl.frontiers.l2p];
    };
    expect(run()).toEqual(run());
  });

  test('a drive is preconditioned by writing; no steady state is known to draw', () => {
    const on = cached(
      { blocksPerPlane: 80, pagesPerBlock: 64 },
      { logicalSlots: 3000 },
      { cmtEntries: 100, entryBytes: 64 },
      'contents',
    );
    expect(analyticRefusal(on.ftl, { kind: 'uniform' })).toMatch(/map in flash/);
    const random = new RandomSource(8).stream('writes');
    preconditionByWriting(on.ftl, { capacities: 4, ranks: new UniformRanks(3000), random });
    on.ftl.inspect();
    expect(on.ftl.stats.unexplained()).toBe(0);
    expect(on.ftl.stats.mapping).toBeGreaterThan(0);
  });

  test('takes the RAM of the cached entries and of a directory', () => {
    const on = cached(roomy, { logicalSlots: 10_000 }, { cmtEntries: 500, entryBytes: 8 });
    const space = { capacityBytes: 10_000 * SLOT, slotBytes: SLOT, entryBytes: 8, cmtEntries: 500 };
    expect(on.ftl.tableBytes).toBe(mappingTableBytes('dftl', space));
    const paged = cached(roomy, { logicalSlots: 10_000 }, { cmtEntries: 1200, granularity: 'page', entryBytes: 8 });
    // Two pages of 512 entries, and 20 pages in the directory.
    expect(paged.ftl.tableBytes).toBe(2 * (SLOT + 8) + 20 * 8);
  });

  test('parameters must fit together and the device', () => {
    const refuse = (parameters: Parameters, message: RegExp): void => {
      expect(() => cached(roomy, { logicalSlots: 1000 }, parameters)).toThrow(message);
    };
    refuse({ cmtEntrys: 3 }, /Did you mean "cmtEntries"/);
    refuse(
      { translationPageBytes: 5000 },
      /translationPageBytes: found 5000, expected a multiple of nand.geometry.slotBytes/,
    );
    refuse(
      { granularity: 'page', cmtEntries: 1000 },
      /cmtEntries: found 1000, expected at least one translation page of 1024/,
    );
    refuse({ granularity: 'page', cmtEntries: 2048, prefetch: 1 }, /prefetch: found 1, expected 0/);
    refuse({ cmtEntries: 4, prefetch: 4 }, /prefetch: found 4, expected less than the 4 entries/);
    refuse({ protectedShare: 2 }, /protectedShare is 2/);
    refuse({ granularity: 'pages' }, /Did you mean "page"/);
  });
});

describe('schedulers', () => {
  test.each(['entry', 'page'])('served as issued, the books are the same (%s)', (granularity) => {
    const books = (kind: 'timeline' | 'event'): unknown => {
      const parameters = { cmtEntries: 512, entryBytes: 16, granularity };
      const shape = { channels: 2, ways: 2, blocksPerPlane: 60, pagesPerBlock: 32 };
      const on = cached(shape, { logicalSlots: 5000 }, parameters);
      const random = new RandomSource(8).stream('writes');
      preconditionByWriting(on.ftl, { capacities: 1, ranks: new UniformRanks(5000), random });
      const simulator = new Simulator();
      on.ftl.attachScheduler(
        kind === 'timeline'
          ? new TimelineScheduler(on.array, simulator)
          : createEventScheduler(on.array, simulator, { policy: 'fifo', bus: 'reserve' }),
      );
      on.ftl.stats.reset();
      const free = Array.from({ length: 32 }, (_, job) => job);
      on.client.ftlDone = (job) => {
        free.push(job);
      };
      for (let i = 0; i < 8000; i++) {
        while (free.length === 0) simulator.runUntil(simulator.now + 10_000);
        const job = free.pop() as number;
        if (random.below(3) === 0) on.ftl.read(random.below(5000), 1, job);
        else on.ftl.write(random.below(5000), 1, 0, 0, job);
      }
      return on.ftl.stats;
    };
    expect(books('event')).toEqual(books('timeline'));
  });
});

describe('time', () => {
  /** Latencies of `requests`, all issued at once on an idle drive that has just been filled. */
  function latencies(parameters: Parameters, requests: readonly (readonly [write: boolean, lpn: number])[]): number[] {
    const on = cached({ ways: 8, blocksPerPlane: 20, pagesPerBlock: 64 }, { logicalSlots: 4096 }, parameters);
    preconditionByWriting(on.ftl);
    const simulator = new Simulator();
    on.ftl.attachScheduler(new TimelineScheduler(on.array, simulator));
    const done: number[] = [];
    const start = simulator.now;
    on.client.ftlDone = (job) => {
      done[job] = simulator.now - start;
      expect(on.ftl.doneMapNs).toBeLessThanOrEqual(done[job]);
    };
    requests.forEach(([isWrite, lpn], job) => {
      if (isWrite) on.ftl.write(lpn, 1, 0, 0, job);
      else on.ftl.read(lpn, 1, job);
    });
    simulator.runUntil(1e9);
    return done;
  }

  test('a read that misses takes two page reads, one after the other', () => {
    const [hit] = latencies({ cmtEntries: 4096, entryBytes: 16 }, [[false, 7]]);
    const [miss] = latencies({ cmtEntries: 64, entryBytes: 16 }, [[false, 7]]);
    // The write-back of the displaced entry may hold the die of the data for as long again.
    expect(miss).toBeGreaterThanOrEqual(2 * hit);
  });

  test('an entry that is still being read is waited for', () => {
    const parameters = { cmtEntries: 512, entryBytes: 16, granularity: 'page' };
    const [first, second] = latencies(parameters, [
      [false, 0],
      [false, 1],
    ]);
    const [hit] = latencies({ cmtEntries: 4096, entryBytes: 16 }, [[false, 7]]);
    expect(first).toBeGreaterThanOrEqual(2 * hit);
    expect(second).toBeGreaterThanOrEqual(2 * hit);
  });

  test('a write is not done before its look-up', () => {
    // Its program ends at the same time either way; the read of the translation page waits behind programs.
    const many = Array.from({ length: 40 }, (_, i): readonly [boolean, number] => [true, (i * 101) % 4096]);
    const all = latencies({ cmtEntries: 4096, entryBytes: 16 }, many);
    const none = latencies({ cmtEntries: 1, entryBytes: 16 }, many);
    expect(none.reduce((a, b) => a + b)).toBeGreaterThan(all.reduce((a, b) => a + b));
  });
});

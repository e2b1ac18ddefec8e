import { RandomSource } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { type FtlOptions, preconditionByWriting } from '../src/index.js';
import { type Bed, bed, type Shape, write } from './support.js';

type Streams = NonNullable<FtlOptions['streams']>;

function fdp(handles: number, isolation: 'initial' | 'persistent', groups = 1): Streams {
  return { name: 'fdp', parameters: { handles, groups, isolation } };
}

/** Checks on every slot that is placed that no block holds data of two handles; says how many blocks held any. */
function watchIsolation(on: Bed): { handleOf: Int8Array; mixed: () => number } {
  const { ftl, array } = on;
  const ofSlot = new Int8Array(array.geometry.slots).fill(-1);
  const ofBlock = new Int8Array(ftl.table.blocks).fill(-1);
  const next = new Int8Array(ftl.logicalSlots);
  let mixed = 0;
  const place = (psn: number, handle: number): void => {
    const block = ftl.frontiers.blockOf(psn);
    ofSlot[psn] = handle;
    if (ofBlock[block] >= 0 && ofBlock[block] !== handle) mixed++;
    ofBlock[block] = handle;
  };
  const nothing = (): void => {};
  ftl.probe = {
    ...{ closed: nothing, victim: nothing, erasing: nothing, erased: nothing, retired: nothing, parked: nothing },
    ...{ resumed: nothing, lost: nothing },
    opened: (block) => {
      ofBlock[block] = -1;
    },
    moved: (lpn, from, to) => {
      if (lpn < ftl.logicalSlots) place(to, ofSlot[from]);
    },
  };
  // Told while the slot is mapped: where to is known a little later, when nothing else has been placed yet.
  const { frontiers } = ftl;
  const append = frontiers.append.bind(frontiers);
  frontiers.append = (f, lpn, origin, from, job, after) => {
    append(f, lpn, origin, from, job, after);
    if (from < 0 && lpn < ftl.logicalSlots) place(frontiers.l2p[lpn], next[lpn]);
  };
  return { handleOf: next, mixed: () => mixed };
}

/** Writes, trims and flushes of three handles, each slot by any of them. */
function churn(on: Bed, watch: { handleOf: Int8Array }, operations: number): void {
  const random = new RandomSource(5).stream('churn');
  const { ftl } = on;
  for (let i = 0; i < operations; i++) {
    const lpn = i < ftl.logicalSlots ? i : random.below(ftl.logicalSlots);
    const handle = random.below(3);
    watch.handleOf[lpn] = handle;
    write(on, lpn, handle);
    if (random.below(50) === 0) ftl.trim(random.below(ftl.logicalSlots - 4), 4, 0);
    if (random.below(200) === 0) ftl.flush(0);
    on.scheduler.deliver();
  }
  ftl.inspect();
}

const shape: Shape = { channels: 2, ways: 2, blocksPerPlane: 40, pagesPerBlock: 16 };

/** Two rings of slots that are overwritten in order: a small one nine times as often as a large one. */
function twoLifetimes(options: Partial<FtlOptions>, handles: readonly [number, number], trims: boolean): Bed {
  const logicalSlots = 1800;
  const on = bed(shape, { logicalSlots, ...options });
  const small = 200;
  const large = logicalSlots - small;
  for (let i = 0; i < 40_000; i++) {
    if (i === 20_000) on.ftl.stats.reset();
    const round = Math.floor(i / 10);
    if (i % 10 === 9) {
      if (trims) on.ftl.trim(small + (round % large), 1, 0);
      write(on, small + (round % large), handles[1]);
    } else write(on, (i - round) % small, handles[0]);
  }
  on.ftl.inspect();
  return on;
}

describe('flexible data placement', () => {
  test('lifetimes in handles of their own cost no relocation; together they do', () => {
    for (const trims of [false, true]) {
      const together = twoLifetimes({ streams: fdp(2, 'persistent') }, [0, 0], trims).ftl.stats;
      const apart = twoLifetimes({ streams: fdp(2, 'persistent') }, [0, 1], trims).ftl.stats;
      expect(apart.writeAmplification).toBeLessThan(1.01);
      expect(together.writeAmplification).toBeGreaterThan(1.15);
      expect(twoLifetimes({}, [0, 1], trims).ftl.stats.writeAmplification).toBeGreaterThan(1.15);
    }
  });

  test.each([
    ['separate', {}],
    ['mixed', { placement: 'mixed' }],
    ['wear levelling', { wearLevelling: { kind: 'threshold', delta: 3, interval: 2 } }],
    ['FIFO', { victim: 'fifo' }],
  ] as const)('persistently isolated: no block ever holds data of two handles (%s)', (_name, options) => {
    const on = bed(shape, { logicalSlots: 1400, streams: fdp(3, 'persistent'), ...options }, 'contents');
    const watch = watchIsolation(on);
    churn(on, watch, 20_000);
    expect(on.ftl.stats.moved[0]).toBeGreaterThan(0);
    expect(watch.mixed()).toBe(0);
    on.ftl.powerCut();
    on.ftl.recover();
    on.scheduler.deliver();
    churn(on, watch, 5000);
    expect(watch.mixed()).toBe(0);
  });

  test('initially isolated: relocation mixes, the host does not', () => {
    const on = bed(shape, { logicalSlots: 1400, streams: fdp(3, 'initial') });
    const watch = watchIsolation(on);
    churn(on, watch, 20_000);
    expect(watch.mixed()).toBeGreaterThan(0);
    const { table, layout } = on.ftl;
    expect(layout.total).toBe(4);
    for (let block = 0; block < table.blocks; block++) expect(table.stream[block]).toBeLessThan(4);
  });

  test('a reclaim group is a set of dies: data stays there, also when it is relocated', () => {
    const on = bed({ ...shape, planes: 2 }, { logicalSlots: 2000, streams: fdp(2, 'persistent', 2) });
    const random = new RandomSource(5).stream('writes');
    const groupOf = (lpn: number): number => lpn & 1;
    for (let i = 0; i < 20_000; i++) {
      const lpn = i < 2000 ? i : random.below(2000);
      // Identifiers are group · handles + handle.
      write(on, lpn, 2 * groupOf(lpn) + random.below(2));
    }
    expect(on.ftl.stats.moved[0]).toBeGreaterThan(0);
    expect(on.ftl.stats.outsideGroup).toBe(0);
    const { geometry } = on.array;
    for (let lpn = 0; lpn < 2000; lpn++) {
      const die = geometry.dieOf(geometry.ppnOfPsn(on.ftl.frontiers.l2p[lpn]));
      expect(Math.floor(die / 2)).toBe(groupOf(lpn));
    }
    on.ftl.inspect();
  });

  test('a group that is full is left, and that is counted', () => {
    const on = bed(shape, { logicalSlots: 1400, streams: fdp(1, 'initial', 4) });
    // One group has a quarter of 2,560 slots.
    for (let lpn = 0; lpn < 1400; lpn++) write(on, lpn, 1);
    expect(on.ftl.stats.outsideGroup).toBeGreaterThan(1400 - 640);
    on.ftl.inspect();
  });

  test('preconditioning fills all groups alike', () => {
    const on = bed(shape, { logicalSlots: 1400, streams: fdp(1, 'initial', 4) });
    preconditionByWriting(on.ftl);
    const perDie = new Int32Array(4);
    for (const psn of on.ftl.frontiers.l2p.slice(0, 1400)) perDie[on.array.geometry.dieOf(psn)]++;
    expect([...perDie]).toEqual([350, 350, 350, 350]);
    expect(on.ftl.stats.outsideGroup).toBe(0);
  });

  test('identifiers that name no handle are those of handle 0, and counted', () => {
    const on = bed(shape, { logicalSlots: 400, streams: fdp(2, 'initial') });
    write(on, 1, 1);
    write(on, 2, 2);
    expect(on.ftl.stats.unknownPlacements).toBe(1);
    const streamOf = (lpn: number): number => on.ftl.table.stream[on.ftl.frontiers.blockOf(on.ftl.frontiers.l2p[lpn])];
    expect([streamOf(1), streamOf(2)]).toEqual([1, 0]);
  });

  test('groups must divide the dies, and the domains must lie inside a die', () => {
    const make =
      (streams: Streams, options: Partial<FtlOptions> = {}) =>
      () =>
        bed(shape, { logicalSlots: 400, streams, ...options });
    expect(make(fdp(1, 'initial', 3))).toThrow(/3 groups of dies, expected a number that divides the 4 dies/);
    // Whatever else is wrong: with other groups the drive may be large enough.
    expect(make(fdp(1, 'initial', 3), { logicalSlots: 100_000 })).toThrow(/3 groups of dies/);
    expect(make(fdp(1, 'initial', 2), { domain: 'superblock' })).toThrow(/ftl\.domain: found "superblock"/);
    expect(make(fdp(2, 'initial'), { placement: 'mixed' })).toThrow(/ftl\.placement: found "mixed"/);
  });
});

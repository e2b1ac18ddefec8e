import { HotColdRanks, RandomSource, type RankDistribution, ZipfRanks } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type FtlOptions,
  type FtlProbe,
  optimalSeparation,
  type PageMapFtl,
  preconditionByWriting,
} from '../src/index.js';
import { type Bed, bed, full, write } from './support.js';

const N = 64;
const BLOCKS = full ? 3000 : 1000;
const ALPHA = 1.25;
const logicalSlots = Math.round(((BLOCKS - 3) * N) / ALPHA);
const hotCold = (slots: number): RankDistribution => new HotColdRanks(slots, 0.2, 0.8);
const zipf = (slots: number): RankDistribution => new ZipfRanks(slots, 0.99);

/** Write amplification in steady state. */
function measure(options: Partial<FtlOptions>, ranksOf: (slots: number) => RankDistribution): number {
  const on = bed({ blocksPerPlane: BLOCKS, pagesPerBlock: N }, { gcMode: 'blocking', ...options, logicalSlots });
  const ranks = ranksOf(logicalSlots);
  const random = new RandomSource(11).stream('writes');
  preconditionByWriting(on.ftl, { capacities: 5, ranks, random });
  on.ftl.stats.reset();
  preconditionByWriting(on.ftl, { fill: false, capacities: 3, ranks, random });
  on.ftl.inspect();
  return on.ftl.stats.writeAmplification;
}

type Streams = NonNullable<FtlOptions['streams']>;

const dac = (parameters: Record<string, number | string>): Streams => ({ name: 'dac', parameters });

/** A probe that follows relocations only. */
function follower(on: Bed, events: Partial<FtlProbe>): void {
  const nothing = (): void => {};
  on.ftl.probe = {
    ...{ opened: nothing, closed: nothing, victim: nothing, moved: nothing, erasing: nothing, erased: nothing },
    ...{ retired: nothing, parked: nothing, resumed: nothing, lost: nothing },
    ...events,
  };
}

/** The frontier of its domain that opened the block of a logical slot. */
function frontierOf(ftl: PageMapFtl, lpn: number): number {
  return ftl.table.stream[ftl.frontiers.blockOf(ftl.frontiers.l2p[lpn])];
}

/**
 * True if a slot relocated to `psn` may have gone to any open block: with no erased block left, a frontier that has none
 * cannot open one, and what is relocated takes the room there is.
 */
function madeDo({ ftl }: Bed, psn: number): boolean {
  return ftl.table.freeCount[ftl.table.domainOf(ftl.frontiers.blockOf(psn))] === 0;
}

const small = { blocksPerPlane: 48, pagesPerBlock: 16 };
const SMALL_SLOTS = 400;

describe('dynamic data clustering', () => {
  test('one region is no separation at all', () => {
    const run = (streams: Streams, placement: 'mixed' | 'separate'): unknown => {
      const on = bed(small, { logicalSlots: SMALL_SLOTS, streams, placement });
      const random = new RandomSource(2).stream('writes');
      preconditionByWriting(on.ftl, { capacities: 6, ranks: hotCold(SMALL_SLOTS), random });
      return [on.ftl.stats, on.ftl.frontiers.l2p];
    };
    for (const placement of ['mixed', 'separate'] as const) {
      expect(run(dac({ regions: 1 }), placement)).toEqual(run('none', placement));
    }
  });

  test('regions are those of a plain model', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('mixed' as const, 'separate' as const),
        fc.integer({ min: 2, max: 4 }),
        fc.constantFrom(0, 0.2, 1),
        fc.constantFrom(0, 0.2, 1),
        fc.constantFrom('coldest', 'middle'),
        fc.integer({ min: 1, max: 1000 }),
        (placement, regions, promoteAge, demoteAge, start, seed) => {
          const streams = dac({ regions, promoteAge, demoteAge, start });
          const on = bed(small, { logicalSlots: SMALL_SLOTS, streams, placement }, 'contents');
          const region = new Int32Array(SMALL_SLOTS).fill(-1);
          const writtenAt = new Float64Array(SMALL_SLOTS);
          const regionOf = (lpn: number): number => {
            const frontier = frontierOf(on.ftl, lpn);
            return frontier < regions ? frontier : frontier - on.ftl.layout.gc;
          };
          let clock = 0;
          let elsewhere = 0;
          // Asked for when the slot is placed: a write that had to wait for room sees what was relocated meanwhile.
          on.client.slotWord = (_job, lpn) => {
            const soon = promoteAge === 0 || clock - writtenAt[lpn] <= promoteAge * SMALL_SLOTS;
            if (region[lpn] >= 0) region[lpn] = Math.min(regions - 1, region[lpn] + (soon ? 1 : 0));
            else region[lpn] = start === 'middle' ? Math.floor((regions - 1) / 2) : 0;
            writtenAt[lpn] = ++clock;
            return 0;
          };
          follower(on, {
            moved: (lpn, _from, to) => {
              const old = clock - writtenAt[lpn] >= demoteAge * SMALL_SLOTS;
              if (old) region[lpn] = Math.max(0, region[lpn] - 1);
              if (region[lpn] === regionOf(lpn) || !madeDo(on, to)) return;
              region[lpn] = regionOf(lpn);
              elsewhere++;
            },
          });
          const random = new RandomSource(seed).stream('writes');
          const ranks = hotCold(SMALL_SLOTS);
          for (let i = 0; i < 3000; i++) {
            write(on, i < SMALL_SLOTS ? i : ranks.next(random));
          }
          expect(on.ftl.stats.moved[0]).toBeGreaterThan(0);
          expect(elsewhere).toBeLessThan(0.05 * on.ftl.stats.moved[0]);
          expect(Array.from(region, (_, lpn) => regionOf(lpn))).toEqual([...region]);
        },
      ),
      { numRuns: full ? 100 : 20 },
    );
  });

  test('hot and cold data come apart: near the optimum with enough regions and a policy that knows age', () => {
    const classes = [
      { writes: 0.8, slots: 0.2 },
      { writes: 0.2, slots: 0.8 },
    ];
    const optimum = optimalSeparation(ALPHA, classes).writeAmplification;
    const none = measure({ victim: 'cost-benefit' }, hotCold);
    const four = measure({ victim: 'cost-benefit', streams: 'dac', placement: 'mixed' }, hotCold);
    const eight = measure({ victim: 'cost-benefit', streams: dac({ regions: 8 }), placement: 'mixed' }, hotCold);
    expect(four).toBeLessThan(0.95 * none);
    // One run of 1,500 blocks gave 2.07, where the optimum of two known classes is 1.998.
    expect(eight / optimum).toBeLessThan(1.08);
    expect(eight).toBeGreaterThan(optimum);
  });

  test('does not go with options that say where relocated data goes', () => {
    const make = (options: Partial<FtlOptions>) => () => bed(small, { logicalSlots: SMALL_SLOTS, ...options });
    expect(make({ streams: 'dac', gcKeepsStream: true })).toThrow(/ftl\.gcKeepsStream: found true, expected false/);
    expect(make({ streams: 'sepbit', placement: 'mixed' })).toThrow(
      /ftl\.placement: found "mixed", expected "separate", because the stream policy has 2 streams for the host and 4/,
    );
    expect(make({ streams: dac({ region: 3 }) })).toThrow(/Did you mean "regions"/);
  });
});

describe('SepBIT', () => {
  test('classes are those of a plain model', () => {
    fc.assert(
      fc.property(fc.constantFrom(hotCold, zipf), fc.integer({ min: 1, max: 1000 }), (ranksOf, seed) => {
        const on = bed(small, { logicalSlots: SMALL_SLOTS, streams: 'sepbit' }, 'contents');
        const classOf = new Int32Array(SMALL_SLOTS);
        const writtenAt = new Float64Array(SMALL_SLOTS);
        const openedBy = new Map<number, number>();
        const openedAt = new Map<number, number>();
        const lifespans: number[] = [];
        const lifespan = (): number =>
          lifespans.length < 16 ? Number.POSITIVE_INFINITY : lifespans.slice(-16).reduce((a, b) => a + b) / 16;
        let clock = 0;
        let elsewhere = 0;
        // Asked for when the slot is placed: a write that had to wait for room sees what was reclaimed meanwhile.
        on.client.slotWord = (_job, lpn) => {
          classOf[lpn] = classOf[lpn] > 0 && clock - writtenAt[lpn] < lifespan() ? 1 : 2;
          writtenAt[lpn] = ++clock;
          return 0;
        };
        follower(on, {
          opened: (block, frontier) => {
            openedBy.set(block, frontier);
            openedAt.set(block, clock);
          },
          victim: (block) => {
            if (openedBy.get(block) === 0) lifespans.push(clock - (openedAt.get(block) as number));
          },
          moved: (lpn, from, to) => {
            const age = clock - writtenAt[lpn];
            if (openedBy.get(on.ftl.frontiers.blockOf(from)) === 0) classOf[lpn] = 3;
            else classOf[lpn] = age < 4 * lifespan() ? 4 : age < 16 * lifespan() ? 5 : 6;
            const found = 1 + frontierOf(on.ftl, lpn);
            if (classOf[lpn] === found || !madeDo(on, to)) return;
            classOf[lpn] = found;
            elsewhere++;
          },
        });
        const random = new RandomSource(seed).stream('writes');
        const ranks = ranksOf(SMALL_SLOTS);
        for (let i = 0; i < 6000; i++) {
          write(on, i < SMALL_SLOTS ? i : ranks.next(random));
        }
        expect(lifespans.length).toBeGreaterThan(16);
        expect(elsewhere).toBeLessThan(0.05 * on.ftl.stats.moved[0]);
        expect(Array.from(classOf, (_, lpn) => 1 + frontierOf(on.ftl, lpn))).toEqual([...classOf]);
        // All classes occur, or little has been tested.
        expect(new Set(classOf).size).toBeGreaterThan(3);
      }),
      { numRuns: full ? 100 : 20 },
    );
  });

  test.each([
    ['hot and cold', hotCold],
    ['Zipf', zipf],
  ] as const)('%s: less write amplification than with two streams, and than with one', (_name, ranksOf) => {
    const victim = 'cost-benefit';
    const sepbit = measure({ victim, streams: 'sepbit' }, ranksOf);
    const two = measure({ victim, streams: 'hot-cold', gcKeepsStream: true }, ranksOf);
    expect(sepbit).toBeLessThan(two);
    expect(two).toBeLessThan(measure({ victim }, ranksOf));
  });

  test('what was inferred is gone after a power cut, and nothing else', () => {
    const on = bed(small, { logicalSlots: SMALL_SLOTS, streams: 'sepbit' }, 'contents');
    const random = new RandomSource(4).stream('writes');
    const ranks = zipf(SMALL_SLOTS);
    preconditionByWriting(on.ftl, { capacities: 4, ranks, random });
    on.ftl.powerCut();
    on.ftl.recover();
    on.scheduler.deliver();
    preconditionByWriting(on.ftl, { fill: false, capacities: 4, ranks, random });
    on.ftl.inspect();
    expect(on.ftl.stats.unexplained()).toBe(0);
  });
});

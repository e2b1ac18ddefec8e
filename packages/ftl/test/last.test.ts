import { RandomSource } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import type { LogBlocks } from '../src/hybrid/log-blocks.js';
import { Kind, Partitions } from '../src/hybrid/partitions.js';
import { HybridBed } from './hybrid-support.js';

const SLOTS = 8192;
const PAGES = 64;

function bed(parameters: Readonly<Record<string, number>>): HybridBed {
  const on = new HybridBed(
    { blocksPerPlane: 160, pagesPerBlock: PAGES },
    { logicalSlots: SLOTS, domain: 'unit', mapping: { name: 'last', parameters } },
  );
  for (let lpn = 0; lpn < SLOTS; lpn++) on.write(lpn);
  on.spent();
  return on;
}

describe('announced requests', () => {
  test('slots of a long request are sequential, however they come', () => {
    const on = bed({});
    for (const lbn of [9, 3, 40]) {
      on.ftl.announce(lbn * PAGES, PAGES);
      for (let offset = 0; offset < PAGES; offset++) on.write(lbn * PAGES + offset);
    }
    expect(on.spent()).toEqual({ copies: 0, erases: 3, switches: 3, partials: 0, fulls: 0 });
    on.ftl.inspect();
  });

  test('slots of short ones that do not follow each other are not, even if they are written in order', () => {
    const on = bed({ seqThreshold: 16_384 });
    for (let lpn = PAGES - 1; lpn >= 0; lpn--) on.ftl.announce(lpn, 1);
    for (let lpn = 0; lpn < PAGES; lpn++) on.write(lpn);
    on.mergeAll();
    expect(on.spent()).toMatchObject({ switches: 0 });
  });

  test('of two requests for a slot the later one counts; power loss forgets both', () => {
    const on = bed({});
    on.ftl.announce(0, PAGES);
    for (let lpn = PAGES - 1; lpn >= 0; lpn--) on.ftl.announce(lpn, 1);
    expect(on.ftl.locality.isSequential(5, 1)).toBe(false);
    on.ftl.announce(0, PAGES);
    expect(on.ftl.locality.isSequential(5, 1)).toBe(true);
    on.ftl.powerCut();
    expect(on.ftl.locality.isSequential(5, 1)).toBe(false);
  });

  test('slots beyond the logical ones are refused', () => {
    expect(() => bed({}).ftl.announce(SLOTS - 1, 2)).toThrow(RangeError);
  });
});

describe('hot and cold log blocks', () => {
  // The partitions count log blocks in use only where they open one.
  const partitions = (): Partitions => new Partitions({ perDomain: 20 } as LogBlocks, 1, 4);
  const adapt = (dead: number): number => {
    const on = partitions();
    for (let i = 0; i < 16; i++) {
      expect(on.limit(0, Kind.hot)).toBe(8);
      on.adaptHot(0, i < dead, 0.5, 0.25);
    }
    expect(on.broken()).toBeNull();
    return on.limit(0, Kind.hot);
  };

  test('sixteen reclaims decide: more above hi, less below lo, the same between', () => {
    expect([0, 3, 4, 8, 9, 16].map(adapt)).toEqual([7, 7, 8, 8, 9, 9]);
  });

  test('each keeps one block', () => {
    const on = partitions();
    for (let i = 0; i < 16 * 20; i++) on.adaptHot(0, true, 0.5, 0.1);
    expect(on.limit(0, Kind.cold)).toBe(1);
    for (let i = 0; i < 16 * 40; i++) on.adaptHot(0, false, 0.5, 0.1);
    expect(on.limit(0, Kind.hot)).toBe(1);
  });

  /** Slots copied for each written, nine of ten writes to a tenth of the slots, one or two of each logical block. */
  function copies(parameters: Readonly<Record<string, number>>): number {
    const on = bed(parameters);
    const random = new RandomSource(3).stream('writes');
    const writes = 8000;
    for (let i = 0; i < writes; i++) {
      on.write(random.below(10) < 9 ? random.below(Math.floor(SLOTS / 10)) * 10 : random.below(SLOTS));
    }
    on.ftl.inspect();
    return on.spent().copies / writes;
  }

  test('both bounds act on a drive, and neither makes merges many times dearer', () => {
    const fixed = copies({ lo: 0, hi: 1 });
    const grown = copies({ lo: 0, hi: 0 });
    const shrunk = copies({ lo: 1, hi: 1 });
    expect(new Set([fixed, grown, shrunk]).size).toBe(3);
    for (const found of [grown, shrunk, copies({})]) expect(found).toBeLessThan(2 * fixed);
  });
});

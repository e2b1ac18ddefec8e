import { describe, expect, test } from 'vitest';
import { HybridBed } from './hybrid-support.js';

const N = 32;

interface Mapping {
  readonly name: string;
  readonly parameters?: Readonly<Record<string, number | boolean | string>>;
}

/** One unit, 40 logical blocks of n slots; every slot holds data. */
function full(mapping: Mapping, n = N): HybridBed {
  const bed = new HybridBed({ blocksPerPlane: 64, pagesPerBlock: n }, { logicalSlots: 40 * n, mapping });
  for (let lpn = 0; lpn < 40 * n; lpn++) bed.write(lpn);
  expect(bed.spent()).toEqual({ copies: 0, erases: 0, switches: 0, partials: 0, fulls: 0 });
  return bed;
}

const hybrids = [
  { name: 'bast', parameters: { logBlocks: 4 } },
  { name: 'sast', parameters: { logBlocks: 4, dataBlocks: 4, logBlocksPerGroup: 2 } },
  { name: 'fast', parameters: { logBlocks: 4 } },
  { name: 'last', parameters: { logBlocks: 4 } },
];

describe.each(hybrids)('$name', (mapping) => {
  test('a block that is overwritten in order costs an erase and no copies', () => {
    const bed = full(mapping);
    bed.write(5 * N, N);
    bed.mergeAll();
    expect(bed.spent()).toEqual({ copies: 0, erases: 1, switches: 1, partials: 0, fulls: 0 });
    for (let lpn = 0; lpn < 40 * N; lpn += 4) bed.write(lpn, 4);
    bed.mergeAll();
    expect(bed.spent()).toEqual({ copies: 0, erases: 40, switches: 40, partials: 0, fulls: 0 });
    bed.ftl.inspect();
  });

  test.each([4, 7, 31])('the first %i slots of a block and a merge cost a copy of the others and an erase', (k) => {
    const bed = full(mapping);
    bed.write(5 * N, k);
    bed.mergeAll();
    expect(bed.spent()).toEqual({ copies: N - k, erases: 1, switches: 0, partials: 1, fulls: 0 });
    bed.ftl.inspect();
  });
});

describe('one slot of each logical block, cyclic, more of them than log blocks', () => {
  test('BAST: N copies and two erases for each write', () => {
    const bed = full({ name: 'bast', parameters: { logBlocks: 4 } });
    for (let i = 0; i < 4; i++) bed.write(i * N + 3);
    bed.spent();
    for (let i = 4; i < 1004; i++) bed.write((i % 40) * N + 3);
    expect(bed.spent()).toEqual({ copies: 1000 * N, erases: 2000, switches: 0, partials: 0, fulls: 1000 });
    bed.ftl.inspect();
  });

  test('FAST: N · N copies and N + 1 erases for each random log block', () => {
    // The random log blocks hold 3 · 8 of 40 logical blocks, so that a slot is merged before it is written again.
    const n = 8;
    const bed = full({ name: 'fast', parameters: { logBlocks: 4 } }, n);
    for (let i = 0; i < 3 * n; i++) bed.write((i % 40) * n + 3);
    bed.spent();
    for (let i = 3 * n; i < 3 * n + 100 * n; i++) bed.write((i % 40) * n + 3);
    const fulls = 100 * n;
    expect(bed.spent()).toEqual({ copies: 100 * n * n, erases: 100 * (n + 1), switches: 0, partials: 0, fulls });
    bed.ftl.inspect();
  });

  test('FAST: slots that are written again before their log block is reclaimed cost an erase of it', () => {
    const bed = full({ name: 'fast', parameters: { logBlocks: 4 } });
    for (let i = 0; i < 3 * N; i++) bed.write((i % 40) * N + 3);
    bed.spent();
    for (let i = 3 * N; i < 23 * N; i++) bed.write((i % 40) * N + 3);
    expect(bed.spent()).toEqual({ copies: 0, erases: 20, switches: 0, partials: 0, fulls: 0 });
    bed.ftl.inspect();
  });
});

describe('block mapping', () => {
  test('a slot that is overwritten costs N − 1 copies and an erase', () => {
    const bed = full({ name: 'block' });
    for (let i = 0; i < 100; i++) bed.write((i % 40) * N + ((i * 7) % N));
    bed.mergeAll();
    expect(bed.spent()).toMatchObject({ copies: 100 * (N - 1), erases: 100 });
    bed.ftl.inspect();
  });

  test('a block that is overwritten in order costs an erase, its rest a copy of what lies before', () => {
    const bed = full({ name: 'block' });
    for (let lpn = 5 * N; lpn < 6 * N; lpn++) bed.write(lpn);
    expect(bed.spent()).toEqual({ copies: 0, erases: 1, switches: 1, partials: 0, fulls: 0 });
    for (let lpn = 6 * N + 10; lpn < 7 * N; lpn++) bed.write(lpn);
    expect(bed.spent()).toEqual({ copies: 10, erases: 1, switches: 0, partials: 1, fulls: 0 });
    bed.ftl.inspect();
  });
});

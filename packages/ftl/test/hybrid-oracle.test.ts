import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { HybridModel, Sizes } from './hybrid-model.js';
import { BastModel, FastModel, SastModel } from './hybrid-models.js';
import { HybridBed } from './hybrid-support.js';
import { LastModel } from './last-model.js';
import { full } from './support.js';

const SLOT_BYTES = 4096;
const numRuns = full ? 300 : 30;

/** A drive of one domain and program units of a slot, and a model of it; all slots hold data, and blocks to spare are many. */
function pair(
  { n, blocks, logs }: Sizes,
  name: string,
  parameters: Readonly<Record<string, number | boolean>>,
): HybridBed {
  const options = { logicalSlots: n * blocks, mapping: { name, parameters: { logBlocks: logs, ...parameters } } };
  const bed = new HybridBed({ blocksPerPlane: blocks + logs + 40, pagesPerBlock: n }, options);
  for (let lpn = 0; lpn < n * blocks; lpn++) bed.write(lpn);
  bed.spent();
  bed.ftl.locality.clear();
  return bed;
}

const sizes: fc.Arbitrary<Sizes> = fc.record({
  n: fc.integer({ min: 2, max: 8 }),
  blocks: fc.integer({ min: 4, max: 16 }),
  logs: fc.integer({ min: 3, max: 7 }),
});

/** Requests as shares of the drive: anywhere, on a few slots, in the order of a logical block, or after the one before. */
const requests = fc.array(
  fc.record({
    kind: fc.constantFrom('any', 'any', 'few', 'few', 'block', 'block', 'next'),
    at: fc.integer({ min: 0, max: 2 ** 20 - 1 }),
    count: fc.integer({ min: 1, max: 9 }),
  }),
  { minLength: 200, maxLength: 600, size: 'max' },
);

type Requests = typeof requests extends fc.Arbitrary<infer T> ? T : never;

/** Writes the same to both, and compares what every single request has cost. */
function compare(
  bed: HybridBed,
  model: HybridModel,
  { n, blocks }: Sizes,
  writes: Requests,
  each: (i: number) => void,
) {
  const slots = n * blocks;
  let next = 0;
  writes.forEach(({ kind, at, count }, i) => {
    each(i);
    const lpn = { any: at % slots, few: ((at % 5) * 3) % slots, block: (at % blocks) * n, next }[kind] as number;
    const length = Math.min(kind === 'block' && count > 5 ? n : count, slots - lpn);
    bed.write(lpn, length);
    model.write(lpn, length);
    next = (lpn + length) % slots;
    expect(bed.spent()).toEqual(model.costs);
    Object.assign(model.costs, { copies: 0, erases: 0, switches: 0, partials: 0, fulls: 0 });
  });
  bed.mergeAll();
  model.mergeAll();
  expect(bed.spent()).toEqual(model.costs);
  bed.ftl.inspect();
}

const nothing = (): void => {};

test('BAST: every request costs the merges that a plain model says', () => {
  const property = fc.property(sizes, requests, (size, writes) => {
    compare(pair(size, 'bast', {}), new BastModel(size), size, writes, nothing);
  });
  fc.assert(property, { numRuns });
});

test('FAST: every request costs the merges that a plain model says', () => {
  const property = fc.property(sizes, requests, fc.boolean(), (size, writes, lazySwitch) => {
    compare(pair(size, 'fast', { lazySwitch }), new FastModel(size, lazySwitch), size, writes, nothing);
  });
  fc.assert(property, { numRuns });
});

const groups = (size: Sizes, a: number, b: number) => ({
  dataBlocks: 1 + (a % size.blocks),
  logBlocksPerGroup: 1 + (b % size.logs),
});

test('SAST and KAST: every request costs the merges that a plain model says, whatever the groups become', () => {
  const numbers = fc.array(fc.tuple(fc.nat(20), fc.nat(20)), { minLength: 1, maxLength: 5 });
  const property = fc.property(sizes, requests, numbers, fc.nat(3), (size, writes, shapes, cap) => {
    const first = groups(size, ...shapes[0]);
    const most = Math.min(cap, first.dataBlocks);
    const bed = pair(size, 'sast', { ...first, cap: most });
    const model = new SastModel(size, first, most);
    const period = Math.ceil(writes.length / shapes.length);
    compare(bed, model, size, writes, (i) => {
      if (i === 0 || i % period !== 0) return;
      const shape = groups(size, ...shapes[i / period]);
      bed.ftl.reconfigure(shape);
      model.reconfigure(shape);
    });
  });
  fc.assert(property, { numRuns });
});

test('LAST: every request costs the merges that a plain model says, and the partitions are those of the model', () => {
  const parameters = fc.record({
    seqThreshold: fc.integer({ min: 2, max: 8 }),
    sequentialBlocks: fc.nat(1),
    hotWindow: fc.nat(8),
    deadWait: fc.nat(3),
    hi: fc.constantFrom(0, 0.5, 1),
    lo: fc.constantFrom(0, 0.1, 0.6),
  });
  const property = fc.property(sizes, requests, parameters, (size, writes, given) => {
    const bed = pair(size, 'last', { ...given, seqThreshold: given.seqThreshold * SLOT_BYTES });
    compare(bed, new LastModel(size, given), size, writes, nothing);
  });
  fc.assert(property, { numRuns });
});

import { InputError } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { f2fsMetadataBytes, mappingTableBytes, mappingTables } from '../src/index.js';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const TIB = 2 ** 40;

// Checked with the formatter itself (f2fs-tools 1.15): volume, segments per section, segments before the main area.
test.each([
  [240 * GIB, 128, 384],
  [256 * GIB, 128, 384],
  [512 * GIB, 128, 640],
  [TIB, 1, 1146],
  [TIB, 128, 1152],
  [2 * TIB, 128, 2176],
])(
  'metadata of a volume of %d bytes with %d segments per section takes %d segments',
  (volume, perSection, segments) => {
    expect(f2fsMetadataBytes(volume, perSection * 2 * MIB) / (2 * MIB)).toBe(segments);
  },
);

test('page mapping of 1 TiB takes 1 GiB; application-managed flash takes 8 MiB, a 128th', () => {
  expect(mappingTableBytes('page', { capacityBytes: TIB })).toBe(GIB);
  expect(mappingTableBytes('segment', { capacityBytes: TIB })).toBe(8 * MIB);
  expect(mappingTableBytes('segment', { capacityBytes: TIB / 2 })).toBe(4 * MIB);
  expect(mappingTableBytes('block', { capacityBytes: TIB / 2 })).toBe(4 * MIB);
});

test('disaggregate mapping of 1 TiB takes about a 452nd of page mapping and a quarter of application-managed flash', () => {
  const space = { capacityBytes: TIB };
  const bytes = mappingTableBytes('disaggregate', space);
  expect(mappingTableBytes('page', space) / bytes).toBeCloseTo(452.0, 1);
  expect(mappingTableBytes('segment', space) / bytes).toBeCloseTo(3.53, 2);
  expect(mappingTables('disaggregate', space)).toEqual([
    { name: 'page map of the metadata area', entries: 589_824, bytes: 2_359_296 },
    { name: 'superblock map', entries: 4096, bytes: 16_384 },
  ]);
});

test('a zoned drive keeps an entry for each zone, the last of which may be cut', () => {
  expect(mappingTableBytes('zoned', { capacityBytes: TIB })).toBe(4096 * 4);
  expect(mappingTables('zoned', { capacityBytes: TIB + 1, zoneBytes: 64 * MIB })).toEqual([
    { name: 'zone map', entries: 16_385, bytes: 65_540 },
  ]);
});

test('hybrid schemes keep a block map and page maps of the log blocks; DFTL keeps cached entries and a directory', () => {
  expect(mappingTableBytes('hybrid', { capacityBytes: GIB, logBlocks: 8 })).toBe(2048 * 4 + 8 * 4 + 8 * 128 * 4);
  expect(mappingTableBytes('dftl', { capacityBytes: GIB, cmtEntries: 1000 })).toBe(8000 + 256 * 4);
});

test('a size that cannot be is explained', () => {
  const wrong = { capacityBytes: TIB, superblockBytes: 1000 };
  expect(() => mappingTableBytes('disaggregate', wrong)).toThrow(InputError);
  expect(() => mappingTableBytes('disaggregate', wrong)).toThrow('superblockBytes: found 1000, expected an integer');
  const large = { capacityBytes: 2 ** 28, superblockBytes: 2 ** 28 };
  expect(() => mappingTableBytes('disaggregate', large)).toThrow('no room for metadata and data');
  const slots = { capacityBytes: TIB, slotBytes: MIB };
  expect(() => mappingTableBytes('block', slots)).toThrow('blockBytes: found 524288, expected an integer of at least');
  expect(mappingTableBytes('block', { ...slots, blockBytes: MIB })).toBe(4 * MIB);
  expect(mappingTableBytes('page', slots)).toBe(4 * MIB);
  const odd = { capacityBytes: TIB, superblockBytes: 7 * MIB };
  expect(() => mappingTableBytes('disaggregate', odd)).toThrow('a multiple of 2 MiB, the segment of F2FS, unless');
  expect(mappingTableBytes('disaggregate', { ...odd, metadataBytes: 0 })).toBe(Math.ceil(TIB / (7 * MIB)) * 4);
  const beyond = { capacityBytes: GIB, metadataBytes: TIB };
  expect(() => mappingTableBytes('disaggregate', beyond)).toThrow('expected at most the capacity of 1073741824');
  expect(() => mappingTableBytes('zoned', { capacityBytes: GIB, zoneBytes: 0 })).toThrow('zoneBytes: found 0');
  expect(() => mappingTableBytes('pages' as 'page', { capacityBytes: 1 })).toThrow('Did you mean "page"');
});

import { InstantScheduler } from '@flashstack/nand-device';
import { RandomSource } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { createFtl, type DriveFtl } from '../src/index.js';
import { CountingClient, nandArray, type Shape } from './support.js';

const MIB = 2 ** 20;

function disaggregate(shape: Shape, logicalSlots: number, parameters: Readonly<Record<string, number>>): DriveFtl {
  const array = nandArray(shape);
  const options = { logicalSlots, mapping: { name: 'disaggregate', parameters } };
  const parts = { array, scheduler: new InstantScheduler(array), client: new CountingClient() };
  return createFtl({ ...parts, random: new RandomSource(1), options });
}

test('superblocks of size 0 are an erase block of every unit, for the metadata area too', () => {
  const shape: Shape = { channels: 2, blocksPerPlane: 200, pagesPerBlock: 512 };
  const level = 2 * 512 * 4096;
  const slots = (100 * level) / 4096;
  const same = disaggregate(shape, slots, { superblockBytes: level });
  const found = disaggregate(shape, slots, { superblockBytes: 0 });
  expect([found.segments?.first, found.segments?.stride]).toEqual([same.segments?.first, 1024]);
  expect(found.tableBytes).toBe(same.tableBytes);
  // Blocks of which a section cannot be made: the size of the metadata area is what is missing.
  const odd: Shape = { channels: 3, blocksPerPlane: 64, pagesPerBlock: 64 };
  expect(() => disaggregate(odd, 3 * 64 * 40, { superblockBytes: 0 })).toThrow(
    new RegExp(`metaBytes: F2FS with sections of ${3 * 64 * 4096} bytes does not fit .* multiples of 2 MiB`),
  );
  expect(disaggregate(odd, 3 * 64 * 40, { superblockBytes: 0, metaBytes: MIB }).segments?.stride).toBe(3 * 64);
});

import { RandomSource } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { parseSchedule } from '../src/hybrid/sast-schedule.js';
import { HybridBed } from './hybrid-support.js';

describe('a schedule of groups', () => {
  test('names slots, data blocks and log blocks', () => {
    expect(parseSchedule('', 0)).toEqual([]);
    expect(parseSchedule(' 100 8:2,  300 1:1 ', 1)).toEqual([
      { after: 100, shape: { dataBlocks: 8, logBlocksPerGroup: 2 } },
      { after: 300, shape: { dataBlocks: 1, logBlocksPerGroup: 1 } },
    ]);
  });

  test.each([
    ['100', 'found "100", expected host slots'],
    ['100 8', 'found "100 8"'],
    ['1e3 8:2', 'found "1e3 8:2"'],
    ['100 8:2,', 'found ""'],
    ['0 8:2', 'found 0 slots after 0, expected ascending'],
    ['200 8:2, 200 1:1', 'found 200 slots after 200'],
    ['100 0:1', 'found "100 0:1", expected a data block and a log block'],
    ['100 1:0', 'found "100 1:0", expected a data block'],
    ['100 2:1', 'found groups of 2 data blocks, expected at least the cap of 3'],
  ])('%s is refused', (text, message) => {
    expect(() => parseSchedule(text, 3)).toThrow(`ftl.mapping.parameters.schedule: ${message}`);
  });
});

/** What random overwrites of a full drive cost, the slots of the fill and of the first overwrites left out. */
function spent(parameters: Readonly<Record<string, number | string>>): object {
  const slots = 40 * 32;
  const shape = { blocksPerPlane: 64, pagesPerBlock: 32 };
  const bed = new HybridBed(shape, { logicalSlots: slots, mapping: { name: 'sast', parameters } });
  const random = new RandomSource(3).stream('writes');
  for (let lpn = 0; lpn < slots; lpn++) bed.write(lpn);
  for (let i = 0; i < 500; i++) bed.write(random.below(slots));
  bed.mergeAll();
  bed.spent();
  for (let i = 0; i < 2000; i++) bed.write(random.below(slots));
  bed.mergeAll();
  return bed.spent();
}

test('merges follow the groups of the last change that is due', () => {
  const first = { dataBlocks: 8, logBlocksPerGroup: 2 };
  const later = spent({ dataBlocks: 1, logBlocksPerGroup: 1 });
  expect(spent(first)).not.toEqual(later);
  expect(spent({ ...first, schedule: '1400 4:4, 1780 1:1' })).toEqual(later);
  expect(spent({ ...first, schedule: '1780 4:4, 1781 1:1, 99999 8:2' })).not.toEqual(spent(first));
  expect(spent({ ...first, schedule: '99999 1:1' })).toEqual(spent(first));
});

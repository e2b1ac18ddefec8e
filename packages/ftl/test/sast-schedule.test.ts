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
    ['100 8:9999999999999999', 'found "100 8:9999999999999999"'],
    ['100 2:1', 'found groups of 2 data blocks, expected at least the cap of 3'],
  ])('%s is refused', (text, message) => {
    expect(() => parseSchedule(text, 3)).toThrow(`ftl.mapping.parameters.schedule: ${message}`);
  });
});

const SLOTS = 40 * 32;

/** A drive of one domain with 40 logical blocks and 20 log blocks at most. */
function drive(parameters: Readonly<Record<string, number | string>>): HybridBed {
  const options = { logicalSlots: SLOTS, mapping: { name: 'sast', parameters } };
  return new HybridBed({ blocksPerPlane: 64, pagesPerBlock: 32 }, options, 'contents');
}

describe('groups that a drive cannot have are refused where they are named', () => {
  const key = 'ftl.mapping.parameters.schedule';

  test.each([
    [{}, 41, 1, 'found groups of 41 data blocks after 100 slots, expected at most 40'],
    [{}, 1234567890123, 1, 'found groups of 1234567890123 data blocks after 100 slots'],
    [{ logBlocks: 3 }, 4, 4, 'found groups of 4 log blocks, but there are 3 (logBlocks). Use at most 3 log blocks'],
    [{}, 4, 30, 'sast needs 30 log blocks in each of 1 domains, found 20 spare blocks'],
  ])('%j with %i:%i', (others, dataBlocks, logBlocks, message) => {
    const schedule = `100 ${dataBlocks}:${logBlocks}`;
    expect(() => drive({ ...others, schedule })).toThrow(expect.objectContaining({ key }));
    expect(() => drive({ ...others, schedule })).toThrow(`${key}: ${message}`);
  });

  test('what is said to fit does', () => {
    let message = '';
    try {
      drive({ schedule: '100 40:30' });
    } catch (error) {
      message = (error as Error).message;
    }
    const most = Number(/Use at most (\d+) log blocks a group, or at most \d+ logical slots/.exec(message)?.[1]);
    expect(drive({ schedule: `100 40:${most}` }).ftl.logBlocks).toBe(most);
    expect(() => drive({ schedule: `100 40:${most + 1}` })).toThrow(`needs ${most + 1} log blocks`);
  });

  test('the groups to begin with are not blamed on the schedule', () => {
    expect(() => drive({ logBlocksPerGroup: 4, logBlocks: 3, schedule: '100 4:4' })).toThrow(/logBlocks: found 3, but/);
    expect(() => drive({ logBlocksPerGroup: 30, schedule: '100 4:4' })).toThrow(/ftl\.logicalSlots: sast needs 30/);
  });
});

/**
 * What random overwrites of a full drive cost, the slots of the fill and of the first overwrites left out; with `cut` power fails
 * before those that count, and log blocks are merged once more.
 */
function spent(parameters: Readonly<Record<string, number | string>>, cut = false): object {
  const bed = drive(parameters);
  const random = new RandomSource(3).stream('writes');
  for (let lpn = 0; lpn < SLOTS; lpn++) bed.write(lpn);
  for (let i = 0; i < 500; i++) bed.write(random.below(SLOTS));
  bed.mergeAll();
  if (cut) {
    bed.ftl.powerCut();
    bed.ftl.recover();
    bed.mergeAll();
  }
  bed.spent();
  for (let i = 0; i < 2000; i++) bed.write(random.below(SLOTS));
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

test('groups and the schedule outlive a power cut', () => {
  const first = { dataBlocks: 8, logBlocksPerGroup: 2 };
  const later = spent({ dataBlocks: 1, logBlocksPerGroup: 1 }, true);
  expect(spent(first, true)).not.toEqual(later);
  expect(spent({ ...first, schedule: '1400 4:4, 1780 1:1' }, true)).toEqual(later);
  // Due after the power cut, which is at 1,780 slots: the count of slots goes on.
  expect(spent({ ...first, schedule: '1781 1:1' }, true)).toEqual(spent({ ...first, schedule: '1781 1:1' }));
  expect(spent({ ...first, schedule: '1781 1:1' }, true)).not.toEqual(spent(first, true));
});

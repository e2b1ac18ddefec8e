import { defaultReliability, type NandArray } from '@flashstack/nand-device';
import { describe, expect, test } from 'vitest';
import { MoveReason } from '../src/index.js';
import { HybridBed } from './hybrid-support.js';
import { bed, type Shape, write } from './support.js';

const BLOCK = 32;
const base = defaultReliability(1);
/** Every read needs retries: by the rule of the array its page is to be written again. */
const tired: Shape = {
  blocksPerPlane: 64,
  pagesPerBlock: BLOCK,
  reliability: {
    ...base,
    factoryBad: 0,
    ratedCycles: 1e9,
    rawBitErrors: { ...base.rawBitErrors, r0: 4e-3, wordLineSigma: 0 },
    ecc: { ...base.ecc, refreshAtRetries: 1 },
  },
};
const schemes = ['block', 'bast', 'sast', 'fast', 'last'] as const;

function full(scheme: string): HybridBed {
  const on = new HybridBed(tired, { logicalSlots: 40 * BLOCK, mapping: scheme }, 'contents');
  for (let lpn = 0; lpn < 40 * BLOCK; lpn++) on.write(lpn);
  on.mergeAll();
  idle(on);
  on.ftl.stats.reset();
  return on;
}

/** Idle time, a second after what was before. */
function idle(on: {
  readonly ftl: HybridBed['ftl'] | ReturnType<typeof bed>['ftl'];
  readonly array: NandArray;
  readonly scheduler: HybridBed['scheduler'];
}): void {
  on.array.clock = { now: on.array.clock.now + 1e9 };
  on.ftl.idle(on.array.clock.now);
  on.scheduler.deliver();
}

function read(on: Parameters<typeof idle>[0], lpn: number): void {
  on.ftl.read(lpn, 1, 0);
  on.scheduler.deliver();
}

describe.each(schemes)('%s', (scheme) => {
  test('a logical block is written again once, however many of its pages are weak, and booked as refresh', () => {
    const on = full(scheme);
    for (let offset = 0; offset < BLOCK; offset++) read(on, 3 * BLOCK + offset);
    idle(on);
    const { stats } = on.ftl;
    expect(stats.moved[MoveReason.refresh]).toBe(BLOCK);
    expect(stats.runs[MoveReason.refresh]).toBe(1);
    expect(stats.moved[MoveReason.merge]).toBe(0);
    expect(stats.fullMerges + stats.partialMerges + stats.switchMerges).toBe(0);
    expect(stats.gcStartHost).toBe(-1);
    expect(stats.unexplained()).toBe(0);
    on.ftl.inspect();
    // The reads of the copies asked for a refresh as well, of what has been copied since.
    for (let again = 0; again < 5; again++) idle(on);
    expect(stats.moved[MoveReason.refresh]).toBe(BLOCK);
  });

  test('is asked to as often as page mapping is: once for each block that is read between two idle times', () => {
    const on = full(scheme);
    const page = bed(tired, { logicalSlots: 40 * BLOCK });
    for (let lpn = 0; lpn < 40 * BLOCK; lpn++) write(page, lpn);
    idle(page);
    page.ftl.stats.reset();
    for (let round = 0; round < 12; round++) {
      const lpn = ((round * 7) % 40) * BLOCK + ((round * 5) % BLOCK);
      for (const drive of [on, page]) {
        read(drive, lpn);
        idle(drive);
      }
    }
    expect(page.ftl.stats.moved[MoveReason.refresh]).toBe(12);
    expect(on.ftl.stats.runs[MoveReason.refresh]).toBe(12);
    expect(on.ftl.stats.moved[MoveReason.refresh]).toBe(12 * BLOCK);
    on.ftl.inspect();
  });

  test('a page that is weak no longer, because it was written again, costs nothing', () => {
    const on = full(scheme);
    read(on, 5 * BLOCK);
    for (let offset = 0; offset < BLOCK; offset++) on.write(5 * BLOCK + offset);
    on.mergeAll();
    idle(on);
    expect(on.ftl.stats.runs[MoveReason.refresh]).toBe(0);
  });
});

test('of a log block that many share, only the logical block of the weak page is written again', () => {
  const on = full('fast');
  // Slots at other offsets than 0 go to a random log block, one of each logical block.
  for (let lbn = 0; lbn < 20; lbn++) on.write(lbn * BLOCK + 5);
  on.ftl.stats.reset();
  read(on, 7 * BLOCK + 5);
  idle(on);
  expect(on.ftl.stats.runs[MoveReason.refresh]).toBe(1);
  expect(on.ftl.stats.moved[MoveReason.refresh]).toBe(BLOCK);
  on.ftl.inspect();
});

test('a block that was read too often gives up all that is valid in it', () => {
  const on = full('fast');
  for (let lbn = 0; lbn < 20; lbn++) on.write(lbn * BLOCK + 5);
  on.ftl.stats.reset();
  const block = on.array.geometry.blockOf(on.ftl.lookup(7 * BLOCK + 5));
  on.array.reliability?.reclaimQueue.push(block);
  idle(on);
  expect(on.ftl.stats.runs[MoveReason.refresh]).toBe(20);
  expect(on.ftl.table.valid[on.ftl.table.blockOfPhysical[block]]).toBe(0);
});

import { ArbitratingScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { createFtl } from '../src/index.js';
import type { SegmentFtl } from '../src/segments/segment-ftl.js';
import { SlotFlag } from '../src/slot-contents.js';
import { CountingClient, nandArray } from './support.js';

const PAGES = 12;

/** One die, segments of an erase block of two-level cells, whose lower pages a torn upper page destroys. */
class Drive extends CountingClient {
  private readonly simulator = new Simulator();
  private readonly array = nandArray(
    {
      blocksPerPlane: 40,
      pagesPerBlock: PAGES,
      cellBits: 2,
      pairing: 'shifted',
      features: { tornLost: 1, pairedLost: 1 },
    },
    'contents',
  );
  private readonly scheduler = new ArbitratingScheduler(this.array, this.simulator);
  private readonly ftl = createFtl({
    array: this.array,
    scheduler: this.scheduler,
    client: this,
    random: new RandomSource(1),
    options: { logicalSlots: 8 * PAGES, mapping: { name: 'segment', parameters: { overwrite: true } } },
  }) as SegmentFtl;
  private found = -1;

  override slotRead(_job?: number, _lpn?: number, psn = -1): void {
    this.found = psn;
  }

  write(segment: number, slots: number, offset = 0): void {
    this.ftl.write(segment * PAGES + offset, slots, 0, 0, 0);
  }

  release(segment: number): void {
    this.ftl.trim(segment * PAGES, PAGES, 1);
  }

  flush(): void {
    this.ftl.flush(2);
    this.simulator.drain();
  }

  wait(ns: number): void {
    this.simulator.runUntil(this.simulator.now + ns);
  }

  /** Goes to the next event. False: nothing is in flight. */
  step(): boolean {
    const due = this.simulator.pump();
    if (due === Number.POSITIVE_INFINITY) return false;
    this.simulator.runUntil(due);
    return true;
  }

  /** What a relocation leaves that could not read the backup of the first slot of segment 0. */
  loseBackup(): void {
    const psn = this.ftl.store.frontiers.l2p[0];
    expect(psn).toBeGreaterThanOrEqual(0);
    (this.array.flags as Uint8Array)[psn] |= SlotFlag.lost;
  }

  /** Power is lost and back. @returns the sequence numbers of what the slots of segment 0 hold then, −1: nothing. */
  cut(): number[] {
    this.scheduler.powerCut();
    this.ftl.powerCut();
    this.ftl.attachScheduler(this.scheduler);
    this.ftl.recover();
    const seq = this.array.seq as Float64Array;
    return Array.from({ length: PAGES }, (_, lpn) => {
      this.ftl.read(lpn, 1, lpn);
      return this.found < 0 ? -1 : seq[this.found];
    });
  }
}

test.each(['trim', 'overwrite'])(
  'an earlier life of a segment that a recovery ruled out does not come back: %s',
  (how) => {
    let ruledOut = 0;
    // So many lives that the last one takes a block before that of the life before it, and one that does not.
    for (const lives of [2, 25]) {
      for (let at = 6_100_000; at < 7_400_000; at += 200_000) {
        for (let second = 0; second < 10; second++) {
          const drive = new Drive();
          for (let life = 1; life < lives; life++) {
            drive.write(0, PAGES);
            drive.flush();
          }
          // The die is busy, so that the erase of what is released waits behind programs of the next life.
          drive.write(1, PAGES);
          if (how === 'trim') drive.release(0);
          drive.write(0, 8);
          drive.wait(at);
          const first = drive.cut();
          drive.wait(second * 600_000);
          expect(drive.cut()).toEqual(first);
          if (first[0] < 0) ruledOut++;
        }
      }
    }
    expect(ruledOut).toBeGreaterThan(0);
  },
);

/** The first `slots` of a segment are durable, and power fails while the next page is programmed, which destroys a lower page. */
function torn(slots: number): { drive: Drive; kept: number[] } {
  const drive = new Drive();
  drive.write(0, slots);
  drive.flush();
  drive.write(0, 1, slots);
  drive.wait(400_000);
  return { drive, kept: drive.cut().map((seq) => Number(seq >= 0)) };
}

const first = (slots: number): number[] => Array.from({ length: PAGES }, (_, lpn) => (lpn < slots ? 1 : 0));

test('of a block with a hole and the copy that was to replace it, the one that goes further counts at each cut', () => {
  for (const slots of [4, 8, 10]) {
    let copying = true;
    for (let steps = 0; copying; steps++) {
      const { drive, kept } = torn(slots);
      expect(kept).toEqual(first(slots));
      for (let i = 0; i < steps && copying; i++) copying = drive.step();
      expect(drive.cut().map((seq) => Number(seq >= 0))).toEqual(kept);
    }
  }
});

test('a segment without its first slot is gone, whichever of its blocks is erased first', () => {
  let gone = 0;
  for (let steps = 0; steps < 40; steps++) {
    const { drive } = torn(4);
    for (let i = 0; i < steps; i++) drive.step();
    drive.loseBackup();
    if (drive.cut()[0] >= 0) continue;
    for (let later = 0; drive.step(); later++) {
      const again = torn(4).drive;
      for (let i = 0; i < steps; i++) again.step();
      again.loseBackup();
      again.cut();
      for (let i = 0; i <= later; i++) again.step();
      expect(again.cut(), `cut after ${steps} and ${later} steps`).toEqual(new Array(PAGES).fill(-1));
      gone++;
    }
  }
  expect(gone).toBeGreaterThan(0);
});

import { ArbitratingScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { createFtl } from '../src/index.js';
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
  });
  private found = -1;

  override slotRead(_job?: number, _lpn?: number, psn = -1): void {
    this.found = psn;
  }

  write(segment: number, slots: number): void {
    this.ftl.write(segment * PAGES, slots, 0, 0, 0);
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

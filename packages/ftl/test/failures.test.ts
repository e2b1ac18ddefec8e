import {
  ArbitratingScheduler,
  defaultReliability,
  type NandArray,
  type NandScheduler,
  TimelineScheduler,
  type Token,
} from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { type FtlClient, type FtlOptions, FtlStatus, MoveReason, PageMapFtl } from '../src/index.js';
import { nandArray, type Shape } from './support.js';

/** Nothing fails unless a test says so. */
const reliable = {
  ...defaultReliability(1),
  factoryBad: 0,
  ratedCycles: 1e9,
  rawBitErrors: { ...defaultReliability(1).rawBitErrors, r0: 0, a: 0, c: 0, f: 0 },
};

/** A drive in simulated time; each write stores a word of its own. */
class Drive implements FtlClient {
  readonly simulator: Simulator = new Simulator();
  readonly array: NandArray;
  readonly scheduler: NandScheduler & { powerCut(): unknown };
  readonly ftl: PageMapFtl;
  /** Status by job, of those that are done. */
  readonly status: number[] = [];
  /** Waits of the programs issued, in order: tokens, 0 for none. */
  readonly waits: Token[] = [];
  /** The word that the next write stores. */
  word = 0;
  private jobs = 0;
  private readPsn = -1;

  constructor(shape: Shape, options: FtlOptions, order: 'timeline' | 'arbitrate', bad: readonly number[] = []) {
    this.array = nandArray({ reliability: reliable, ...shape }, 'contents');
    for (const block of bad) this.array.markBad(block);
    this.scheduler =
      order === 'timeline'
        ? new TimelineScheduler(this.array, this.simulator)
        : new ArbitratingScheduler(this.array, this.simulator);
    const { scheduler, waits } = this;
    const program = scheduler.program.bind(scheduler);
    scheduler.program = (ppn, cls, after) => {
      waits.push(after);
      return program(ppn, cls, after);
    };
    this.ftl = new PageMapFtl({ array: this.array, scheduler, client: this, random: new RandomSource(1), options });
  }

  ftlDone(job: number, status: number): void {
    this.status[job] = status;
  }

  slotWord(): number {
    return ++this.word;
  }

  slotRead(_job: number, _lpn: number, psn: number): void {
    this.readPsn = psn;
  }

  wordCopied(): void {}
  wordDead(): void {}

  /** @returns the job. */
  write(lpn: number): number {
    this.ftl.write(lpn, 1, 0, 0, this.jobs);
    return this.jobs++;
  }

  trim(lpn: number): void {
    this.ftl.trim(lpn, 1, this.jobs++);
  }

  flush(): number {
    this.ftl.flush(this.jobs);
    return this.jobs++;
  }

  /** Word of a slot, or null if it holds nothing. */
  read(lpn: number): number | null {
    this.ftl.read(lpn, 1, this.jobs++);
    return this.readPsn < 0 ? null : (this.array.word as Uint32Array)[this.readPsn];
  }

  pass(ns: number): void {
    this.simulator.runUntil(this.simulator.now + ns);
  }

  cut(): void {
    this.scheduler.powerCut();
    this.ftl.powerCut();
    this.ftl.attachScheduler(this.scheduler);
    this.ftl.recover();
    this.ftl.inspect();
  }

  /** Programs fail in blocks that `fails` names, from now on; at most `times`. */
  fail(fails: (block: number) => boolean, times = Number.MAX_SAFE_INTEGER): void {
    const model = this.array.reliability as NonNullable<NandArray['reliability']>;
    let left = times;
    model.programFails = (block) => fails(block) && left-- > 0;
  }

  /** Physical block that holds a logical slot. */
  blockOf(lpn: number): number {
    const psn = this.ftl.frontiers.l2p[lpn];
    return this.array.geometry.blockOf(this.array.geometry.ppnOfPsn(psn));
  }
}

const second = 1_000_000_000;
const largePages: Shape = { blocksPerPlane: 20, pagesPerBlock: 4, pageBytes: 16384 };

describe('failed programs', () => {
  test('what a version that failed had superseded stays until the next version is durable', () => {
    const drive = new Drive(largePages, { logicalSlots: 100 }, 'timeline');
    drive.write(0);
    const flushed = drive.word;
    drive.flush();
    for (let lpn = 1; lpn <= 12; lpn++) drive.write(lpn);
    const old = drive.blockOf(0);
    for (let lpn = 1; lpn <= 12; lpn++) drive.write(lpn);
    drive.pass(second);
    // The second version of slot 0 is in the same program as the third, which supersedes it. The program fails.
    drive.fail(() => true, 1);
    drive.write(0);
    drive.write(0);
    const last = drive.word;
    drive.write(20);
    drive.write(21);
    expect(drive.ftl.stats.programFailures).toBe(1);
    expect(drive.ftl.table.valid[old]).toBe(0);
    // The first version is all that is durable. Its block is asked for.
    drive.ftl.collector.require(old, MoveReason.gc);
    drive.ftl.upkeep.serve();
    drive.pass(second);
    expect(drive.ftl.table.eraseCount[old]).toBe(1);
    drive.cut();
    expect([flushed, last]).toContain(drive.read(0));
  });

  test('smaller units of another block wait too', () => {
    // The second block has one plane left, so that the two slots of the failed unit become two programs.
    const shape: Shape = { planes: 2, blocksPerPlane: 20, pagesPerBlock: 16 };
    const drive = new Drive(shape, { logicalSlots: 300, domain: 'die', freeOrder: 'fifo' }, 'timeline', [1]);
    drive.fail((block) => block === 0, 1);
    drive.write(0);
    drive.write(1);
    expect(drive.ftl.stats.reprogrammed).toBe(2);
    expect(drive.waits).toHaveLength(2);
    for (const wait of drive.waits) expect(wait).not.toBe(0);
    drive.pass(second);
    expect(drive.status).toEqual([FtlStatus.ok, FtlStatus.ok]);
  });

  test('a page of the trim map that must move before it is durable waits for what it speaks of', () => {
    const shape: Shape = { channels: 2, blocksPerPlane: 20, pagesPerBlock: 16 };
    const drive = new Drive(shape, { logicalSlots: 200, allocation: 'static' }, 'arbitrate');
    // Odd slots are on the second die, even ones and the trim map on the first.
    drive.write(1);
    drive.write(2);
    drive.flush();
    drive.pass(second);
    drive.trim(1);
    drive.flush();
    drive.pass(second);
    // A long queue on the second die, with the new version of slot 1 at its end.
    for (let lpn = 3; lpn < 25; lpn += 2) drive.write(lpn);
    drive.write(1);
    const last = drive.word;
    drive.trim(2);
    drive.flush();
    // The block with the page of the trim map, which waits for slot 1, is given up.
    const block = drive.blockOf(200);
    drive.fail((failing) => failing === block, 1);
    drive.write(4);
    expect(drive.ftl.stats.programFailures).toBe(1);
    expect(drive.blockOf(200)).not.toBe(block);
    drive.pass(3_000_000);
    drive.cut();
    // Trimmed and flushed, or the new version; not the old one, although the new trim map says that slot 1 is in use.
    expect([null, last]).toContain(drive.read(1));
  });
});

describe('the last blocks fail', () => {
  /** A drive with slot 0, flushed, as the only valid one of its block. */
  function worn(): { drive: Drive; flushed: number; old: number } {
    const drive = new Drive({ blocksPerPlane: 12, pagesPerBlock: 4 }, { logicalSlots: 20 }, 'timeline');
    drive.write(0);
    const flushed = drive.word;
    for (let lpn = 1; lpn <= 7; lpn++) drive.write(lpn);
    const old = drive.blockOf(0);
    for (let lpn = 1; lpn <= 3; lpn++) drive.write(lpn);
    drive.flush();
    drive.pass(second);
    expect(drive.ftl.table.valid[old]).toBe(1);
    drive.fail(() => true);
    return { drive, flushed, old };
  }

  test('a write ends read-only, and what was flushed before is back after a power cut', () => {
    const { drive, flushed } = worn();
    const job = drive.write(0);
    drive.pass(second);
    expect(drive.status[job]).toBe(FtlStatus.readOnly);
    expect(drive.ftl.readOnly).toBe(true);
    expect([...drive.ftl.lost]).toEqual([0]);
    drive.ftl.inspect();
    const next = drive.write(5);
    drive.pass(second);
    expect(drive.status[next]).toBe(FtlStatus.readOnly);
    drive.fail(() => false);
    drive.cut();
    expect(drive.ftl.readOnly).toBe(false);
    expect(drive.read(0)).toBe(flushed);
  });

  test('a slot that could not be moved anywhere is still in its old block after a power cut', () => {
    const { drive, flushed, old } = worn();
    drive.ftl.collector.require(old, MoveReason.gc);
    drive.ftl.upkeep.serve();
    drive.pass(second);
    expect([...drive.ftl.lost]).toEqual([0]);
    expect(drive.ftl.table.valid[old]).toBe(0);
    expect(drive.ftl.table.eraseCount[old]).toBe(0);
    drive.fail(() => false);
    drive.cut();
    expect(drive.read(0)).toBe(flushed);
  });

  test('a trim of such a slot stays after a flush', () => {
    const { drive } = worn();
    drive.write(0);
    drive.pass(second);
    drive.trim(0);
    expect(drive.ftl.lost.size).toBe(0);
    const flush = drive.flush();
    drive.pass(second);
    // There is no block left for the trim map either.
    expect(drive.status[flush]).toBe(FtlStatus.readOnly);
  });
});

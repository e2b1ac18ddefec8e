import { NandArray, TimelineScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator } from '@flashstack/sim';
import { expect, test, vi } from 'vitest';
import { createFtl, type DriveFtl, type FtlOptions } from '../src/index.js';
import { CountingClient, nandConfig } from './support.js';

const LOGICAL = 900;
const shape = { channels: 2, planes: 2, blocksPerPlane: 20, pagesPerBlock: 16 };

/** Writes, reads, trims and flushes at random with 8 in flight on a drive that collects all the time, and a power cut. */
class Load extends CountingClient {
  readonly ends: number[] = [];
  readonly simulator = new Simulator();
  readonly array = new NandArray(nandConfig(shape), { keeps: 'contents', random: new RandomSource(1) });
  readonly scheduler = new TimelineScheduler(this.array, this.simulator);
  readonly ftl: DriveFtl;
  private readonly random = new RandomSource(2).stream('load');
  private left = 0;

  constructor(options: Partial<FtlOptions>) {
    super();
    const { array, scheduler } = this;
    const random = new RandomSource(3);
    this.ftl = createFtl({ array, scheduler, client: this, random, options: { logicalSlots: LOGICAL, ...options } });
  }

  override ftlDone(job: number, status: number): void {
    super.ftlDone(job, status);
    this.ends.push(job, status, this.simulator.now);
    this.next(job);
  }

  run(operations: number): void {
    this.left = operations;
    for (let job = 0; job < 8; job++) this.next(job);
    this.simulator.drain();
  }

  /** Power fails in the middle of what is under way. */
  cut(): void {
    this.left = 8;
    for (let job = 0; job < 8; job++) this.next(job);
    this.left = 0;
    this.simulator.runUntil(this.simulator.now + 300_000);
    this.scheduler.powerCut();
    this.ftl.powerCut();
    this.ftl.recover();
  }

  private next(job: number): void {
    if (this.left-- <= 0) return;
    const lpn = this.random.below(LOGICAL - 4);
    const draw = this.random.below(20);
    if (draw < 15) this.ftl.write(lpn, 1 + this.random.below(3), draw & 1, 0, job);
    else if (draw < 18) this.ftl.read(lpn, 1, job);
    else if (draw < 19) this.ftl.trim(lpn, 3, job);
    else this.ftl.flush(job);
  }
}

/** Slots moved, calls of the scheduler that did it in one step, the same for pages of the mapping, and what they left. */
interface Outcome {
  readonly moved: number;
  readonly relocations: number;
  readonly rewrites: number;
  readonly all: unknown;
}

/** All that can be seen after the load; `steps`: every move is a read and an append. */
function outcome(options: Partial<FtlOptions>, steps: boolean): Outcome {
  const load = new Load(options);
  const { array, scheduler, ftl } = load;
  const relocate = vi.spyOn(scheduler, 'relocate');
  const rewrite = vi.spyOn(scheduler, 'rewrite');
  const intact = vi.spyOn(array, 'isIntact', 'get');
  if (steps) intact.mockReturnValue(false);
  load.run(6_000);
  load.cut();
  load.run(2_000);
  ftl.inspect();
  const all = {
    stats: structuredClone({ ...ftl.stats }),
    ends: load.ends,
    dies: [...scheduler.dieBusyNs, ...scheduler.channelBusyNs],
    columns: [array.lpn, array.origin, array.seq, array.word, array.moves, array.nextPage, array.readCount].map(String),
  };
  const moved = ftl.stats.moved.reduce((sum, each) => sum + each, 0);
  return { moved, relocations: relocate.mock.calls.length, rewrites: rewrite.mock.calls.length, all };
}

test.each<[string, Partial<FtlOptions>]>([
  ['collection in small steps', {}],
  ['whole victims at a time', { gcMode: 'blocking' }],
  ['a shared frontier', { placement: 'mixed' }],
  ['wear levelling', { wearLevelling: { kind: 'threshold', delta: 3 } }],
  ['the map in flash', { mapping: { name: 'dftl', parameters: { cmtEntries: 100, entryBytes: 64 } } }],
])('moves in one step leave what moves by read and append leave: %s', (_name, options) => {
  const quick = outcome(options, false);
  const slow = outcome(options, true);
  expect(quick.all).toEqual(slow.all);
  // After the cut, pages may be damaged, and everything is looked at.
  expect(quick.relocations).toBeGreaterThan(0.5 * quick.moved);
  expect(quick.moved).toBeGreaterThan(3_000);
  if (typeof options.mapping === 'object') expect(quick.rewrites).toBeGreaterThan(1_000);
  expect([slow.relocations, slow.rewrites]).toEqual([0, 0]);
});

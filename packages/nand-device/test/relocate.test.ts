import { describe, expect, it } from 'vitest';
import {
  createEventScheduler,
  InstantScheduler,
  NAND_PHASES,
  NandClass,
  type NandConfig,
  type NandScheduler,
  TimelineScheduler,
  type TransactionScheduler,
  VssimScheduler,
} from '../src/index.js';
import {
  arrayOf,
  type Changes,
  fill,
  plainChanges,
  RandomSource,
  Simulator,
  vectorConfig,
  vectorDelays,
} from './support.js';

const { userRead, userWrite, gcRead, gcWrite, gcErase, mappingRead, mappingWrite } = NandClass;
const geometry = { channels: 2, planes: 2, blocksPerPlane: 6 };

type Make = (config: NandConfig, simulator: Simulator) => TransactionScheduler;
const timeline: Make = (config, simulator) => new TimelineScheduler(arrayOf(config), simulator);
const subjects: [string, Changes, Make][] = [
  ['timeline', { geometry }, timeline],
  ['timeline, four slots to a page', { geometry: { ...geometry, slotBytes: 1024 } }, timeline],
  ['timeline, status polls', { geometry, timing: { statusNs: 150 } }, timeline],
  ['timeline, cache registers', { geometry, features: { cacheRegister: true } }, timeline],
  ['event, arbitrate', { geometry }, (config, simulator) => createEventScheduler(arrayOf(config), simulator)],
  [
    'event, reserve',
    { geometry },
    (config, simulator) => createEventScheduler(arrayOf(config), simulator, { bus: 'reserve' }),
  ],
  [
    'vssim',
    plainChanges({ geometry }),
    (config, simulator) => new VssimScheduler(arrayOf(config), simulator, vectorDelays),
  ],
];

/** What `relocate`, or for a page of the mapping `rewrite`, says it does, in single steps. */
function inSteps(scheduler: NandScheduler, isMap: boolean, from: number, to: number): void {
  const { geometry } = (scheduler as TransactionScheduler).array;
  const read = scheduler.read(from, 2 ** geometry.slotsPerPage - 1, isMap ? mappingRead : gcRead, 0);
  const program = scheduler.program(to, isMap ? mappingWrite : gcWrite, read);
  scheduler.guard(geometry.blockOf(from), program);
  scheduler.drop(program);
}

/** A device under host writes, reads, relocations, rewrites and erases, until power fails. */
class Run {
  readonly scheduler: TransactionScheduler;
  readonly ends: number[] = [];
  readonly simulator = new Simulator();
  relocations = 0;
  private readonly random: RandomSource;
  private readonly whole: boolean;

  constructor(config: NandConfig, make: Make, seed: number, whole: boolean) {
    this.scheduler = make(config, this.simulator);
    this.random = new RandomSource(seed);
    this.whole = whole;
  }

  nandDone(token: number, arg: number, status: number): void {
    const phases = this.scheduler.phasesNs.subarray(token * NAND_PHASES, (token + 1) * NAND_PHASES);
    this.ends.push(arg, status, this.simulator.now, ...phases);
  }

  /** @returns what is left after `steps` commands and a power cut. */
  go(steps: number): unknown {
    const { scheduler, simulator } = this;
    const { array } = scheduler;
    const { blocks, pagesPerBlock } = array.geometry;
    const random = this.random.stream('commands');
    for (let step = 0; step < steps; step++) {
      if (random.below(3) === 0) simulator.runUntil(simulator.now + random.below(3_000_000));
      const block = random.below(blocks);
      const other = random.below(2) === 0 ? block ^ 1 : random.below(blocks);
      const page = array.nextPage[block];
      const old = random.below(Math.max(1, array.nextPage[other]));
      const from = array.geometry.ppn(other, old);
      const settled = array.busyUntilNs[other] <= simulator.now || !scheduler.isProgramming(from);
      if (page === pagesPerBlock) {
        // As a mapping layer does: nothing is programmed before the erase is done.
        scheduler.then(scheduler.erase(block, gcErase, 0), this, step);
        simulator.drain();
      } else if (random.below(3) === 0) {
        scheduler.then(scheduler.program(block * pagesPerBlock + page, userWrite, 0), this, step);
      } else if (old >= array.nextPage[other] || !settled) {
      } else if (random.below(4) === 0) {
        scheduler.then(scheduler.read(from, 1, userRead, 0), this, step);
      } else {
        this.relocations++;
        const to = block * pagesPerBlock + page;
        const isMap = random.below(3) === 0;
        if (!this.whole) inSteps(scheduler, isMap, from, to);
        else if (isMap) scheduler.rewrite(from, to);
        else scheduler.relocate(from, to);
      }
    }
    const state = [...scheduler.dieBusyNs, ...scheduler.channelBusyNs, ...array.readCount, ...array.eraseCount];
    const counts = structuredClone({ ...scheduler.counts });
    const cut = scheduler.powerCut();
    const damage = Array.from({ length: array.geometry.pages }, (_, ppn) => array.isReadable(ppn));
    return { state, counts, cut, damage, next: [...array.nextPage], garbage: [...array.garbage] };
  }
}

describe.each(subjects)('relocations and rewrites on %s', (_name, changes, make) => {
  it('are the read, program and guard that they stand for', () => {
    const config = vectorConfig(changes);
    let relocations = 0;
    let undone = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const whole = new Run(config, make, seed, true);
      const steps = new Run(config, make, seed, false);
      const result = whole.go(400) as { cut: { undonePrograms: number } };
      expect(result).toEqual(steps.go(400));
      expect(whole.ends).toEqual(steps.ends);
      relocations += whole.relocations;
      undone += result.cut.undonePrograms;
    }
    expect(relocations).toBeGreaterThan(800);
    expect(undone).toBeGreaterThan(10);
  });
});

describe('a relocation', () => {
  it('takes no time on the instant scheduler, and is counted', () => {
    const array = arrayOf(vectorConfig());
    fill(array, 0, 1);
    const scheduler = new InstantScheduler(array);
    scheduler.relocate(0, array.geometry.ppn(1, 0));
    expect([array.nextPage[1], array.readCount[0]]).toEqual([1, 1]);
    expect([scheduler.counts.reads[gcRead], scheduler.counts.programs[gcWrite]]).toEqual([1, 1]);
    scheduler.rewrite(0, array.geometry.ppn(1, 1));
    expect([array.nextPage[1], array.readCount[0]]).toEqual([2, 2]);
    expect([scheduler.counts.reads[mappingRead], scheduler.counts.programs[mappingWrite]]).toEqual([1, 1]);
  });

  const makers: [string, (config: NandConfig) => NandScheduler][] = [
    ['timeline', (config) => timeline(config, new Simulator())],
    ['event', (config) => createEventScheduler(arrayOf(config), new Simulator())],
    ['instant', (config) => new InstantScheduler(arrayOf(config))],
  ];
  it.each(makers)('is refused where its outcome would matter: %s', (_name, make) => {
    const scheduler = make(vectorConfig());
    const { array } = scheduler as TransactionScheduler;
    fill(array, 0, 2);
    array.tearErase(1);
    const to = array.geometry.ppn(2, 0);
    expect(() => scheduler.relocate(0, to)).toThrow(/page 0\) relocated on an array with faults/);
    expect(() => scheduler.rewrite(0, to)).toThrow(/page 0\) relocated on an array with faults/);
    expect(array.nextPage[2]).toBe(0);
  });

  it('reads nothing that is still being programmed', () => {
    const scheduler = timeline(vectorConfig(), new Simulator());
    scheduler.drop(scheduler.program(0, userWrite, 0));
    expect(() => scheduler.relocate(0, 16)).toThrow(/page 0\) read while it is being programmed/);
    expect(() => scheduler.rewrite(0, 16)).toThrow(/page 0\) read while it is being programmed/);
    expect(scheduler.array.nextPage[1]).toBe(0);
  });

  it('keeps the order of pages', () => {
    const scheduler = timeline(vectorConfig(), new Simulator());
    fill(scheduler.array, 0, 1);
    expect(() => scheduler.relocate(0, 18)).toThrow(/the next page of its block is 0/);
  });
});

import { InstantScheduler, NandArray, TimelineScheduler } from '@flashstack/nand-device';
import { RandomSource, Simulator, UniformRanks } from '@flashstack/sim';
import {
  createFtl,
  type DriveFtl,
  type FtlClient,
  PageMapFtl,
  preconditionAnalytically,
  preconditionByWriting,
} from '../src/index.js';
import { config, IN_USE, LOGICAL, QUEUE_DEPTH, rooflineShape } from './drive.js';
import { Roofline } from './roofline.js';

/** One measurement; `run(n)` does n operations. */
export interface Benchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
}

/** Keeps `QUEUE_DEPTH` random writes or reads in flight. */
class ClosedLoop implements FtlClient {
  private readonly ftl: () => DriveFtl;
  private readonly random = new RandomSource(7).stream('bench');
  private readonly reads: boolean;
  private left = 0;

  constructor(ftl: () => DriveFtl, reads: boolean) {
    this.ftl = ftl;
    this.reads = reads;
  }

  start(n: number): void {
    this.left = n;
    for (let job = 0; job < QUEUE_DEPTH; job++) this.next(job);
  }

  ftlDone(job: number): void {
    this.next(job);
  }

  slotWord(): number {
    return 0;
  }

  slotRead(): void {}
  wordCopied(): void {}
  wordDead(): void {}

  private next(job: number): void {
    if (this.left-- <= 0) return;
    const lpn = this.random.below(IN_USE);
    if (this.reads) this.ftl().read(lpn, 1, job);
    else this.ftl().write(lpn, 1, 0, 0, job);
  }
}

interface Drive {
  readonly ftl: PageMapFtl;
  readonly array: NandArray;
  readonly loop: ClosedLoop;
}

function drive(reads: boolean): Drive {
  const array = new NandArray(config, { keeps: 'nothing', random: new RandomSource(1) });
  const loop = new ClosedLoop(() => ftl, reads);
  const ftl: PageMapFtl = new PageMapFtl({
    array,
    scheduler: new InstantScheduler(array),
    client: loop,
    random: new RandomSource(1),
    options: { logicalSlots: LOGICAL },
  });
  preconditionAnalytically(ftl, {
    workload: { kind: 'uniform' },
    random: new RandomSource(2).stream('p'),
    slots: IN_USE,
  });
  return { ftl, array, loop };
}

/** Makes the state on first use, so that listing benchmarks costs nothing. */
function timed(reads: boolean): (n: number) => void {
  let state: (Drive & { simulator: Simulator }) | null = null;
  return (n) => {
    if (state === null) {
      const made = drive(reads);
      const simulator = new Simulator();
      made.ftl.attachScheduler(new TimelineScheduler(made.array, simulator));
      state = { ...made, simulator };
    }
    state.loop.start(n);
    while (state.simulator.pendingEvents > 0) state.simulator.runUntil(state.simulator.now + 1_000_000_000);
  };
}

/** Random writes or reads with the map in flash, a share of it cached; overwritten once before the first timing. */
function mapInFlash(reads: boolean, cached: number): (n: number) => void {
  let state: { readonly ftl: DriveFtl; readonly loop: ClosedLoop; readonly simulator: Simulator } | null = null;
  return (n) => {
    if (state === null) {
      const array = new NandArray(config, { keeps: 'nothing', random: new RandomSource(1) });
      const loop = new ClosedLoop(() => ftl, reads);
      const parameters = { cmtEntries: Math.floor(cached * IN_USE) };
      const ftl: DriveFtl = createFtl({
        array,
        scheduler: new InstantScheduler(array),
        client: loop,
        random: new RandomSource(1),
        options: { logicalSlots: LOGICAL, mapping: { name: 'dftl', parameters } },
      });
      const random = new RandomSource(2).stream('p');
      preconditionByWriting(ftl, { slots: IN_USE, capacities: 1, ranks: new UniformRanks(IN_USE), random });
      const simulator = new Simulator();
      ftl.attachScheduler(new TimelineScheduler(array, simulator));
      state = { ftl, loop, simulator };
    }
    state.loop.start(n);
    while (state.simulator.pendingEvents > 0) state.simulator.runUntil(state.simulator.now + 1_000_000_000);
  };
}

function instant(): (n: number) => void {
  let state: Drive | null = null;
  const random = new RandomSource(9).stream('bench');
  const ranks = new UniformRanks(IN_USE);
  return (n) => {
    state ??= drive(false);
    preconditionByWriting(state.ftl, { slots: n, fill: false, capacities: 1, ranks, random });
  };
}

function roofline(): (n: number) => void {
  let state: Roofline | null = null;
  return (n) => {
    if (state === null) {
      state = new Roofline(rooflineShape);
      state.run(3 * IN_USE);
    }
    state.run(n);
  };
}

/** WAF about 2.6 in every write row: 3 of 256 blocks per unit are reserve or frontiers. */
export const benchmarks: readonly Benchmark[] = [
  { name: 'ftl: random write with GC, no time (WAF 2.6)', run: instant(), n: 1_000_000 },
  { name: 'ftl: random write with GC, timeline, QD 32 (WAF 2.6)', run: timed(false), n: 500_000 },
  { name: 'ftl: random read, timeline, QD 32', run: timed(true), n: 1_000_000 },
  {
    name: 'ftl: random write, DFTL, 1 % cached and hit, QD 32 (6.4 page operations)',
    run: mapInFlash(false, 0.01),
    n: 300_000,
  },
  {
    name: 'ftl: random read, DFTL, 1 % cached and hit, QD 32 (2.0 page operations)',
    run: mapInFlash(true, 0.01),
    n: 500_000,
  },
  { name: 'ftl: roofline, random write with GC (WAF 2.6)', run: roofline(), n: 1_000_000 },
  { name: 'ftl: analytic preconditioning of 8 GiB', run: () => void drive(false), n: 1 },
];

/** Write amplification of the roofline and of the FTL under the same load, for the row that states it. */
export function writeAmplifications(): { roofline: number; ftl: number } {
  const loop = new Roofline(rooflineShape);
  loop.run(3 * IN_USE);
  loop.programs = 0;
  loop.writes = 0;
  loop.run(IN_USE);
  const { ftl } = drive(false);
  const random = new RandomSource(9).stream('bench');
  preconditionByWriting(ftl, { slots: IN_USE, fill: false, capacities: 1, ranks: new UniformRanks(IN_USE), random });
  return { roofline: loop.programs / loop.writes, ftl: ftl.stats.writeAmplification };
}

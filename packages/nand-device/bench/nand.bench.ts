import { RandomSource, Simulator } from '@flashstack/sim';
import {
  createEventScheduler,
  defaultCommandTiming,
  defaultFeatures,
  InstantScheduler,
  NandArray,
  NandClass,
  type NandConfig,
  type NandScheduler,
  TimelineScheduler,
} from '../src/index.js';

/** A measurable piece of work: `run(n)` does n operations. */
export interface Benchmark {
  readonly name: string;
  readonly n: number;
  run(n: number): void;
}

/** 8 channels × 2 ways × 2 planes, 256 blocks of 256 pages of 4 KiB per plane; tR 75 µs, tPROG 750 µs, 333 MT/s. */
const config: NandConfig = {
  geometry: {
    channels: 8,
    ways: 2,
    dies: 1,
    planes: 2,
    blocksPerPlane: 256,
    pagesPerBlock: 256,
    pageBytes: 4096,
    oobBytes: 128,
    slotBytes: 4096,
    cellBits: 1,
    pairing: 'simple',
    programUnit: 'page',
  },
  timing: {
    ...defaultCommandTiming,
    readNs: [75_000],
    programNs: [750_000],
    eraseNs: 3_800_000,
    channelBytesPerSec: 333e6,
  },
  features: defaultFeatures,
  reliability: null,
};

type Timed = NandScheduler & { readonly simulator: Simulator };

function onTimeline(): Timed {
  const simulator = new Simulator();
  const array = new NandArray(config, { keeps: 'nothing', random: new RandomSource(1) });
  return Object.assign(new TimelineScheduler(array, simulator), { simulator });
}

function onEvents(bus: 'arbitrate' | 'reserve'): Timed {
  const simulator = new Simulator();
  const array = new NandArray(config, { keeps: 'nothing', random: new RandomSource(1) });
  return Object.assign(createEventScheduler(array, simulator, { bus }), { simulator });
}

const DEPTH = 32;

/** Closed loop of 32 random reads: each completion issues the next. */
function randomReads(scheduler: Timed): (n: number) => void {
  const array = (scheduler as unknown as { array: NandArray }).array;
  const { pages, blocks, pagesPerBlock } = array.geometry;
  array.nextPage.fill(pagesPerBlock, 0, blocks);
  const random = new RandomSource(2).stream('bench');
  let left = 0;
  const client = {
    nandDone(): void {
      if (left-- > 0) scheduler.then(scheduler.read(random.below(pages), 1, NandClass.userRead, 0), client, 0);
    },
  };
  return (n) => {
    left = n - DEPTH;
    for (let i = 0; i < DEPTH; i++) {
      scheduler.then(scheduler.read(random.below(pages), 1, NandClass.userRead, 0), client, 0);
    }
    scheduler.simulator.drain();
  };
}

/** Closed loop of 32 writes with the NAND work of garbage collection at WAF 2.6: 1.6 moves per write, erases in time. */
function writesWithMoves(scheduler: Timed): (n: number) => void {
  const array = (scheduler as unknown as { array: NandArray }).array;
  const { units, blocksPerPlane, pagesPerBlock, pages } = array.geometry;
  const random = new RandomSource(3).stream('bench');
  const block = Int32Array.from({ length: units }, (_, unit) => unit * blocksPerPlane);
  const erased = new Uint8Array(array.geometry.blocks);
  array.nextPage.fill(pagesPerBlock);
  for (const each of block) {
    array.nextPage[each] = 0;
    array.nextPage[each + 1] = 0;
    erased[each + 1] = 1;
  }
  let left = 0;
  let credit = 0;
  let turn = 0;
  const eraser = {
    nandDone(_token: number, arg: number): void {
      erased[arg] = 1;
    },
  };
  /** The next page of a unit's frontier; a full block is replaced by the next, and the one after that is erased. */
  function frontier(): number {
    for (;;) {
      const unit = turn;
      turn = turn + 1 === units ? 0 : turn + 1;
      const current = block[unit];
      if (array.nextPage[current] < pagesPerBlock) return current * pagesPerBlock + array.nextPage[current];
      const base = unit * blocksPerPlane;
      const following = base + ((current - base + 1) % blocksPerPlane);
      if (erased[following] === 0) continue;
      erased[following] = 0;
      block[unit] = following;
      const victim = base + ((following - base + 1) % blocksPerPlane);
      scheduler.then(scheduler.erase(victim, NandClass.gcErase, scheduler.fence()), eraser, victim);
    }
  }
  function write(): void {
    for (credit += 8; credit >= 5; credit -= 5) {
      let from = random.below(pages);
      while (array.isErased(from) || scheduler.isProgramming(from)) from = random.below(pages);
      const read = scheduler.read(from, 1, NandClass.gcRead, 0);
      scheduler.drop(scheduler.program(frontier(), NandClass.gcWrite, read));
    }
    scheduler.then(scheduler.program(frontier(), NandClass.userWrite, 0), client, 0);
  }
  const client = {
    nandDone(): void {
      if (left-- > 0) write();
    },
  };
  return (n) => {
    left = n - DEPTH;
    for (let i = 0; i < DEPTH; i++) write();
    scheduler.simulator.drain();
  };
}

/** Programs without time, block after block. */
function instantPrograms(): (n: number) => void {
  const array = new NandArray(config, { keeps: 'nothing', random: new RandomSource(1) });
  const scheduler = new InstantScheduler(array);
  let ppn = 0;
  return (n) => {
    for (let i = 0; i < n; i++) {
      if (ppn % array.geometry.pagesPerBlock === 0) {
        scheduler.drop(scheduler.erase(array.geometry.blockOf(ppn), NandClass.gcErase, 0));
      }
      scheduler.drop(scheduler.program(ppn, NandClass.userWrite, 0));
      ppn = ppn + 1 === array.geometry.pages ? 0 : ppn + 1;
    }
  };
}

/** Built when first run, so that listing the benchmarks costs nothing. */
function lazy(name: string, n: number, make: () => (n: number) => void): Benchmark {
  let run: ((n: number) => void) | null = null;
  return {
    name,
    n,
    run(count) {
      run ??= make();
      run(count);
    },
  };
}

/** Operations are reads, or host writes with 2.6 programs and 1.6 reads each. */
export const benchmarks: readonly Benchmark[] = [
  lazy('nand: random reads, depth 32, timeline', 500_000, () => randomReads(onTimeline())),
  lazy('nand: random reads, depth 32, event', 300_000, () => randomReads(onEvents('arbitrate'))),
  lazy('nand: random reads, depth 32, event with reserve', 300_000, () => randomReads(onEvents('reserve'))),
  lazy('nand: writes with moves (WAF 2.6), timeline', 200_000, () => writesWithMoves(onTimeline())),
  lazy('nand: writes with moves (WAF 2.6), event', 100_000, () => writesWithMoves(onEvents('arbitrate'))),
  lazy('nand: writes with moves (WAF 2.6), event with reserve', 100_000, () => writesWithMoves(onEvents('reserve'))),
  lazy('nand: programs, instant', 2_000_000, instantPrograms),
];

import { type BlockDevice, type BlockFeatures, type BlockRequest, Origin } from '@flashstack/block-device';
import { type MaybeTask, RandomSource, runTask, Simulator } from '@flashstack/sim';
import { FileKind, Inode, PAGE_BYTES, type PageIo, WritebackReason } from '@flashstack/vfs';
import {
  Linux6Readahead,
  Linux2637Readahead,
  LinuxPageCache,
  NoReadahead,
  PageMemory,
  type ReadaheadPolicy,
} from '../src/index.js';

/** One row of the table: `run(n)` does n operations. */
export interface Benchmark {
  name: string;
  run(n: number): void;
  n: number;
  /** Operations per CPU-second that the row must reach. */
  bar?: number;
  /** Before and after the row, not timed. */
  setup?(): void;
  teardown?(): void;
}

const PAGES = 1 << 16;
const features: BlockFeatures = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'nothing' };

/** Completes inside `submit`: what is left is the cache alone. */
class TrivialDevice implements BlockDevice {
  readonly blockBytes: number = PAGE_BYTES;
  readonly blockCount: number = PAGES;
  readonly features: BlockFeatures = features;

  submit(request: BlockRequest): void {
    request.status = 0;
    request.owner.ioDone(request);
  }
}

/** Every page of the one file is at the block of its number. */
const backend = {
  readPages(_inode: Inode, first: number, count: number, io: PageIo): number {
    io.read(first * PAGE_BYTES, count * PAGE_BYTES, first, Origin.fileData);
    return 0;
  },
  writePages(_inode: Inode, pages: Int32Array, count: number, _reason: number, io: PageIo): number {
    for (let at = 0; at < count; at++) io.write(pages[at] * PAGE_BYTES, PAGE_BYTES, pages[at], Origin.fileData, 0, 0);
    return count;
  },
};

class Bench {
  readonly simulator: Simulator = new Simulator();
  readonly cache: LinuxPageCache;
  readonly inode: Inode;
  readonly reader: object;
  private readonly random = new RandomSource(1).stream('pages');

  constructor(policy: ReadaheadPolicy, memoryPages: number) {
    const memory = new PageMemory(this.simulator, {
      memoryBytes: memoryPages * PAGE_BYTES,
      dirtyBackgroundRatio: 40,
      dirtyRatio: 90,
    });
    this.cache = new LinuxPageCache(memory, new TrivialDevice(), { policy, limits: { raPages: 32, ioPages: 320 } });
    this.cache.attach(backend);
    this.inode = new Inode(this.simulator, 1, FileKind.regular);
    this.inode.size = PAGES * PAGE_BYTES;
    this.reader = this.cache.reader(this.inode);
  }

  finish(operation: MaybeTask): void {
    if (typeof operation !== 'number') runTask(this.simulator, operation);
  }

  sequentialReads(n: number): void {
    for (let at = 0; at < n; at++) {
      this.finish(this.cache.read(this.inode, this.reader, (at % PAGES) * PAGE_BYTES, PAGE_BYTES, null));
    }
  }

  randomReads(n: number): void {
    for (let at = 0; at < n; at++) {
      this.finish(this.cache.read(this.inode, this.reader, this.random.below(PAGES) * PAGE_BYTES, PAGE_BYTES, null));
    }
  }

  /** Every dirty page is written once a round. */
  writes(n: number): void {
    for (let at = 0; at < n; at++) {
      this.finish(this.cache.write(this.inode, (at % (PAGES / 8)) * PAGE_BYTES, PAGE_BYTES, null, at));
      if (at % (PAGES / 8) === PAGES / 8 - 1) this.finish(this.cache.writeBack(this.inode, WritebackReason.sync));
    }
  }
}

const cached = (): Bench => {
  const bench = new Bench(new NoReadahead(), 2 * PAGES);
  bench.finish(bench.cache.load(bench.inode, 0, PAGES));
  return bench;
};
let bench = cached();
const row = (name: string, make: () => Bench, run: (n: number) => void, n: number, bar?: number): Benchmark => ({
  name,
  run,
  n,
  setup: () => {
    bench = make();
  },
  ...(bar === undefined ? {} : { bar }),
});

/** Reads past a memory of a quarter of the file: every page is fetched, and one evicted for it. */
const uncached = (policy: ReadaheadPolicy) => (): Bench => new Bench(policy, PAGES / 4);

export const benchmarks: Benchmark[] = [
  row('4 KiB read, cached, in order', cached, (n) => bench.sequentialReads(n), 2_000_000, 1_000_000),
  row('4 KiB read, cached, at random', cached, (n) => bench.randomReads(n), 2_000_000, 1_000_000),
  row('4 KiB write of a cached page, and write-back', cached, (n) => bench.writes(n), 1_000_000, 1_000_000),
  row(
    '4 KiB read in order, linux-6',
    uncached(new Linux6Readahead()),
    (n) => bench.sequentialReads(n),
    500_000,
    1_000_000,
  ),
  row(
    '4 KiB read in order, linux-2.6.37',
    uncached(new Linux2637Readahead()),
    (n) => bench.sequentialReads(n),
    500_000,
    1_000_000,
  ),
  row('4 KiB read at random, linux-6', uncached(new Linux6Readahead()), (n) => bench.randomReads(n), 200_000),
  row('4 KiB read at random, linux-2.6.37', uncached(new Linux2637Readahead()), (n) => bench.randomReads(n), 100_000),
];

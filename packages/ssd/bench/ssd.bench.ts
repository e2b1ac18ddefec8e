import { BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import { RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import { resolvePreset, Ssd, type SsdConfig } from '../src/index.js';

/** What a runner times: `run(n)` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  readonly n: number;
  run(n: number): void;
}

/** Share of the drive that is filled and then accessed. */
const FILLED = 0.9;
const DEPTH = 32;

/** Keeps a number of 4 KiB requests in flight over the filled part of a drive. */
class ClosedLoop implements IoOwner {
  readonly simulator: Simulator = new Simulator();
  readonly ssd: Ssd;
  private readonly random: RandomStream = new RandomSource(7).stream('bench');
  private readonly positions: number;
  private left = 0;

  constructor(config: SsdConfig) {
    this.ssd = new Ssd(this.simulator, config);
    this.positions = Math.floor((this.ssd.blockCount / 8) * FILLED);
  }

  ioDone(request: BlockRequest): void {
    if (this.left-- <= 0) return;
    request.block = this.random.below(this.positions) * 8;
    this.ssd.submit(request);
  }

  run(op: number, n: number): void {
    this.left = n;
    for (let i = 0; i < DEPTH; i++) {
      const request = new BlockRequest(this);
      request.op = op;
      request.count = 8;
      this.ioDone(request);
    }
    this.simulator.drain();
    this.ssd.assertDrained();
  }

  /** Fills the part that is accessed, in order, then overwrites it at random until collection is steady. */
  prepare(): this {
    const request = new BlockRequest({ ioDone: () => undefined });
    request.op = BlockOp.write;
    const blocks = this.positions * 8;
    for (let block = 0; block < blocks; block += 1024) {
      request.block = block;
      request.count = Math.min(1024, blocks - block);
      this.ssd.submit(request);
      this.simulator.drain();
    }
    this.run(BlockOp.write, this.positions * 2);
    this.ssd.resetStats();
    return this;
  }
}

const drives: Map<string, ClosedLoop> = new Map();

function drive(scheduler: 'timeline' | 'event'): ClosedLoop {
  let loop = drives.get(scheduler);
  if (loop === undefined) {
    const config = resolvePreset('mqsim-b8');
    loop = new ClosedLoop({ ...config, scheduler: { ...config.scheduler, kind: scheduler } }).prepare();
    drives.set(scheduler, loop);
  }
  return loop;
}

/** An empty drive: a read touches no flash, so what is left is the host interface, two events and the FTL's look-up. */
const empty: ClosedLoop = new ClosedLoop(resolvePreset('mqsim-b8'));

export const benchmarks: readonly Benchmark[] = [
  {
    name: 'ssd host path: 4 KiB read of a slot that was never written',
    n: 1_000_000,
    run: (n) => empty.run(BlockOp.read, n),
  },
  {
    name: 'ssd timeline: 4 KiB random write with GC',
    n: 1_000_000,
    run: (n) => drive('timeline').run(BlockOp.write, n),
  },
  { name: 'ssd timeline: 4 KiB random read', n: 1_000_000, run: (n) => drive('timeline').run(BlockOp.read, n) },
];

import { BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import { greedyWriteAmplification } from '@flashstack/ftl';
import { RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import { Roofline } from '../../ftl/bench/roofline.js';
import { resolvePreset, Ssd, type SsdConfig } from '../src/index.js';

/** What a runner times: `run(n)` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  readonly n: number;
  run(n: number): void;
  setup?(): void;
  teardown?(): void;
  readonly passes?: number;
  readonly warmups?: number;
  /** Operations per CPU-second that must be reached, and the share of the roofline. */
  readonly bar?: number;
  readonly rooflineBar?: number;
  readonly roofline?: string;
  /** What to know beside the rate. */
  report?(): Record<string, number | string>;
}

/** Share of the drive that is filled and then accessed. */
const FILLED = 0.9;
const DEPTH = 32;
const ROOFLINE = 'roofline: the same mapping, GC and timeline work';

/** Keeps 4 KiB requests in flight over the part of a drive that is in use. */
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

  /** Write amplification so far, the reserve that collection keeps, and the closed form for what is left. */
  report(): Record<string, number> {
    const { ftl } = this.ssd.flash;
    const [table] = ftl.tables;
    const slots = Math.floor(ftl.logicalSlots * FILLED);
    const blockSlots = table.slotsPerMember * table.members;
    // Erased blocks, and one open block each of host and collection, hold no data on average.
    const reserve = table.domains * (ftl.gcLow + 1) * blockSlots;
    const alpha = (table.blocks * blockSlots - reserve) / slots;
    return {
      waf: round(ftl.stats.writeAmplification),
      reserveShare: round(reserve / (table.blocks * blockSlots)),
      closedFormMixed: round(greedyWriteAmplification(alpha, blockSlots)),
      requestsInFlight: DEPTH,
    };
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function config(kind: 'timeline' | 'event'): SsdConfig {
  const preset = resolvePreset('mqsim-b8');
  return { ...preset, scheduler: { ...preset.scheduler, kind } };
}

/** A row on a drive of its own, in steady state over the part in use. */
function row(name: string, kind: 'timeline' | 'event', op: number, n: number, bar: number): Benchmark {
  const isWrite = op === BlockOp.write;
  let loop: ClosedLoop | null = null;
  const started = (): ClosedLoop => {
    if (loop === null) {
      loop = new ClosedLoop(config(kind));
      loop.ssd.precondition('steady', FILLED);
    }
    return loop;
  };
  return {
    name,
    n,
    bar,
    ...(isWrite ? { roofline: ROOFLINE, rooflineBar: kind === 'timeline' ? 0.25 : 0.1 } : {}),
    run: (count) => started().run(op, count),
    teardown: () => {
      loop = null;
    },
    report: () => (isWrite ? started().report() : {}),
  };
}

/** An empty drive: a read touches no flash, so what is left is the host interface, its events and the FTL's look-up. */
function hostPath(): Benchmark {
  let loop: ClosedLoop | null = null;
  return {
    name: 'ssd host path: 4 KiB read of a slot never written',
    n: 1_000_000,
    run: (n) => {
      loop ??= new ClosedLoop(config('timeline'));
      loop.run(BlockOp.read, n);
    },
    teardown: () => {
      loop = null;
    },
  };
}

function preconditioning(): Benchmark {
  return {
    name: 'ssd precondition: 8 GiB drive to steady state',
    n: 1,
    bar: 1,
    run: (n) => {
      for (let i = 0; i < n; i++) new Ssd(new Simulator(), config('timeline')).precondition('steady', FILLED);
    },
  };
}

/** The smallest loop over typed arrays that does the same work, to compare machines by. */
function roofline(): Benchmark {
  let loop: Roofline | null = null;
  return {
    name: ROOFLINE,
    n: 1_000_000,
    run: (n) => {
      if (loop === null) {
        const { channels, ways, dies, planes, blocksPerPlane, pagesPerBlock } = config('timeline').nand.geometry;
        const pages = Math.floor((config('timeline').capacityBytes / 4096) * FILLED);
        const shape = {
          channels,
          diesPerChannel: ways * dies,
          planes,
          blocksPerUnit: blocksPerPlane,
          pagesPerBlock,
          pages,
        };
        loop = new Roofline(shape);
        loop.run(3 * pages);
        loop.programs = 0;
        loop.writes = 0;
      }
      loop.run(n);
    },
    teardown: () => {
      loop = null;
    },
    report: () => ({ waf: loop === null ? 0 : round(loop.programs / loop.writes) }),
  };
}

/** 1 TiB of 4 KiB pages with 7 % over-provisioning that keeps nothing; the figure of interest is the memory. */
function largeDrive(): Benchmark {
  return {
    name: 'ssd memory: 1 TiB drive, preconditioned',
    n: 1,
    passes: 1,
    warmups: 0,
    run: () => {
      const preset = resolvePreset('mqsim-b8', { capacity: 2 ** 40, overProvisioning: 0.07 });
      const ssd = new Ssd(new Simulator(), preset);
      const how = ssd.precondition('steady');
      if (how !== 'analytic' || ssd.blockCount !== 2 ** 31) throw new Error(`unexpected drive: ${how}`);
    },
  };
}

export const benchmarks: readonly Benchmark[] = [
  roofline(),
  hostPath(),
  row('ssd timeline: 4 KiB random write with GC', 'timeline', BlockOp.write, 1_000_000, 1_000_000),
  row('ssd timeline: 4 KiB random read', 'timeline', BlockOp.read, 1_000_000, 1_800_000),
  row('ssd event: 4 KiB random write with GC', 'event', BlockOp.write, 400_000, 400_000),
  row('ssd event: 4 KiB random read', 'event', BlockOp.read, 1_000_000, 1_000_000),
  preconditioning(),
  largeDrive(),
];

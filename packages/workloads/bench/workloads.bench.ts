import { type BlockDevice, type BlockFeatures, BlockOp, type BlockRequest } from '@flashstack/block-device';
import { type EventTarget, RandomSource, Simulator } from '@flashstack/sim';
import {
  Operation,
  Replay,
  type ReplayOptions,
  SyntheticSource,
  type Trace,
  TraceBuilder,
  TraceDecoder,
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

const features: BlockFeatures = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'nothing' };
const BLOCK_BYTES = 4096;
const BLOCKS = 1 << 21;

/** Completes inside `submit`: what is left is the replay engine alone. */
class TrivialDevice implements BlockDevice {
  readonly blockBytes = BLOCK_BYTES;
  readonly blockCount = BLOCKS;
  readonly features: BlockFeatures = features;

  submit(request: BlockRequest): void {
    request.status = 0;
    request.owner.ioDone(request);
  }
}

/** Completes after a fixed time by one event a request. */
class DelayDevice implements BlockDevice, EventTarget {
  readonly blockBytes = BLOCK_BYTES;
  readonly blockCount = BLOCKS;
  readonly features: BlockFeatures = features;
  private readonly simulator: Simulator;
  private readonly pending: BlockRequest[] = [];

  constructor(simulator: Simulator) {
    this.simulator = simulator;
  }

  submit(request: BlockRequest): void {
    this.pending[request.cookie] = request;
    this.simulator.after(10_000, this, request.cookie);
  }

  fire(cookie: number): void {
    const request = this.pending[cookie];
    request.status = 0;
    request.owner.ioDone(request);
  }
}

function randomTrace(length: number): Trace {
  const workload = new SyntheticSource(
    { pattern: 'random', rangeBytes: BLOCKS * BLOCK_BYTES, requests: length, readShare: 0.5, gapNs: 1000 },
    new RandomSource(1),
  );
  const builder = new TraceBuilder();
  const operation = new Operation();
  while (workload.next(operation)) builder.add(operation);
  return builder.build('random', 'synthetic');
}

const TRACE = 100_000;
const trace = randomTrace(TRACE);
const text = new TextEncoder().encode(
  Array.from(trace.ops, (op, i) => {
    const type = op === BlockOp.read ? 'Read' : 'Write';
    return `${128166372 + Math.floor(i / 1000)}${String(i).padStart(9, '0')},host,0,${type},${trace.offsetsBytes[i]},4096,100\n`;
  }).join(''),
);

function replay(n: number, timed: boolean, options: ReplayOptions): void {
  const simulator = new Simulator();
  const device = timed ? new DelayDevice(simulator) : new TrivialDevice();
  const run = new Replay(simulator, device, trace.source(), { ...options, repeat: Math.ceil(n / TRACE) });
  if (!run.advance() || run.stats.completed !== Math.ceil(n / TRACE) * TRACE) throw new Error('incomplete');
}

function generate(n: number, pattern: 'random' | 'zipf'): void {
  const source = new SyntheticSource(
    { pattern, rangeBytes: BLOCKS * BLOCK_BYTES, requests: n, readShare: 0.5 },
    new RandomSource(1),
  );
  const operation = new Operation();
  while (source.next(operation));
}

function decode(n: number): void {
  let decoded = 0;
  while (decoded < n) {
    const decoder = new TraceDecoder('bench', { format: 'msr' });
    for (let at = 0; at < text.length; at += 65536) decoder.push(text.subarray(at, at + 65536));
    decoded += decoder.end().length;
  }
}

const closed: ReplayOptions = { loop: { kind: 'closed', depth: 32 } };

export const benchmarks: readonly Benchmark[] = [
  { name: 'replay of a trace, trivial device', run: (n) => replay(n, false, closed), n: 4_000_000, bar: 5e6 },
  {
    name: 'the same, addresses wrapped',
    run: (n) => replay(n, false, { ...closed, address: 'wrap' }),
    n: 4_000_000,
    bar: 5e6,
  },
  { name: 'the same, open loop', run: (n) => replay(n, false, { loop: { kind: 'open' } }), n: 2_000_000 },
  { name: 'closed loop, depth 32, one event a request', run: (n) => replay(n, true, closed), n: 2_000_000 },
  {
    name: 'think-time loop, one event a request',
    run: (n) => replay(n, true, { loop: { kind: 'think' } }),
    n: 1_000_000,
  },
  { name: 'random operations', run: (n) => generate(n, 'random'), n: 4_000_000 },
  { name: 'zipf operations', run: (n) => generate(n, 'zipf'), n: 1_000_000 },
  { name: 'MSR lines decoded', run: decode, n: 1_000_000 },
];

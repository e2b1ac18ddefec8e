import { BlockRequest, type IoOwner } from '@flashstack/block-device';
import { RandomSource, type RandomStream } from '@flashstack/sim';
import type { Ssd } from '../src/index.js';

/** What a closed loop sends. */
export interface LoopOptions {
  readonly op: number;
  /** Requests in flight, and of each how many blocks. */
  readonly depth: number;
  readonly blocks: number;
  readonly requests: number;
  readonly pattern: 'random' | 'sequential';
  /** Share of the requests at the start that does not count. Default a quarter. */
  readonly warmup?: number;
}

/** Keeps requests in flight on a drive; measures what is done after a warm-up and before the loop runs dry. */
export class ClosedLoop implements IoOwner {
  /** Requests per second of simulated time. */
  perSecond = 0;
  private readonly ssd: Ssd;
  private readonly options: LoopOptions;
  private readonly random: RandomStream;
  private readonly positions: number;
  private sent = 0;
  private done = 0;
  private fromNs = 0;
  private fromDone = 0;

  constructor(ssd: Ssd, options: LoopOptions) {
    this.ssd = ssd;
    this.options = options;
    this.random = new RandomSource(1).stream('loop');
    this.positions = Math.floor(ssd.blockCount / options.blocks);
  }

  run(): this {
    const { op, depth, blocks } = this.options;
    for (let i = 0; i < depth; i++) {
      const request = new BlockRequest(this);
      request.op = op;
      request.count = blocks;
      request.flow = i;
      this.send(request);
    }
    this.ssd.simulator.drain();
    this.ssd.assertDrained();
    return this;
  }

  ioDone(request: BlockRequest): void {
    const { requests, depth, warmup = 0.25 } = this.options;
    if (request.status !== 0) throw new Error(`request failed with status ${request.status}`);
    this.done++;
    const { now } = this.ssd.simulator;
    if (this.done === Math.floor(requests * warmup)) {
      this.fromNs = now;
      this.fromDone = this.done;
      this.ssd.resetStats();
    }
    // From here on fewer than `depth` are in flight.
    if (this.done === requests - depth) this.perSecond = (this.done - this.fromDone) / ((now - this.fromNs) / 1e9);
    this.send(request);
  }

  private send(request: BlockRequest): void {
    const { requests, blocks, pattern } = this.options;
    if (this.sent >= requests) return;
    const at = pattern === 'random' ? this.random.below(this.positions) : this.sent % this.positions;
    this.sent++;
    request.block = at * blocks;
    this.ssd.submit(request);
  }
}

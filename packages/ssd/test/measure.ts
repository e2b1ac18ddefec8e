import { BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import { RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import { type PublishedFigure, resolvePreset, Ssd } from '../src/index.js';

/** Enough for the buffer not to matter in a sequential write. */
const SEQUENTIAL_BYTES = 768 * 2 ** 20;
const RANDOM_REQUESTS = 20_000;

/** Keeps `depth` requests in flight and counts what is done after a warm-up. */
class Meter implements IoOwner {
  private readonly ssd: Ssd;
  private readonly random: RandomStream | null;
  private readonly blocks: number;
  private readonly total: number;
  private sent = 0;
  private done = 0;
  private next = 0;
  private fromNs = 0;
  private fromDone = 0;

  constructor(ssd: Ssd, figure: PublishedFigure, total: number) {
    this.ssd = ssd;
    this.total = total;
    this.blocks = figure.requestBytes / ssd.blockBytes;
    this.random = figure.metric.startsWith('random') ? new RandomSource(1).stream('measure') : null;
  }

  ioDone(request: BlockRequest): void {
    this.done++;
    if (this.done === Math.floor(this.total / 4)) {
      this.fromNs = this.ssd.simulator.now;
      this.fromDone = this.done;
    }
    this.send(request);
  }

  /** Requests per second of the last three quarters. */
  run(op: number, depth: number): number {
    for (let i = 0; i < depth; i++) {
      const request = new BlockRequest(this);
      request.op = op;
      request.count = this.blocks;
      this.send(request);
    }
    this.ssd.simulator.drain();
    this.ssd.assertDrained();
    return (this.done - this.fromDone) / ((this.endNs - this.fromNs) / 1e9);
  }

  private endNs = 0;

  private send(request: BlockRequest): void {
    this.endNs = this.ssd.simulator.now;
    if (this.sent++ >= this.total) return;
    const positions = Math.floor(this.ssd.blockCount / this.blocks);
    request.block = (this.random === null ? this.next++ % positions : this.random.below(positions)) * this.blocks;
    this.ssd.submit(request);
  }
}

/** Measures one figure of a preset on a scaled drive: reads of a drive filled in order, writes to an empty one. */
export function measure(preset: string, figure: PublishedFigure): number {
  const read = figure.metric.endsWith('Read');
  const sequential = figure.metric.startsWith('sequential');
  const capacity = 2 * 2 ** 30;
  const ssd = new Ssd(new Simulator(), resolvePreset(preset, { capacity }));
  if (read) ssd.precondition('fill');
  const requests = sequential
    ? Math.floor((read ? 512 * 2 ** 20 : SEQUENTIAL_BYTES) / figure.requestBytes)
    : RANDOM_REQUESTS;
  const perSecond = new Meter(ssd, figure, requests).run(read ? BlockOp.read : BlockOp.write, figure.depth);
  return sequential ? perSecond * figure.requestBytes : perSecond;
}

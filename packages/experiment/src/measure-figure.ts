import { BlockOp, BlockRequest, type IoOwner } from '@flashstack/block-device';
import { type EventTarget, RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import { type PublishedFigure, Ssd, type SsdConfig, scaleSsd } from '@flashstack/ssd';
import { equip } from './equip.js';
import { type Extensions, noExtensions } from './extensions.js';

/** Drives are measured at this size, or at their own if that is smaller. */
const MEASURED_BYTES = 2 * 2 ** 30;
/** Enough for the buffer not to matter in a sequential write. */
const WRITE_BYTES = 768 * 2 ** 20;
const READ_BYTES = 512 * 2 ** 20;
const RANDOM_REQUESTS = 20_000;
/** Random writes of several at a time are measured after so many buffers full. */
const FILLING = 10;

/** How a figure came out. `stale`: it is declared to miss, and does not any more. */
export type FigureVerdict = 'within' | 'outside' | 'declared' | 'stale';

/** A published figure beside what the simulated drive does. */
export interface FigureCheck {
  readonly figure: PublishedFigure;
  /** In the unit of `figure.value`: bytes or requests per second. */
  readonly simulated: number;
  /** simulated / published − 1. */
  readonly error: number;
  readonly verdict: FigureVerdict;
}

/** Measures a figure of a drive and compares it with its band. Deterministic. @throws InputError as `measureFigure`. */
export function checkFigure(
  config: SsdConfig,
  figure: PublishedFigure,
  extensions: Extensions = noExtensions,
): FigureCheck {
  const simulated = measureFigure(config, figure, extensions);
  const error = simulated / figure.value - 1;
  const within = Math.abs(error) <= figure.tolerance;
  const verdict = figure.miss === undefined ? (within ? 'within' : 'outside') : within ? 'stale' : 'declared';
  return { figure, simulated, error, verdict };
}

/**
 * Bytes per second of a sequential figure, requests per second of a random one, after a warm-up: reads of a drive that
 * was filled in order, writes to an empty one or, if the figure says so, to one in steady state. Drives above 2 GiB are
 * scaled down to that; `extensions` make strategies of the user's own. Deterministic.
 * @throws InputError for a configuration that cannot be, or a request that is no multiple of its blocks or larger than it.
 */
export function measureFigure(
  config: SsdConfig,
  figure: PublishedFigure,
  extensions: Extensions = noExtensions,
): number {
  const read = figure.metric.endsWith('Read');
  const sequential = figure.metric.startsWith('sequential');
  const scaled = config.capacityBytes > MEASURED_BYTES ? scaleSsd(config, MEASURED_BYTES) : config;
  const ssd = new Ssd(new Simulator(), equip(scaled, extensions));
  if (read) ssd.precondition('fill');
  else if (figure.state === 'steady') ssd.precondition('steady');
  const bytes = read ? READ_BYTES : WRITE_BYTES;
  const total = sequential ? Math.floor(bytes / figure.requestBytes) : RANDOM_REQUESTS;
  // Writes that come faster than flash takes them fill the buffer before they go at the speed of flash.
  const filling = read || sequential || figure.depth === 1 ? 0 : FILLING * (config.buffer?.slots ?? 0);
  const load = new FigureLoad(ssd, figure, filling + total, filling + Math.floor(total / 4));
  const perSecond = load.run(read ? BlockOp.read : BlockOp.write);
  return sequential ? perSecond * figure.requestBytes : perSecond;
}

/** Keeps the requests of a figure in flight, and counts what is done after a warm-up. */
class FigureLoad implements IoOwner, EventTarget {
  private readonly ssd: Ssd;
  private readonly figure: PublishedFigure;
  private readonly random: RandomStream | null;
  private readonly blocks: number;
  private readonly total: number;
  private readonly warmup: number;
  private readonly requests: BlockRequest[] = [];
  private sent = 0;
  private done = 0;
  private next = 0;
  private fromNs = 0;
  private endNs = 0;

  constructor(ssd: Ssd, figure: PublishedFigure, total: number, warmup: number) {
    this.ssd = ssd;
    this.figure = figure;
    this.total = total;
    this.warmup = warmup;
    this.blocks = figure.requestBytes / ssd.blockBytes;
    this.random = figure.metric.startsWith('random') ? new RandomSource(1).stream('measure') : null;
  }

  /** Requests per second after the warm-up. */
  run(op: number): number {
    for (let i = 0; i < this.figure.depth; i++) {
      const request = new BlockRequest(this);
      request.op = op;
      request.count = this.blocks;
      request.cookie = i;
      this.requests.push(request);
      this.send(request);
    }
    this.ssd.simulator.drain();
    this.ssd.assertDrained();
    return (this.done - this.warmup) / ((this.endNs - this.fromNs) / 1e9);
  }

  ioDone(request: BlockRequest): void {
    const { simulator } = this.ssd;
    this.done++;
    this.endNs = simulator.now;
    if (this.done === this.warmup) this.fromNs = simulator.now;
    const { hostNs = 0 } = this.figure;
    if (hostNs === 0) this.send(request);
    else simulator.after(hostNs, this, request.cookie);
  }

  /** Simulator only: the host has done its part for the next request. */
  fire(index: number): void {
    this.send(this.requests[index]);
  }

  private send(request: BlockRequest): void {
    if (this.sent >= this.total) return;
    this.sent++;
    const positions = Math.floor(this.ssd.blockCount / this.blocks);
    request.block = (this.random === null ? this.next++ % positions : this.random.below(positions)) * this.blocks;
    this.ssd.submit(request);
  }
}

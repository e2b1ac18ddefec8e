import { BlockOp } from '@flashstack/block-device';
import {
  exponential,
  HotColdRanks,
  ParetoRanks,
  Permutation,
  type RandomSource,
  type RandomState,
  type RandomStream,
  type RankDistribution,
  UniformRanks,
  ZipfRanks,
} from '@flashstack/sim';
import type { Operation, OperationSource } from './operation.js';
import { optionBetween, ReplayError, ReplayErrorCode, wholeOption, wrongOption } from './replay-error.js';
import { type RequestSize, RequestSizes } from './request-sizes.js';

/**
 * Where the requests go.
 * - `sequential`: ascending, from the start again at the end of the range.
 * - `random`: uniform.
 * - `zipf`, `pareto`: popularity falls by Zipf's law (`theta`) or fio's Pareto (`h`).
 * - `hot-cold`: `hotShare` of the requests go to `hotFraction` of the range, uniform in both parts.
 */
export type AccessPattern = 'sequential' | 'random' | 'zipf' | 'pareto' | 'hot-cold';

/** As many as the widest stream policies of drives tell apart. */
const MOST_HINTS = 64;
/** As many as a drive has queues at most. */
const MOST_FLOWS = 65_536;
const ON_TIME = 0;
const BYTES = 1;
const NEXT = 2;

/** A synthetic workload, as plain data. */
export interface SyntheticOptions {
  readonly pattern: AccessPattern;
  /** Size of the range addressed, in bytes. */
  readonly rangeBytes: number;
  /** Start of the range. Default 0. */
  readonly offsetBytes?: number;
  /** Number of requests; flushes are not counted. Either this or `bytes`. */
  readonly requests?: number;
  /** Bytes to transfer, rounded up to whole requests. */
  readonly bytes?: number;
  /** Bytes of each request. Default 4096. */
  readonly requestBytes?: number;
  /** Requests of several sizes, instead of `requestBytes`. */
  readonly sizes?: readonly RequestSize[];
  /** Requests start at multiples of this after `offsetBytes`. Default `requestBytes`, or the least of `sizes`. */
  readonly alignBytes?: number;
  /** Share of the requests that read; the others write. Default 0. */
  readonly readShare?: number;
  /** Exponent of `zipf`. Default 0.99. */
  readonly theta?: number;
  /** Skew of `pareto`: 1 − h of the requests go to the fraction h. Default 0.2. */
  readonly h?: number;
  /** `hot-cold`: the hot fraction of the range. Default 0.2. */
  readonly hotFraction?: number;
  /** `hot-cold`: the share of the requests that goes there. Default 0.8. */
  readonly hotShare?: number;
  /** Spread popular addresses over the range by a random permutation, instead of from its start. Default true. */
  readonly scatter?: boolean;
  /**
   * Writes carry a hint of their lifetime, 1 (the hottest addresses) to `streams`: each for an equal share of the writes of
   * `zipf` and `pareto`, 1 and 2 for the parts of `hot-cold`. Default 0: no hints.
   */
  readonly streams?: number;
  /** Tenants or queues to which the requests belong in turn: flows 0 … flows − 1. Default 1. */
  readonly flows?: number;
  /** Mean time from one arrival to the next, in ns, for open loops. Default 0. */
  readonly gapNs?: number;
  /** Every gap equal, or exponentially distributed (a Poisson process). Default `constant`. */
  readonly gaps?: 'constant' | 'exponential';
  /** Requests of a burst; after each burst `pauseNs` is added to the gap. Default 0: no bursts. */
  readonly burst?: number;
  /** Pause between bursts, in ns. Default 0. */
  readonly pauseNs?: number;
  /**
   * On/off arrivals: requests arrive for `onNs`, then none for `offNs`, and so on. Gaps and pauses count while it is on.
   * Default 0: always on.
   */
  readonly onNs?: number;
  /** How long it is off, in ns. Default 0. */
  readonly offNs?: number;
  /** A flush after every so many writes. Default 0: none. */
  readonly flushEvery?: number;
}

/** Produces a synthetic workload; the same options and seed give the same operations, also after `restart`. */
export class SyntheticSource implements OperationSource {
  readonly count: number;
  readonly endByte: number;
  private readonly requests: number;
  /** With sizes of a mix and a limit in bytes, how many requests there are is known only when they have come. */
  private readonly bytes: number;
  private readonly offsetBytes: number;
  private readonly requestBytes: number;
  private readonly sizes: RequestSizes | null;
  private readonly alignBytes: number;
  private readonly positions: number;
  private readonly readShare: number;
  private readonly ranks: RankDistribution | null;
  private readonly scatter: Permutation | null;
  private readonly hints: number;
  /** By hint, from 2 on: the first rank that has it. */
  private readonly heat: Float64Array;
  private readonly flows: number;
  private readonly gapNs: number;
  private readonly poisson: boolean;
  private readonly burst: number;
  private readonly pauseNs: number;
  private readonly onNs: number;
  private readonly offNs: number;
  private readonly flushEvery: number;
  private readonly sizeRandom: RandomStream;
  private readonly addressRandom: RandomStream;
  private readonly directionRandom: RandomStream;
  private readonly arrivalRandom: RandomStream;
  private readonly begin: readonly RandomState[];
  // Time while on, bytes issued, and where the next sequential request of a mix starts.
  private readonly state = new Float64Array(3);
  private issued = 0;
  private writes = 0;
  private rank = 0;
  private flushDue = false;

  /** @throws ReplayError naming the option that is impossible. */
  constructor(options: SyntheticOptions, random: RandomSource) {
    this.sizes = options.sizes === undefined ? null : new RequestSizes(options.sizes);
    this.requestBytes = this.sizes?.greatest ?? wholeOption('requestBytes', options.requestBytes ?? 4096, 1);
    this.alignBytes = wholeOption('alignBytes', options.alignBytes ?? this.sizes?.least ?? this.requestBytes, 1);
    this.offsetBytes = wholeOption('offsetBytes', options.offsetBytes ?? 0, 0);
    const range = wholeOption('rangeBytes', options.rangeBytes, 1);
    if (range < this.requestBytes) {
      const least = this.sizes === null ? 'requestBytes' : 'the greatest of sizes';
      throw wrongOption('rangeBytes', `at least ${least} (${this.requestBytes})`, range);
    }
    this.positions = Math.floor((range - this.requestBytes) / this.alignBytes) + 1;
    this.endByte = this.offsetBytes + (this.positions - 1) * this.alignBytes + this.requestBytes;
    this.requests = requestsOf(options, this.requestBytes);
    this.bytes = Number.POSITIVE_INFINITY;
    if (this.sizes !== null && options.bytes !== undefined) {
      this.requests = Number.POSITIVE_INFINITY;
      this.bytes = options.bytes;
    }
    this.readShare = optionBetween('readShare', options.readShare ?? 0, 0, 1);
    this.flows = wholeOption('flows', options.flows ?? 1, 1);
    if (this.flows > MOST_FLOWS) throw wrongOption('flows', `at most ${MOST_FLOWS}`, this.flows);
    this.gapNs = optionBetween('gapNs', options.gapNs ?? 0, 0, Number.MAX_SAFE_INTEGER);
    this.poisson = options.gaps === 'exponential';
    this.burst = wholeOption('burst', options.burst ?? 0, 0);
    this.pauseNs = wholeOption('pauseNs', options.pauseNs ?? 0, 0);
    this.onNs = wholeOption('onNs', options.onNs ?? 0, 0);
    this.offNs = wholeOption('offNs', options.offNs ?? 0, 0);
    if (this.offNs > 0 && this.onNs === 0) throw wrongOption('onNs', 'greater than 0 if offNs is', 0);
    this.flushEvery = wholeOption('flushEvery', options.flushEvery ?? 0, 0);
    this.ranks = ranksOf(options, this.positions);
    this.hints = wholeOption('streams', options.streams ?? 0, 0);
    this.heat = heatOf(options.pattern, this.hints, this.ranks);
    const scattered = this.ranks !== null && options.pattern !== 'random' && (options.scatter ?? true);
    this.scatter = scattered ? new Permutation(this.positions, random.stream('workload.scatter')) : null;
    this.sizeRandom = random.stream('workload.size');
    this.addressRandom = random.stream('workload.address');
    this.directionRandom = random.stream('workload.direction');
    this.arrivalRandom = random.stream('workload.arrival');
    this.begin = [this.addressRandom, this.directionRandom, this.arrivalRandom, this.sizeRandom].map((stream) =>
      stream.save(),
    );
    // With reads in between, how many flushes come is known only when they have come.
    const known = this.flushEvery === 0 || this.readShare === 0;
    this.count = known && this.requests < Number.POSITIVE_INFINITY ? this.withFlushes() : -1;
  }

  next(out: Operation): boolean {
    out.flags = 0;
    out.responseNs = 0;
    out.stream = 0;
    out.flow = 0;
    out.origin = 0;
    if (this.flushDue) {
      this.flushDue = false;
      out.op = BlockOp.flush;
      out.offsetBytes = 0;
      out.lengthBytes = 0;
      out.timeNs = this.now();
      return true;
    }
    if (this.issued === this.requests || this.state[BYTES] >= this.bytes) return false;
    if (this.issued > 0) this.passTime();
    const length = this.sizes === null ? this.requestBytes : this.sizes.next(this.sizeRandom);
    out.offsetBytes = this.offsetBytes + this.start(length);
    out.lengthBytes = length;
    this.state[BYTES] += length;
    out.timeNs = this.now();
    out.flow = this.issued % this.flows;
    this.issued++;
    if (this.readShare > 0 && this.directionRandom.nextFloat() < this.readShare) {
      out.op = BlockOp.read;
    } else {
      out.op = BlockOp.write;
      if (this.hints > 0) out.stream = this.hint();
      this.writes++;
      this.flushDue = this.flushEvery > 0 && this.writes % this.flushEvery === 0;
    }
    return true;
  }

  restart(): void {
    this.addressRandom.restore(this.begin[0]);
    this.directionRandom.restore(this.begin[1]);
    this.arrivalRandom.restore(this.begin[2]);
    this.sizeRandom.restore(this.begin[3]);
    this.state.fill(0);
    this.issued = 0;
    this.writes = 0;
    this.flushDue = false;
  }

  /** Where a request of this length starts, in bytes after the start of the range. */
  private start(length: number): number {
    if (this.ranks === null) return this.sizes === null ? this.after() : this.afterLast(length);
    const rank = this.ranks.next(this.addressRandom);
    this.rank = rank;
    return (this.scatter === null ? rank : this.scatter.map(rank)) * this.alignBytes;
  }

  /** The hint of the present rank. */
  private hint(): number {
    const { heat, rank } = this;
    let k = 0;
    while (k < heat.length && rank >= heat[k]) k++;
    return k + 1;
  }

  private after(): number {
    return (this.issued % this.positions) * this.alignBytes;
  }

  /** Sequential requests of a mix follow each other, from the start again where one does not fit any more. */
  private afterLast(length: number): number {
    const state = this.state;
    const start = this.offsetBytes + state[NEXT] + length > this.endByte ? 0 : state[NEXT];
    state[NEXT] = Math.ceil((start + length) / this.alignBytes) * this.alignBytes;
    return start;
  }

  /** Time of arrival: the time while on, with the times when it was off put in. */
  private now(): number {
    const on = this.state[ON_TIME];
    return this.onNs === 0 ? on : on + Math.floor(on / this.onNs) * this.offNs;
  }

  private passTime(): void {
    const gap = this.poisson ? exponential(this.arrivalRandom, this.gapNs) : this.gapNs;
    this.state[ON_TIME] += Math.round(gap);
    if (this.burst > 0 && this.issued % this.burst === 0) this.state[ON_TIME] += this.pauseNs;
  }

  private withFlushes(): number {
    return this.flushEvery === 0 ? this.requests : this.requests + Math.floor(this.requests / this.flushEvery);
  }
}

function ranksOf(options: SyntheticOptions, positions: number): RankDistribution | null {
  switch (options.pattern) {
    case 'sequential':
      return null;
    case 'random':
      return new UniformRanks(positions);
    case 'zipf':
      return new ZipfRanks(positions, optionBetween('theta', options.theta ?? 0.99, 0, 1000));
    case 'pareto':
      return new ParetoRanks(positions, optionBetween('h', options.h ?? 0.2, 1e-9, 1 - 1e-9));
    case 'hot-cold': {
      const fraction = optionBetween('hotFraction', options.hotFraction ?? 0.2, 0, 1);
      return new HotColdRanks(positions, fraction, optionBetween('hotShare', options.hotShare ?? 0.8, 0, 1));
    }
    default:
      throw wrongOption('pattern', 'sequential, random, zipf, pareto or hot-cold', options.pattern);
  }
}

function heatOf(pattern: AccessPattern, hints: number, ranks: RankDistribution | null): Float64Array {
  if (hints === 0) return new Float64Array(0);
  if (ranks === null || pattern === 'random') {
    throw wrongOption('streams', `0 for ${pattern}: no address is written more often than others`, hints);
  }
  if (ranks instanceof HotColdRanks) {
    if (hints !== 2) throw wrongOption('streams', '0 or 2 for hot-cold: there is a hot part and a cold one', hints);
    return Float64Array.of(ranks.hotCount);
  }
  if (hints > MOST_HINTS) throw wrongOption('streams', `at most ${MOST_HINTS}`, hints);
  return Float64Array.from({ length: hints - 1 }, (_, k) => ranks.rankAfter((k + 1) / hints));
}

function requestsOf(options: SyntheticOptions, requestBytes: number): number {
  if ((options.requests === undefined) === (options.bytes === undefined)) {
    throw new ReplayError(ReplayErrorCode.option, 'give either requests or bytes', 'requests');
  }
  if (options.requests !== undefined) return wholeOption('requests', options.requests, 1);
  return Math.ceil(wholeOption('bytes', options.bytes as number, 1) / requestBytes);
}

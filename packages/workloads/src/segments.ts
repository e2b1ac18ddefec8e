import { BlockOp } from '@flashstack/block-device';
import { exponential, type RandomSource, type RandomState, type RandomStream } from '@flashstack/sim';
import type { Operation, OperationSource } from './operation.js';
import { optionBetween, wholeOption, wrongOption } from './replay-error.js';

/** How a device is written that takes writes in order only: by segments, each from its start, released before the next time. */
export interface SegmentShape {
  /** First byte of the first segment. */
  readonly firstByte: number;
  /** From the start of a segment to that of the next. */
  readonly segmentBytes: number;
  /** Bytes of a segment that can be written, and of the last one. */
  readonly capacityBytes: number;
  readonly lastCapacityBytes: number;
  readonly count: number;
  /** Writes are multiples of this. */
  readonly alignBytes: number;
  /** The operation that releases a segment: a discard, or a reset of a zone. */
  readonly release: number;
  /** Most segments partly written at a time, 0: any number. */
  readonly mostOpen: number;
}

/**
 * Which segment is written next: the one behind the last, any, or with the probability `hotShare` one of the first
 * `hotFraction` of them. Never one that is being written.
 */
export type SegmentOrder = 'round-robin' | 'random' | 'hot-cold';

/** A log-structured workload, as plain data. */
export interface SegmentOptions {
  readonly shape: SegmentShape;
  /** Reads and writes; releases and flushes are not counted. */
  readonly requests: number;
  /** Bytes of each request; the last write of a segment may be shorter. Default 65,536. */
  readonly requestBytes?: number;
  /** Default `round-robin`. */
  readonly order?: SegmentOrder;
  /** Segments written at a time, in turn. Default 1. */
  readonly logs?: number;
  /** `hot-cold`: the hot fraction of the segments. Default 0.2. */
  readonly hotFraction?: number;
  /** `hot-cold`: the share of the segments begun that are hot. Default 0.8. */
  readonly hotShare?: number;
  /** Share of the requests that read, anywhere. Default 0. */
  readonly readShare?: number;
  /** A flush after every so many writes. Default 0: none. */
  readonly flushEvery?: number;
  /** Mean time from one arrival to the next, ns, for open loops. Default 0. */
  readonly gapNs?: number;
  /** Every gap equal, or exponentially distributed. Default `constant`. */
  readonly gaps?: 'constant' | 'exponential';
}

const NONE = -1;

/**
 * Writes segments from their start to their end, each of them released first, as a log-structured file system or a host of
 * a zoned drive does. Where the device limits how many are partly written, a pass ends with the release of those that are.
 */
export class SegmentSource implements OperationSource {
  readonly count: number;
  readonly endByte: number;
  private readonly shape: SegmentShape;
  private readonly requests: number;
  private readonly requestBytes: number;
  private readonly order: SegmentOrder;
  private readonly hotSegments: number;
  private readonly hotShare: number;
  private readonly readShare: number;
  private readonly flushEvery: number;
  private readonly gapNs: number;
  private readonly poisson: boolean;
  private readonly orderRandom: RandomStream;
  private readonly readRandom: RandomStream;
  private readonly arrivalRandom: RandomStream;
  private readonly begin: readonly RandomState[];
  /** Per log: its segment, −1: none yet; and bytes written to it. */
  private readonly segments: Int32Array;
  private readonly written: Float64Array;
  /** By segment: 1 while a log is in it. */
  private readonly open: Uint8Array;
  private readonly time = new Float64Array(1);
  private last = NONE;
  private issued = 0;
  private writes = 0;
  private flushDue = false;

  /** @throws ReplayError naming the option that is impossible. */
  constructor(options: SegmentOptions, random: RandomSource) {
    const { shape, requestBytes = 65_536, logs = 1, order = 'round-robin' } = options;
    this.shape = shape;
    this.requests = wholeOption('requests', options.requests, 1);
    this.requestBytes = wholeOption('requestBytes', requestBytes, 1);
    if (requestBytes % shape.alignBytes !== 0 || requestBytes > shape.lastCapacityBytes) {
      const expected = `a multiple of ${shape.alignBytes} up to the segment of ${shape.lastCapacityBytes} bytes`;
      throw wrongOption('requestBytes', expected, requestBytes);
    }
    const most = shape.mostOpen > 0 ? Math.min(shape.mostOpen, shape.count - 1) : shape.count - 1;
    if (!(Number.isSafeInteger(logs) && logs >= 1 && logs <= most)) {
      const why = shape.mostOpen > 0 ? `, of which the device takes ${shape.mostOpen} partly written` : '';
      throw wrongOption('logs', `a whole number from 1 to ${most}: there are ${shape.count} segments${why}`, logs);
    }
    this.order = order;
    this.hotSegments = Math.ceil(optionBetween('hotFraction', options.hotFraction ?? 0.2, 0, 1) * shape.count);
    this.hotShare = optionBetween('hotShare', options.hotShare ?? 0.8, 0, 1);
    this.readShare = optionBetween('readShare', options.readShare ?? 0, 0, 1);
    this.flushEvery = wholeOption('flushEvery', options.flushEvery ?? 0, 0);
    this.gapNs = optionBetween('gapNs', options.gapNs ?? 0, 0, Number.MAX_SAFE_INTEGER);
    this.poisson = options.gaps === 'exponential';
    this.endByte = shape.firstByte + (shape.count - 1) * shape.segmentBytes + shape.lastCapacityBytes;
    // A zone is reset as a whole, with what cannot be written of it.
    if (shape.release !== BlockOp.discard) this.endByte = shape.firstByte + shape.count * shape.segmentBytes;
    this.segments = new Int32Array(logs).fill(NONE);
    this.written = new Float64Array(logs);
    this.open = new Uint8Array(shape.count);
    this.orderRandom = random.stream('workload.order');
    this.readRandom = random.stream('workload.address');
    this.arrivalRandom = random.stream('workload.arrival');
    this.begin = [this.orderRandom, this.readRandom, this.arrivalRandom].map((stream) => stream.save());
    this.count = this.countOperations();
  }

  next(out: Operation): boolean {
    out.flags = 0;
    out.responseNs = 0;
    out.stream = 0;
    out.flow = 0;
    out.origin = 0;
    out.timeNs = this.time[0];
    if (this.flushDue) {
      this.flushDue = false;
      out.op = BlockOp.flush;
      out.offsetBytes = 0;
      out.lengthBytes = 0;
      return true;
    }
    if (this.issued === this.requests) return this.releaseRest(out);
    const log = this.writes % this.segments.length;
    if (this.segments[log] === NONE) {
      const segment = this.choose();
      this.segments[log] = segment;
      this.written[log] = 0;
      this.open[segment] = 1;
      this.release(out, segment);
      return true;
    }
    if (this.issued > 0) this.passTime();
    out.timeNs = this.time[0];
    this.issued++;
    if (this.readShare > 0 && this.readRandom.nextFloat() < this.readShare) this.read(out);
    else this.write(out, log);
    return true;
  }

  restart(): void {
    this.orderRandom.restore(this.begin[0]);
    this.readRandom.restore(this.begin[1]);
    this.arrivalRandom.restore(this.begin[2]);
    this.segments.fill(NONE);
    this.written.fill(0);
    this.open.fill(0);
    this.time[0] = 0;
    this.last = NONE;
    this.issued = 0;
    this.writes = 0;
    this.flushDue = false;
  }

  private capacityOf(segment: number): number {
    return segment === this.shape.count - 1 ? this.shape.lastCapacityBytes : this.shape.capacityBytes;
  }

  private choose(): number {
    const { order, open, orderRandom } = this;
    const { count } = this.shape;
    let segment = (this.last + 1) % count;
    if (order === 'random') segment = orderRandom.below(count);
    else if (order === 'hot-cold') segment = this.chooseByHeat();
    while (open[segment] !== 0) segment = (segment + 1) % count;
    this.last = segment;
    return segment;
  }

  private chooseByHeat(): number {
    const { hotSegments, orderRandom } = this;
    const cold = this.shape.count - hotSegments;
    const isHot = hotSegments > 0 && (cold === 0 || orderRandom.nextFloat() < this.hotShare);
    return isHot ? orderRandom.below(hotSegments) : hotSegments + orderRandom.below(cold);
  }

  private release(out: Operation, segment: number): void {
    const { shape } = this;
    out.op = shape.release;
    out.offsetBytes = shape.firstByte + segment * shape.segmentBytes;
    out.lengthBytes = shape.release === BlockOp.discard ? this.capacityOf(segment) : shape.segmentBytes;
  }

  private write(out: Operation, log: number): void {
    const { shape, segments, written } = this;
    const segment = segments[log];
    const rest = this.capacityOf(segment) - written[log];
    out.op = BlockOp.write;
    out.offsetBytes = shape.firstByte + segment * shape.segmentBytes + written[log];
    out.lengthBytes = Math.min(this.requestBytes, rest);
    written[log] += out.lengthBytes;
    if (out.lengthBytes === rest) {
      segments[log] = NONE;
      this.open[segment] = 0;
    }
    this.writes++;
    this.flushDue = this.flushEvery > 0 && this.writes % this.flushEvery === 0;
  }

  private read(out: Operation): void {
    const { shape, requestBytes, readRandom } = this;
    const segment = readRandom.below(shape.count);
    const place = readRandom.below(Math.floor(this.capacityOf(segment) / requestBytes));
    out.op = BlockOp.read;
    out.offsetBytes = shape.firstByte + segment * shape.segmentBytes + place * requestBytes;
    out.lengthBytes = requestBytes;
  }

  /** At the end of a pass: the next one begins without segments that are partly written, if their number is limited. */
  private releaseRest(out: Operation): boolean {
    if (this.shape.mostOpen === 0) return false;
    const log = this.segments.findIndex((segment) => segment !== NONE);
    if (log < 0) return false;
    this.release(out, this.segments[log]);
    this.segments[log] = NONE;
    return true;
  }

  private passTime(): void {
    this.time[0] += Math.round(this.poisson ? exponential(this.arrivalRandom, this.gapNs) : this.gapNs);
  }

  /** −1 where it depends on draws: how many writes there are, or how many of them fill a segment. */
  private countOperations(): number {
    const { shape, requests, requestBytes } = this;
    if (this.readShare > 0 || shape.capacityBytes !== shape.lastCapacityBytes) return -1;
    const perSegment = Math.ceil(shape.capacityBytes / requestBytes);
    const logs = this.segments.length;
    let count = requests + (this.flushEvery > 0 ? Math.floor(requests / this.flushEvery) : 0);
    for (let log = 0; log < logs; log++) {
      const writes = Math.floor((requests - log + logs - 1) / logs);
      count += Math.ceil(writes / perSegment);
      if (shape.mostOpen > 0 && writes % perSegment !== 0) count++;
    }
    return count;
  }
}

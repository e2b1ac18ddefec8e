import { BlockOp } from '@flashstack/block-device';
import { ByteSink } from './byte-sink.js';
import type { FormatLimits, OperationWriter, TraceFormat, WriterOptions } from './formats/format.js';
import { Operation } from './operation.js';
import type { OperationSink } from './operation-sink.js';
import { TraceError, TraceErrorCode } from './trace-error.js';

const MAX_LENGTH = 0xffffffff;
const START = 0;

/** How a trace is written. */
export interface TraceEncoderOptions extends Partial<WriterOptions> {
  /** What happens to what the format cannot hold: `count` (default) leaves out or rounds and counts, `fail` throws. */
  readonly losses?: 'count' | 'fail';
}

/** What a format could not hold of the operations written in it. */
export interface ConversionLosses {
  /** Operations left out. */
  flushes: number;
  discards: number;
  writeZeroes: number;
  /** Operations left out because, in whole sectors, they are 4 GiB or longer. */
  tooLong: number;
  /** Operations widened to whole sectors. */
  widened: number;
  /** Times rounded down to what the format resolves. */
  timesRounded: number;
  /** Times before that of the first operation, raised to it. */
  timesRaised: number;
  /** Operations whose flags (FUA, preflush, sync, read-ahead) were left out. */
  flags: number;
  /** Response times left out. */
  responses: number;
  /** Response times rounded down to what the format resolves. */
  responsesRounded: number;
}

/**
 * Writes operations in a trace format, into bytes that are taken out as they come. The first operation is at the start
 * of the format's time.
 * @throws TraceError `ERR_TRACE_WRITE` if the format is only read, or if something is lost and `losses` is `fail`.
 */
export class TraceEncoder implements OperationSink {
  readonly losses: ConversionLosses = {
    flushes: 0,
    discards: 0,
    writeZeroes: 0,
    tooLong: 0,
    widened: 0,
    timesRounded: 0,
    timesRaised: 0,
    flags: 0,
    responses: 0,
    responsesRounded: 0,
  };
  /** Operations written so far. */
  written = 0;
  private readonly format: TraceFormat;
  private readonly limits: FormatLimits;
  private readonly writer: OperationWriter;
  private readonly fails: boolean;
  private readonly sink = new ByteSink();
  private readonly copy = new Operation();
  private readonly times = new Float64Array(1);
  private given = 0;

  constructor(format: TraceFormat, options: TraceEncoderOptions = {}) {
    if (format.writer === undefined || format.limits === undefined) {
      throw new TraceError(TraceErrorCode.write, `traces of format ${format.name} are only read, not written`, [
        'Choose another format to write.',
      ]);
    }
    this.format = format;
    this.limits = format.limits;
    this.fails = options.losses === 'fail';
    this.writer = format.writer({
      iologVersion: options.iologVersion ?? 3,
      waitUnit: options.waitUnit ?? 'us',
      action: options.action ?? 'D',
    });
    this.writer.begin?.(this.sink);
  }

  /** Bytes that {@link take} would give. */
  get pendingBytes(): number {
    return this.sink.length;
  }

  /** Takes the bytes written since the last call. */
  take(): Uint8Array<ArrayBuffer> {
    return this.sink.take();
  }

  add(operation: Operation): void {
    if (this.given++ === 0) this.times[START] = operation.timeNs;
    if (!this.holds(operation.op)) return;
    const copy = this.copy;
    copy.op = operation.op;
    copy.flow = operation.flow;
    if (!this.place(operation)) return;
    copy.timeNs = this.time(operation.timeNs - this.times[START]);
    copy.flags = this.flags(operation.flags);
    copy.responseNs = this.response(operation.responseNs);
    this.written++;
    this.writer.write(copy, this.sink);
  }

  /** Writes what ends a file. */
  end(): void {
    this.writer.end?.(this.sink);
  }

  private holds(op: number): boolean {
    const { limits, losses } = this;
    if (op === BlockOp.read || op === BlockOp.write) return true;
    if (op === BlockOp.flush) {
      if (limits.flush) return true;
      losses.flushes++;
      this.lost('a flush');
    } else if (op === BlockOp.discard) {
      if (limits.discard) return true;
      losses.discards++;
      this.lost('a discard');
    } else {
      losses.writeZeroes++;
      this.lost('a write of zeroes');
    }
    return false;
  }

  /** Puts offset and length, in whole units, into the copy; false if they are too long then. */
  private place(operation: Operation): boolean {
    const copy = this.copy;
    const unit = this.limits.unitBytes;
    const start = operation.offsetBytes - (operation.offsetBytes % unit);
    const end = Math.ceil((operation.offsetBytes + operation.lengthBytes) / unit) * unit;
    if (end - start > MAX_LENGTH) {
      this.losses.tooLong++;
      this.lost('a request of 4 GiB');
      return false;
    }
    if (end - start !== operation.lengthBytes) {
      this.losses.widened++;
      this.lost('a request that is not of whole sectors');
    }
    copy.offsetBytes = start;
    copy.lengthBytes = end - start;
    return true;
  }

  private time(sinceStart: number): number {
    const { tickNs } = this.limits;
    if (sinceStart < 0) {
      this.losses.timesRaised++;
      this.lost('a time before that of the first operation');
      return 0;
    }
    if (sinceStart % tickNs !== 0) {
      this.losses.timesRounded++;
      this.lost(`a time that is not a multiple of ${tickNs} ns`);
    }
    return sinceStart;
  }

  private flags(flags: number): number {
    if (flags === 0 || this.limits.flags) return flags;
    this.losses.flags++;
    this.lost('a flag');
    return 0;
  }

  private response(responseNs: number): number {
    const { responseTickNs } = this.limits;
    if (responseNs === 0) return 0;
    if (responseTickNs === 0) {
      this.losses.responses++;
      this.lost('a response time');
    } else if (responseNs % responseTickNs !== 0) {
      this.losses.responsesRounded++;
      this.lost(`a response time that is not a multiple of ${responseTickNs} ns`);
    }
    return responseNs;
  }

  private lost(what: string): void {
    if (!this.fails) return;
    throw new TraceError(
      TraceErrorCode.write,
      `operation ${this.given}: the format ${this.format.name} cannot hold ${what}`,
      ['Choose another format, or let losses be counted.'],
    );
  }
}

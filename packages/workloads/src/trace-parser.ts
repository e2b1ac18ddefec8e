import { BlockOp } from '@flashstack/block-device';
import { BinaryRecord } from './binary-record.js';
import type {
  BinaryFormat,
  BinaryReader,
  FormatOptions,
  RequestReader,
  RowReader,
  TextFormat,
  TraceAction,
  TraceFormat,
  WaitUnit,
} from './formats/format.js';
import { traceFormats } from './formats/table.js';
import { Operation } from './operation.js';
import type { OperationSink } from './operation-sink.js';
import { hasByteOrderMark, likelyFormat, namedFormat, recogniseFormat } from './recognise.js';
import { Row } from './row.js';
import { TraceError, TraceErrorCode } from './trace-error.js';
import { VolumeSelection } from './volume-selection.js';

const NEWLINE = 10;
const RETURN = 13;
const SAMPLE_BYTES = 65536;
const MAX_LINE_BYTES = 65536;

/** How a trace is decoded, and what of it is taken. */
export interface TraceOptions {
  /** A name out of `formats`, a format itself, or `auto` (default): recognised, only if it is certain. */
  readonly format?: string | TraceFormat;
  /** Formats known by name. Default {@link traceFormats}. */
  readonly formats?: readonly TraceFormat[];
  /** What a line that cannot be read does: `fail` (default) throws, `skip` counts it and keeps the first message. */
  readonly badLines?: 'fail' | 'skip';
  /** Only requests to these volumes, by the names that the format gives them (disk, device, LUN, ASU, file). Default: all. */
  readonly volumes?: readonly string[];
  /** Only the first so many requests (of those selected). Default: all. */
  readonly limit?: number;
  /** Kernel block traces: requests as queued (`Q`) or as issued to the drive (`D`). Default `D`. */
  readonly action?: TraceAction;
  /** fio iolog version 2: the unit of its waits, needed if it has any. */
  readonly waitUnit?: WaitUnit;
}

/** What became of the lines or records of a trace. */
export interface TraceCounts {
  /** Requests taken. */
  readonly operations: number;
  /** Requests of length zero, left out. */
  readonly zeroLength: number;
  /** Lines that could not be read and were skipped because that was asked for. */
  readonly badLines: number;
  readonly firstBadLine: string | null;
  /** Requests that are neither read, write, flush nor discard, left out. */
  readonly otherRequests: number;
  readonly firstOther: string | null;
  /** Requests to volumes that were not selected. */
  readonly unselected: number;
}

/**
 * Decodes a trace pushed in chunks of any size, text or binary, and hands each operation to a sink; the trace is never
 * whole in memory. Throws {@link TraceError}.
 */
export class TraceParser {
  /** The format in use, or null as long as it has not been recognised. */
  format: TraceFormat | null = null;
  /** How the format was found: "named", or "recognised: …why". */
  evidence = '';
  /** Operations handed on so far. */
  operations = 0;
  /** True when as many have been taken as were asked for: nothing more need be pushed. */
  complete = false;
  private readonly file: string;
  private readonly formats: readonly TraceFormat[];
  private readonly skipBad: boolean;
  private readonly formatOptions: FormatOptions;
  private readonly selection: VolumeSelection | null;
  private readonly limit: number;
  private readonly sink: OperationSink;
  private readonly operation = new Operation();
  private row: Row | null = null;
  private rows: RowReader | null = null;
  private record: BinaryRecord | null = null;
  private records: BinaryReader | null = null;
  /** The reader, if it wants to know which operations are taken. */
  private listener: RequestReader | null = null;
  private pending: Uint8Array = new Uint8Array(0);
  private line = 0;
  private zeroLength = 0;
  private badLines = 0;
  private firstBadLine: string | null = null;

  /** `file` is the name that errors show. */
  constructor(file: string, options: TraceOptions, sink: OperationSink) {
    this.file = file;
    this.sink = sink;
    this.formats = options.formats ?? traceFormats;
    this.skipBad = options.badLines === 'skip';
    const respond = sink.respond === undefined ? null : sink.respond.bind(sink);
    this.formatOptions = { action: options.action ?? 'D', waitUnit: options.waitUnit ?? null, respond };
    checkChoice('action', this.formatOptions.action, ['Q', 'D']);
    if (options.waitUnit !== undefined) checkChoice('waitUnit', options.waitUnit, ['us', 'ms']);
    this.selection = options.volumes === undefined ? null : new VolumeSelection(options.volumes);
    this.limit = limitOf(options.limit);
    const given = options.format ?? 'auto';
    if (typeof given !== 'string') this.use(given, 'named');
    else if (given !== 'auto') this.use(namedFormat(given, this.formats), 'named');
  }

  /** What became of the lines or records so far. */
  get counts(): TraceCounts {
    const { operations, zeroLength, badLines, firstBadLine } = this;
    const reader = this.reader;
    return {
      operations,
      zeroLength,
      badLines,
      firstBadLine,
      otherRequests: reader?.otherRequests ?? 0,
      firstOther: reader?.firstOther ?? null,
      unselected: this.selection?.unselected ?? 0,
    };
  }

  /** How the format calls the volume of this number. */
  volumeName(flow: number): string {
    return this.reader?.volumeName?.(flow) ?? String(flow);
  }

  /** Takes the next piece. The buffer may be reused afterwards. */
  push(chunk: Uint8Array): void {
    if (this.complete) return;
    if (this.rows !== null) {
      this.pushText(chunk);
      return;
    }
    const bytes = joined(this.pending, chunk);
    if (this.format === null) {
      if (bytes.length < SAMPLE_BYTES) {
        this.pending = bytes === chunk ? bytes.slice() : bytes;
        return;
      }
      this.recognise(bytes, false);
    }
    const done = this.decode(bytes, 0, false);
    this.keep(bytes, done);
  }

  /** Only the line that is cut between two pieces is copied. */
  private pushText(chunk: Uint8Array): void {
    let start = 0;
    if (this.pending.length > 0) {
      const newline = chunk.indexOf(NEWLINE);
      const head = joined(this.pending, newline < 0 ? chunk : chunk.subarray(0, newline + 1));
      const done = this.decode(head, 0, false);
      this.keep(head, done);
      if (newline < 0) return;
      start = newline + 1;
    }
    this.keep(chunk, this.decode(chunk, start, false));
  }

  private keep(bytes: Uint8Array, from: number): void {
    if (bytes.length - from > MAX_LINE_BYTES && !this.complete && this.rows !== null) this.tooLong();
    this.pending = bytes.slice(from);
  }

  /** Decodes what is left. Throws if the trace held no operation. */
  end(): void {
    const rest = this.pending;
    if (rest.length > 0 && !this.complete) {
      if (this.format === null) this.recognise(rest, true);
      if (this.format !== null) this.decode(rest, 0, true);
      this.pending = new Uint8Array(0);
    }
    if (this.operations === 0) throw this.nothing();
    if (!this.complete) this.selection?.requireAll(this.file);
  }

  private get reader(): RequestReader | null {
    return this.rows ?? this.records;
  }

  private use(format: TraceFormat, evidence: string): void {
    this.format = format;
    this.evidence = evidence;
    const how = evidence === 'named' ? 'as named' : 'recognised';
    const hint = `${format.kind === 'text' ? 'Columns' : 'Fields'}: ${format.columns.join(',')} (format ${format.name}, ${how}).`;
    if (format.kind === 'text') {
      this.row = new Row(this.file, hint);
      this.rows = (format satisfies TextFormat).create(this.formatOptions);
    } else {
      this.record = new BinaryRecord(this.file, hint);
      this.records = (format satisfies BinaryFormat).create(this.formatOptions);
    }
    const reader = this.reader;
    this.listener = reader?.taken === undefined ? null : reader;
  }

  private recognise(bytes: Uint8Array, whole: boolean): void {
    const found = recogniseFormat(this.file, bytes, whole, this.formats);
    if (found !== null) this.use(found.format, found.evidence);
    else if (!whole) this.tooLong();
  }

  /** Decodes the complete lines or records, and with `whole` a last line without end; returns where the rest starts. */
  private decode(bytes: Uint8Array, from: number, whole: boolean): number {
    try {
      return this.rows === null ? this.decodeRecords(bytes, whole) : this.decodeLines(bytes, from, whole);
    } catch (error) {
      throw this.operations > 0 || this.evidence !== 'named' ? error : this.doubted(error, bytes);
    }
  }

  private decodeLines(bytes: Uint8Array, from: number, whole: boolean): number {
    let start = from;
    while (!this.complete) {
      const newline = bytes.indexOf(NEWLINE, start);
      if (newline < 0) break;
      this.decodeLine(bytes, start, newline);
      start = newline + 1;
    }
    if (whole && start < bytes.length && !this.complete) this.decodeLine(bytes, start, bytes.length);
    return start;
  }

  private decodeLine(bytes: Uint8Array, start: number, lineEnd: number): void {
    this.line++;
    const from = this.line === 1 && hasByteOrderMark(bytes, start) ? start + 3 : start;
    const end = lineEnd > from && bytes[lineEnd - 1] === RETURN ? lineEnd - 1 : lineEnd;
    if (end === from) return;
    if (end - from > MAX_LINE_BYTES) this.tooLong();
    if (this.skipBad) this.tryLine(bytes, from, end);
    else this.readLine(bytes, from, end);
  }

  private readLine(bytes: Uint8Array, from: number, end: number): void {
    const row = this.row as Row;
    const operation = this.operation;
    row.take(bytes, from, end, (this.format as TextFormat).separator, this.line);
    operation.responseNs = 0;
    operation.flags = 0;
    if ((this.rows as RowReader).read(row, operation)) this.take(operation);
  }

  private decodeRecords(bytes: Uint8Array, whole: boolean): number {
    const record = this.record as BinaryRecord;
    const reader = this.records as BinaryReader;
    record.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = 0;
    while (!this.complete && at < bytes.length) {
      record.at = at;
      record.available = bytes.length - at;
      record.number = this.line + 1;
      const length = reader.lengthOf(record);
      if (length === 0 || length > record.available) break;
      this.line++;
      if (this.skipBad) this.tryRecord(record);
      else this.readRecord(record);
      at += length;
    }
    if (whole && at < bytes.length && !this.complete) {
      record.at = at;
      record.fail(`the trace ends inside a record, ${bytes.length - at} bytes into it: the file is truncated`);
    }
    record.base += at;
    return at;
  }

  private readRecord(record: BinaryRecord): void {
    const operation = this.operation;
    operation.responseNs = 0;
    operation.flags = 0;
    if ((this.records as BinaryReader).read(record, operation)) this.take(operation);
  }

  private take(operation: Operation): void {
    if (operation.lengthBytes === 0 && operation.op !== BlockOp.flush) {
      this.zeroLength++;
      return;
    }
    if (this.selection !== null && !this.selection.takes(operation.flow, this)) return;
    this.sink.add(operation);
    if (this.listener !== null) this.listener.taken?.(this.operations);
    if (++this.operations === this.limit) this.complete = true;
  }

  private tryLine(bytes: Uint8Array, from: number, end: number): void {
    try {
      this.readLine(bytes, from, end);
    } catch (error) {
      this.excuse(error);
    }
  }

  private tryRecord(record: BinaryRecord): void {
    try {
      this.readRecord(record);
    } catch (error) {
      this.excuse(error);
    }
  }

  private excuse(error: unknown): void {
    if (!(error instanceof TraceError)) throw error;
    this.badLines++;
    this.firstBadLine ??= error.message;
  }

  /** A named format that fails at the first request is probably the wrong one. */
  private doubted(error: unknown, bytes: Uint8Array): unknown {
    if (!(error instanceof TraceError)) return error;
    const likely = likelyFormat(bytes, this.formats);
    if (likely === undefined || likely === this.format) return error;
    const hints = [...error.hints, `The file looks like ${likely.name} (${likely.columns.join(',')}).`];
    return new TraceError(error.code, error.message, hints, error.position);
  }

  private tooLong(): never {
    throw new TraceError(TraceErrorCode.format, `${this.file}:${this.line + 1}: no end of line in 64 KiB`, [
      'This is not a text trace.',
    ]);
  }

  private nothing(): TraceError {
    const { badLines, firstBadLine, zeroLength, unselected, otherRequests, firstOther } = this.counts;
    if (unselected > 0) return (this.selection as VolumeSelection).nothing(this.file);
    if (badLines > 0) {
      return new TraceError(TraceErrorCode.empty, `${this.file}: every line was skipped as bad (${badLines} in all)`, [
        `The first: ${firstBadLine}`,
      ]);
    }
    if (otherRequests > 0) {
      return new TraceError(
        TraceErrorCode.empty,
        `${this.file}: the trace holds no reads, writes, flushes or discards`,
        [`${otherRequests} other requests were left out; the first: ${firstOther}`],
      );
    }
    const why = zeroLength > 0 ? 'nothing but requests of length zero' : 'no requests';
    const hints =
      this.format?.name === 'blktrace' || this.format?.name === 'blkparse' ? [actionHint(this.formatOptions)] : [];
    return new TraceError(TraceErrorCode.empty, `${this.file}: the trace holds ${why}`, hints);
  }
}

function actionHint(options: FormatOptions): string {
  const other = options.action === 'D' ? 'Q' : 'D';
  return `Only requests of action ${options.action} were taken; perhaps it recorded action ${other}.`;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

function limitOf(limit: number | undefined): number {
  if (limit === undefined) return 0;
  if (Number.isSafeInteger(limit) && limit >= 1) return limit;
  throw new TraceError(TraceErrorCode.option, `limit must be a whole number of at least 1, found ${limit}`);
}

function checkChoice(name: string, value: string, choices: readonly string[]): void {
  if (choices.includes(value)) return;
  throw new TraceError(TraceErrorCode.option, `${name} must be ${choices.join(' or ')}, found "${value}"`);
}

import { nearestName } from '@flashstack/sim';
import type { RowReader, TraceFormat } from './formats/format.js';
import { traceFormats } from './formats/table.js';
import { Operation } from './operation.js';
import { latin1, Row } from './row.js';
import { type Trace, TraceBuilder } from './trace.js';
import { TraceError, TraceErrorCode } from './trace-error.js';

const NEWLINE = 10;
const RETURN = 13;
const SAMPLE_BYTES = 65536;
const SAMPLE_LINES = 32;
const MAX_LINE_BYTES = 65536;

/** How a trace is decoded. */
export interface TraceOptions {
  /** A name out of `formats`, or `auto` (default): recognised from the first lines, only if it is certain. */
  readonly format?: string;
  /** Formats known by name. Default {@link traceFormats}. */
  readonly formats?: readonly TraceFormat[];
  /** What a line that cannot be read does: `fail` (default) throws, `skip` counts it and keeps the first message. */
  readonly badLines?: 'fail' | 'skip';
}

/**
 * Decodes a text trace pushed in chunks of any size into a {@link Trace}; the text is never whole in memory.
 * Throws {@link TraceError}.
 */
export class TraceDecoder {
  /** The format in use, or null as long as it has not been recognised. */
  format: TraceFormat | null = null;
  /** How the format was found: "named", or "recognised: …why". */
  evidence = '';
  private readonly file: string;
  private readonly formats: readonly TraceFormat[];
  private readonly skipBad: boolean;
  private readonly builder = new TraceBuilder();
  private readonly operation = new Operation();
  private row: Row | null = null;
  private reader: RowReader | null = null;
  private pending: Uint8Array = new Uint8Array(0);
  private line = 0;

  /** `file` is the name that errors show. */
  constructor(file: string, options: TraceOptions = {}) {
    this.file = file;
    this.formats = options.formats ?? traceFormats;
    this.skipBad = options.badLines === 'skip';
    const name = options.format ?? 'auto';
    if (name !== 'auto') this.use(this.named(name), 'named');
  }

  /** Operations decoded so far. */
  get operations(): number {
    return this.builder.length;
  }

  /** Takes the next piece of text. The buffer may be reused afterwards. */
  push(chunk: Uint8Array): void {
    let bytes = chunk;
    if (this.pending.length > 0) {
      bytes = new Uint8Array(this.pending.length + chunk.length);
      bytes.set(this.pending);
      bytes.set(chunk, this.pending.length);
    }
    if (this.format === null) {
      if (bytes.length < SAMPLE_BYTES) {
        this.pending = bytes === chunk ? bytes.slice() : bytes;
        return;
      }
      this.recognise(bytes, false);
    }
    const done = this.lines(bytes, false);
    if (bytes.length - done > MAX_LINE_BYTES) this.tooLong();
    this.pending = bytes.slice(done);
  }

  /** Decodes what is left and returns the trace. `name` defaults to the file name without folders and endings. */
  end(name: string = traceName(this.file)): Trace {
    const rest = this.pending;
    if (rest.length > 0) {
      if (this.format === null) this.recognise(rest, true);
      this.lines(rest, true);
      this.pending = new Uint8Array(0);
    }
    if (this.builder.length === 0) throw this.nothing();
    return this.builder.build(name, this.format === null ? '' : this.format.name);
  }

  /** Decodes the complete lines, and with `whole` the last one too; returns where the incomplete one starts. */
  private lines(bytes: Uint8Array, whole: boolean): number {
    let start = 0;
    try {
      for (;;) {
        const newline = bytes.indexOf(NEWLINE, start);
        if (newline < 0) break;
        this.decode(bytes, start, newline);
        start = newline + 1;
      }
      if (whole && start < bytes.length) this.decode(bytes, start, bytes.length);
    } catch (error) {
      throw this.operations > 0 || this.evidence !== 'named' ? error : this.doubted(error, bytes);
    }
    return start;
  }

  /** A named format that fails at the first request is probably the wrong one. */
  private doubted(error: unknown, bytes: Uint8Array): unknown {
    if (!(error instanceof TraceError)) return error;
    const lines = sampleLines(bytes, true);
    const likely = this.formats.find((format) => format.recognise(lines) !== null);
    if (likely === undefined || likely === this.format) return error;
    const hints = [...error.hints, `The file looks like ${likely.name} (${likely.columns.join(',')}).`];
    return new TraceError(error.code, error.message, hints, error.position);
  }

  private decode(bytes: Uint8Array, start: number, lineEnd: number): void {
    this.line++;
    const from = this.line === 1 && hasByteOrderMark(bytes, start) ? start + 3 : start;
    const end = lineEnd > from && bytes[lineEnd - 1] === RETURN ? lineEnd - 1 : lineEnd;
    if (end === from) return;
    if (this.skipBad) this.decodeTolerant(bytes, from, end);
    else this.decodeLine(bytes, from, end);
  }

  private decodeLine(bytes: Uint8Array, from: number, end: number): void {
    const row = this.row as Row;
    const operation = this.operation;
    row.take(bytes, from, end, (this.format as TraceFormat).separator, this.line);
    if (!(this.reader as RowReader).read(row, operation)) return;
    if (operation.lengthBytes === 0) this.builder.zeroLength++;
    else this.builder.add(operation);
  }

  private decodeTolerant(bytes: Uint8Array, from: number, end: number): void {
    try {
      this.decodeLine(bytes, from, end);
    } catch (error) {
      if (!(error instanceof TraceError)) throw error;
      this.builder.badLines++;
      this.builder.firstBadLine ??= error.message;
    }
  }

  private use(format: TraceFormat, evidence: string): void {
    this.format = format;
    this.evidence = evidence;
    const how = evidence === 'named' ? 'as named' : 'recognised';
    this.row = new Row(this.file, `Columns: ${format.columns.join(',')} (format ${format.name}, ${how}).`);
    this.reader = format.create();
  }

  private named(name: string): TraceFormat {
    const found = this.formats.find((format) => format.name === name);
    if (found !== undefined) return found;
    const names = this.formats.map((format) => format.name);
    const near = nearestName(name, [...names, 'auto']);
    const hint = near === null ? '' : `Did you mean ${near}? `;
    throw new TraceError(TraceErrorCode.format, `unknown trace format "${name}"`, [
      `${hint}Known formats: ${names.join(', ')}, auto.`,
    ]);
  }

  private recognise(bytes: Uint8Array, whole: boolean): void {
    const lines = sampleLines(bytes, whole);
    if (lines.length === 0) {
      if (whole) throw this.nothing();
      this.tooLong();
    }
    const found = this.formats
      .map((format) => ({ format, why: format.recognise(lines) }))
      .filter((candidate) => candidate.why !== null);
    if (found.length === 1) {
      this.use(found[0].format, `recognised: ${found[0].why}`);
      return;
    }
    const mostly = found.length === 0 ? this.mostlyOf(lines) : null;
    if (mostly !== null) {
      this.use(mostly.format, `recognised: ${mostly.fitting} of the first ${lines.length} lines fit it and no other`);
      return;
    }
    const known = this.formats.map((format) => `${format.name} (${format.columns.join(',')})`).join(', ');
    const what = found.length === 0 ? 'no known format fits with certainty' : 'several formats fit';
    throw new TraceError(TraceErrorCode.format, `${this.file}: trace format not recognised: ${what}`, [
      `First line: ${lines[0].slice(0, 80)}`,
      `Name the format with --format. Known: ${known}.`,
    ]);
  }

  /** The only format that any line fits, if most do: then the other lines are wrong, and reading them tells how. */
  private mostlyOf(lines: readonly string[]): { format: TraceFormat; fitting: number } | null {
    const counts = this.formats
      .map((format) => ({ format, fitting: lines.filter((line) => format.recognise([line]) !== null).length }))
      .filter((count) => count.fitting > 0);
    return counts.length === 1 && counts[0].fitting * 2 > lines.length ? counts[0] : null;
  }

  private tooLong(): never {
    throw new TraceError(TraceErrorCode.format, `${this.file}:${this.line + 1}: no end of line in 64 KiB`, [
      'This is not a text trace.',
    ]);
  }

  private nothing(): TraceError {
    const { badLines, firstBadLine, zeroLength } = this.builder;
    if (badLines > 0) {
      return new TraceError(TraceErrorCode.empty, `${this.file}: every line was skipped as bad (${badLines} in all)`, [
        `The first: ${firstBadLine}`,
      ]);
    }
    const why = zeroLength > 0 ? 'nothing but requests of length zero' : 'no requests';
    return new TraceError(TraceErrorCode.empty, `${this.file}: the trace holds ${why}`);
  }
}

/** The name of a trace file without folders and the usual endings: `/tmp/web_0.msr.csv.gz` → `web_0`. */
export function traceName(file: string): string {
  const base = file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);
  const short = base.replace(/(\.(gz|csv|txt|trace|msr|mqsim))+$/i, '');
  return short === '' ? base : short;
}

function hasByteOrderMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

function sampleLines(bytes: Uint8Array, whole: boolean): string[] {
  const lines: string[] = [];
  let start = hasByteOrderMark(bytes, 0) ? 3 : 0;
  while (lines.length < SAMPLE_LINES && start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    if (newline < 0 && !whole) break;
    const lineEnd = newline < 0 ? bytes.length : newline;
    const end = lineEnd > start && bytes[lineEnd - 1] === RETURN ? lineEnd - 1 : lineEnd;
    // A longer line is no line of a trace; showing its start is enough to say so.
    if (end > start) lines.push(latin1(bytes, start, Math.min(end, start + 1024)));
    start = lineEnd + 1;
  }
  return lines;
}

import type { BinaryRecord } from '../binary-record.js';
import type { ByteSink } from '../byte-sink.js';
import type { Operation } from '../operation.js';
import type { FieldSeparator, Row } from '../row.js';

/** What a reader must be told because a trace does not say it itself. */
export interface FormatOptions {
  /** Kernel block traces: take requests as queued (Q) or as issued to the drive (D, the default). Never both. */
  readonly action: TraceAction;
  /** fio iolog version 2: the unit of its `wait` lines, which fio's versions disagree about. Null: not said. */
  readonly waitUnit: WaitUnit | null;
  /**
   * For formats that tell of completions in lines of their own: how long the operation with this number (see
   * {@link RequestReader.taken}) took. Null: nobody wants to know.
   */
  readonly respond: ((operation: number, responseNs: number) => void) | null;
}

/** An action of the kernel's block tracer that can be replayed. */
export type TraceAction = 'Q' | 'D';

/** Unit of the `wait` lines of an iolog of version 2. */
export type WaitUnit = 'us' | 'ms';

/** What readers of all formats tell about what they have read so far. */
export interface RequestReader {
  /** Requests that are neither of a kind this project knows nor an error, such as SCSI commands without data. */
  readonly otherRequests?: number;
  /** What the first of them was, or null. */
  readonly firstOther?: string | null;
  /** The operation that was read last is taken, as the one of this number; others are left out or limited away. */
  taken?(operation: number): void;
  /** How the format calls the volume with this number. Default: the number. */
  volumeName?(flow: number): string;
}

/** Turns the lines of one trace into operations; may keep state from line to line (a first timestamp, a header). */
export interface RowReader extends RequestReader {
  /**
   * Fills in op, offset, length, time and flow of `out` (flags and response time are 0 beforehand) and returns true;
   * false for a line without an operation.
   */
  read(row: Row, out: Operation): boolean;
}

/** Turns the records of one binary trace into operations. */
export interface BinaryReader extends RequestReader {
  /** Bytes of the record at the cursor, 0 if its header is not complete yet. Fails if this cannot be a record. */
  lengthOf(record: BinaryRecord): number;
  /** As {@link RowReader.read}, for the complete record at the cursor. */
  read(record: BinaryRecord, out: Operation): boolean;
}

/**
 * Writes operations in one format. Times are ns after the first operation, never negative; offsets and lengths are
 * multiples of {@link FormatLimits.unitBytes}; operations that the limits exclude never come here.
 */
export interface OperationWriter {
  begin?(sink: ByteSink): void;
  write(operation: Operation, sink: ByteSink): void;
  end?(sink: ByteSink): void;
}

/** What a format can hold. What goes beyond is rounded or left out, and counted. */
export interface FormatLimits {
  /** Offsets and lengths are multiples of this. */
  readonly unitBytes: number;
  /** Times are multiples of this, in ns. */
  readonly tickNs: number;
  readonly flush: boolean;
  readonly discard: boolean;
  /** The flags FUA, preflush and sync of a request. */
  readonly flags: boolean;
  /** Numbers of volumes. */
  readonly volumes: boolean;
  /** The recorded response time, rounded to this in ns; 0: none. */
  readonly responseTickNs: number;
}

/** How a writer is made. */
export interface WriterOptions {
  /** fio iolog: version 2 or 3. */
  readonly iologVersion: 2 | 3;
  /** fio iolog version 2: unit of its `wait` lines. */
  readonly waitUnit: WaitUnit;
  /** Kernel block traces: the action that each request is written as. */
  readonly action: TraceAction;
}

interface FormatBase {
  /** Name on the command line and in specs. */
  readonly name: string;
  /** One line: where it comes from. */
  readonly summary: string;
  /** What a reader should know before trusting the numbers: columns, units. */
  readonly facts: string;
  /** Names of the columns or fields, in order. */
  readonly columns: readonly string[];
  /** Usual ending of a file, such as `.msr.csv`. */
  readonly extension: string;
  /** What it can hold, and how it is written; absent for a format that is only read. */
  readonly limits?: FormatLimits;
  writer?(options: WriterOptions): OperationWriter;
}

/** A text format: one request a line. */
export interface TextFormat extends FormatBase {
  readonly kind: 'text';
  readonly separator: FieldSeparator;
  /** Why these first lines are certainly of this format, or null if they are not or might be another one's. */
  recognise(lines: readonly string[]): string | null;
  create(options: FormatOptions): RowReader;
}

/** A binary format: one event a record. */
export interface BinaryFormat extends FormatBase {
  readonly kind: 'binary';
  /** Why these first bytes (the whole file if `whole`) are certainly of this format, or null. */
  recognise(bytes: Uint8Array, whole: boolean): string | null;
  create(options: FormatOptions): BinaryReader;
}

/** A trace format. A new one is one file like its neighbours, added to a table. */
export type TraceFormat = TextFormat | BinaryFormat;

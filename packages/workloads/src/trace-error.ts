import { InputError } from '@flashstack/sim';

/** Stable codes of {@link TraceError}. */
export const TraceErrorCode = {
  /** The file does not exist or is none. */
  unreadable: 'ERR_TRACE_UNREADABLE',
  /** The file is there, but this machine does not let it be read: no permission, a failing disk. */
  denied: 'ERR_TRACE_DENIED',
  /** The file holds no operation. */
  empty: 'ERR_TRACE_EMPTY',
  /** The compressed stream ends early or is damaged. */
  compression: 'ERR_TRACE_COMPRESSION',
  /** No known format fits with certainty, or the named one does not fit. */
  format: 'ERR_TRACE_FORMAT',
  /** A line of a known format cannot be read. */
  line: 'ERR_TRACE_LINE',
  /** The trace has more operations than memory holds. */
  tooLarge: 'ERR_TRACE_TOO_LARGE',
  /** A volume was selected that the trace does not hold. */
  volume: 'ERR_TRACE_VOLUME',
  /** An option has an impossible value. */
  option: 'ERR_TRACE_OPTION',
  /** A trace cannot be written: the format is only read, or cannot hold what it should, or the file cannot be made. */
  write: 'ERR_TRACE_WRITE',
} as const;

/** Where in a trace file something is wrong; lines and columns count from 1, columns in bytes. */
export interface TracePosition {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The offending line, without its end, cut at 200 characters. */
  readonly text: string;
  /** First and last column (inclusive) of the offending field. */
  readonly from: number;
  readonly to: number;
}

/** A trace that cannot be read: what is wrong, where, and what to do. */
export class TraceError extends InputError {
  /** The place, when the error belongs to a line. */
  readonly position: TracePosition | null;
  /** What helps: the columns of the format, other formats, an option; one sentence each. */
  readonly hints: readonly string[];

  constructor(code: string, message: string, hints: readonly string[] = [], position: TracePosition | null = null) {
    super(code, message);
    this.name = 'TraceError';
    this.hints = hints;
    this.position = position;
  }
}

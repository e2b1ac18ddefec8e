import type { Operation } from '../operation.js';
import type { FieldSeparator, Row } from '../row.js';

/** Turns the lines of one trace into operations; may keep state from line to line (a first timestamp, a header). */
export interface RowReader {
  /** Fills in `out` (op, offset, length, time, flow) and returns true; false for a line without an operation. */
  read(row: Row, out: Operation): boolean;
}

/** A text trace format. A new one is one file like its neighbours, added to a table. */
export interface TraceFormat {
  /** Name on the command line and in specs. */
  readonly name: string;
  /** One line: where it comes from. */
  readonly summary: string;
  /** What a reader should know before trusting the numbers: columns, units. */
  readonly facts: string;
  readonly separator: FieldSeparator;
  /** Names of the columns, in order. */
  readonly columns: readonly string[];
  /** Why these first lines are certainly of this format, or null if they are not or might be another one's. */
  recognise(lines: readonly string[]): string | null;
  create(): RowReader;
}

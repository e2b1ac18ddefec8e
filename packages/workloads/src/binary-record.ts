import { TraceError, TraceErrorCode } from './trace-error.js';

/** A cursor over the records of a binary trace. */
export class BinaryRecord {
  /** The bytes at hand. */
  view: DataView = new DataView(new ArrayBuffer(0));
  /** Where the record starts in `view`. */
  at = 0;
  /** Bytes at hand from there on. */
  available = 0;
  /** Number of the record, from 1. */
  number = 0;
  /** Where `view` starts in the file, in bytes (after decompression). */
  base = 0;
  private readonly file: string;
  private readonly hint: string;

  /** `hint` is the sentence on the format that errors carry. */
  constructor(file: string, hint: string) {
    this.file = file;
    this.hint = hint;
  }

  /** Throws: the record is wrong, `message` says how. */
  fail(message: string): never {
    const where = `record ${this.number} at byte ${this.base + this.at}`;
    throw new TraceError(TraceErrorCode.line, `${this.file}: ${where}: ${message}`, [this.hint]);
  }
}

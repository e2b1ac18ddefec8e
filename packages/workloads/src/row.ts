import { TraceError, TraceErrorCode } from './trace-error.js';

const COMMA = 44;
const SPACE = 32;
const TAB = 9;
const MINUS = 45;
const ZERO = 48;
const DELETE = 127;
const NO_BREAK_SPACE = 160;
const MAX_FIELDS = 32;
const SHOWN = 200;

/** How the fields of a line are told apart: by single commas, or by runs of spaces and tabs. */
export type FieldSeparator = 'comma' | 'space';

/**
 * One line of a text trace, cut into fields without making strings. Numbers are read from the bytes; an impossible
 * one throws a {@link TraceError} with file, line and column.
 */
export class Row {
  /** Fields found; at most 32 are kept. */
  fields = 0;
  /** Number of the line, from 1. */
  line = 0;
  private bytes: Uint8Array = new Uint8Array(0);
  private start = 0;
  private end = 0;
  private readonly from = new Int32Array(MAX_FIELDS);
  private readonly to = new Int32Array(MAX_FIELDS);
  private readonly file: string;
  private readonly hint: string;

  /** `hint` is the sentence on the columns of the format that errors carry. */
  constructor(file: string, hint: string) {
    this.file = file;
    this.hint = hint;
  }

  /** Takes the line at `bytes[start … end)`, which must stay unchanged until the next one is taken. */
  take(bytes: Uint8Array, start: number, end: number, separator: FieldSeparator, line: number): void {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.line = line;
    if (separator === 'comma') this.cutAtCommas();
    else this.cutAtSpaces();
  }

  /** Throws unless there are at least `count` fields. */
  require(count: number): void {
    if (this.fields >= count) return;
    const have = `${this.fields} ${this.fields === 1 ? 'column' : 'columns'}`;
    this.failAt(this.end, this.end, `the line has ${have}, at least ${count} are needed`);
  }

  /** A whole number ≥ 0 below 2^53. `what` names the field in errors. */
  uint(field: number, what: string): number {
    return this.digits(field, this.from[field], this.to[field], what);
  }

  /** Length of a field in bytes. */
  width(field: number): number {
    return this.to[field] - this.from[field];
  }

  /** The digits from `first` up to `last` of a field as a whole number. */
  part(field: number, first: number, last: number, what: string): number {
    return this.digits(field, this.from[field] + first, this.from[field] + last, what);
  }

  /** True if the field equals `text`, which must be in lower case; the case of the field is ignored. */
  is(field: number, text: string): boolean {
    const from = this.from[field];
    if (this.to[field] - from !== text.length) return false;
    for (let i = 0; i < text.length; i++) {
      const byte = this.bytes[from + i];
      const lower = byte >= 65 && byte <= 90 ? byte + 32 : byte;
      if (lower !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  /** The field as text, for messages. */
  text(field: number): string {
    return latin1(this.bytes, this.from[field], this.to[field]);
  }

  /** Throws: the field is wrong, `message` says how. */
  fail(field: number, message: string): never {
    return this.failAt(this.from[field], this.to[field], message);
  }

  private digits(field: number, from: number, to: number, what: string): number {
    if (from >= to) this.fail(field, `${what} is empty`);
    let value = 0;
    for (let i = from; i < to; i++) {
      const digit = this.bytes[i] - ZERO;
      if (digit < 0 || digit > 9) {
        const negative = i === from && this.bytes[i] === MINUS;
        this.fail(field, negative ? `${what} is negative` : `${what} is not a whole number`);
      }
      value = value * 10 + digit;
    }
    if (value > Number.MAX_SAFE_INTEGER) this.fail(field, `${what} is too large (the limit is 2^53)`);
    return value;
  }

  private cutAtCommas(): void {
    const bytes = this.bytes;
    let count = 0;
    let from = this.start;
    for (let i = this.start; i <= this.end; i++) {
      if (i < this.end && bytes[i] !== COMMA) continue;
      if (count < MAX_FIELDS) {
        this.from[count] = from;
        this.to[count] = i;
        count++;
      }
      from = i + 1;
    }
    this.fields = count;
  }

  private cutAtSpaces(): void {
    const bytes = this.bytes;
    let count = 0;
    let i = this.start;
    while (i < this.end && count < MAX_FIELDS) {
      while (i < this.end && (bytes[i] === SPACE || bytes[i] === TAB)) i++;
      if (i === this.end) break;
      this.from[count] = i;
      while (i < this.end && bytes[i] !== SPACE && bytes[i] !== TAB) i++;
      this.to[count] = i;
      count++;
    }
    this.fields = count;
  }

  private failAt(from: number, to: number, message: string): never {
    const column = from - this.start + 1;
    throw new TraceError(TraceErrorCode.line, `${this.file}:${this.line}:${column}: ${message}`, [this.hint], {
      file: this.file,
      line: this.line,
      column,
      text: latin1(this.bytes, this.start, Math.min(this.end, this.start + SHOWN)),
      from: column,
      to: Math.max(column, to - this.start),
    });
  }
}

/**
 * Bytes as text, one character a byte; tabs and control characters, those above ASCII too, become spaces, so that a
 * message stays one line and cannot steer a terminal.
 */
export function latin1(bytes: Uint8Array, from: number, to: number): string {
  let text = '';
  for (let i = from; i < to; i++) {
    const byte = bytes[i];
    text += byte < SPACE || (byte >= DELETE && byte < NO_BREAK_SPACE) ? ' ' : String.fromCharCode(byte);
  }
  return text;
}

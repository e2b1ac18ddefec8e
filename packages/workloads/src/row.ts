import { TraceError, TraceErrorCode } from './trace-error.js';

const COMMA = 44;
const SPACE = 32;
const TAB = 9;
const MINUS = 45;
const POINT = 46;
const ZERO = 48;
const NINE = 57;
const MAX_LENGTH = 0xffffffff;
const MAX_VOLUME = 0xffffffff;
const CHUNK_DIGITS = 9;
const POWERS: readonly number[] = [1, 10, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const NUMBER = 'number';
const WHOLE = 'whole number';
const DELETE = 127;
const NO_BREAK_SPACE = 160;
const MAX_FIELDS = 32;
const SHOWN = 200;

/** How the fields of a line are told apart: by single commas, by runs of spaces and tabs, or not at all. */
export type FieldSeparator = 'comma' | 'space' | 'none';

/**
 * One line of a text trace, cut into fields without making strings. Numbers are read from the bytes; an impossible
 * one throws a {@link TraceError} with file, line and column.
 */
export class Row {
  /** Fields found; at most 32 are kept. */
  fields = 0;
  /** Number of the line, from 1. */
  line = 0;
  private bytesOfLine: Uint8Array = new Uint8Array(0);
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
    this.bytesOfLine = bytes;
    this.start = start;
    this.end = end;
    this.line = line;
    if (separator === 'comma') this.cutAtCommas();
    else if (separator === 'space') this.cutAtSpaces();
    else this.keepWhole();
  }

  /** Throws unless there are at least `count` fields. */
  require(count: number): void {
    if (this.fields >= count) return;
    const have = `${this.fields} ${this.fields === 1 ? 'column' : 'columns'}`;
    this.failAt(this.end, this.end, `the line has ${have}, at least ${count} are needed`);
  }

  /** A whole number ≥ 0 below 2^53. `what` names the field in errors. */
  uint(field: number, what: string): number {
    return this.digits(field, this.from[field], this.to[field], what, WHOLE);
  }

  /** The number of a volume: below 2^32, as a trace keeps it; cut to that, two volumes would become one. */
  volume(field: number, what: string): number {
    const value = this.uint(field, what);
    if (value > MAX_VOLUME) this.fail(field, `${what} is too large (the limit is 2^32)`);
    return value;
  }

  /** A whole number ≥ 0 in units of `unitBytes`, as bytes below 2^53. */
  bytes(field: number, what: string, unitBytes: number): number {
    const value = this.uint(field, what) * unitBytes;
    if (value > Number.MAX_SAFE_INTEGER) this.fail(field, `${what} is too large (the limit is 2^53 bytes)`);
    return value;
  }

  /** A length in units of `unitBytes`, as bytes below 4 GiB. */
  length(field: number, what: string, unitBytes: number): number {
    const value = this.uint(field, what) * unitBytes;
    if (value > MAX_LENGTH) this.fail(field, tooLong(what));
    return value;
  }

  /** The digits before the point of a decimal number ≥ 0, below 2^53. */
  integerPart(field: number, what: string): number {
    const point = this.pointOf(field);
    return this.digits(field, this.from[field], point, what, NUMBER);
  }

  /** The first `digits` digits after the point of a decimal number, 0 if there is no point; the rest is cut off. */
  fractionPart(field: number, digits: number, what: string): number {
    const point = this.pointOf(field);
    const to = this.to[field];
    if (point === to) return 0;
    const last = Math.min(to, point + 1 + digits);
    for (let i = last; i < to; i++) {
      if (this.bytesOfLine[i] < ZERO || this.bytesOfLine[i] > NINE) this.fail(field, `${what} is not a number`);
    }
    let value = last > point + 1 ? this.digits(field, point + 1, last, what, NUMBER) : 0;
    for (let i = last - point - 1; i < digits; i++) value *= 10;
    return value;
  }

  /** The byte of a field of one character, otherwise 0. */
  letter(field: number): number {
    return this.to[field] - this.from[field] === 1 ? this.bytesOfLine[this.from[field]] : 0;
  }

  /** The byte at a position of a field, 0 beyond its end. */
  byteAt(field: number, index: number): number {
    const at = this.from[field] + index;
    return at < this.to[field] ? this.bytesOfLine[at] : 0;
  }

  /** Length of a field in bytes. */
  width(field: number): number {
    return this.to[field] - this.from[field];
  }

  /** The digits from `first` up to `last` of a field as a whole number. */
  part(field: number, first: number, last: number, what: string): number {
    return this.digits(field, this.from[field] + first, this.from[field] + last, what, WHOLE);
  }

  /** True if the field equals `text`, which must be in lower case; the case of the field is ignored. */
  is(field: number, text: string): boolean {
    const from = this.from[field];
    if (this.to[field] - from !== text.length) return false;
    for (let i = 0; i < text.length; i++) {
      const byte = this.bytesOfLine[from + i];
      const lower = byte >= 65 && byte <= 90 ? byte + 32 : byte;
      if (lower !== text.charCodeAt(i)) return false;
    }
    return true;
  }

  /** True if the field equals `text` exactly. */
  equals(field: number, text: string): boolean {
    const from = this.from[field];
    if (this.to[field] - from !== text.length) return false;
    for (let i = 0; i < text.length; i++) if (this.bytesOfLine[from + i] !== text.charCodeAt(i)) return false;
    return true;
  }

  /** The whole line as text, without spaces at its ends. */
  wholeText(): string {
    return latin1(this.bytesOfLine, this.start, this.end).trim();
  }

  /** The field as text, for messages. */
  text(field: number): string {
    return latin1(this.bytesOfLine, this.from[field], this.to[field]);
  }

  /** Throws: the field is wrong, `message` says how. */
  fail(field: number, message: string): never {
    return this.failAt(this.from[field], this.to[field], message);
  }

  private digits(field: number, from: number, to: number, what: string, kind: string): number {
    if (from >= to) this.fail(field, `${what} is empty`);
    const bytes = this.bytesOfLine;
    let value = 0;
    for (let start = from; start < to; start += CHUNK_DIGITS) {
      // Nine digits fit an integer of 32 bits, which is faster to sum up than a double.
      const end = Math.min(to, start + CHUNK_DIGITS);
      let part = 0;
      for (let i = start; i < end; i++) {
        const digit = bytes[i] - ZERO;
        if (digit < 0 || digit > 9) this.notDigits(field, i === from && bytes[i] === MINUS, what, kind);
        part = (part * 10 + digit) | 0;
      }
      value = start === from ? part : value * POWERS[end - start] + part;
    }
    if (value > Number.MAX_SAFE_INTEGER) this.fail(field, `${what} is too large (the limit is 2^53)`);
    return value;
  }

  private notDigits(field: number, negative: boolean, what: string, kind: string): never {
    return this.fail(field, negative ? `${what} is negative` : `${what} is not a ${kind}`);
  }

  private pointOf(field: number): number {
    const to = this.to[field];
    for (let i = this.from[field]; i < to; i++) if (this.bytesOfLine[i] === POINT) return i;
    return to;
  }

  private keepWhole(): void {
    this.from[0] = this.start;
    this.to[0] = this.end;
    this.fields = 1;
  }

  private cutAtCommas(): void {
    const { bytesOfLine, end, from, to } = this;
    let count = 0;
    from[0] = this.start;
    for (let i = this.start; i < end; i++) {
      if (bytesOfLine[i] !== COMMA) continue;
      to[count++] = i;
      if (count === MAX_FIELDS) {
        this.fields = count;
        return;
      }
      from[count] = i + 1;
    }
    to[count] = end;
    this.fields = count + 1;
  }

  private cutAtSpaces(): void {
    const { bytesOfLine, end, from, to } = this;
    let count = 0;
    let i = this.start;
    while (i < end && count < MAX_FIELDS) {
      while (i < end && (bytesOfLine[i] === SPACE || bytesOfLine[i] === TAB)) i++;
      if (i === end) break;
      from[count] = i;
      while (i < end && bytesOfLine[i] !== SPACE && bytesOfLine[i] !== TAB) i++;
      to[count] = i;
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
      text: latin1(this.bytesOfLine, this.start, Math.min(this.end, this.start + SHOWN)),
      from: column,
      to: Math.max(column, to - this.start),
    });
  }
}

function tooLong(what: string): string {
  return what.endsWith('s') ? `${what} make 4 GiB or more` : `${what} is 4 GiB or more`;
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

import { nearestName } from '@flashstack/sim';
import type { TextFormat, TraceFormat } from './formats/format.js';
import { latin1 } from './row.js';
import { StraceLine } from './strace/strace-line.js';
import { TraceError, TraceErrorCode } from './trace-error.js';

const NEWLINE = 10;
const RETURN = 13;
const SAMPLE_LINES = 32;
const SHOWN = 1024;

/** A format and why it is the one. */
export interface Recognised {
  readonly format: TraceFormat;
  /** "named", or "recognised: " and why. */
  readonly evidence: string;
}

/** The format of this name. Throws {@link TraceError} with the nearest one. */
export function namedFormat(name: string, formats: readonly TraceFormat[]): TraceFormat {
  const found = formats.find((format) => format.name === name);
  if (found !== undefined) return found;
  const names = formats.map((format) => format.name);
  const near = nearestName(name, [...names, 'auto']);
  const hint = near === null ? '' : `Did you mean ${near}? `;
  throw new TraceError(TraceErrorCode.format, `unknown trace format "${name}"`, [
    `${hint}Known formats: ${names.join(', ')}, auto.`,
  ]);
}

/**
 * The only format that the first bytes of a file fit, or null if they hold nothing yet. Throws {@link TraceError} if
 * none fits or more than one: then it says which, and leaves the choice to the user.
 */
export function recogniseFormat(
  file: string,
  bytes: Uint8Array,
  whole: boolean,
  formats: readonly TraceFormat[],
): Recognised | null {
  const lines = sampleLines(bytes, whole);
  const found = formats
    .map((format) => ({ format, why: certain(format, bytes, lines, whole) }))
    .filter((candidate) => candidate.why !== null);
  if (found.length === 1) return { format: found[0].format, evidence: `recognised: ${found[0].why}` };
  if (found.length === 0 && lines.length === 0) return null;
  const mostly = found.length === 0 ? mostlyOf(lines, formats) : null;
  if (mostly !== null) {
    const evidence = `recognised: ${mostly.fitting} of the first ${lines.length} lines fit it and no other`;
    return { format: mostly.format, evidence };
  }
  const known = formats.map((format) => `${format.name} (${format.columns.join(',')})`).join(', ');
  const what =
    found.length === 0
      ? 'no known format fits with certainty'
      : `several formats fit: ${found.map(({ format, why }) => `${format.name} (${why})`).join(' and ')}`;
  const hints = [`First line: ${(lines[0] ?? '').slice(0, 80)}`];
  if (found.length === 0) hints.push(...partly(lines, formats));
  if (lines.length > 0 && isStrace(lines[0])) hints.unshift(STRACE);
  hints.push(`Name the format with --format. Known: ${known}.`);
  throw new TraceError(TraceErrorCode.format, `${file}: trace format not recognised: ${what}`, hints);
}

const STRACE =
  'It looks like text of strace, a trace of system calls: those run on a file system. Read it with readStrace; in a spec, add a system.';

function isStrace(line: string): boolean {
  const parts = new StraceLine();
  parts.take(line);
  return parts.kind === 'call' || parts.kind === 'begin';
}

/** The only format other than `format` that the first lines fit: what a file named wrongly probably is. */
export function likelyFormat(bytes: Uint8Array, formats: readonly TraceFormat[]): TraceFormat | undefined {
  const lines = sampleLines(bytes, true);
  return formats.find((format) => certain(format, bytes, lines, false) !== null);
}

function certain(format: TraceFormat, bytes: Uint8Array, lines: readonly string[], whole: boolean): string | null {
  return format.kind === 'text' ? format.recognise(lines) : format.recognise(bytes, whole);
}

interface Fitting {
  readonly format: TextFormat;
  readonly fitting: number;
}

function fittings(lines: readonly string[], formats: readonly TraceFormat[]): Fitting[] {
  return formats
    .filter((format) => format.kind === 'text')
    .map((format) => ({ format, fitting: lines.filter((line) => format.recognise([line]) !== null).length }))
    .filter((count) => count.fitting > 0);
}

/** The only format that any line fits, if most do: then the other lines are wrong, and reading them tells how. */
function mostlyOf(lines: readonly string[], formats: readonly TraceFormat[]): Fitting | null {
  const counts = fittings(lines, formats);
  return counts.length === 1 && counts[0].fitting * 2 > lines.length ? counts[0] : null;
}

/** The formats that some of the lines fit, to choose from. */
function partly(lines: readonly string[], formats: readonly TraceFormat[]): string[] {
  const counts = fittings(lines, formats);
  if (counts.length === 0) return [];
  const each = counts.map(({ format, fitting }) => `${format.name} (${fitting} of ${lines.length} lines)`);
  return [`Candidates: ${each.join(', ')}.`];
}

/** True if a byte order mark of UTF-8 stands there. */
export function hasByteOrderMark(bytes: Uint8Array, at: number): boolean {
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
    if (end > start) lines.push(latin1(bytes, start, Math.min(end, start + SHOWN)));
    start = lineEnd + 1;
  }
  return lines;
}

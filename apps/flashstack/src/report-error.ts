import { SpecError } from '@flashstack/experiment';
import { HostError } from '@flashstack/experiment/node';
import { InputError, SimulationError } from '@flashstack/sim';
import { TraceError, TraceErrorCode, type TracePosition } from '@flashstack/workloads';
import { CommanderError } from 'commander';
import { ExitCode } from './exit-code.js';
import { type Style, wrap } from './terminal.js';

const LIMIT = 80;
const INDENT = 3;
const SHOWN = LIMIT - INDENT;

/** An input error with what to do about it, for the command line's own options. */
export class UsageError extends InputError {
  readonly hints: readonly string[];

  constructor(message: string, hints: readonly string[] = []) {
    super('ERR_USAGE', message);
    this.name = 'UsageError';
    this.hints = hints;
  }
}

// A trace that this machine does not let be read or written, though the command is right.
const hostFailures: readonly string[] = [TraceErrorCode.denied, TraceErrorCode.write];

/** The exit code that belongs to an error. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.done : ExitCode.usage;
  if (error instanceof TraceError && hostFailures.includes(error.code)) return ExitCode.failure;
  if (error instanceof InputError) return ExitCode.usage;
  if (error instanceof RangeError && 'code' in error) return ExitCode.usage;
  return ExitCode.failure;
}

/** An error as one paragraph without a stack trace: what is wrong, where, and what to do. */
export function describeError(error: unknown, style: Style): string {
  const message = visible(error instanceof Error ? error.message : String(error));
  const [headline, ...more] = message.split('\n');
  const known = error instanceof InputError || error instanceof HostError || error instanceof CommanderError;
  // A long path would leave the word alone on its line.
  const lines = wrap(`error:\u00a0${lowerFirst(headline)}`, SHOWN);
  const text = lines.map((line, index) => (index === 0 ? line : `${' '.repeat(INDENT)}${line.trimStart()}`));
  text[0] = text[0].replace(/^error:\u00a0/, `${style.tone('bad', 'error')}: `);
  if (error instanceof TraceError && error.position !== null) text.push(...excerpt(error.position, style));
  if (error instanceof SpecError) text.push(...specExcerpt(error, style));
  for (const hint of [...more, ...hintsOf(error).map(visible)]) text.push(...indented(hint));
  if (!known && !(error instanceof SimulationError)) {
    text.push(...indented('This is a defect of flashstack. --debug shows where it happened.'));
  }
  return `${style.plain(text.join('\n'))}\n`;
}

function hintsOf(error: unknown): readonly string[] {
  if (error instanceof SpecError) return error.hints;
  if (error instanceof TraceError || error instanceof HostError || error instanceof UsageError) return error.hints;
  return [];
}

function indented(text: string): string[] {
  return wrap(text, SHOWN).map((line) => ' '.repeat(INDENT) + line);
}

/** The offending line with the field in bold and a caret under it; a long line is cut around the field. */
function excerpt(position: TracePosition, style: Style): string[] {
  const start = position.to <= SHOWN ? 0 : Math.max(0, position.from - 20);
  const shown = position.text.slice(start, start + SHOWN);
  const from = position.from - 1 - start;
  const to = Math.min(shown.length, position.to - start);
  const line = `${shown.slice(0, from)}${style.tone('strong', shown.slice(from, to))}${shown.slice(to)}`;
  const caret = `${' '.repeat(from)}${style.tone('bad', '^'.repeat(Math.max(1, to - from)))}`;
  return [' '.repeat(INDENT) + line, ' '.repeat(INDENT) + caret];
}

/** The line of a spec with the one above it, a caret, and what was probably meant. */
function specExcerpt({ position, meant }: SpecError, style: Style): string[] {
  if (position === null) return meant === '' ? [] : indented(`Did you mean ${meant}?`);
  const { line, from, to } = position;
  const [text, before] = [visible(position.text), position.before === null ? null : visible(position.before)];
  const digits = String(line).length;
  const cut = (shown: string): string => shown.slice(0, SHOWN - digits - INDENT);
  const row = (label: string, shown: string): string =>
    `${' '.repeat(INDENT)}${label.padStart(digits)} │ ${shown}`.trimEnd();
  const last = Math.min(to, SHOWN - digits - INDENT);
  const caret = `${' '.repeat(from - 1)}${style.tone('bad', '^'.repeat(Math.max(1, last - from + 1)))}`;
  const hint = meant === '' ? '' : `  did you mean ${style.tone('strong', meant)}?`;
  return [
    ...(before === null ? [] : [row(String(line - 1), cut(before))]),
    row(String(line), cut(text)),
    row('', `${caret}${hint}`),
  ];
}

/** Without the control characters that a file may hold: they would move the cursor, or colour the terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '?');
}

/** Messages of the packages begin with a capital; after `error:` they go on in small letters, names excepted. */
function lowerFirst(text: string): string {
  return /^[A-Z][a-z]+ /.test(text) ? text[0].toLowerCase() + text.slice(1) : text;
}

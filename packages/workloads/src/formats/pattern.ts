import { BlockOp } from '@flashstack/block-device';
import { InputError, nearestName } from '@flashstack/sim';
import type { Operation } from '../operation.js';
import type { Row } from '../row.js';
import type { RowReader, TextFormat } from './format.js';

/** A line format of the user's own. */
export interface PatternOptions {
  /**
   * A regular expression with named groups: `op`, `offset` and `length` are needed; `time` and `volume` may be there.
   * It must match the line from its first character on.
   */
  readonly pattern: string | RegExp;
  /** Unit of `time`. Default `ns`. Decimal fractions are read to the nanosecond. */
  readonly timeUnit?: PatternTimeUnit;
  /** Bytes of the unit that `offset` counts in. Default 1; 512 for sectors. */
  readonly offsetUnitBytes?: number;
  /** Bytes of the unit that `length` counts in. Default 1. */
  readonly lengthUnitBytes?: number;
  /**
   * Words that the group `op` matches, for each kind; case does not matter. Default: `r`, `read` | `w`, `write` | `f`,
   * `flush`, `sync` | `d`, `discard`, `trim`. Numbers have no default, because formats disagree: `{ read: ['1'], … }`.
   */
  readonly words?: PatternWords;
  /** Lines that match this are no requests: headers and comments. */
  readonly ignore?: string | RegExp;
}

/** Units of time that a pattern may name. */
export type PatternTimeUnit = 's' | 'ms' | 'us' | '100ns' | 'ns';

/** Words for each kind of operation. */
export interface PatternWords {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly flush?: readonly string[];
  readonly discard?: readonly string[];
}

const defaultWords: Required<PatternWords> = {
  read: ['r', 'read'],
  write: ['w', 'write'],
  flush: ['f', 'flush', 'sync'],
  discard: ['d', 'discard', 'trim'],
};
const timeUnits: Readonly<Record<PatternTimeUnit, number>> = { s: 1e9, ms: 1e6, us: 1e3, '100ns': 100, ns: 1 };
const groups: readonly string[] = ['time', 'op', 'offset', 'length', 'volume'];
const MAX_LENGTH = 0xffffffff;

/**
 * A trace format from a regular expression. It is not recognised, only used by name (`pattern`). Lines that do not match
 * are bad lines: an error, or skipped and counted.
 * @throws InputError `ERR_TRACE_PATTERN` if the expression or an option is impossible.
 */
export function patternFormat(options: PatternOptions): TextFormat {
  const pattern = expression('pattern', options.pattern);
  const ignore = options.ignore === undefined ? null : expression('ignore', options.ignore);
  checkGroups(pattern);
  const timeUnit = options.timeUnit ?? 'ns';
  if (timeUnits[timeUnit] === undefined) {
    throw wrong('timeUnit', `"${timeUnit}" is no unit of time; there are ${Object.keys(timeUnits).join(', ')}`);
  }
  const offsetUnit = unitBytes('offsetUnitBytes', options.offsetUnitBytes ?? 1);
  const lengthUnit = unitBytes('lengthUnitBytes', options.lengthUnitBytes ?? 1);
  const words = wordTable(options.words ?? {});
  return {
    kind: 'text',
    name: 'pattern',
    summary: 'a line format of your own, by regular expression',
    facts: `times in ${timeUnit}, offsets in ${offsetUnit} B, lengths in ${lengthUnit} B`,
    separator: 'none',
    columns: [pattern.source],
    extension: '.txt',
    recognise: () => null,
    create: () => new PatternReader(pattern, ignore, timeUnits[timeUnit], offsetUnit, lengthUnit, words),
  };
}

class PatternReader implements RowReader {
  private readonly pattern: RegExp;
  private readonly ignore: RegExp | null;
  private readonly timeUnitNs: number;
  private readonly offsetUnit: number;
  private readonly lengthUnit: number;
  private readonly words: ReadonlyMap<string, number>;
  private readonly volumes = new Map<string, number>();
  private readonly names: string[] = [];
  private first: bigint | null = null;

  constructor(
    pattern: RegExp,
    ignore: RegExp | null,
    timeUnitNs: number,
    offsetUnit: number,
    lengthUnit: number,
    words: ReadonlyMap<string, number>,
  ) {
    this.pattern = pattern;
    this.ignore = ignore;
    this.timeUnitNs = timeUnitNs;
    this.offsetUnit = offsetUnit;
    this.lengthUnit = lengthUnit;
    this.words = words;
  }

  volumeName(flow: number): string {
    return this.names[flow] ?? String(flow);
  }

  read(row: Row, out: Operation): boolean {
    const line = row.text(0);
    const found = this.pattern.exec(line)?.groups;
    if (found === undefined) {
      if (this.ignore?.test(line)) return false;
      return row.fail(0, 'the line does not match the pattern');
    }
    const word = found.op ?? '';
    const op = this.words.get(word.toLowerCase());
    if (op === undefined) {
      row.fail(0, `op is "${word}", which is none of the words ${[...this.words.keys()].join(', ')}`);
    }
    out.op = op;
    out.timeNs = found.time === undefined ? 0 : this.time(row, found.time);
    out.flow = found.volume === undefined ? 0 : this.volume(found.volume);
    out.offsetBytes = op === BlockOp.flush ? 0 : whole(row, 'offset', found.offset, this.offsetUnit);
    out.lengthBytes = op === BlockOp.flush ? 0 : whole(row, 'length', found.length, this.lengthUnit);
    if (out.lengthBytes > MAX_LENGTH) row.fail(0, 'length is 4 GiB or more');
    return true;
  }

  /** Exact for any number of digits: this path is slow anyway, because it goes through strings. */
  private time(row: Row, text: string): number {
    const found = /^(\d+)(?:\.(\d*))?$/.exec(text);
    if (found === null) row.fail(0, `time is not a number ≥ 0 but "${text}"`);
    const fraction = Math.floor(Number(`0.${found[2] || '0'}`) * this.timeUnitNs + 1e-6);
    const ns = BigInt(found[1]) * BigInt(this.timeUnitNs) + BigInt(fraction);
    this.first ??= ns;
    const relative = Number(ns - this.first);
    if (!Number.isSafeInteger(relative)) row.fail(0, 'time is more than 104 days from that of the first line');
    return relative;
  }

  private volume(name: string): number {
    const known = this.volumes.get(name);
    if (known !== undefined) return known;
    const flow = this.names.push(name) - 1;
    this.volumes.set(name, flow);
    return flow;
  }
}

function whole(row: Row, what: string, text: string | undefined, unit: number): number {
  if (text === undefined || !/^\d+$/.test(text)) row.fail(0, `${what} is not a whole number ≥ 0 but "${text ?? ''}"`);
  const value = Number(text) * unit;
  if (!Number.isSafeInteger(value)) row.fail(0, `${what} is too large (the limit is 2^53 bytes)`);
  return value;
}

function expression(key: string, given: string | RegExp): RegExp {
  try {
    const source = typeof given === 'string' ? given : given.source;
    const flags = typeof given === 'string' ? '' : given.flags.replace(/[gy]/g, '');
    return new RegExp(`^(?:${source})`, flags);
  } catch (error) {
    throw wrong(key, `is no regular expression: ${(error as Error).message}`);
  }
}

function checkGroups(pattern: RegExp): void {
  const named = [...pattern.source.matchAll(/\(\?<([A-Za-z_]\w*)>/g)].map((match) => match[1]);
  for (const name of named) {
    if (groups.includes(name)) continue;
    const near = nearestName(name, groups);
    const hint = near === null ? '' : ` Did you mean ${near}?`;
    throw wrong('pattern', `has a group "${name}"; known groups are ${groups.join(', ')}.${hint}`);
  }
  for (const name of ['op', 'offset', 'length']) {
    if (!named.includes(name)) throw wrong('pattern', `has no group (?<${name}>…)`);
  }
}

function unitBytes(key: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw wrong(key, `must be a whole number of at least 1, found ${value}`);
}

function wordTable(given: PatternWords): ReadonlyMap<string, number> {
  const table = new Map<string, number>();
  for (const kind of ['read', 'write', 'flush', 'discard'] as const) {
    for (const word of given[kind] ?? defaultWords[kind]) {
      const lower = word.toLowerCase();
      if (table.has(lower)) throw wrong('words', `the word "${word}" stands for two kinds of operation`);
      table.set(lower, BlockOp[kind]);
    }
  }
  return table;
}

function wrong(key: string, what: string): InputError {
  return new InputError('ERR_TRACE_PATTERN', key === 'pattern' ? `the pattern ${what}` : `${key}: ${what}`, key);
}

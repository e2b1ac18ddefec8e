import { nearestName } from '@flashstack/sim';

/** Least and largest value of a number; whole unless `real`. */
export type Range = readonly [min: number, max: number, kind?: 'real'];

/** Collects what is wrong, so that a user sees all of it at once. */
export class Findings {
  readonly lines: string[] = [];
  firstKey = '';

  add(key: string, message: string): void {
    if (this.lines.length === 0) this.firstKey = key;
    this.lines.push(`${key}: ${message}`);
  }

  /** True if `value` is an object; says which of the `required` keys it lacks, and which it has that nobody knows. */
  keys(
    path: string,
    value: unknown,
    required: readonly string[],
    optional: readonly string[] = [],
  ): value is Record<string, unknown> {
    const known = [...required, ...optional];
    if (typeof value !== 'object' || value === null) {
      this.add(path, `expected an object, found ${show(value)}`);
      return false;
    }
    const prefix = path === '' ? '' : `${path}.`;
    for (const key of required) if (!(key in value)) this.add(`${prefix}${key}`, 'is missing');
    for (const key of Object.keys(value)) {
      if (known.includes(key)) continue;
      const nearest = nearestName(key, known);
      this.add(
        `${prefix}${key}`,
        nearest === null ? `unknown key; known are ${known.join(', ')}` : `unknown key; did you mean ${nearest}?`,
      );
    }
    return true;
  }

  /** As `keys`, with ranges for the numbers among the keys. */
  section(
    path: string,
    value: unknown,
    ranges: Record<string, Range>,
    others: readonly string[],
    optionalRanges: Record<string, Range> = {},
    optional: readonly string[] = [],
  ): boolean {
    const required = [...Object.keys(ranges), ...others];
    if (!this.keys(path, value, required, [...Object.keys(optionalRanges), ...optional])) return false;
    for (const [key, range] of Object.entries({ ...ranges, ...optionalRanges }))
      if (key in value) this.number(`${path}.${key}`, value[key], range);
    return true;
  }

  number(key: string, value: unknown, [min, max, kind]: Range): void {
    const fits =
      typeof value === 'number' && value >= min && value <= max && (kind === 'real' || Number.isInteger(value));
    if (fits) return;
    this.add(
      key,
      `expected ${kind === 'real' ? 'a number' : 'an integer'} from ${min} to ${max}, found ${show(value)}`,
    );
  }

  oneOf(key: string, value: unknown, allowed: readonly string[]): void {
    if (allowed.includes(value as string)) return;
    const nearest = typeof value === 'string' ? nearestName(value, allowed) : null;
    const hint = nearest === null ? '' : `; did you mean ${nearest}?`;
    this.add(key, `expected one of ${allowed.join(', ')}, found ${show(value)}${hint}`);
  }

  /** `undefined` stands for a default. */
  optionalFlag(key: string, value: unknown): void {
    if (value !== undefined) this.flag(key, value);
  }

  flag(key: string, value: unknown): void {
    if (typeof value !== 'boolean') this.add(key, `expected true or false, found ${show(value)}`);
  }
}

/** A value as a message quotes it. */
export function show(value: unknown): string {
  return value === undefined ? 'nothing' : (JSON.stringify(value) ?? String(value));
}

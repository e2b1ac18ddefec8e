import { InputError } from './errors.js';

/** A value of a parameter. */
export type ParameterValue = number | boolean | string;

/** Resolved parameters of a strategy: each one of its table, by name. */
export type ParameterValues = Readonly<Record<string, ParameterValue>>;

/** One parameter of a strategy: its documentation and what checks a user's value. */
export interface Parameter {
  readonly name: string;
  readonly type: 'number' | 'integer' | 'boolean' | 'enum' | 'string';
  /** Such as `ns`, `bytes`, `blocks`; absent for a pure number. */
  readonly unit?: string;
  readonly default: ParameterValue;
  /** Least value of a number, inclusive. */
  readonly min?: number;
  /** Greatest value of a number, inclusive. */
  readonly max?: number;
  /** The choices of an `enum`. */
  readonly values?: readonly string[];
  /** One sentence. */
  readonly help: string;
}

/** The parameters of a strategy, in the order in which they are shown. */
export type ParameterTable = readonly Parameter[];

/** How any strategy of any layer is named, described and made; looked up in tables that are passed in. */
export interface StrategyKind<T> {
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  readonly parameters: ParameterTable;
  /** Makes one from resolved parameters (see `resolveParameters`). */
  create(parameters: ParameterValues): T;
}

/**
 * The kind of this name. `what` says what is looked up, such as `victim policy`.
 * @throws InputError `ERR_UNKNOWN_NAME` with the nearest known name.
 */
export function lookupStrategy<K extends { readonly name: string }>(
  table: readonly K[],
  name: string,
  what = 'strategy',
): K {
  for (const kind of table) if (kind.name === name) return kind;
  throw unknownName(
    what,
    name,
    table.map((kind) => kind.name),
  );
}

/**
 * The values of all parameters of a kind: those given, checked, and the defaults of the others.
 * @throws InputError `ERR_UNKNOWN_NAME`, `ERR_PARAMETER_TYPE` or `ERR_PARAMETER_RANGE`, naming the parameter.
 */
export function resolveParameters(
  kind: Pick<StrategyKind<unknown>, 'name' | 'parameters'>,
  given: Readonly<Record<string, unknown>> = {},
): ParameterValues {
  const names = kind.parameters.map((parameter) => parameter.name);
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) throw unknownName(`parameter of ${kind.name}`, name, names);
  }
  const values: Record<string, ParameterValue> = {};
  for (const parameter of kind.parameters) {
    const value = given[parameter.name];
    values[parameter.name] = value === undefined ? parameter.default : checkValue(kind.name, parameter, value);
  }
  return values;
}

/**
 * What was probably meant by `name`: the shortest candidate that begins with it, else the one with the least edit distance;
 * null if none is near enough.
 */
export function nearestName(name: string, candidates: readonly string[]): string | null {
  let nearest = name.length < 4 ? null : shortestWith(name.toLowerCase(), candidates);
  if (nearest !== null) return nearest;
  // Any two names of three letters are three edits apart at most: one is all that can pass for a slip there.
  let least = name.length < 4 ? 1 : Math.max(2, Math.floor(name.length / 2));
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < least || (distance === least && nearest === null)) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

function shortestWith(prefix: string, candidates: readonly string[]): string | null {
  let shortest: string | null = null;
  for (const candidate of candidates) {
    if (!candidate.toLowerCase().startsWith(prefix)) continue;
    if (shortest === null || candidate.length < shortest.length) shortest = candidate;
  }
  return shortest;
}

/** The error for a name that is not in a table: says what is known, and what was probably meant. */
export function unknownName(what: string, name: string, known: readonly string[]): InputError {
  const nearest = nearestName(name, known);
  const hint = nearest === null ? '' : ` Did you mean "${nearest}"?`;
  const list = known.length === 0 ? 'There are none.' : `Known: ${known.join(', ')}.`;
  return new InputError('ERR_UNKNOWN_NAME', `Unknown ${what} "${name}".${hint} ${list}`, what);
}

function checkValue(kind: string, parameter: Parameter, value: unknown): ParameterValue {
  const key = `${kind}.${parameter.name}`;
  const expected = describeParameter(parameter);
  const found = typeof value === 'string' ? `"${value}"` : String(value);
  const wrong = (code: string): InputError => new InputError(code, `${key} is ${found}, expected ${expected}.`, key);
  switch (parameter.type) {
    case 'number':
    case 'integer': {
      if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong('ERR_PARAMETER_TYPE');
      if (parameter.type === 'integer' && !Number.isSafeInteger(value)) throw wrong('ERR_PARAMETER_TYPE');
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = parameter;
      if (value < min || value > max) throw wrong('ERR_PARAMETER_RANGE');
      return value;
    }
    case 'boolean':
      if (typeof value !== 'boolean') throw wrong('ERR_PARAMETER_TYPE');
      return value;
    case 'string':
      if (typeof value !== 'string') throw wrong('ERR_PARAMETER_TYPE');
      return value;
    case 'enum': {
      if (typeof value !== 'string') throw wrong('ERR_PARAMETER_TYPE');
      const choices = parameter.values ?? [];
      if (!choices.includes(value)) throw unknownName(key, value, choices);
      return value;
    }
  }
}

/** What a parameter takes, in words: `an integer from 1 to 64 blocks`. */
export function describeParameter(parameter: Parameter): string {
  if (parameter.type === 'enum') return `one of ${(parameter.values ?? []).join(', ')}`;
  if (parameter.type === 'boolean') return 'true or false';
  if (parameter.type === 'string') return 'a string';
  const noun = parameter.type === 'integer' ? 'an integer' : 'a number';
  const unit = parameter.unit === undefined ? '' : ` ${parameter.unit}`;
  const { min, max } = parameter;
  if (min !== undefined && max !== undefined) return `${noun} from ${min} to ${max}${unit}`;
  if (min !== undefined) return `${noun} of at least ${min}${unit}`;
  if (max !== undefined) return `${noun} of at most ${max}${unit}`;
  return unit === '' ? noun : `${noun} in${unit}`;
}

/** Insertions, deletions, substitutions and swaps of neighbours that turn one string into the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = last[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      let distance = Math.min(substitution, last[j] + 1, row[j - 1] + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        distance = Math.min(distance, beforeLast[j - 2] + 1);
      }
      row.push(distance);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length];
}

import { InputError, lookupStrategy, nearestName, resolveParameters, type StrategyKind } from '@flashstack/sim';
import { parameterOption } from './parameter-option.js';
import { parseLoop, parseWarmup } from './run-values.js';
import { amountAdvice, parseAmount, type UnitKind, writeAmount } from './units.js';

/** What a value of an option is. `amount`: a number, whose `unit` says which suffixes it may have. */
export type OptionType = 'amount' | 'boolean' | 'enum' | 'string' | 'strategy' | 'pairing' | 'loop' | 'warmup';

/** One key of a spec: its documentation, and what checks a user's value. */
export interface Option {
  readonly type: OptionType;
  /** Of amounts. */
  readonly unit?: UnitKind;
  /** What a count counts, such as `blocks`. */
  readonly of?: string;
  /** Of amounts: whole numbers only. */
  readonly whole?: boolean;
  readonly min?: number;
  readonly max?: number;
  /** Choices of an `enum`. */
  readonly values?: readonly string[];
  /** Kinds of a `strategy`, by name. */
  readonly kinds?: readonly StrategyKind<unknown>[];
  /** Of texts: the empty one is a value. */
  readonly mayBeEmpty?: boolean;
  /** A list of such values. */
  readonly list?: boolean;
  /** Null is a value too. */
  readonly nullable?: boolean;
  /** The value if the key is left out, in words or as written in a spec. Drives: what the preset says. */
  readonly default: string;
  /** One sentence. */
  readonly help: string;
}

/** Options by their paths, such as `ftl.victim`, in the order in which they are shown. */
export type OptionTable = ReadonlyMap<string, Option>;

/** What an option takes, in words: `a time from 0 to 1s, such as 75us`. */
export function describeOption(option: Option): string {
  const one = describeOne(option);
  const text = option.list === true ? `a list, each ${one}` : one;
  return option.nullable === true ? `${text}, or null` : text;
}

function describeOne(option: Option): string {
  switch (option.type) {
    case 'boolean':
      return 'true or false';
    case 'enum':
      return `one of ${(option.values ?? []).join(', ')}`;
    case 'string':
      return 'a text';
    case 'strategy':
      return `one of ${(option.kinds ?? []).map(({ name }) => name).join(', ')}, or { name, parameters }`;
    case 'pairing':
      return 'one of simple, shifted, tlc, or a map with the list pageType';
    case 'loop':
      return 'open, think, or closed:N with N requests in flight';
    case 'warmup':
      return 'requests (1000), simulated time (10s) or a share of the requests (10%)';
    case 'amount':
      return amountInWords(option);
  }
}

const nouns: Readonly<Record<UnitKind, string>> = {
  size: 'a size',
  time: 'a time',
  rate: 'a rate',
  share: 'a share',
  count: 'a number',
};

function amountInWords(option: Option): string {
  const unit = option.unit ?? 'count';
  const noun = unit === 'count' && option.whole === true ? 'a whole number' : nouns[unit];
  const of = option.of === undefined ? '' : ` of ${option.of}`;
  return `${noun}${of}${rangeOf(option)}`;
}

/** ` from 1 to 64`, ` of at least 1`, or nothing. */
function rangeOf({ unit = 'count', min, max = Number.POSITIVE_INFINITY }: Option): string {
  const write = (value: number): string => {
    // A share that may exceed the whole is written in per cent there.
    if (unit === 'share') return max > 1 ? writeAmount(unit, value) : String(value);
    // The limit of a time is no round number.
    return unit === 'time' && value >= 1e9 ? `${Number((value / 1e9).toPrecision(3))}s` : writeAmount(unit, value);
  };
  if (min !== undefined && max < Number.MAX_SAFE_INTEGER) return ` from ${write(min)} to ${write(max)}`;
  if (min !== undefined) return ` of at least ${write(min)}`;
  return max >= Number.MAX_SAFE_INTEGER ? '' : ` of at most ${write(max)}`;
}

/**
 * The value that a spec or a command line means: amounts as numbers, everything else as it is.
 * `path` names the option in errors. @throws InputError `ERR_OPTION_VALUE` or `ERR_UNKNOWN_NAME`.
 */
export function parseOption(path: string, option: Option, value: unknown): unknown {
  if (value === null && option.nullable === true) return null;
  if (option.list !== true) return parseOne(path, option, value);
  if (!Array.isArray(value)) throw wrong(path, option, value);
  return value.map((item, at) => parseOne(`${path}.${at}`, option, item));
}

function parseOne(path: string, option: Option, value: unknown): unknown {
  switch (option.type) {
    case 'amount':
      return amount(path, option, value);
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw wrong(path, option, value);
    case 'string':
      if (typeof value === 'string' && (value !== '' || option.mayBeEmpty === true)) return value;
      // A list of names may hold numbers, as YAML reads them.
      if (option.list === true && typeof value === 'number') return String(value);
      throw wrong(path, option, value);
    case 'enum':
      if (typeof value === 'string' && option.values?.includes(value)) return value;
      throw wrong(path, option, value, typeof value === 'string' ? nearestName(value, option.values ?? []) : null);
    case 'strategy':
      return strategy(path, option, value);
    case 'pairing':
      if (['simple', 'shifted', 'tlc'].includes(value as string)) return value;
      if (isPageTable(value)) return value;
      throw wrong(path, option, value);
    case 'loop':
      return parseLoop(value) ?? refuse(wrong(path, option, value, nearestLoop(value)));
    case 'warmup':
      return parseWarmup(value) ?? refuse(wrong(path, option, value));
  }
}

/** The entries of a table are checked by the device. */
function isPageTable(value: unknown): boolean {
  if (!isMap(value) || !Array.isArray(value.pageType)) return false;
  return Object.keys(value).every((key) => ['pageType', 'wordLine'].includes(key) && Array.isArray(value[key]));
}

function refuse(error: InputError): never {
  throw error;
}

function nearestLoop(value: unknown): string | null {
  return typeof value === 'string' ? nearestName(value.split(':')[0], ['open', 'think', 'closed']) : null;
}

function amount(path: string, option: Option, value: unknown): number {
  const { unit = 'count', min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = option;
  const number = typeof value === 'number' ? value : typeof value === 'string' ? parseAmount(unit, value) : Number.NaN;
  const whole = option.whole !== true || Number.isSafeInteger(number);
  if (unit === 'share' && max > 1 && number > 1 && !String(value).includes('%')) throw perCent(path, value, number);
  if (Number.isFinite(number) && whole && number >= min && number <= max) return number;
  throw wrong(path, option, value);
}

/** `28` for `28%` is the usual slip: a share above the whole counts only with the sign. */
function perCent(path: string, found: unknown, share: number): InputError {
  const [slip, meant] = [writeAmount('share', share / 100), writeAmount('share', share)];
  const what = `${path} is ${shown(found)}, a share of ${meant}.`;
  return new InputError(
    'ERR_OPTION_VALUE',
    `${what} Write ${slip} or ${share / 100}, or ${meant} if you mean that.`,
    path,
  );
}

function strategy(path: string, option: Option, value: unknown): unknown {
  const kinds = option.kinds ?? [];
  if (typeof value === 'string') {
    lookupStrategy(kinds, value, path);
    return value;
  }
  if (!isMap(value) || typeof value.name !== 'string') throw wrong(path, option, value);
  for (const key of Object.keys(value)) {
    if (key === 'name' || key === 'parameters') continue;
    throw new InputError(
      'ERR_UNKNOWN_NAME',
      `unknown key ${path}.${key}. A strategy has a name and parameters.`,
      `${path}.${key}`,
    );
  }
  const { name, parameters = {} } = value as { name: string; parameters?: unknown };
  if (!isMap(parameters)) throw wrong(`${path}.parameters`, { ...option, type: 'string' }, parameters);
  const kind = lookupStrategy(kinds, name, path);
  return { name, parameters: resolveParameters(kind, withoutUnits(path, kind, parameters)) };
}

/** Parameters with amounts as numbers, where they are written with units; everything else is checked by the kind. */
function withoutUnits(
  path: string,
  kind: StrategyKind<unknown>,
  given: Record<string, unknown>,
): Record<string, unknown> {
  const read = { ...given };
  for (const parameter of kind.parameters) {
    const value = given[parameter.name];
    const option = parameterOption(parameter);
    if (typeof value !== 'string' || option.type !== 'amount') continue;
    read[parameter.name] = parseOne(`${path}.parameters.${parameter.name}`, option, value);
  }
  return read;
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A found value for a message: as it would be written in a spec, cut if it is long. */
export function shown(value: unknown): string {
  const text = value === undefined ? 'nothing' : textOf(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function textOf(value: unknown): string {
  // JSON has neither infinite numbers nor large integers, nor maps that hold themselves.
  if (typeof value !== 'object' && typeof value !== 'string') return String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return Array.isArray(value) ? 'a list that cannot be written down' : 'a map that cannot be written down';
  }
}

function wrong(path: string, option: Option, found: unknown, nearest: string | null = null): InputError {
  const meant = nearest === null ? '' : ` Did you mean ${nearest}?`;
  const example =
    option.type === 'amount' && option.unit !== undefined && typeof found === 'string' && found !== ''
      ? ` ${amountAdvice(option.unit, found)}`
      : '';
  return new InputError(
    'ERR_OPTION_VALUE',
    `${path} is ${shown(found)}, expected ${describeOption(option)}.${meant}${example}`,
    path,
  );
}

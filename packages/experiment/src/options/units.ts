/** What an amount is measured in; decides which suffixes it may have. */
export type UnitKind = 'size' | 'time' | 'rate' | 'share' | 'count';

// Sizes are binary whatever the letter case; rates and counts are decimal. `MB` is either, so it is no size.
const SIZES: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40, p: 2 ** 50 };
const DECIMAL: Readonly<Record<string, number>> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const TIMES: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
  h: 3600e9,
};

/** How an amount of each kind is written, for error messages and help. */
const unitExamples: Readonly<Record<UnitKind, string>> = {
  size: '4096, 64KiB or 4GiB',
  time: '75us, 3.8ms or 10s; a plain number is in ns',
  rate: '560MB/s or 3.5GB/s; a plain number is in bytes per second',
  share: '7% or 0.07',
  count: '1000, 100k or 1M',
};

/**
 * The number that a text with a unit means: bytes, ns, bytes per second, a fraction, or a plain count. NaN if it is not
 * written in any known way. Sizes and times are rounded to whole numbers.
 */
export function parseAmount(kind: UnitKind, text: string): number {
  const match = /^\s*(-?\d+(?:_\d+)*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(\S*)\s*$/i.exec(text);
  if (match === null) return Number.NaN;
  const value = Number(match[1].replaceAll('_', ''));
  const suffix = match[2];
  switch (kind) {
    case 'size':
      return Math.round(value * factor(SIZES, /^([kmgtp]?)(?:(?<=.)ib)?$/i.exec(suffix.replace(/^b$/i, ''))?.[1]));
    case 'time':
      return Math.round(value * (suffix === '' ? 1 : (TIMES[suffix] ?? Number.NaN)));
    case 'rate':
      return value * factor(DECIMAL, /^([kmgt]?)(?:b\/s|bps|t\/s)?$/i.exec(suffix)?.[1]);
    case 'share':
      return suffix === '' ? value : suffix === '%' ? value / 100 : Number.NaN;
    case 'count':
      return nearlyWhole(value * factor(DECIMAL, /^([kmgt]?)$/i.exec(suffix)?.[1]));
  }
}

/** How to write an amount that could not be read, one sentence: what is ambiguous in it, or examples of its kind. */
export function amountAdvice(kind: UnitKind, text: string): string {
  const [, number, letter] = /^\s*([\d_.]+)\s*([kmgtp])b\s*$/i.exec(text) ?? [];
  if (kind !== 'size' || letter === undefined) return `Write it as ${unitExamples[kind]}.`;
  const [binary, decimal] = [letter.toUpperCase(), 'kmgtp'.indexOf(letter.toLowerCase()) * 3 + 3];
  return (
    `${binary}B may mean 2^${(decimal / 3) * 10} or 10^${decimal} bytes: write ${number}${binary}iB or ` +
    `${number}e${decimal}.`
  );
}

/** `1.1k` is 1100, though no double is 1.1. */
function nearlyWhole(value: number): number {
  const whole = Math.round(value);
  return Math.abs(value - whole) < Math.abs(value) * 1e-12 ? whole : value;
}

function factor(table: Readonly<Record<string, number>>, letter: string | undefined): number {
  return letter === undefined ? Number.NaN : table[letter.toLowerCase()];
}

/** An amount as a person would write it into a spec: the largest unit that leaves a short number. */
export function writeAmount(kind: UnitKind, value: number): string {
  if (!Number.isFinite(value) || value === 0) return String(value);
  switch (kind) {
    case 'size':
      return shortest(value, [
        ['PiB', 2 ** 50],
        ['TiB', 2 ** 40],
        ['GiB', 2 ** 30],
        ['MiB', 2 ** 20],
        ['KiB', 2 ** 10],
      ]);
    case 'time':
      return shortest(
        value,
        [
          ['s', 1e9],
          ['ms', 1e6],
          ['us', 1e3],
        ],
        'ns',
      );
    case 'rate':
      return shortest(
        value,
        [
          ['GB/s', 1e9],
          ['MB/s', 1e6],
          ['kB/s', 1e3],
        ],
        'B/s',
      );
    case 'share':
      return `${Number((value * 100).toPrecision(12))}%`;
    case 'count':
      return String(value);
  }
}

function shortest(value: number, units: readonly (readonly [string, number])[], base = ''): string {
  for (const [name, size] of units) {
    const amount = value / size;
    if (Math.abs(amount) >= 1 && Number(amount.toFixed(3)) === amount && amount * size === value)
      return `${amount}${name}`;
  }
  return `${value}${base}`;
}

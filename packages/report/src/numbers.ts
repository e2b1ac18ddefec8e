// How numbers read in reports: three significant digits, one no-break space before the unit, thousands apart by a
// narrow no-break space, a real minus sign; what is unknown is a dash.

const UNIT_GAP = '\u00a0';
const THOUSANDS_GAP = '\u202f';
const MINUS = '\u2212';
/** Stands for a value that is not known. */
export const UNKNOWN = '–';

type Scale = readonly (readonly [size: number, unit: string])[];

const LATENCY: Scale = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];
const BINARY: Scale = [
  [2 ** 50, 'PiB'],
  [2 ** 40, 'TiB'],
  [2 ** 30, 'GiB'],
  [2 ** 20, 'MiB'],
  [2 ** 10, 'KiB'],
  [1, 'B'],
];
const DECIMAL: Scale = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];
const TICKS = 10_000;
const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** A value with three significant digits and no exponent: 0.0123, 4.56, 78.9, 12 300. */
export function significant(value: number): string {
  return withDigits(value, 3);
}

/** A value with so many significant digits and no exponent. */
export function withDigits(value: number, wanted: number): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(value);
  if (size < 1e-6) return '0';
  const rounded = Number(size.toPrecision(wanted));
  const digits = Math.max(0, wanted - 1 - Math.floor(Math.log10(rounded) + 1e-12));
  return sign(value) + grouped(rounded.toFixed(Math.min(digits, wanted + 5)));
}

/** A measured value with three significant digits; below a millionth as a power of ten. */
export function measured(value: number): string {
  return value !== 0 && Math.abs(value) < 1e-6 ? asGiven(value, 3) : significant(value);
}

/** A value as it was given, of at most so many digits: 3.1, 16, 0.25, 2 200, 1.5 × 10⁻⁸. */
export function asGiven(value: number, digits: number = 12): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  const size = Math.abs(Number(value.toPrecision(digits)));
  if (size === 0) return '0';
  if (size >= 1e-6 && size < 1e15) return sign(value) + grouped(String(size));
  const [mantissa, exponent] = size.toExponential().split('e');
  const power = [...exponent.replace('+', '')]
    .map((digit) => (digit === '-' ? '⁻' : SUPERSCRIPTS[Number(digit)]))
    .join('');
  return `${sign(value)}${mantissa}${UNIT_GAP}×${UNIT_GAP}10${power}`;
}

/** A whole number in full: 13 751 424. */
export function count(value: number): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  const rounded = Math.round(Math.abs(value));
  return (rounded === 0 ? '' : sign(value)) + grouped(String(rounded));
}

/** A number without a unit: in full up to four digits, then in k, M, G. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  if (Math.abs(value) < TICKS) return Number.isInteger(value) ? count(value) : significant(value);
  return scaled(value, DECIMAL);
}

/** A duration in simulated time, from ns. */
export function duration(ns: number): string {
  return scaled(ns, LATENCY);
}

/** A size in binary units, from bytes. */
export function bytes(value: number): string {
  return scaled(value, BINARY);
}

/** A rate in MB/s (10⁶ bytes per second) without its unit. */
export function megabytesPerSecond(bytesPerSecond: number): string {
  return significant(bytesPerSecond / 1e6);
}

/** A share, not negative, as per cent: one decimal below 10, none above. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return UNKNOWN;
  const value = share * 100;
  if (value > 0 && value < 0.05) return `<${UNIT_GAP}0.1${UNIT_GAP}%`;
  const text = value === 0 ? '0' : value < 9.95 ? value.toFixed(1) : grouped(String(Math.round(value)));
  return `${text}${UNIT_GAP}%`;
}

/** A change as signed per cent. */
export function change(ratio: number): string {
  if (!Number.isFinite(ratio)) return UNKNOWN;
  const value = Math.round(Math.abs(ratio - 1) * (Math.abs(ratio - 1) < 0.0995 ? 1000 : 100));
  const text = Math.abs(ratio - 1) < 0.0995 ? (value / 10).toFixed(1) : grouped(String(value));
  if (value === 0) return `0${UNIT_GAP}%`;
  return `${ratio < 1 ? MINUS : '+'}${text}${UNIT_GAP}%`;
}

/** The unit for a column of durations: its largest value has at most four digits before the point, where possible. */
export function latencyUnit(largestNs: number): { readonly unit: string; readonly ns: number } {
  if (largestNs >= 1e10) return { unit: 's', ns: 1e9 };
  if (largestNs >= 1e8) return { unit: 'ms', ns: 1e6 };
  return largestNs >= 1e4 ? { unit: 'µs', ns: 1e3 } : { unit: 'ns', ns: 1 };
}

/** The binary unit for a column of sizes: the largest value has at least one digit before the point, and at most four. */
export function byteUnit(largest: number): { readonly unit: string; readonly bytes: number } {
  const [bytes, unit] = BINARY.find(([size]) => largest >= size) ?? [1, 'B'];
  return { unit, bytes };
}

/** Value and unit apart, for figures in large type. */
export function split(text: string): { readonly value: string; readonly unit: string } {
  const at = text.lastIndexOf(UNIT_GAP);
  return at < 0 ? { value: text, unit: '' } : { value: text.slice(0, at), unit: text.slice(at + 1) };
}

function scaled(value: number, scale: Scale): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  const [smallest, smallestUnit] = scale[scale.length - 1];
  // Rounding may carry into the next unit: 999.6 µs is 1.00 ms.
  const size = Number(Math.abs(value).toPrecision(3));
  for (let at = 0; at < scale.length; at++) {
    const [step, unit] = scale[at];
    if (size < step) continue;
    const inUnit = value / step;
    const exact = step === 1 && Number.isInteger(value);
    return `${exact ? count(value) : significant(inUnit)}${UNIT_GAP}${unit}`;
  }
  return `${significant(value / smallest)}${UNIT_GAP}${smallestUnit}`;
}

function sign(value: number): string {
  return value < 0 ? MINUS : '';
}

function grouped(digits: string): string {
  const [whole, fraction] = digits.split('.');
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, THOUSANDS_GAP);
  return fraction === undefined ? apart : `${apart}.${fraction}`;
}

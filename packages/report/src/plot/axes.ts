import { duration, split } from '../numbers.js';

/** Places of marks on an axis, and what is written there. */
export interface Ticks {
  /** The ends of the axis. */
  readonly from: number;
  readonly to: number;
  readonly at: readonly number[];
  readonly label: (value: number) => string;
}

const NINES = [0, Math.log10(2), 1, 2, 3, 4, 5, 6, 7, 8];
const NINES_LABELS = ['0', '50', '90', '99', '99.9', '99.99', '99.999', '99.9999', '99.99999', '99.999999'];

/** Round steps from 0 (or `from`) to at least `most`, about as many as wanted. */
export function roundSteps(from: number, most: number, wanted: number): number[] {
  const span = most - from;
  if (!(span > 0)) return [from];
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step =
    [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough * 0.8) ?? 10 * power;
  const first = Math.ceil(from / step - 1e-9);
  const steps: number[] = [];
  for (let at = first; at * step <= most * (1 + 1e-9); at++) steps.push(Number((at * step).toPrecision(12)));
  return steps;
}

/** Ticks of simulated time from 0 to `endNs`, in one unit, which the last one carries. */
export function timeTicks(endNs: number, wanted: number): Ticks {
  const unit = [1e9, 1e6, 1e3, 1].find((size) => endNs >= 2 * size) ?? 1;
  const at = roundSteps(0, endNs / unit, wanted).map((value) => value * unit);
  const last = at[at.length - 1];
  const name = split(duration(unit)).unit;
  return {
    from: 0,
    to: endNs,
    at,
    label: (value) => {
      const text = String(Number((value / unit).toPrecision(6)));
      return value === last ? `${text}\u00a0${name}` : text;
    },
  };
}

/** Ticks in decades between two powers of ten, at most so many. */
export function decadeTicks(low: number, high: number, most: number): number[] {
  const first = Math.round(Math.log10(low));
  const last = Math.round(Math.log10(high));
  const every = Math.max(1, Math.ceil((last - first) / most));
  const ticks: number[] = [];
  for (let power = first; power <= last; power += every) ticks.push(10 ** power);
  return ticks;
}

/** The smallest range of whole decades around positive values. */
export function decades(values: readonly number[]): readonly [low: number, high: number] {
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (const value of values) {
    if (!(value > 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (high === 0) return [1, 10];
  const from = 10 ** Math.floor(Math.log10(low) + 1e-9);
  const to = 10 ** Math.ceil(Math.log10(high) - 1e-9);
  return [from, to > from ? to : from * 10];
}

/** Ticks of a percentile axis x = −log₁₀(1 − p): each step to the right is ten times rarer. */
export function ninesTicks(end: number, narrow: boolean): Ticks {
  const kept = NINES.filter((x, i) => x <= end + 1e-9 && !(narrow && (i === 1 || i === 5)));
  const last = kept[kept.length - 1];
  return {
    from: 0,
    to: end,
    at: kept,
    label: (value) => `${NINES_LABELS[NINES.indexOf(value)]}${value === last ? '\u00a0%' : ''}`,
  };
}

/**
 * Moves labels apart that would overlap: positions in px from the top, kept in order, at least `gap` apart and between
 * 0 and `height` where they all fit.
 */
export function spreadLabels(wanted: readonly number[], gap: number, height: number): number[] {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b] || a - b);
  const placed = new Array<number>(wanted.length);
  let least = 0;
  for (const i of order) {
    placed[i] = Math.max(wanted[i], least);
    least = placed[i] + gap;
  }
  let most = height;
  for (const i of [...order].reverse()) {
    placed[i] = Math.min(placed[i], most);
    most = placed[i] - gap;
  }
  return placed;
}

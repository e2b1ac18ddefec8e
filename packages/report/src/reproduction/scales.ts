import { decades, decadeTicks, roundSteps, type Ticks } from '../plot/axes.js';
import type { Scale } from '../plot/marks.js';
import { tickText } from './series.js';

/** A scale with what is written along it. */
export interface Axis {
  readonly scale: Scale;
  readonly ticks: readonly number[];
}

/** Room above the highest value of a linear scale. */
const HEADROOM = 1.08;
/** Values that differ by less of themselves are one place: no step parts them. */
const SAME = 1e-9;
/** Width of a letter of an axis, px. */
const LETTER = 6.6;
/** Least space between two labels, px. */
const BETWEEN = 10;

/**
 * The vertical axis: whole decades if logarithmic; otherwise from zero, or from `floor` where every value lies above it.
 */
export function valueAxis(values: readonly number[], log: boolean, floor: number = 0): Axis {
  if (log) {
    const [low, high] = decades(values);
    const ticks = decadeTicks(low, high, 6);
    const fine = Math.log10(high / low) < 2.5 ? ticks.flatMap((tick) => [tick, tick * 2, tick * 5]) : ticks;
    return { scale: { type: 'log', domain: [low, high] }, ticks: fine.filter((tick) => tick <= high * 1.001) };
  }
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const from = least < 0 ? least * HEADROOM : least >= floor ? floor : 0;
  const to = most - from > Math.abs(from) * SAME ? Math.max(0, from + (most - from) * HEADROOM) : from + 1;
  return { scale: { type: 'linear', domain: [from, to] }, ticks: roundSteps(from, to, 5) };
}

/** Where the places of a horizontal axis lie and what is written there: numbers on their scale, names one by one. */
export interface Places {
  readonly at: readonly number[];
  readonly type: 'linear' | 'log';
  readonly domain: readonly [from: number, to: number];
  /** What is written along an axis of so many px, without overlap. */
  readonly ticks: (px: number) => Ticks;
}

/** Places of a horizontal axis of numbers, or of names. */
export function placesOf(values: readonly (number | string)[], log: boolean): Places {
  const numbers = values.filter((value) => typeof value === 'number');
  const named = numbers.length < values.length;
  const at = named ? values.map((_, i) => i) : numbers;
  const distinct = [...new Set(at)].sort((a, b) => a - b);
  const [first, last] = [distinct[0] ?? 0, distinct[distinct.length - 1] ?? 0];
  const domain: readonly [number, number] =
    last - first > Math.abs(last) * SAME ? [first, last] : log ? [first / 2, first * 2] : [first - 0.5, first + 0.5];
  const text = (value: number): string => (named ? String(values[value]) : tickText(value));
  const share = (value: number): number =>
    log ? Math.log(value / domain[0]) / Math.log(domain[1] / domain[0]) : (value - domain[0]) / (domain[1] - domain[0]);
  return {
    at,
    type: log ? 'log' : 'linear',
    domain,
    ticks: (px) => {
      const own = fitting(distinct, text, share, px);
      // Numbers that do not all fit: round ones tell more than a choice of them.
      const round = roundSteps(domain[0], domain[1], Math.max(2, Math.floor(px / 90)));
      const chosen = named || log || own.length === distinct.length ? own : fitting(round, text, share, px);
      return { from: domain[0], to: domain[1], at: chosen, label: text };
    },
  };
}

/** From the left, those whose labels do not touch the one before. */
function fitting(
  values: readonly number[],
  text: (value: number) => string,
  share: (value: number) => number,
  px: number,
): number[] {
  const kept: number[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    const width = text(value).length * LETTER;
    const x = share(value) * px;
    // The outermost labels are moved inwards.
    const left = Math.min(Math.max(0, x - width / 2), px - width);
    if (left < end + BETWEEN) continue;
    kept.push(value);
    end = left + width;
  }
  return kept;
}

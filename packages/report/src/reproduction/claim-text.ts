import { asGiven, count, UNKNOWN, withDigits } from '../numbers.js';
import type { Claim } from './types.js';

const MINUS = '\u2212';
/** A number as words, often one that the paper itself calls inexact. */
const NUMBER =
  /^(≈|~|>|<|≥|≤|about|around|approximately|roughly|nearly|almost|up to|more than|less than|over|under|at least|at most)?\s*([+−-]?\d[\d,\s]*(?:\.\d+)?)$/i;
const RANGE = /^([+−-]?[\d,]+(?:\.\d+)?)\s*(?:…|–|to)\s*([+−-]?[\d,]+(?:\.\d+)?)$/;
const NO_CHANGE = /^no (?:difference|change)$/i;
/** Digits of simulated values, as few of them as show on which side of the band the value lies. */
const PRECISIONS = [3, 4, 5, 6, 8] as const;

/** Whole numbers below have fewer digits than others are rounded to. */
const SMALL = 100;

/** What a paper says, as text and as a place on a scale. */
export interface Published {
  readonly text: string;
  /** Null where the paper has words only. */
  readonly value: number | null;
  /** The paper says "about", "up to", "more than" or "no difference", or gives a range: the value is its middle. */
  readonly inexact: boolean;
}

/** What the paper says. */
export function publishedOf(claim: Claim): Published {
  const { published, unit } = claim;
  if (typeof published === 'number') {
    return { text: withUnit(signed(asGiven(published), published, claim), unit), value: published, inexact: false };
  }
  const words = published.trim();
  if (NO_CHANGE.test(words)) return { text: words, value: unchangedOf(unit), inexact: true };
  const bare = unit !== '' && words.endsWith(unit) ? words.slice(0, -unit.length).trim() : words;
  const range = RANGE.exec(bare);
  if (range !== null) {
    return { text: withUnit(bare, unit), value: (numberOf(range[1]) + numberOf(range[2])) / 2, inexact: true };
  }
  const found = NUMBER.exec(bare);
  if (found === null) return { text: words === '' ? UNKNOWN : words, value: null, inexact: false };
  return { text: withUnit(bare, unit), value: numberOf(found[2]), inexact: found[1] !== undefined };
}

function numberOf(text: string): number {
  return Number(text.replace(/[,\s]/g, '').replace('−', '-'));
}

/** The value that means no change, in the units of changes; null in all others. */
export function unchangedOf(unit: string): number | null {
  if (unit === '×') return 1;
  return unit === '%' ? 0 : null;
}

/** The mean of the seeds; in full where it was counted, elsewhere in three digits or as many as the verdict needs. */
export function simulatedText(claim: Claim): string {
  const { simulated, unit } = claim;
  return Number.isFinite(simulated.mean) ? withUnit(valueText(claim, simulated.mean), unit) : UNKNOWN;
}

/** From the lowest to the highest of the seeds; empty where they agree. */
export function rangeText(claim: Claim): string {
  const { low, high } = claim.simulated;
  const [from, to] = [valueText(claim, low), valueText(claim, high)];
  return from === to ? '' : `${from} … ${to}`;
}

/** The band, such as 2.2 … 4 ×; a dash where there is none. */
export function bandText(claim: Claim): string {
  const { band, unit } = claim;
  if (band === null) return UNKNOWN;
  const edge = (value: number): string => signed(asGiven(value, 6), value, claim);
  if (band.low === null) return withUnit(`≤\u00a0${edge(band.high ?? Number.NaN)}`, unit);
  if (band.high === null) return withUnit(`≥\u00a0${edge(band.low)}`, unit);
  return withUnit(band.low === band.high ? edge(band.low) : `${edge(band.low)} … ${edge(band.high)}`, unit);
}

function valueText(claim: Claim, value: number): string {
  const { mean, low, high } = claim.simulated;
  // Whole numbers of all seeds have been counted; simulated time may be one by chance, but hardly a small one.
  const counted = [mean, low, high].every(Number.isInteger) && (claim.basis !== 'time' || Math.abs(value) < SMALL);
  const tiny = value !== 0 && Math.abs(value) < 1e-6;
  const text = counted ? count(value) : tiny ? asGiven(value, 3) : withDigits(value, precisionOf(claim, value));
  return signed(text, value, claim);
}

function precisionOf({ band }: Claim, value: number): number {
  const edges = [band?.low ?? null, band?.high ?? null].filter((edge) => edge !== null);
  const told = (digits: number): boolean => {
    const rounded = Number(value.toPrecision(digits));
    return edges.every((edge) => Math.sign(rounded - edge) === Math.sign(value - edge));
  };
  return PRECISIONS.find(told) ?? PRECISIONS[PRECISIONS.length - 1];
}

/** Changes carry their sign: per cent of which some value is below zero. */
function signed(text: string, value: number, { unit, published, band, simulated }: Claim): string {
  const below = [typeof published === 'number' ? published : 0, band?.low ?? 0, band?.high ?? 0, simulated.low];
  const change = unit === '%' && (below.some((other) => other < 0) || /^[+−-]/.test(String(published)));
  return change && value > 0 && !text.startsWith(MINUS) ? `+${text}` : text;
}

function withUnit(text: string, unit: string): string {
  return unit === '' ? text : `${text}\u00a0${unit}`;
}

import { parseAmount } from './units.js';

/** Depth of a closed loop that names none. */
const DEFAULT_DEPTH = 32;

/** How requests are issued, as one word of a spec says it. */
export type LoopChoice = { readonly kind: 'closed'; readonly depth: number } | { readonly kind: 'open' | 'think' };

/** `open`, `think`, `closed` (32 in flight) or `closed:N`; null if it is none of them. */
export function parseLoop(value: unknown): LoopChoice | null {
  if (value === 'open' || value === 'think') return { kind: value };
  if (typeof value !== 'string') return null;
  const match = /^closed(?::(\S+))?$/.exec(value);
  if (match === null) return null;
  const depth = match[1] === undefined ? DEFAULT_DEPTH : parseAmount('count', match[1]);
  return Number.isSafeInteger(depth) && depth >= 1 ? { kind: 'closed', depth } : null;
}

/** What is left out of the metrics at the start of a run. */
export type Warmup =
  | { readonly requests: number }
  /** Simulated time, ns. */
  | { readonly timeNs: number }
  /** Of all requests. */
  | { readonly share: number };

/** `1000` (requests), `10s` (simulated time) or `10%` (of the requests); null if it is none of them. */
export function parseWarmup(value: unknown): Warmup | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 1 ? { requests: value } : null;
  if (typeof value !== 'string') return null;
  const requests = parseAmount('count', value);
  if (Number.isSafeInteger(requests) && requests >= 1) return { requests };
  if (value.trim().endsWith('%')) {
    const share = parseAmount('share', value);
    return share > 0 && share < 1 ? { share } : null;
  }
  const timeNs = parseAmount('time', value);
  return Number.isSafeInteger(timeNs) && timeNs >= 1 ? { timeNs } : null;
}

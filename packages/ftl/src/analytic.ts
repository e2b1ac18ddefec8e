import { exp, InputError, log } from '@flashstack/sim';

/**
 * Closed forms of write amplification under uniform random single-slot overwrites of the whole logical space, unless
 * stated otherwise. `alpha` = physical slots that can hold data / logical slots in use, above 1. The erased reserve and
 * the unwritten part of frontiers hold no data, so they do not count.
 */

/** A class of slots with equal popularity. */
export interface PopularityClass {
  /** Share of the writes that go to this class; shares sum to 1. */
  readonly writes: number;
  /** Share of the logical slots that are in this class; shares sum to 1. */
  readonly slots: number;
}

function checkAlpha(alpha: number): void {
  if (Number.isFinite(alpha) && alpha > 1) return;
  throw new InputError('ERR_FTL_ALPHA', `alpha: found ${alpha}, expected physical / logical slots above 1`, 'alpha');
}

function checkClasses(classes: readonly PopularityClass[]): void {
  const sum = (of: (kind: PopularityClass) => number): number => classes.reduce((total, kind) => total + of(kind), 0);
  const positive = classes.every((kind) => kind.writes > 0 && kind.slots > 0);
  if (positive && Math.abs(sum((kind) => kind.writes) - 1) < 1e-9 && Math.abs(sum((kind) => kind.slots) - 1) < 1e-9)
    return;
  throw new InputError(
    'ERR_FTL_CLASSES',
    'classes: shares of writes and of slots must be positive and sum to 1',
    'classes',
  );
}

/** Principal branch W0 of the Lambert W function, w·e^w = x, for x ≥ −1/e. Halley's method. */
export function lambertW0(x: number): number {
  const e = exp(1);
  if (x < -1 / e) throw new RangeError(`lambertW0(x): x must be at least −1/e, found ${x}`);
  // Near the branch point the series in sqrt(2(ex + 1)); elsewhere log(1 + x) is close enough to start from.
  const p = Math.sqrt(2 * (e * x + 1));
  let w = x < 0.5 ? -1 + p - (p * p) / 3 + (11 / 72) * p * p * p : log(1 + x);
  for (let i = 0; i < 64; i++) {
    const ew = exp(w);
    const f = w * ew - x;
    const step = f / (ew * (w + 1) - ((w + 2) * f) / (2 * w + 2));
    if (!Number.isFinite(step)) return w;
    w -= step;
    if (Math.abs(step) <= 1e-15 * (1 + Math.abs(w))) return w;
  }
  return w;
}

/** FIFO (LRW), and greedy in the limit of large blocks: 1/A = 1 − exp(−alpha/A) (Desnoyers 2012; Luojie et al. 2011). */
export function fifoWriteAmplification(alpha: number): number {
  checkAlpha(alpha);
  return alpha / (alpha + lambertW0(-alpha * exp(-alpha)));
}

/** Fewest valid slots a closed block has under greedy with blocks of `n` slots, X0; a victim has X0 − 1. */
export function greedyLeastValid(alpha: number, n: number): number {
  checkAlpha(alpha);
  const a = (1 + 1 / (2 * n)) * alpha;
  return 1 / 2 - (n / alpha) * lambertW0(-a * exp(-a));
}

/** Greedy with blocks of `n` slots (Desnoyers, "Analytic Modeling of SSD Write Performance", 2012). */
export function greedyWriteAmplification(alpha: number, n: number): number {
  return n / (n - (greedyLeastValid(alpha, n) - 1));
}

/** Uniformly random victims: alpha / (alpha − 1). */
export function randomWriteAmplification(alpha: number): number {
  checkAlpha(alpha);
  return alpha / (alpha - 1);
}

/** First-order bound (1 + rho) / (2 rho), rho = alpha − 1 (Agarwal and Marrow 2010); underestimates. */
export function firstOrderWriteAmplification(alpha: number): number {
  checkAlpha(alpha);
  return alpha / (2 * (alpha - 1));
}

/** FIFO with classes of different popularity mixed in one frontier (Desnoyers 2014). */
export function fifoHotColdWriteAmplification(alpha: number, classes: readonly PopularityClass[]): number {
  checkAlpha(alpha);
  checkClasses(classes);
  const excess = (a: number): number =>
    classes.reduce((sum, kind) => sum + kind.writes / (1 - exp((-(kind.writes / kind.slots) * alpha) / a)), -a);
  let low = 1;
  let high = 2;
  while (excess(high) > 0) high *= 2;
  for (let i = 0; i < 200 && high - low > 1e-13 * high; i++) {
    const middle = (low + high) / 2;
    if (excess(middle) > 0) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Classes in pools of their own, class k with `alphas[k]`: sum of writes_k · A(alpha_k). */
export function separatedWriteAmplification(classes: readonly PopularityClass[], alphas: readonly number[]): number {
  checkClasses(classes);
  return classes.reduce((sum, kind, k) => sum + kind.writes * fifoWriteAmplification(alphas[k]), 0);
}

/**
 * The split of space among separated classes that minimises write amplification: sum of slots_k · alpha_k = alpha. The
 * marginal gain per slot of space is then equal everywhere.
 */
export function optimalSeparation(
  alpha: number,
  classes: readonly PopularityClass[],
): { alphas: number[]; writeAmplification: number } {
  checkAlpha(alpha);
  checkClasses(classes);
  const alphasFor = (price: number): number[] =>
    classes.map((kind) => alphaOfSlope((price * kind.slots) / kind.writes));
  const space = (alphas: number[]): number => classes.reduce((sum, kind, k) => sum + kind.slots * alphas[k], 0);
  let low = 1e-12;
  let high = 1e12;
  for (let i = 0; i < 300; i++) {
    const middle = Math.sqrt(low * high);
    if (space(alphasFor(middle)) > alpha) low = middle;
    else high = middle;
  }
  const alphas = alphasFor(high);
  return { alphas, writeAmplification: separatedWriteAmplification(classes, alphas) };
}

/** The alpha at which FIFO write amplification falls by `slope` per unit of alpha. */
function alphaOfSlope(slope: number): number {
  let low = 1 + 1e-9;
  let high = 2;
  while (fifoSlope(high) > slope) high *= 2;
  for (let i = 0; i < 200 && high - low > 1e-14 * high; i++) {
    const middle = (low + high) / 2;
    if (fifoSlope(middle) > slope) low = middle;
    else high = middle;
  }
  return high;
}

/** −dA/dalpha of FIFO, from y = 1 − exp(−alpha·y) with y = 1/A. */
function fifoSlope(alpha: number): number {
  const y = 1 / fifoWriteAmplification(alpha);
  const survives = exp(-alpha * y);
  return (y * survives) / (1 - alpha * survives) / (y * y);
}

/** Mapped slots in steady state if a share `q` < 1/2 of requests trims a random mapped slot (Frankie et al. 2012). */
export function slotsInUseWithTrims(logicalSlots: number, q: number): number {
  if (!(q >= 0 && q < 0.5)) throw new InputError('ERR_FTL_TRIM_SHARE', `q: found ${q}, expected 0 to below 0.5`, 'q');
  return (logicalSlots * (1 - 2 * q)) / (1 - q);
}

/**
 * d-choices: the mean field of Van Houdt (2013). @returns the share of blocks with i valid slots, i = 0 … n, and the write
 * amplification. Integrates forward in time until it settles.
 */
export function dChoicesMeanField(
  alpha: number,
  n: number,
  d: number,
): { shares: Float64Array; writeAmplification: number } {
  checkAlpha(alpha);
  const u = 1 / alpha;
  const m = startingShares(u, n);
  const p = new Float64Array(n + 1);
  let a = 0;
  let quiet = 0;
  // Large d makes the chosen class react fast: a smaller step keeps the integration stable.
  const step = Math.min(0.6, 4 / d) / n;
  for (let i = 0; i < 4_000_000 && quiet < 200; i++) {
    const chosen = chosenShares(m, p, d);
    const rate = (n - chosen) / (n * u);
    for (let j = 0; j < n; j++) m[j] += step * (rate * ((j + 1) * m[j + 1] - j * m[j]) - p[j]);
    m[n] += step * (1 - rate * n * m[n] - p[n]);
    const now = n / (n - chosen);
    quiet = Math.abs(now - a) < 1e-9 * now ? quiet + 1 : 0;
    a = now;
  }
  return { shares: m, writeAmplification: a };
}

/** d-choices with blocks of `n` slots. */
export function dChoicesWriteAmplification(alpha: number, n: number, d: number): number {
  return d === 1 ? randomWriteAmplification(alpha) : dChoicesMeanField(alpha, n, d).writeAmplification;
}

/** Share of chosen blocks per valid count into `p`; returns their mean valid count. */
function chosenShares(m: Float64Array, p: Float64Array, d: number): number {
  let above = 0;
  let mean = 0;
  let aboveToD = 0;
  for (let i = m.length - 1; i >= 0; i--) {
    above += Math.max(0, m[i]);
    const toD = power(Math.min(1, above), d);
    p[i] = toD - aboveToD;
    aboveToD = toD;
    mean += i * p[i];
  }
  return mean;
}

/** x^d by squaring: the same on every machine, unlike `Math.pow`. */
function power(x: number, d: number): number {
  let result = 1;
  let base = x;
  for (let rest = d; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result *= base;
    base *= base;
  }
  return result;
}

/** Valid counts around the mean to start from: two neighbouring counts with mean u·n. */
function startingShares(u: number, n: number): Float64Array {
  const m = new Float64Array(n + 1);
  const mean = u * n;
  const low = Math.floor(mean);
  m[low] = 1 - (mean - low);
  m[low + 1] += mean - low;
  return m;
}

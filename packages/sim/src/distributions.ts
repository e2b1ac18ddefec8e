import { exp, expm1, log, log1p } from './exact-math.js';
import type { RandomStream } from './random.js';

/** Draws ranks 0 … n − 1, the most popular first where popularity differs. */
export interface RankDistribution {
  /** Number of ranks. */
  readonly n: number;
  /** The next rank. */
  next(random: RandomStream): number;
  /** The first of the ranks that follow those which get `share` (0 … 1) of the draws, nearly; n for all of them. */
  rankAfter(share: number): number;
}

function checkCount(what: string, n: number): void {
  if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`${what}: n must be an integer ≥ 1, found ${n}`);
}

/** Every rank equally often. */
export class UniformRanks implements RankDistribution {
  readonly n: number;

  constructor(n: number) {
    checkCount('uniform', n);
    this.n = n;
  }

  next(random: RandomStream): number {
    return random.below(this.n);
  }

  rankAfter(share: number): number {
    return Math.ceil(share * this.n);
  }
}

/**
 * Zipf: rank k (from 0) with probability proportional to (k + 1)^−theta; any theta ≥ 0, also 1. Exact, and set up in
 * constant time for any n: rejection inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from
 * monotone discrete distributions", ACM TOMACS 1996).
 */
export class ZipfRanks implements RankDistribution {
  readonly n: number;
  readonly theta: number;
  private readonly areaBelowOne: number;
  private readonly areaBelowEnd: number;
  private readonly squeeze: number;

  /** @throws RangeError unless n ≥ 1 and theta ≥ 0. */
  constructor(n: number, theta: number) {
    checkCount('zipf', n);
    if (!(theta >= 0) || theta === Number.POSITIVE_INFINITY) {
      throw new RangeError(`zipf: theta must be a finite number ≥ 0, found ${theta}`);
    }
    this.n = n;
    this.theta = theta;
    this.areaBelowOne = this.area(1.5) - 1;
    this.areaBelowEnd = this.area(n + 0.5);
    this.squeeze = 2 - this.inverseArea(this.area(2.5) - this.density(2));
  }

  next(random: RandomStream): number {
    const { n, theta } = this;
    if (theta === 0) return random.below(n);
    for (;;) {
      const u = this.areaBelowEnd + random.nextFloat() * (this.areaBelowOne - this.areaBelowEnd);
      const x = this.inverseArea(u);
      let k = Math.floor(x + 0.5);
      if (k < 1) k = 1;
      else if (k > n) k = n;
      if (k - x <= this.squeeze || u >= this.area(k + 0.5) - this.density(k)) return k - 1;
    }
  }

  rankAfter(share: number): number {
    const { n, theta } = this;
    if (theta === 0 || share === 0) return Math.ceil(share * n);
    // Of the area under the density, which is what is drawn from: within half a rank of the sum of probabilities.
    const x = this.inverseArea(this.areaBelowOne + share * (this.areaBelowEnd - this.areaBelowOne));
    return Math.max(1, Math.min(n, Math.ceil(x - 0.5)));
  }

  private density(x: number): number {
    return exp(-this.theta * log(x));
  }

  /** Integral of the density from 1 to x: (x^(1−theta) − 1) / (1 − theta), or ln x where theta is 1. */
  private area(x: number): number {
    const logX = log(x);
    const t = (1 - this.theta) * logX;
    return t === 0 ? logX : (expm1(t) / t) * logX;
  }

  private inverseArea(area: number): number {
    const t = area * (1 - this.theta);
    if (t === 0) return exp(area);
    // Rounding may carry t to or below −1 at the far end of a steep distribution, where x is without bound.
    return t <= -1 ? this.n + 0.5 : exp((log1p(t) / t) * area);
  }
}

/**
 * Pareto as fio's `random_distribution=pareto:h` defines it: a share 1 − h of the draws goes to the fraction h of the
 * ranks, and so on at every scale: P(rank < x n) = x^(ln(1 − h) / ln h).
 */
export class ParetoRanks implements RankDistribution {
  readonly n: number;
  readonly h: number;
  private readonly power: number;

  /** @throws RangeError unless n ≥ 1 and 0 < h < 1. */
  constructor(n: number, h: number) {
    checkCount('pareto', n);
    if (!(h > 0 && h < 1)) throw new RangeError(`pareto: h must be between 0 and 1, found ${h}`);
    this.n = n;
    this.h = h;
    this.power = log(h) / log1p(-h);
  }

  next(random: RandomStream): number {
    const u = random.nextFloat();
    if (u === 0) return 0;
    const rank = Math.floor(this.n * exp(this.power * log(u)));
    return rank < this.n ? rank : this.n - 1;
  }

  rankAfter(share: number): number {
    return share === 0 ? 0 : Math.ceil(this.n * exp(this.power * log(share)));
  }
}

/** Two uniform regions: the first `hotCount` ranks get the share `hotShare` of the draws, the others the rest. */
export class HotColdRanks implements RankDistribution {
  readonly n: number;
  /** Number of hot ranks, at least one. */
  readonly hotCount: number;
  readonly hotShare: number;

  /**
   * `hotFraction`: fraction of the ranks that is hot, rounded to whole ranks.
   * @throws RangeError unless both are between 0 and 1, or if rounding leaves a region that gets draws without ranks.
   */
  constructor(n: number, hotFraction: number, hotShare: number) {
    checkCount('hot/cold', n);
    if (!(hotFraction >= 0 && hotFraction <= 1)) {
      throw new RangeError(`hot/cold: hotFraction must be between 0 and 1, found ${hotFraction}`);
    }
    if (!(hotShare >= 0 && hotShare <= 1)) {
      throw new RangeError(`hot/cold: hotShare must be between 0 and 1, found ${hotShare}`);
    }
    const hotCount = Math.round(n * hotFraction);
    if ((hotCount === 0 && hotShare > 0) || (hotCount === n && hotShare < 1)) {
      throw new RangeError(`hot/cold: a fraction of ${hotFraction} of ${n} leaves one region without addresses`);
    }
    this.n = n;
    this.hotCount = hotCount;
    this.hotShare = hotShare;
  }

  next(random: RandomStream): number {
    if (random.nextFloat() < this.hotShare) return random.below(this.hotCount);
    return this.hotCount + random.below(this.n - this.hotCount);
  }

  rankAfter(share: number): number {
    const { n, hotCount, hotShare } = this;
    if (share <= hotShare) return share === 0 ? 0 : Math.ceil((share / hotShare) * hotCount);
    return hotCount + Math.ceil(((share - hotShare) / (1 - hotShare)) * (n - hotCount));
  }
}

/** An exponentially distributed number with this mean: gaps of a Poisson process. */
export function exponential(random: RandomStream, mean: number): number {
  return -mean * log(1 - random.nextFloat());
}

/** A normally distributed number (polar method of Marsaglia and Bray, SIAM Review 1964). */
export function normal(random: RandomStream, mean: number, deviation: number): number {
  for (;;) {
    const u = 2 * random.nextFloat() - 1;
    const v = 2 * random.nextFloat() - 1;
    const s = u * u + v * v;
    if (s > 0 && s < 1) return mean + deviation * u * Math.sqrt((-2 * log(s)) / s);
  }
}

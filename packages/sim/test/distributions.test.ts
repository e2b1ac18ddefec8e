import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  exp,
  expm1,
  exponential,
  HotColdRanks,
  log,
  log1p,
  normal,
  ParetoRanks,
  Permutation,
  RandomSource,
  type RankDistribution,
  UniformRanks,
  ZipfRanks,
} from '../src/index.js';
import { checkFit } from './chi-square.js';

const full = process.env.CI !== undefined;
const draws = full ? 1_000_000 : 100_000;
const stream = (name: string) => new RandomSource(2024).stream(name);

function histogramOf(ranks: RankDistribution, name: string): Float64Array {
  const counts = new Float64Array(ranks.n);
  const random = stream(name);
  for (let i = 0; i < draws; i++) counts[ranks.next(random)]++;
  return counts;
}

describe('exact mathematics', () => {
  const near = (found: number, expected: number, scale = Math.abs(expected)): void => {
    expect(Math.abs(found - expected)).toBeLessThanOrEqual(scale * 4.5e-16 + 1e-320);
  };

  it('log, log1p, exp and expm1 agree with the built-in ones to two units in the last place', () => {
    const positive = fc.double({ min: 1e-300, max: 1e300, noNaN: true });
    const any = fc.double({ min: -700, max: 700, noNaN: true });
    const small = fc.double({ min: -0.9, max: 3, noNaN: true });
    const runs = { numRuns: full ? 50_000 : 5_000 };
    fc.assert(
      fc.property(positive, any, small, (x, y, z) => {
        near(log(x), Math.log(x));
        near(exp(y), Math.exp(y));
        // Away from 0 it is e^x − 1, with the error of e^x.
        near(expm1(z), Math.expm1(z), Math.abs(z) < 0.34 ? Math.abs(Math.expm1(z)) : Math.max(Math.exp(z), 1));
        if (Math.abs(z) < 0.2) near(log1p(z), Math.log1p(z));
      }),
      runs,
    );
    for (let k = -1022; k < 1024; k++) near(log(2 ** k), k * Math.LN2);
    for (let i = 1; i < 2000; i++) near(log(i / 1000), Math.log(i / 1000));
    expect([log(1), exp(0), expm1(0), log1p(0)]).toEqual([0, 1, 0, 0]);
    expect([exp(-800), exp(800)]).toEqual([0, Number.POSITIVE_INFINITY]);
  });

  it('gives these bits on every machine', () => {
    const bits = new DataView(new ArrayBuffer(8));
    let hash = 0;
    for (let i = 1; i <= 10_000; i++) {
      for (const value of [log(i * 0.37), exp((i - 5000) * 0.01), expm1(i * 1e-5), log1p(i * 1e-5)]) {
        bits.setFloat64(0, value);
        hash = (Math.imul(hash, 31) + bits.getInt32(0) + Math.imul(bits.getInt32(4), 17)) | 0;
      }
    }
    expect(hash).toMatchInlineSnapshot(`-588821890`);
  });
});

describe('ranks', () => {
  it.each([0, 0.3, 0.8, 0.99, 1, 1.01, 1.5, 2.5, 6])('zipf with theta %d fits its probabilities exactly', (theta) => {
    for (const n of [1, 2, 3, 50, 1000]) {
      const weights = Array.from({ length: n }, (_, k) => (k + 1) ** -theta);
      const sum = weights.reduce((a, b) => a + b);
      const counts = histogramOf(new ZipfRanks(n, theta), `zipf ${n}`);
      if (n === 1) expect(counts[0]).toBe(draws);
      else if (weights[1] / sum > 10 / draws)
        checkFit(
          counts,
          weights.map((w) => w / sum),
          `zipf(${n}, ${theta})`,
        );
    }
  });

  it('zipf needs no set-up for a trillion ranks', () => {
    const n = 2 ** 40;
    const ranks = new ZipfRanks(n, 1);
    const random = stream('trillion');
    const harmonic = Math.log(n) + 0.5772156649015329 + 1 / (2 * n);
    const counts = new Array<number>(41).fill(0);
    // Cell k holds the ranks 2^k − 1 … 2^(k+1) − 2.
    for (let i = 0; i < draws; i++) counts[Math.floor(Math.log2(ranks.next(random) + 1))]++;
    const sumTo = (m: number): number => {
      if (m > 1000) return Math.log(m) + 0.5772156649015329 + 1 / (2 * m) - 1 / (12 * m * m);
      let sum = 0;
      for (let k = 1; k <= m; k++) sum += 1 / k;
      return sum;
    };
    const probabilities = counts.map(
      (_, k) => (Math.min(sumTo(2 ** (k + 1) - 1), harmonic) - (k === 0 ? 0 : sumTo(2 ** k - 1))) / harmonic,
    );
    checkFit(counts, probabilities, 'zipf(2^40, 1)');
  });

  it.each([0.01, 0.1, 0.2, 0.4, 0.7])('pareto(%d) follows its law at every scale', (h) => {
    const n = 1_000_000;
    const ranks = new ParetoRanks(n, h);
    const random = stream('pareto');
    const counts = new Array<number>(50).fill(0);
    let inFirst = 0;
    for (let i = 0; i < draws; i++) {
      const rank = ranks.next(random);
      counts[Math.floor((rank / n) * 50)]++;
      if (rank < h * n) inFirst++;
    }
    const power = Math.log(1 - h) / Math.log(h);
    const cdf = (x: number): number => (x === 0 ? 0 : x ** power);
    checkFit(
      counts,
      counts.map((_, cell) => cdf((cell + 1) / 50) - cdf(cell / 50)),
      `pareto(${h})`,
    );
    expect(Math.abs(inFirst / draws - (1 - h))).toBeLessThan(4 * Math.sqrt((h * (1 - h)) / draws));
  });

  it('hot/cold gives the hot ranks their share, uniformly inside each region', () => {
    const ranks = new HotColdRanks(1000, 0.1, 0.9);
    expect(ranks.hotCount).toBe(100);
    const probabilities = Array.from({ length: 1000 }, (_, rank) => (rank < 100 ? 0.9 / 100 : 0.1 / 900));
    checkFit(histogramOf(ranks, 'hot'), probabilities, 'hot/cold');
    expect(() => new HotColdRanks(10, 0.01, 0.9)).toThrow(/leaves one region without addresses/);
    expect(() => new HotColdRanks(10, 1, 0.9)).toThrow(RangeError);
    expect(new HotColdRanks(10, 1, 1).hotCount).toBe(10);
  });

  it('uniform is uniform', () => {
    checkFit(histogramOf(new UniformRanks(77), 'uniform'), new Array<number>(77).fill(1 / 77), 'uniform');
  });

  it.each<[string, RankDistribution]>([
    ['uniform', new UniformRanks(10_000)],
    ['zipf(0)', new ZipfRanks(10_000, 0)],
    ['zipf(0.5)', new ZipfRanks(10_000, 0.5)],
    ['zipf(0.99)', new ZipfRanks(10_000, 0.99)],
    ['zipf(1.2)', new ZipfRanks(10_000, 1.2)],
    ['pareto(0.2)', new ParetoRanks(10_000, 0.2)],
    ['hot/cold', new HotColdRanks(10_000, 0.2, 0.8)],
    ['hot/cold, all hot', new HotColdRanks(10_000, 0.2, 1)],
  ])('%s: what lies before rankAfter(share) gets the share, up to one rank', (name, ranks) => {
    const counts = histogramOf(ranks, `share of ${name}`);
    expect([ranks.rankAfter(0), ranks.rankAfter(1)]).toEqual([0, name.endsWith('all hot') ? 2000 : 10_000]);
    for (const share of [0.1, 0.25, 0.5, 0.75, 0.8, 0.9]) {
      const end = ranks.rankAfter(share);
      const below = counts.subarray(0, end).reduce((sum, count) => sum + count, 0) / draws;
      const noise = 5 * Math.sqrt((share * (1 - share)) / draws);
      expect(below, `${share}`).toBeGreaterThan(share - noise - 0.005);
      expect(below - counts[end - 1] / draws, `${share}`).toBeLessThan(share + noise + 0.005);
    }
  });

  it('refuse parameters that make no sense', () => {
    expect(() => new ZipfRanks(0, 1)).toThrow(/n must be an integer ≥ 1, found 0/);
    expect(() => new ZipfRanks(10, -0.1)).toThrow(/theta must be a finite number ≥ 0/);
    expect(() => new ZipfRanks(10, Number.NaN)).toThrow(RangeError);
    expect(() => new ParetoRanks(10, 1)).toThrow(/h must be between 0 and 1/);
    expect(() => new UniformRanks(1.5)).toThrow(RangeError);
    expect(() => new HotColdRanks(10, 2, 0.5)).toThrow(RangeError);
    expect(() => new HotColdRanks(10, 0.5, -1)).toThrow(RangeError);
  });
});

describe('continuous', () => {
  it('exponential fits its distribution', () => {
    const random = stream('exponential');
    const counts = new Array<number>(20).fill(0);
    let sum = 0;
    for (let i = 0; i < draws; i++) {
      const x = exponential(random, 250);
      sum += x;
      counts[Math.floor((1 - Math.exp(-x / 250)) * 20)]++;
    }
    checkFit(counts, new Array<number>(20).fill(0.05), 'exponential');
    expect(Math.abs(sum / draws - 250)).toBeLessThan((4 * 250) / Math.sqrt(draws));
  });

  it('normal fits its deciles and moments', () => {
    const deciles = [-1.2815515655446004, -0.8416212335729143, -0.5244005127080407, -0.2533471031357997, 0];
    const limits = [
      ...deciles,
      ...deciles
        .slice(0, 4)
        .map((z) => -z)
        .reverse(),
    ];
    const random = stream('normal');
    const counts = new Array<number>(10).fill(0);
    const moments = [0, 0, 0, 0];
    for (let i = 0; i < draws; i++) {
      const z = (normal(random, 10, 3) - 10) / 3;
      const cell = limits.findIndex((limit) => z < limit);
      counts[cell < 0 ? 9 : cell]++;
      for (let k = 0; k < 4; k++) moments[k] += z ** (k + 1) / draws;
    }
    checkFit(counts, new Array<number>(10).fill(0.1), 'normal');
    // Variances of the sample moments of order 1 to 4 of a standard normal: 1, 2, 15, 96.
    for (const [k, [expected, variance]] of [
      [0, 1],
      [1, 2],
      [0, 15],
      [3, 96],
    ].entries()) {
      expect(Math.abs(moments[k] - expected)).toBeLessThan(4 * Math.sqrt(variance / draws));
    }
  });
});

describe('permutation', () => {
  it('is a bijection with its inverse, for every size up to 400', () => {
    for (let n = 1; n <= 400; n++) {
      const permutation = new Permutation(n, stream(`p${n}`));
      const seen = new Uint8Array(n);
      for (let value = 0; value < n; value++) {
        const image = permutation.map(value);
        seen[image]++;
        if (permutation.inverse(image) !== value) throw new Error(`n ${n}: inverse of ${image} is not ${value}`);
      }
      expect(seen.every((count) => count === 1)).toBe(true);
    }
  });

  it('goes there and back for any size up to 2^53', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), fc.nat(), (size, value, seed) => {
        const n = Math.max(1, size);
        const permutation = new Permutation(n, new RandomSource(seed).stream('p'));
        const image = permutation.map(value % n);
        expect(Number.isSafeInteger(image) && image >= 0 && image < n).toBe(true);
        expect(permutation.inverse(image)).toBe(value % n);
      }),
      { numRuns: full ? 5000 : 500 },
    );
  });

  it('scatters neighbours over the whole space, differently for different keys', () => {
    const n = 1_000_003;
    const permutation = new Permutation(n, stream('scatter'));
    const other = new Permutation(n, stream('other'));
    const counts = new Array<number>(100).fill(0);
    const gaps = new Array<number>(100).fill(0);
    let same = 0;
    for (let value = 0; value < 20_000; value++) {
      const image = permutation.map(value);
      counts[Math.floor((image / n) * 100)]++;
      gaps[Math.floor((((permutation.map(value + 1) - image + n) % n) / n) * 100)]++;
      if (other.map(value) === image) same++;
    }
    checkFit(counts, new Array<number>(100).fill(0.01), 'images of the first 2 %');
    checkFit(gaps, new Array<number>(100).fill(0.01), 'distances between images of neighbours');
    expect(same).toBeLessThan(5);
  });

  it('refuses values outside', () => {
    const permutation = new Permutation(10, stream('x'));
    for (const value of [-1, 10, 0.5, Number.NaN]) {
      expect(() => permutation.map(value)).toThrow(RangeError);
      expect(() => permutation.inverse(value)).toThrow(RangeError);
    }
    expect(() => new Permutation(0, stream('x'))).toThrow(/n must be an integer ≥ 1/);
  });
});

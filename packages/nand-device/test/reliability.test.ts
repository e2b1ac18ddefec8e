import { describe, expect, it } from 'vitest';
import { defaultReliability, NandArray, type NandConfig, type NandReliability, NandStatus } from '../src/index.js';
import { arrayOf, fill, RandomSource, vectorConfig } from './support.js';

const full = process.env.CI !== undefined;

function mlc(reliability: NandReliability, blocksPerPlane = 64): NandConfig {
  return vectorConfig({
    geometry: { cellBits: 2, blocksPerPlane, pagesPerBlock: 16 },
    timing: { readNs: [50_000, 60_000], programNs: [600_000, 900_000] },
    reliability,
  });
}

const base = defaultReliability(2);

/** |observed − expected| within three standard deviations of a binomial or Poisson count. */
function within3Sigma(observed: number, expected: number, variance: number): void {
  expect(Math.abs(observed - expected)).toBeLessThanOrEqual(3 * Math.sqrt(variance));
}

/** P(X > k), X ~ Poisson(mean): the plain sum of the definition. */
function tail(k: number, mean: number): number {
  let term = Math.exp(-mean);
  let sum = 0;
  for (let i = 0; i <= k; i++) {
    sum += term;
    term *= mean / (i + 1);
  }
  return 1 - sum;
}

describe('bad blocks', () => {
  it('occur from the factory with their probability, never in block 0 of a die', () => {
    const array = arrayOf(mlc({ ...base, factoryBad: 0.02 }, 8192));
    const bad = array.bad.reduce((sum, value) => sum + value, 0);
    within3Sigma(bad, 2 * 8191 * 0.02, 2 * 8191 * 0.02 * 0.98);
    const all = arrayOf(mlc({ ...base, factoryBad: 1 }, 16));
    expect([...all.bad.keys()].filter((block) => all.bad[block] === 0)).toEqual([0, 16]);
  });

  it('are the same for the same seed, and other faults do not move them', () => {
    const first = arrayOf(mlc({ ...base, factoryBad: 0.02 }, 512), 5);
    const again = arrayOf(mlc({ ...base, factoryBad: 0.02, ratedCycles: 77 }, 512), 5);
    const other = arrayOf(mlc({ ...base, factoryBad: 0.02 }, 512), 6);
    expect([...again.bad]).toEqual([...first.bad]);
    expect([...other.bad]).not.toEqual([...first.bad]);
  });
});

describe('wear-out', () => {
  it('endurance is Weibull with the stated median and shape', () => {
    const array = arrayOf(mlc(base, 8192));
    const endurance = (array.reliability as NonNullable<typeof array.reliability>).endurance;
    const median = base.enduranceMedian * base.ratedCycles;
    const n = endurance.length;
    for (const factor of [0.8, 0.9, 1, 1.1]) {
      const share = 1 - 2 ** -(factor ** base.enduranceShape);
      within3Sigma(endurance.filter((e) => e < factor * median).length, n * share, n * share * (1 - share));
    }
  });

  it('erases fail with the probability of the formula', () => {
    const trials = full ? 40_000 : 8_000;
    for (const life of [0.6, 0.75, 0.9, 1.05, 1.2]) {
      const array = arrayOf(mlc(base, 16), 3);
      const r = array.reliability as NonNullable<typeof array.reliability>;
      const expected = Math.min(1, Math.max(0, (life - 0.7) / 0.4));
      let failures = 0;
      for (let i = 0; i < trials; i++) {
        // The erase itself is counted first.
        array.eraseCount[1] = Math.round(life * 1000) - 1;
        r.endurance[1] = 1000;
        if (array.erase(1) === NandStatus.eraseFailed) {
          failures++;
          expect(array.garbage[1]).toBe(1);
          expect(() => array.program(16)).toThrowError(expect.objectContaining({ rule: 'block-garbage' }));
        } else expect(array.garbage[1]).toBe(0);
      }
      within3Sigma(failures, trials * expected, trials * expected * (1 - expected) + 1e-9);
      expect(r.eraseFailures).toBe(failures);
    }
  });

  it('programs fail a tenth as often per block, spread over its pages, and the page is lost', () => {
    const array = arrayOf(mlc({ ...base, factoryBad: 0 }, 16), 4);
    const r = array.reliability as NonNullable<typeof array.reliability>;
    const passes = full ? 20_000 : 4_000;
    let failures = 0;
    for (let i = 0; i < passes; i++) {
      array.tearErase(1);
      array.eraseCount[1] = 899;
      r.endurance[1] = 1e9;
      array.erase(1);
      r.endurance[1] = 1000;
      for (let page = 0; page < 16; page++) {
        if (array.program(16 + page) !== NandStatus.programFailed) continue;
        failures++;
        expect(array.isReadable(16 + page)).toBe(false);
        expect(array.read(16 + page, 1)).toBe(NandStatus.uncorrectable);
      }
    }
    const mean = passes * 0.1 * 0.5;
    within3Sigma(failures, mean, mean);
  });

  it('erases get longer and programs shorter with wear', () => {
    const array = arrayOf(mlc(base, 16));
    const r = array.reliability as NonNullable<typeof array.reliability>;
    array.eraseCount[2] = base.ratedCycles;
    expect([r.eraseNs(0), r.eraseNs(2)]).toEqual([3_000_000, 4_500_000]);
    expect([r.programNs(0, 600_000), r.programNs(2, 600_000)]).toEqual([600_000, 540_000]);
  });
});

describe('raw bit errors', () => {
  /** A device without spread between word lines, worn, aged and read as given. */
  function aged(wear: number, age: number, reads: number, changes: Partial<NandReliability> = {}): NandArray {
    const array = arrayOf(
      mlc({ ...base, factoryBad: 0, rawBitErrors: { ...base.rawBitErrors, wordLineSigma: 0 }, ...changes }, 16),
      9,
    );
    array.eraseCount.fill(wear * base.ratedCycles);
    fill(array, 0, 16);
    array.readCount[0] = reads;
    array.clock = { now: age * base.rawBitErrors.retentionNs };
    return array;
  }
  const formula = (w: number, age: number, reads: number) =>
    1e-6 + 2e-4 * w ** 1.5 + 1.2e-3 * w ** 1.2 * age ** 0.6 + (1e-4 * w * reads) / 1e5;

  it.each([
    [0, 0, 0],
    [0.5, 0, 0],
    [1, 1, 0],
    [1, 0.25, 50_000],
    [1.2, 2, 1000],
  ])('rate at wear %f, age %f years, %i reads', (wear, age, reads) => {
    const array = aged(wear, age, reads);
    const r = array.reliability as NonNullable<typeof array.reliability>;
    expect(r.rawBitErrorRate(0)).toBeCloseTo(formula(wear, age, reads), 12);
    expect(r.rawBitErrorRate(1) / r.rawBitErrorRate(0)).toBeCloseTo(1.5, 10);
  });

  it('counts agree with the rate within three sigma', () => {
    const array = aged(1, 1, 0, { ecc: { ...base.ecc, readReclaimLimit: 1e9 } });
    const r = array.reliability as NonNullable<typeof array.reliability>;
    const n = full ? 20_000 : 3_000;
    let expected = 0;
    for (let i = 0; i < n; i++) {
      array.readCount[0] = 0;
      array.read(0, 1);
      expected += 4096 * 8 * formula(1, 1, 1);
    }
    within3Sigma(r.rawBitErrors, expected, expected);
  });

  it.each([
    [60, 40],
    [30, 40],
    [45, 40],
  ])('a codeword with %i errors on average and t = %i fails as the Poisson tail says', (mean, t) => {
    // Retry does nothing here, so every failure to decode is one of the first read.
    const rate = mean / 8192;
    const ecc = { ...base.ecc, correctableBits: t, maxRetry: 0, readReclaimLimit: 1e9 };
    const array = aged(0, 0, 0, { ecc, rawBitErrors: { ...base.rawBitErrors, r0: rate, wordLineSigma: 0 } });
    const n = full ? 40_000 : 6_000;
    let failed = 0;
    for (let i = 0; i < n; i++) if (array.read(0, 1) === NandStatus.uncorrectable) failed++;
    const page = 1 - (1 - tail(t, mean)) ** 4;
    within3Sigma(failed, n * page, n * page * (1 - page) + 1e-9);
  });

  it('each retry level multiplies the rate, costs a round, and a soft decode comes last', () => {
    const rate = 90 / 8192;
    const ecc = {
      ...base.ecc,
      correctableBits: 40,
      maxRetry: 3,
      retryGain: 0.6,
      softReads: 5,
      softLimit: 1e-2,
      readReclaimLimit: 1e9,
      refreshAtRetries: 2,
    };
    const array = aged(0, 0, 0, { ecc, rawBitErrors: { ...base.rawBitErrors, r0: rate, wordLineSigma: 0 } });
    const r = array.reliability as NonNullable<typeof array.reliability>;
    const n = full ? 40_000 : 6_000;
    const levels = [0, 0, 0, 0];
    let soft = 0;
    for (let i = 0; i < n; i++) {
      expect(array.read(0, 1)).toBe(NandStatus.ok);
      if (array.lastSoftReads > 0) soft++;
      else levels[array.lastRetries]++;
    }
    const fail = [0, 1, 2, 3].map((level) => 1 - (1 - tail(40, 90 * 0.6 ** level)) ** 4);
    const expected = [1 - fail[0], fail[0] - fail[1], fail[1] - fail[2], fail[2] - fail[3]];
    expected.forEach((share, level) => {
      within3Sigma(levels[level], n * share, n * share * (1 - share) + 1e-6);
    });
    within3Sigma(soft, n * fail[3], n * fail[3] + 1e-6);
    expect(r.refreshQueue.length).toBe(levels[2] + levels[3] + soft);
  });

  it('beyond the soft limit a page is lost', () => {
    const ecc = { ...base.ecc, maxRetry: 2, retryGain: 1, softReads: 4, softLimit: 0.01, readReclaimLimit: 1e9 };
    const array = aged(0, 0, 0, { ecc, rawBitErrors: { ...base.rawBitErrors, r0: 0.05, wordLineSigma: 0 } });
    expect(array.read(0, 1)).toBe(NandStatus.uncorrectable);
    expect([array.lastRetries, array.lastSoftReads]).toEqual([2, 4]);
  });

  it('word lines differ by a fixed lognormal factor of the stated sigma', () => {
    const array = arrayOf(mlc({ ...base, factoryBad: 0 }, 1024), 2);
    const r = array.reliability as NonNullable<typeof array.reliability>;
    array.eraseCount.fill(base.ratedCycles);
    const logs: number[] = [];
    for (let block = 0; block < 2048; block++) {
      for (let page = 0; page < 16; page += 2)
        logs.push(Math.log(r.rawBitErrorRate(block * 16 + page) / (1e-6 + 2e-4)));
    }
    expect(r.rawBitErrorRate(0)).toBe(r.rawBitErrorRate(0));
    const mean = logs.reduce((sum, x) => sum + x, 0) / logs.length;
    const variance = logs.reduce((sum, x) => sum + (x - mean) ** 2, 0) / logs.length;
    within3Sigma(mean, 0, 0.09 / logs.length);
    within3Sigma(variance, 0.09, (2 * 0.09 ** 2) / logs.length);
  });

  it('a copyback brings its errors along', () => {
    const config = mlc({ ...base, factoryBad: 0, rawBitErrors: { ...base.rawBitErrors, wordLineSigma: 0 } }, 16);
    const array = new NandArray(
      { ...config, features: { ...config.features, copyback: true, maxCopybacks: 9 } },
      { random: new RandomSource(1) },
    );
    const r = array.reliability as NonNullable<typeof array.reliability>;
    fill(array, 0, 1);
    const one = r.rawBitErrorRate(0);
    array.copyback(0, 16);
    expect(r.rawBitErrorRate(16)).toBeCloseTo(2 * one, 12);
    array.copyback(16, 32);
    expect(r.rawBitErrorRate(32)).toBeCloseTo(3 * one, 12);
    fill(array, 3, 1);
    expect(r.rawBitErrorRate(48)).toBeCloseTo(one, 12);
  });

  it('a block read too often is queued for relocation once per erase', () => {
    const array = aged(0, 0, 0, { ecc: { ...base.ecc, readReclaimLimit: 10 } });
    const r = array.reliability as NonNullable<typeof array.reliability>;
    for (let i = 0; i < 10; i++) array.read(0, 1);
    expect(r.reclaimQueue).toEqual([]);
    for (let i = 0; i < 10; i++) array.read(0, 1);
    expect(r.reclaimQueue).toEqual([0]);
    array.erase(0);
    fill(array, 0, 1);
    for (let i = 0; i < 20; i++) array.read(0, 1);
    expect(r.reclaimQueue).toEqual([0, 0]);
  });
});

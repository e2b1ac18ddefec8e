import type { DistributionRecord, ExperimentResult, HeatmapRecord } from '@flashstack/experiment';
import { Histogram } from '@flashstack/sim';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { factsOf, joinedBins, joinedRows, reduced, rowMeans } from '../src/figures/device.js';
import { phaseBars, phaseSegments } from '../src/figures/latency.js';
import { waterfall } from '../src/figures/writes.js';
import { decades, decadeTicks, ninesTicks, roundSteps, spreadLabels, timeTicks } from '../src/plot/axes.js';
import { position } from '../src/plot/marks.js';
import { RunView } from '../src/view.js';
import { joined, ratePerSecond, thinned } from '../src/windows.js';
import { run } from './runs.js';

const full = process.env.CI !== undefined;
const runs = { numRuns: full ? 5000 : 300 };

let result: ExperimentResult;
let view: RunView;

beforeAll(async () => {
  result = await run();
  view = new RunView(result);
});

describe('sums are those of the result', () => {
  test('the waterfall ends at all slots programmed, each step where the one before ended', () => {
    const steps = waterfall(view);
    const last = steps[steps.length - 1];
    expect(last.to).toBe(result.analysis.programs.reduce((sum, part) => sum + part.slots, 0));
    expect(steps.find((step) => step.name === 'written to flash')?.to).toBe(result.metrics['ftl.hostSlots']);
    let at = 0;
    for (const step of steps) {
      if (step.sum) expect(step).toMatchObject({ from: 0, to: at });
      else {
        expect(step.from).toBe(at);
        at = step.to;
      }
    }
  });

  test('parts of a bar follow each other and end at exactly 1; the mean is the mean latency', () => {
    const bars = phaseBars(view);
    expect(bars.map((bar) => bar.label)).toContain('write p99');
    for (const bar of bars) {
      const segments = phaseSegments(bar);
      expect(segments[0].from).toBe(0);
      for (let i = 1; i < segments.length; i++) expect(segments[i].from).toBe(segments[i - 1].to);
      expect(segments[segments.length - 1].to).toBe(1);
    }
    for (const kind of ['read', 'write'] as const) {
      const mean = bars.find((bar) => bar.kind === kind && bar.group === '');
      expect(mean?.totalNs).toBeCloseTo(result.metrics[`ssd.${kind}.latencyNs.mean`], 3);
    }
  });

  test('the rate of all windows, each for the time it covers, is what was transferred', () => {
    const series = result.series['host.write.bytes'];
    const windows = ratePerSecond(series, view.spanNs);
    let bytes = 0;
    for (const [at, rate] of windows.values.entries()) {
      bytes += (rate * Math.min(series.intervalNs, view.spanNs - at * series.intervalNs)) / 1e9;
    }
    const left = series.sum.slice(windows.values.length).reduce((sum, value) => sum + value, 0);
    expect(bytes + left).toBeCloseTo(result.metrics['host.write.bytes'], 0);
  });

  test('rows of a heat map are as busy as the counters say', () => {
    const means = rowMeans(result.heatmaps['nand.busy'], view.spanNs);
    const mean = means.reduce((sum, value) => sum + value, 0) / means.length;
    expect(mean).toBeCloseTo(result.metrics['nand.busyFraction.mean'], 1);
    const channels = rowMeans(result.heatmaps['channel.busy'], view.spanNs);
    expect(Math.max(...channels)).toBeCloseTo(result.metrics['channel.busyFraction.max'], 1);
  });

  test('percentiles are those of the result', () => {
    for (const [key, beyond] of [
      ['p50', 0.5],
      ['p99', 0.01],
    ] as const) {
      expect(view.percentile('write', beyond)).toBe(result.metrics[`host.write.latencyNs.${key}`]);
    }
  });
});

describe('what is joined keeps its sums', () => {
  const series = fc.array(fc.nat(1000), { minLength: 1, maxLength: 700 }).map((sum) => ({
    intervalNs: 1000,
    count: sum.map((value) => (value === 0 ? 0 : 1)),
    sum,
    min: sum.map((value) => (value === 0 ? null : value)),
    max: sum.map((value) => (value === 0 ? null : value)),
  }));
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

  test('windows', () => {
    fc.assert(
      fc.property(series, fc.integer({ min: 1, max: 300 }), (given, most) => {
        const fewer = joined(given, most);
        expect(fewer.sums.length).toBeLessThanOrEqual(most);
        expect(total(fewer.sums)).toBe(total(given.sum));
        expect(total(fewer.counts)).toBe(total(given.count));
        expect(fewer.sums.length * fewer.intervalNs).toBeGreaterThanOrEqual(given.sum.length * given.intervalNs);
        const values = { intervalNs: 1000, values: given.sum };
        expect(thinned(values, most).values.length).toBeLessThanOrEqual(most);
      }),
      runs,
    );
  });

  test('bins', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(50), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 80 }),
        (counts, most) => {
          const distribution: DistributionRecord = { unit: 'x', from: 3, binWidth: 2, counts };
          const fewer = joinedBins(distribution, most);
          expect(fewer.counts.length).toBeLessThanOrEqual(most);
          expect(total(fewer.counts)).toBe(total(counts));
          if (total(counts) > 0) {
            const [before, after] = [factsOf(distribution), factsOf(fewer)];
            expect(after.total).toBe(before.total);
            expect(Math.abs(after.mean - before.mean)).toBeLessThanOrEqual(fewer.binWidth);
          }
        },
      ),
      runs,
    );
  });

  test('heat maps keep the mean of a row', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 60 }),
        fc.infiniteStream(fc.nat(1000)),
        (rows, columns, stream) => {
          const permille = Array.from({ length: rows * columns }, () => stream.next().value);
          const names = Array.from({ length: rows }, (_, row) => `c${row} d0`);
          const map: HeatmapRecord = { widthNs: 1000, columns, rows: names, permille };
          const cells = reduced(map, rows * columns);
          expect(cells.flat()).toEqual(permille.map((value) => value / 1000));
          for (const row of reduced(map, rows * 7)) expect(row.length).toBeLessThanOrEqual(7);
          const whole = joinedRows(map, 1);
          expect(whole.rows.length).toBe(rows === 3 ? 3 : 1);
          expect(total(whole.permille) / whole.rows.length).toBeCloseTo(total(permille) / rows, 6);
        },
      ),
      runs,
    );
  });
});

describe('axes', () => {
  const positive = fc.double({ min: 1e-3, max: 1e12, noNaN: true });

  test('round steps are even, ascending, within the axis and about as many as wanted', () => {
    fc.assert(
      fc.property(positive, fc.integer({ min: 2, max: 8 }), (most, wanted) => {
        const steps = roundSteps(0, most, wanted);
        expect(steps[0]).toBe(0);
        expect(steps.length).toBeGreaterThanOrEqual(2);
        expect(steps.length).toBeLessThanOrEqual(wanted * 1.25 + 2);
        const step = steps[1];
        for (const [i, value] of steps.entries()) expect(value / step).toBeCloseTo(i, 6);
        expect(steps[steps.length - 1]).toBeLessThanOrEqual(most * (1 + 1e-6));
        expect(steps[steps.length - 1] + step).toBeGreaterThan(most * (1 - 1e-6));
      }),
      runs,
    );
  });

  test('only the last tick of a time axis names the unit', () => {
    const ticks = timeTicks(120e9, 6);
    expect(ticks.at.map(ticks.label)).toEqual(['0', '20', '40', '60', '80', '100', '120\u00a0s']);
    const short = timeTicks(3.5e6, 3);
    expect(short.at.map(short.label)).toEqual(['0', '1', '2', '3\u00a0ms']);
  });

  test('decades hold every value', () => {
    fc.assert(
      fc.property(fc.array(positive, { minLength: 1, maxLength: 20 }), (values) => {
        const [low, high] = decades(values);
        expect(low).toBeLessThanOrEqual(Math.min(...values) * (1 + 1e-8));
        expect(high).toBeGreaterThanOrEqual(Math.max(...values) * (1 - 1e-8));
        const ticks = decadeTicks(low, high, 5);
        expect(ticks.length).toBeLessThanOrEqual(6);
        expect(ticks[0]).toBeCloseTo(low, 12);
      }),
      runs,
    );
    expect(decades([])).toEqual([1, 10]);
    expect(decades([100])).toEqual([100, 1000]);
  });

  test('percentiles in nines', () => {
    const ticks = ninesTicks(3.4, false);
    expect(ticks.at.map(ticks.label)).toEqual(['0', '50', '90', '99', '99.9\u00a0%']);
    expect(ninesTicks(3.4, true).at).toEqual([0, 1, 2, 3]);
  });

  test('a value lies on a scale where it should', () => {
    expect(position({ type: 'log', domain: [10, 1000] }, 100)).toBeCloseTo(0.5, 12);
    expect(position({ type: 'linear', domain: [1, 3] }, 2.5)).toBe(0.75);
  });

  test('labels do not overlap, keep their order and stay inside where they fit', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 200, noNaN: true }), { minLength: 1, maxLength: 10 }), (wanted) => {
        const placed = spreadLabels(wanted, 14, 200);
        const sorted = placed.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b] || a - b);
        for (let i = 1; i < sorted.length; i++) {
          expect(placed[sorted[i]] - placed[sorted[i - 1]]).toBeGreaterThanOrEqual(14 - 1e-9);
        }
        expect(Math.min(...placed)).toBeGreaterThanOrEqual(-1e-9);
        expect(Math.max(...placed)).toBeLessThanOrEqual(200 + 1e-9);
      }),
      runs,
    );
  });
});

test('a percentile with fewer than ten requests beyond it is not told', () => {
  const latencies = new Histogram();
  latencies.recordMany(1000, 999);
  const few = { ...result, histograms: { 'host.write.latencyNs': latencies.toRecord() } };
  expect(new RunView(few).percentile('write', 0.01)).toBeNaN();
  expect(new RunView(few).percentile('write', 0.1)).toBe(1000);
});

import fc from 'fast-check';
import { build } from 'hdr-histogram-js';
import { describe, expect, it } from 'vitest';
import {
  fanOut,
  Histogram,
  RandomSource,
  SimulationError,
  StatsRegistry,
  TimeSeries,
  Utilisation,
} from '../src/index.js';

const full = process.env.CI !== undefined;
const runs = { numRuns: full ? 1000 : 100 };
const percents = [0, 0.1, 10, 50, 90, 99, 99.9, 99.99, 99.999, 100];
const values = fc.array(
  fc.oneof(fc.nat(1000), fc.nat(), fc.maxSafeNat(), fc.constantFrom(255, 256, 2 ** 31, 2 ** 32, 2 ** 52)),
  {
    minLength: 1,
    maxLength: 300,
  },
);

function fill(numbers: readonly number[]): Histogram {
  const histogram = new Histogram();
  for (const number of numbers) histogram.record(number);
  return histogram;
}

describe('histogram', () => {
  it('percentiles are at most 1 % above the exact ones, and never below', () => {
    fc.assert(
      fc.property(values, (numbers) => {
        const histogram = fill(numbers);
        const sorted = [...numbers].sort((a, b) => a - b);
        for (const percent of percents) {
          const rank = Math.max(1, Math.ceil((percent * 1000 * numbers.length) / 100_000));
          const exact = sorted[rank - 1];
          const found = histogram.percentile(percent);
          expect(found).toBeGreaterThanOrEqual(exact);
          expect(found - exact).toBeLessThanOrEqual(exact / 128);
        }
        expect([histogram.min, histogram.max]).toEqual([sorted[0], sorted[sorted.length - 1]]);
      }),
      runs,
    );
  });

  it('agrees with HdrHistogram at two significant digits', () => {
    const random = new RandomSource(1).stream('latency');
    const histogram = new Histogram();
    const hdr = build({
      lowestDiscernibleValue: 1,
      highestTrackableValue: 2 ** 40,
      numberOfSignificantValueDigits: 2,
      useWebAssembly: false,
    });
    for (let i = 0; i < (full ? 300_000 : 30_000); i++) {
      const value = Math.floor(2 ** (random.nextFloat() * 38));
      histogram.record(value);
      hdr.recordValue(value);
    }
    for (const percent of percents.filter((p) => p > 0)) {
      const theirs = hdr.getValueAtPercentile(percent);
      expect(histogram.percentile(percent)).toBe(Math.min(theirs, histogram.max));
    }
    expect(histogram.count).toBe(hdr.totalCount);
  });

  it('count, sum, minimum, maximum and mean are exact, also beyond 2^53', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.maxSafeNat(), fc.oneof(fc.constant(1), fc.nat(1000))), { maxLength: 50 }),
        (pairs) => {
          const histogram = new Histogram();
          let sum = 0n;
          for (const [value, times] of pairs) {
            histogram.recordMany(value, times);
            sum += BigInt(value) * BigInt(times);
          }
          const { sumHigh, sumLow } = histogram.toRecord();
          expect(BigInt(sumHigh) * 2n ** 52n + BigInt(sumLow)).toBe(sum);
          expect(sumLow).toBeLessThan(2 ** 52);
          expect(histogram.sum).toBe(Number(sum));
        },
      ),
      runs,
    );
  });

  it('merges without loss, in any order, and survives a result file', () => {
    fc.assert(
      fc.property(values, values, (a, b) => {
        const whole = fill([...a, ...b]).toRecord();
        const ab = fill(a);
        ab.merge(fill(b));
        const ba = fill(b);
        ba.merge(fill(a));
        expect(ab.toRecord()).toEqual(whole);
        expect(ba.toRecord()).toEqual(whole);
        const read = Histogram.fromRecord(JSON.parse(JSON.stringify(whole)));
        expect(read.toRecord()).toEqual(whole);
        expect(read.percentile(99)).toBe(ab.percentile(99));
      }),
      runs,
    );
  });

  it('is compact in a result file', () => {
    const random = new RandomSource(1).stream('latency');
    const histogram = new Histogram();
    for (let i = 0; i < 100_000; i++) histogram.record(50_000 + random.below(2_000_000));
    expect(JSON.stringify(histogram.toRecord()).length).toBeLessThan(8000);
  });

  it('visits its buckets in order, and they hold every value', () => {
    const numbers = [0, 1, 255, 256, 257, 258, 1000, 123_456_789_012, Number.MAX_SAFE_INTEGER];
    const seen: [number, number, number][] = [];
    fill(numbers).forEach((from, to, count) => {
      seen.push([from, to, count]);
    });
    expect(seen.reduce((sum, [, , count]) => sum + count, 0)).toBe(numbers.length);
    for (const number of numbers) expect(seen.some(([from, to]) => from <= number && number <= to)).toBe(true);
    for (let at = 1; at < seen.length; at++) expect(seen[at][0]).toBeGreaterThan(seen[at - 1][1]);
  });

  it('empty: all zero; refuses what is no count', () => {
    const histogram = new Histogram();
    expect([histogram.count, histogram.min, histogram.max, histogram.mean, histogram.percentile(99)]).toEqual([
      0, 0, 0, 0, 0,
    ]);
    expect(Histogram.fromRecord(histogram.toRecord()).count).toBe(0);
    for (const value of [-1, 0.5, Number.NaN, 2 ** 53]) expect(() => histogram.record(value)).toThrow(RangeError);
    expect(() => histogram.recordMany(1, -1)).toThrow(RangeError);
    expect(() => histogram.percentile(101)).toThrow(RangeError);
    const record = fill([1, 2, 3]).toRecord();
    expect(() => Histogram.fromRecord({ ...record, count: 4 })).toThrow(/buckets hold 3 values, but count says 4/);
    expect(() => Histogram.fromRecord({ ...record, buckets: [-5, 3] })).toThrow(RangeError);
    histogram.record(5);
    histogram.reset();
    expect(histogram.toRecord()).toEqual(new Histogram().toRecord());
  });
});

describe('time series', () => {
  it('keeps every sample in bounded memory, as a naive regrouping of all samples says', () => {
    const sample = fc.tuple(fc.nat(100_000), fc.integer({ min: -1000, max: 1000 }));
    fc.assert(
      fc.property(
        fc.array(sample, { minLength: 1, maxLength: 200 }),
        fc.constantFrom(2, 4, 16),
        (samples, capacity) => {
          const series = new TimeSeries(10, capacity);
          for (const [time, value] of samples) series.add(time, value);
          const record = series.toRecord();
          const latest = Math.max(...samples.map(([time]) => time));
          let interval = 10;
          while (latest >= interval * capacity) interval *= 2;
          expect(record.intervalNs).toBe(interval);
          const length = Math.floor(latest / interval) + 1;
          const groups = Array.from({ length }, (_, at) =>
            samples.filter(([time]) => Math.floor(time / interval) === at).map(([, value]) => value),
          );
          expect(record.count).toEqual(groups.map((group) => group.length));
          expect(record.sum).toEqual(groups.map((group) => group.reduce((a, b) => a + b, 0)));
          expect(record.min).toEqual(groups.map((group) => (group.length === 0 ? null : Math.min(...group))));
          expect(record.max).toEqual(groups.map((group) => (group.length === 0 ? null : Math.max(...group))));
          expect(series.length).toBeLessThanOrEqual(capacity);
        },
      ),
      runs,
    );
  });

  it('refuses sizes and times that make no sense', () => {
    expect(() => new TimeSeries(0)).toThrow(RangeError);
    expect(() => new TimeSeries(1, 3)).toThrow(/even integer/);
    expect(() => new TimeSeries().add(-1, 0)).toThrow(RangeError);
    expect(() => new TimeSeries().add(Number.NaN, 0)).toThrow(RangeError);
  });
});

describe('utilisation', () => {
  it('integrates busy time and level', () => {
    const dies = new Utilisation();
    dies.enter(10);
    dies.enter(20);
    dies.leave(40);
    dies.leave(50);
    dies.enter(80);
    expect(dies.busyNs(100)).toBe(60);
    expect(dies.busyFraction(100)).toBe(0.6);
    expect(dies.meanLevel(100)).toBe((10 + 2 * 20 + 10 + 20) / 100);
    expect(dies.present).toBe(1);
    dies.reset(100);
    dies.leave(125);
    dies.add(5);
    expect(dies.busyNs(150)).toBe(30);
    expect(dies.busyFraction(200)).toBe(0.3);
    expect(() => dies.leave(200)).toThrow(/more left than entered/);
    expect(() => dies.enter(10)).toThrow(/is before/);
    expect(new Utilisation().busyFraction(0)).toBe(0);
  });
});

describe('registry', () => {
  it('reads what layers registered, flat and in alphabetical order', () => {
    const registry = new StatsRegistry();
    const stats = { requests: 3, bytes: 4096, label: 'not a number' };
    const latency = new Histogram();
    registry.layer('ftl').gauge('waf', () => 2.5);
    registry.layer('host.read').counters(stats);
    registry.layer('host.read').histogram('latencyNs', latency);
    registry.layer('ftl').series('waf', new TimeSeries());
    stats.requests = 7;
    latency.record(100);
    latency.record(200);
    expect(Object.entries(registry.read())).toEqual([
      ['ftl.waf', 2.5],
      ['host.read.bytes', 4096],
      ['host.read.latencyNs.max', 200],
      ['host.read.latencyNs.mean', 150],
      ['host.read.latencyNs.p50', 100],
      ['host.read.latencyNs.p99', 200],
      ['host.read.latencyNs.p999', 200],
      ['host.read.requests', 7],
    ]);
    expect([...registry.histograms.keys(), ...registry.allSeries.keys()]).toEqual(['host.read.latencyNs', 'ftl.waf']);
  });

  it('computes a group of numbers once for each reading', () => {
    const registry = new StatsRegistry();
    let computed = 0;
    registry.group('health', ['blocks', 'readOnly'], () => ({ blocks: ++computed, readOnly: true, other: 5 }));
    expect(registry.read()).toEqual({ 'health.blocks': 1, 'health.readOnly': 1 });
    expect(registry.read()).toEqual({ 'health.blocks': 2, 'health.readOnly': 1 });
    expect(() => registry.group('health', ['blocks'], () => ({ blocks: 1 }))).toThrow(/registered twice/);
  });

  it('refuses a name twice, malformed names and numbers that are not finite', () => {
    const registry = new StatsRegistry();
    registry.gauge('a.b', () => Number.NaN);
    expect(() => registry.gauge('a.b', () => 1)).toThrow(/registered twice/);
    for (const name of ['', 'A.b', 'a..b', 'a.b c'])
      expect(() => registry.gauge(name, () => 1)).toThrow(SimulationError);
    expect(() => registry.read()).toThrow(/metric "a.b" is NaN/);
  });
});

describe('probes', () => {
  interface DeviceProbe {
    erased(block: number, atNs: number): void;
    read(ppn: number): void;
  }

  it('fan out to all listeners in their order; none is null and one is itself', () => {
    const log: string[] = [];
    class Listener implements DeviceProbe {
      readonly name: string;
      constructor(name: string) {
        this.name = name;
      }
      erased(block: number, atNs: number): void {
        log.push(`${this.name} erased ${block} at ${atNs}`);
      }
      read(ppn: number): void {
        log.push(`${this.name} read ${ppn}`);
      }
    }
    const a = new Listener('a');
    const both = fanOut<DeviceProbe>(['erased', 'read'], [a, new Listener('b')]);
    both?.erased(5, 100);
    both?.read(7);
    expect(log).toEqual(['a erased 5 at 100', 'b erased 5 at 100', 'a read 7', 'b read 7']);
    expect(fanOut<DeviceProbe>(['erased', 'read'], [a])).toBe(a);
    expect(fanOut<DeviceProbe>(['erased', 'read'], [])).toBeNull();
  });
});

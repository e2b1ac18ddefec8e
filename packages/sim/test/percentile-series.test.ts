import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PercentileSeries } from '../src/index.js';

const full = process.env.CI !== undefined;

describe('percentiles over time', () => {
  test('agree with sorted values, to 1/32, in windows that double', () => {
    const sample = fc.record({ time: fc.nat(20_000), value: fc.oneof(fc.nat(100), fc.nat(1e6), fc.maxSafeNat()) });
    fc.assert(
      fc.property(
        fc.array(sample, { minLength: 1, maxLength: 400 }),
        fc.constantFrom(50, 90, 99),
        (samples, percent) => {
          const series = new PercentileSeries(1000, 8);
          for (const { time, value } of samples) series.add(time, value);
          const last = Math.max(...samples.map(({ time }) => time));
          let interval = 1000;
          while (Math.floor(last / interval) >= 8) interval *= 2;
          const record = series.toRecord(percent);
          expect(record.intervalNs).toBe(interval);
          for (const [window, found] of record.max.entries()) {
            const values = samples
              .filter(({ time }) => Math.floor(time / interval) === window)
              .map(({ value }) => value)
              .sort((a, b) => a - b);
            if (values.length === 0) {
              expect(found).toBeNull();
              expect(record.count[window]).toBe(0);
              continue;
            }
            const exact = values[Math.ceil((values.length * percent) / 100) - 1];
            expect(record.sum[window] / record.count[window]).toBe(found);
            // Beyond 2^48 everything shares one bucket.
            if (exact >= 2 ** 48) continue;
            expect(found).toBeGreaterThanOrEqual(exact);
            expect(found).toBeLessThanOrEqual(exact + exact / 32);
          }
        },
      ),
      { numRuns: full ? 1000 : 100 },
    );
  });

  test('refuse impossible sizes', () => {
    expect(() => new PercentileSeries(0)).toThrow(RangeError);
    expect(() => new PercentileSeries(1, 3)).toThrow(RangeError);
    expect(() => new PercentileSeries().toRecord(100)).toThrow(RangeError);
  });
});

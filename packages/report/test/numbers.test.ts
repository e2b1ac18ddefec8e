import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  asGiven,
  bytes,
  change,
  count,
  duration,
  latencyUnit,
  measured,
  percent,
  short,
  significant,
  split,
  UNKNOWN,
  withDigits,
} from '../src/numbers.js';

const full = process.env.CI !== undefined;
const runs = { numRuns: full ? 20_000 : 1000 };
const units: Readonly<Record<string, number>> = {
  ns: 1,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  B: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  PiB: 2 ** 50,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  '': 1,
};

/** What a reader takes from a text. */
function read(text: string): number {
  const { value, unit } = split(text);
  return Number(value.replaceAll('\u202f', '').replace('\u2212', '-')) * units[unit];
}

const positive = fc.double({ min: 1, max: 1e15, noNaN: true });

describe('what is written is what a reader takes from it, within half a per cent', () => {
  test.each([
    ['duration', duration],
    ['bytes', bytes],
    ['short', short],
    ['significant', significant],
  ])('%s', (_, format) => {
    fc.assert(
      fc.property(positive, (value) => {
        expect(Math.abs(read(format(value)) / value - 1)).toBeLessThanOrEqual(0.005001);
      }),
      runs,
    );
  });

  test('counts are exact', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(read(count(value))).toBe(value === 0 ? 0 : value);
      }),
      runs,
    );
  });
});

test('there is never a value of a thousand that has a next unit, nor an exponent, nor a negative zero', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e15, noNaN: true }), (value) => {
      const text = duration(value);
      expect(text).not.toMatch(/e|NaN|Infinity|^\u2212?-?0\u00a0s/);
      const { value: digits, unit } = split(text);
      if (unit !== 's') expect(read(`${digits}\u00a0`)).toBeLessThan(1000);
      for (const other of [significant(-value * 1e-9), count(-value * 1e-16), percent(value * 1e-15)]) {
        expect(other).not.toMatch(/^\u22120(\.0*)?$|-|e/);
      }
    }),
    runs,
  );
});

test('three significant digits', () => {
  expect([0, 0.01234, 4.561, 78.94, 123.4, 12_345, 999.6, 99.96, 9.996].map(significant)).toEqual([
    '0',
    '0.0123',
    '4.56',
    '78.9',
    '123',
    '12\u202f300',
    '1\u202f000',
    '100',
    '10.0',
  ]);
});

test('rounding carries into the next unit', () => {
  expect(duration(999_600)).toBe('1.00\u00a0ms');
  expect(duration(999.6)).toBe('1.00\u00a0µs');
  expect(duration(999)).toBe('999\u00a0ns');
  expect(bytes(2 ** 20)).toBe('1.00\u00a0MiB');
});

test('sizes keep binary names, counts are grouped by narrow spaces that do not break', () => {
  expect(bytes(512)).toBe('512\u00a0B');
  expect(bytes(1536)).toBe('1.50\u00a0KiB');
  expect(count(13_751_424)).toBe('13\u202f751\u202f424');
  expect(count(-2140)).toBe('\u22122\u202f140');
});

test('shares: one decimal below ten per cent, none above', () => {
  expect([0, 0.0001, 0.0123, 0.0996, 0.1, 0.655, 1].map(percent)).toEqual([
    '0\u00a0%',
    '<\u00a00.1\u00a0%',
    '1.2\u00a0%',
    '10\u00a0%',
    '10\u00a0%',
    '66\u00a0%',
    '100\u00a0%',
  ]);
});

test('changes carry their sign', () => {
  expect([1, 1.384, 0.5, 1.0301, 0.9699, 3].map(change)).toEqual([
    '0\u00a0%',
    '+38\u00a0%',
    '\u221250\u00a0%',
    '+3.0\u00a0%',
    '\u22123.0\u00a0%',
    '+200\u00a0%',
  ]);
});

test('what is not known is a dash', () => {
  for (const format of [significant, count, short, duration, bytes, percent, change]) {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      expect(format(value)).toBe(UNKNOWN);
    }
  }
});

test('the unit of a column keeps its largest value readable', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e12, noNaN: true }), (largest) => {
      const { unit, ns } = latencyUnit(largest);
      expect(units[unit]).toBe(ns);
      expect(largest / ns).toBeLessThan(1e5);
      expect(largest / ns).toBeGreaterThanOrEqual(1);
    }),
    runs,
  );
});

test('given values keep their digits, measured ones have three', () => {
  expect([0, 3.1, 16, 0.025, 2200, -46, 1234.5, 1e-6].map((value) => asGiven(value))).toEqual([
    '0',
    '3.1',
    '16',
    '0.025',
    '2\u202f200',
    '−46',
    '1\u202f234.5',
    '0.000001',
  ]);
  expect(asGiven(2.5e-9)).toBe('2.5\u00a0×\u00a010⁻⁹');
  expect(asGiven(6.02e23)).toBe('6.02\u00a0×\u00a010²³');
  expect(asGiven(0.1 + 0.2)).toBe('0.3');
  expect(asGiven(2156.00000001, 6)).toBe('2\u202f156');
  expect(asGiven(Number.NaN)).toBe(UNKNOWN);
  expect([3.1, 1.2345e-8, 0, -0.5].map((value) => measured(value))).toEqual([
    '3.10',
    '1.23\u00a0×\u00a010⁻⁸',
    '0',
    '−0.500',
  ]);
  expect(withDigits(2162.4, 5)).toBe('2\u202f162.4');
});

import { describe, expect, test } from 'vitest';
import {
  dChoicesWriteAmplification,
  fifoHotColdWriteAmplification,
  fifoWriteAmplification,
  firstOrderWriteAmplification,
  greedyWriteAmplification,
  lambertW0,
  optimalSeparation,
  randomWriteAmplification,
  separatedWriteAmplification,
  slotsInUseWithTrims,
} from '../src/index.js';

test('lambertW0 is the inverse of w·e^w', () => {
  for (let w = -0.999; w < 8; w += 0.037) expect(lambertW0(w * Math.exp(w))).toBeCloseTo(w, 7);
  expect(lambertW0(1)).toBeCloseTo(0.5671432904097838, 14);
  expect(lambertW0(0)).toBe(0);
  expect(() => lambertW0(-0.4)).toThrow(RangeError);
});

describe('published reference values, by utilisation', () => {
  const rows: readonly [number, number, (number | null)[], number][] = [
    // u, FIFO, greedy with blocks of 32, 64, 128, 256 slots, random
    [0.7, 1.876, [1.792, 1.833, 1.854, 1.865], 3.333],
    [0.75, 2.201, [null, 2.14, 2.17, 2.185], 4],
    [0.8, 2.693, [2.51, 2.598, 2.645, 2.668], 5],
    [0.85, 3.519, [null, 3.353, 3.434, 3.476], 6.667],
    [0.873, 4.119, [null, 3.891, 4.002, 4.059], 7.874],
    [0.9, 5.179, [4.502, 4.816, 4.99, 5.083], 10],
    [0.93, 7.318, [null, 6.6, 6.94, 7.124], 14.29],
  ];
  test.each(rows)('u = %d', (u, fifo, greedy, random) => {
    expect(fifoWriteAmplification(1 / u)).toBeCloseTo(fifo, 3);
    greedy.forEach((value, i) => {
      if (value !== null) expect(Math.abs(greedyWriteAmplification(1 / u, 32 << i) - value)).toBeLessThan(0.0006);
    });
    expect(Math.abs(randomWriteAmplification(1 / u) - random)).toBeLessThan(0.006);
  });
});

test('reference values, by over-provisioning', () => {
  const rows = [
    [0.05, 10.672, 9.192, 10.258, 10.566, 21],
    [0.07, 7.817, 7.001, 7.595, 7.761, 15.29],
    [0.1, 5.677, 5.242, 5.562, 5.648, 11],
    [0.125, 4.68, 4.384, 4.602, 4.66, 9],
    [0.2, 3.188, 3.053, 3.153, 3.179, 6],
    [0.25, 2.693, 2.598, 2.668, 2.687, 5],
    [0.28, 2.481, 2.402, 2.461, 2.476, 4.57],
    [0.3, 2.364, 2.293, 2.346, 2.36, 4.33],
    [0.5, 1.716, 1.681, 1.707, 1.714, 3],
    [1, 1.255, 1.239, 1.251, 1.254, 2],
  ];
  for (const [rho, fifo, n64, n256, n1024, random] of rows) {
    const alpha = 1 + rho;
    expect(Math.abs(fifoWriteAmplification(alpha) - fifo)).toBeLessThan(0.0011);
    expect(Math.abs(greedyWriteAmplification(alpha, 64) - n64)).toBeLessThan(0.0011);
    expect(Math.abs(greedyWriteAmplification(alpha, 256) - n256)).toBeLessThan(0.0011);
    expect(Math.abs(greedyWriteAmplification(alpha, 1024) - n1024)).toBeLessThan(0.0011);
    expect(Math.abs(randomWriteAmplification(alpha) - random)).toBeLessThan(0.006);
  }
});

test('the FIFO form satisfies its own equation and bounds the others', () => {
  for (const alpha of [1.02, 1.07, 1.28, 2, 4]) {
    const a = fifoWriteAmplification(alpha);
    expect(1 / a).toBeCloseTo(1 - Math.exp(-alpha / a), 12);
    expect(greedyWriteAmplification(alpha, 64)).toBeLessThan(a);
    expect(firstOrderWriteAmplification(alpha)).toBeLessThan(a);
    expect(randomWriteAmplification(alpha)).toBeGreaterThan(a);
  }
  expect(firstOrderWriteAmplification(1.3)).toBeCloseTo(2.17, 2);
});

test('hot and cold data: FIFO, and separated', () => {
  const hot8020 = [
    { writes: 0.8, slots: 0.2 },
    { writes: 0.2, slots: 0.8 },
  ];
  const hot9010 = [
    { writes: 0.9, slots: 0.1 },
    { writes: 0.1, slots: 0.9 },
  ];
  expect(fifoHotColdWriteAmplification(1.25, hot8020)).toBeCloseTo(3.034, 3);
  expect(fifoHotColdWriteAmplification(1.25, hot9010)).toBeCloseTo(3.533, 3);
  expect(optimalSeparation(1.25, hot8020).writeAmplification).toBeCloseTo(1.998, 3);
  expect(optimalSeparation(1.25, hot9010).writeAmplification).toBeCloseTo(1.481, 3);
  // Equal classes are uniform data.
  const equal = [
    { writes: 0.5, slots: 0.5 },
    { writes: 0.5, slots: 0.5 },
  ];
  expect(fifoHotColdWriteAmplification(1.25, equal)).toBeCloseTo(fifoWriteAmplification(1.25), 10);
});

test('no split of the space beats the optimal one', () => {
  const classes = [
    { writes: 0.7, slots: 0.2 },
    { writes: 0.2, slots: 0.3 },
    { writes: 0.1, slots: 0.5 },
  ];
  const best = optimalSeparation(1.2, classes);
  expect(classes.reduce((sum, kind, k) => sum + kind.slots * best.alphas[k], 0)).toBeCloseTo(1.2, 9);
  for (const [from, to] of [
    [0, 1],
    [1, 2],
    [2, 0],
  ]) {
    const alphas = [...best.alphas];
    alphas[from] -= 0.003 / classes[from].slots;
    alphas[to] += 0.003 / classes[to].slots;
    expect(separatedWriteAmplification(classes, alphas)).toBeGreaterThan(best.writeAmplification);
  }
});

test('d-choices: mean field, and its limits', () => {
  expect(dChoicesWriteAmplification(1 / 0.8, 32, 2)).toBeCloseTo(3.49, 2);
  expect(dChoicesWriteAmplification(1 / 0.8, 32, 10)).toBeCloseTo(2.603, 2);
  expect(dChoicesWriteAmplification(1 / 0.9, 32, 10)).toBeCloseTo(4.736, 2);
  expect(dChoicesWriteAmplification(1 / 0.7, 32, 2)).toBeCloseTo(2.394, 2);
  expect(dChoicesWriteAmplification(1.25, 32, 1)).toBe(5);
  const greedy = greedyWriteAmplification(1.25, 32);
  expect(Math.abs(dChoicesWriteAmplification(1.25, 32, 1000) / greedy - 1)).toBeLessThan(0.01);
});

test('trims leave fewer slots in use', () => {
  expect(slotsInUseWithTrims(1000, 0)).toBe(1000);
  expect(slotsInUseWithTrims(1000, 0.1)).toBeCloseTo(888.889, 3);
  expect(() => slotsInUseWithTrims(1000, 0.5)).toThrow(/below 0.5/);
});

test('impossible input is refused', () => {
  expect(() => fifoWriteAmplification(1)).toThrow(/above 1/);
  expect(() => fifoHotColdWriteAmplification(1.2, [{ writes: 0.5, slots: 1 }])).toThrow(/sum to 1/);
});

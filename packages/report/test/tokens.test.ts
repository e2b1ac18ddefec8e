import { describe, expect, test } from 'vitest';
import { dark, light, type Token } from '../src/index.js';
import { causeSwatches, phaseSwatches, withColors } from '../src/tokens.js';
import { contrast, difference, type Vision } from './color-vision.js';

const origins: readonly Token[] = [
  'hostData',
  'fsNode',
  'journal',
  'checkpoint',
  'cleaning',
  'gc',
  'merge',
  'mapping',
  'padding',
];
const phases: readonly Token[] = Object.values(phaseSwatches).map((swatch) => swatch.token);
const blind: readonly Vision[] = ['protanopia', 'deuteranopia', 'tritanopia'];

function pairs(tokens: readonly Token[]): [Token, Token][] {
  return tokens.flatMap((a, i) => tokens.slice(i + 1).map((b): [Token, Token] => [a, b]));
}

function neighbours(tokens: readonly Token[]): [Token, Token][] {
  return tokens.slice(1).map((b, i): [Token, Token] => [tokens[i], b]);
}

describe.each([
  ['light', light],
  ['dark', dark],
])('%s', (_, theme) => {
  const closest = (of: [Token, Token][], vision: Vision): number =>
    Math.min(...of.map(([a, b]) => difference(theme[a], theme[b], vision)));

  test('any two write origins can be told apart, also by readers who see fewer colours', () => {
    expect(closest(pairs(origins), 'normal')).toBeGreaterThanOrEqual(16);
    for (const vision of blind) expect(closest(pairs(origins), vision), vision).toBeGreaterThanOrEqual(8);
  });

  test('origins that are stacked side by side differ more, also in grey', () => {
    for (const vision of blind) expect(closest(neighbours(origins), vision), vision).toBeGreaterThanOrEqual(11);
    expect(closest(neighbours(origins), 'grey')).toBeGreaterThanOrEqual(7);
  });

  test('any two phases of a request can be told apart', () => {
    expect(closest(pairs(phases), 'normal')).toBeGreaterThanOrEqual(10);
    for (const vision of blind) expect(closest(pairs(phases), vision), vision).toBeGreaterThanOrEqual(7.5);
  });

  test('text has enough contrast on the page, badges on their ground', () => {
    for (const token of ['ink', 'muted', 'faint', 'accent', 'pass', 'miss', 'warn', 'skip'] as const) {
      expect(contrast(theme[token], theme.page), token).toBeGreaterThanOrEqual(4.5);
    }
    expect(contrast(theme.muted, theme.page)).toBeGreaterThanOrEqual(5.6);
    for (const token of ['pass', 'miss', 'warn', 'skip'] as const) {
      expect(contrast(theme[token], theme[`${token}Bg`]), token).toBeGreaterThanOrEqual(4.5);
    }
  });

  test('fills can be seen on the page', () => {
    for (const token of [...origins, ...phases]) {
      expect(contrast(theme[token], theme.page), token).toBeGreaterThanOrEqual(1.6);
    }
  });

  test('the steps of a magnitude go one way', () => {
    const steps = (['h0', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'h7', 'h8'] as const).map((step) =>
      contrast(theme[step], theme.page),
    );
    expect([...steps].sort((a, b) => a - b)).toEqual(steps);
  });
});

test('both themes have every token', () => {
  expect(Object.keys(dark)).toEqual(Object.keys(light));
});

test('contrast and difference agree with known values', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21, 6);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  // OKLab of black and white differ in lightness alone, by all of it.
  expect(difference('#000000', '#ffffff', 'normal')).toBeCloseTo(100, 3);
  expect(difference('#123456', '#123456', 'tritanopia')).toBe(0);
});

test('every cause has a colour, and varieties of one colour differ by their hatch', () => {
  const looks = Object.values(causeSwatches).map((swatch) => `${swatch.token} ${swatch.hatched}`);
  expect(new Set(looks).size).toBe(looks.length);
});

test('replacing tokens leaves what is none', () => {
  expect(withColors('fill="var(--gc)" stroke="var(--nothing)"', light)).toBe(
    `fill="${light.gc}" stroke="var(--nothing)"`,
  );
});

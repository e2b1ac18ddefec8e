import { describe, expect, test } from 'vitest';
import { Numbers } from '../src/numbers.js';
import { Progress } from '../src/progress.js';
import { shares, waits } from '../src/summary.js';
import { Style, styleFor, table, width, wrap } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';

const n = new Numbers(true);

describe('numbers', () => {
  test.each([
    [0, '0'],
    [7, '7'],
    [2140, '2 140'],
    [13751424, '13 751 424'],
    [-1234, '-1 234'],
    [Number.NaN, '-'],
    [Number.POSITIVE_INFINITY, '-'],
  ])('count %d', (value, text) => expect(n.count(value)).toBe(text));

  test.each([
    [0, '0'],
    [0.0312, '0.0312'],
    [0.31, '0.31'],
    [0.9996, '1.00'],
    [2.284, '2.28'],
    [9.996, '10.0'],
    [47.64, '47.6'],
    [99.96, '100'],
    [201.4, '201'],
    [999.4, '999'],
    [999.6, '1 000'],
    [14213.2, '14 213'],
    [Number.NaN, '-'],
  ])('short %d', (value, text) => expect(n.short(value)).toBe(text));

  test.each([
    [812, '812'],
    [49_100, '49.1 k'],
    [114_000, '114 k'],
    [999_600, '1.00 M'],
    [1_310_000, '1.31 M'],
    [2.5e12, '2 500 G'],
  ])('scaled %d', (value, text) => expect(n.scaled(value)).toBe(text));

  test.each([
    [0, '0 B'],
    [512, '512 B'],
    [4096, '4 KiB'],
    [79.4 * 2 ** 30, '79.4 GiB'],
    [2 ** 40, '1 TiB'],
    [1023 * 1024, '0.999 MiB'],
  ])('bytes %d', (value, text) => expect(n.bytes(value)).toBe(text));

  test.each([
    [0.71, '71 %'],
    [0.02, '2 %'],
    [0.0241, '2.4 %'],
    [1, '100 %'],
    [0.0996, '10 %'],
    [-0.00001, '0 %'],
  ])('percent %d', (value, text) => expect(n.percent(value)).toBe(text));

  test.each([
    [0.31, '0.31 s'],
    [42, '42.0 s'],
    [59.6, '1 min 00 s'],
    [124, '2 min 04 s'],
    [3900, '1 h 05 min'],
  ])('duration %d', (value, text) => expect(n.duration(value)).toBe(text));

  test('simulated time', () => {
    expect([0, 800, 1500, 2.5e6, 21.4e9].map((ns) => n.simulated(ns))).toEqual([
      '0 s',
      '800 ns',
      '1.50 µs',
      '2.50 ms',
      '21.4 s',
    ]);
  });

  test('groups are narrow no-break spaces where there is Unicode', () => {
    expect(new Numbers(false).count(1234567)).toBe('1\u202f234\u202f567');
  });
});

describe('style', () => {
  const color = (env: Record<string, string>, terminal: boolean, mode: 'auto' | 'always' | 'never'): boolean => {
    const host = new FakeHost({ env, terminal });
    return styleFor(host, host.stdout, mode, false).color;
  };

  test('colours: terminal, NO_COLOR, FORCE_COLOR, TERM=dumb, --color', () => {
    expect(color({}, true, 'auto')).toBe(true);
    expect(color({}, false, 'auto')).toBe(false);
    expect(color({ NO_COLOR: '1' }, true, 'auto')).toBe(false);
    expect(color({ NO_COLOR: '' }, true, 'auto')).toBe(true);
    expect(color({ TERM: 'dumb' }, true, 'auto')).toBe(false);
    expect(color({ FORCE_COLOR: '1' }, false, 'auto')).toBe(true);
    expect(color({ FORCE_COLOR: '0' }, true, 'auto')).toBe(false);
    expect(color({ NO_COLOR: '1' }, false, 'always')).toBe(true);
    expect(color({ FORCE_COLOR: '1' }, true, 'never')).toBe(false);
  });

  test('ASCII where the locale is not UTF-8', () => {
    const ascii = (env: Record<string, string>): boolean => {
      const host = new FakeHost({ env });
      return styleFor(host, host.stdout, 'auto', false).ascii;
    };
    expect(ascii({ LANG: 'C' })).toBe(true);
    expect(ascii({ LANG: 'de_DE.UTF-8' })).toBe(false);
    expect(ascii({ LANG: 'de_DE.UTF-8', LC_ALL: 'POSIX' })).toBe(true);
    expect(ascii({})).toBe(false);
  });

  test('ASCII leaves nothing beyond ASCII', () => {
    const text = new Style(false, true).plain('━█▒·… 1\u202f234 µs ✓ ✗ ◐ ▲ × − é');
    expect(text).toBe('=#+-... 1 234 us ok MISS (exp) better x - ?');
  });

  test('width, wrapping and tables look through colours', () => {
    const style = new Style(true, false);
    expect(style.tone('gc', 'GC')).toBe('\u001b[31mGC\u001b[0m');
    expect(width(style.tone('gc', 'GC 71 %'))).toBe(7);
    expect(wrap('aaa bbb ccc', 7)).toEqual(['aaa bbb', 'ccc']);
    expect(wrap('reached 0.1 % of it', 11)).toEqual(['reached', '0.1 % of it']);
    expect(wrap('aaaaaaaaaa b', 5)).toEqual(['aaaaaaaaaa', 'b']);
    expect(
      table(
        [
          ['a', '1'],
          [style.tone('bad', 'bb'), '22'],
        ],
        'lr',
      ),
    ).toEqual(['a    1', '\u001b[31mbb\u001b[0m  22']);
  });
});

describe('progress', () => {
  test('on a terminal: at most ten a second, erased at the end', () => {
    const host = new FakeHost({ terminal: true });
    const progress = new Progress(host, new Style(false, true), false);
    progress.start('replay');
    for (let i = 0; i <= 1000; i++) {
      host.clockMs += 1;
      progress.update(i * 1000, 1_000_000);
    }
    progress.clear();
    const drawn = host.err.split('\r\u001b[K');
    expect(drawn.length).toBeLessThanOrEqual(13);
    expect(drawn[6]).toMatch(/^replay {3}={24} {3}\d\d % {2}\d{3} k of 1.00 M {2}\S+ [kM]\/s {2}0\.\d+ s left$/);
    expect(host.err.endsWith('\r\u001b[K')).toBe(true);
    expect(Math.max(...drawn.map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test('in a pipe: a whole line every ten seconds', () => {
    const host = new FakeHost({});
    const progress = new Progress(host, new Style(false, true), false);
    progress.start('replay');
    for (let second = 1; second <= 35; second++) {
      host.clockMs += 1000;
      progress.update(second, 100, ' requests');
    }
    progress.clear();
    expect(host.err.split('\n')).toEqual([
      'replay    10 %  10.0 of 100 requests  1 min 30 s left',
      'replay    20 %  20.0 of 100 requests  1 min 20 s left',
      'replay    30 %  30.0 of 100 requests  1 min 10 s left',
      '',
    ]);
  });

  test('quiet: nothing', () => {
    const host = new FakeHost({ terminal: true });
    const progress = new Progress(host, new Style(false, true), true);
    progress.start('replay');
    host.clockMs += 100_000;
    progress.update(1, 2);
    progress.clear();
    expect(host.err).toBe('');
  });
});

test('a bar splits exactly, with at least one cell each', () => {
  expect(shares([79, 96, 2, 3], 44)).toEqual([19, 23, 1, 1]);
  expect(shares([1e9, 1, 1], 44)).toEqual([42, 1, 1]);
  expect(shares([5], 44)).toEqual([44]);
});

test('waits: largest first, small ones together', () => {
  const style = new Style(false, true);
  const part = (label: string, amount: number): { label: string; tone: 'gc'; amount: number } => ({
    label,
    tone: 'gc',
    amount,
  });
  expect(waits([part('link', 1), part('buffer', 14), part('GC', 71), part('die', 6), part('bus', 8)], style)).toBe(
    'GC 71 %, buffer 14 %, bus 8 %, die 6 %, other 1 %',
  );
  expect(waits([part('GC', 0)], style)).toBe('nothing');
});

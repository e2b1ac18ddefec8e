import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseHTML } from 'linkedom/worker';
import { afterAll, describe, expect, test } from 'vitest';
import { dark, light, type Reproduction, type ReproductionFigure, reproductionFigures } from '../src/index.js';
import { renderReproductionFigures } from '../src/node/index.js';
import { placesOf, valueAxis } from '../src/reproduction/scales.js';
import { seriesOf, tickText, valueText } from '../src/reproduction/series.js';
import { lineStyles } from '../src/tokens.js';
import { f2fs } from './reproductions.js';

const runs = { numRuns: process.env.CI === undefined ? 300 : 5000 };
const folder = mkdtempSync(join(tmpdir(), 'flashstack-reproduction-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The drawing of one figure. */
const drawn = (figure: ReproductionFigure): ReturnType<typeof parseHTML>['document'] => {
  const [{ svg }] = reproductionFigures({ ...f2fs, figures: [figure] });
  return parseHTML(`<!doctype html><html><body>${svg}</body></html>`).document;
};
const figure = (id: string): ReproductionFigure => {
  const found = f2fs.figures.find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`no figure ${id}`);
  return found;
};
const withColor = (document: ReturnType<typeof drawn>, shape: string, token: string): string[] =>
  [...document.querySelectorAll(shape)].flatMap((element) =>
    (element.getAttribute('fill') ?? element.parentElement?.getAttribute('fill')) === token ? [element.outerHTML] : [],
  );
/** Outlines of diamonds, those of the legend left out. */
const diamonds = (document: ReturnType<typeof drawn>): number =>
  withColor(document, 'g path', light.page).filter((path) => !path.includes('l5.5')).length;

describe('figures as files', () => {
  test('have the names of the figures, the same bytes each time, in the colours of the theme', () => {
    const files = reproductionFigures(f2fs);
    expect(files.map(({ name }) => name)).toEqual(f2fs.figures.map(({ id }) => id));
    expect(files).toEqual(reproductionFigures(JSON.parse(JSON.stringify(f2fs)) as Reproduction));
    for (const { svg } of files) {
      expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="[-\d. ]+"/);
      expect(svg).not.toMatch(/var\(--|NaN|undefined|Infinity/);
      expect(svg).toContain(`fill="${light.page}"`);
    }
    expect(reproductionFigures(f2fs, dark)[0].svg).toContain(`fill="${dark.page}"`);
  });

  test('are written as SVG and PNG', () => {
    const written = renderReproductionFigures(f2fs, join(folder, 'new'));
    expect(written.map(({ name }) => name)).toEqual(f2fs.figures.map(({ id }) => `f2fs-fast15--${id}`));
    for (const { svg, png } of written) {
      expect(readFileSync(svg, 'utf8')).toContain('<svg');
      expect(readFileSync(png).subarray(1, 4).toString()).toBe('PNG');
    }
    expect(readdirSync(join(folder, 'new'))).toHaveLength(2 * f2fs.figures.length);
  });

  test('names that try to leave the folder become names in it', () => {
    const given = { ...f2fs, id: '../../etc', figures: [{ ...f2fs.figures[0], id: '../passwd' }] };
    expect(reproductionFigures(given).map(({ name }) => name)).toEqual(['passwd']);
    const [{ svg }] = renderReproductionFigures(given, join(folder, 'own'));
    expect(svg).toBe(join(folder, 'own', 'etc--passwd.svg'));
  });

  test('without a value are left out', () => {
    const values = [Number.NaN, Number.NaN, Number.NaN, Number.NaN];
    const empty = { ...f2fs.figures[0], series: [{ name: 'a', values }] };
    expect(reproductionFigures({ ...f2fs, figures: [empty] })).toEqual([]);
  });
});

describe('what was published has another shape than what was simulated', () => {
  test('bars have diamonds over them, and no bar of their own', () => {
    const document = drawn(figure('benchmarks'));
    expect(withColor(document, 'rect', light.ext4)).toHaveLength(4 + 1);
    expect(withColor(document, 'rect', light.f2fs)).toHaveLength(4 + 1);
    expect(diamonds(document)).toBe(4);
    expect(document.documentElement.textContent).toContain('published');
  });

  test('bars on a logarithmic axis are dots: there is no zero to stand on', () => {
    const document = drawn(figure('memory'));
    expect(withColor(document, 'g > rect', light.f2fs)).toHaveLength(0);
    expect(withColor(document, 'circle', light.f2fs)).toHaveLength(4);
    expect(diamonds(document)).toBe(3);
  });

  test('lines have diamonds beside them; a gap is neither', () => {
    const document = drawn(figure('sizes'));
    expect(withColor(document, 'circle', light.f2fs)).toHaveLength(8);
    expect(withColor(document, 'circle', light.orcfs)).toHaveLength(7);
    expect(diamonds(document)).toBe(8);
    // The line of the series with a gap is in two pieces.
    const line = [...document.querySelectorAll('path')].find(
      (path) => (path.getAttribute('stroke') ?? path.parentElement?.getAttribute('stroke')) === light.orcfs,
    );
    expect(line?.getAttribute('d')?.match(/M/g)).toHaveLength(2);
  });

  test('names that are cut at the ends of lines stand below in full', () => {
    const text = drawn(figure('sizes')).documentElement.textContent ?? '';
    expect(text.match(/the paper, read off/g)?.length).toBeGreaterThanOrEqual(2);
    const series = [{ ...figure('policies').series[0], name: 'a name that is much too long for any line' }];
    expect(drawn({ ...figure('policies'), series }).documentElement.textContent).toContain(series[0].name);
    expect(drawn(figure('policies')).documentElement.textContent?.match(/mean/g)).toHaveLength(1);
  });

  test('of many points those that no line reaches are dots, and the range is an area', () => {
    const document = drawn(figure('long'));
    expect(withColor(document, 'circle', light.f2fs)).toHaveLength(1);
    expect(withColor(document, '[fill-opacity] path, path[fill-opacity]', light.f2fs)).toHaveLength(1);
  });

  test('a published series belongs to the simulated one of its name, a single one to the single other', () => {
    const places = (id: string): [string, number, boolean][] =>
      seriesOf(figure(id)).map(({ name, slot, published }) => [name, slot, published]);
    expect(places('benchmarks')).toEqual([
      ['EXT4', 0, false],
      ['F2FS', 1, false],
      ['F2FS', 1, true],
    ]);
    expect(places('memory')).toEqual([
      ['table', 0, false],
      ['paper', 0, true],
    ]);
    expect(places('sizes').map(([, slot]) => slot)).toEqual([0, 1, 2]);
  });
});

test('systems and directions keep their colours, the others take what is left', () => {
  const tokens = (...names: string[]): string[] => lineStyles(names).map(({ token }) => token);
  expect(tokens('EXT4', 'F2FS', 'OrcFS')).toEqual(['ext4', 'f2fs', 'orcfs']);
  expect(tokens('read', 'writes')).toEqual(['read', 'write']);
  expect(tokens('write amplification', 'read errors')).toEqual(['f2fs', 'orcfs']);
  expect(tokens('greedy', 'F2FS (2 logs)', 'fifo')).toEqual(['orcfs', 'f2fs', 'btrfs']);
  expect(tokens('F2FS, 2 logs', 'F2FS, 4 logs')).toEqual(['f2fs', 'orcfs']);
  const many = lineStyles(Array.from({ length: 11 }, (_, i) => `policy ${i}`));
  expect(new Set(many.map(({ token, dash }) => `${token} ${dash}`)).size).toBe(11);
});

describe('axes', () => {
  test('hold every value, from zero unless some lie below, in whole decades if logarithmic', () => {
    const values = fc.array(
      fc.double({ min: -1e6, max: 1e6, noNaN: true }).map((value) => (Math.abs(value) < 1e-9 ? 0 : value)),
      {
        minLength: 1,
        maxLength: 20,
      },
    );
    fc.assert(
      fc.property(values, fc.boolean(), (given, log) => {
        const all = log ? given.map((value) => Math.abs(value) + 1e-3) : given;
        const { scale, ticks } = valueAxis(all, log);
        const [from, to] = scale.domain;
        expect(from).toBeLessThan(to);
        expect(Math.min(...all)).toBeGreaterThanOrEqual(from * (1 - 1e-8));
        expect(Math.max(...all)).toBeLessThanOrEqual(to * (1 + 1e-8));
        expect(ticks.length).toBeGreaterThanOrEqual(1);
        for (const tick of ticks) expect(tick >= from * (1 - 1e-6) - 1e-9 && tick <= to * (1 + 1e-3)).toBe(true);
        if (!log && Math.min(...all) >= 0) expect(from).toBe(0);
      }),
      runs,
    );
    expect(valueAxis([1.02, 1.08], false, 1).scale.domain[0]).toBe(1);
    expect(valueAxis([0.98, 1.08], false, 1).scale.domain[0]).toBe(0);
  });

  test('what is written along them never overlaps', () => {
    const values = fc.array(fc.double({ min: 0.01, max: 1e7, noNaN: true }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(values, fc.boolean(), fc.integer({ min: 200, max: 1000 }), (given, log, px) => {
        const { domain, ticks } = placesOf(given, log);
        const { at, label } = ticks(px);
        const place = (value: number): number =>
          log
            ? Math.log(value / domain[0]) / Math.log(domain[1] / domain[0])
            : (value - domain[0]) / (domain[1] - domain[0]);
        for (let i = 1; i < at.length; i++) {
          const half = 3 * (label(at[i]).length + label(at[i - 1]).length);
          const apart = (place(at[i]) - place(at[i - 1])) * px;
          // The outermost labels lie within the axis: they need more room than their place.
          expect(apart).toBeGreaterThan(Math.min(half, px) * 0.5);
        }
      }),
      runs,
    );
  });

  test('of values that differ by their rounding alone are those of one value', () => {
    const next = 1e7 * (1 + 2 ** -52);
    for (const log of [false, true]) {
      const { domain, ticks } = placesOf([1e7, next], log);
      expect(domain[0]).toBeLessThan(1e7);
      expect(domain[1]).toBeGreaterThan(next);
      expect(ticks(400).at.length).toBeLessThan(8);
    }
    expect(valueAxis([1, 1 + 2 ** -52], false, 1).scale.domain).toEqual([1, 2]);
  });

  test('names are written as they are, numbers short', () => {
    const { at, ticks } = placesOf(['greedy', 'fifo', 16], false);
    expect(at).toEqual([0, 1, 2]);
    expect(ticks(400).at.map(ticks(400).label)).toEqual(['greedy', 'fifo', '16']);
    expect([0.125, 4096, 65_536, 1_048_576, -250_000].map(tickText)).toEqual([
      '0.125',
      '4\u202f096',
      '65\u202f536',
      '1.049\u00a0M',
      '−250\u00a0k',
    ]);
    expect([1.347, 12_345, 2_345_678].map(valueText)).toEqual(['1.35', '12\u202f300', '2.35\u00a0M']);
  });
});

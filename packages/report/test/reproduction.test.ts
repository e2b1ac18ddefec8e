import type { InputError } from '@flashstack/sim';
import fc from 'fast-check';
import { parseHTML } from 'linkedom/worker';
import { describe, expect, test } from 'vitest';
import { type Claim, type Reproduction, type ReproductionFigure, renderReproductions } from '../src/index.js';
import { bandText, publishedOf, rangeText, simulatedText } from '../src/reproduction/claim-text.js';
import { stripOf } from '../src/reproduction/strip.js';
import { direction, f2fs } from './reproductions.js';

const runs = { numRuns: process.env.CI === undefined ? 300 : 5000 };
const page = renderReproductions([f2fs], { command: 'flashstack reproduce f2fs-fast15 --seeds 3' });
const both = renderReproductions([f2fs, direction]);

/** What a reader sees, a line per block. */
const textOf = (html: string): string => {
  const { document } = parseHTML(html.replace(/<\/(?:p|td|th|tr|li|h\d|div|summary|figcaption)>/g, '\n$&'));
  for (const hidden of document.querySelectorAll('style, script, svg')) hidden.remove();
  return document.body.textContent ?? '';
};
const cellsOf = (html: string): string[][] =>
  [...parseHTML(html).document.querySelectorAll('.claims tbody tr')].map((row) =>
    [...row.querySelectorAll('th, td')].map((cell) => cell.textContent ?? ''),
  );

describe('the page', () => {
  test('is one file, the same bytes for the same reproductions, also after they were JSON', () => {
    expect(page).toBe(
      renderReproductions([structuredClone(f2fs)], { command: 'flashstack reproduce f2fs-fast15 --seeds 3' }),
    );
    // NaN is null in JSON: both are gaps.
    expect(renderReproductions([JSON.parse(JSON.stringify(f2fs)) as Reproduction, direction])).toBe(both);
    expect(Buffer.byteLength(page)).toBeLessThan(400_000);
    expect(page.startsWith('<!doctype html>')).toBe(true);
    expect(page.match(/https?:|\bsrc=|url\((?!#hatch\))|@import|<iframe|<object|fetch\(/g)).toBeNull();
    expect(page.match(/href="(?!#|data:,")/)).toBeNull();
  });

  test('says how many pass and which do not, with a bar of one piece per claim', () => {
    const text = textOf(page);
    expect(text).toContain('6 of 8 results fall into their bands. One misses: oltp on SATA against EXT4.');
    expect(text).toContain('One expected miss: application trace, elapsed. One more is shown and not judged.');
    const { document } = parseHTML(page);
    const bar = document.querySelector('.score');
    expect(bar?.getAttribute('aria-label')).toBe('6 pass, 1 expected miss, 1 miss, 1 shown');
    expect([...(bar?.querySelectorAll('i') ?? [])].map((piece) => piece.className)).toEqual([
      ...Array.from({ length: 6 }, () => 'pass'),
      'warn',
      'miss',
      'skip',
    ]);
  });

  test('has published, simulated, band and verdict of every claim, in this order', () => {
    const nb = '\u00a0';
    expect(cellsOf(page)).toEqual([
      [
        'random write, F2FS / EXT4simulated time, modelled',
        `3.1${nb}×`,
        `2.84${nb}×2.77 … 2.90`,
        `2.2 … 4${nb}×`,
        '',
        '✓ pass',
      ],
      [
        'random writes leaving as 512 KiBcounted events, exact',
        `> 90${nb}%`,
        `94.1${nb}%93.8 … 94.3`,
        `≥${nb}90${nb}%`,
        '',
        '✓ pass',
      ],
      ['SQLite transactionssimulated time, modelled', `up to 2.0${nb}×`, `1.71${nb}×`, `1.5 … 2.5${nb}×`, '', '✓ pass'],
      [
        'SQLite bytes against EXT4counted events, exact',
        `−46${nb}%`,
        `−41.8${nb}%−42.6 … −41.1`,
        `−55 … −35${nb}%`,
        '',
        '✓ pass',
      ],
      [
        'oltp on SATA against EXT4simulated time, modelled',
        `+16${nb}%`,
        `+34.7${nb}%+32.1 … +37.4`,
        `+5 … +30${nb}%`,
        '',
        '✗ miss',
      ],
      [
        'application trace, elapsedsimulated time, modelled',
        `−20${nb}%`,
        `+3.20${nb}%+1.00 … +5.10`,
        `−30 … −10${nb}%`,
        '',
        '◐ expected miss',
      ],
      ['erasescounted events, exact', 'shrinks with page size', '13\u202f751\u202f424', '–', '', '○ shown'],
      ['mapping tablecomputed size, exact', `2.2${nb}MiB`, `2.27${nb}MiB`, `2.2 … 2.4${nb}MiB`, '', '✓ pass'],
      ['varmailsimulated time, modelled', 'no difference', `1.04${nb}×`, `0.9 … 1.1${nb}×`, '', '✓ pass'],
    ]);
  });

  test('gives the reason of each miss, and says so where there is none', () => {
    expect(textOf(page)).toContain(
      '✗ oltp on SATA against EXT4: simulated +34.7\u00a0%, band +5 … +30\u00a0%. EXT4 waits longer',
    );
    expect(textOf(page)).toContain('The traces are not public.');
    const claims = f2fs.claims.map(({ reason: _, ...claim }) => claim);
    expect(textOf(renderReproductions([{ ...f2fs, claims }]))).toContain('Why it misses is not known.');
  });

  test('prints class, scale, seeds, what the values rest on, notes, runs, command and versions', () => {
    const text = textOf(page);
    for (const part of [
      'class B: within a band',
      'scale: 1:8 (capacity, files, RAM)',
      '3 seeds (1, 2, 3)',
      'exact for the model, whatever its timings are',
      'values that served to fit a drive prove nothing about it',
      'only values printed in the text are marked',
      'The 2 runs behind the values',
      '9c41e0d7aa00bb11',
      'flashstack reproduce f2fs-fast15 --seeds 3',
      'Made by flashstack 1.0.0.',
    ]) {
      expect(text).toContain(part);
    }
  });

  test('shapes tell what colours tell: a square misses, dotted is inexact, a dash marks no change', () => {
    const { document } = parseHTML(both);
    const shapes = [...document.querySelectorAll('.strip')].map((strip) => ({
      mark: strip.querySelector('.sm')?.className,
      published: strip.querySelector('.pb')?.className ?? null,
      band: strip.querySelector('.bd')?.className ?? null,
      unchanged: strip.querySelector('.un') !== null,
    }));
    expect(shapes[1]).toEqual({ mark: 'sm pass', published: 'pb in', band: 'bd right', unchanged: false });
    expect(shapes[4]).toEqual({ mark: 'sm miss', published: 'pb', band: 'bd none', unchanged: false });
    expect(shapes[5].mark).toBe('sm warn');
    expect(shapes[6]).toEqual({ mark: 'sm skip', published: null, band: null, unchanged: false });
    expect(shapes[8].published).toBe('pb in');
    // A direction without a band.
    expect(shapes[9]).toEqual({ mark: 'sm pass', published: null, band: null, unchanged: true });
    expect(page).toMatch(/\.strip \.sm\.miss\{[^}]*border-radius:0/);
  });

  test('has every figure, labelled, with its numbers, and names tokens instead of colours', () => {
    const ids = [...page.matchAll(/<figure class="s\d+" id="([\w-]+)"/g)].map((match) => match[1]);
    expect(ids).toEqual(f2fs.figures.map((figure) => `f2fs-fast15--${figure.id}`));
    for (const figure of page.match(/<figure.*?<\/figure>/gs) ?? []) {
      expect(figure).toMatch(/role="img" aria-label="[^"]{10,}"/);
      expect(figure).toContain('class="slim"');
      expect(figure).toContain('Show the numbers');
    }
    const literal = /#[0-9a-f]{3,8}\b|rgba?\(|hsl|oklab|="(?:white|black|red|steelblue|currentColor)"/i;
    const drawings = page.match(/<svg.*?<\/svg>/gs) ?? [];
    expect(drawings.length).toBeGreaterThan(12);
    for (const drawing of drawings) expect(drawing.replaceAll('url(#hatch)', '').match(literal)).toBeNull();
    expect(page.match(/style="[^"]*#[0-9a-f]{3}/i)).toBeNull();
    const text = page.replace(/<style>.*?<\/style>|<script>.*?<\/script>/gs, '');
    expect(text).not.toMatch(/NaN|Infinity|undefined|\[object|>−?-0</);
  });

  test('of several reproductions has an overview with links, and a section for each', () => {
    const { document } = parseHTML(both);
    expect(document.querySelector('h1')?.textContent).toBe('2 reproductions of papers');
    const links = [...document.querySelectorAll('#s_overview a')].map((link) => link.getAttribute('href'));
    expect(links).toEqual(['#f2fs-fast15', '#jbd-read']);
    for (const link of links) expect(document.querySelectorAll(`section${link}`)).toHaveLength(1);
    expect(textOf(both)).toContain('7 of 9 results');
    expect(textOf(both)).toContain('2 papers · 11 claims · 0 to 3 seeds each');
    expect(document.querySelector('#jbd-read')?.textContent).toContain('class D: the direction');
  });

  test('many claims share a piece of the bar per verdict, named up to three', () => {
    const claims = Array.from({ length: 40 }, () => f2fs.claims).flat();
    const { document } = parseHTML(renderReproductions([{ ...f2fs, claims }]));
    expect([...document.querySelectorAll('.score i')].map((piece) => piece.getAttribute('style'))).toEqual([
      'flex-grow:240',
      'flex-grow:40',
      'flex-grow:40',
      'flex-grow:40',
    ]);
    expect(document.querySelector('.finding')?.textContent).toContain(
      '40 miss: among them oltp on SATA against EXT4, ',
    );
  });

  test('says what is not there', () => {
    const bare: Reproduction = { ...direction, claims: [] };
    const text = textOf(renderReproductions([bare]));
    expect(text).toContain('No result is judged');
    expect(text).toContain('No value of this reproduction is compared');
    expect(text).toContain('has no figure');
    expect(text).toContain('No run is behind this');
    const passing = f2fs.claims.filter((claim) => claim.verdict === 'pass');
    expect(textOf(renderReproductions([{ ...f2fs, claims: passing }]))).toContain(
      'All 6 results fall into their bands.',
    );
    const empty = {
      ...f2fs.figures[0],
      series: [{ name: 'nothing', values: [Number.NaN, Number.NaN, Number.NaN, Number.NaN] }],
    };
    expect(textOf(renderReproductions([{ ...f2fs, figures: [empty] }]))).toContain('It has no value.');
  });
});

test('what a reproduction holds is only ever text', () => {
  const hostile = `"><img src=x onerror=alert(1)></title></svg><script>alert('2')</script>`;
  const hostileFigure = (figure: ReproductionFigure): ReproductionFigure => ({
    ...figure,
    id: `${hostile}${figure.id}`,
    title: hostile,
    caption: hostile,
    x: { ...figure.x, label: hostile, values: figure.x.values.map((at) => (typeof at === 'string' ? hostile : at)) },
    y: { ...figure.y, label: hostile },
    series: figure.series.map((series, i) => ({ ...series, name: `${hostile}${i}` })),
  });
  const given: Reproduction = {
    ...f2fs,
    id: hostile,
    title: hostile,
    paper: hostile,
    scale: hostile,
    claims: f2fs.claims.map((claim) => ({
      ...claim,
      name: hostile,
      unit: hostile,
      published: hostile,
      reason: hostile,
    })),
    figures: f2fs.figures.map(hostileFigure),
    tables: [{ title: hostile, head: [hostile], rows: [[hostile]] }],
    notes: [hostile],
    runs: [{ name: hostile, specHash: hostile, seed: 1 }],
    versions: { [hostile]: hostile },
  };
  for (const reproductions of [[given], [given, { ...given, id: 'other' }]]) {
    const { document } = parseHTML(renderReproductions(reproductions, { title: hostile, command: hostile }));
    expect(document.querySelectorAll('img, iframe, object, foreignObject')).toHaveLength(0);
    expect(document.querySelectorAll('script')).toHaveLength(1);
    const attributes = [...document.querySelectorAll('*')].flatMap((element) => [...element.attributes]);
    expect(attributes.filter(({ name }) => /^on|^[^a-z]/i.test(name))).toEqual([]);
    expect(document.querySelector('h1')?.textContent).toBe(hostile);
  }
});

const someClaim: Claim = f2fs.claims[0];

describe('what claims say', () => {
  test.each<[number | string, string, string, number | null, boolean]>([
    [3.1, '×', '3.1 ×', 3.1, false],
    [16, '%', '16 %', 16, false],
    [2200, 'MB/s', '2\u202f200 MB/s', 2200, false],
    [0.025, '', '0.025', 0.025, false],
    [1.5e-8, '', '1.5 × 10⁻⁸', 1.5e-8, false],
    [-46, '%', '−46 %', -46, false],
    ['+16 %', '%', '+16 %', 16, false],
    ['2 200', 'MB/s', '2 200 MB/s', 2200, false],
    ['78 … 80', 'MB/s', '78 … 80 MB/s', 79, true],
    ['−30 to 10 %', '%', '−30 to 10 %', -10, true],
    ['≈ 1.02', '', '≈ 1.02', 1.02, true],
    ['about 2,140', 'MB/s', 'about 2,140 MB/s', 2140, true],
    ['more than 90 %', '%', 'more than 90 %', 90, true],
    ['up to −30', '%', 'up to −30 %', -30, true],
    ['no difference', '×', 'no difference', 1, true],
    ['no change', '%', 'no change', 0, true],
    ['no change', 'MB/s', 'no change', null, true],
    ['2.4 on SATA, 1.8 on PCIe', '×', '2.4 on SATA, 1.8 on PCIe', null, false],
    ['about 3 times as many as 5', '', 'about 3 times as many as 5', null, false],
    ['', '', '–', null, false],
  ])('published %j %s', (published, unit, text, value, inexact) => {
    const found = publishedOf({ ...someClaim, published, unit });
    expect({ ...found, text: found.text.replaceAll('\u00a0', ' ') }).toEqual({ text, value, inexact });
  });

  test('bands', () => {
    const band = (low: number | null, high: number | null, unit = ''): string =>
      bandText({ ...someClaim, unit, band: { low, high } }).replaceAll('\u00a0', ' ');
    expect(band(2.2, 4)).toBe('2.2 … 4');
    expect(band(null, 5, '%')).toBe('≤ 5 %');
    expect(band(1.02, null, '×')).toBe('≥ 1.02 ×');
    expect(band(7, 7)).toBe('7');
    expect(band(2200 * 0.98, 2200 * 1.02, 'MB/s')).toBe('2\u202f156 … 2\u202f244 MB/s');
    expect(bandText({ ...someClaim, band: null })).toBe('–');
  });

  test('rounding never moves a value across the edge of its band', () => {
    const read = (text: string): number => Number(text.replace(/[\u202f\u00a0+]/g, '').replace('−', '-'));
    fc.assert(
      fc.property(
        fc.double({ min: 0.001, max: 1e6, noNaN: true }),
        fc.double({ min: -0.02, max: 0.02, noNaN: true }),
        fc.boolean(),
        (edge, off, upper) => {
          const given = Number(edge.toPrecision(4));
          const mean = Number((given * (1 + off)).toPrecision(7));
          const band = upper ? { low: null, high: given } : { low: given, high: null };
          const told = read(
            simulatedText({ ...someClaim, unit: '', published: 1, band, simulated: { mean, low: mean, high: mean } }),
          );
          expect(Math.sign(told - given)).toBe(Math.sign(mean - given));
          expect(Math.abs(told / mean - 1)).toBeLessThan(0.006);
        },
      ),
      runs,
    );
  });

  test('counts are in full, a range that rounds to its mean is none', () => {
    const exact = (value: number, basis: Claim['basis']): string =>
      simulatedText({ ...someClaim, unit: '', band: null, basis, simulated: { mean: value, low: value, high: value } });
    expect(exact(13_751_424, 'events')).toBe('13\u202f751\u202f424');
    expect(exact(13_751_424, 'time')).toBe('13\u202f800\u202f000');
    expect(exact(1.25e-8, 'events')).toBe('1.25\u00a0×\u00a010⁻⁸');
    expect(rangeText({ ...someClaim, band: null, simulated: { mean: 2, low: 1.9999, high: 2.0001 } })).toBe('');
    expect(rangeText({ ...someClaim, band: null, simulated: { mean: 2, low: 1.9, high: 2.1 } })).toBe('1.90 … 2.10');
  });

  test('a strip holds everything in order: the mean is over the band where it lies in the band', () => {
    const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 6, maxLength: 6 }),
        fc.constantFrom('T', 'B', 'D'),
        (given, tightness) => {
          const [a, b] = [Math.min(given[0], given[1]), Math.max(given[0], given[1])];
          const [low, mean, high] = given.slice(2, 5).sort((x, y) => x - y);
          const claim: Claim = {
            ...someClaim,
            published: given[5],
            band: { low: a, high: b },
            simulated: { mean, low, high },
          };
          const strip = stripOf(claim, tightness);
          if (strip.simulated === null) throw new Error('the mean is a number');
          const places = [
            strip.published ?? 0,
            strip.simulated.low,
            strip.simulated.mean,
            strip.simulated.high,
            strip.band?.from ?? 0,
            strip.band?.to ?? 0,
          ];
          for (const place of places) {
            expect(place).toBeGreaterThan(0);
            expect(place).toBeLessThan(1);
          }
          expect(strip.simulated.low).toBeLessThanOrEqual(strip.simulated.mean);
          expect(strip.simulated.mean).toBeLessThanOrEqual(strip.simulated.high);
          const inside =
            strip.simulated.mean >= (strip.band?.from ?? 0) && strip.simulated.mean <= (strip.band?.to ?? 0);
          // Values that differ by rounding alone may share a place.
          if (mean >= a && mean <= b) expect(inside).toBe(true);
          else if (Math.min(Math.abs(mean - a), Math.abs(mean - b)) > 1e-6) expect(inside).toBe(false);
        },
      ),
      runs,
    );
  });
});

describe('what would be shown wrongly is refused', () => {
  const [bars] = f2fs.figures;
  const withClaim = (rest: Partial<Claim>): Reproduction => ({ ...f2fs, claims: [{ ...someClaim, ...rest }] });
  const withFigure = (rest: Partial<ReproductionFigure>): Reproduction => ({
    ...f2fs,
    figures: [{ ...bars, ...rest }],
  });
  const series = (values: number[], rest: object = {}): ReproductionFigure['series'] => [
    { name: 'a', values, ...rest },
  ];

  test.each<[string, Reproduction[], string, string]>([
    ['nothing', [], 'ERR_REPORT_EMPTY', 'at least one'],
    ['one id twice', [f2fs, { ...f2fs, id: 'f2fs fast15' }], 'ERR_REPORT_TWICE', 'f2fs-fast15'],
    ['one figure twice', [{ ...f2fs, figures: [bars, bars] }], 'ERR_REPORT_TWICE', 'benchmarks is there twice'],
    [
      'another schema',
      [{ ...f2fs, schema: 'flashstack.reproduction/2' as never }],
      'ERR_REPORT_SCHEMA',
      'flashstack.reproduction/1',
    ],
    [
      'a pass outside',
      [withClaim({ simulated: { mean: 5, low: 5, high: 5 } })],
      'ERR_REPORT_CLAIM',
      'passes with 5 outside',
    ],
    ['a miss inside', [withClaim({ verdict: 'miss' })], 'ERR_REPORT_CLAIM', 'misses with 2.84 inside'],
    [
      'a pass without a number',
      [withClaim({ simulated: { mean: Number.NaN, low: Number.NaN, high: Number.NaN } })],
      'ERR_REPORT_CLAIM',
      'passes with NaN',
    ],
    [
      'a mean beyond its range',
      [withClaim({ simulated: { mean: 3, low: 1, high: 2 } })],
      'ERR_REPORT_CLAIM',
      'not from 1 to 2',
    ],
    [
      'a band of everything',
      [withClaim({ band: { low: null, high: null } })],
      'ERR_REPORT_CLAIM',
      'open on both sides',
    ],
    ['a band upside down', [withClaim({ band: { low: 4, high: 2 } })], 'ERR_REPORT_CLAIM', 'low ≤ high'],
    ['too few values', [withFigure({ series: series([1]) })], 'ERR_REPORT_FIGURE', '1 entries; expected 4'],
    [
      'too few ends',
      [withFigure({ series: series([1, 2, 3, 4], { low: [1], high: [1, 2, 3, 4] }) })],
      'ERR_REPORT_FIGURE',
      'low of series',
    ],
    [
      'half a range',
      [withFigure({ series: series([1, 2, 3, 4], { low: [1, 2, 3, 4] }) })],
      'ERR_REPORT_FIGURE',
      'one of low and high',
    ],
    [
      'the logarithm of 0',
      [withFigure({ y: { label: 'y', log: true }, series: series([1, 0, 3, 4]) })],
      'ERR_REPORT_FIGURE',
      'at zero or less',
    ],
    [
      'the logarithm of a name',
      [withFigure({ x: { ...bars.x, log: true } })],
      'ERR_REPORT_FIGURE',
      'logarithmic x axis',
    ],
  ])('%s', (_, given, code, message) => {
    let found: InputError | null = null;
    try {
      renderReproductions(given);
    } catch (error) {
      found = error as InputError;
    }
    expect(found?.code).toBe(code);
    expect(found?.message).toContain(message);
  });

  test('but not a miss that has no number', () => {
    const none = { mean: Number.NaN, low: Number.NaN, high: Number.NaN };
    const given = withClaim({ verdict: 'miss', simulated: none });
    const html = renderReproductions([given]);
    expect(cellsOf(html)[0][2]).toBe('–');
    expect(parseHTML(html).document.querySelector('.strip .sm')).toBeNull();
    expect(html).not.toContain('NaN');
    expect(renderReproductions([JSON.parse(JSON.stringify(given)) as Reproduction])).toBe(html);
  });

  test('nor the rounding of a mean of equal values', () => {
    const mean = (0.1 + 0.1 + 0.1) / 3;
    expect(mean).not.toBe(0.1);
    expect(() =>
      renderReproductions([withClaim({ band: null, verdict: 'shown', simulated: { mean, low: 0.1, high: 0.1 } })]),
    ).not.toThrow();
  });
});

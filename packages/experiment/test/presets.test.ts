import { presets, type SsdConfig } from '@flashstack/ssd';
import { describe, expect, test } from 'vitest';
import {
  checkFigure,
  countVerdicts,
  type FigureCheck,
  measureFigure,
  type PresetValidation,
  validationPage,
} from '../src/index.js';

describe('figures of presets', () => {
  const measured: PresetValidation[] = [];

  test.each(presets.map((preset) => [preset.name, preset] as const))(
    '%s: met, or declared to be missed',
    (_, preset) => {
      const checks = preset.figures.map((figure) => checkFigure(preset, figure));
      measured.push({ name: preset.name, summary: preset.summary, checks });
      for (const { figure, error, verdict } of checks) {
        // A declared miss must really miss: otherwise the declaration is out of date.
        const what = [figure.metric, figure.depth, figure.value];
        const expected = figure.miss === undefined ? 'within' : 'declared';
        expect([...what, verdict, error]).toEqual([...what, expected, error]);
      }
    },
  );

  test('the page of the documentation shows them as they are', async () => {
    expect(measured.map(({ name }) => name)).toEqual(presets.map(({ name }) => name));
    await expect(validationPage(measured)).toMatchFileSnapshot('../../../docs/validation/presets.md');
  });

  test('are counted by kind', () => {
    const { calibrated, predicted, target, unexplained } = countVerdicts(measured);
    const figures = presets.flatMap((preset) => preset.figures);
    expect(calibrated.of + predicted.of + target.of).toBe(figures.length);
    expect([calibrated.within, target.within, unexplained]).toEqual([calibrated.of, target.of, 0]);
    expect(predicted.within + predicted.declared).toBe(predicted.of);
    expect(predicted.declared).toBe(figures.filter(({ miss }) => miss !== undefined).length);
  });
});

test('a page tells what is wrong, and of a drive without provenance only its figures', () => {
  const [figure] = (presets.find(({ name }) => name === 'slc-nand-256m') as SsdConfig).figures;
  const summary = 'A <drive> of {mine}.';
  const checks: FigureCheck[] = [
    { figure, simulated: 2 * figure.value, error: 1, verdict: 'outside' },
    { figure: { ...figure, miss: 'none' }, simulated: figure.value, error: 0, verdict: 'stale' },
  ];
  const page = validationPage([{ name: 'my-own', summary, checks }]);
  expect(page).toContain('A &lt;drive> of &#123;mine&#125;.');
  expect(page).toContain('| ⊙ random read | 2 KiB | 1 | 7,692/s | 15,385/s | +100.0 % | calibrated, ±3 % | ✗ |');
  expect(page).toContain('| 0.0 % | calibrated, ±3 % | ✗ declared a miss, but met |');
  expect(page).not.toContain('| value | provenance |');
  expect(countVerdicts([{ name: 'my-own', summary, checks }]).unexplained).toBe(2);
});

describe('a measurement', () => {
  const plain = presets.find(({ name }) => name === 'slc-nand-256m') as SsdConfig;
  const [figure] = plain.figures;

  test('of one read at a time is one over its latency, and of the host, to the nanosecond', () => {
    const perSecond = measureFigure(plain, figure);
    // Command, tR and a page at 19.53 MB/s.
    const readNs = 140 + 25_000 + Math.ceil((2048 * 1e9) / 19_530_900);
    expect(perSecond).toBeCloseTo(1e9 / readNs, 6);
    expect(measureFigure(plain, { ...figure, hostNs: 15_000 })).toBeCloseTo(1e9 / (readNs + 15_000), 6);
  });

  test('of writes is one over the program time while no block has to be erased', () => {
    const write = { ...figure, metric: 'sequentialWrite', requestBytes: 4096 } as const;
    const geometry = { ...plain.nand.geometry, blocksPerPlane: 17_000 };
    const large = { ...plain, capacityBytes: 2 ** 31, nand: { ...plain.nand, geometry } };
    const pageNs = 140 + Math.ceil(((2048 + 64) * 1e9) / 19_530_900) + 200_000;
    expect(measureFigure(large, write) / 2048).toBeCloseTo(1e9 / pageNs, 3);
  });

  test('of a drive in steady state pays for garbage collection', () => {
    const drive = presets.find(({ name }) => name === 'mqsim-b8') as SsdConfig;
    const writes = drive.figures.find(({ metric }) => metric === 'randomWrite');
    if (writes === undefined) throw new Error('mqsim-b8 has no figure for random writes');
    const fresh = measureFigure(drive, writes);
    const steady = measureFigure(drive, { ...writes, state: 'steady' });
    expect(steady / fresh).toBeLessThan(0.5);
    expect(measureFigure(drive, { ...writes, state: 'steady' })).toBe(steady);
  });

  test('says whether a figure is met, missed, declared to be missed, or declared in vain', () => {
    const within = checkFigure(plain, figure);
    expect([within.verdict, Math.abs(within.error) < 1e-6]).toEqual(['within', true]);
    expect(checkFigure(plain, { ...figure, miss: 'no reason' }).verdict).toBe('stale');
    const twice = { ...figure, value: 2 * figure.value };
    expect(checkFigure(plain, twice).verdict).toBe('outside');
    expect(checkFigure(plain, twice).error).toBeCloseTo(-0.5, 6);
    expect(checkFigure(plain, { ...twice, miss: 'too much is asked' }).verdict).toBe('declared');
  });
});

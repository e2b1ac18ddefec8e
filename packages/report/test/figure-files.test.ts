import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExperimentResult } from '@flashstack/experiment';
import { HostError } from '@flashstack/experiment/node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dark, figureFiles } from '../src/index.js';
import { renderFigures } from '../src/node/index.js';
import { run, withVictim } from './runs.js';

const folder = mkdtempSync(join(tmpdir(), 'flashstack-figures-'));
let result: ExperimentResult;

beforeAll(async () => {
  result = await run();
});
afterAll(() => rmSync(folder, { recursive: true }));

test('every figure of a run is written as SVG and as PNG', () => {
  const written = renderFigures([result], join(folder, 'new', 'run'));
  expect(written.map((figure) => figure.name)).toHaveLength(13);
  for (const { svg, png } of written) {
    const text = readFileSync(svg, 'utf8');
    expect(text).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" viewBox="[-\d. ]+"/);
    expect(text).not.toContain('var(--');
    expect(text).not.toMatch(/NaN|undefined/);
    const picture = readFileSync(png);
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    expect(picture.readUInt32BE(16)).toBeGreaterThan(900);
    expect(picture.length).toBeGreaterThan(3000);
  }
  expect(readdirSync(join(folder, 'new', 'run')).filter((name) => !/\.(svg|png)$/.test(name))).toEqual([]);
});

test('figures have the colours of the theme asked for, and hatches of their own', () => {
  const files = figureFiles([result], {}, dark);
  const phases = files.find((file) => file.name === 'phases');
  expect(phases?.svg).toContain(`fill="${dark.page}"`);
  expect(phases?.svg).toContain('<pattern id="hatch"');
  expect(phases?.svg).toContain('GC interference');
  expect(files.map((file) => file.svg)).toEqual(figureFiles([result], {}, dark).map((file) => file.svg));
});

test('figures of a comparison', async () => {
  const names = figureFiles([result, await withVictim('fifo')]).map((file) => file.name);
  expect(names).toEqual(['ratios-1', 'writes', 'write-flow-1', 'write-flow-2', 'latency-1', 'throughput-1', 'waits']);
});

test('figures without numbers are left out', () => {
  const { heatmaps: _, ...old } = result;
  const names = figureFiles([old as ExperimentResult]).map((file) => file.name);
  expect(names).not.toContain('die-activity');
  expect(names).toContain('throughput');
});

test('where a folder cannot be made nothing is written', () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  expect(() => renderFigures([result], join(file, 'below'))).toThrow(HostError);
  expect(() => renderFigures([result], join(file, 'below'))).toThrow('a part of the path is a file, not a folder');
  expect(existsSync(join(file, 'below'))).toBe(false);
});

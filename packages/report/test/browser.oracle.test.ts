import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { chromiumMissing, launchChromium } from '@flashstack/fixtures/chromium';
import { build } from 'esbuild';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderReport, renderReproductions } from '../src/index.js';
import { direction, f2fs } from './reproductions.js';
import { run, withVictim } from './runs.js';

// Reports as a real browser shows them.
const missing = chromiumMissing('nobody looks at the reports');

describe.skipIf(missing)('in Chromium', () => {
  const folder = missing ? '' : mkdtempSync(join(tmpdir(), 'flashstack-report-'));
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
    const greedy = await run();
    const others = [await withVictim('greedy', 2), await withVictim('fifo'), await withVictim('fifo', 2)];
    const partial = await run({}, 4);
    const reads = await run({ workload: { kind: 'random', parameters: { requests: 300, readShare: 1 } } });
    writeFileSync(join(folder, 'run.html'), renderReport([greedy], { command: 'flashstack run experiment.yaml' }));
    writeFileSync(join(folder, 'comparison.html'), renderReport([greedy, ...others]));
    writeFileSync(join(folder, 'partial.html'), renderReport([partial]));
    writeFileSync(join(folder, 'reads.html'), renderReport([reads]));
    writeFileSync(join(folder, 'reproduction.html'), renderReproductions([f2fs], { command: 'flashstack reproduce' }));
    writeFileSync(join(folder, 'reproductions.html'), renderReproductions([f2fs, direction]));
  });

  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  /** A page of a report, what it asked for, and what it complained about. */
  async function open(
    name: string,
    options: BrowserContextOptions = {},
  ): Promise<{ page: Page; requests: string[]; errors: string[] }> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    const requests: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => errors.push(message.text()));
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(`file://${join(folder, name)}`);
    return { page, requests, errors };
  }

  const full = process.env.CI !== undefined;
  const usual = ['run.html', 'comparison.html', 'reproduction.html'];
  const pages = full ? [...usual, 'partial.html', 'reads.html', 'reproductions.html'] : usual;
  const widths = full ? [1920, 1280, 1180, 1000, 768, 560, 390, 360] : [1280, 390];

  describe.each(pages)('%s', (name) => {
    test.each(widths)('does not scroll sideways at %i px', async (width) => {
      const { page, requests, errors } = await open(name, { viewport: { width, height: 844 } });
      await page.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
      const scroll = await page.evaluate('[document.documentElement.scrollWidth, window.innerWidth]');
      const [wide, inner] = scroll as [number, number];
      expect(wide).toBeLessThanOrEqual(inner);
      expect(requests).toEqual([`file://${join(folder, name)}`]);
      expect(errors).toEqual([]);
      await page.context().close();
    });

    test.each([1280, 390])('shows every figure without scripts at %i px, and no text below 11 px', async (width) => {
      const { page } = await open(name, { viewport: { width, height: 844 }, javaScriptEnabled: false });
      const figures = await page.locator('figure').all();
      expect(figures.length).toBeGreaterThanOrEqual(5);
      for (const figure of figures) {
        const drawn = await figure.locator('svg:visible').all();
        const told = await figure.locator('.call:visible').count();
        expect(drawn.length + told).toBe(1);
        for (const svg of drawn) {
          const box = await svg.boundingBox();
          expect(box?.width).toBeGreaterThan(250);
          expect(box?.height).toBeGreaterThan(30);
          const viewBox = (await svg.getAttribute('viewBox'))?.split(' ').map(Number) ?? [];
          expect(11 * ((box?.width ?? 0) / viewBox[2])).toBeGreaterThanOrEqual(10.5);
        }
      }
      expect(await page.locator('button:visible').count()).toBe(0);
      await page.context().close();
    });

    test.each([
      ['light', {}],
      ['dark', { colorScheme: 'dark' }],
      ['phone', { viewport: { width: 390, height: 844 } }],
      ['print', {}],
    ] as const)('is not blank: %s', async (how, options) => {
      const { page } = await open(name, options);
      if (how === 'print') await page.emulateMedia({ media: 'print' });
      const colors = histogramOf(await page.screenshot());
      const [ground, share] = [...colors].sort((a, b) => b[1] - a[1])[0];
      expect(ground).toBe(how === 'dark' ? '14,17,21' : how === 'print' ? '255,255,255' : '251,250,247');
      expect(share).toBeGreaterThan(0.5);
      expect(share).toBeLessThan(0.985);
      expect(colors.size).toBeGreaterThan(30);
      await page.context().close();
    });

    test('has a sound outline: one heading of the first order, labels for every drawing, headed tables', async () => {
      const { page } = await open(name);
      const levels = await page.$$eval('h1, h2, h3', (all) => all.map((heading) => Number(heading.tagName[1])));
      expect(levels[0]).toBe(1);
      expect(levels.filter((level) => level === 1)).toHaveLength(1);
      for (let i = 1; i < levels.length; i++) expect(levels[i] - levels[i - 1]).toBeLessThanOrEqual(1);
      expect(await page.locator('[role=img]:not([aria-label])').count()).toBe(0);
      expect(await page.locator('table:not(:has(th[scope=col]))').count()).toBe(0);
      const ids = await page.$$eval('[id]', (all) => all.map((element) => element.id));
      expect(new Set(ids).size).toBe(ids.length);
      const targets = await page.$$eval('nav a', (all) => all.map((link) => link.getAttribute('href')?.slice(1) ?? ''));
      for (const target of targets) expect(ids).toContain(target);
      await page.context().close();
    });
  });

  test('a browser makes the same bytes: no Node built-in, no platform arithmetic', async () => {
    const bundle = await build({
      stdin: {
        contents: `import { renderReport, renderReproductions } from './index.ts'; Object.assign(globalThis, { renderReport, renderReproductions });`,
        resolveDir: fileURLToPath(new URL('../src', import.meta.url)),
        loader: 'ts',
      },
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      target: 'es2022',
      conditions: ['@flashstack/source'],
    });
    const page = await browser.newPage();
    await page.addScriptTag({ content: bundle.outputFiles[0].text });
    const results = [await run(), await withVictim('fifo')];
    for (const given of [results.slice(0, 1), results]) {
      const there = await page.evaluate(
        (list) => (globalThis as unknown as { renderReport(list: unknown): string }).renderReport(list),
        given,
      );
      expect(there === renderReport(given)).toBe(true);
    }
    const reproductions = [f2fs, direction];
    const there = await page.evaluate(
      (list) => (globalThis as unknown as { renderReproductions(list: unknown): string }).renderReproductions(list),
      reproductions,
    );
    expect(there === renderReproductions(reproductions)).toBe(true);
    await page.close();
  });

  test('scripts add a switch of themes, a cursor that all times share, and a filter of metrics', async () => {
    const { page, errors } = await open('run.html');
    const ground = (): Promise<string> =>
      page.evaluate('getComputedStyle(document.body).backgroundColor') as Promise<string>;
    expect(await ground()).toBe('rgb(251, 250, 247)');
    await page.click('[data-switch]');
    expect(await ground()).toBe('rgb(14, 17, 21)');
    await page.click('[data-switch]');
    expect(await ground()).toBe('rgb(251, 250, 247)');

    const plot = page.locator('#throughput .wide .at');
    const box = await plot.boundingBox();
    if (box === null) throw new Error('the plot is not visible');
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    const cursors = page.locator('.wide .cursor');
    expect(await cursors.count()).toBeGreaterThanOrEqual(4);
    const opacity = (): Promise<unknown> =>
      page.evaluate(
        "[...new Set([...document.querySelectorAll('.wide .cursor')].map((line) => getComputedStyle(line).opacity))].join()",
      );
    expect(await opacity()).toBe('0.55');
    const own = await page.locator('#throughput .wide .cursor').boundingBox();
    expect(Math.abs((own?.x ?? 0) - (box.x + box.width / 2))).toBeLessThan(1.5);
    await page.mouse.move(2, 2);
    expect(await opacity()).toBe('0');

    await page.locator('details.all summary').click();
    await page.fill('[data-filter]', 'ftl.gc.erases');
    expect(await page.locator('[data-metrics] tbody tr:visible').count()).toBe(1);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  test('claims are a table with columns, and cards on a phone, where each value says what it is', async () => {
    for (const [width, cards] of [
      [1280, false],
      [390, true],
    ] as const) {
      const { page } = await open('reproduction.html', { viewport: { width, height: 844 } });
      const row = page.locator('.claims tbody tr').nth(4);
      const tops = await row
        .locator('td.num')
        .evaluateAll((all) => all.map((cell) => cell.getBoundingClientRect().top));
      expect(new Set(tops).size).toBe(cards ? 3 : 1);
      const before = await page.evaluate(
        "getComputedStyle(document.querySelector('.claims .pub'), '::before').content",
      );
      expect(before).toBe(cards ? '"published "' : 'none');
      // The square of a miss lies beyond the band, the strip is as wide as its place.
      const mark = await row.locator('.sm').boundingBox();
      const band = await row.locator('.bd').boundingBox();
      const strip = await row.locator('.strip').boundingBox();
      if (mark === null || band === null || strip === null) throw new Error('a part of the strip is not visible');
      expect(mark.x).toBeGreaterThan(band.x + band.width);
      expect(mark.x + mark.width).toBeLessThan(strip.x + strip.width);
      expect(strip.width).toBeGreaterThan(200);
      await page.context().close();
    }
  });

  test('keyboard alone reaches sections, tables and details, with a ring around what is reached', async () => {
    const { page } = await open('run.html');
    const reached = new Set<string>();
    for (let i = 0; i < 14; i++) {
      await page.keyboard.press('Tab');
      reached.add((await page.evaluate('document.activeElement.tagName')) as string);
      const style = (await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')) as string;
      expect(style).toBe('solid');
    }
    expect([...reached].sort()).toEqual(expect.arrayContaining(['A', 'BUTTON', 'SUMMARY']));
    await page.context().close();
  });
});

/** Shares of the colours of a picture (PNG, 8 bits a channel, as browsers make it), by `r,g,b`. */
function histogramOf(png: Buffer): Map<string, number> {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const channels = png[25] === 6 ? 4 : 3;
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const pixels = Buffer.alloc(height * stride);
  const colors = new Map<string, number>();
  for (let y = 0; y < height; y++) {
    unfilter(raw, y * (stride + 1), pixels, y * stride, stride, channels);
    for (let x = 0; x < stride; x += channels * 3) {
      const at = y * stride + x;
      const color = `${pixels[at]},${pixels[at + 1]},${pixels[at + 2]}`;
      colors.set(color, (colors.get(color) ?? 0) + 1);
    }
  }
  const total = [...colors.values()].reduce((sum, count) => sum + count, 0);
  return new Map([...colors].map(([color, count]) => [color, count / total]));
}

/** One line of a PNG (W3C PNG specification, filters 0 to 4). */
function unfilter(raw: Buffer, from: number, pixels: Buffer, to: number, stride: number, channels: number): void {
  const filter = raw[from];
  for (let i = 0; i < stride; i++) {
    const left = i >= channels ? pixels[to + i - channels] : 0;
    const up = to > 0 ? pixels[to + i - stride] : 0;
    const corner = to > 0 && i >= channels ? pixels[to + i - stride - channels] : 0;
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
    pixels[to + i] = raw[from + 1 + i] + guess;
  }
}

function paeth(left: number, up: number, corner: number): number {
  const estimate = left + up - corner;
  const [a, b, c] = [left, up, corner].map((value) => Math.abs(estimate - value));
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

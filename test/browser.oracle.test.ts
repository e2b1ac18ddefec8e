import { readFileSync } from 'node:fs';
import { fixtureUrl } from '@flashstack/fixtures';
import { chromiumMissing, launchChromium } from '@flashstack/fixtures/chromium';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineBundle } from './engine-bundle.js';
import * as here from './small-runs.js';

// The simulation must give the same bytes in a browser as here: no Node built-in, no clock, no platform arithmetic.
const missing = chromiumMissing('the browser does not confirm the results');

type There = { readonly subject: typeof here };

describe.skipIf(missing)('in Chromium', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
    page = await browser.newPage();
    await page.addScriptTag({
      content: `${await engineBundle(`export * from './small-runs.ts';`)}; globalThis.subject = subject;`,
    });
  });

  afterAll(async () => {
    await browser.close();
  });

  test.each(here.smallRuns.map((run) => [run.name, run] as const))(
    '%s: the same result to the byte',
    async (_, run) => {
      const contents = run.fixture === undefined ? '' : readFileSync(fixtureUrl(run.fixture)).toString('base64');
      const there = await page.evaluate(
        ([given, bytes]) => (globalThis as unknown as There).subject.runInThisEngine(given, bytes),
        [run, contents] as const,
      );
      expect(there.length).toBeGreaterThan(1000);
      // Without the precaution a difference would print two megabytes.
      expect(there === (await here.runInThisEngine(run, contents)), 'equal texts').toBe(true);
    },
  );

  test('a spec as users write it', async () => {
    const document = {
      device: { preset: 'mqsim-b8', capacity: '256MiB' },
      ftl: { victim: { name: 'd-choices', parameters: { d: 4 } } },
      workload: { kind: 'random', requests: '10k', readShare: 0 },
      precondition: 'steady',
      warmup: '10%',
    };
    const there = await page.evaluate(
      (given) => (globalThis as unknown as There).subject.runDocumentInThisEngine(given),
      document,
    );
    expect(there.length).toBeGreaterThan(1000);
    expect(there === (await here.runDocumentInThisEngine(document)), 'equal texts').toBe(true);
  });

  test('a saved drive', async () => {
    const there = await page.evaluate(() => (globalThis as unknown as There).subject.savedInThisEngine());
    expect(there).toBe(here.savedInThisEngine());
  });
});

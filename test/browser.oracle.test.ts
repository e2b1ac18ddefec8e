import { existsSync, readFileSync } from 'node:fs';
import { fixtureUrl } from '@flashstack/fixtures';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { engineBundle } from './engine-bundle.js';
import * as here from './small-runs.js';

// The simulation must give the same bytes in a browser as here: no Node built-in, no clock, no platform arithmetic.
const executable = '/usr/bin/chromium';
const missing = !existsSync(executable);
if (missing) {
  const message = `${executable} is missing (Debian package chromium): the browser does not confirm the results`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
}

type There = { readonly subject: typeof here };

describe.skipIf(missing)('in Chromium', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: executable,
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
    });
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

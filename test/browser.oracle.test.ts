import { existsSync } from 'node:fs';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { runInThisEngine, type SmallRun, smallRuns } from './small-runs.js';
import { root } from './workspace.js';

// The simulation must give the same bytes in a browser as here: no Node built-in, no clock, no platform arithmetic.
const executable = '/usr/bin/chromium';
const missing = !existsSync(executable);
if (missing) {
  const message = `${executable} is missing (Debian package chromium): the browser does not confirm the results`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
}

describe.skipIf(missing)('in Chromium', () => {
  test('every scheduler gives the same result as in Node, to the byte', async () => {
    const bundle = await build({
      stdin: {
        contents: `import { runInThisEngine } from './small-runs.ts'; globalThis.runInThisEngine = runInThisEngine;`,
        resolveDir: `${root}test`,
        loader: 'ts',
      },
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      target: 'es2022',
      conditions: ['@flashstack/source'],
    });
    const browser = await chromium.launch({
      executablePath: executable,
      args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
    });
    try {
      const page = await browser.newPage();
      await page.addScriptTag({ content: bundle.outputFiles[0]?.text ?? '' });
      for (const run of smallRuns) {
        const there = await page.evaluate(
          (given) =>
            (globalThis as unknown as { runInThisEngine(run: SmallRun): Promise<string> }).runInThisEngine(given),
          run,
        );
        expect(there.length).toBeGreaterThan(1000);
        expect(there, run.name).toBe(await runInThisEngine(run));
      }
    } finally {
      await browser.close();
    }
  });
});

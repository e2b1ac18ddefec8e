import { existsSync, readFileSync } from 'node:fs';
import { fixtureUrl } from '@flashstack/fixtures';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { type TraceDigest, traceInThisEngine } from './trace-digest.js';
import { root } from './workspace.js';

// Traces must read the same in a browser as here, packed in any way: no Node built-in, and the platform's gzip.
const executable = '/usr/bin/chromium';
const missing = !existsSync(executable);
if (missing) {
  const message = `${executable} is missing (Debian package chromium): the browser does not confirm that it reads traces`;
  if (process.env.CI) throw new Error(message);
  process.stderr.write(`\n◐ SKIPPED: ${message}\n\n`);
}

const names = ['copy-remove.msr.csv.gz', 'copy-remove.blktrace.gz', 'copy-remove.fio-v3.iolog.gz', 'randrw.iolog'];

describe.skipIf(missing)('in Chromium', () => {
  test('traces, plain and packed, read and convert as in Node', async () => {
    const bundle = await build({
      stdin: {
        contents: `import { traceInThisEngine } from './trace-digest.ts'; globalThis.traceInThisEngine = traceInThisEngine;`,
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
    const browser = await chromium.launch({ executablePath: executable, args: ['--no-sandbox', '--disable-gpu'] });
    try {
      const page = await browser.newPage();
      await page.addScriptTag({ content: bundle.outputFiles[0]?.text ?? '' });
      for (const name of names) {
        const bytes = Array.from(readFileSync(fixtureUrl(name)));
        const there = await page.evaluate(
          (given) =>
            (globalThis as unknown as { traceInThisEngine(bytes: number[]): Promise<TraceDigest> }).traceInThisEngine(
              given,
            ),
          bytes,
        );
        const here = await traceInThisEngine(bytes);
        expect(there, name).toEqual(here);
        expect(here.requests, name).toBeGreaterThan(100);
      }
    } finally {
      await browser.close();
    }
  });
});

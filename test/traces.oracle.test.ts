import { readFileSync } from 'node:fs';
import { fixtureUrl } from '@flashstack/fixtures';
import { chromiumMissing, launchChromium } from '@flashstack/fixtures/chromium';
import { describe, expect, test } from 'vitest';
import { engineBundle } from './engine-bundle.js';
import * as digest from './trace-digest.js';

// Traces must read the same in a browser as here, packed in any way: no Node built-in, and the platform's gzip.
const missing = chromiumMissing('the browser does not confirm that it reads traces');
const names = ['copy-remove.msr.csv.gz', 'copy-remove.blktrace.gz', 'copy-remove.fio-v3.iolog.gz', 'randrw.iolog'];

describe.skipIf(missing)('in Chromium', () => {
  test('traces, plain and packed, read and convert as in Node', async () => {
    const bundle = await engineBundle(`export * from './trace-digest.ts';`);
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.addScriptTag({ content: `${bundle}; globalThis.subject = subject;` });
      for (const name of names) {
        const bytes = Array.from(readFileSync(fixtureUrl(name)));
        const there = await page.evaluate(
          (given) => (globalThis as unknown as { subject: typeof digest }).subject.traceInThisEngine(given),
          bytes,
        );
        const here = await digest.traceInThisEngine(bytes);
        expect(there, name).toEqual(here);
        expect(here.requests, name).toBeGreaterThan(100);
      }
    } finally {
      await browser.close();
    }
  });
});

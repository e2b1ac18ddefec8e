import { readdirSync, readFileSync } from 'node:fs';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

const root = new URL('../', import.meta.url);

it('the main entry needs nothing but the language: it loads and works in an empty context', async () => {
  const bundle = await build({
    entryPoints: [new URL('src/index.ts', root).pathname],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'subject',
    platform: 'neutral',
    conditions: ['@flashstack/source'],
  });
  // No process, Buffer, require, console, timers or TextEncoder in here.
  const context = createContext({});
  runInContext(`'use strict'; ${bundle.outputFiles[0].text}; globalThis.subject = subject;`, context);
  expect(runInContext(`subject.pureCodecs().crc32c.checksum(new Uint8Array(32))`, context)).toBe(0x8a91_36aa);
});

it('no source outside the node entry takes time, randomness or anything else from the machine', () => {
  const files = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' });
  const sources = files.filter((file) => file.endsWith('.ts') && !file.startsWith('node/'));
  expect(sources.length).toBeGreaterThan(2);
  for (const file of sources) {
    const text = readFileSync(new URL(`src/${file}`, root), 'utf8');
    expect(text, file).not.toMatch(
      /from 'node:|Buffer\.|\bDate\.|new Date\b|Math\.random|performance\.|globalThis\.process/,
    );
  }
});

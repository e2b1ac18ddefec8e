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
  expect(
    runInContext(
      `(() => {
        const device = new subject.MemoryDevice({ blockCount: 8 });
        const batch = new subject.IoBatch(device);
        const tags = new Uint32Array(1);
        batch.add(subject.BlockOp.write, 3, 1).tags = new Uint32Array([7]);
        batch.add(subject.BlockOp.read, 3, 1).tags = tags;
        batch.start();
        return tags[0];
      })()`,
      context,
    ),
  ).toBe(7);
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

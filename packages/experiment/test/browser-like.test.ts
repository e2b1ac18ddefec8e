import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { runExperiment } from '../src/index.js';
import { smallSpec } from './small-spec.js';

/** The package and everything it needs as one script without any import. */
async function bundle(): Promise<string> {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../src/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    globalName: 'flashstack',
    platform: 'neutral',
    target: 'es2022',
    conditions: ['@flashstack/source'],
    logLevel: 'silent',
  });
  const outside = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter((item) => item.external));
  expect(outside).toEqual([]);
  return outputFiles[0].text;
}

test('where there is nothing but the language, the same spec gives the same bytes', async () => {
  const context = createContext({ specText: JSON.stringify(smallSpec) });
  // A new context has the built-ins of ECMAScript only: no process, no Buffer, no performance, no timers.
  expect(runInContext('typeof process + typeof Buffer + typeof setTimeout', context)).toBe('undefined'.repeat(3));
  runInContext(await bundle(), context);
  const script = 'flashstack.runExperiment(JSON.parse(specText)).then((result) => JSON.stringify(result))';
  const text = (await runInContext(script, context)) as string;
  expect(text).toBe(JSON.stringify(await runExperiment(smallSpec)));
});

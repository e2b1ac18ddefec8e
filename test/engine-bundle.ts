import { build } from 'esbuild';
import { root } from './workspace.js';

/**
 * A module of this workspace as one script without any import, for an engine that is not Node: `source` is TypeScript
 * that imports relative to `test/`; what it exports becomes properties of the global `subject`.
 * Anything that cannot be bundled, such as a Node built-in, is an error.
 */
export async function engineBundle(source: string): Promise<string> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: source, resolveDir: `${root}test`, loader: 'ts' },
    bundle: true,
    write: false,
    metafile: true,
    platform: 'neutral',
    mainFields: ['module', 'main'],
    format: 'iife',
    globalName: 'subject',
    target: 'es2022',
    conditions: ['@flashstack/source'],
    logLevel: 'silent',
  });
  const outside = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter((item) => item.external));
  if (outside.length > 0) throw new Error(`not bundled: ${outside.map((item) => item.path).join(', ')}`);
  return outputFiles[0].text;
}

import { cpSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Options } from 'tsup';

const traces = ['sqlite-delete.msr.csv.gz', 'postgres.msr.csv.gz'];
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// The packages of the workspace are inside, straight from their sources: no package need be built before. What they need
// from outside (a native renderer, a loader of modules, …) stays outside and is a dependency of this package.
const config: Options | Options[] | ((options: Options) => Options) = defineConfig({
  entry: { main: 'src/main.ts' },
  format: ['esm'],
  clean: true,
  target: 'node20',
  banner: { js: '#!/usr/bin/env node' },
  noExternal: [/^@flashstack\//],
  esbuildOptions(options) {
    options.conditions = ['@flashstack/source'];
  },
  async onSuccess() {
    mkdirSync(here('dist/traces'), { recursive: true });
    for (const name of traces) cpSync(here(`../../packages/fixtures/data/${name}`), here(`dist/traces/${name}`));
  },
}) as Options;
export default config;

import { existsSync } from 'node:fs';
import { defineConfig, type Options } from 'tsup';

// The entries a package may publish: its main one, and the named extras of the architecture.
const entries: Record<string, string> = {
  index: 'src/index.ts',
  node: 'src/node/index.ts',
  conformance: 'src/conformance/index.ts',
  crash: 'src/crash/index.ts',
};
const entry = Object.fromEntries(Object.entries(entries).filter(([, path]) => existsSync(path)));
const config: Options | Options[] | ((options: Options) => Options) = defineConfig({
  entry,
  format: ['esm'],
  clean: true,
  sourcemap: true,
  target: 'node20',
}) as Options;
export default config;

// Every check of the project, in order from the fastest to the slowest. Stops at the first stage that fails.
// Profiles: default (small counts), CI set (full counts), --long (deep counts, see docs/validation).
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const long = process.argv.includes('--long');
const report = 'out/test-report.json';
const bin = (name) => `${root}node_modules/.bin/${name}`;
const turbo = (...tasks) => [bin('turbo'), 'run', ...tasks, '--output-logs=errors-only', '--no-update-notifier'];

const stages = [
  ['snippets', [process.execPath, 'scripts/snippets.mjs']],
  ['types', [bin('tsc'), '-p', '.']],
  ['lint and format', [bin('biome'), 'check', '.', '--error-on-warnings']],
  ['unused files, exports, dependencies', [bin('knip')]],
  ['build', turbo('build')],
  ['tests', [bin('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]],
  ['packages as published', turbo('check:package', '--concurrency=2')],
  ['docs', turbo('docs:build')],
];

const env = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
  ...(long ? { CI: process.env.CI ?? 'true', FLASHSTACK_LONG: '1' } : {}),
};
const profile = long ? 'long' : process.env.CI ? 'CI' : 'local';
mkdirSync(`${root}out`, { recursive: true });
rmSync(`${root}${report}`, { force: true });
for (const [name, [command, ...args]] of stages) {
  const started = Date.now();
  process.stdout.write(`\n▸ ${name}\n`);
  const { status, error } = spawnSync(command, args, { cwd: root, env, stdio: 'inherit' });
  if (status !== 0) {
    if (error) process.stderr.write(`${error.message}\n`);
    process.stderr.write(`✗ ${name} failed (profile ${profile})\n`);
    process.exit(status || 1);
  }
  process.stdout.write(`✓ ${name}, ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}
process.stdout.write(`\nAll ${stages.length} stages passed (profile ${profile}).\n`);

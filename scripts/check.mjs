// Every check of the project, in order from the fastest to the slowest. Stops at the first stage that fails.
// Profiles: default (small counts), CI set (full counts), --long (deep counts, see docs/validation).
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const long = process.argv.includes('--long');
const report = 'out/test-report.json';
const underWay = `${root}out/tests-under-way.json`;
/** A test that never ends must not keep the others from being told of. */
const testMinutes = long ? 24 * 60 : process.env.CI ? 60 : 30;
const bin = (name) => `${root}node_modules/.bin/${name}`;
const turbo = (...tasks) => [bin('turbo'), 'run', ...tasks, '--output-logs=errors-only', '--no-update-notifier'];

const stages = [
  ['snippets', [process.execPath, 'scripts/snippets.mjs']],
  ['types', [bin('tsc'), '-p', '.']],
  ['lint and format', [bin('biome'), 'check', '.', '--error-on-warnings']],
  ['unused files, exports, dependencies', [bin('knip')]],
  ['build', turbo('build')],
  [
    'tests',
    [
      ...[bin('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
      `--reporter=${root}scripts/test-progress.mjs`,
    ],
    testMinutes,
  ],
  ['packages as published', turbo('check:package', '--concurrency=2')],
  ['docs', turbo('docs:build')],
];

const env = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
  ...(long ? { CI: process.env.CI ?? 'true', FLASHSTACK_LONG: '1' } : {}),
};

/** Runs a command in a process group of its own, so that a worker in an endless loop can be ended with the rest. */
function run(command, args, minutes) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, env, stdio: 'inherit', detached: true });
    let late = false;
    const end = (signal) => process.kill(-child.pid, signal);
    const limit = setTimeout(() => {
      late = true;
      end('SIGKILL');
    }, minutes * 60_000);
    process.on('SIGINT', end).on('SIGTERM', end);
    const finish = (outcome) => {
      clearTimeout(limit);
      process.off('SIGINT', end).off('SIGTERM', end);
      resolve({ late, ...outcome });
    };
    child.on('error', (error) => finish({ status: 1, error }));
    child.on('close', (status) => finish({ status }));
  });
}

const profile = long ? 'long' : process.env.CI ? 'CI' : 'local';
mkdirSync(`${root}out`, { recursive: true });
for (const file of [`${root}${report}`, underWay]) rmSync(file, { force: true });
for (const [name, [command, ...args], minutes = 30] of stages) {
  const started = Date.now();
  process.stdout.write(`\n▸ ${name}\n`);
  const { status, late, error } = await run(command, args, minutes);
  if (status !== 0) {
    if (late) {
      const files = existsSync(underWay) ? JSON.parse(readFileSync(underWay, 'utf8')) : [];
      process.stderr.write(
        `Not at an end after ${minutes} minutes. Test files under way: ${files.join(', ') || 'none'}\n`,
      );
    }
    if (error) process.stderr.write(`${error.message}\n`);
    process.stderr.write(`✗ ${name} failed (profile ${profile})\n`);
    process.exit(status || 1);
  }
  process.stdout.write(`✓ ${name}, ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
}
process.stdout.write(`\nAll ${stages.length} stages passed (profile ${profile}).\n`);

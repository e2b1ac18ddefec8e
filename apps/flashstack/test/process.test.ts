import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { fixtureUrl } from '@flashstack/fixtures';
import { beforeAll, expect, test } from 'vitest';

// The command as it is run and published: one bundle, in a process of its own.
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const script = path('../../../scripts/flashstack.mjs');
const main = path('../dist/main.js');
const postgres = fileURLToPath(fixtureUrl('postgres.msr.csv.gz'));
const small = ['--device', 'emmc-5.0', '--capacity', '1GiB'];

beforeAll(() => {
  // Builds the bundle if it is older than the sources.
  execFileSync(process.execPath, [script, '--version'], { stdio: ['ignore', 'pipe', 'inherit'] });
});

test('the script runs the bundle and passes its exit code on; a pipe gets no colours', () => {
  const good = spawnSync(process.execPath, [script, 'devices'], { encoding: 'utf8' });
  expect([good.status, good.stderr]).toEqual([0, '']);
  expect(good.stdout).toContain('generic-tlc-nvme');
  expect(good.stdout).not.toContain('\u001b');
  const bad = spawnSync(process.execPath, [script, 'replay', 'nowhere', ...small], { encoding: 'utf8' });
  expect([bad.status, bad.stdout]).toEqual([2, '']);
  expect(bad.stderr).toContain('error: nowhere: there is no such file');
});

test('the bundle needs nothing of the workspace and brings its traces', () => {
  const text = readFileSync(main, 'utf8');
  expect(text.startsWith('#!/usr/bin/env node\n')).toBe(true);
  const scripts = readdirSync(path('../dist')).filter((file) => file.endsWith('.js'));
  const all = scripts.map((file) => readFileSync(path(`../dist/${file}`), 'utf8')).join('\n');
  expect(all).not.toMatch(/(from|import) *\(?["']@flashstack\//);
  // What is not bundled is a dependency of the published package.
  const { dependencies } = JSON.parse(readFileSync(path('../package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const outside = [...all.matchAll(/(?:^import [^'"\n]*|\bimport\()["']([^.'"][^'"]*)["']/gm)].map(([, name]) =>
    name.startsWith('@') ? name.split('/').slice(0, 2).join('/') : name.split('/')[0],
  );
  const packages = [...new Set(outside)].filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
  expect(packages.sort()).toEqual(Object.keys(dependencies).sort());
  expect(readdirSync(path('../dist/traces')).sort()).toEqual(['postgres.msr.csv.gz', 'sqlite-delete.msr.csv.gz']);
  expect(statSync(main).size).toBeLessThan(2e6);
});

test('a reader that goes away ends it quietly', () => {
  const shell = spawnSync('bash', ['-c', `"${process.execPath}" "${main}" devices show emmc-5.0 --json | head -n 1`], {
    encoding: 'utf8',
  });
  expect([shell.stdout, shell.stderr]).toEqual(['{\n', '']);
});

test('SIGINT in the middle of a run: a partial result and exit code 130', async () => {
  const out = mkdtempSync(`${tmpdir()}/flashstack-`);
  const child = spawn(process.execPath, [main, 'replay', postgres, ...small, '--repeat', '1000000', '--out', out]);
  let stdout = '';
  child.stdout.on('data', (data: Buffer) => {
    stdout += data.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  // The trace has been read by then, and the run begins.
  await new Promise<void>((resolve) => child.stderr.once('data', () => resolve()));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(stdout).toContain('interrupted at');
  expect(existsSync(`${out}/postgres.partial.json`)).toBe(true);
  expect(readdirSync(out).sort()).toEqual(['postgres.partial.html', 'postgres.partial.json']);
});

test.each([300, 3000])('SIGINT while a drive is built or filled ends it soon: after %i ms', async (delayMs) => {
  const args = ['replay', postgres, '--device', 'generic-tlc-nvme', '--precondition', 'fill', '--repeat', '1000000'];
  const child = spawn(process.execPath, [main, ...args]);
  let stdout = '';
  child.stdout.on('data', (data: Buffer) => {
    stdout += data.toString();
  });
  const ended = new Promise<number | string | null>((resolve) =>
    child.on('close', (code, signal) => resolve(code ?? signal)),
  );
  await new Promise<void>((resolve) => child.stderr.once('data', () => resolve()));
  await new Promise((resolve) => setTimeout(resolve, delayMs));
  child.kill('SIGINT');
  // By exit code before the filling began, by the signal in it; had it gone on, there would be a partial result.
  expect([130, 'SIGINT']).toContain(await ended);
  expect(stdout).toBe('');
});

test('outputs that cannot be written: a full stdout is an error of the machine, a full stderr is no error', () => {
  const run = (line: string): ReturnType<typeof spawnSync> =>
    spawnSync('bash', ['-c', `"${process.execPath}" "${main}" ${line}`], { encoding: 'utf8' });
  const full = run('devices > /dev/full');
  expect([full.status, full.stderr]).toEqual([3, expect.stringMatching(/^error: stdout: no space left on device/)]);
  expect(full.stderr).not.toContain('defect');
  const silent = run(`replay "${postgres}" ${small.join(' ')} 2> /dev/full`);
  expect(silent.status).toBe(0);
  expect(silent.stdout).toContain('1\u202f987 completed');
});

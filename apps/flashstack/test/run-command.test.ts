import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ExperimentResult } from '@flashstack/experiment';
import { openTrace } from '@flashstack/workloads/node';
import { describe, expect, test } from 'vitest';
import { width } from '../src/terminal.js';
import { FakeHost } from './fake-host.js';
import { cli, folder, postgres, read, spec, text } from './spec-runs.js';

describe('run', () => {
  test('a spec: the summary, and with --out the result and its report', async () => {
    const out = folder();
    const { code, out: shown } = await cli(['run', spec(), '--out', out]);
    expect(code).toBe(0);
    const lines = shown.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(24);
    for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(80);
    expect(lines[0]).toMatch(/^random on mqsim-b8 +seed 1 - spec [0-9a-f]{8}$/);
    expect(shown).toContain(`report   ${out}/small.html\nresult   ${out}/small.json\n`);
    expect(readdirSync(out).sort()).toEqual(['small.html', 'small.json']);
    expect(read(`${out}/small.json`)).toMatchObject({ schema: 'flashstack.result/1', partial: null, seed: 1 });
    expect(readFileSync(`${out}/small.html`, 'utf8')).toMatch(/^<!doctype html>/i);
  });

  test('a trace by its path relative to the spec', async () => {
    const at = folder();
    mkdirSync(`${at}/traces`);
    writeFileSync(`${at}/traces/p.msr.csv.gz`, readFileSync(postgres));
    writeFileSync(
      `${at}/t.yaml`,
      'device: { preset: emmc-5.0, capacity: 1GiB }\nworkload: { trace: traces/p.msr.csv.gz, limit: 100 }\n',
    );
    const { code, out } = await cli(['run', `${at}/t.yaml`]);
    expect(code).toBe(0);
    expect(out).toMatch(/^p on emmc-5\.0/);
    expect(out).toContain('100 issued = 100 completed + 0 failed.');
  });

  test('flags and --set change the spec before it is read', async () => {
    const { out } = await cli([
      'run',
      spec(),
      '--seed',
      '7',
      '--set',
      'ftl.victim=fifo',
      '--set',
      'workload.requests=500',
      '--json',
    ]);
    const result = JSON.parse(out) as ExperimentResult;
    expect(result.seed).toBe(7);
    expect(result.spec.device.ftl.victim).toBe('fifo');
    expect(result.metrics['host.completed']).toBe(500);
  });

  test('--set takes maps and lists in YAML', async () => {
    const set = [
      'ftl.victim={name: d-choices, parameters: {d: 3}}',
      'device={preset: mqsim-b8, capacity: 112MiB, overProvisioning: 25%}',
    ];
    const { out } = await cli(['run', spec(), '--json', '--set', set[0], '--set', set[1]]);
    const { device } = (JSON.parse(out) as ExperimentResult).spec;
    expect(device.ftl.victim).toMatchObject({ name: 'd-choices', parameters: { d: 3 } });
    expect(device.capacityBytes).toBe(112 * 2 ** 20);
  });

  test.each([
    ['ftl.victim={name: d-choices, parameters: {d: 3}', '--set ftl.victim:1:37: this is no YAML'],
    ['ftl.victim={kind: fifo}', 'ftl.victim is {"kind":"fifo"}, expected one of'],
    ['ftl.victim={name: fifo, name: greedy}', '--set ftl.victim:1:14: key name stands twice'],
    ['modules=[a', '--set modules:1:3: this is no YAML'],
  ])('--set %s: exit code 2 and what is wrong', async (setting, message) => {
    const { code, err } = await cli(['run', spec(), '--set', setting]);
    expect(code).toBe(2);
    expect(err.replaceAll('\n   ', ' ')).toContain(message);
  });

  test('--set takes a regular expression as it is, though it begins with a bracket', async () => {
    const at = folder();
    writeFileSync(`${at}/w.log`, 'w 0 4096\nr 4096 4096\n');
    writeFileSync(
      `${at}/t.yaml`,
      'device: { preset: emmc-5.0, capacity: 1GiB }\nworkload: { trace: w.log, format: pattern, pattern: x }\n',
    );
    const pattern = 'workload.pattern=[ ]*(?<op>[rw]) (?<offset>[0-9]+) (?<length>[0-9]+)';
    const { code, out } = await cli(['run', `${at}/t.yaml`, '--json', '--set', pattern]);
    expect(code).toBe(0);
    expect((JSON.parse(out) as ExperimentResult).metrics['host.completed']).toBe(2);
  });

  test('a warm-up is left out of the metrics, and told', async () => {
    const { out } = await cli(['run', spec(), '--warmup', '25%', '--json']);
    const result = JSON.parse(out) as ExperimentResult;
    expect(result.warmup?.requests).toBe(5000);
    expect(result.metrics['host.completed']).toBe(15_000);
    expect(result.spec.warmup).toEqual({ share: 0.25 });
    const long = await cli(['run', spec(), '--warmup', '100 s']);
    expect([long.code, long.err.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('warmup is as long as the run'),
    ]);
  });

  test('several seeds: a result each, and their spread', async () => {
    const out = folder();
    const { code, out: shown } = await cli(['run', spec(), '--seeds', '3', '--out', out]);
    expect(code).toBe(0);
    expect(readdirSync(out).sort()).toEqual(['small-seed1.json', 'small-seed2.json', 'small-seed3.json', 'small.html']);
    expect([1, 2, 3].map((seed) => read(`${out}/small-seed${seed}.json`).seed)).toEqual([1, 2, 3]);
    expect(shown).toMatch(/^small, 3 seeds\n/);
    expect(shown).toMatch(/^throughput, MB\/s +\d[\d. ]* \+- [\d.]+$/m);
    for (const line of shown.split('\n')) expect(width(line), line).toBeLessThanOrEqual(80);
  });

  test('a saved drive gives the same result as a new one, and only to the same preparation', async () => {
    const at = folder();
    const steady = spec(text.replace('fill', 'steady'));
    const saved = await cli(['run', steady, '--save-drive', `${at}/d.img`, '--out', `${at}/a`]);
    expect(saved.code).toBe(0);
    const loaded = await cli(['run', steady, '--load-drive', `${at}/d.img`, '--out', `${at}/b`]);
    expect(loaded.code).toBe(0);
    expect(readFileSync(`${at}/b/small.json`, 'utf8')).toBe(readFileSync(`${at}/a/small.json`, 'utf8'));
    const other = await cli(['run', steady, '--load-drive', `${at}/d.img`, '--seed', '2']);
    expect([other.code, other.err.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('prepared from another device, precondition, seed'),
    ]);
    const missing = await cli(['run', steady, '--load-drive', `${at}/none.img`]);
    expect([missing.code, missing.err.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('there is no such file'),
    ]);
  });

  test('what channels and dies did, for a trace viewer', async () => {
    const path = `${folder()}/t.json`;
    const { code } = await cli(['run', spec(), '--set', 'workload.requests=200', '--trace-events', path]);
    expect(code).toBe(0);
    const { traceEvents } = JSON.parse(readFileSync(path, 'utf8')) as { traceEvents: { ph: string }[] };
    expect(traceEvents.filter(({ ph }) => ph === 'X').length).toBeGreaterThan(200);
  });

  test('its requests, as a block trace that reads back, binary and as text', async () => {
    const at = folder();
    const lengths: number[] = [];
    for (const name of ['t.blktrace.0', 't.blkparse.txt']) {
      const path = `${at}/${name}`;
      const { code, out } = await cli(['run', spec(), '--set', 'workload.requests=200', '--block-trace', path]);
      expect(code).toBe(0);
      expect(out).toContain(name);
      for (const action of ['Q', 'D'] as const) lengths.push((await openTrace(path, { action })).trace.length);
    }
    expect(lengths).toEqual([200, 200, 200, 200]);
    expect(readdirSync(at).sort()).toEqual(['t.blkparse.txt', 't.blktrace.0']);
  });

  test('no block trace without a format, of several runs, or of a run that fails', async () => {
    const at = folder();
    const unnamed = await cli(['run', spec(), '--block-trace', `${at}/t.trace`]);
    expect(unnamed.code).toBe(2);
    expect(unnamed.err.replace(/\s+/g, ' ')).toContain('the name does not tell the format');
    const seeds = await cli(['run', spec(), '--block-trace', `${at}/t.blktrace.0`, '--seeds', '2']);
    expect(seeds.code).toBe(2);
    expect(seeds.err.replace(/\s+/g, ' ')).toContain('is of one run');
    const failing = await cli(['run', spec(), '--set', 'ftl.victim=none-such', '--block-trace', `${at}/t.blktrace.0`]);
    expect(failing.code).toBe(2);
    expect(readdirSync(at)).toEqual([]);
  });
});

describe('the same bytes', () => {
  test('twice, also after an interrupted run of the same spec', async () => {
    const out = folder();
    const path = spec(text.replace('20k', '200k'));
    const host = new FakeHost({ env: { LANG: 'C' }, terminal: true });
    let seen = 0;
    host.onErr = () => {
      // The clock of the test does not run, so every update is the first of its phase.
      if (host.err.includes('run ') && ++seen === 1) host.interrupt();
    };
    const interrupted = await cli(['run', path, '--out', out, '--color', 'never'], host);
    expect(interrupted.code).toBe(130);
    expect(readdirSync(out).sort()).toEqual(['small.partial.html', 'small.partial.json']);
    const partial = read(`${out}/small.partial.json`);
    expect(partial.partial).not.toBeNull();
    expect(partial.metrics['host.completed']).toBeLessThan(200_000);
    const first = await cli(['run', path, '--out', `${out}/1`]);
    const second = await cli(['run', path, '--out', `${out}/2`]);
    expect([first.code, second.code]).toEqual([0, 0]);
    for (const name of ['small.json', 'small.html']) {
      expect(readFileSync(`${out}/2/${name}`, 'utf8')).toBe(readFileSync(`${out}/1/${name}`, 'utf8'));
    }
    expect(second.out.replaceAll(`${out}/2`, '')).toBe(first.out.replaceAll(`${out}/1`, ''));
    expect(read(`${out}/1/small.json`).specHash).toBe(partial.specHash);
  });
});

describe('Ctrl-C', () => {
  /** Interrupts when the text comes for the n-th time. */
  function interruptedAt(text: string, times: number): FakeHost {
    const host = new FakeHost({ env: { LANG: 'C' }, terminal: true });
    let seen = 0;
    host.onErr = (written) => {
      if (written.includes(text) && ++seen === times) host.interrupt();
    };
    return host;
  }

  test('while a later seed is prepared: the seeds before it are shown and kept', async () => {
    const out = folder();
    const host = interruptedAt('written once ...', 3);
    const { code } = await cli(['run', spec(), '--seeds', '5', '--out', out, '--color', 'never'], host);
    expect(code).toBe(130);
    expect(host.out).toContain('2 seeds');
    expect(host.err).not.toContain('before anything was simulated');
    expect(readdirSync(out).sort()).toEqual(['small-seed1.json', 'small-seed2.json', 'small.partial.html']);
  });

  test('while the first is prepared: nothing', async () => {
    const out = folder();
    const host = interruptedAt('written once ...', 1);
    const { code } = await cli(['run', spec(), '--seeds', '5', '--out', out], host);
    expect([code, host.out]).toEqual([130, '']);
    expect(host.err).toContain('interrupted before anything was simulated');
    expect(readdirSync(out)).toEqual([]);
  });

  test('while modules are loaded: nothing either, and no defect', async () => {
    const at = folder();
    // The module is the one who is asked while the spec is read.
    const host = new FakeHost({});
    (globalThis as { pressed?: () => void }).pressed = () => host.interrupt();
    writeFileSync(`${at}/slow.ts`, 'globalThis.pressed(); export const victims = [];');
    const path = spec(`modules: [${at}/slow.ts]\n${text}`);
    const { code, err } = await cli(['run', path, '--out', `${at}/out`], host);
    expect([code, err]).toEqual([130, expect.stringContaining('interrupted before anything was simulated')]);
    expect(readdirSync(at)).toEqual(['slow.ts']);
  });
});

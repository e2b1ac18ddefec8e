import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { fixtureUrl } from '@flashstack/fixtures';
import { describe, expect, test } from 'vitest';
import { width } from '../src/terminal.js';
import { cli, folder, postgres, read, spec } from './spec-runs.js';

const device = 'device: { preset: mqsim-b8, capacity: 128MiB, overProvisioning: 28% }\n';
const jobs = `${device}system: { fileSystem: mini-journal, memory: 8MiB, readahead: none }
workload: { kind: file-jobs, rw: randrw, size: 12MiB, numjobs: 2, fsync: 32 }
`;
const strace = fileURLToPath(fixtureUrl('copy-remove.strace.gz'));

function checkShape(out: string): void {
  const lines = out.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(24);
  for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(80);
}

describe('run with a system', () => {
  test('tells of calls, cache and drive; with --out there is a result and its report', async () => {
    const out = folder();
    const { code, out: shown } = await cli(['run', spec(jobs), '--out', out]);
    expect(code).toBe(0);
    checkShape(shown);
    expect(shown).toMatch(/^file-jobs on mqsim-b8 +seed 1/);
    for (const row of ['read', 'write', 'sync', 'drive read', 'drive write', 'drive flush']) {
      expect(shown).toMatch(new RegExp(`^  ${row} +\\d`, 'm'));
    }
    const { metrics } = read(`${out}/small.json`);
    const found = metrics['cache.hits'] / (metrics['cache.hits'] + metrics['cache.misses']);
    expect(shown).toMatch(new RegExp(`page cache: ${Math.round(100 * found)}(\\.\\d)? % of`));
    expect(shown).toContain('written by calls');
    expect(shown).toContain('processors busy');
    expect(shown).toContain(' issued = ');
    const html = readFileSync(`${out}/small.html`, 'utf8');
    expect(/mini-journal · 8(\.0+)?.MiB of page cache · read-ahead none/.test(html)).toBe(true);
    // Shown again from its file.
    const again = await cli(['report', `${out}/small.json`, '--html', `${out}/again.html`]);
    expect(again.code).toBe(0);
  });

  test('several seeds, and values by --set', async () => {
    const out = folder();
    const { code, out: shown } = await cli([
      ...['run', spec(jobs), '--seeds', '2', '--out', out],
      ...['--set', 'system.cpus=2', '--set', 'workload.size=1MiB', '--set', 'system.fileSystem=memfs'],
    ]);
    expect(code).toBe(0);
    expect(shown).toContain('2 seeds');
    const { spec: resolved } = read(`${out}/small-seed2.json`);
    expect(resolved.system).toMatchObject({ cpus: 2, fileSystem: { name: 'memfs' } });
    expect(resolved.workload).toMatchObject({ parameters: { size: 2 ** 20 } });
  });

  test('compare: rows of calls, and those of the drive by its name', async () => {
    const at = folder();
    await cli(['run', spec(jobs), '--out', `${at}/keeps`]);
    await cli(['run', spec(jobs), '--out', `${at}/forgets`, '--set', 'system.fileSystem=memfs']);
    const files = [`${at}/keeps/small.json`, `${at}/forgets/small.json`];
    const { code, out: shown } = await cli(['compare', ...files]);
    expect(code).toBe(0);
    const { metrics } = read(files[0]);
    for (const [layer, prefix] of [
      ['calls', ''],
      ['host', 'drive '],
    ]) {
      const bytes = metrics[`${layer}.read.bytesPerSecond`] + metrics[`${layer}.write.bytesPerSecond`];
      const [, value] = new RegExp(`^${prefix}throughput, MB/s +([\\d.]+) `, 'm').exec(shown) ?? [];
      expect(Number(value) / (bytes / 1e6)).toBeCloseTo(1, 1);
      expect(shown).toMatch(new RegExp(`^${prefix}write p50`, 'm'));
    }
    // What keeps nothing on the drive still serves its calls, and faster.
    expect(shown).toMatch(/^throughput, MB\/s .*better/m);
    expect(shown).toMatch(/^drive throughput, MB\/s +[\d.]+ +0 worse/m);
    // Without a system there is one kind of requests.
    const plain = `${device}workload: { kind: random, requests: 2k }\n`;
    await cli(['run', spec(plain), '--out', `${at}/plain`]);
    await cli(['run', spec(plain), '--out', `${at}/other`, '--set', 'ftl.victim=fifo']);
    expect((await cli(['compare', `${at}/plain/small.json`, `${at}/other/small.json`])).out).not.toContain('drive ');
  });

  test('phases of iozone are rows of the summary and of the report, within 80 columns', async () => {
    const at = folder();
    const iozone = `${device}system: { fileSystem: mini-journal, memory: 16MiB }\nworkload: { kind: iozone, size: 4MiB }\n`;
    const { code, out } = await cli(['run', spec(iozone), '--out', at]);
    expect(code).toBe(0);
    const { metrics, histograms } = read(`${at}/small.json`);
    for (const phase of ['write', 'rewrite', 'read', 'reread', 'randomRead', 'randomWrite']) {
      const [, calls, rate] = new RegExp(`^ {2}. ${phase} +([\\d ]+?) {2,}([\\d. ]+?) {2,}`, 'm').exec(out) ?? [];
      expect(Number(calls.replace(/ /g, '')), phase).toBe(histograms[`iozone.${phase}.latencyNs`].count);
      const megabytes = (metrics[`iozone.${phase}.kilobytesPerSecond`] * 1024) / 1e6;
      expect(Number(rate.replace(/ /g, '')) / megabytes, phase).toBeCloseTo(1, 2);
    }
    expect(out).toMatch(/latency, (µs|us|ms)/);
    for (const line of out.split('\n').filter((text) => !/^(report|result) /.test(text))) {
      expect(width(line), line).toBeLessThanOrEqual(80);
    }
    const page = readFileSync(`${at}/small.html`, 'utf8');
    expect(page).toContain('By phase of iozone');
    expect(page).toMatch(/<td[^>]*>rewrite<\/td>/);
  });

  test('the guide says what the policy of its example gets, and what that of Linux gets', async () => {
    const guide = readFileSync(new URL('../../../docs/guide/whole-stack.md', import.meta.url), 'utf8');
    const [, ...told] = /Sequential reads get (\d+) MB\/s, and (\d+) with the read-ahead of Linux\./.exec(guide) ?? [];
    const example = fileURLToPath(new URL('../../../docs/examples/eight-pages.yaml', import.meta.url));
    const at = folder();
    for (const change of [[], ['--set', 'system.readahead=linux-6']]) {
      await cli(['run', example, '--out', at, ...change]);
      const { metrics } = read(`${at}/eight-pages.json`);
      expect((metrics['calls.read.bytesPerSecond'] / 1e6).toFixed(0)).toBe(told.shift());
    }
  });

  test('calls that fail are told, and end with code 1', async () => {
    const full = `${device}system: mini-journal\nworkload: { kind: file-jobs, rw: write, size: 256MiB, fallocate: none }\n`;
    const { code, out } = await cli(['run', spec(full)]);
    expect(code).toBe(1);
    expect(out).toContain('completed + 1 failed.');
  });
});

describe('a trace of strace', () => {
  const document = (trace: string, more = ''): string =>
    `${device}system: mini-journal\nworkload: { trace: ${trace}, root: /mnt/bench${more} }\n`;

  test('with its listing, relative to the spec', async () => {
    const at = folder();
    mkdirSync(`${at}/traces`);
    for (const name of ['copy-remove.strace.gz', 'copy-remove.initial.ls.gz']) {
      copyFileSync(fileURLToPath(fixtureUrl(name)), `${at}/traces/${name}`);
    }
    const listing = ', listing: traces/copy-remove.initial.ls.gz';
    writeFileSync(`${at}/t.yaml`, document('traces/copy-remove.strace.gz', listing));
    const { code, out, err } = await cli(['run', `${at}/t.yaml`]);
    expect(code).toBe(0);
    checkShape(out);
    expect(out).toMatch(/^copy-remove on mqsim-b8/);
    expect(err).toMatch(/format +strace; 15.751 calls, 4 threads/);
    expect(out).not.toContain('otherwise than recorded');
  });

  test('what is not supported is listed', async () => {
    const at = folder();
    const lines = [
      '7 1700000000.000000 openat(AT_FDCWD, "/mnt/bench/a", O_RDWR|O_CREAT, 0644) = 3 <0.000010>',
      '7 1700000000.000100 splice(3, NULL, 3, NULL, 4096, 0) = 4096 <0.000100>',
      '7 1700000000.000200 read(3, ""..., 4096) = 1000 <0.000100>',
    ];
    writeFileSync(`${at}/a.strace`, `${lines.join('\n')}\n`);
    writeFileSync(`${at}/t.yaml`, document('./a.strace'));
    const { code, out } = await cli(['run', `${at}/t.yaml`]);
    expect(code).toBe(0);
    expect(out).toContain('not supported and left out: splice 1');
    expect(out).toContain('1 call went otherwise than recorded');
  });

  test.each<[string, (at: string) => string, RegExp]>([
    [
      'cut in the middle of a line',
      (at) => {
        writeFileSync(`${at}/cut.strace`, gunzipSync(readFileSync(strace)).subarray(0, 5000));
        return document(`${at}/cut.strace`);
      },
      /cut\.strace:46:1: the file ends in the middle of a line: it was cut/,
    ],
    [
      'cut in the middle of its packing',
      (at) => {
        writeFileSync(`${at}/cut.strace.gz`, readFileSync(strace).subarray(0, 5000));
        return document(`${at}/cut.strace.gz`);
      },
      /cut\.strace\.gz: the gzip data ends early/,
    ],
    ['of requests to a drive', () => document(postgres), /block trace of format msr: .* leave system out/],
    ['that is not there', () => document('./none.strace'), /none\.strace: there is no such file/],
    [
      'whose listing is none',
      () => document(strace, `, listing: ${postgres}`),
      /postgres.*: line 1 of the listing must be/,
    ],
    ['without root', () => `${device}system: memfs\nworkload: ${strace}\n`, /workload\.root is missing/],
    ['without a system', () => `${device}workload: ${strace}\n`, /text of strace, .* in a spec, add a system/],
  ])('%s is refused', async (_, contents, message) => {
    const out = folder();
    const { code, err } = await cli(['run', spec(contents(folder())), '--out', out]);
    expect(code).toBe(2);
    expect(err.replace(/\s+/g, ' ')).toMatch(message);
    expect(readdirSync(out)).toEqual([]);
  });
});

test('a system that is wrong is shown where it is written', async () => {
  const { code, err } = await cli([
    'run',
    spec(`${device}system:\n  fileSystem: memfs\n  readahed: none\nworkload: iozone\n`, 's.yaml'),
  ]);
  expect(code).toBe(2);
  expect(err).toMatch(/s\.yaml:4:3: unknown key\s+system\.readahed/);
  expect(err).toContain('did you mean readahead?');
});

import { fixtureUrl } from '@flashstack/fixtures';
import { RandomSource, Simulator } from '@flashstack/sim';
import { OpenFlag } from '@flashstack/vfs';
import { describe, expect, test } from 'vitest';
import { type FileJobOptions, type FileJobStats, FileJobs, listTree, SystemReplay } from '../src/index.js';
import { openStrace } from '../src/node/index.js';
import { FixedHost, type LoggedCall } from './fixed-host.js';
import { memoryHost } from './memory-host.js';

const KIB = 1024;
const costs = { pread: 10_000, pwrite: 25_000, fsync: 400_000, fdatasync: 300_000 };

interface Run {
  readonly host: FixedHost;
  readonly stats: readonly FileJobStats[];
  /** Calls of the measured part: after the last file was laid out. */
  readonly measured: readonly LoggedCall[];
  readonly simulator: Simulator;
}

function run(jobs: readonly FileJobOptions[], prepare: (host: FixedHost) => void = () => undefined, seed = 1): Run {
  const simulator = new Simulator();
  const host = new FixedHost(simulator, costs);
  prepare(host);
  const all = new FileJobs(simulator, host, jobs, new RandomSource(seed));
  all.run();
  const measured = host.log.filter((call) => call.pid > 1);
  return { host, stats: all.stats, measured, simulator };
}

const blocksOf = (calls: readonly LoggedCall[], name: string): number[] =>
  calls.filter((call) => call.name === name).map((call) => call.numbers[1] / (4 * KIB));
const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** The calls on the files of jobs, each file for itself, without look-ups: `open fallocate write×3`. */
function textByFile(calls: readonly LoggedCall[]): Record<string, string> {
  const files: Record<string, string[]> = {};
  for (const { name, on } of calls) {
    if (name === 'stat' || name === 'unlink') continue;
    files[on] ??= [];
    files[on].push(name);
  }
  return Object.fromEntries(
    Object.entries(files).map(([file, names]) => [
      file,
      names.join(' ').replace(/(\b\w+)(?: \1\b)+/g, (run, name) => `${name}×${run.split(' ').length}`),
    ]),
  );
}

test('the calls of a recorded run of fio, file by file', async () => {
  const trace = await openStrace(fixtureUrl('fio-fsync.strace.gz'));
  const simulator = new Simulator();
  const theirs = new FixedHost(simulator);
  theirs.files.set('/fsync.fio', 291);
  new SystemReplay(simulator, theirs, trace, { root: '/mnt/bench', mappedReads: false }).run();
  // fixtures: fio/fsync.fio of the recorded run.
  const MIB = 1024 * KIB;
  const { host } = run([
    { name: 'randwrite-fsync', rw: 'randwrite', size: 8 * MIB, ioSize: 2 * MIB, fsync: 1 },
    {
      name: 'seqwrite-fdatasync4',
      rw: 'write',
      bs: 16 * KIB,
      size: 8 * MIB,
      ioSize: 4 * MIB,
      fdatasync: 4,
      stonewall: true,
    },
    {
      name: 'randread-zipf',
      rw: 'randread',
      size: 8 * MIB,
      ioSize: 4 * MIB,
      randomDistribution: 'zipf:1.2',
      stonewall: true,
    },
  ]);
  const recorded = textByFile(theirs.log.filter(({ on }) => on.endsWith('.0.0')));
  expect(Object.keys(recorded)).toHaveLength(3);
  expect(textByFile(host.log)).toEqual(recorded);
});

describe('layout', () => {
  test('readers find a file that is written whole and synced', () => {
    const { host } = run([{ rw: 'randread', size: 64 * KIB, bs: 16 * KIB }]);
    expect(host.text).toBe('stat open fallocate ftruncate write×4 fsync fadvise close open fadvise×2 pread×4 close');
    expect(host.log.filter((call) => call.name === 'open').map((call) => call.numbers[0])).toEqual([
      OpenFlag.writeOnly | OpenFlag.create | OpenFlag.truncate,
      OpenFlag.readOnly,
    ]);
  });

  test('writers find an empty file with its space', () => {
    const { host } = run([{ rw: 'write', size: 64 * KIB, fsync: 4 }]);
    expect(host.text).toBe(
      'stat open fallocate fadvise close open fadvise×2 pwrite×4 fsync pwrite×4 fsync pwrite×4 fsync pwrite×4 close',
    );
    expect(host.log.find((call) => call.pid > 1)).toMatchObject({
      on: '/job.0.0',
      numbers: [OpenFlag.readWrite | OpenFlag.create],
    });
  });

  test('a file that is large enough is left alone, a smaller one made anew', () => {
    const options: FileJobOptions = { rw: 'read', size: 64 * KIB };
    expect(run([options], (host) => host.files.set('/job.0.0', 64 * KIB)).host.text).toMatch(/^stat open fadvise/);
    expect(run([options], (host) => host.files.set('/job.0.0', 63 * KIB)).host.text).toMatch(/^stat unlink open/);
  });
});

describe('closed forms', () => {
  test('one request at a time takes the sum of the times', () => {
    const { stats } = run([{ rw: 'write', size: 64 * KIB, fdatasync: 4, endFsync: true }]);
    const [{ elapsedNs, write, sync }] = stats;
    expect(elapsedNs).toBe(16 * costs.pwrite + 3 * costs.fdatasync + costs.fsync);
    expect([write.completed, write.bytes, write.latencyNs.max]).toEqual([16, 64 * KIB, costs.pwrite]);
    expect([sync.completed, sync.bytes, sync.latencyNs.max]).toEqual([4, 0, costs.fsync]);
  });

  test.each([1, 2, 3, 16, 32])('depth %d keeps that many requests in flight', (iodepth) => {
    const { stats } = run([{ rw: 'randread', size: 64 * KIB, iodepth }]);
    expect(stats[0].elapsedNs).toBe(Math.ceil(16 / iodepth) * costs.pread);
    expect(stats[0].read.latencyNs.min).toBe(costs.pread);
    expect(stats[0].read.completed).toBe(16);
  });

  test('clones run side by side on files of their own and count together', () => {
    const { measured, stats } = run([{ rw: 'write', size: 64 * KIB, numjobs: 3 }]);
    expect(stats[0].elapsedNs).toBe(16 * costs.pwrite);
    expect(stats[0].write.completed).toBe(48);
    expect(new Set(measured.map((call) => call.on))).toEqual(new Set(['/job.0.0', '/job.1.0', '/job.2.0']));
  });

  test('a stonewall waits for all jobs before it, others do not', () => {
    const { stats } = run([
      { name: 'a', rw: 'write', size: 64 * KIB },
      { name: 'b', rw: 'read', size: 64 * KIB },
      { name: 'c', rw: 'read', size: 64 * KIB, stonewall: true },
    ]);
    expect(stats[1].startNs).toBe(stats[0].startNs);
    expect(stats[2].startNs).toBe(stats[0].endNs);
    expect(stats[2].elapsedNs).toBe(16 * costs.pread);
  });

  test('a runtime begins no request after it; time_based goes over the file again', () => {
    const runtimeNs = 100 * costs.pread;
    const again = run([{ rw: 'read', size: 64 * KIB, runtimeNs, timeBased: true }]);
    expect(again.stats[0].read.completed).toBe(100);
    expect(blocksOf(again.measured, 'pread')).toEqual(range(100).map((i) => i % 16));
    const once = run([{ rw: 'read', size: 64 * KIB, runtimeNs }]);
    expect(once.stats[0].read.completed).toBe(16);
    const cut = run([{ rw: 'read', size: 64 * KIB, runtimeNs: 5 * costs.pread }]);
    expect(cut.stats[0].read.completed).toBe(5);
  });

  test('a time-based job on a host without costs is an error, not a run without end', () => {
    const simulator = new Simulator();
    const jobs = [{ rw: 'read' as const, size: 4 * KIB, timeBased: true, runtimeNs: 1000 }];
    const files = new FileJobs(simulator, new FixedHost(simulator), jobs, new RandomSource(1));
    expect(() => files.run()).toThrow(/take no simulated time, so that runtimeNs never ends/);
  });
});

describe('where requests go', () => {
  test('the map hits each block once in a pass, in another order in the next', () => {
    const { measured } = run([{ rw: 'randwrite', size: 256 * KIB, ioSize: 512 * KIB }]);
    const blocks = blocksOf(measured, 'pwrite');
    const passes = [blocks.slice(0, 64), blocks.slice(64)];
    for (const pass of passes) expect([...pass].sort((a, b) => a - b)).toEqual(range(64));
    expect(passes[0]).not.toEqual(passes[1]);
    expect(passes[0]).not.toEqual(range(64));
  });

  test('reads and writes of a random mix share the map', () => {
    const { measured, stats } = run([{ rw: 'randrw', size: 1024 * KIB, rwmixread: 70 }]);
    const all = [...blocksOf(measured, 'pread'), ...blocksOf(measured, 'pwrite')].sort((a, b) => a - b);
    expect(all).toEqual(range(256));
    // Binomial with 256 draws: 4 sigma are 29.
    expect(Math.abs(stats[0].read.completed - 179)).toBeLessThan(30);
  });

  test('without the map 1 − (1 − 1/N)^k of the blocks are hit', () => {
    const { measured } = run([{ rw: 'randread', size: 4096 * KIB, norandommap: true }]);
    const share = new Set(blocksOf(measured, 'pread')).size / 1024;
    // The deviation of the share is 0.0097.
    expect(Math.abs(share - (1 - (1 - 1 / 1024) ** 1024))).toBeLessThan(0.04);
  });

  test('zipf: the shares of the most popular blocks, spread by a permutation', () => {
    const { measured } = run([
      { rw: 'randread', size: 4000 * KIB, ioSize: 120_000 * KIB, randomDistribution: 'zipf:0.99' },
    ]);
    const counts = new Map<number, number>();
    const blocks = blocksOf(measured, 'pread');
    for (const block of blocks) counts.set(block, (counts.get(block) ?? 0) + 1);
    const sorted = [...counts.values()].sort((a, b) => b - a);
    const harmonic = (n: number): number => range(n).reduce((sum, i) => sum + (i + 1) ** -0.99, 0);
    const top = sorted.slice(0, 100).reduce((sum, count) => sum + count, 0) / blocks.length;
    expect(blocks.length).toBe(30_000);
    expect(top).toBeCloseTo(harmonic(100) / harmonic(1000), 1);
    // Unlike fio's, the scatter lets every block be hit.
    expect(counts.size).toBeGreaterThan(950);
    const hottest = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 10);
    expect(Math.max(...hottest.map(([block]) => block))).toBeGreaterThan(100);
  });

  test('the same seed gives the same requests, another one others; clones differ', () => {
    const job: FileJobOptions = { rw: 'randread', size: 256 * KIB, numjobs: 2 };
    const blocks = (seed: number, file: string): number[] =>
      blocksOf(
        run([job], () => undefined, seed).measured.filter((call) => call.on === file),
        'pread',
      );
    expect(blocks(1, '/job.0.0')).toEqual(blocks(1, '/job.0.0'));
    expect(blocks(2, '/job.0.0')).not.toEqual(blocks(1, '/job.0.0'));
    expect(blocks(1, '/job.1.0')).not.toEqual(blocks(1, '/job.0.0'));
  });
});

test('the first failure ends its clone and is counted by code; other clones go on', () => {
  const { stats } = run([{ rw: 'write', size: 64 * KIB, numjobs: 2, iodepth: 1 }], (host) => {
    host.failing.set('pwrite', { after: 10, code: 'ENOSPC' });
  });
  expect(Object.fromEntries(stats[0].errors)).toEqual({ ENOSPC: 2 });
  expect([stats[0].write.completed, stats[0].write.failed]).toEqual([10, 2]);
});

test('reads that find less than they asked for are counted as short', () => {
  const { stats } = run([{ rw: 'read', size: 16 * KIB, overwrite: true }], (host) => {
    const file = host.files;
    file.set('/job.0.0', 16 * KIB);
    // It shrinks after the layout has looked at it.
    const size = file.get.bind(file);
    let looks = 0;
    file.get = (path) => (++looks > 1 ? Math.min(size(path) ?? 0, 10 * KIB) : size(path));
  });
  expect([stats[0].short, stats[0].read.completed, stats[0].read.bytes]).toEqual([2, 4, 10 * KIB]);
});

test.each([
  [{ rw: 'randrd' }, /^Unknown value of rw "randrd"\. Did you mean "randrw"\?/],
  [{ bs: 0 }, /^bs must be a whole number of at least 1, found 0$/],
  [{ size: 1000 }, /^size must be at least bs \(4096\), found 1000$/],
  [{ ioSize: 1000 }, /^ioSize must be at least bs/],
  [{ iodepht: 4 }, /Did you mean "iodepth"\?/],
  [{ iodepth: 65_537 }, /^iodepth must be at most 65536, found 65537$/],
  [{ numjobs: 1e9 }, /^numjobs must be at most 65536/],
  [{ rwmixread: 101 }, /^rwmixread must be per cent/],
  [{ timeBased: true }, /^runtimeNs must be greater than 0 with timeBased/],
  [{ directory: 'a' }, /^directory must be an absolute path/],
  [{ name: 'a/b' }, /^name must be a name without \//],
  [{ direct: 1 }, /^direct must be a boolean, found 1$/],
  [{ rw: 'randread', randomDistribution: 'zipf' }, /^randomDistribution must be random, zipf:theta/],
  [{ rw: 'randread', randomDistribution: 'zipf:-1' }, /^randomDistribution must be possible \(zipf: theta/],
  [{ rw: 'randread', randomDistribution: 'zoned:50/5' }, /^randomDistribution must be random, zipf:theta/],
])('refuses %j', (options, message) => {
  const job = { rw: 'read', size: 64 * KIB, ...options } as FileJobOptions;
  expect(() => run([job])).toThrow(message);
});

test('refuses no job, and two jobs with the same files', () => {
  expect(() => run([])).toThrow(/name at least one file job/);
  const job: FileJobOptions = { rw: 'read', size: 64 * KIB };
  expect(() => run([job, job])).toThrow(/two jobs are called "job"/);
});

test('makes the directories of the files, each once', () => {
  const host = memoryHost();
  const jobs: FileJobOptions[] = [
    { name: 'log', rw: 'write', size: 16 * KIB, directory: '/var//log/../db/', numjobs: 2 },
    { name: 'old', rw: 'read', size: 16 * KIB, directory: '/var/db/.' },
  ];
  new FileJobs(host.simulator, host, jobs, new RandomSource(1)).run();
  const process = host.process();
  const found = host.run(listTree(process.thread()), 'list');
  expect(found.map(({ path }) => path)).toEqual([
    '',
    'var',
    'var/db',
    'var/db/log.0.0',
    'var/db/log.1.0',
    'var/db/old.0.0',
    'var/log',
  ]);
});

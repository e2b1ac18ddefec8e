import { RandomSource, Simulator } from '@flashstack/sim';
import { OpenFlag } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { Iozone, type IozoneOptions, listTree } from '../src/index.js';
import { FixedHost } from './fixed-host.js';
import { memoryHost } from './memory-host.js';

const KIB = 1024;
const costs = { open: 300, close: 700, read: 2000, write: 5000, lseek: 100, fsync: 90_000 };

function run(options: Partial<IozoneOptions> = {}): { host: FixedHost; iozone: Iozone } {
  const simulator = new Simulator();
  const host = new FixedHost(simulator, costs);
  const iozone = new Iozone(simulator, host, { size: 64 * KIB, record: 4 * KIB, ...options }, new RandomSource(1));
  iozone.run();
  return { host, iozone };
}

test.each([
  ['as it is', {}, 0],
  ['-e', { includeFlush: true }, costs.fsync],
  ['-c', { includeClose: true }, costs.close],
  ['-e -c', { includeFlush: true, includeClose: true }, costs.fsync + costs.close],
])('times are those of the records and of what was asked for: %s', (_, options, extraNs) => {
  const { iozone } = run(options);
  const closeNs = 'includeClose' in options ? costs.close : 0;
  const expected = {
    write: 16 * costs.write + extraNs,
    rewrite: 16 * costs.write + extraNs,
    read: 16 * costs.read + closeNs,
    reread: 16 * costs.read + closeNs,
    randomRead: 16 * (costs.lseek + costs.read) + closeNs,
    randomWrite: 16 * (costs.lseek + costs.write) + extraNs,
  };
  expect(Object.fromEntries(iozone.results.map(({ phase, elapsedNs }) => [phase, elapsedNs]))).toEqual(expected);
  for (const { bytes, elapsedNs, kilobytesPerSecond, latencyNs, operations } of iozone.results) {
    expect([operations, bytes, latencyNs.count]).toEqual([16, 64 * KIB, 16]);
    expect(kilobytesPerSecond).toBeCloseTo((64 * 1e9) / elapsedNs, 6);
  }
});

test('the calls of each phase, in their order', () => {
  expect(run({ tests: [0] }).host.text).toBe('open write×16 fsync close open write×16 fsync close unlink');
  expect(run({ tests: [0, 1], noRetest: true, includeClose: true, keep: true }).host.text).toBe(
    'open write×16 close open read×16 close',
  );
});

test('random phases take each record once, in an order of the seed', () => {
  const offsets = (seed: number): number[] => {
    const simulator = new Simulator();
    const host = new FixedHost(simulator, costs);
    new Iozone(simulator, host, { size: 64 * KIB, record: 4 * KIB, noRetest: true }, new RandomSource(seed)).run();
    const writes = host.log.slice(host.log.findLastIndex((call) => call.name === 'open'));
    return writes.filter((call) => call.name === 'write').map((call) => call.numbers[1] / (4 * KIB));
  };
  const first = offsets(1);
  expect([...first].sort((a, b) => a - b)).toEqual(Array.from({ length: 16 }, (_, i) => i));
  expect(first).not.toEqual([...first].sort((a, b) => a - b));
  expect(offsets(1)).toEqual(first);
  expect(offsets(2)).not.toEqual(first);
});

test('flags: -I is O_DIRECT everywhere, -o is O_SYNC where it writes', () => {
  const { host } = run({ direct: true, sync: true, noRetest: true });
  const flags = host.log.filter((call) => call.name === 'open').map((call) => call.numbers[0]);
  const { create, direct, readOnly, readWrite, sync, truncate } = OpenFlag;
  expect(flags).toEqual([
    readWrite | create | truncate | sync | direct,
    readOnly | direct,
    readOnly | direct,
    readWrite | sync | direct,
  ]);
});

test('a failure ends the phase and the run, and is in the result', () => {
  const simulator = new Simulator();
  const host = new FixedHost(simulator, costs);
  host.failing.set('write', { after: 20, code: 'ENOSPC' });
  const iozone = new Iozone(simulator, host, { size: 64 * KIB }, new RandomSource(1));
  iozone.run();
  expect(iozone.results.map(({ phase, operations, error }) => [phase, operations, error])).toEqual([
    ['write', 16, null],
    ['rewrite', 4, 'ENOSPC'],
  ]);
  expect(host.files.size).toBe(0);
});

test('a file that cannot be removed is an error, unless a phase has failed before', () => {
  const simulator = new Simulator();
  const attempt = (...failing: readonly string[]): Iozone => {
    const host = new FixedHost(simulator, costs);
    for (const name of failing) host.failing.set(name, { after: 0, code: 'EIO' });
    const iozone = new Iozone(simulator, host, { size: 64 * KIB }, new RandomSource(1));
    iozone.run();
    return iozone;
  };
  expect(attempt('fsync', 'unlink').results.map(({ error }) => error)).toEqual(['EIO']);
  expect(() => attempt('unlink')).toThrow('EIO');
});

test.each([
  ['counted', { includeFlush: true }],
  ['not counted', {}],
])('an fsync that fails ends the run as well, whether its time is %s or not', (_, options) => {
  const simulator = new Simulator();
  const host = new FixedHost(simulator, costs);
  host.failing.set('fsync', { after: 0, code: 'EIO' });
  const iozone = new Iozone(simulator, host, { size: 64 * KIB, ...options }, new RandomSource(1));
  iozone.run();
  expect(iozone.results.map(({ phase, operations, error }) => [phase, operations, error])).toEqual([
    ['write', 16, 'EIO'],
  ]);
  expect(iozone.totals().write.failed).toBe(1);
  expect(host.text).toBe('open write×16 fsync close unlink');
});

test.each([
  [{ size: 10_000 }, /^size must be a multiple of record \(4096\), found 10000$/],
  [{ record: 0 }, /^record must be/],
  [{ tests: [3] as unknown as [0] }, /^tests must be some of 0, 1 and 2, found \[3\]$/],
  [{ path: 'a' }, /^path must be an absolute path/],
  [{ includeFlush: 1 as unknown as boolean }, /^includeFlush must be true or false/],
  [{ includeflush: true } as Partial<IozoneOptions>, /Did you mean "includeFlush"\?/],
])('refuses %j', (options, message) => {
  expect(() => run(options)).toThrow(message);
});

test.each([
  ['with', [0, 1]],
  ['without', [1]],
] as const)('the directories of the file are made %s a phase that writes it', (_, tests) => {
  const host = memoryHost();
  const options: IozoneOptions = { size: 64 * KIB, path: '/mnt/new/file', tests, keep: true };
  const iozone = new Iozone(host.simulator, host, options, new RandomSource(1));
  host.run(iozone.prepare(), 'layout');
  iozone.run();
  expect(iozone.results.map(({ error }) => error)).toEqual(
    tests.length === 1 ? [null, null] : [null, null, null, null],
  );
  const found = host.run(listTree(host.process().thread()), 'list');
  expect(found.map(({ path }) => path)).toEqual(['', 'mnt', 'mnt/new', 'mnt/new/file']);
});

import { RandomSource, Simulator, type Task } from '@flashstack/sim';
import {
  type DirectoryEntry,
  FileKind,
  FileStatus,
  type FileSystem,
  FsError,
  type FsStatus,
  MemFs,
  OpenFlag,
  RenameFlag,
  SimplePageCache,
  type Thread,
} from '@flashstack/vfs';
import { delayed } from '@flashstack/vfs/conformance';
import { expect, test } from 'vitest';
import { Host, type HostOptions } from '../src/index.js';

import { callsOf, expectError, memoryHost } from './support.js';

function* go<T>(call: T | Task<T>): Task<T> {
  return typeof call === 'object' && call !== null && 'next' in call ? yield* call : (call as T);
}

/** All paths below a directory with kind, inode number, links and size, sorted. */
function* treeOf(thread: Thread, path: string): Task<string[]> {
  const fd = yield* go(thread.open(path === '' ? '/' : path, OpenFlag.directory));
  const entries: DirectoryEntry[] = [];
  while ((yield* go(thread.readdir(fd, entries))) > 0);
  yield* go(thread.close(fd));
  const lines: string[] = [];
  const status = new FileStatus();
  for (const { name, kind, ino } of entries) {
    if (name === '.' || name === '..') continue;
    yield* go(thread.lstat(`${path}/${name}`, status));
    expect([status.ino, status.mode >> 12]).toEqual([ino, kind]);
    lines.push(`${path}/${name} ${kind} ${ino} ${status.links} ${status.size}`);
    if (kind === FileKind.directory) lines.push(...(yield* treeOf(thread, `${path}/${name}`)));
  }
  return lines.sort();
}

/** Errors that a race may bring. */
const EXPECTED = ['ENOENT', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'EINVAL', 'ELOOP', 'EBUSY', 'EPERM', 'EMLINK'];

function* meddle(host: Host, seed: number, name: string, steps: number): Task<void> {
  const random = new RandomSource(seed).stream(name);
  const process = host.process();
  const thread = process.thread();
  const letter = (): string => 'abc'[random.below(3)];
  const path = (): string => `/${Array.from({ length: 1 + random.below(4) }, letter).join('/')}`;
  const open: number[] = [];
  const actions: (() => number | Task<number>)[] = [
    () => thread.mkdir(path(), 0o755),
    () => thread.mkdir(path(), 0o755),
    () => thread.rmdir(path()),
    () => thread.unlink(path()),
    () => thread.rename(path(), path()),
    () => thread.rename(path(), path()),
    () => thread.rename(path(), path(), RenameFlag.exchange),
    () => thread.rename(path(), path(), RenameFlag.noReplace),
    () => thread.link(path(), path()),
    () => thread.symlink(path(), path()),
    () => thread.chdir(path()),
    () => thread.stat(path().slice(random.below(2)), new FileStatus()),
    () => thread.truncate(path(), random.below(9000)),
    () => thread.access(`${letter()}/../${letter()}`, 0),
    () => keep(thread.open(path(), random.below(2) === 0 ? OpenFlag.directory : OpenFlag.create | OpenFlag.readWrite)),
    () => keep(thread.open(path(), OpenFlag.create | OpenFlag.writeOnly | OpenFlag.truncate)),
    () => (open.length === 0 ? 0 : thread.close(open.pop() as number)),
  ];
  function* keep(call: number | Task<number>): Task<number> {
    open.push(yield* go(call));
    return 0;
  }
  for (let step = 0; step < steps; step++) {
    try {
      yield* go(actions[random.below(actions.length)]());
    } catch (error) {
      if (!(error instanceof FsError) || !EXPECTED.includes(error.code)) throw error;
    }
  }
  yield* process.exit();
}

interface Bed {
  readonly host: Host;
  readonly memory: MemFs;
}

function bed(simulator: Simulator, earlier: MemFs | null, slow: boolean, options: HostOptions): Bed {
  let memory: MemFs | null = null;
  const fileSystem = (environment: ConstructorParameters<typeof MemFs>[0]): FileSystem => {
    memory = new MemFs(environment, {}, earlier);
    return slow ? delayed(memory, simulator, environment.random) : memory;
  };
  const host = new Host({ simulator, cache: new SimplePageCache(simulator), fileSystem }, options);
  host.run(host.mount());
  return { host, memory: memory as unknown as MemFs };
}

test('whatever twelve processes do to names at the same time, the tree stays one, and every reference comes back', () => {
  let evictions = 0;
  for (let seed = 1; seed <= 25; seed++) {
    const simulator = new Simulator();
    // So few names that they are forgotten all the time.
    const { host, memory } = bed(simulator, null, true, { dentries: 16, cpus: 2, seed });
    for (let at = 0; at < 12; at++) {
      simulator.spawn(`meddler ${at}`, meddle(host, seed, `meddler ${at}`, 60), { group: host.group });
    }
    simulator.run();
    const process = host.process();
    const seen = host.run(treeOf(process.thread(), ''));
    host.run(process.exit());
    evictions += host.dentries.stats.evictions;
    // Fails if anything still counts as used.
    host.run(host.unmount());
    const fresh = bed(simulator, memory, false, {}).host;
    expect(fresh.run(treeOf(fresh.process().thread(), ''))).toEqual(seen);
    checkLinks(seen);
  }
  expect(evictions).toBeGreaterThan(200);
});

/** Every name of a file counts once, and every directory has two links and one for each below. */
function checkLinks(lines: readonly string[]): void {
  const names = new Map<string, number>();
  for (const line of lines) {
    const [, , ino] = line.split(' ');
    names.set(ino, (names.get(ino) ?? 0) + 1);
  }
  for (const line of lines) {
    const [path, kind, ino, links] = line.split(' ');
    if (Number(kind) !== FileKind.directory) expect(Number(links)).toBe(names.get(ino));
    else {
      expect(names.get(ino)).toBe(1);
      const below = lines.filter((other) => {
        const [otherPath, otherKind] = other.split(' ');
        return Number(otherKind) === FileKind.directory && otherPath.slice(0, otherPath.lastIndexOf('/')) === path;
      });
      expect(Number(links)).toBe(2 + below.length);
    }
  }
}

test('a removed file stays usable while it is open, and its space comes back with the last descriptor', () => {
  const host = memoryHost();
  const process = host.process();
  const calls = callsOf(host, process.thread());
  const free = (): number => {
    const status = {} as FsStatus;
    calls.statfs('/', status);
    return status.free;
  };
  const before = free();
  const fd = calls.open('/f', OpenFlag.create | OpenFlag.readWrite);
  calls.write(fd, null, 40_960);
  const other = calls.dup(fd);
  const child = process.fork();
  calls.unlink('/f');
  calls.close(fd);
  expect(calls.pread(other, null, 100_000, 0)).toBe(40_960);
  calls.close(other);
  expect(free()).toBe(before - 10);
  expect(callsOf(host, child.thread()).lseek(other, 0, 1)).toBe(40_960);
  host.run(child.exit());
  expect(free()).toBe(before);
});

test('what fork and dup share, and what they do not', () => {
  const host = memoryHost({ openFiles: 5 });
  const process = host.process({ umask: 0o027 });
  const calls = callsOf(host, process.thread());
  calls.mkdir('/d', 0o777);
  calls.chdir('/d');
  const fd = calls.open('f', OpenFlag.create | OpenFlag.readWrite);
  calls.write(fd, null, 100);
  const child = process.fork('child');
  const childCalls = callsOf(host, child.thread());
  childCalls.lseek(fd, 7, 0);
  expect(calls.lseek(fd, 0, 1)).toBe(7);
  calls.chdir('/');
  const status = new FileStatus();
  childCalls.stat('f', status);
  expect(status.mode & 0o777).toBe(0o640);
  expect(childCalls.umask(0)).toBe(0o027);
  expect(calls.umask(0)).toBe(0o027);
  expect([calls.dup(fd), calls.dup(fd), calls.dup2(fd, 4)]).toEqual([1, 2, 4]);
  calls.dup(fd);
  expectError('EMFILE', () => calls.dup(fd));
  expectError('EMFILE', () => calls.open('/d/f', 0));
  expectError('EBADF', () => calls.dup2(fd, 5));
  calls.close(2);
  expect(calls.open('/d/f', 0)).toBe(2);
  for (const open of [0, 1, 2, 3, 4]) calls.close(open);
  expectError('EBADF', () => calls.close(0));
  expect(childCalls.lseek(fd, 0, 1)).toBe(7);
});

test('names that exist and names that do not are looked up once', () => {
  const host = memoryHost();
  const calls = callsOf(host, host.process().thread());
  calls.mkdir('/d', 0o755);
  const { stats } = host.dentries;
  const misses = stats.misses;
  for (let i = 0; i < 5; i++) expectError('ENOENT', () => calls.access('/d/none', 0));
  expect(stats.misses).toBe(misses + 1);
  calls.close(calls.open('/d/none', OpenFlag.create | OpenFlag.writeOnly));
  calls.access('/d/none', 0);
  calls.rename('/d/none', '/d/some');
  expectError('ENOENT', () => calls.access('/d/none', 0));
  calls.access('/d/some', 0);
  expect(stats.misses).toBe(misses + 2);
});

test('a working directory can be removed: nothing can be made in it, and .. leads out', () => {
  const host = memoryHost();
  const process = host.process();
  const calls = callsOf(host, process.thread());
  calls.mkdir('/d', 0o755);
  calls.mkdir('/d/e', 0o755);
  calls.chdir('/d/e');
  const other = callsOf(host, host.process().thread());
  other.rmdir('/d/e');
  expectError('ENOENT', () => calls.mkdir('x', 0o755));
  expectError('ENOENT', () => calls.access('x', 0));
  calls.access('..', 0);
  calls.close(calls.open('../f', OpenFlag.create | OpenFlag.writeOnly));
  other.access('/d/f', 0);
  other.mkdir('/d/e', 0o755);
  expectError('ENOENT', () => calls.mkdir('x', 0o755));
});

test('a process starts in its directory, also if its path has to be looked up first', () => {
  const host = memoryHost({ dentries: 16 });
  const calls = callsOf(host, host.process().thread());
  calls.mkdir('/d', 0o755);
  calls.mkdir('/d/e', 0o755);
  calls.close(calls.open('/d/e/f', OpenFlag.create | OpenFlag.writeOnly));
  for (let i = 0; i < 100; i++) calls.mkdir(`/other${i}`, 0o755);
  const late = callsOf(host, host.process({ directory: '/d/e' }).thread());
  late.access('f', 0);
  expectError('ENOENT', () => callsOf(host, host.process({ directory: '/none' }).thread()).access('f', 0));
  expectError('ENOTDIR', () => callsOf(host, host.process({ directory: '/d/e/f' }).thread()).access('f', 0));
});

test('unmount needs all files closed; a read-only host changes nothing', () => {
  const simulator = new Simulator();
  const { host, memory } = bed(simulator, null, false, {});
  const process = host.process();
  const calls = callsOf(host, process.thread());
  const fd = calls.open('/f', OpenFlag.create | OpenFlag.readWrite);
  calls.write(fd, null, 10);
  expectError('EBUSY', () => host.run(host.unmount()));
  expect(calls.pread(fd, null, 100, 0)).toBe(10);
  host.run(process.exit());
  host.run(host.unmount());
  expect(() => host.run(host.unmount())).toThrow(/the host is unmounted, expected mounted/);
  const reader = bed(simulator, memory, false, { readOnly: true }).host;
  const only = callsOf(reader, reader.process().thread());
  expect(only.pread(only.open('/f', 0), null, 100, 0)).toBe(10);
  for (const attempt of [
    () => only.open('/f', OpenFlag.writeOnly),
    () => only.open('/g', OpenFlag.create),
    () => only.mkdir('/d', 0o755),
    () => only.unlink('/f'),
    () => only.rename('/f', '/g'),
    () => only.chmod('/f', 0),
    () => only.truncate('/f', 0),
    () => only.setAttribute('/f', 'user.a', new Uint8Array(1)),
    () => only.access('/f', 2),
  ]) {
    expectError('EROFS', attempt);
  }
});

test('access times: once after a change and once a day, always, or never', () => {
  const reads = (accessTimes: 'relatime' | 'strict' | 'none', flags = 0): number[] => {
    const host = memoryHost({ accessTimes });
    const calls = callsOf(host, host.process().thread());
    calls.close(calls.open('/f', OpenFlag.create));
    calls.truncate('/f', 100);
    const fd = calls.open('/f', flags);
    const status = new FileStatus();
    const times: number[] = [];
    for (const at of [10, 20, 30, 86_500, 200_000]) {
      host.simulator.runUntil(at * 1e9);
      calls.pread(fd, null, 100, 0);
      calls.fstat(fd, status);
      times.push(status.accessedSec - 1_700_000_000);
    }
    return times;
  };
  expect(reads('relatime')).toEqual([10, 10, 10, 86_500, 200_000]);
  expect(reads('strict')).toEqual([10, 20, 30, 86_500, 200_000]);
  expect(reads('none')).toEqual([0, 0, 0, 0, 0]);
  expect(reads('strict', OpenFlag.noAccessTime)).toEqual([0, 0, 0, 0, 0]);
});

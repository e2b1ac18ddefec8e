import { BlockOp, FaultDevice, MemoryDevice } from '@flashstack/block-device';
import { Linux6Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { Simulator } from '@flashstack/sim';
import { type FileCache, FsError, OpenFlag, SimplePageCache } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { Host } from '../src/index.js';
import { SlabFs } from './slab-fs.js';
import { type Calls, callsOf, expectError, memoryHost } from './support.js';

const MiB = 2 ** 20;

/** A host whose device fails the n-th write and no other. */
function failing(kind: 'simple' | 'linux', nth: number): { host: Host; calls: Calls } {
  const simulator = new Simulator();
  const inner = new MemoryDevice({ blockCount: 4096 });
  const device = new FaultDevice(inner, {
    simulator,
    latencyNs: 1000,
    rules: [{ ops: [BlockOp.write], skip: nth, times: 1 }],
  });
  const policy = new Linux6Readahead();
  const cache: FileCache =
    kind === 'simple'
      ? new SimplePageCache(simulator, device)
      : new LinuxPageCache(new PageMemory(simulator), device, { policy, limits: { raPages: 32, ioPages: 320 } });
  const host = new Host({ simulator, cache, fileSystem: (environment) => new SlabFs(environment, device, 4, MiB) });
  host.run(host.mount());
  return { host, calls: callsOf(host, host.process().thread()) };
}

function open(calls: Calls, path: string): number {
  return calls.open(path, OpenFlag.readWrite) as number;
}

test.each(['simple', 'linux'] as const)(
  'syncfs tells each open file once of a write-back that failed, sync nobody: %s',
  (kind) => {
    const { calls } = failing(kind, 0);
    const [written, other] = [open(calls, '/0'), open(calls, '/1')];
    calls.pwrite(written, null, 4096, 0);
    expect(calls.sync()).toBe(0);
    expectError('EIO', () => calls.syncFs(other));
    expect(calls.syncFs(other)).toBe(0);
    expectError('EIO', () => calls.syncFs(written));
    expect(calls.syncFs(written)).toBe(0);
    // Somebody has been told: who comes later is not.
    expect(calls.syncFs(open(calls, '/2'))).toBe(0);
    expectError('EIO', () => calls.fsync(written));
    expect(calls.fsync(written)).toBe(0);
  },
);

test('an error that nobody has been told of is told to who opens a file afterwards, and to a duplicate with its original', () => {
  const { calls } = failing('linux', 0);
  const written = open(calls, '/0');
  calls.pwrite(written, null, 4096, 0);
  calls.sync();
  calls.close(written);
  const later = open(calls, '/1');
  const twin = calls.dup(later) as number;
  expectError('EIO', () => calls.syncFs(later));
  expect(calls.syncFs(twin)).toBe(0);
});

test('a second failure is told again', () => {
  const { calls } = failing('linux', 1);
  const fd = open(calls, '/0');
  calls.pwrite(fd, null, 4096, 0);
  expect(calls.syncFs(fd)).toBe(0);
  calls.pwrite(fd, null, 4096, 0);
  expectError('EIO', () => calls.syncFs(fd));
  calls.pwrite(fd, null, 4096, 0);
  expect(calls.syncFs(fd)).toBe(0);
});

test('syncfs fails as the file system does, sync does not', () => {
  const { host, calls } = failing('linux', 99);
  const fd = open(calls, '/0');
  // biome-ignore lint/correctness/useYield: it fails before it would wait.
  host.fileSystem.sync = function* () {
    throw new FsError('EROFS', 'as the test wants it');
  };
  expectError('EROFS', () => calls.syncFs(fd));
  expect(calls.sync()).toBe(0);
  expectError('EBADF', () => calls.syncFs(77));
});

test('what a file system cannot let go is no failure of the call during which it happens', () => {
  const host = memoryHost();
  const calls = callsOf(host, host.process().thread());
  calls.mkdir('/d', 0o755);
  calls.chdir('/d');
  calls.rmdir('/d');
  // biome-ignore lint/correctness/useYield: it fails before it would wait.
  host.fileSystem.evict = function* () {
    throw new FsError('EIO', 'as the test wants it');
  };
  // The directory that is left goes with this call.
  expect(calls.chdir('/')).toBe(0);
  expect(host.inodes.lostWrites).toBe(1);
  expect(calls.mkdir('e', 0o755)).toBe(0);
  expectError('ENOENT', () => calls.chdir('nowhere'));
  expect(calls.chdir('e')).toBe(0);
});

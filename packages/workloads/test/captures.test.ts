import { RandomSource } from '@flashstack/sim';
import { FileStatus, OpenFlag } from '@flashstack/vfs';
import { describe, expect, test } from 'vitest';
import {
  FileJobs,
  Iozone,
  listTree,
  makeTree,
  parseListing,
  StraceReader,
  SystemReplay,
  type SystemReplayOptions,
  type SystemReplayStats,
  treeDifferences,
} from '../src/index.js';
import { openStrace } from '../src/node/index.js';
import { memoryHost } from './memory-host.js';
import { straceSamples } from './strace-samples.js';

/** What the traces cannot tell: a socket that `bind` made in the tree. */
const known: Readonly<Record<string, readonly [string, string][]>> = {
  postgres: [
    ['chmod', 'ENOENT'],
    ['unlink', 'ENOENT'],
  ],
};
/** Threads share descriptors here, which the script that counted follows line by line. */
const threaded = ['filebench-varmail', 'npm-install'];

describe('recorded runs of real programs', () => {
  test.each(straceSamples().map((sample) => [sample.name, sample] as const))(
    '%s: every call as recorded, and the tree at the end',
    async (name, sample) => {
      const host = memoryHost();
      const { initial, final, counts } = sample;
      if (initial !== null) host.run(makeTree(host.process().thread(), initial), 'make');
      const trace = await openStrace(sample.strace);
      const missing = initial === null ? 'make' : 'report';
      const replay = new SystemReplay(host.simulator, host, trace, { root: '/mnt/bench', missing });
      replay.run();
      const { stats } = replay;
      const found = stats.differences.map((difference) => [difference.call.replace(/\(.*/s, ''), difference.found]);
      expect(found).toEqual(known[name] ?? []);
      expect(stats.different).toBe(found.length);
      expect([stats.lost, stats.unsupported.size, stats.made.length]).toEqual([0, 0, initial === null ? 1 : 0]);
      const bytes = [stats.readBytes, stats.writtenBytes];
      const { read, write } = counts.under_root;
      if (threaded.includes(name)) {
        expect(bytes[0]).toBeGreaterThanOrEqual(read.bytes);
        expect(bytes[1]).toBeGreaterThanOrEqual(write.bytes);
      } else {
        expect(bytes).toEqual([read.bytes, write.bytes]);
      }
      if (final === null) return;
      const tree = host.run(listTree(host.process().thread()), 'list');
      expect(treeDifferences(final, tree)).toEqual([]);
    },
  );

  test.each(straceSamples().map((sample) => [sample.name, sample] as const))(
    '%s: with threads on their own the same results, bytes and tree, and the same again',
    async (_name, sample) => {
      const trace = await openStrace(sample.strace);
      const run = (order: 'trace' | 'threads', pace: 'closed' | 'think') => {
        const host = memoryHost();
        if (sample.initial !== null) host.run(makeTree(host.process().thread(), sample.initial), 'make');
        const missing = sample.initial === null ? 'make' : 'report';
        const options: SystemReplayOptions = { root: '/mnt/bench', missing, order, pace };
        const replay = new SystemReplay(host.simulator, host, trace, options);
        replay.run();
        const { stats } = replay;
        const { readBytes, writtenBytes, copiedBytes, lookups, lost, made } = stats;
        const calls = [...stats.calls].map(([call, { calls: count }]) => `${call} ${count}`).sort();
        const differences = stats.differences.map(({ line, found }) => `${line} ${found}`).sort();
        const tree = host.run(listTree(host.process().thread()), 'list');
        const seen = { readBytes, writtenBytes, copiedBytes, lookups, lost, made, calls, differences, tree };
        return { seen, elapsedNs: stats.elapsedNs };
      };
      const inOrder = run('trace', 'closed');
      const free = run('threads', 'closed');
      expect(free.seen).toEqual(inOrder.seen);
      expect(run('threads', 'closed')).toEqual(free);
      expect(free.elapsedNs).toBeLessThanOrEqual(inOrder.elapsedNs);
      expect(run('threads', 'think').seen).toEqual(inOrder.seen);
    },
  );

  test('what a replay made for itself is a listing for the next one', async () => {
    const sample = straceSamples().find(({ name }) => name === 'tar-extract');
    const trace = await openStrace(sample?.strace as URL);
    const first = memoryHost();
    // The directory that the program worked in is all that is told of the start.
    const options: SystemReplayOptions = { root: '/mnt/bench', missing: 'make' };
    const replay = new SystemReplay(first.simulator, first, trace, options);
    replay.run();
    expect(replay.stats.different).toBe(0);
    expect(replay.stats.made).toEqual(['f 4249600 /tree.tar']);
    const listing = replay.stats.made.join('\n').replaceAll(' /', ' ');
    const second = memoryHost();
    second.run(makeTree(second.process().thread(), parseListing(listing)), 'make');
    const again = new SystemReplay(second.simulator, second, trace, { root: '/mnt/bench' });
    again.run();
    expect([again.stats.different, again.stats.made]).toEqual([0, []]);
    const list = (host: typeof first): unknown => host.run(listTree(host.process().thread()), 'list');
    expect(list(second)).toEqual(list(first));
  });
});

function replayed(
  lines: readonly string[],
  options: Partial<SystemReplayOptions> = {},
): SystemReplayStats & { tree: string[] } {
  const reader = new StraceReader('a.strace');
  reader.push(Uint8Array.from(`${lines.join('\n')}\n`, (letter) => letter.charCodeAt(0)));
  const host = memoryHost();
  host.run(makeTree(host.process().thread(), parseListing('f 10000 a\nd 0 d\nf 5 d/x')), 'make');
  const replay = new SystemReplay(host.simulator, host, reader.end(), { root: '/mnt', ...options });
  replay.run();
  const tree = host
    .run(listTree(host.process().thread()), 'list')
    .map(({ kind, size, path }) => `${kind} ${size} ${path}`);
  return Object.assign(replay.stats, { tree: tree.slice(1) });
}

describe('calls of every kind', () => {
  test('names, links, attributes, space', () => {
    const stats = replayed([
      'mkdir("/mnt/n", 0777) = 0',
      'mkdirat(AT_FDCWD, "n/m", 0777) = 0',
      'link("/mnt/a", "/mnt/n/hard") = 0',
      'symlink("../a", "/mnt/n/soft") = 0',
      'readlink("/mnt/n/soft", ""..., 4096) = 4',
      'newfstatat(AT_FDCWD, "/mnt/n/soft", {st_mode=S_IFREG|0644, st_size=10000, ...}, 0) = 0',
      'lstat("/mnt/n/soft", {st_mode=S_IFLNK|0777, st_size=4, ...}) = 0',
      'openat(AT_FDCWD, "d", O_RDONLY|O_DIRECTORY|O_PATH) = 3',
      'rename("/mnt/d", "/mnt/e") = 0',
      'openat(3, "x", O_RDWR|O_APPEND) = 4',
      'write(4, ""..., 95) = 95',
      'fstat(4, {st_mode=S_IFREG|0644, st_size=100, ...}) = 0',
      'fallocate(4, FALLOC_FL_KEEP_SIZE, 0, 8192) = 0',
      'ftruncate(4, 50) = 0',
      'unlinkat(3, "x", 0) = 0',
      'pread64(4, ""..., 100, 10) = 40',
      'renameat2(AT_FDCWD, "a", AT_FDCWD, "n/hard", RENAME_EXCHANGE) = 0',
      'unlink("/mnt/a") = 0',
      'mknod("/mnt/p", S_IFIFO|0600) = 0',
      'chmod("/mnt/p", 0644) = 0',
      'chown("/mnt/n", 5, 6) = 0',
      'utimensat(AT_FDCWD, "/mnt/n", [{tv_sec=5, tv_nsec=6}, UTIME_NOW], 0) = 0',
      'setxattr("/mnt/n/hard", "user.k", "v", 1, 0) = 0',
      'getxattr("/mnt/n/hard", "user.k", "v", 8) = 1',
      'truncate("/mnt/n/hard", 20000) = 0',
      'chdir("/mnt/n") = 0',
      'access("hard", R_OK) = 0',
      'rmdir("m") = 0',
      'sync() = 0',
    ]);
    expect(stats.differences).toEqual([]);
    expect([stats.lost, stats.unsupported.size]).toEqual([0, 0]);
    expect(stats.tree).toEqual(['d 0 e', 'd 0 n', 'f 20000 n/hard', 'l 4 n/soft', 'p 0 p']);
  });

  test('copies inside the kernel, also from and to files outside', () => {
    const stats = replayed([
      'openat(AT_FDCWD, "/mnt/a", O_RDONLY) = 3',
      'openat(AT_FDCWD, "/mnt/b", O_WRONLY|O_CREAT|O_TRUNC, 0644) = 4',
      'openat(AT_FDCWD, "/tmp/z", O_RDWR) = 5',
      'copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 10000',
      'copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 0',
      'sendfile(4, 3, [8000] => [10000], 4096) = 2000',
      'copy_file_range(5, NULL, 4, [20000], 500, 0) = 500',
      'copy_file_range(3, [0], 5, NULL, 700, 0) = 700',
      'lseek(4, 0, SEEK_CUR) = 12000',
    ]);
    expect(stats.differences).toEqual([]);
    expect(stats.copiedBytes).toBe(10_000 + 2000 + 500 + 700);
    expect(stats.tree).toContain('f 20500 b');
  });

  test('mappings are read and written as asked for', () => {
    const lines = [
      'openat(AT_FDCWD, "/mnt/a", O_RDWR) = 3',
      'mmap(NULL, 65536, PROT_READ|PROT_WRITE, MAP_SHARED, 3, 0) = 0x7f0000000000',
      'mmap(NULL, 65536, PROT_READ, MAP_PRIVATE, 3, 4096) = 0x7f0000100000',
      'close(3) = 0',
      'msync(0x7f0000001000, 4096, MS_SYNC) = 0',
      'munmap(0x7f0000000000, 65536) = 0',
      'munmap(0x7f0000000000, 65536) = 0',
    ];
    const counts = (options: Partial<SystemReplayOptions>): number[] => {
      const stats = replayed(lines, options);
      expect(stats.differences).toEqual([]);
      return ['mmap', 'msync', 'munmap'].map((name) => stats.calls.get(name)?.calls ?? 0);
    };
    expect(counts({})).toEqual([2, 1, 1]);
    expect(counts({ mappedReads: false })).toEqual([1, 1, 1]);
    expect(counts({ mappedWrites: 'ignore' })).toEqual([1, 0, 0]);
    expect(counts({ mappedWrites: 'ignore', mappedReads: false })).toEqual([0, 0, 0]);
  });

  test('directories: as many entries as recorded, however they are batched', () => {
    const list = (entries: readonly number[]): SystemReplayStats =>
      replayed([
        'openat(AT_FDCWD, "/mnt", O_RDONLY|O_DIRECTORY) = 3',
        ...entries.map((count) => `getdents64(3, 0x55 /* ${count} entries */, 32768) = ${count * 24}`),
      ]);
    expect(list([4, 0]).differences).toEqual([]);
    expect(list([1, 2, 1, 0]).differences).toEqual([]);
    expect(list([3, 0]).differences).toMatchObject([{ line: 3, recorded: '0 entries', found: '1 entries' }]);
    expect(list([5]).differences).toMatchObject([{ line: 2, recorded: '5 entries', found: '4 entries' }]);
  });

  test('sizes that queries told are compared', () => {
    const { differences } = replayed([
      'stat("/mnt/a", {st_mode=S_IFREG|0644, st_size=9999, ...}) = 0',
      'statx(AT_FDCWD, "/mnt/a", 0, STATX_ALL, {stx_mode=S_IFREG|0644, stx_size=10000, ...}) = 0',
    ]);
    expect(differences).toMatchObject([{ line: 1, recorded: 'size 9999', found: 'size 10000' }]);
  });
});

test('file jobs and iozone run on the host', () => {
  const host = memoryHost();
  const jobs = new FileJobs(
    host.simulator,
    host,
    [{ rw: 'randrw', size: 1 << 20, numjobs: 4, iodepth: 4, fsync: 16 }],
    new RandomSource(1),
  );
  jobs.run();
  const [{ elapsedNs, errors, read, short, write }] = jobs.stats;
  expect([read.completed + write.completed, short, errors.size]).toEqual([1024, 0, 0]);
  expect(elapsedNs).toBeGreaterThan(0);
  const iozone = new Iozone(host.simulator, host, { size: 1 << 20, keep: true }, new RandomSource(1));
  iozone.run();
  expect(iozone.results.map(({ operations, error }) => [operations, error])).toEqual(Array(6).fill([256, null]));
  const status = new FileStatus();
  const thread = host.process().thread();
  host.run(
    (function* () {
      const opened = thread.open('/iozone.tmp', OpenFlag.readOnly);
      const fd = typeof opened === 'number' ? opened : yield* opened;
      const queried = thread.fstat(fd, status);
      return typeof queried === 'number' ? queried : yield* queried;
    })(),
    'look',
  );
  expect(status.size).toBe(1 << 20);
});

test('a listing that is none is refused with its line', () => {
  expect(() => parseListing('f 1 a\nhello\n')).toThrow(
    /^line 2 of the listing must be "kind size path".*found "hello"$/,
  );
});

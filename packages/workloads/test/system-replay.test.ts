import { Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { StraceReader, SystemReplay, type SystemReplayOptions, type SystemReplayStats } from '../src/index.js';
import { FixedHost } from './fixed-host.js';
import { memoryHost } from './memory-host.js';

interface Run {
  readonly host: FixedHost;
  readonly stats: SystemReplayStats;
  readonly simulator: Simulator;
}

function replay(
  lines: readonly string[],
  options: Partial<SystemReplayOptions> = {},
  costs: Readonly<Record<string, number>> = {},
  files: Readonly<Record<string, number>> = {},
): Run {
  const reader = new StraceReader('a.strace');
  reader.push(Uint8Array.from(`${lines.join('\n')}\n`, (letter) => letter.charCodeAt(0)));
  const simulator = new Simulator();
  const host = new FixedHost(simulator, costs);
  for (const [path, size] of Object.entries(files)) host.files.set(path, size);
  const run = new SystemReplay(simulator, host, reader.end(), { root: '/mnt', ...options });
  run.run();
  return { host, stats: run.stats, simulator };
}

const calls = ({ host }: Run): string[] =>
  host.log.map(({ pid, name, on, numbers }) => [pid, name, on, ...numbers].join(' '));

describe('descriptors', () => {
  test('copies share a cursor; files outside are followed and left alone', () => {
    const run = replay(
      [
        '1 openat(AT_FDCWD, "/etc/passwd", O_RDONLY) = 3',
        '1 read(3, ""..., 100) = 100',
        '1 openat(AT_FDCWD, "a", O_RDONLY) = 4',
        '1 dup2(4, 3) = 3',
        '1 read(3, ""..., 10) = 10',
        '1 read(4, ""..., 10) = 10',
        '1 close(3) = 0',
        '1 fcntl(4, F_DUPFD, 10) = 10',
        '1 pread64(10, ""..., 50, 5) = 25',
        '1 pipe2([3, 5], O_CLOEXEC) = 0',
        '1 write(5, "x", 1) = 1',
      ],
      {},
      {},
      { '/a': 30 },
    );
    expect(run.stats.differences).toEqual([]);
    expect(run.stats.readBytes).toBe(45);
    expect(Object.fromEntries(run.stats.outside)).toEqual({ openat: 1, read: 1, pipe2: 1, write: 1 });
    expect(calls(run)).toEqual(['1 open a 0', '1 read /a 10', '1 read /a 10', '1 close /a', '1 pread /a 50 5']);
  });

  test('a number that one thread closes while another is given it', () => {
    const run = replay(
      [
        '1 openat(AT_FDCWD, "/mnt/a", O_RDONLY) = 3',
        '1 clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD}, 88) = 2',
        '2 openat(AT_FDCWD, "/mnt/b", O_RDONLY <unfinished ...>',
        '1 close(3 <unfinished ...>',
        '2 <... openat resumed>) = 3',
        '2 read(3, ""..., 7) = 7',
        '1 <... close resumed>) = 0',
        '2 read(3, ""..., 7) = 1',
      ],
      {},
      {},
      { '/a': 100, '/b': 8 },
    );
    expect(run.stats.differences).toEqual([]);
    expect(run.stats.lost).toBe(0);
  });

  test('children have the descriptors of their parent, but what is closed on exec', () => {
    const run = replay(
      [
        '1 openat(AT_FDCWD, "/mnt/a", O_RDONLY) = 3',
        '1 openat(AT_FDCWD, "/mnt/b", O_RDONLY|O_CLOEXEC) = 4',
        '1 vfork( <unfinished ...>',
        '9 read(3, ""..., 10) = 10',
        '9 read(4, ""..., 10) = 10',
        '9 execve("/bin/x", [...], 0x7ff /* 3 vars */ <unfinished ...>',
        '1 <... vfork resumed>) = 9',
        '9 <... execve resumed>) = 0',
        '9 read(3, ""..., 10) = 10',
        '9 read(4, ""..., 10) = 10',
        '9 exit_group(0) = ?',
        '9 +++ exited with 0 +++',
        '1 read(4, ""..., 10) = 10',
      ],
      {},
      {},
      { '/a': 100, '/b': 100 },
    );
    expect(run.stats.differences).toEqual([]);
    // The second read of 4 by the child is of something the trace does not show being opened.
    expect(run.stats.outside.get('read')).toBe(1);
    expect(calls(run).filter((call) => call.startsWith('2'))).toEqual([
      '2 read /a 10',
      '2 read /b 10',
      '2 close /b',
      '2 read /a 10',
    ]);
  });

  test('-y tells what was open before, and where a thread works', () => {
    const run = replay(
      [
        '1 read(5</mnt/log>, ""..., 10) = 10',
        '1 openat(AT_FDCWD</mnt/deep>, "f", O_WRONLY|O_CREAT, 0644) = 3</mnt/deep/f>',
        '1 write(3</mnt/deep/f>, ""..., 4) = 4',
      ],
      {},
      {},
      { '/log': 10 },
    );
    expect(run.stats.attached).toBe(1);
    expect(run.stats.differences).toEqual([]);
    expect(calls(run)).toContain('1 chdir /deep');
    expect(run.stats.writtenBytes).toBe(4);
  });
});

test.each([
  ['make', [], ['d 0 /deep/er', 'f 0 /deep/er/f']],
  ['report', ['works in /mnt/deep/er', '3'], []],
] as const)('a directory that -y tells of and that is missing does not end a replay: %s', (missing, recorded, made) => {
  const host = memoryHost();
  const reader = new StraceReader('a.strace');
  const line = '1 openat(AT_FDCWD</mnt/deep/er>, "f", O_RDONLY) = 3</mnt/deep/er/f>\n';
  reader.push(new TextEncoder().encode(line));
  const run = new SystemReplay(host.simulator, host, reader.end(), { root: '/mnt', missing });
  run.run();
  expect(run.stats.made).toEqual(made);
  expect(run.stats.differences.map((one) => [one.recorded, one.found])).toEqual(
    recorded.map((text) => [text, 'ENOENT']),
  );
});

describe('what differs and what cannot be done', () => {
  test('results that differ are counted and listed with their line', () => {
    const run = replay(
      [
        '1 openat(AT_FDCWD, "/mnt/a", O_RDWR) = 3',
        '1 read(3, ""..., 100) = 100',
        '1 openat(AT_FDCWD, "/mnt/none", O_RDONLY) = 4',
        '1 read(4, ""..., 100) = 100',
        '1 fstat(3, {st_mode=S_IFREG|0644, st_size=31, ...}) = 0',
        '1 unlink("/mnt/a") = -1 ENOENT (No such file or directory)',
        '1 unlink("/mnt/b") = -1 ENOENT (No such file or directory)',
      ].filter((line) => !line.includes('fstat')),
      { differences: 2 },
      {},
      { '/a': 30 },
    );
    expect(run.stats.different).toBe(3);
    expect(run.stats.lost).toBe(1);
    expect(run.stats.lookups).toBe(2);
    expect(run.stats.differences).toEqual([
      { line: 2, pid: 1, call: 'read(3, ""..., 100)', recorded: '100', found: '30' },
      { line: 3, pid: 1, call: 'openat(AT_FDCWD, "/mnt/none", O_RDONLY)', recorded: '4', found: 'ENOENT' },
    ]);
    expect(run.host.files.has('/a')).toBe(true);
  });

  test('calls that cannot be carried out are counted by name', () => {
    const { stats } = replay(
      [
        '1 openat(AT_FDCWD, "/mnt/a", O_RDWR) = 3',
        '1 ioctl(3, FICLONE, 4) = 0',
        '1 splice(3, NULL, 4, NULL, 10, 0) = 10',
        '1 fcntl(3, F_SETFL, O_RDWR|O_APPEND) = 0',
        '1 fcntl(3, F_SETLK, {l_type=F_WRLCK}) = 0',
        '1 rename("/mnt/a", "/tmp/b") = 0',
        '1 mount("/dev/x", "/mnt/y", "ext4", 0, NULL) = 0',
        '1 io_uring_enter(7, 1, 0, 0, NULL, 8) = 1',
        '1 getpid() = 1',
        '1 wait4(3, NULL, 0, NULL) = 3',
      ],
      {},
      {},
      { '/a': 30 },
    );
    expect(Object.fromEntries(stats.unsupported)).toEqual({
      'ioctl FICLONE': 1,
      'fcntl F_SETFL': 1,
      splice: 1,
      rename: 1,
      mount: 1,
      io_uring_enter: 1,
    });
    expect(Object.fromEntries(stats.noEffect)).toEqual({ fcntl: 1 });
    expect(Object.fromEntries(stats.outside)).toEqual({ getpid: 1, wait4: 1 });
  });
});

describe('time', () => {
  const two = [
    '1 1700000000.000000 openat(AT_FDCWD, "/mnt/a", O_RDWR) = 3 <0.000010>',
    '1 1700000000.000020 clone(child_stack=0x7, flags=CLONE_FILES|CLONE_THREAD) = 2 <0.000005>',
    '1 1700000000.000100 fsync(3 <unfinished ...>',
    '2 1700000000.000150 fdatasync(3 <unfinished ...>',
    '1 1700000000.000300 <... fsync resumed>) = 0 <0.000200>',
    '1 1700000000.000400 write(3, ""..., 10) = 10 <0.000001>',
    '2 1700000000.000500 <... fdatasync resumed>) = 0 <0.000350>',
    '2 1700000000.000600 write(3, ""..., 10) = 10 <0.000001>',
  ];
  const costs = { open: 1000, fsync: 50_000, fdatasync: 70_000, write: 2000 };
  const starts = (run: Run): Record<string, number> =>
    Object.fromEntries(
      run.host.log.map(({ name, numbers, startNs }) => [name + (name === 'write' ? numbers[1] : ''), startNs]),
    );

  test('closed: calls that overlapped still do, and what followed still follows', () => {
    const run = replay(two, {}, costs, { '/a': 0 });
    expect(starts(run)).toMatchObject({ open: 0, fsync: 1000, fdatasync: 1000, write0: 51_000, write10: 71_000 });
    expect(run.stats.elapsedNs).toBe(73_000);
    expect(run.stats.of('fdatasync').latencyNs.max).toBe(70_000);
  });

  test('open: at recorded times, or late and counted', () => {
    const run = replay(two, { pace: 'open' }, costs, { '/a': 0 });
    expect(starts(run)).toMatchObject({ fsync: 100_000, fdatasync: 150_000, write0: 400_000, write10: 600_000 });
    expect(run.stats.late).toBe(0);
    const slow = replay(two, { pace: 'open', timeScale: 0.1 }, costs, { '/a': 0 });
    // fsync is due at 10 µs, fdatasync at 15, its end at 85 holds back the last write, due at 60.
    expect(starts(slow)).toMatchObject({ fsync: 10_000, fdatasync: 15_000, write0: 60_000, write10: 85_000 });
    expect([slow.stats.late, slow.stats.lateNs, slow.stats.maxLateNs]).toEqual([2, 45_000, 25_000]);
  });

  test('think: as long after the last call of the thread as recorded', () => {
    const run = replay(two, { pace: 'think' }, costs, { '/a': 0 });
    // The open ends at 1 µs; 10 µs later comes the clone, 75 later the fsync; 100 after its end the write.
    expect(starts(run)).toMatchObject({ open: 0, fsync: 86_000, write0: 236_000 });
  });

  test('times that are not there cannot be followed', () => {
    expect(() => replay(['close(3) = 0'], { pace: 'open' })).toThrow(/pace open needs the times of calls/);
  });
});

test.each([
  [{ root: 'mnt' }, /^root must be an absolute path, found "mnt"$/],
  [{ root: undefined as unknown as string }, /^root must be the directory of the traced machine/],
  [{ pace: 'fast' as 'open' }, /^Unknown value of pace "fast"/],
  [{ timeScale: 0 }, /^timeScale must be a number greater than 0, found 0$/],
  [{ missing: true as unknown as 'make' }, /^Unknown value of missing "true"/],
  [{ mappedreads: true } as Partial<SystemReplayOptions>, /Did you mean "mappedReads"\?/],
])('refuses %j', (options, message) => {
  expect(() => replay(['close(3) = 0'], options)).toThrow(message);
});

describe('when the trace ends, nothing is left in use, so that the file system can be unmounted', () => {
  const opened = 'openat(AT_FDCWD, "a", O_RDONLY) = 3';
  const fork = 'clone(child_stack=NULL, flags=SIGCHLD) = 2';
  test.each([
    ['a file that was missing was made', [`1 ${opened}`, '1 read(3, ""..., 10) = 10']],
    [
      'the number of a process came again without its exit',
      [`1 ${opened}`, `1 ${fork}`, '2 getpid() = 2', `1 ${fork}`],
    ],
    ['nothing is told of any exit', [`1 ${opened}`, `1 ${fork}`, '2 fchdir(3) = -1 ENOTDIR (Not a directory)']],
  ])('%s', (_, lines) => {
    for (const order of ['trace', 'threads'] as const) {
      const host = memoryHost();
      const reader = new StraceReader('a.strace');
      reader.push(Uint8Array.from(`${lines.join('\n')}\n`, (letter) => letter.charCodeAt(0)));
      const options: SystemReplayOptions = { root: '/mnt', missing: 'make', order };
      const run = new SystemReplay(host.simulator, host, reader.end(), options);
      run.run();
      expect(run.stats.made).toHaveLength(1);
      host.run(host.unmount(), 'unmount');
      expect(host.state).toBe('unmounted');
    }
  });
});

test.each(['open', 'think'] as const)('a call that is due after the end of simulated time is refused: %s', (pace) => {
  const lines = ['1 1700000000.0 getpid() = 1 <0.000001>', '1 1709000000.0 getpid() = 1 <0.000001>'];
  expect(() => replay(lines, { pace })).toThrow(/line 2 is due after more than 91 days.*Choose a smaller timeScale/);
  expect(replay(lines, { pace, timeScale: 0.5 }).simulator.now).toBeGreaterThan(4.4e15);
});

import { Host } from '@flashstack/host';
import { Delay, RandomSource, Simulator, type Task } from '@flashstack/sim';
import { MemFs, SimplePageCache } from '@flashstack/vfs';
import { delayed } from '@flashstack/vfs/conformance';
import { describe, expect, test } from 'vitest';
import { listTree, makeTree, StraceReader, SystemReplay, type SystemReplayOptions } from '../src/index.js';
import { openStrace } from '../src/node/index.js';
import { FixedHost } from './fixed-host.js';
import { straceSamples } from './strace-samples.js';

const seeds = process.env.FLASHSTACK_LONG !== undefined ? 50 : process.env.CI !== undefined ? 4 : 2;
const costs = { open: 1000, fsync: 50_000, write: 2000, read: 3000, pread: 3000, close: 0, stat: 500, rename: 700 };
const thread = 'clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD}, 88)';

/** Begins of calls on a host of fixed costs: `name path ns`, by the order of begins. */
function begins(lines: readonly string[], options: Partial<SystemReplayOptions> = {}): string[] {
  const reader = new StraceReader('a.strace');
  reader.push(Uint8Array.from(`${lines.join('\n')}\n`, (letter) => letter.charCodeAt(0)));
  const simulator = new Simulator();
  const host = new FixedHost(simulator, costs);
  for (const name of ['a', 'b', 'c']) host.files.set(`/${name}`, 100_000);
  const run = new SystemReplay(simulator, host, reader.end(), { root: '/mnt', order: 'threads', ...options });
  run.run();
  expect(run.stats.differences).toEqual([]);
  return host.log.filter(({ name }) => name !== 'close').map(({ name, on, startNs }) => `${name} ${on} ${startNs}`);
}

const opened = [
  '1 openat(AT_FDCWD, "/mnt/a", O_RDWR) = 3',
  '1 openat(AT_FDCWD, "/mnt/b", O_RDWR) = 4',
  `1 ${thread} = 2`,
];

test.each(['trace', 'threads'] as const)('a stop ends a replay in the order of %s with what is under way', (order) => {
  const lines = [...opened, '1 fsync(3) = 0', '2 fsync(3) = 0', '1 fsync(3) = 0', '2 fsync(4) = 0'];
  const reader = new StraceReader('a.strace');
  reader.push(Uint8Array.from(`${lines.join('\n')}\n`, (letter) => letter.charCodeAt(0)));
  const simulator = new Simulator();
  const host = new FixedHost(simulator, costs);
  for (const name of ['a', 'b']) host.files.set(`/${name}`, 100_000);
  const run = new SystemReplay(simulator, host, reader.end(), { root: '/mnt', order });
  simulator.spawn(
    'stopper',
    (function* (): Task<void> {
      yield new Delay(simulator).for(10_000);
      run.stop();
    })(),
  );
  run.run();
  expect(host.log.filter(({ name }) => name === 'fsync').map(({ on }) => on)).toEqual(['/a']);
  expect([run.done, run.total, simulator.now]).toEqual([4, 7, 52_000]);
});

test.each(['trace', 'threads'] as const)(
  'a host that breaks ends a replay in the order of %s with its error',
  (order) => {
    const lines = [...opened, '2 write(4, ""..., 10 <unfinished ...>', '1 fsync(3) = 0', '2 <... write resumed>) = 10'];
    const reader = new StraceReader('a.strace');
    reader.push(Uint8Array.from(`${lines.join('\n')}\n`, (letter) => letter.charCodeAt(0)));
    const simulator = new Simulator();
    // No time of a call can be half a nanosecond.
    const host = new FixedHost(simulator, { ...costs, write: 0.5 });
    for (const name of ['a', 'b']) host.files.set(`/${name}`, 100_000);
    const run = new SystemReplay(simulator, host, reader.end(), { root: '/mnt', order });
    expect(() => run.run()).toThrow('must be an integer ≥ 0 ns, found 0.5');
  },
);

describe('threads on their own', () => {
  test('calls on other files wait for nothing, where the order of the trace has them one after the other', () => {
    const lines = [
      ...opened,
      '1 fsync(3) = 0',
      '2 write(4, ""..., 10) = 10',
      '1 fsync(3) = 0',
      '2 write(4, ""..., 10) = 10',
    ];
    expect(begins(lines)).toEqual([
      'open /a 0',
      'open /b 1000',
      'fsync /a 2000',
      'write /b 2000',
      'write /b 4000',
      'fsync /a 52000',
    ]);
    const inOrder = begins(lines, { order: 'trace' });
    expect(inOrder.slice(2)).toEqual(['fsync /a 2000', 'write /b 52000', 'fsync /a 54000', 'write /b 104000']);
  });

  test.each([
    [
      'a file that the other writes',
      '1 write(3, ""..., 10) = 10',
      '2 fsync(3) = 0',
      ['write /a 2000', 'fsync /a 4000'],
    ],
    ['a cursor', '1 read(3, ""..., 10) = 10', '2 read(3, ""..., 10) = 10', ['read /a 2000', 'read /a 5000']],
    [
      'nothing but a file that both read elsewhere',
      '1 pread64(3, ""..., 10, 0) = 10',
      '2 pread64(3, ""..., 10, 50) = 10',
      ['pread /a 2000', 'pread /a 2000'],
    ],
    [
      'a name that the other changes',
      '1 rename("/mnt/c", "/mnt/d") = 0',
      '2 stat("/mnt/d", {st_mode=S_IFREG|0644, st_size=100000, ...}) = 0',
      ['rename /c 2000', 'stat /d 2700'],
    ],
    [
      'a name that is not there yet when it is looked for',
      '1 stat("/mnt/d", 0x7f) = -1 ENOENT (No such file or directory)',
      '2 rename("/mnt/c", "/mnt/d") = 0',
      ['stat /d 2000', 'rename /c 2500'],
    ],
    [
      'a descriptor that the other opens',
      '1 openat(AT_FDCWD, "/mnt/c", O_RDWR) = 5',
      '2 fsync(5) = 0',
      ['open /c 2000', 'fsync /c 3000'],
    ],
    ['everything, for a sync', '1 write(3, ""..., 10) = 10', '2 sync() = 0', ['write /a 2000', 'sync  4000']],
  ])('they wait where they share %s', (_, one, other, expected) => {
    expect(begins([...opened, one, other]).slice(2)).toEqual(expected);
  });

  test('a number is another file’s for the call that closes it, though that comes late', () => {
    // Thread 2 is given number 3 again, which thread 1 has begun to close only after a long sync.
    const lines = [
      ...opened,
      '2 openat(AT_FDCWD, "/mnt/c", O_RDWR <unfinished ...>',
      '1 fsync(4) = 0',
      '1 close(3 <unfinished ...>',
      '2 <... openat resumed>) = 3',
      '2 write(3, ""..., 10) = 10',
      '1 <... close resumed>) = 0',
    ];
    expect(begins(lines).slice(2)).toEqual(['fsync /b 2000', 'open /c 2000', 'write /c 52000']);
  });

  test('a parent that awaits its child does so here, and each process has a time line of its own', () => {
    const lines = [
      ...opened.slice(0, 2),
      '1 fork() = 9',
      '9 fsync(3) = 0',
      '1 wait4(9 <unfinished ...>',
      '9 exit_group(0) = ?',
      '9 +++ exited with 0 +++',
      '1 <... wait4 resumed>, NULL, 0, NULL) = 9',
      '1 write(4, ""..., 10) = 10',
    ];
    expect(begins(lines).slice(2)).toEqual(['fsync /a 2000', 'write /b 52000']);
  });

  test('pauses count from the end of the thread’s own last call', () => {
    const at = (us: number): string => `1700000000.${String(us).padStart(6, '0')}`;
    const lines = [
      `1 ${at(0)} openat(AT_FDCWD, "/mnt/a", O_RDWR) = 3 <0.000010>`,
      `1 ${at(20)} openat(AT_FDCWD, "/mnt/b", O_RDWR) = 4 <0.000010>`,
      `1 ${at(40)} ${thread} = 2 <0.000010>`,
      `1 ${at(60)} fsync(3) = 0 <0.000005>`,
      `2 ${at(70)} write(4, ""..., 10) = 10 <0.000010>`,
      `1 ${at(80)} fsync(3) = 0 <0.000005>`,
      `2 ${at(100)} write(4, ""..., 10) = 10 <0.000010>`,
    ];
    // The clone at 22 µs; thread 1 goes on 10 µs after it, thread 2 begins 30 after it and pauses for 20.
    expect(begins(lines, { pace: 'think' })).toEqual([
      'open /a 0',
      'open /b 11000',
      'fsync /a 32000',
      'write /b 52000',
      'write /b 74000',
      'fsync /a 97000',
    ]);
  });
});

// Files of the package only: the others are too large to be repeated.
test.each(['copy-remove', 'gcc-build', 'fio-fsync', 'tar-extract'])(
  '%s: the same tree and results however long calls take',
  async (name) => {
    const sample = straceSamples().find((one) => one.name === name);
    if (sample === undefined) throw new Error(`${name} is no fixture`);
    const trace = await openStrace(sample.strace);
    const run = (seed: number): unknown => {
      const simulator = new Simulator();
      const cache = new SimplePageCache(simulator);
      const host = new Host({
        simulator,
        cache,
        fileSystem: (environment) => {
          const memfs = new MemFs(environment);
          return seed === 0 ? memfs : delayed(memfs, simulator, new RandomSource(seed).stream('waits'));
        },
      });
      host.run(host.mount(), 'mount');
      if (sample.initial !== null) host.run(makeTree(host.process().thread(), sample.initial), 'make');
      const missing = sample.initial === null ? 'make' : 'report';
      const order = seed === 0 ? 'trace' : 'threads';
      const replay = new SystemReplay(simulator, host, trace, { root: '/mnt/bench', missing, order });
      replay.run();
      const { readBytes, writtenBytes, copiedBytes, different, lost } = replay.stats;
      const tree = host.run(listTree(host.process().thread()), 'list');
      return { readBytes, writtenBytes, copiedBytes, different, lost, tree };
    };
    const expected = run(0);
    for (let seed = 1; seed <= seeds; seed++) expect(run(seed), `seed ${seed}`).toEqual(expected);
  },
);

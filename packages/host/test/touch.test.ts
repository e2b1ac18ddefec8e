import { LEAST_MEMORY_BYTES, Linux6Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { Delay, RandomSource, type RandomStream, Simulator, type Task } from '@flashstack/sim';
import {
  FileAdvice,
  type FileCache,
  FileStatus,
  FsError,
  MemFs,
  OpenFlag,
  SimplePageCache,
  type Thread,
} from '@flashstack/vfs';
import { delayed } from '@flashstack/vfs/conformance';
import { expect, test } from 'vitest';
import { Host } from '../src/index.js';

const seeds = process.env.FLASHSTACK_LONG !== undefined ? 300 : process.env.CI !== undefined ? 20 : 4;
const MOST_BYTES = 3 * 2 ** 20;
const { create, readOnly, readWrite, writeOnly } = OpenFlag;

const caches: Readonly<Record<string, (simulator: Simulator) => FileCache>> = {
  simple: (simulator) => new SimplePageCache(simulator),
  linux: (simulator) => {
    const memory = new PageMemory(simulator, { memoryBytes: LEAST_MEMORY_BYTES });
    const limits = { raPages: 32, ioPages: 320 };
    return new LinuxPageCache(memory, null, { policy: new Linux6Readahead(), limits, contents: 'bytes' });
  },
};

function hostOf(name: string, waits: boolean): Host {
  const simulator = new Simulator();
  const host = new Host(
    {
      simulator,
      cache: caches[name](simulator),
      fileSystem: (environment) => {
        const memfs = new MemFs(environment);
        return waits ? delayed(memfs, simulator, new RandomSource(1).stream('waits')) : memfs;
      },
    },
    { accessTimes: 'strict' },
  );
  host.run(host.mount());
  return host;
}

function* go(call: number | Task<number>): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

/** One random call on one of three descriptors: to read, to write, and both. */
function* step(thread: Thread, fds: readonly number[], random: RandomStream): Task<number> {
  const fd = fds[random.below(3)];
  const offset = random.below(MOST_BYTES);
  const length = 1 + random.below(random.below(3) === 0 ? 300_000 : 9000);
  const bytes = new Uint8Array(length).fill(random.below(256));
  switch (random.below(8)) {
    case 0:
    case 1:
      return yield* go(thread.touch(fd, offset, length, false));
    case 2:
    case 3:
      return yield* go(thread.touch(fd, offset, length, true, bytes));
    case 4:
      return yield* go(thread.pwrite(fd, bytes, length, offset));
    case 5:
      return yield* go(thread.ftruncate(fd, random.below(MOST_BYTES)));
    case 6:
      return yield* go(thread.madvise(fd, 0, 0, random.below(6)));
    default:
      // So that what is touched next has to be read.
      yield* go(random.below(4) === 0 ? thread.msync(fd, offset, length) : thread.fsync(fd));
      return yield* go(thread.fadvise(fd, 0, 0, FileAdvice.dontNeed));
  }
}

/** What can be seen of random touches: results, what times they moved on, and the contents in the end. */
function play(name: string, seed: number, waits: boolean): { seen: string[]; bytes: Uint8Array } {
  const host = hostOf(name, waits);
  const thread = host.process().thread();
  const delay = new Delay(host.simulator);
  const random = new RandomSource(seed).stream('steps');
  const seen: string[] = [];
  const bytes = new Uint8Array(MOST_BYTES + 400_000);
  function* program(): Task<number> {
    const fds: number[] = [];
    for (const flags of [readOnly, writeOnly, readWrite]) fds.push(yield* go(thread.open('/f', flags | create, 0o644)));
    const status = new FileStatus();
    for (let at = 0; at < 150; at++) {
      yield* go(thread.fstat(fds[0], status));
      const { accessedSec, modifiedSec } = status;
      // Whatever moves on a time moves it on by whole seconds.
      yield delay.for(2e9);
      let result: string;
      try {
        result = String(yield* step(thread, fds, random));
      } catch (error) {
        if (!(error instanceof FsError)) throw error;
        result = error.code;
      }
      yield* go(thread.fstat(fds[0], status));
      seen.push(`${result} ${status.size} ${status.accessedSec > accessedSec} ${status.modifiedSec > modifiedSec}`);
    }
    return yield* go(thread.pread(fds[2], bytes, bytes.length, 0));
  }
  host.run(program());
  return { seen, bytes };
}

test('touches of mappings give the same under both caches, whether they have to wait or not', () => {
  const outcomes = new Set<string>();
  for (let seed = 1; seed <= seeds; seed++) {
    const expected = play('simple', seed, false);
    for (const [name, waits] of [
      ['simple', true],
      ['linux', false],
      ['linux', true],
    ] as const) {
      const found = play(name, seed, waits);
      expect(found.seen, `${name} ${waits} ${seed}`).toEqual(expected.seen);
      expect(Buffer.compare(found.bytes, expected.bytes)).toBe(0);
    }
    for (const line of expected.seen) outcomes.add(line.replace(/^\d+ \d+/, 'done').replace(/ \d+ /, ' '));
  }
  for (const outcome of ['done true false', 'done false true', 'EACCES false false', 'EINVAL false false']) {
    expect(outcomes).toContain(outcome);
  }
});

test('a store to a mapping does not bring back what was truncated while it waited', () => {
  for (const name of Object.keys(caches)) {
    for (let seed = 1; seed <= 30; seed++) {
      const host = hostOf(name, true);
      const process = host.process();
      const [storing, cutting] = [process.thread(), process.thread()];
      const delay = new Delay(host.simulator);
      const status = new FileStatus();
      host.run(
        (function* (): Task<void> {
          const fd = yield* go(storing.open('/f', readWrite | create, 0o644));
          yield* go(storing.pwrite(fd, null, 100_000, 0));
          yield* go(storing.fsync(fd));
          yield* go(storing.fadvise(fd, 0, 0, FileAdvice.dontNeed));
          const store = host.simulator.spawn('store', go(storing.touch(fd, 0, 100_000, true)));
          yield delay.for(seed * 1500);
          yield* go(cutting.ftruncate(fd, 10_000));
          yield store;
          if (store.state === 'failed') throw store.error;
          yield* go(cutting.fstat(fd, status));
        })(),
      );
      expect(status.size, `${name} ${seed}`).toBe(10_000);
    }
  }
});

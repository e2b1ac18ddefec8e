import { FaultDevice, MemoryDevice, RecordingDevice } from '@flashstack/block-device';
import type { Simulator, Task } from '@flashstack/sim';
import { type Inode, PAGE_BYTES, WritebackReason } from '@flashstack/vfs';
import { describe, expect, test } from 'vitest';
import type { PageMemory } from '../src/index.js';
import { SerialDevice, Stack } from './support.js';

const MiB = 2 ** 20;
const SECOND = 1_000_000_000;

/** A device that writes a page in so many ns. */
const slow = (pageNs: number) => (simulator: Simulator) => new SerialDevice(simulator, pageNs);

/** Runs a process to its end while daemons run. */
function runWith(stack: Stack, task: Task<void>): void {
  const process = stack.simulator.spawn('program', task);
  stack.simulator.run(process);
}

function* append(
  stack: Stack,
  inode: Inode,
  pages: number,
  pauseNs: number,
  seen: (dirty: number) => void,
): Task<void> {
  for (let at = 0; at < pages; at++) {
    const written = stack.cache.write(inode, inode.size, PAGE_BYTES, null, 1);
    if (typeof written !== 'number') yield* written;
    inode.size += PAGE_BYTES;
    seen(stack.memory.unwrittenPages);
    if (pauseNs > 0) yield stack.cache.pause.for(pauseNs);
  }
}

describe('write-back by itself', () => {
  test('a file is written at the first look after it has been dirty for 30 s', () => {
    const stack = new Stack({ daemon: true });
    const { simulator, backend, cache } = stack;
    simulator.runUntil(7 * SECOND);
    const inode = stack.file(0);
    cache.write(inode, 0, 3 * PAGE_BYTES, null, 1);
    inode.size = 3 * PAGE_BYTES;
    simulator.runUntil(25 * SECOND);
    // Changed again: it counts from the first change.
    cache.write(inode, 0, PAGE_BYTES, null, 2);
    simulator.runUntil(40 * SECOND - 1);
    expect(backend.writes).toEqual([]);
    simulator.runUntil(40 * SECOND + SECOND);
    expect(backend.writes).toEqual([[[0, 1, 2], WritebackReason.background]]);
    cache.stop();
    simulator.drain();
  });

  test('above the background limit it begins at once, and ends below', () => {
    const stack = new Stack({ daemon: true, memory: { memoryBytes: 40 * MiB }, device: slow(100_000) });
    const { memory, simulator, backend } = stack;
    const inode = stack.file(0);
    runWith(
      stack,
      append(stack, inode, memory.backgroundPages, 10_000, () => undefined),
    );
    expect(backend.writes).toEqual([]);
    runWith(
      stack,
      append(stack, inode, 1, 10_000, () => undefined),
    );
    simulator.runUntil(simulator.now + SECOND);
    // One chunk was enough.
    expect(memory.unwrittenPages).toBe(1);
    expect(backend.writes.length).toBe(1);
    expect(backend.writes[0][0].length).toBe(1024);
  });

  test('dirty pages never exceed the limit, and settle between pacing and limit while the writer is faster', () => {
    const stack = new Stack({
      daemon: true,
      memory: { memoryBytes: 64 * MiB },
      filePages: 1 << 16,
      device: slow(20_000),
    });
    const { memory } = stack;
    const levels: number[] = [];
    runWith(
      stack,
      append(stack, stack.file(0), 40_000, 0, (dirty) => levels.push(dirty)),
    );
    expect(Math.max(...levels)).toBeLessThanOrEqual(memory.dirtyLimitPages);
    const late = levels.slice(levels.length >>> 1);
    const mean = late.reduce((sum, level) => sum + level, 0) / late.length;
    expect(mean).toBeGreaterThan(memory.backgroundPages);
    expect(memory.stats.throttledNs).toBeGreaterThan(0);
  });

  test('without a daemon the writer writes by itself', () => {
    const stack = new Stack({ memory: { memoryBytes: 16 * MiB }, filePages: 1 << 16 });
    const inode = stack.file(0);
    for (let at = 0; at < 5000; at++) {
      stack.write(inode, at * PAGE_BYTES, PAGE_BYTES);
      expect(stack.memory.unwrittenPages).toBeLessThanOrEqual(stack.memory.dirtyLimitPages);
    }
    expect(stack.backend.writes.every(([, reason]) => reason === WritebackReason.throttle)).toBe(true);
    expect(stack.backend.writes.length).toBeGreaterThan(3);
  });

  test('files take turns, a chunk each', () => {
    const stack = new Stack({
      daemon: true,
      memory: { memoryBytes: 64 * MiB, writebackChunkPages: 100 },
      device: slow(100_000),
    });
    const files = [stack.file(0), stack.file(0)];
    const owners: number[] = [];
    const { writePages } = stack.backend;
    stack.backend.writePages = function (inode, ...rest) {
      owners.push(inode.ino);
      return writePages.call(this, inode, ...rest);
    };
    runWith(
      stack,
      (function* (): Task<void> {
        for (const inode of files) yield* append(stack, inode, 1000, 0, () => undefined);
        stack.memory.wakeFlushers();
        yield stack.cache.pause.for(SECOND);
      })(),
    );
    expect(owners.slice(0, 4)).toEqual([0, 1, 0, 1]);
    expect(stack.backend.writes[0][0]).toEqual(Array.from({ length: 100 }, (_, at) => at));
    expect(stack.backend.writes[2][0][0]).toBe(100);
  });
});

/** The most pages that have been dirty or under write-back at the same time from now on. */
function mostUnwritten(memory: PageMemory): () => number {
  let most = 0;
  for (const name of ['dirtyPages', 'writebackPages'] as const) {
    let value = memory[name];
    Object.defineProperty(memory, name, {
      get: () => value,
      set: (next: number) => {
        value = next;
        most = Math.max(most, memory.dirtyPages + memory.writebackPages);
      },
    });
  }
  return () => most;
}

describe('writes that are large for the limit', () => {
  test.each([
    [10, 20, 1],
    [10, 20, 3],
    [0, 5, 2],
    [19, 20, 2],
    [1, 90, 2],
  ])(
    'in pieces they go at the speed of the device and never exceed it: limits of %i and %i per cent, %i writers',
    (...given) => {
      const [dirtyBackgroundRatio, dirtyRatio, writers] = given;
      const pageNs = 100_000;
      const memory = { memoryBytes: 2 * MiB, dirtyBackgroundRatio, dirtyRatio };
      const stack = new Stack({ daemon: true, memory, device: slow(pageNs) });
      const { dirtyLimitPages, pieceBytes } = stack.memory;
      const most = mostUnwritten(stack.memory);
      const pages = 2000;
      function* writer(): Task<void> {
        const inode = stack.file(0);
        while (inode.size < pages * PAGE_BYTES) {
          const length = Math.min(pieceBytes, pages * PAGE_BYTES - inode.size);
          const written = stack.cache.write(inode, inode.size, length, null, 1);
          inode.size += typeof written === 'number' ? written : yield* written;
        }
      }
      const started = Array.from({ length: writers }, (_, at) => stack.simulator.spawn(`writer ${at}`, writer()));
      for (const process of started) stack.simulator.run(process);
      expect(most()).toBeLessThanOrEqual(dirtyLimitPages);
      // All but what may stay dirty has gone through the device, which hardly ever had nothing to do.
      const all = writers * pages;
      expect(stack.simulator.now).toBeGreaterThanOrEqual((all - dirtyLimitPages) * pageNs);
      expect(stack.simulator.now).toBeLessThan(1.1 * all * pageNs);
    },
  );

  test.each([0.3, 0.7, 1])(
    'in one piece of %d of the limit it waits until it fits, also without the daemon',
    (share) => {
      for (const daemon of [true, false]) {
        const memory = { memoryBytes: 16 * MiB, dirtyBackgroundRatio: 19, dirtyRatio: 20 };
        const stack = new Stack({ daemon, memory, device: slow(100_000) });
        const { dirtyLimitPages, simulator } = { ...stack.memory, simulator: stack.simulator };
        const most = mostUnwritten(stack.memory);
        const pages = Math.floor(share * dirtyLimitPages);
        runWith(
          stack,
          (function* (): Task<void> {
            const inode = stack.file(0);
            for (let at = 0; at < 5; at++) {
              const written = stack.cache.write(inode, inode.size, pages * PAGE_BYTES, null, 1);
              inode.size += typeof written === 'number' ? written : yield* written;
            }
          })(),
        );
        expect(most()).toBeLessThanOrEqual(dirtyLimitPages);
        expect(most()).toBeGreaterThan(dirtyLimitPages / 2);
        // Nobody waited for a look at what has expired.
        expect(simulator.now).toBeLessThan(5 * pages * 100_000 + SECOND);
      }
    },
  );
});

test('a daemon that is stopped before it has run ends, and writers write themselves', () => {
  const stack = new Stack({ daemon: true, memory: { memoryBytes: 2 * MiB } });
  stack.cache.stop();
  stack.simulator.drain();
  expect([stack.cache.flushed, stack.memory.hasFlushers]).toEqual([false, false]);
  const inode = stack.file(0);
  for (let at = 0; at < 200; at++) stack.write(inode, at * PAGE_BYTES, PAGE_BYTES);
  expect(stack.memory.dirtyPages).toBeLessThan(stack.memory.dirtyLimitPages);
});

test('a sync waits for what is being written and writes what has changed since, nothing else', () => {
  const memory = new MemoryDevice({ blockCount: 1 << 16 });
  const record: { device?: RecordingDevice } = {};
  const stack = new Stack({
    device: (simulator) => {
      record.device = new RecordingDevice(memory, { simulator });
      return new FaultDevice(record.device, { simulator, latencyNs: 1_000_000, rules: [] });
    },
  });
  const { cache, simulator } = stack;
  const [inode, other] = [stack.file(0), stack.file(0)];
  stack.write(inode, 0, 2 * PAGE_BYTES, null, 1);
  stack.write(other, 0, PAGE_BYTES, null, 1);
  stack.finish(cache.startWriteBack(inode, 0, PAGE_BYTES));
  expect(cache.mapping(inode).isUnderWriteback(0)).toBe(true);
  stack.write(inode, 0, PAGE_BYTES, null, 2);
  expect(stack.run(cache.writeBack(inode, WritebackReason.sync))).toBe(2);
  expect(simulator.now).toBe(2_000_000);
  const device = record.device as RecordingDevice;
  const blocks = Array.from({ length: device.length }, (_, at) => device.at(at));
  expect(blocks.map(({ block, count }) => [block, count])).toEqual([
    [0, 1],
    [0, 2],
  ]);
  expect(cache.mapping(other).dirtyPages).toBe(1);
});

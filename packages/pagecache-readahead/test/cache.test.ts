import { BlockStatus, FaultDevice, MemoryDevice, RecordingDevice } from '@flashstack/block-device';
import { PAGE_BYTES, tagOfPage, WritebackReason } from '@flashstack/vfs';
import { describe, expect, test } from 'vitest';
import { LEAST_MEMORY_BYTES, PageMemory } from '../src/index.js';
import { Stack } from './support.js';

const MiB = 2 ** 20;
const bytesOf = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, at) => (at * 31 + seed * 17 + (at >> 8)) & 255);

describe('reads', () => {
  test('a cached read is a number, one that must wait a task', () => {
    const stack = new Stack();
    const inode = stack.file(MiB);
    const reader = stack.cache.reader(inode);
    const first = stack.cache.read(inode, reader, 0, 100, null);
    expect(typeof first).toBe('object');
    expect(stack.finish(first)).toBe(100);
    expect(stack.cache.read(inode, reader, 100, 100, null)).toBe(100);
    expect(stack.cache.read(inode, reader, MiB - 10, 100, null)).not.toBe(10);
    expect(stack.read(inode, MiB - 10, 100)).toBe(10);
    expect(stack.read(inode, MiB, 100)).toBe(0);
  });

  test('two readers of one page share its fetch', () => {
    const stack = new Stack({
      device: (simulator) =>
        new FaultDevice(new MemoryDevice({ blockCount: 1 << 16 }), { simulator, latencyNs: 1000, rules: [] }),
    });
    const inode = stack.file(MiB);
    const ends: number[] = [];
    for (let reader = 0; reader < 2; reader++) {
      const { cache, simulator } = stack;
      simulator.spawn(
        `reader ${reader}`,
        (function* () {
          const read = cache.read(inode, cache.reader(inode), 0, PAGE_BYTES, null);
          if (typeof read !== 'number') yield* read;
          ends.push(simulator.now);
        })(),
      );
    }
    stack.simulator.run();
    expect(ends).toEqual([1000, 1000]);
    expect(stack.backend.reads).toEqual([[0, 4]]);
  });

  test('a page that holds bytes is read again, and those after it once', () => {
    const device = new MemoryDevice({ blockCount: 1 << 16 });
    const writer = new Stack({ device: () => device });
    const bytes = bytesOf(MiB, 3);
    const written = writer.file(0);
    writer.write(written, 0, MiB, bytes);
    writer.run(writer.cache.writeBack(written, WritebackReason.sync));
    const stack = new Stack({ device: () => device });
    const inode = stack.file(MiB);
    const into = new Uint8Array(MiB);
    stack.read(inode, 0, MiB, into);
    expect(Buffer.compare(into, bytes)).toBe(0);
    expect(stack.memory.stats.bytesReread).toBeGreaterThan(0);
    const reread = stack.memory.stats.bytesReread;
    stack.cache.dropClean();
    expect(stack.memory.frames.used).toBe(0);
    stack.read(inode, 5, 1000, into);
    expect(Buffer.compare(into.subarray(0, 1000), bytes.subarray(5, 1005))).toBe(0);
    expect(stack.memory.stats.bytesReread).toBe(reread);
  });

  test('an error is thrown to who needs the page, not to who only reads ahead', () => {
    const rules = [{ firstBlock: 3, lastBlock: 3, status: BlockStatus.mediaError }];
    const stack = new Stack({
      device: (simulator) =>
        new FaultDevice(new MemoryDevice({ blockCount: 1 << 16 }), { simulator, latencyNs: 0, rules }),
    });
    const inode = stack.file(4 * PAGE_BYTES);
    // One request of four pages fails as a whole; the first page is then read alone.
    expect(stack.read(inode, 0, PAGE_BYTES)).toBe(PAGE_BYTES);
    expect(stack.memory.stats.fetchErrors).toBe(4);
    expect(() => stack.read(inode, 3 * PAGE_BYTES, PAGE_BYTES)).toThrow('EIO');
    expect(stack.read(inode, 0, 3 * PAGE_BYTES)).toBe(3 * PAGE_BYTES);
    stack.backend.failure = 'EIO';
    expect(stack.read(inode, 2 * PAGE_BYTES, 1)).toBe(1);
  });

  test('blocks smaller than a page', () => {
    for (const blockBytes of [512, 1024, 2048]) {
      const stack = new Stack({ device: () => new MemoryDevice({ blockCount: 1 << 18, blockBytes }) });
      const bytes = bytesOf(40_000, blockBytes);
      const inode = stack.file(0);
      stack.write(inode, 0, bytes.length, bytes);
      stack.write(inode, 12 * PAGE_BYTES, PAGE_BYTES, null, 9);
      stack.run(stack.cache.writeBack(inode, WritebackReason.sync));
      stack.cache.dropClean();
      const into = new Uint8Array(bytes.length);
      expect(stack.read(inode, 0, bytes.length, into)).toBe(bytes.length);
      expect(Buffer.compare(into, bytes)).toBe(0);
      const word = new Uint8Array(4);
      stack.read(inode, 12 * PAGE_BYTES + 8, 4, word);
      expect(new DataView(word.buffer).getUint32(0, true)).toBe(tagOfPage(9, 12));
    }
  });
});

describe('writes', () => {
  test('a whole page needs no read, a part of one does', () => {
    const stack = new Stack();
    const inode = stack.file(MiB);
    expect(stack.cache.write(inode, 0, 2 * PAGE_BYTES, null, 1)).toBe(2 * PAGE_BYTES);
    expect(stack.backend.reads).toEqual([]);
    expect(stack.write(inode, 2 * PAGE_BYTES + 5, PAGE_BYTES, null, 1)).toBe(PAGE_BYTES);
    expect(stack.backend.reads).toEqual([
      [2, 1],
      [3, 1],
    ]);
    // Behind the end there is nothing to read.
    expect(stack.write(inode, MiB + 10, 20, null, 1)).toBe(20);
    expect(stack.backend.reads.length).toBe(2);
    expect(stack.cache.mapping(inode).dirtyPages).toBe(5);
  });

  test('write-back: ascending, merged, and the rest stays dirty if the file system takes less', () => {
    const memory = new MemoryDevice({ blockCount: 1 << 16 });
    const record: { device?: RecordingDevice } = {};
    const stack = new Stack({ device: (simulator) => (record.device = new RecordingDevice(memory, { simulator })) });
    const inode = stack.file(0);
    for (const page of [7, 3, 4, 5, 20]) stack.write(inode, page * PAGE_BYTES, PAGE_BYTES, null, page);
    stack.backend.takes = 3;
    expect(stack.run(stack.cache.writeBack(inode, WritebackReason.sync))).toBe(5);
    expect(stack.backend.writes).toEqual([
      [[3, 4, 5, 7, 20], WritebackReason.sync],
      [[7, 20], WritebackReason.sync],
    ]);
    expect(stack.cache.mapping(inode).dirtyPages).toBe(0);
    expect(stack.memory.unwrittenPages).toBe(0);
    const device = record.device as RecordingDevice;
    expect(device.length).toBe(3);
  });

  test('a range is written, pages behind the end are not', () => {
    const stack = new Stack();
    const inode = stack.file(10 * PAGE_BYTES);
    for (let page = 0; page < 12; page++)
      stack.finish(stack.cache.write(inode, page * PAGE_BYTES, PAGE_BYTES, null, 1));
    expect(stack.run(stack.cache.writeBack(inode, WritebackReason.range, 2 * PAGE_BYTES + 1, 2 * PAGE_BYTES))).toBe(3);
    expect(stack.run(stack.cache.writeBack(inode, WritebackReason.sync))).toBe(7);
    inode.size = 12 * PAGE_BYTES;
    expect(stack.run(stack.cache.writeBackAll(WritebackReason.sync))).toBe(2);
  });

  test('a page that changes while it is written stays dirty, and what was written is the older content', () => {
    const memory = new MemoryDevice({ blockCount: 1 << 16 });
    const stack = new Stack({
      device: (simulator) => new FaultDevice(memory, { simulator, latencyNs: 1000, rules: [] }),
    });
    const { cache, simulator } = stack;
    const inode = stack.file(0);
    stack.write(inode, 0, PAGE_BYTES, null, 1);
    const mapping = cache.mapping(inode);
    simulator.spawn('sync', cache.writeBack(inode, WritebackReason.sync));
    simulator.runUntil(500);
    expect([mapping.isDirty(0), mapping.isUnderWriteback(0)]).toEqual([false, true]);
    stack.write(inode, 0, PAGE_BYTES, null, 2);
    expect([mapping.isDirty(0), mapping.isUnderWriteback(0)]).toEqual([true, true]);
    expect(() => mapping.drop(0, 1)).toThrow('under write-back');
    expect(stack.finish(cache.settle(inode, 0, 1))).toBe(0);
    expect([mapping.isDirty(0), mapping.isUnderWriteback(0)]).toEqual([true, false]);
    expect(simulator.now).toBe(1000);
    stack.run(cache.writeBack(inode, WritebackReason.sync));
    cache.dropClean();
    stack.read(inode, 0, 1);
    expect(mapping.tag(0)).toBe(tagOfPage(2, 0));
  });

  test('an error of write-back is told once, and the page is clean', () => {
    const rules = [{ firstBlock: 1, lastBlock: 1, status: BlockStatus.ioError, times: 1 }];
    const stack = new Stack({
      device: (simulator) =>
        new FaultDevice(new MemoryDevice({ blockCount: 1 << 16 }), { simulator, latencyNs: 0, rules }),
    });
    const inode = stack.file(0);
    stack.write(inode, 0, 3 * PAGE_BYTES);
    stack.run(stack.cache.writeBack(inode, WritebackReason.sync));
    expect([stack.cache.takeError(inode), stack.cache.takeError(inode)]).toEqual([5, 0]);
    expect(stack.memory.unwrittenPages).toBe(0);
    stack.write(inode, 0, PAGE_BYTES);
    stack.backend.failure = 'ENOSPC';
    stack.run(stack.cache.writeBack(inode, WritebackReason.sync));
    expect(stack.cache.takeError(inode)).toBe(28);
    expect(stack.memory.unwrittenPages).toBe(0);
  });
});

test('cached reads and rewrites allocate nothing', () => {
  const stack = new Stack();
  const inode = stack.file(4 * MiB);
  stack.finish(stack.cache.load(inode, 0, 1024));
  const reader = stack.cache.reader(inode);
  const pass = (operations: number): void => {
    for (let at = 0; at < operations; at++) {
      const page = (at * 7) % 1024;
      if (stack.cache.read(inode, reader, page * PAGE_BYTES, PAGE_BYTES, null) !== PAGE_BYTES) throw new Error('read');
      const written = stack.cache.write(inode, page * PAGE_BYTES, PAGE_BYTES, null, at);
      if (written !== PAGE_BYTES) throw new Error('write');
    }
  };
  pass(300_000);
  const before = process.memoryUsage().heapUsed;
  pass(1_000_000);
  // A word for each would be 8 MB, and nothing is collected in between unless something was allocated.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000);
});

test('memory for bookkeeping: at most 64 bytes a page', () => {
  const memory = new PageMemory(new Stack().simulator, { memoryBytes: 256 * MiB });
  const stack = new Stack({ memory: { memoryBytes: 256 * MiB }, filePages: 1 << 17 });
  const inode = stack.file(300 * MiB);
  for (let at = 0; at < 300 * MiB; at += MiB) stack.read(inode, at, MiB);
  expect(stack.memory.frames.used).toBeGreaterThan(0.99 * memory.limitPages);
  expect(stack.memory.bookkeepingBytes / stack.memory.frames.used).toBeLessThanOrEqual(64);
});

describe('options that make no sense are refused', () => {
  const make =
    (options: object): (() => unknown) =>
    () =>
      new PageMemory(new Stack().simulator, options);

  test.each([
    [{ memoryBytes: LEAST_MEMORY_BYTES - 1 }, 'ERR_PARAMETER_RANGE', 'at least 2097152 bytes'],
    [{ memoryBytes: '1GiB' }, 'ERR_PARAMETER_TYPE', 'pageCache.memoryBytes is 1GiB'],
    [{ memorybytes: 1 }, 'ERR_UNKNOWN_NAME', 'Did you mean "memoryBytes"?'],
    [{ dirtyRatio: 5 }, 'ERR_PAGE_CACHE_RATIO', 'less than dirtyRatio, which is 5'],
    [{ writebackChunkPages: 1.5 }, 'ERR_PARAMETER_TYPE', 'an integer from 1 to 65536 pages'],
  ])('%o', (options, code, text) => {
    expect(make(options)).toThrow(text);
    expect(make(options)).toThrow(expect.objectContaining({ code }));
  });

  test('a device whose blocks do not divide a page', () => {
    const device = () => new MemoryDevice({ blockCount: 1024, blockBytes: 8192 });
    expect(() => new Stack({ device })).toThrow('blocks of 8192 bytes');
  });
});

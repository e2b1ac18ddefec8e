import { FaultDevice, MemoryDevice } from '@flashstack/block-device';
import { type MaybeTask, RandomSource, type RandomStream, Simulator, type Task } from '@flashstack/sim';
import {
  type FileCache,
  type Inode,
  MemFs,
  PAGE_BYTES,
  SimplePageCache,
  WallClock,
  WritebackReason,
} from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { LEAST_MEMORY_BYTES, Linux6Readahead, Linux2637Readahead, LinuxPageCache, PageMemory } from '../src/index.js';
import { full, long, Stack } from './support.js';

const rounds = long ? 400 : full ? 40 : 6;

/** One host on memfs: system calls as far as pages are concerned. */
class Host {
  readonly simulator: Simulator = new Simulator();
  readonly cache: FileCache;
  private readonly fs: MemFs;
  readonly files: Inode[] = [];
  private readonly readers: object[] = [];

  constructor(cacheFor: (simulator: Simulator) => FileCache, files: number) {
    const { simulator } = this;
    this.cache = cacheFor(simulator);
    const clock = new WallClock(simulator, 1_700_000_000);
    const random = new RandomSource(1).stream('fs');
    this.fs = new MemFs({ simulator, cache: this.cache, random, clock, log() {} });
    this.cache.attach(this.fs);
    this.run(this.fs.mount());
    for (let at = 0; at < files; at++) {
      const what = { kind: 8, mode: 0o644, uid: 0, gid: 0 };
      const inode = this.run(this.fs.create(this.fs.root(), `file${at}`, what));
      this.files.push(inode);
      this.readers.push(this.cache.reader(inode));
    }
  }

  read(file: number, offset: number, length: number): Uint8Array {
    const inode = this.files[file];
    const inside = Math.max(0, Math.min(length, inode.size - offset));
    const into = new Uint8Array(inside);
    if (inside > 0) this.finish(this.cache.read(inode, this.readers[file], offset, inside, into));
    return into;
  }

  write(file: number, offset: number, length: number, from: Uint8Array | null, seed: number): void {
    const inode = this.files[file];
    this.finish(this.fs.beginWrite(inode, offset, length));
    this.fs.endWrite(inode, offset, this.finish(this.cache.write(inode, offset, length, from, seed)));
  }

  truncate(file: number, size: number): void {
    this.run(this.fs.setAttributes(this.files[file], { size }));
  }

  finish(operation: MaybeTask): number {
    return typeof operation === 'number' ? operation : this.run(operation);
  }

  run<T>(task: Task<T>): T {
    const process = this.simulator.spawn('call', task);
    this.simulator.run(process);
    return process.value as T;
  }

  /** Plays one random operation; what can be seen of it. */
  play(random: RandomStream): Uint8Array | number {
    const file = random.below(this.files.length);
    const size = this.files[file].size;
    const kind = random.below(20);
    const offset = random.below(4) === 0 ? size : random.below(3 * 2 ** 20);
    const length = 1 + random.below(random.below(3) === 0 ? 400_000 : 9000);
    const seed = random.below(2 ** 32);
    const inode = this.files[file];
    if (kind < 7) return this.read(file, offset, length);
    if (kind < 10) this.write(file, offset, length, null, seed);
    else if (kind < 14) this.write(file, offset, length, bytesFrom(seed, length), seed);
    else if (kind === 14) this.truncate(file, random.below(size + 1));
    else if (kind === 15) return this.finish(this.cache.writeBack(inode, WritebackReason.sync, offset, length));
    else if (kind === 16) this.finish(this.cache.startWriteBack(inode, offset, length));
    else if (kind === 17) this.cache.invalidate(inode, Math.floor(offset / PAGE_BYTES), 200);
    else if (kind === 18) this.finish(this.cache.advise(inode, this.readers[file], offset, length, random.below(6)));
    else this.run(this.cache.writeBackAll(WritebackReason.sync));
    return 0;
  }
}

function bytesFrom(seed: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at++) bytes[at] = (Math.imul(seed | 1, at + 1) >>> 13) & 255;
  return bytes;
}

test('on memfs, any sequence of operations shows what the simple cache shows', () => {
  let evicted = 0;
  for (let round = 0; round < rounds; round++) {
    const random = new RandomSource(round).stream('operations');
    const again = new RandomSource(round).stream('operations');
    const policy = round % 2 === 0 ? new Linux6Readahead() : new Linux2637Readahead();
    const limits = { raPages: [32, 0, 8, 128][round % 4], ioPages: 320 };
    const memories: PageMemory[] = [];
    const real = new Host((simulator) => {
      memories.push(new PageMemory(simulator, { memoryBytes: LEAST_MEMORY_BYTES }));
      return new LinuxPageCache(memories[0], null, { policy, limits });
    }, 3);
    const simple = new Host((simulator) => new SimplePageCache(simulator), 3);
    for (let step = 0; step < 250; step++) {
      const seen = real.play(random);
      const expected = simple.play(again);
      if (typeof expected === 'number') continue;
      expect(Buffer.compare(seen as Uint8Array, expected), `round ${round}, step ${step}`).toBe(0);
    }
    const [memory] = memories;
    evicted += memory.stats.evicted;
    real.run(real.cache.writeBackAll(WritebackReason.sync));
    expect(memory.unwrittenPages).toBe(0);
    expect(memory.frames.used).toBe(real.files.reduce((sum, inode) => sum + (inode.mapping?.pages ?? 0), 0));
    expect(memory.lru.active + memory.lru.inactive).toBe(memory.frames.used);
    for (const inode of real.files) real.cache.forget(inode);
    expect(memory.frames.used).toBe(0);
  }
  expect(evicted).toBeGreaterThan(0);
});

test('writers, readers and write-back beside each other: every file holds what was written last', () => {
  for (let round = 0; round < Math.max(2, rounds / 2); round++) {
    const random = new RandomSource(round).stream('processes');
    const stack = new Stack({
      memory: { memoryBytes: LEAST_MEMORY_BYTES, dirtyExpireNs: 40_000_000, writebackIntervalNs: 10_000_000 },
      cache: { contents: round % 2 === 0 ? 'bytes' : 'tags' },
      filePages: 512,
      daemon: true,
      device: (simulator) =>
        new FaultDevice(new MemoryDevice({ blockCount: 1 << 16 }), { simulator, latencyNs: 50_000, rules: [] }),
    });
    const { cache, simulator, memory } = stack;
    const shadows: Uint8Array[] = [];
    let most = 0;
    for (let at = 0; at < 4; at++) {
      const inode = stack.file(0);
      const shadow = new Uint8Array(512 * PAGE_BYTES);
      shadows.push(shadow);
      simulator.spawn(`writer ${at}`, writer(at, inode, shadow));
    }
    function* writer(at: number, inode: Inode, shadow: Uint8Array): Task<void> {
      const reader = cache.reader(inode);
      for (let step = 0; step < 60; step++) {
        const offset = random.below(500 * PAGE_BYTES);
        const length = Math.min(1 + random.below(100_000), shadow.length - offset);
        if (random.below(3) === 0 && offset < inode.size) {
          const inside = Math.min(length, inode.size - offset);
          const into = new Uint8Array(inside);
          const read = cache.read(inode, reader, offset, inside, into);
          if (typeof read !== 'number') yield* read;
          const same = Buffer.compare(into, shadow.subarray(offset, offset + inside)) === 0;
          expect(same, `round ${round}, writer ${at}, step ${step}`).toBe(true);
        } else {
          // Sparse files of an extent: what lies between is written as zeroes, so that the device has nothing old.
          const from = Math.min(offset, inode.size);
          shadow.set(bytesFrom(step * 4 + at, length), offset);
          const bytes = shadow.slice(from, offset + length);
          const written = cache.write(inode, from, bytes.length, bytes, 0);
          if (typeof written !== 'number') yield* written;
          inode.size = Math.max(inode.size, offset + length);
        }
        most = Math.max(most, memory.unwrittenPages);
        if (random.below(10) === 0) yield* cache.writeBack(inode, WritebackReason.sync);
      }
      yield* cache.writeBack(inode, WritebackReason.sync);
      const mapping = cache.mapping(inode);
      yield* (function* (): Task<void> {
        const settled = cache.settle(inode, 0, 512);
        if (typeof settled !== 'number') yield* settled;
      })();
      mapping.drop(0, 512);
      const into = new Uint8Array(inode.size);
      const read = cache.read(inode, reader, 0, inode.size, into);
      if (typeof read !== 'number') yield* read;
      expect(Buffer.compare(into, shadow.subarray(0, inode.size)), `round ${round}, file ${at}`).toBe(0);
    }
    simulator.run();
    cache.stop();
    simulator.drain();
    expect(memory.unwrittenPages).toBe(0);
    expect(most).toBeGreaterThan(0);
    expect(memory.stats.evicted).toBeGreaterThan(0);
    expect(memory.stats.throttles).toBeGreaterThan(0);
  }
});

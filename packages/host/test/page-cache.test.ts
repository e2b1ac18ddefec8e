import { MemoryDevice } from '@flashstack/block-device';
import { Linux6Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { Delay, RandomSource, Simulator, type Task } from '@flashstack/sim';
import { MemoryAdvice, OpenFlag, type Thread } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { BlockLayer, Host } from '../src/index.js';
import { SlabFs } from './slab-fs.js';
import { callsOf, expectError } from './support.js';

const FILES = 4;
const FILE_BYTES = 1 << 20;

function hostOn(simulator: Simulator, device: MemoryDevice): { host: Host; memory: PageMemory } {
  const layer = new BlockLayer(simulator, device, { queueDepth: 4 });
  const memory = new PageMemory(simulator, { memoryBytes: 2 * 2 ** 20 });
  const limits = { raPages: 32, ioPages: 320 };
  const cache = new LinuxPageCache(memory, layer, { policy: new Linux6Readahead(), limits, contents: 'bytes' });
  const fileSystem = (environment: ConstructorParameters<typeof SlabFs>[0]): SlabFs =>
    new SlabFs(environment, layer, FILES, FILE_BYTES);
  const host = new Host({ simulator, cache, fileSystem });
  host.run(host.mount());
  return { host, memory };
}

function* go(call: number | Task<number>): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

/** Reads and writes one file at random in every way, and compares with an array of bytes. */
function* meddle(thread: Thread, name: string, model: Uint8Array, seed: number, delay: Delay): Task<void> {
  const random = new RandomSource(seed).stream(name);
  const cached = yield* go(thread.open(`/${name}`, OpenFlag.readWrite));
  const direct = yield* go(thread.open(`/${name}`, OpenFlag.readWrite | OpenFlag.direct));
  const buffer = new Uint8Array(1 << 17);
  for (let step = 0; step < 150; step++) {
    const kind = random.below(10);
    const unit = kind < 2 ? 4096 : 1;
    const length = Math.max(unit, Math.floor(random.below(random.below(2) === 0 ? 5000 : 131_072) / unit) * unit);
    const offset = Math.floor(random.below(FILE_BYTES - length) / unit) * unit;
    const fd = kind < 2 ? direct : cached;
    if (kind % 2 === 0) {
      for (let at = 0; at < length; at++) buffer[at] = random.below(4) === 0 ? step : at;
      model.set(buffer.subarray(0, length), offset);
      yield* go(
        kind === 8 ? thread.touch(fd, offset, length, true, buffer) : thread.pwrite(fd, buffer, length, offset),
      );
    } else {
      if (kind === 9) yield* go(thread.touch(fd, offset, length, false));
      expect(yield* go(thread.pread(fd, buffer, length, offset))).toBe(length);
      expect(Buffer.compare(buffer.subarray(0, length), model.subarray(offset, offset + length))).toBe(0);
    }
    if (random.below(10) === 0) yield* go(thread.fadvise(fd, offset, length, random.below(6)));
    if (random.below(10) === 0) yield* go(thread.madvise(fd, offset, length, random.below(5)));
    if (random.below(12) === 0) yield* go(thread.fsync(fd));
    if (random.below(12) === 0) yield* go(thread.syncFileRange(fd, offset, length, random.below(8)));
    if (random.below(5) === 0) yield delay.for(random.below(1e9));
  }
}

test('under a page cache with too little memory, files hold what an array of bytes holds, before and after a remount', () => {
  for (let seed = 1; seed <= 2; seed++) {
    const simulator = new Simulator();
    const device = new MemoryDevice({ blockCount: (FILES * FILE_BYTES) / 4096 });
    const { host, memory } = hostOn(simulator, device);
    const models = Array.from({ length: FILES }, () => new Uint8Array(FILE_BYTES));
    const delay = new Delay(simulator);
    const process = host.process();
    for (let at = 0; at < FILES; at++) {
      simulator.spawn(`meddler ${at}`, meddle(process.thread(), String(at), models[at], seed, delay), {
        group: host.group,
      });
    }
    simulator.run();
    expect(memory.stats.evicted).toBeGreaterThan(100);
    host.run(process.exit());
    host.run(host.unmount());
    const after = hostOn(simulator, device).host;
    const calls = callsOf(after, after.process().thread());
    const bytes = new Uint8Array(FILE_BYTES);
    for (let at = 0; at < FILES; at++) {
      calls.pread(calls.open(`/${at}`, OpenFlag.readOnly), bytes, FILE_BYTES, 0);
      expect(Buffer.compare(bytes, models[at])).toBe(0);
    }
  }
});

test('touching a mapping faults pages in: read-around, one alone under MADV_RANDOM, none beyond the end', () => {
  const { host, memory } = hostOn(new Simulator(), new MemoryDevice({ blockCount: 1024 }));
  const calls = callsOf(host, host.process().thread());
  const fd = calls.open('/0', OpenFlag.readWrite);
  expect(calls.touch(fd, 100 * 4096, 1, false)).toBe(1);
  const around = memory.frames.used;
  expect(around).toBe(32);
  calls.madvise(fd, 0, 0, MemoryAdvice.random);
  calls.touch(fd, 200 * 4096, 1, false);
  expect(memory.frames.used).toBe(around + 1);
  expectError('EINVAL', () => calls.touch(fd, FILE_BYTES, 1, false));
  expectError('EINVAL', () => calls.madvise(fd, 0, 10, 77));
  calls.touch(fd, 201 * 4096, 10, true);
  expect(host.run(host.cache.writeBackAll(1))).toBe(1);
});

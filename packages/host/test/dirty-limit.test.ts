import { FaultDevice, MemoryDevice } from '@flashstack/block-device';
import { Linux6Readahead, LinuxPageCache, PageMemory } from '@flashstack/pagecache-readahead';
import { RandomSource, Simulator } from '@flashstack/sim';
import { OpenFlag, PAGE_BYTES } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { Host } from '../src/index.js';
import { SlabFs } from './slab-fs.js';
import { callsOf } from './support.js';

const FILE_BYTES = 6 * 2 ** 20;

/** A host whose device takes a millisecond a request, and the most pages that were not written at the same time. */
function hostOf(dirtyRatio: number): { host: Host; memory: PageMemory; most: () => number } {
  const simulator = new Simulator();
  const random = new RandomSource(1).stream('faults');
  const inner = new MemoryDevice({ blockCount: FILE_BYTES / PAGE_BYTES });
  const device = new FaultDevice(inner, { simulator, random, latencyNs: 1_000_000, rules: [] });
  const memory = new PageMemory(simulator, { memoryBytes: 2 * 2 ** 20, dirtyBackgroundRatio: 5, dirtyRatio });
  let most = 0;
  for (const name of ['dirtyPages', 'writebackPages'] as const) {
    let value = 0;
    Object.defineProperty(memory, name, {
      get: () => value,
      set: (next: number) => {
        value = next;
        most = Math.max(most, memory.dirtyPages + memory.writebackPages);
      },
    });
  }
  const limits = { raPages: 32, ioPages: 320 };
  const cache = new LinuxPageCache(memory, device, { policy: new Linux6Readahead(), limits, contents: 'bytes' });
  const host = new Host({
    simulator,
    cache,
    fileSystem: (environment) => new SlabFs(environment, device, 1, FILE_BYTES),
  });
  host.run(host.mount());
  return { host, memory, most: () => most };
}

test.each([6, 20, 60])(
  'one long write stays below a limit of %d per cent all the time, and all of it is there',
  (ratio) => {
    const random = new RandomSource(ratio).stream('writes');
    for (const length of [100_000, 1 << 20, 5_000_001, FILE_BYTES - 4097]) {
      const { host, memory, most } = hostOf(ratio);
      const program = host.process();
      const calls = callsOf(host, program.thread());
      const fd = calls.open('/0', OpenFlag.readWrite);
      const offset = random.below(4097);
      const bytes = new Uint8Array(length);
      for (let at = 0; at < length; at++) bytes[at] = at * 7 + (at >>> 9);
      expect(calls.pwrite(fd, bytes, length, offset)).toBe(length);
      expect(most()).toBeLessThanOrEqual(memory.dirtyLimitPages);
      expect(most()).toBeGreaterThan(Math.min(length / PAGE_BYTES, memory.backgroundPages) - 1);
      const found = new Uint8Array(length);
      expect(calls.pread(fd, found, length, offset)).toBe(length);
      expect(Buffer.compare(found, bytes)).toBe(0);
      host.run(program.exit());
      host.run(host.unmount());
    }
  },
);

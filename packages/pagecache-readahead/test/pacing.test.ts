import type { Task } from '@flashstack/sim';
import { PAGE_BYTES } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { SerialDevice, Stack } from './support.js';

const PIECE = 32;
const PAGE_NS = 200_000;

// Pauses are of about 6 ms for each writer here, so that neither their least nor their greatest length decides.
test.each([1, 4, 16])('%i writers settle half-way between where pacing begins and the limit', (writers) => {
  const stack = new Stack({
    daemon: true,
    memory: { memoryBytes: 64 * 2 ** 20 },
    filePages: 1 << 16,
    device: (simulator) => new SerialDevice(simulator, PAGE_NS),
  });
  const { memory, simulator } = stack;
  const { pacedPages, dirtyLimitPages } = memory;
  const pages = 40_000 / writers;
  const levels: number[] = [];
  let stopped = 0;
  function* writer(): Task<void> {
    const inode = stack.file(0);
    while (inode.size < pages * PAGE_BYTES) {
      const written = stack.cache.write(inode, inode.size, PIECE * PAGE_BYTES, null, 1);
      inode.size += typeof written === 'number' ? written : yield* written;
      if (inode.size < (pages * PAGE_BYTES) / 2) continue;
      levels.push(memory.unwrittenPages);
      if (memory.overLimit > 0) stopped++;
    }
  }
  const all = Array.from({ length: writers }, (_, at) => simulator.spawn(`writer ${at}`, writer()));
  for (const process of all) simulator.run(process);
  const mean = levels.reduce((sum, level) => sum + level, 0) / levels.length;
  const room = dirtyLimitPages - pacedPages;
  expect(Math.abs(mean - (pacedPages + dirtyLimitPages) / 2)).toBeLessThan(room / 6);
  // Pauses do it, not the limit.
  expect(stopped).toBeLessThan(levels.length / 20);
  // The device hardly ever had nothing to do.
  expect(simulator.now).toBeLessThan(1.05 * 40_000 * PAGE_NS);
});

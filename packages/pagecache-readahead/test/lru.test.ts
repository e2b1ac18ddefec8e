import { RandomSource } from '@flashstack/sim';
import { PAGE_BYTES } from '@flashstack/vfs';
import { expect, test } from 'vitest';
import { Shadows } from '../src/cache/shadows.js';
import { NoReadahead } from '../src/index.js';
import { Stack } from './support.js';

const LIMIT = 1024;
const memory = { memoryBytes: LIMIT * PAGE_BYTES };

/** A stack without read-ahead, and a reader of pages of one file, which says whether it was a hit. */
function pages(size: number = 1 << 18): { stack: Stack; read(page: number): boolean } {
  const stack = new Stack({ memory, cache: { policy: new NoReadahead() }, filePages: size });
  const inode = stack.file(size * PAGE_BYTES);
  const reader = stack.cache.reader(inode);
  return {
    stack,
    read(page) {
      const { misses } = stack.memory.stats;
      stack.finish(stack.cache.read(inode, reader, page * PAGE_BYTES, PAGE_BYTES, null));
      return stack.memory.stats.misses === misses;
    },
  };
}

test('what has been read once goes in order of age', () => {
  const { stack, read } = pages();
  for (let page = 0; page < LIMIT + 1; page++) read(page);
  const mapping = stack.cache.mapping(stack.file(0));
  expect(stack.memory.frames.used).toBeGreaterThan(LIMIT - 64);
  expect(stack.memory.frames.used).toBeLessThanOrEqual(LIMIT);
  const evicted = stack.memory.stats.evicted;
  expect(evicted).toBe(LIMIT + 1 - stack.memory.frames.used);
  // The oldest have gone, the others are there.
  for (let page = evicted; page < LIMIT; page++) expect(read(page), `${page}`).toBe(true);
  expect(mapping.pages).toBe(0);
});

test('reading a page in parts counts once, two reads make it active', () => {
  const { stack } = pages();
  const inode = stack.file(PAGE_BYTES * 10);
  const reader = stack.cache.reader(inode);
  for (let at = 0; at < PAGE_BYTES; at += 512) stack.finish(stack.cache.read(inode, reader, at, 512, null));
  expect(stack.memory.lru.active).toBe(0);
  stack.finish(stack.cache.read(inode, reader, PAGE_BYTES, 512, null));
  stack.finish(stack.cache.read(inode, reader, 0, 512, null));
  expect(stack.memory.lru.active).toBe(1);
  stack.finish(stack.cache.advise(inode, reader, 0, 0, 5));
  stack.finish(stack.cache.read(inode, reader, PAGE_BYTES, 512, null));
  expect(stack.memory.lru.active).toBe(1);
});

test('a scan does not push out what is used', () => {
  const { stack, read } = pages();
  for (let round = 0; round < 3; round++) for (let page = 0; page < 300; page++) read(page);
  expect(stack.memory.lru.active).toBe(300);
  for (let page = 1000; page < 1000 + 8 * LIMIT; page++) read(page);
  let hits = 0;
  for (let page = 0; page < 300; page++) if (read(page)) hits++;
  expect(hits).toBe(300);
});

test('pages that come back soon become active: a loop larger than what is inactive gets hits', () => {
  const { stack, read } = pages();
  // 524 pages are inactive: a page of the loop has been gone for 276 others when it comes back.
  const loop = 800;
  let hits = 0;
  // As many active pages could make room for it.
  for (let round = 0; round < 2; round++) for (let page = 200_000; page < 200_000 + 500; page++) read(page);
  for (let round = 0; round < 12; round++) {
    hits = 0;
    for (let page = 0; page < loop; page++) if (read(page)) hits++;
  }
  // Least recently used alone would have none.
  expect(stack.memory.stats.refaultsActivated).toBeGreaterThan(100);
  expect(hits).toBeGreaterThan(0);
});

test('dirty pages stay until they are written, and who needs memory has them written', () => {
  const { stack, read } = pages();
  const dirty = stack.file(0);
  const most = stack.memory.pacedPages;
  for (let page = 0; page < most; page++) stack.write(dirty, page * PAGE_BYTES, PAGE_BYTES);
  for (let page = 0; page < 3 * LIMIT; page++) read(page);
  expect(stack.cache.mapping(dirty).dirtyPages).toBe(most);
  expect(stack.memory.frames.used).toBeLessThanOrEqual(LIMIT);
});

test('shadows: those of the last evictions are found with their age, each once', () => {
  const capacity = 3000;
  const shadows = new Shadows(capacity);
  const random = new RandomSource(1).stream('pages');
  const model = new Map<number, { age: number; at: number }>();
  let puts = 0;
  let found = 0;
  // Ages wrap at 32 bits.
  let age = 2 ** 31 - 20_000;
  for (let step = 0; step < 60_000; step++) {
    const owner = random.below(3);
    const page = random.below(4000);
    const key = owner * 10_000 + page;
    const known = model.get(key);
    const distance = shadows.take(owner, page, age | 0);
    if (known !== undefined && puts - known.at <= capacity) expect(distance).toBe(age - known.age);
    else if (known === undefined) expect(distance).toBe(-1);
    if (distance >= 0) found++;
    model.delete(key);
    if (random.below(3) > 0) {
      shadows.put(owner, page, age | 0);
      model.set(key, { age, at: puts++ });
      age += 1 + random.below(3);
    }
  }
  expect(found).toBeGreaterThan(5000);
  expect(shadows.bookkeepingBytes).toBeLessThanOrEqual(18 * capacity);
});

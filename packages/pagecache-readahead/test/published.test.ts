import { RandomSource } from '@flashstack/sim';
import { expect, test } from 'vitest';
import { Linux6Readahead, Linux2637Readahead, NoReadahead, ReadaheadFile, type ReadaheadPolicy } from '../src/index.js';

// Olivier, Boukhobza, Senn: Flash readahead on embedded Linux (EWiLi 2014), as pages that read-ahead costs; the values are
// those of the specification, from an independent model of the rules.
const limits = { raPages: 32, ioPages: 320 };
const MiB = 2 ** 20;
const counts = [8, 16, 32, 64, 128, 256, 512, 1024];

function pagesFetched(policy: ReadaheadPolicy, fileBytes: number, offsets: Iterable<number>, bytes: number): number {
  const file = new ReadaheadFile(policy, { fileBytes, limits });
  const state = file.open();
  for (const offset of offsets) file.read(state, offset, bytes);
  return file.pagesFetched;
}

/** Per cent of pages that are saved without read-ahead. */
function gain(policy: ReadaheadPolicy, fileBytes: number, offsets: readonly number[], bytes: number): number {
  const off = pagesFetched(new NoReadahead(), fileBytes, offsets, bytes);
  return 100 * (1 - off / pagesFetched(policy, fileBytes, offsets, bytes));
}

const inOrder = (count: number, bytes: number): number[] => Array.from({ length: count }, (_, at) => at * bytes);

/** Mean of 20 seeds; offsets are aligned and may repeat. */
function randomGain(policy: ReadaheadPolicy, fileBytes: number, count: number, bytes: number): number {
  let sum = 0;
  for (let seed = 0; seed < 20; seed++) {
    const random = new RandomSource(seed).stream('offsets');
    const offsets = Array.from({ length: count }, () => random.below(fileBytes / bytes) * bytes);
    sum += gain(policy, fileBytes, offsets, bytes) / 20;
  }
  return sum;
}

test('sequential reads of 4 KiB, 5 MiB file: what is lost falls with the count', () => {
  for (const policy of [new Linux2637Readahead(), new Linux6Readahead()]) {
    expect(counts.map((count) => Math.round(10 * gain(policy, 5 * MiB, inOrder(count, 4096), 4096)) / 10)).toEqual([
      71.4, 73.3, 65.2, 48.4, 31.9, 19, 10.5, 5.5,
    ]);
    expect(gain(policy, 5 * MiB, inOrder(1280, 4096), 4096)).toBe(0);
  }
});

test('random reads of 4 KiB, 5 MiB file: read-ahead of 2.6.37 costs half, that of Linux 6 little', () => {
  const published = [0, 9, 13, 22, 34, 52, 55, 43];
  const current = [0, 0, 0, 2, 4, 4, 7, 16];
  counts.forEach((count, at) => {
    const legacy = randomGain(new Linux2637Readahead(), 5 * MiB, count, 4096);
    expect(Math.abs(legacy - published[at]), `${count}: ${legacy}`).toBeLessThan(6);
    const now = randomGain(new Linux6Readahead(), 5 * MiB, count, 4096);
    expect(Math.abs(now - current[at]), `${count}: ${now}`).toBeLessThan(4);
  });
});

test('sequential reads, 32 MiB file: what is lost falls with bytes read', () => {
  const of = (count: number, bytes: number): number =>
    Math.round(10 * gain(new Linux2637Readahead(), 32 * MiB, inOrder(count, bytes), bytes)) / 10;
  expect([of(8, 4096), of(64, 4096), of(1024, 4096)]).toEqual([71.4, 48.4, 5.5]);
  expect([of(8, 32768), of(64, 32768), of(1024, 32768)]).toEqual([42.9, 8.6, 0]);
});

test('random reads, 32 MiB file: 1,024 requests of 2 to 32 KiB', () => {
  [42, 42, 51, 47, 30].forEach((expected, at) => {
    const bytes = 2048 * 2 ** at;
    const found = randomGain(new Linux2637Readahead(), 32 * MiB, 1024, bytes);
    expect(Math.abs(found - expected), `${bytes}: ${found}`).toBeLessThan(3);
  });
});

test('the first quarter, half and all of a file', () => {
  const pages = (kib: number, share: number): number[] =>
    [new NoReadahead(), new Linux2637Readahead()].map((policy) =>
      pagesFetched(policy, kib * 1024, inOrder((kib * share) / 4, 4096), 4096),
    );
  const table = [0.25, 0.5, 1].map((share) => [16, 64, 128, 512].map((kib) => pages(kib, share)));
  expect(table).toEqual([
    [
      [1, 4],
      [4, 12],
      [8, 28],
      [32, 92],
    ],
    [
      [2, 4],
      [8, 16],
      [16, 32],
      [64, 124],
    ],
    [
      [4, 4],
      [16, 16],
      [32, 32],
      [128, 128],
    ],
  ]);
});

// The change of 3.13: random requests of 64 KiB, 10,000 of them in 2 GiB.
test('current rules read three quarters of what those of 2.6.37 read', () => {
  const random = new RandomSource(1).stream('offsets');
  const offsets = Array.from({ length: 10_000 }, () => random.below((2048 * MiB) / 65_536) * 65_536);
  const now = pagesFetched(new Linux6Readahead(), 2048 * MiB, offsets, 65_536);
  const before = pagesFetched(new Linux2637Readahead(), 2048 * MiB, offsets, 65_536);
  expect(now / before).toBeGreaterThan(0.76);
  expect(now / before).toBeLessThan(0.8);
});

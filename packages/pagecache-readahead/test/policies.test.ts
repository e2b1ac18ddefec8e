import { InputError, lookupStrategy } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ReadaheadFile, type ReadaheadPolicy, readaheadKinds } from '../src/index.js';
import type { Run } from './patterns.js';

/** Requests that each read of a file has led to. */
function requestsOf(policy: string, filePages: number, reads: readonly Run[], ioPages = 320, raPages = 32): Run[][] {
  let fetched: Run[] = [];
  const file = new ReadaheadFile(lookupStrategy(readaheadKinds, policy).create({}), {
    fileBytes: filePages * 4096,
    limits: { raPages, ioPages },
    onFetch: (first, count) => fetched.push([first, count]),
  });
  const state = file.open();
  return reads.map(([offset, length]) => {
    fetched = [];
    file.read(state, offset, length);
    return fetched;
  });
}

const strided = (count: number, bytes: number, stride: number): Run[] =>
  Array.from({ length: count }, (_, at) => [at * stride, bytes]);

describe('worked windows', () => {
  test('128 KiB in sequence', () => {
    const reads = strided(2, 131_072, 131_072);
    expect(requestsOf('linux-2.6.37', 1280, reads)).toEqual([[[0, 64]], [[64, 32]]]);
    expect(requestsOf('linux-6', 1280, reads)).toEqual([
      [
        [0, 32],
        [32, 32],
      ],
      [[64, 32]],
    ]);
  });

  test('256 KiB in sequence, with a large and a small request size of the device', () => {
    const reads = strided(2, 262_144, 262_144);
    expect(requestsOf('linux-2.6.37', 1280, reads)).toEqual([
      [
        [0, 64],
        [64, 32],
      ],
      [
        [96, 32],
        [128, 32],
      ],
    ]);
    expect(requestsOf('linux-6', 1280, reads)).toEqual([
      [
        [0, 64],
        [64, 64],
      ],
      [[128, 64]],
    ]);
    const small = requestsOf('linux-6', 1280, reads, 32);
    expect(small.map((runs) => runs.reduce((sum, [, count]) => sum + count, 0))).toEqual([96, 64]);
  });

  test('every other page', () => {
    const reads = strided(8, 4096, 8192);
    expect(requestsOf('linux-2.6.37', 1280, reads).flat()).toEqual([
      [0, 4],
      [4, 24],
      [28, 32],
    ]);
    expect(requestsOf('linux-6', 1280, reads).flat()).toEqual([
      [0, 4],
      [4, 4],
      [8, 4],
      [12, 4],
    ]);
  });

  test('a miss behind one or two cached pages', () => {
    const behind = (policy: string, cached: number): Run[] => {
      const warm: Run[] = Array.from({ length: cached }, (_, at) => [(499 - at) * 4096, 4096]);
      return requestsOf(policy, 1280, [...warm, [900 * 4096, 4096], [500 * 4096, 4096]]).at(-1) as Run[];
    };
    expect(behind('linux-2.6.37', 1)).toEqual([[500, 12]]);
    expect(behind('linux-2.6.37', 2)).toEqual([[500, 24]]);
    expect(behind('linux-6', 1)).toEqual([[500, 1]]);
    expect(behind('linux-6', 2)).toEqual([[500, 3]]);
  });

  test('a window of nothing reads exactly what is asked for', () => {
    for (const policy of ['linux-2.6.37', 'linux-6', 'none']) {
      expect(requestsOf(policy, 1280, [[4096, 8192]], 0, 0)).toEqual([
        [
          [1, 1],
          [2, 1],
        ],
      ]);
    }
  });
});

test('a policy that is not known is refused with the name that was meant', () => {
  const wrong = (): unknown => lookupStrategy(readaheadKinds, 'linux6', 'read-ahead policy');
  expect(wrong).toThrow(InputError);
  expect(wrong).toThrow('Unknown read-ahead policy "linux6". Did you mean "linux-6"?');
});

test('ranges and sizes that make no sense are refused', () => {
  const policy = lookupStrategy(readaheadKinds, 'linux-6').create({});
  const limits = { raPages: 32, ioPages: 320 };
  expect(() => new ReadaheadFile(policy, { fileBytes: -1, limits })).toThrow(RangeError);
  const file = new ReadaheadFile(policy, { fileBytes: 8192, limits });
  expect(() => file.read(file.open(), -1, 4)).toThrow(RangeError);
  expect(() => file.willNeed(file.open(), 0, 0.5)).toThrow(RangeError);
  expect(() => file.dontNeed(0, Number.NaN)).toThrow(RangeError);
});

/** A set of cached pages that checks every fetch. */
class CheckedFile extends ReadaheadFile {
  override fetch(first: number, count: number, marker: number): void {
    expect(first).toBeGreaterThanOrEqual(0);
    expect(count).toBeGreaterThan(0);
    expect(first + count).toBeLessThanOrEqual(this.pageCount);
    if (marker >= 0) expect(marker).toBeGreaterThanOrEqual(first);
    super.fetch(first, count, marker);
  }

  override fetchFolio(first: number, order: number, marked: boolean): boolean {
    expect(first % 2 ** order).toBe(0);
    expect(first + 2 ** order).toBeLessThanOrEqual(this.pageCount);
    return super.fetchFolio(first, order, marked);
  }
}

const step = fc.record({
  what: fc.constantFrom(
    'read',
    'read',
    'next',
    'next',
    'touch',
    'willNeed',
    'dontNeed',
    'random',
    'normal',
    'sequential',
  ),
  offset: fc.nat(400 * 4096),
  length: fc.oneof(fc.integer({ min: 1, max: 8192 }), fc.integer({ min: 1, max: 400_000 })),
  stream: fc.nat(1),
});
const set = fc.record({
  policy: fc.constantFrom(...readaheadKinds.map((kind) => kind.name)),
  fileBytes: fc.nat(300 * 4096),
  raPages: fc.constantFrom(0, 1, 2, 3, 4, 16, 25, 32, 128),
  ioPages: fc.constantFrom(0, 1, 8, 32, 320),
  largeFolios: fc.boolean(),
  steps: fc.array(step, { maxLength: 60 }),
});

test('what is read is cached, no page is fetched twice, and nothing behind the end of the file', () => {
  fc.assert(
    fc.property(set, ({ policy, fileBytes, raPages, ioPages, largeFolios, steps }) => {
      const cached = new Set<number>();
      const made: ReadaheadPolicy = lookupStrategy(readaheadKinds, policy).create({});
      const file = new CheckedFile(made, {
        fileBytes,
        limits: { raPages, ioPages },
        largeFolios,
        onFetch: (first, count) => {
          for (let page = first; page < first + count; page++) {
            expect(cached.has(page)).toBe(false);
            cached.add(page);
          }
        },
      });
      const streams = [file.open(), file.open()];
      const ends = [0, 0];
      for (const { what, offset, length, stream } of steps) {
        const state = streams[stream];
        const from = what === 'next' ? ends[stream] : offset;
        const page = Math.floor(offset / 4096);
        if (what === 'read' || what === 'next') {
          file.read(state, from, length);
          ends[stream] = from + length;
          const end = Math.min(from + length, fileBytes);
          for (let at = Math.floor(from / 4096); from < end && at * 4096 < end; at++)
            expect(file.isPresent(at)).toBe(true);
        } else if (what === 'touch' && page < file.pageCount) {
          file.touch(state, page, stream);
          expect(file.isPresent(page)).toBe(true);
        } else if (what === 'willNeed') file.willNeed(state, offset, length);
        else if (what === 'dontNeed') {
          file.dontNeed(offset, length);
          for (const at of cached) if (!file.isPresent(at)) cached.delete(at);
        } else if (what === 'random') state.adviseRandom();
        else if (what === 'normal') state.adviseNormal();
        else if (what === 'sequential') state.adviseSequential();
      }
      expect([...cached].every((at) => file.isPresent(at))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

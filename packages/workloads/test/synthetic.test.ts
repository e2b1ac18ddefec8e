import { BlockOp } from '@flashstack/block-device';
import { RandomSource, resolveParameters } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Operation,
  parseSizes,
  ReplayError,
  type SyntheticOptions,
  SyntheticSource,
  syntheticKinds,
} from '../src/index.js';

interface Op {
  op: number;
  offset: number;
  length: number;
  time: number;
}

function pass(source: SyntheticSource): Op[] {
  const operation = new Operation();
  const found: Op[] = [];
  while (source.next(operation)) {
    const { op, offsetBytes, lengthBytes, timeNs } = operation;
    found.push({ op, offset: offsetBytes, length: lengthBytes, time: timeNs });
  }
  return found;
}

const make = (options: SyntheticOptions, seed = 1): SyntheticSource =>
  new SyntheticSource(options, new RandomSource(seed));
const MiB = 1024 * 1024;

test('sequential: ascending, and from the start again', () => {
  const ops = pass(make({ pattern: 'sequential', rangeBytes: 16384, offsetBytes: 4096, requests: 6 }));
  expect(ops.map((op) => op.offset)).toEqual([4096, 8192, 12288, 16384, 4096, 8192]);
  expect(ops.every((op) => op.op === BlockOp.write && op.length === 4096 && op.time === 0)).toBe(true);
});

test('unaligned starts and a last request that still fits', () => {
  const source = make({ pattern: 'sequential', rangeBytes: 10_000, requestBytes: 4096, alignBytes: 512, requests: 12 });
  const offsets = pass(source).map((op) => op.offset);
  expect(offsets).toEqual([0, 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 4608, 5120, 5632]);
  expect(source.endByte).toBe(5632 + 4096);
});

test('bytes are rounded up to whole requests', () => {
  expect(make({ pattern: 'random', rangeBytes: MiB, bytes: 10_000 }).count).toBe(3);
});

test('any options: requests lie in the range, restart repeats them, seeds differ, counts and end are right', () => {
  const options = fc.record({
    pattern: fc.constantFrom('sequential', 'random', 'zipf', 'pareto', 'hot-cold'),
    rangeBytes: fc.integer({ min: 100_000, max: 10_000_000 }),
    offsetBytes: fc.integer({ min: 0, max: 1e12 }),
    requestBytes: fc.integer({ min: 1, max: 5000 }),
    alignBytes: fc.integer({ min: 1, max: 5000 }),
    requests: fc.integer({ min: 1, max: 200 }),
    readShare: fc.constantFrom(0, 0.3, 1),
    flushEvery: fc.constantFrom(0, 0, 3),
    gapNs: fc.constantFrom(0, 1000),
    gaps: fc.constantFrom('constant', 'exponential'),
    burst: fc.constantFrom(0, 10),
    pauseNs: fc.constantFrom(0, 5000),
    onNs: fc.constantFrom(3000, 1),
    offNs: fc.constantFrom(0, 70_000),
  }) as fc.Arbitrary<SyntheticOptions>;
  fc.assert(
    fc.property(options, fc.nat(1000), (given, seed) => {
      const source = make(given, seed);
      const first = pass(source);
      source.restart();
      expect(pass(source)).toEqual(first);
      expect(pass(make(given, seed))).toEqual(first);
      const moving = first.filter((op) => op.op !== BlockOp.flush);
      expect(moving.length).toBe(given.requests);
      if (source.count >= 0) expect(first.length).toBe(source.count);
      const from = given.offsetBytes ?? 0;
      for (const op of moving) {
        expect(op.offset).toBeGreaterThanOrEqual(from);
        expect((op.offset - from) % (given.alignBytes ?? 1)).toBe(0);
        expect(op.offset + op.length).toBeLessThanOrEqual(Math.min(from + given.rangeBytes, source.endByte));
      }
      for (let i = 1; i < first.length; i++) expect(first[i].time).toBeGreaterThanOrEqual(first[i - 1].time);
      const writes = moving.filter((op) => op.op === BlockOp.write).length;
      const every = given.flushEvery ?? 0;
      expect(first.length - moving.length).toBe(every === 0 ? 0 : Math.floor(writes / every));
    }),
    { numRuns: process.env.CI === undefined ? 200 : 3000, seed: 2 },
  );
});

describe('mixes of sizes', () => {
  const sizes = [
    { bytes: 4096, share: 0.6 },
    { bytes: 16384, share: 0.3 },
    { bytes: 65536, share: 0.1 },
  ];

  test('shares are those asked for, starts are aligned to the least size, all fit', () => {
    const n = 100_000;
    for (const pattern of ['random', 'sequential', 'zipf'] as const) {
      const source = make({ pattern, sizes, rangeBytes: 16 * MiB, requests: n });
      const ops = pass(source);
      expect([ops.length, source.count]).toEqual([n, n]);
      for (const { bytes, share } of sizes) {
        const found = ops.filter((op) => op.length === bytes).length / n;
        expect(Math.abs(found - share), `${pattern} ${bytes}`).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / n));
      }
      expect(ops.every((op) => op.offset % 4096 === 0 && op.offset + op.length <= source.endByte)).toBe(true);
      expect(source.endByte).toBeLessThanOrEqual(16 * MiB);
    }
  });

  test('sequential requests follow each other, from the start again where one does not fit', () => {
    const ops = pass(make({ pattern: 'sequential', sizes, rangeBytes: 256 * 1024, requests: 500 }));
    for (let i = 1; i < ops.length; i++) {
      const end = ops[i - 1].offset + ops[i - 1].length;
      const fits = end + ops[i].length <= 256 * 1024;
      expect(ops[i].offset).toBe(fits ? end : 0);
    }
  });

  test('a limit in bytes ends with the request that reaches it', () => {
    const source = make({ pattern: 'random', sizes, rangeBytes: MiB, bytes: 1_000_000 });
    const ops = pass(source);
    const sum = ops.reduce((total, op) => total + op.length, 0);
    expect(source.count).toBe(-1);
    expect(sum).toBeGreaterThanOrEqual(1_000_000);
    expect(sum - (ops.at(-1)?.length ?? 0)).toBeLessThan(1_000_000);
    source.restart();
    expect(pass(source)).toEqual(ops);
  });

  test('written as fio writes them', () => {
    expect(parseSizes('4k/60:16k/30:64k/10')).toEqual(sizes);
    expect(parseSizes('512:1M/50:4K')).toEqual([
      { bytes: 512, share: 0.25 },
      { bytes: 1048576, share: 0.5 },
      { bytes: 4096, share: 0.25 },
    ]);
    const kind = syntheticKinds.find((candidate) => candidate.name === 'random');
    if (kind === undefined) throw new Error('no such kind');
    const values = resolveParameters(kind, { sizes: '4k/50:8k/50', requests: 1000 });
    const source = kind.create(values)(MiB, new RandomSource(1)) as SyntheticSource;
    expect(new Set(pass(source).map((op) => op.length))).toEqual(new Set([4096, 8192]));
  });

  test.each([
    ['', 'sizes must look like'],
    ['4k/60;8k/40', 'sizes must look like 4k/60:16k/30:64k/10, found "4k/60;8k/40"'],
    ['4k/60:8k/30', 'sizes must have shares that add up to 1, found 0.8'],
    ['0/100', 'sizes must be whole numbers of bytes of at least 1, found 0'],
    ['4k/160:8k', 'sizes must have shares from 0 to 1, found 1.6'],
  ])('"%s" is refused', (text, message) => {
    const attempt = (): unknown => make({ pattern: 'random', sizes: parseSizes(text), rangeBytes: MiB, requests: 1 });
    expect(attempt).toThrow(ReplayError);
    expect(attempt).toThrow(message);
  });
});

describe('hints', () => {
  const hinted = (options: SyntheticOptions): { op: number; offset: number; stream: number }[] => {
    const [source, operation] = [make(options), new Operation()];
    const found: { op: number; offset: number; stream: number }[] = [];
    while (source.next(operation)) {
      found.push({ op: operation.op, offset: operation.offsetBytes, stream: operation.stream });
    }
    return found;
  };
  const range = { rangeBytes: 1000 * 4096, requests: 40_000 };

  test('hot-cold: 1 to the hot part, 2 to the cold one, wherever they lie', () => {
    const plain = hinted({ pattern: 'hot-cold', hotFraction: 0.1, ...range, scatter: false, streams: 2 });
    for (const { offset, stream } of plain) expect(stream).toBe(offset < 100 * 4096 ? 1 : 2);
    const scattered = hinted({ pattern: 'hot-cold', hotFraction: 0.1, ...range, streams: 2 });
    const hot = new Set(scattered.filter(({ stream }) => stream === 1).map(({ offset }) => offset));
    expect(hot.size).toBe(100);
    expect(scattered.some(({ offset, stream }) => stream === 2 && hot.has(offset))).toBe(false);
  });

  test.each(['zipf', 'pareto'] as const)('%s: every hint for its share of the writes, the hottest first', (pattern) => {
    const found = hinted({ pattern, theta: 0.8, h: 0.4, ...range, scatter: false, streams: 4 });
    const last = [0, 0, 0, 0, 0];
    const count = [0, 0, 0, 0, 0];
    for (const { offset, stream } of found) {
      last[stream] = Math.max(last[stream], offset);
      count[stream]++;
    }
    expect(count[0]).toBe(0);
    for (let k = 1; k <= 4; k++) expect(Math.abs(count[k] / found.length - 0.25)).toBeLessThan(0.02);
    for (const { offset, stream } of found) if (stream > 1) expect(offset).toBeGreaterThan(last[stream - 1]);
  });

  test('not on reads and flushes; the addresses are those without hints', () => {
    const options: SyntheticOptions = { pattern: 'hot-cold', ...range, requests: 2000, readShare: 0.4, flushEvery: 7 };
    const found = hinted({ ...options, streams: 2 });
    for (const { op, stream } of found) expect(stream > 0).toBe(op === BlockOp.write);
    expect(found.map((operation) => ({ ...operation, stream: 0 }))).toEqual(hinted(options));
  });

  test.each<[Partial<SyntheticOptions>, string]>([
    [{ pattern: 'random', streams: 2 }, 'streams must be 0 for random: no address is written more often'],
    [{ pattern: 'sequential', streams: 1 }, 'streams must be 0 for sequential'],
    [{ pattern: 'hot-cold', streams: 1 }, 'streams must be 0 or 2 for hot-cold'],
    [{ pattern: 'zipf', streams: 65 }, 'streams must be at most 64, found 65'],
    [{ pattern: 'zipf', streams: 0.5 }, 'streams must be a whole number'],
  ])('%j is refused', (options, message) => {
    expect(() => make({ pattern: 'random', ...range, ...options })).toThrow(message);
  });
});

test('flows: requests belong to them in turn, in every pass', () => {
  const source = make({ pattern: 'random', rangeBytes: MiB, requests: 7, readShare: 0.5, flushEvery: 2, flows: 3 });
  const operation = new Operation();
  const turn = (): number[] => {
    const flows: number[] = [];
    while (source.next(operation)) if (operation.op !== BlockOp.flush) flows.push(operation.flow);
    return flows;
  };
  expect(turn()).toEqual([0, 1, 2, 0, 1, 2, 0]);
  source.restart();
  expect(turn()).toEqual([0, 1, 2, 0, 1, 2, 0]);
  const plain = { pattern: 'zipf', rangeBytes: MiB, requests: 50 } as const;
  expect(pass(make({ ...plain, flows: 4 }))).toEqual(pass(make(plain)));
  expect(() => make({ ...plain, flows: 0 })).toThrow('flows must be a whole number of at least 1');
  expect(() => make({ ...plain, flows: 65_537 })).toThrow('flows must be at most 65536');
});

test('on/off arrivals: none while it is off, the same ones while it is on', () => {
  const options = { pattern: 'random', rangeBytes: MiB, requests: 5000, gapNs: 700, gaps: 'exponential' } as const;
  const steady = pass(make(options));
  const bursty = pass(make({ ...options, onNs: 10_000, offNs: 90_000 }));
  for (let i = 0; i < steady.length; i++) {
    expect(bursty[i].time % 100_000).toBeLessThan(10_000);
    expect(Math.floor(bursty[i].time / 100_000) * 10_000 + (bursty[i].time % 100_000)).toBe(steady[i].time);
  }
  expect(() => make({ ...options, offNs: 5 })).toThrow('onNs must be greater than 0 if offNs is, found 0');
});

describe('distributions (fixed seeds, four standard deviations)', () => {
  const requests = 200_000;
  const within = (found: number, share: number): void => {
    const deviation = Math.sqrt((share * (1 - share)) / requests);
    expect(Math.abs(found / requests - share)).toBeLessThan(4 * deviation);
  };

  test('mixed: the share of reads', () => {
    const ops = pass(make({ pattern: 'random', rangeBytes: 64 * MiB, requests, readShare: 0.7 }));
    within(ops.filter((op) => op.op === BlockOp.read).length, 0.7);
  });

  test('random: every eighth of the range gets an eighth', () => {
    const ops = pass(make({ pattern: 'random', rangeBytes: 64 * MiB, requests }));
    const counts = new Array<number>(8).fill(0);
    for (const op of ops) counts[Math.floor(op.offset / (8 * MiB))]++;
    for (const found of counts) within(found, 1 / 8);
  });

  test('zipf: the first ranks have their probabilities, scattered or not', () => {
    const n = 1000;
    let sum = 0;
    for (let k = 1; k <= n; k++) sum += k ** -0.9;
    for (const scatter of [true, false]) {
      const ops = pass(make({ pattern: 'zipf', theta: 0.9, scatter, rangeBytes: n * 4096, requests }));
      const counts = new Map<number, number>();
      for (const op of ops) counts.set(op.offset, (counts.get(op.offset) ?? 0) + 1);
      const byRank = [...counts.entries()].sort((a, b) => b[1] - a[1]);
      for (let rank = 0; rank < 5; rank++) within(byRank[rank][1], (rank + 1) ** -0.9 / sum);
      const inOrder = [0, 1, 2, 3, 4].every((rank) => byRank[rank][0] === rank * 4096);
      expect(inOrder).toBe(!scatter);
    }
  });

  test('hot-cold: the hot part gets its share', () => {
    const options = { pattern: 'hot-cold', hotFraction: 0.1, hotShare: 0.9, scatter: false } as const;
    const ops = pass(make({ ...options, rangeBytes: 1000 * 4096, requests }));
    within(ops.filter((op) => op.offset < 100 * 4096).length, 0.9);
  });

  test('pareto: 1 − h of the requests go to the fraction h', () => {
    const ops = pass(make({ pattern: 'pareto', h: 0.3, scatter: false, rangeBytes: 10_000 * 4096, requests }));
    within(ops.filter((op) => op.offset < 3000 * 4096).length, 0.7);
  });

  test('Poisson arrivals: mean and deviation of the gaps equal the mean gap', () => {
    const ops = pass(make({ pattern: 'random', rangeBytes: MiB, requests, gapNs: 10_000, gaps: 'exponential' }));
    const gaps = ops.slice(1).map((op, i) => op.time - ops[i].time);
    const mean = gaps.reduce((a, b) => a + b, 0) / gaps.length;
    const deviation = Math.sqrt(gaps.reduce((a, b) => a + (b - mean) ** 2, 0) / gaps.length);
    expect(Math.abs(mean / 10_000 - 1)).toBeLessThan(4 / Math.sqrt(requests));
    expect(Math.abs(deviation / 10_000 - 1)).toBeLessThan(0.02);
  });
});

test('bursts: a pause after every so many requests', () => {
  const options = { pattern: 'sequential', rangeBytes: MiB, requests: 7, gapNs: 10, burst: 3, pauseNs: 1000 } as const;
  expect(pass(make(options)).map((op) => op.time)).toEqual([0, 10, 20, 1030, 1040, 1050, 2060]);
});

test.each([
  [{ rangeBytes: 100 }, 'rangeBytes must be at least requestBytes (4096), found 100'],
  [{ requests: 0 }, 'requests must be a whole number of at least 1, found 0'],
  [{ bytes: 5 }, 'give either requests or bytes'],
  [{ readShare: 1.5 }, 'readShare must be a number from 0 to 1, found 1.5'],
  [{ pattern: 'zipf', theta: -1 }, 'theta must be a number from 0 to 1000, found -1'],
  [{ pattern: 'up' }, 'pattern must be sequential, random, zipf, pareto or hot-cold, found "up"'],
  [{ offsetBytes: Number.NaN }, 'offsetBytes must be a whole number of at least 0, found NaN'],
])('refuses %j', (change, message) => {
  const options = { pattern: 'random', rangeBytes: MiB, requests: 1, ...change } as SyntheticOptions;
  expect(() => make(options)).toThrow(ReplayError);
  expect(() => make(options)).toThrow(message);
});

test('every kind in the table that draws addresses makes its workload with defaults and takes its parameters', () => {
  // The kind `segments` needs those of a device.
  for (const kind of syntheticKinds.filter(({ name }) => name !== 'segments')) {
    const defaults = kind.create(resolveParameters(kind, { requests: 10 }))(
      MiB,
      new RandomSource(1),
    ) as SyntheticSource;
    const same = make({ pattern: kind.name as SyntheticOptions['pattern'], rangeBytes: MiB, requests: 10 });
    expect(pass(defaults)).toEqual(pass(same));
    const given = resolveParameters(kind, { requests: 5, offsetBytes: 8192, alignBytes: 512, readShare: 1 });
    const ops = pass(kind.create(given)(MiB, new RandomSource(1)) as SyntheticSource);
    expect(ops.every((op) => op.op === BlockOp.read && op.offset >= 8192 && op.offset + op.length <= MiB)).toBe(true);
  }
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mix32, RandomSource, RandomStream } from '../src/index.js';
import { checkFit } from './chi-square.js';

const full = process.env.CI !== undefined;
const draws = full ? 1_000_000 : 100_000;

/** xoshiro128** as its authors state it, on big integers. */
function* reference(state: readonly bigint[]): Generator<bigint> {
  const word = (x: bigint): bigint => BigInt.asUintN(32, x);
  const rotate = (x: bigint, k: bigint): bigint => word((x << k) | (x >> (32n - k)));
  const s = [...state];
  for (;;) {
    yield word(rotate(word(s[1] * 5n), 7n) * 9n);
    const t = word(s[1] << 9n);
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 11n);
  }
}

const word = fc.integer({ min: 1, max: 0xffff_ffff });

describe('random stream', () => {
  it('is xoshiro128**', () => {
    const stream = new RandomStream([1, 2, 3, 4]);
    expect([1, 2, 3, 4].map(() => stream.nextU32())).toEqual([11520, 0, 5927040, 70819200]);
    fc.assert(
      fc.property(word, word, word, word, (a, b, c, d) => {
        const random = new RandomStream([a, b, c, d]);
        const expected = reference([a, b, c, d].map(BigInt));
        for (let i = 0; i < 50; i++) expect(BigInt(random.nextU32())).toBe(expected.next().value);
      }),
      { numRuns: full ? 500 : 50 },
    );
  });

  it('nextFloat is 53 bits of two words, in [0, 1)', () => {
    const random = new RandomSource(1).stream('float');
    const same = new RandomSource(1).stream('float');
    for (let i = 0; i < 1000; i++) {
      const expected = (BigInt(same.nextU32() >>> 5) << 26n) | BigInt(same.nextU32() >>> 6);
      expect(random.nextFloat() * 2 ** 53).toBe(Number(expected));
    }
    const counts = new Array<number>(100).fill(0);
    for (let i = 0; i < draws; i++) counts[Math.floor(random.nextFloat() * 100)]++;
    checkFit(counts, new Array<number>(100).fill(0.01), 'nextFloat');
  });

  it('below(n) rejects exactly as Lemire proves it unbiased', () => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.oneof(fc.integer({ min: 1, max: 0xffff_ffff }), fc.integer({ min: 1, max: 300 })),
        (seed, n) => {
          const random = new RandomSource(seed).stream('a');
          const same = new RandomSource(seed).stream('a');
          for (let i = 0; i < 20; i++) {
            let product = BigInt(same.nextU32()) * BigInt(n);
            while (BigInt.asUintN(32, product) < 0x1_0000_0000n % BigInt(n))
              product = BigInt(same.nextU32()) * BigInt(n);
            expect(BigInt(random.below(n))).toBe(product >> 32n);
          }
        },
      ),
      { numRuns: full ? 5000 : 500 },
    );
  });

  it.each([2, 3, 7, 10, 3 * 2 ** 30, 2 ** 32 - 1, 2 ** 32, 3 * 2 ** 40 + 5, 2 ** 53 - 1])(
    'below(%d) is uniform and in range',
    (n) => {
      const random = new RandomSource(7).stream('below');
      const cells = Math.min(n, 12);
      const counts = new Array<number>(cells).fill(0);
      for (let i = 0; i < draws; i++) {
        const value = random.below(n);
        if (!Number.isSafeInteger(value) || value < 0 || value >= n) throw new Error(`below(${n}) gave ${value}`);
        counts[Math.floor((value / n) * cells)]++;
      }
      checkFit(counts, new Array<number>(cells).fill(1 / cells), `below(${n})`);
    },
  );

  it('below refuses what is no count', () => {
    const random = new RandomSource(7).stream('x');
    for (const n of [0, -1, 1.5, Number.NaN, 2 ** 53, Number.POSITIVE_INFINITY]) {
      expect(() => random.below(n)).toThrow(RangeError);
    }
    expect(random.below(1)).toBe(0);
  });

  it('can be saved and restored', () => {
    const random = new RandomSource(3).stream('s');
    for (let i = 0; i < 10; i++) random.nextU32();
    const state = JSON.parse(JSON.stringify(random.save()));
    const next = Array.from({ length: 20 }, () => random.nextU32());
    random.restore(state);
    expect(Array.from({ length: 20 }, () => random.nextU32())).toEqual(next);
    expect(() => random.restore([0, 0, 0, 0])).toThrow(RangeError);
  });
});

describe('named streams', () => {
  it('are pinned: the same seed and name give these numbers on every machine', () => {
    const first = (seed: number, name: string): number[] => {
      const stream = new RandomSource(seed).stream(name);
      return [stream.nextU32(), stream.nextU32(), stream.below(1000)];
    };
    expect([first(0, ''), first(42, 'workload'), first(2 ** 53 - 1, 'ftl.gc')]).toMatchInlineSnapshot(`
      [
        [
          2204745117,
          3782839711,
          172,
        ],
        [
          2381531203,
          4121900019,
          553,
        ],
        [
          2748430858,
          1644643220,
          856,
        ],
      ]
    `);
  });

  it('do not depend on which others were made, and differ by name and by seed', () => {
    const source = new RandomSource(5);
    const a = source.stream('a');
    a.nextU32();
    expect(source.stream('b').save()).toEqual(new RandomSource(5).stream('b').save());
    const states = new Set<string>();
    for (let seed = 0; seed < 100; seed++) {
      for (const name of ['', 'a', 'b', 'ab', 'ba', 'aa', 'stream 1', 'stream 2']) {
        states.add(new RandomSource(seed).stream(name).save().join());
      }
    }
    expect(states.size).toBe(800);
  });

  it('of neighbouring seeds and names are not correlated', () => {
    let differing = 0;
    let compared = 0;
    for (let seed = 0; seed < 200; seed++) {
      const streams = [
        new RandomSource(seed).stream('die 0'),
        new RandomSource(seed).stream('die 1'),
        new RandomSource(seed + 1).stream('die 0'),
      ];
      for (let i = 0; i < 50; i++) {
        const [x, y, z] = streams.map((stream) => stream.nextU32());
        for (const pair of [x ^ y, x ^ z]) {
          for (let bits = pair >>> 0; bits > 0; bits = Math.floor(bits / 2)) differing += bits % 2;
          compared += 32;
        }
      }
    }
    // Half of the bits differ; standard deviation of the share is 0.5 / sqrt(640,000).
    expect(Math.abs(differing / compared - 0.5)).toBeLessThan(4 * (0.5 / Math.sqrt(compared)));
  });

  it('refuse seeds that are no integers ≥ 0', () => {
    for (const seed of [-1, 0.5, 2 ** 53, Number.NaN]) expect(() => new RandomSource(seed)).toThrow(/seed must be/);
  });

  it('mix32 is a bijection on samples and avalanches', () => {
    const images = new Set(Array.from({ length: 50_000 }, (_, at) => mix32(at * 7919)));
    expect(images.size).toBe(50_000);
    expect(mix32(1)).toBe(0x514e_28b7); // published value of the finaliser
  });
});

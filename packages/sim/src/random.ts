const TWO_32 = 0x1_0000_0000;

/** State of a stream, for saving and restoring: four 32-bit words. */
export type RandomState = readonly [number, number, number, number];

/**
 * A stream of pseudo-random numbers: xoshiro128** 1.1 (Blackman and Vigna, "Scrambled linear pseudorandom number
 * generators", ACM TOMS 2021), period 2^128 − 1. Made by `RandomSource.stream`.
 */
export class RandomStream {
  private readonly s: Int32Array;

  /** @throws RangeError if all words are zero. */
  constructor(state: RandomState) {
    this.s = new Int32Array(4);
    this.restore(state);
  }

  /** A uniform integer, 0 … 2^32 − 1. */
  nextU32(): number {
    const s = this.s;
    const s1 = s[1];
    const m = Math.imul(s1, 5);
    const result = Math.imul((m << 7) | (m >>> 25), 9);
    const s2 = s[2] ^ s[0];
    const s3 = s[3] ^ s1;
    s[1] = s1 ^ s2;
    s[0] ^= s3;
    s[2] = s2 ^ (s1 << 9);
    s[3] = (s3 << 11) | (s3 >>> 21);
    return result >>> 0;
  }

  /** A uniform multiple of 2^-53 in [0, 1). */
  nextFloat(): number {
    const high = this.nextU32() >>> 5;
    const low = this.nextU32() >>> 6;
    return (high * 0x400_0000 + low) * (1 / 0x20_0000_0000_0000);
  }

  /**
   * A uniform integer in [0, n), exactly unbiased.
   * @throws RangeError unless n is an integer from 1 to 2^53 − 1.
   */
  below(n: number): number {
    if (n <= 0xffff_ffff && n > 0 && Math.floor(n) === n) return this.below32(n);
    if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`below(n): n must be an integer ≥ 1, found ${n}`);
    const highest = Math.floor((n - 1) / TWO_32);
    const mask = highest === 0 ? 0 : 0xffff_ffff >>> Math.clz32(highest);
    for (;;) {
      const value = (this.nextU32() & mask) * TWO_32 + this.nextU32();
      if (value < n) return value;
    }
  }

  /** The present state. */
  save(): RandomState {
    const s = this.s;
    return [s[0] >>> 0, s[1] >>> 0, s[2] >>> 0, s[3] >>> 0];
  }

  /** Goes on from a saved state. @throws RangeError if all words are zero. */
  restore(state: RandomState): void {
    if ((state[0] | state[1] | state[2] | state[3]) === 0) throw new RangeError('random state must not be all zero');
    this.s.set(state);
  }

  /** Multiply and reject (Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019). */
  private below32(n: number): number {
    let draw = this.nextU32();
    let low = Math.imul(draw, n) >>> 0;
    if (low < n) {
      const threshold = (TWO_32 - n) % n;
      while (low < threshold) {
        draw = this.nextU32();
        low = Math.imul(draw, n) >>> 0;
      }
    }
    // The product is rounded by at most 2^10, far less than half of 2^32: rounding gives the exact high word.
    return Math.floor((draw * n - low) / TWO_32 + 0.5);
  }
}

/**
 * The root of all randomness of a run: hands out independent streams by name, so that a new consumer of random
 * numbers never changes what the others draw. The same seed and name give the same stream on every machine.
 */
export class RandomSource {
  /** The seed, as given. */
  readonly seed: number;

  /** @throws RangeError unless the seed is an integer from 0 to 2^53 − 1. */
  constructor(seed: number) {
    if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError(`seed must be an integer ≥ 0, found ${seed}`);
    this.seed = seed;
  }

  /** The stream of this name, from its beginning: two calls give equal streams. */
  stream(name: string): RandomStream {
    const words: [number, number, number, number] = [0, 0, 0, 0];
    const low = this.seed % TWO_32;
    const high = Math.floor(this.seed / TWO_32);
    for (let i = 0; i < 4; i++) {
      let hash = mix32(low ^ Math.imul(i + 1, 0x9e37_79b9));
      hash = mix32(hash ^ high ^ 0x85eb_ca6b);
      for (let at = 0; at < name.length; at++) hash = mix32(Math.imul(hash, 31) + name.charCodeAt(at));
      words[i] = mix32(hash ^ name.length);
    }
    if ((words[0] | words[1] | words[2] | words[3]) === 0) words[0] = 1;
    return new RandomStream(words);
  }
}

/** A bijective 32-bit mixer (finaliser of MurmurHash3, public domain): every input bit affects every output bit. */
export function mix32(value: number): number {
  let x = value | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85eb_ca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2_ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

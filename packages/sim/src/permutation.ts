import { mix32, type RandomStream } from './random.js';

const ROUNDS = 6;

/**
 * A pseudo-random permutation of 0 … n − 1 in constant memory: spreads popular ranks over the address space without
 * two ranks meeting. A generalised Feistel network on a × b ≥ n values with cycle walking (Black and Rogaway, "Ciphers
 * with arbitrary finite domains", CT-RSA 2002).
 */
export class Permutation {
  /** Number of values. */
  readonly n: number;
  private readonly a: number;
  private readonly b: number;
  private readonly keys: Int32Array = new Int32Array(ROUNDS);

  /** Draws its keys from `random`. @throws RangeError unless n is an integer from 1 to 2^53 − 1. */
  constructor(n: number, random: RandomStream) {
    if (!Number.isSafeInteger(n) || n < 1) throw new RangeError(`permutation: n must be an integer ≥ 1, found ${n}`);
    this.n = n;
    this.a = Math.ceil(Math.sqrt(n));
    this.b = Math.ceil(n / this.a);
    for (let round = 0; round < ROUNDS; round++) this.keys[round] = random.nextU32() | 0;
  }

  /** Where `value` goes. @throws RangeError if it is outside 0 … n − 1. */
  map(value: number): number {
    this.check(value);
    const { a, b, keys, n } = this;
    let result = value;
    do {
      let right = Math.floor(result / a);
      let left = result - right * a;
      for (let round = 0; round < ROUNDS; round += 2) {
        left = (left + (mix32(right ^ keys[round]) % a)) % a;
        right = (right + (mix32(left ^ keys[round + 1]) % b)) % b;
      }
      result = right * a + left;
    } while (result >= n);
    return result;
  }

  /** The value that goes to `image`. @throws RangeError if it is outside 0 … n − 1. */
  inverse(image: number): number {
    this.check(image);
    const { a, b, keys, n } = this;
    let result = image;
    do {
      let right = Math.floor(result / a);
      let left = result - right * a;
      for (let round = ROUNDS - 2; round >= 0; round -= 2) {
        right = (right + b - (mix32(left ^ keys[round + 1]) % b)) % b;
        left = (left + a - (mix32(right ^ keys[round]) % a)) % a;
      }
      result = right * a + left;
    } while (result >= n);
    return result;
  }

  private check(value: number): void {
    if (!(value >= 0 && value < this.n) || Math.floor(value) !== value) {
      throw new RangeError(`permutation: value must be an integer from 0 to ${this.n - 1}, found ${value}`);
    }
  }
}

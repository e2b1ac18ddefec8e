import { mix32 } from '@flashstack/sim';

/** Part of the places that are taken at most. */
const FULL = 0.6;

/**
 * A set of identities of 64 bits in two halves, 8 bytes each in open addressing: 20 million of them take 256 MiB, and half
 * as much more while it grows.
 */
export class IdentitySet {
  /** Two words each; both zero: free. */
  private places: Int32Array;
  private taken = 0;
  private hasZero = false;

  /** @param expected it does not grow up to so many. */
  constructor(expected: number = 0) {
    this.places = new Int32Array(2 * 2 ** Math.max(8, Math.ceil(Math.log2((expected + 1) / FULL))));
  }

  /** Identities in it. */
  get size(): number {
    return this.taken + (this.hasZero ? 1 : 0);
  }

  /** Bytes of memory. */
  get bytes(): number {
    return this.places.byteLength;
  }

  /** Adds an identity; false: it was in it. */
  add(low: number, high: number): boolean {
    if ((low | 0) === 0 && (high | 0) === 0) {
      const added = !this.hasZero;
      this.hasZero = true;
      return added;
    }
    const at = this.find(low | 0, high | 0);
    if (this.places[at] !== 0 || this.places[at + 1] !== 0) return false;
    this.places[at] = low;
    this.places[at + 1] = high;
    if (++this.taken > (this.places.length / 2) * FULL) this.grow();
    return true;
  }

  has(low: number, high: number): boolean {
    if ((low | 0) === 0 && (high | 0) === 0) return this.hasZero;
    const at = this.find(low | 0, high | 0);
    return this.places[at] !== 0 || this.places[at + 1] !== 0;
  }

  /** Adds all of another set. */
  addAll(other: IdentitySet): void {
    if (other.hasZero) this.hasZero = true;
    const { places } = other;
    for (let at = 0; at < places.length; at += 2) {
      if (places[at] !== 0 || places[at + 1] !== 0) this.add(places[at], places[at + 1]);
    }
  }

  /** Empties it; its memory stays. */
  clear(): void {
    this.places.fill(0);
    this.taken = 0;
    this.hasZero = false;
  }

  /** All identities, two words each, in an order that depends on nothing but them. */
  toArray(): Int32Array {
    const words = new Int32Array(2 * this.size);
    let count = this.hasZero ? 2 : 0;
    for (let at = 0; at < this.places.length; at += 2) {
      if (this.places[at] === 0 && this.places[at + 1] === 0) continue;
      words[count++] = this.places[at];
      words[count++] = this.places[at + 1];
    }
    return sorted(words);
  }

  private find(low: number, high: number): number {
    const { places } = this;
    const mask = places.length / 2 - 1;
    let at = (mix32(low ^ Math.imul(high, 0x9e3779b1)) & mask) * 2;
    while ((places[at] !== 0 || places[at + 1] !== 0) && (places[at] !== low || places[at + 1] !== high)) {
      at = (at + 2) & (2 * mask + 1);
    }
    return at;
  }

  private grow(): void {
    const old = this.places;
    this.places = new Int32Array(old.length * 2);
    for (let from = 0; from < old.length; from += 2) {
      if (old[from] === 0 && old[from + 1] === 0) continue;
      const at = this.find(old[from], old[from + 1]);
      this.places[at] = old[from];
      this.places[at + 1] = old[from + 1];
    }
  }
}

/** Sorts pairs of words: as floating-point numbers they would not all be told apart, so by keys of indices. */
function sorted(words: Int32Array): Int32Array {
  const order = new Uint32Array(words.length / 2);
  for (let at = 0; at < order.length; at++) order[at] = at;
  order.sort((a, b) => words[2 * a] - words[2 * b] || words[2 * a + 1] - words[2 * b + 1]);
  const out = new Int32Array(words.length);
  for (let at = 0; at < order.length; at++) {
    out[2 * at] = words[2 * order[at]];
    out[2 * at + 1] = words[2 * order[at] + 1];
  }
  return out;
}

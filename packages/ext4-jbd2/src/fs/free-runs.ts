import { bitAt } from '../format/bytes.js';

/** A run of free bits that was found: its first bit and its length; −1: none. */
export interface FoundRun {
  at: number;
  length: number;
}

/** First free bit from `from` on, or `end`. */
export function nextFree(bits: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    if ((at & 7) === 0 && bits[at >>> 3] === 0xff) {
      at += 8;
      while (at < end && bits[at >>> 3] === 0xff) at += 8;
      continue;
    }
    if (!bitAt(bits, at)) return at;
    at++;
  }
  return end;
}

/** Length of the free run at a free bit, at most `most`. */
export function runLength(bits: Uint8Array, from: number, end: number, most: number): number {
  const last = Math.min(end, from + most);
  let at = from;
  while (at < last) {
    if ((at & 7) === 0 && at + 8 <= last && bits[at >>> 3] === 0) {
      at += 8;
      continue;
    }
    if (bitAt(bits, at)) break;
    at++;
  }
  return at - from;
}

/** The first run of at least `want` free bits, or else the longest one. */
export function findRun(bits: Uint8Array, from: number, end: number, want: number, out: FoundRun): void {
  out.at = -1;
  out.length = 0;
  for (let at = nextFree(bits, from, end); at < end; ) {
    const length = runLength(bits, at, end, want);
    if (length > out.length) {
      out.at = at;
      out.length = length;
      if (length >= want) return;
    }
    at = nextFree(bits, at + length, end);
  }
}

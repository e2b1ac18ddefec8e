import { u32 } from './bytes.js';

/** Versions of the directory hash, as `s_def_hash_version` has them. */
export const HashVersion = { legacy: 0, halfMd4: 1, tea: 2 } as const;

/** What stands for the end of a directory; no name hashes to it. */
const END = 0xffff_fffe;

const state: Uint32Array = new Uint32Array(4);
const words: Int32Array = new Int32Array(8);

/** Major and minor hash of the last name. */
export interface NameHash {
  major: number;
  minor: number;
}

/**
 * The hash by which an indexed directory sorts a name (ext4 documentation, "Hash Tree Directories"): bit 0 is clear.
 * @param seed `s_hash_seed`, 16 bytes; all zero: the constants of MD4.
 */
export function hashName(name: string, version: number, unsigned: boolean, seed: Uint8Array, out: NameHash): NameHash {
  if (version === HashVersion.legacy) {
    out.major = legacy(name, unsigned);
    out.minor = 0;
  } else {
    start(seed);
    const tea = version === HashVersion.tea;
    const chunk = tea ? 16 : 32;
    for (let at = 0; at < name.length || at === 0; at += chunk) {
      pack(name, at, chunk >> 2, unsigned);
      if (tea) teaRounds();
      else halfMd4Rounds();
      if (name.length === 0) break;
    }
    out.major = tea ? state[0] : state[1];
    out.minor = tea ? state[1] : state[2];
  }
  out.major = (out.major & ~1) >>> 0;
  if (out.major === END) out.major = (END - 2) >>> 0;
  return out;
}

function start(seed: Uint8Array): void {
  state[0] = 0x6745_2301;
  state[1] = 0xefcd_ab89;
  state[2] = 0x98ba_dcfe;
  state[3] = 0x1032_5476;
  if (seed.every((byte) => byte === 0)) return;
  for (let at = 0; at < 4; at++) state[at] = u32(seed, at * 4);
}

function byteOf(name: string, at: number, unsigned: boolean): number {
  const byte = name.charCodeAt(at);
  return unsigned || byte < 128 ? byte : byte - 256;
}

/** Fills `words` with up to `count` words of the name; what is left is padded with its length. */
function pack(name: string, from: number, count: number, unsigned: boolean): void {
  const left = name.length - from;
  let pad = left | (left << 8);
  pad |= pad << 16;
  const length = Math.min(left, count * 4);
  let word = pad;
  let filled = 0;
  for (let at = 0; at < length; at++) {
    word = (byteOf(name, from + at, unsigned) + (word << 8)) | 0;
    if (at % 4 !== 3) continue;
    words[filled++] = word;
    word = pad;
  }
  if (filled < count) words[filled++] = word;
  while (filled < count) words[filled++] = pad;
}

function rotate(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}

const ROUND_2 = [1, 3, 5, 7, 0, 2, 4, 6] as const;
const ROUND_3 = [3, 7, 2, 6, 1, 5, 0, 4] as const;
const SHIFTS = [
  [3, 7, 11, 19],
  [3, 5, 9, 13],
  [3, 9, 11, 15],
] as const;

function halfMd4Rounds(): void {
  let [a, b, c, d] = [state[0] | 0, state[1] | 0, state[2] | 0, state[3] | 0];
  for (let round = 0; round < 3; round++) {
    for (let step = 0; step < 8; step++) {
      let mixed: number;
      if (round === 0) mixed = (d ^ (b & (c ^ d))) + words[step];
      else if (round === 1) mixed = (b & c) + ((b ^ c) & d) + words[ROUND_2[step]] + 0x5a82_7999;
      else mixed = (b ^ c ^ d) + words[ROUND_3[step]] + 0x6ed9_eba1;
      const turned = rotate((a + mixed) | 0, SHIFTS[round][step & 3]);
      a = d;
      d = c;
      c = b;
      b = turned;
    }
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
}

function teaRounds(): void {
  let [b0, b1] = [state[0], state[1]];
  let sum = 0;
  const [a, b, c, d] = [words[0], words[1], words[2], words[3]];
  for (let round = 0; round < 16; round++) {
    sum = (sum + 0x9e37_79b9) | 0;
    b0 = (b0 + (((b1 << 4) + a) ^ (b1 + sum) ^ ((b1 >>> 5) + b))) >>> 0;
    b1 = (b1 + (((b0 << 4) + c) ^ (b0 + sum) ^ ((b0 >>> 5) + d))) >>> 0;
  }
  state[0] += b0;
  state[1] += b1;
}

/** The hash of the first versions of the format. */
function legacy(name: string, unsigned: boolean): number {
  let hash0 = 0x12a3_fe2d;
  let hash1 = 0x37ab_e8f9;
  for (let at = 0; at < name.length; at++) {
    let hash = (hash1 + (hash0 ^ Math.imul(byteOf(name, at, unsigned), 7_152_373))) >>> 0;
    if ((hash & 0x8000_0000) !== 0) hash = (hash - 0x7fff_ffff) >>> 0;
    hash1 = hash0;
    hash0 = hash;
  }
  return (hash0 << 1) >>> 0;
}

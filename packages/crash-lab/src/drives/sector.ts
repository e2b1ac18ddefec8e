import { mix32 } from '@flashstack/sim';

/** Bytes of a sector. */
export const SECTOR_BYTES = 4096;
const WORDS = SECTOR_BYTES / 4;

/** What a sector shows. */
export const SectorState = { zeroes: 0, torn: -1, foreign: -2 } as const;

/** Fills a sector with contents that tell sector number, version and, by a checksum in every word, that it is whole. */
export function writeSector(words: Uint32Array, at: number, lpn: number, version: number): void {
  words[at] = lpn;
  words[at + 1] = version;
  const key = mix32(mix32(lpn + 1) ^ version);
  for (let word = 2; word < WORDS; word++) words[at + word] = mix32(key + word);
}

/**
 * The version that a sector shows.
 * @returns a version from 1 on, or one of `SectorState`: only zeroes; parts that do not belong together; another's contents
 */
export function readSector(words: Uint32Array, at: number, lpn: number): number {
  const version = words[at + 1];
  if (words[at] === 0 && version === 0) {
    for (let word = 2; word < WORDS; word++) if (words[at + word] !== 0) return SectorState.torn;
    return SectorState.zeroes;
  }
  const key = mix32(mix32(words[at] + 1) ^ version);
  for (let word = 2; word < WORDS; word++) if (words[at + word] !== mix32(key + word)) return SectorState.torn;
  return words[at] === lpn ? version : SectorState.foreign;
}

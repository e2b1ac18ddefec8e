import { PAGE_BYTES } from '@flashstack/vfs';

const KIB = 1024;
const MIB = 1024 * KIB;
/** Sizes up to which a file gets room in doubling pieces. */
const SMALL = [16, 32, 64, 128, 256, 512, 1024].map((kib) => kib * KIB);

/**
 * Blocks that are looked for when pages of a growing file get their places, so that it stays in one piece (mballoc's
 * normalisation): up to 1 MiB the size that it has, rounded up to a power of two; beyond, aligned pieces of 2, 4 or 8 MiB.
 */
export function wantedBlocks(page: number, run: number, size: number): number {
  const end = Math.max(size, (page + run) * PAGE_BYTES);
  const small = SMALL.find((bytes) => end <= bytes);
  if (small !== undefined) return Math.max(run, small / PAGE_BYTES - page);
  const piece = (end <= 4 * MIB ? 2 : end <= 8 * MIB ? 4 : 8) * MIB;
  const pieceEnd = (Math.floor(((page + run) * PAGE_BYTES - 1) / piece) + 1) * piece;
  return Math.max(run, pieceEnd / PAGE_BYTES - page);
}

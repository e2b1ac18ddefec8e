import type { BlockTable } from './block-table.js';

/** Wear of the blocks that are not bad. */
export interface EraseCounts {
  readonly least: number;
  readonly most: number;
  readonly mean: number;
  readonly deviation: number;
}

/** Smallest, largest and mean erase count of the usable blocks, and their standard deviation. */
export function eraseCounts(table: BlockTable): EraseCounts {
  let least = Infinity;
  let most = 0;
  let sum = 0;
  let squares = 0;
  let blocks = 0;
  for (let block = 0; block < table.blocks; block++) {
    if (table.capacity[block] === 0) continue;
    const count = table.eraseCount[block];
    least = Math.min(least, count);
    most = Math.max(most, count);
    sum += count;
    squares += count * count;
    blocks++;
  }
  if (blocks === 0) return { least: 0, most: 0, mean: 0, deviation: 0 };
  const mean = sum / blocks;
  return { least, most, mean, deviation: Math.sqrt(Math.max(0, squares / blocks - mean * mean)) };
}

/**
 * What the write buffer makes of the blocks written, by origin: blocks of `SsdStats.writtenByOrigin` − `absorbed` +
 * `filled` = blocks handed to the FTL, apart from what the buffer held when counting began and holds now, and from writes in
 * flight or failed.
 */
export class BufferedBlocks {
  /** Overwritten or discarded in the buffer, so not handed to the FTL. An entry that is overwritten in part counts as a whole. */
  readonly absorbed: Float64Array = new Float64Array(256);
  /** Added to what is written: the rest of a slot from the version before, and zeroes at the ends of what is zeroed. */
  readonly filled: Float64Array = new Float64Array(256);

  /** An entry with these blocks takes a write of others, and its origin. */
  overwrite(olderOrigin: number, older: number, origin: number, mask: number): void {
    this.absorbed[olderOrigin] += ones(older);
    this.filled[origin] += ones(older & ~mask);
  }

  /** Blocks that no write brought join an entry. */
  fill(origin: number, mask: number): void {
    this.filled[origin] += ones(mask);
  }

  /** An entry with these blocks is discarded. */
  drop(origin: number, mask: number): void {
    this.absorbed[origin] += ones(mask);
  }

  reset(): void {
    this.absorbed.fill(0);
    this.filled.fill(0);
  }
}

/** Bits of a mask that are set. */
function ones(mask: number): number {
  let count = 0;
  for (let left = mask; left !== 0; left &= left - 1) count++;
  return count;
}

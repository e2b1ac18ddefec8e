const PAGE_BYTES = 4096;
const WORDS = 64;
const CHUNK_PAGES = WORDS * 32;

/**
 * A set of pages of 4 KiB, as bits in chunks of 8 MiB that exist only where something was touched: about 60 MiB for each
 * TiB touched, and at most half a KiB for a page that lies alone.
 */
export class PageSet {
  /** Pages in the set. */
  size = 0;
  private readonly chunks = new Map<number, Uint32Array>();
  private lastIndex = -1;
  private lastChunk: Uint32Array = new Uint32Array(0);

  /** Adds every page that the range touches. */
  add(offsetBytes: number, lengthBytes: number): void {
    const first = Math.floor(offsetBytes / PAGE_BYTES);
    const last = Math.floor((offsetBytes + lengthBytes - 1) / PAGE_BYTES);
    for (let page = first; page <= last; ) {
      const index = Math.floor(page / CHUNK_PAGES);
      const chunk = index === this.lastIndex ? this.lastChunk : this.chunk(index);
      const end = Math.min(last + 1, (index + 1) * CHUNK_PAGES);
      for (; page < end; page++) {
        const bit = page - index * CHUNK_PAGES;
        const mask = 1 << (bit & 31);
        if ((chunk[bit >> 5] & mask) !== 0) continue;
        chunk[bit >> 5] |= mask;
        this.size++;
      }
    }
  }

  /** Bytes of the pages in the set. */
  get bytes(): number {
    return this.size * PAGE_BYTES;
  }

  private chunk(index: number): Uint32Array {
    let chunk = this.chunks.get(index);
    if (chunk === undefined) {
      chunk = new Uint32Array(WORDS);
      this.chunks.set(index, chunk);
    }
    this.lastIndex = index;
    this.lastChunk = chunk;
    return chunk;
  }
}

/** Pages of a leaf. */
const LEAF = 64;
/** Leaves of a node. */
const NODE = 1024;
/** One more than the highest page number that a table takes. */
export const PAGE_LIMIT: number = 2 ** 31 - 1;

/** What a table knows of 64 pages that follow each other. */
export class PageLeaf {
  /** Bits of whoever owns the table; 0: there is nothing of the page. */
  readonly flags: Uint8Array = new Uint8Array(LEAF);
  /** Tag of a page without bytes. */
  readonly tags: Uint32Array = new Uint32Array(LEAF);
  private bytes: (Uint8Array | null)[] | null = null;

  /** Contents of a page, or null if its tag stands for them. `at`: `page % 64`. */
  bytesAt(at: number): Uint8Array | null {
    return this.bytes === null ? null : this.bytes[at];
  }

  /** Gives a page its contents; the buffer is kept. */
  setBytes(at: number, bytes: Uint8Array | null): void {
    if (this.bytes === null) {
      if (bytes === null) return;
      this.bytes = new Array<Uint8Array | null>(LEAF).fill(null);
    }
    this.bytes[at] = bytes;
  }
}

/** Sparse table of the pages of a file: flags and contents by page number, in three levels. */
export class PageTable {
  private readonly nodes: (PageLeaf | undefined)[][] = [];
  private last: PageLeaf | null = null;
  private lastIndex = -1;

  /** The leaf of a page if there is one. */
  leaf(page: number): PageLeaf | null {
    const index = page >> 6;
    if (index === this.lastIndex) return this.last;
    const leaf = this.nodes[index >> 10]?.[index & (NODE - 1)];
    if (leaf === undefined) return null;
    this.last = leaf;
    this.lastIndex = index;
    return leaf;
  }

  /** The leaf of a page, made if need be. */
  needLeaf(page: number): PageLeaf {
    const found = this.leaf(page);
    if (found !== null) return found;
    const index = page >> 6;
    let node = this.nodes[index >> 10];
    if (node === undefined) {
      node = [];
      this.nodes[index >> 10] = node;
    }
    const leaf = new PageLeaf();
    node[index & (NODE - 1)] = leaf;
    this.last = leaf;
    this.lastIndex = index;
    return leaf;
  }

  /** Flags of a page. */
  flags(page: number): number {
    const leaf = this.leaf(page);
    return leaf === null ? 0 : leaf.flags[page & (LEAF - 1)];
  }

  /** First page from `from` on and below `limit` that has one of these flags; `limit` if there is none. */
  next(from: number, limit: number, mask: number): number {
    for (let page = from; page < limit; ) {
      const node = this.nodes[page >> 16];
      if (node === undefined) {
        if (page >> 16 >= this.nodes.length) return limit;
        page = ((page >> 16) + 1) * LEAF * NODE;
        continue;
      }
      const leaf = node[(page >> 6) & (NODE - 1)];
      const end = (page | (LEAF - 1)) + 1;
      if (leaf !== undefined) {
        for (; page < end; page++) if ((leaf.flags[page & (LEAF - 1)] & mask) !== 0) return Math.min(page, limit);
      }
      page = end;
    }
    return limit;
  }

  /** First page from `from` on and below `limit` that has none of these flags; `limit` if all have. */
  nextWithout(from: number, limit: number, mask: number): number {
    for (let page = from; page < limit; page++) if ((this.flags(page) & mask) === 0) return page;
    return limit;
  }

  /** Forgets a page. */
  clear(page: number): void {
    const leaf = this.leaf(page);
    if (leaf === null) return;
    const at = page & (LEAF - 1);
    leaf.flags[at] = 0;
    leaf.tags[at] = 0;
    leaf.setBytes(at, null);
  }
}

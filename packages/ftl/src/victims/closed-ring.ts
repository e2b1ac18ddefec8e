import type { BlockTable } from '../block-table.js';

/** Candidates of each domain in the order in which they were closed, as doubly linked lists; O(1) everywhere. */
export class ClosedRing {
  /** Earliest closed candidate per domain, −1: none. */
  readonly head: Int32Array;
  /** Next candidate in order of closing, −1: none. */
  readonly next: Int32Array;
  private readonly blocks: BlockTable;
  private readonly tail: Int32Array;
  private readonly previous: Int32Array;

  constructor(blocks: BlockTable) {
    this.blocks = blocks;
    this.head = new Int32Array(blocks.domains).fill(-1);
    this.tail = new Int32Array(blocks.domains).fill(-1);
    this.next = new Int32Array(blocks.blocks).fill(-1);
    this.previous = new Int32Array(blocks.blocks).fill(-1);
  }

  clear(): void {
    this.head.fill(-1);
    this.tail.fill(-1);
  }

  /** `block` is the latest closed one. */
  add(block: number): void {
    const domain = this.blocks.domainOf(block);
    const last = this.tail[domain];
    this.previous[block] = last;
    this.next[block] = -1;
    if (last < 0) this.head[domain] = block;
    else this.next[last] = block;
    this.tail[domain] = block;
  }

  remove(block: number): void {
    const domain = this.blocks.domainOf(block);
    const before = this.previous[block];
    const after = this.next[block];
    if (before < 0) this.head[domain] = after;
    else this.next[before] = after;
    if (after < 0) this.tail[domain] = before;
    else this.previous[after] = before;
  }
}

import type { BlockTable } from '../block-table.js';
import { closedEarlier } from './policy.js';

/**
 * Blocks in doubly linked lists by valid count, one set of lists per domain, with a lower bound of the smallest
 * non-empty one. Adding, removing and losing a valid slot are O(1).
 */
export class ValidBuckets {
  /** First block of the list for `valid` in `domain` at `domain * lists + valid`; −1: empty. */
  readonly head: Int32Array;
  /** Next block of the same list, −1 at its end. */
  readonly next: Int32Array;
  /** Lists per domain. */
  readonly lists: number;
  private readonly blocks: BlockTable;
  private readonly previous: Int32Array;
  /** List that holds the block, −1: none. */
  private readonly list: Int32Array;
  private readonly lowest: Int32Array;

  constructor(blocks: BlockTable) {
    this.blocks = blocks;
    this.lists = blocks.slotsPerBlock + 1;
    this.head = new Int32Array(blocks.domains * this.lists).fill(-1);
    this.next = new Int32Array(blocks.blocks);
    this.previous = new Int32Array(blocks.blocks);
    this.list = new Int32Array(blocks.blocks).fill(-1);
    this.lowest = new Int32Array(blocks.domains).fill(this.lists);
  }

  clear(): void {
    this.head.fill(-1);
    this.list.fill(-1);
    this.lowest.fill(this.lists);
  }

  holds(block: number): boolean {
    return this.list[block] >= 0;
  }

  add(block: number): void {
    const domain = this.blocks.domainOf(block);
    const valid = this.blocks.valid[block];
    if (valid < this.lowest[domain]) this.lowest[domain] = valid;
    this.link(block, domain * this.lists + valid);
  }

  remove(block: number): void {
    const before = this.previous[block];
    const after = this.next[block];
    if (before < 0) this.head[this.list[block]] = after;
    else this.next[before] = after;
    if (after >= 0) this.previous[after] = before;
    this.list[block] = -1;
  }

  /** The block's valid count fell by one. */
  lower(block: number): void {
    const list = this.list[block] - 1;
    this.remove(block);
    this.link(block, list);
    const valid = this.blocks.valid[block];
    const domain = (list - valid) / this.lists;
    if (valid < this.lowest[domain]) this.lowest[domain] = valid;
  }

  /** The block with the fewest valid slots (ties: closed first), or −1. */
  least(domain: number): number {
    const base = domain * this.lists;
    let valid = this.lowest[domain];
    while (valid < this.lists && this.head[base + valid] < 0) valid++;
    this.lowest[domain] = valid;
    return valid < this.lists ? this.first(base + valid) : -1;
  }

  /** The earliest closed block of a list that is not empty. */
  first(list: number): number {
    let best = this.head[list];
    for (let block = this.next[best]; block >= 0; block = this.next[block]) {
      if (closedEarlier(this.blocks, block, best)) best = block;
    }
    return best;
  }

  private link(block: number, list: number): void {
    const after = this.head[list];
    this.previous[block] = -1;
    this.next[block] = after;
    if (after >= 0) this.previous[after] = block;
    this.head[list] = block;
    this.list[block] = list;
  }
}

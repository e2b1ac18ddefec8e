import type { BlockTable } from '../block-table.js';

/** Candidates of each domain in a dense array with swap-remove, so that one can be drawn uniformly in O(1). */
export class CandidateSet {
  /** Candidates of domain d: the first `count[d]` entries from `d * blocksPerDomain` on. */
  readonly list: Int32Array;
  readonly count: Int32Array;
  private readonly blocks: BlockTable;
  private readonly place: Int32Array;

  constructor(blocks: BlockTable) {
    this.blocks = blocks;
    this.list = new Int32Array(blocks.blocks);
    this.count = new Int32Array(blocks.domains);
    this.place = new Int32Array(blocks.blocks);
  }

  clear(): void {
    this.count.fill(0);
  }

  add(block: number): void {
    const domain = this.blocks.domainOf(block);
    const at = domain * this.blocks.blocksPerDomain + this.count[domain]++;
    this.list[at] = block;
    this.place[block] = at;
  }

  remove(block: number): void {
    const domain = this.blocks.domainOf(block);
    const end = domain * this.blocks.blocksPerDomain + --this.count[domain];
    const moved = this.list[end];
    const at = this.place[block];
    this.list[at] = moved;
    this.place[moved] = at;
  }
}

import type { BlockTable } from '../block-table.js';
import { ValidBuckets } from './buckets.js';
import { ClosedRing } from './closed-ring.js';
import type { VictimPolicy } from './policy.js';

/**
 * Fewest valid slots among the w candidates closed earliest (Hu et al., "Write Amplification Analysis in Flash-Based
 * Solid State Drives", 2009). w = 1 is FIFO, w = all is greedy.
 */
export class WindowedGreedy implements VictimPolicy {
  private readonly share: number;
  private window = 1;
  private ring!: ClosedRing;
  private buckets!: ValidBuckets;
  private blocks!: BlockTable;
  /** Per domain: candidates in the window, and the first candidate behind it (−1: none). */
  private inside!: Int32Array;
  private behind!: Int32Array;

  /** `share`: the window as a share of the domain's blocks (at least one block). */
  constructor(share: number) {
    this.share = share;
  }

  attach(blocks: BlockTable): void {
    this.blocks = blocks;
    this.window = Math.max(1, Math.round(this.share * blocks.blocksPerDomain));
    this.ring = new ClosedRing(blocks);
    this.buckets = new ValidBuckets(blocks);
    this.inside = new Int32Array(blocks.domains);
    this.behind = new Int32Array(blocks.domains).fill(-1);
  }

  closed(block: number): void {
    const domain = this.blocks.domainOf(block);
    this.ring.add(block);
    if (this.behind[domain] < 0) this.behind[domain] = block;
    this.fill(domain);
  }

  invalidated(block: number): void {
    if (this.buckets.holds(block)) this.buckets.lower(block);
  }

  removed(block: number): void {
    const domain = this.blocks.domainOf(block);
    if (this.buckets.holds(block)) {
      this.buckets.remove(block);
      this.inside[domain]--;
    } else if (this.behind[domain] === block) {
      this.behind[domain] = this.ring.next[block];
    }
    this.ring.remove(block);
    this.fill(domain);
  }

  choose(domain: number): number {
    return this.buckets.least(domain);
  }

  reset(): void {
    this.ring.clear();
    this.buckets.clear();
    this.inside.fill(0);
    this.behind.fill(-1);
  }

  private fill(domain: number): void {
    while (this.inside[domain] < this.window && this.behind[domain] >= 0) {
      const block = this.behind[domain];
      this.buckets.add(block);
      this.inside[domain]++;
      this.behind[domain] = this.ring.next[block];
    }
  }
}

import type { BlockTable } from '../block-table.js';
import { ClosedRing } from './closed-ring.js';
import type { VictimPolicy } from './policy.js';

/** The block closed first (FIFO, also called LRW or cyclic). */
export class Fifo implements VictimPolicy {
  private ring!: ClosedRing;

  attach(blocks: BlockTable): void {
    this.ring = new ClosedRing(blocks);
  }

  closed(block: number): void {
    this.ring.add(block);
  }

  invalidated(): void {
    // Order of closing does not change.
  }

  removed(block: number): void {
    this.ring.remove(block);
  }

  choose(domain: number): number {
    return this.ring.head[domain];
  }

  reset(): void {
    this.ring.clear();
  }
}

import type { BlockTable } from '../block-table.js';
import { ValidBuckets } from './buckets.js';
import type { VictimPolicy } from './policy.js';

/** Fewest valid slots first. O(1) per invalidation; a choice costs the length of the list it finds. */
export class Greedy implements VictimPolicy {
  private buckets!: ValidBuckets;

  attach(blocks: BlockTable): void {
    this.buckets = new ValidBuckets(blocks);
  }

  closed(block: number): void {
    this.buckets.add(block);
  }

  invalidated(block: number): void {
    this.buckets.lower(block);
  }

  removed(block: number): void {
    this.buckets.remove(block);
  }

  choose(domain: number): number {
    return this.buckets.least(domain);
  }

  reset(): void {
    this.buckets.clear();
  }
}

import type { RandomStream } from '@flashstack/sim';
import type { BlockTable } from '../block-table.js';
import { CandidateSet } from './candidate-set.js';
import { closedEarlier, type VictimPolicy } from './policy.js';

/** What policies that draw candidates at random share: the set of candidates. Valid counts are read when drawing. */
abstract class Drawing implements VictimPolicy {
  protected blocks!: BlockTable;
  protected random!: RandomStream;
  protected set!: CandidateSet;

  attach(blocks: BlockTable, random: RandomStream): void {
    this.blocks = blocks;
    this.random = random;
    this.set = new CandidateSet(blocks);
  }

  closed(block: number): void {
    this.set.add(block);
  }

  invalidated(): void {
    // Nothing is kept that an invalidation would change.
  }

  removed(block: number): void {
    this.set.remove(block);
  }

  abstract choose(domain: number): number;

  reset(): void {
    this.set.clear();
  }
}

/**
 * The best of `d` candidates drawn uniformly with replacement: fewest valid slots, ties to the first drawn (randomised
 * greedy; Van Houdt, "A Mean Field Model for a Class of Garbage Collection Algorithms in Flash-Based Solid State
 * Drives", 2013). `d` = 1 is the random policy.
 */
export class DChoices extends Drawing {
  private readonly d: number;

  constructor(d: number) {
    super();
    this.d = d;
  }

  choose(domain: number): number {
    const count = this.set.count[domain];
    if (count === 0) return -1;
    const { valid } = this.blocks;
    const from = domain * this.blocks.blocksPerDomain;
    let best = this.set.list[from + this.random.below(count)];
    for (let i = 1; i < this.d; i++) {
      const block = this.set.list[from + this.random.below(count)];
      if (valid[block] < valid[best]) best = block;
    }
    return best;
  }
}

/**
 * Random among candidates with at least `share` of their slots invalid ("random++"); falls back to the best seen after
 * as many draws as there are candidates.
 */
export class RandomThreshold extends Drawing {
  private readonly share: number;

  constructor(share: number) {
    super();
    this.share = share;
  }

  choose(domain: number): number {
    const { valid, capacity } = this.blocks;
    const count = this.set.count[domain];
    const from = domain * this.blocks.blocksPerDomain;
    let best = -1;
    for (let i = 0; i < count; i++) {
      const block = this.set.list[from + this.random.below(count)];
      if (capacity[block] - valid[block] >= this.share * capacity[block]) return block;
      if (
        best < 0 ||
        valid[block] < valid[best] ||
        (valid[block] === valid[best] && closedEarlier(this.blocks, block, best))
      ) {
        best = block;
      }
    }
    return best;
  }
}

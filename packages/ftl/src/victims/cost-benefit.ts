import type { BlockTable } from '../block-table.js';
import { ValidBuckets } from './buckets.js';
import { CandidateSet } from './candidate-set.js';
import { closedEarlier, type VictimPolicy } from './policy.js';

/** Forms of the benefit of a block with valid share u and age a. */
export type CostBenefitForm = 'flash' | 'lfs';

/** a·(1−u)/(2u) (Kawaguchi et al. 1995) or a·(1−u)/(1+u) (Rosenblum and Ousterhout 1992). u = 0 always wins in `flash`. */
function benefit(form: CostBenefitForm, age: number, valid: number, capacity: number): number {
  const u = valid / capacity;
  return form === 'flash' ? (age * (1 - u)) / (2 * u) : (age * (1 - u)) / (1 + u);
}

/**
 * Largest cost-benefit, by a scan of all candidates of the domain: exact for either age. Ages are host slot writes since
 * the block last lost a valid slot (`invalidation`) or since it was closed (`close`, counted in blocks closed).
 */
export class CostBenefit implements VictimPolicy {
  private readonly form: CostBenefitForm;
  private readonly age: 'invalidation' | 'close';
  private blocks!: BlockTable;
  private set!: CandidateSet;

  constructor(form: CostBenefitForm, age: 'invalidation' | 'close') {
    this.form = form;
    this.age = age;
  }

  attach(blocks: BlockTable): void {
    this.blocks = blocks;
    this.set = new CandidateSet(blocks);
  }

  closed(block: number): void {
    this.set.add(block);
  }

  invalidated(): void {
    // Scores are computed when a victim is chosen.
  }

  removed(block: number): void {
    this.set.remove(block);
  }

  choose(domain: number): number {
    const { blocks } = this;
    const from = domain * blocks.blocksPerDomain;
    const end = from + this.set.count[domain];
    const since = this.age === 'close' ? blocks.closedSeq : blocks.lastInvalid;
    const now = this.age === 'close' ? blocks.closings + 1 : blocks.clock;
    let best = -1;
    let bestScore = -1;
    for (let i = from; i < end; i++) {
      const block = this.set.list[i];
      const score =
        blocks.valid[block] === 0
          ? Infinity
          : benefit(this.form, now - since[block], blocks.valid[block], blocks.capacity[block]);
      if (score > bestScore || (score === bestScore && closedEarlier(blocks, block, best))) {
        best = block;
        bestScore = score;
      }
    }
    return best;
  }

  reset(): void {
    this.set.clear();
  }
}

/**
 * Cost-benefit with the age of closing, from bucket lists: inside one list of equal valid counts the block closed first
 * is the best, so one candidate per list is compared. Equal to the exact scan as long as no block has bad members.
 */
export class CostBenefitBuckets implements VictimPolicy {
  private readonly form: CostBenefitForm;
  private blocks!: BlockTable;
  private buckets!: ValidBuckets;

  constructor(form: CostBenefitForm) {
    this.form = form;
  }

  attach(blocks: BlockTable): void {
    this.blocks = blocks;
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
    const { blocks, buckets } = this;
    const base = domain * buckets.lists;
    if (buckets.head[base] >= 0) return buckets.first(base);
    let best = -1;
    let bestScore = -1;
    for (let valid = 1; valid < buckets.lists; valid++) {
      if (buckets.head[base + valid] < 0) continue;
      const block = buckets.first(base + valid);
      const score = benefit(this.form, blocks.closings + 1 - blocks.closedSeq[block], valid, blocks.capacity[block]);
      if (score > bestScore || (score === bestScore && closedEarlier(blocks, block, best))) {
        best = block;
        bestScore = score;
      }
    }
    return best;
  }

  reset(): void {
    this.buckets.clear();
  }
}

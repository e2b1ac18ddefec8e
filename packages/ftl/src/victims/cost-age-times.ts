import type { BlockTable } from '../block-table.js';
import { CandidateSet } from './candidate-set.js';
import { closedEarlier, type VictimPolicy } from './policy.js';

/**
 * Cost-age-times (Chiang and Chang, "Cleaning Policies in Mobile Computers Using Flash Memory", 1999): smallest
 * (u/(1−u)) · (1/age') · (1 + erases/most erases), where age' = 1 + floor(log2(1 + age)) is a step function of the host
 * slot writes since the block last lost a valid slot.
 */
export class CostAgeTimes implements VictimPolicy {
  private blocks!: BlockTable;
  private set!: CandidateSet;

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
    const { blocks, set } = this;
    const from = domain * blocks.blocksPerDomain;
    const end = from + set.count[domain];
    let mostErases = 1;
    for (let i = from; i < end; i++) mostErases = Math.max(mostErases, blocks.eraseCount[set.list[i]]);
    let best = -1;
    let bestScore = Infinity;
    for (let i = from; i < end; i++) {
      const block = set.list[i];
      const u = blocks.valid[block] / blocks.capacity[block];
      const age = 1 + Math.floor(Math.log2(1 + blocks.clock - blocks.lastInvalid[block]));
      const score = u === 1 ? Number.MAX_VALUE : ((u / (1 - u)) * (1 + blocks.eraseCount[block] / mostErases)) / age;
      if (score < bestScore || (score === bestScore && closedEarlier(blocks, block, best))) {
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

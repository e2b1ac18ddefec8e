import { type BlockTable, closedEarlier, type VictimPolicy } from '@flashstack/ftl';
import type { StrategyKind } from '@flashstack/sim';

class OlderHalf implements VictimPolicy {
  private blocks!: BlockTable;
  /** Closed blocks of each domain. A Set iterates in order of insertion, which is the order of closing. */
  private readonly candidates = new Map<number, Set<number>>();

  attach(blocks: BlockTable): void {
    this.blocks = blocks;
  }
  closed(block: number): void {
    const domain = this.blocks.domainOf(block);
    this.candidates.set(domain, (this.candidates.get(domain) ?? new Set()).add(block));
  }
  invalidated(): void {}
  removed(block: number): void {
    this.candidates.get(this.blocks.domainOf(block))?.delete(block);
  }
  choose(domain: number): number {
    const { valid } = this.blocks;
    const candidates = [...(this.candidates.get(domain) ?? [])];
    let best = -1;
    for (const block of candidates.slice(0, Math.ceil(candidates.length / 2))) {
      const equal = best >= 0 && valid[block] === valid[best];
      if (best < 0 || valid[block] < valid[best] || (equal && closedEarlier(this.blocks, block, best))) best = block;
    }
    return best;
  }
  reset(): void {
    this.candidates.clear();
  }
}

export const victims: readonly StrategyKind<VictimPolicy>[] = [
  { name: 'older-half', summary: 'The emptiest of the older half.', parameters: [], create: () => new OlderHalf() },
];

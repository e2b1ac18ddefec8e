import type { RandomStream } from '@flashstack/sim';
import type { BlockTable } from '../block-table.js';

/**
 * Chooses which block garbage collection empties next. A policy sees the columns of the block table, never the FTL.
 * Ties are broken by smaller `closedSeq`, then smaller block number, unless the policy says otherwise.
 */
export interface VictimPolicy {
  /** Called once, before anything else. `random` is the policy's own stream. */
  attach(blocks: BlockTable, random: RandomStream): void;
  /** `block` became a candidate; its columns are up to date. */
  closed(block: number): void;
  /** Candidate `block` lost a valid slot; `blocks.valid[block]` is already the new value. */
  invalidated(block: number): void;
  /** Candidate `block` is no longer one: it was chosen, or taken by wear levelling, refresh or retirement. */
  removed(block: number): void;
  /** The best candidate of the domain, or −1 if there is none. It stays a candidate until `removed`. */
  choose(domain: number): number;
  /** Forget all candidates (power loss); `closed` follows for each of those that recovery finds. */
  reset(): void;
}

/** True if candidate `a` comes before `b` when their scores are equal. */
export function closedEarlier(blocks: BlockTable, a: number, b: number): boolean {
  const left = blocks.closedSeq[a];
  const right = blocks.closedSeq[b];
  return left < right || (left === right && a < b);
}

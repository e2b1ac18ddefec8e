import type { BlockTable } from '../block-table.js';
import type { DataBlocks } from './data-blocks.js';
import type { HybridLayout } from './layout.js';
import type { LogBlocks } from './log-blocks.js';
import type { Merger } from './merger.js';
import type { PlacedFrontiers } from './placed-frontiers.js';
import type { SastShape } from './sast.js';

/** What a scheme decides with. */
export interface SchemeParts {
  readonly table: BlockTable;
  readonly layout: HybridLayout;
  readonly frontiers: PlacedFrontiers;
  readonly data: DataBlocks;
  readonly logs: LogBlocks;
  readonly merger: Merger;
}

/** A block or hybrid mapping scheme: where the next slot goes, and what is merged for it. */
export interface LogScheme {
  /**
   * The frontier that takes the slot `lpn`, at `offset` of `lbn`, next; −1 if it must wait for an erase. `sequential`: as
   * the request was classified.
   */
  frontier(domain: number, lbn: number, offset: number, lpn: number, sequential: boolean): number;
  /** The slot has been appended to frontier `f`. */
  wrote(f: number): void;
  /** All that is pending will be padded. */
  settling(): void;
  /** Takes over a block that recovery found with data, as a closed log block; false if it cannot. */
  adopt(domain: number, block: number): boolean;
  /** Merges one log block of the domain ahead of need; false if there is none that should be, or no room. */
  mergeAhead(domain: number): boolean;
  /** Merges all log blocks of the domain; false if it must go on after an erase. */
  mergeAll(domain: number): boolean;
  /** Other groups of logical blocks from now on (SAST). */
  reconfigure?(shape: SastShape): void;
  /** What does not hold of the scheme's own rules, or null. */
  broken(): string | null;
  /** All is forgotten: power loss. */
  reset(): void;
}

/** How a scheme is set up. */
export interface HybridSpec {
  readonly name: string;
  /** Log blocks of a domain; 0: three quarters of the spare ones. */
  readonly logBlocks: number;
  /** Log blocks that the scheme must have. */
  readonly leastLogBlocks: number;
  /** Parameter that asks for so many, if it is not `logBlocks` or what a scheme is. */
  readonly leastFrom?: string;
  /** Merge in idle time, before there is need. */
  readonly idleMerge: boolean;
  /** A request of so many bytes is sequential; 0: requests are not told apart. */
  readonly sequentialBytes: number;
  /** Log blocks are owned by logical blocks, if by anything: one that a full merge has emptied is erased at once. */
  readonly ownedByBlocks: boolean;
  make(parts: SchemeParts): LogScheme;
}

/** `LogScheme.frontier`: wait for an erase. */
export const WAIT = -1;

/** The logical block that owns all valid slots of `block`, −1 if there are several or none. */
export function soleOwner(parts: SchemeParts, block: number): number {
  const { layout, frontiers, table } = parts;
  const { l2p, array } = frontiers;
  let sole = -1;
  let left = table.valid[block];
  for (let at = 0; at < layout.slotsPerBlock && left > 0; at++) {
    const psn = layout.psnAt(block, at);
    const lpn = array.lpn[psn];
    if (lpn >= l2p.length || l2p[lpn] !== psn) continue;
    left--;
    if (lpn >= layout.logicalSlots) return -1;
    layout.locate(lpn);
    if (sole >= 0 && sole !== layout.lbn) return -1;
    sole = layout.lbn;
  }
  return sole;
}

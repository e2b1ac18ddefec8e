import type { NandArray } from '@flashstack/nand-device';
import type { BlockTable } from './block-table.js';
import type { BlockEraser } from './eraser.js';
import type { Frontiers } from './frontier.js';
import type { ResolvedFtlOptions } from './options.js';
import type { FtlStats } from './stats.js';
import type { VictimPolicy } from './victims/policy.js';

/** What the collector needs of the FTL around it. */
export interface CollectorOwner {
  /** An open frontier of the domain for the relocated slot `lpn` of `block`, or −1 if there is no room. */
  moveFrontier(domain: number, block: number, reason: number, lpn: number): number;
  /** The same for most slots of `block`, not opened yet. */
  moveTarget(domain: number, block: number, reason: number): number;
  /** What `moveFrontier` looks up by logical slot and is worth reading ahead, or null. */
  readonly perSlot: Float64Array | null;
  /** Slots that making the trims of `block` durable may take. */
  trimReserve(block: number): number;
  /** Make the trims of `block` durable, without which it must not be erased; false if there is no room now. */
  beforeErase(block: number, domain: number): boolean;
  /** The data of `lpn` in slot `psn` could not be read; the slot is relocated as a lost one. */
  slotLost(lpn: number, psn: number): void;
  /** `block` is about to be emptied. */
  reclaiming(block: number): void;
  /** All valid slots of `block`, or those of a page of it, have been relocated. */
  relocated(block: number): void;
}

/** What a collector works on. */
export interface CollectorParts {
  readonly array: NandArray;
  readonly table: BlockTable;
  readonly policy: VictimPolicy;
  readonly frontiers: Frontiers;
  readonly eraser: BlockEraser;
  readonly stats: FtlStats;
  readonly options: ResolvedFtlOptions;
  readonly owner: CollectorOwner;
  readonly slotsPerPage: number;
}

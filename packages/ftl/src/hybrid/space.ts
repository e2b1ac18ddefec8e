import type { NandArray } from '@flashstack/nand-device';
import type { BlockTable, FreeOrder } from '../block-table.js';
import type { MetaArea } from './meta-area.js';
import type { PlacedFrontiers } from './placed-frontiers.js';

/** Data blocks of a domain that can be written in place without closing another one first. */
export const OPEN_DATA_BLOCKS = 4;

/** Numbers of the frontiers of a domain: those of data blocks come first, then one per log block. */
export class FrontierNumbers {
  readonly perDomain: number;
  readonly logs: number;
  /** The log blocks of a domain at most. */
  readonly logBlocks: number;
  /** Targets of full merges, what failed programs leave, and pages of the trim map. */
  readonly merge: number;
  readonly rescue: number;
  readonly meta: number;

  constructor(logBlocks: number) {
    this.logBlocks = logBlocks;
    this.logs = OPEN_DATA_BLOCKS;
    this.merge = this.logs + logBlocks;
    this.rescue = this.merge + 1;
    this.meta = this.merge + 2;
    this.perDomain = this.merge + 3;
  }
}

/**
 * Who may take a free block. The last ones are kept: for what a failed program leaves and the merge that follows, for
 * pages of the trim map, and one for a full merge.
 */
export class Space {
  /** Blocks may be emptied into what is kept for the trim map, all of which is written. */
  lastResort = false;
  /** Kept for failures. */
  readonly failureReserve: number;
  private readonly table: BlockTable;
  private readonly frontiers: PlacedFrontiers;
  private readonly meta: MetaArea;

  constructor(array: NandArray, table: BlockTable, frontiers: PlacedFrontiers, meta: MetaArea) {
    this.failureReserve = failureReserve(array);
    this.table = table;
    this.frontiers = frontiers;
    this.meta = meta;
  }

  /** Opens frontier `f` for a data block or a log block; false if none may be taken for it now. */
  openForHost(f: number, domain: number, order: FreeOrder, role: number): boolean {
    return this.open(f, domain, order, role, this.failureReserve + 1 + this.meta.reserve(domain));
  }

  /** The same for the target of a full merge. `urgent`: to empty a failed block. */
  openForMerge(f: number, domain: number, order: FreeOrder, role: number, urgent: boolean): boolean {
    if (urgent && this.lastResort) return this.open(f, domain, order, role, 0);
    const kept = urgent ? Math.min(1, this.failureReserve) : this.failureReserve;
    return this.open(f, domain, order, role, kept + this.meta.reserve(domain));
  }

  private open(f: number, domain: number, order: FreeOrder, role: number, kept: number): boolean {
    const { table, frontiers } = this;
    if (table.freeCount[domain] <= kept) return false;
    frontiers.open(f, domain, order);
    frontiers.role[frontiers.block[f]] = role;
    return true;
  }
}

/** Blocks of a domain that are kept for failures. */
export function failureReserve(array: NandArray): number {
  return array.reliability === null ? 0 : 2;
}

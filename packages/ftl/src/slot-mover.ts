import type { NandArray, NandScheduler } from '@flashstack/nand-device';
import type { BlockTable } from './block-table.js';
import type { CollectorOwner, CollectorParts } from './collector-parts.js';
import type { Frontiers } from './frontier.js';
import type { FtlProbe } from './probe.js';
import type { FtlStats } from './stats.js';

/**
 * Moves the slots of victims where a slot is a page and slots of a block follow each other (`Frontiers.simple`), on an
 * array on which nothing can go wrong: what `Collector` does otherwise by read and append, in one step per slot. Most
 * flash operations of a worn-in drive are such moves.
 */
export class SlotMover {
  private readonly array: NandArray;
  private readonly table: BlockTable;
  private readonly frontiers: Frontiers;
  private readonly stats: FtlStats;
  private readonly owner: CollectorOwner;
  /** Slots are pages, and are moved over the bus. */
  private readonly fits: boolean;

  constructor(parts: CollectorParts) {
    const { array, table, frontiers, stats, owner, options } = parts;
    this.array = array;
    this.table = table;
    this.frontiers = frontiers;
    this.stats = stats;
    this.owner = owner;
    this.fits = frontiers.simple && !options.copyback;
  }

  /** True if slot `psn` can be moved here: what is still being programmed is in RAM, and is not read. */
  takes(psn: number, scheduler: NandScheduler): boolean {
    return this.fits && this.array.isIntact && !scheduler.isProgramming(psn);
  }

  /** Moves the valid slot `from` of `block`; returns 1, or 0 if there is no room. */
  move(domain: number, block: number, from: number, reason: number, probe: FtlProbe | null): number {
    const { array, table, frontiers, stats } = this;
    const lpn = array.lpn[from];
    const f = this.owner.moveFrontier(domain, block, reason, lpn);
    if (f < 0) return 0;
    const to = frontiers.nextSlot(f);
    const origin = array.origin[from];
    if (frontiers.contents !== null) frontiers.contents.fill(to, lpn, from, -1);
    table.valid[block]--;
    table.lastInvalid[block] = table.clock;
    table.valid[frontiers.block[f]]++;
    frontiers.l2p[lpn] = to;
    array.lpn[to] = lpn;
    array.origin[to] = origin;
    if (frontiers.listener !== null) frontiers.listener.mapped(lpn, from);
    frontiers.scheduler.relocate(from, to);
    stats.moveReads++;
    stats.moved[reason]++;
    stats.movedByOrigin[(reason << 8) | origin]++;
    frontiers.advance(f);
    if (probe !== null) probe.moved(lpn, from, to);
    return 1;
  }
}

import type { BlockTable, FreeOrder } from '../block-table.js';
import type { BlockEraser } from '../eraser.js';
import type { FtlProbe } from '../probe.js';
import { type FtlStats, MoveReason } from '../stats.js';
import type { BlockCopier } from './block-copier.js';
import type { DataBlocks } from './data-blocks.js';
import type { HybridLayout } from './layout.js';
import type { LogBlocks } from './log-blocks.js';
import type { LogMap } from './log-map.js';
import { type PlacedFrontiers, Role } from './placed-frontiers.js';
import type { FrontierNumbers, Space } from './space.js';

/** What merges work on. */
export interface MergerParts {
  readonly table: BlockTable;
  readonly layout: HybridLayout;
  readonly frontiers: PlacedFrontiers;
  readonly eraser: BlockEraser;
  readonly stats: FtlStats;
  readonly data: DataBlocks;
  readonly logs: LogBlocks;
  readonly map: LogMap;
  readonly space: Space;
  readonly numbers: FrontierNumbers;
  readonly copier: BlockCopier;
  readonly order: FreeOrder;
  readonly ownedByBlocks: boolean;
}

/** Kind of a log block to which slots have been copied already. */
const EXTENDED = 255;

/** Merges of log blocks into data blocks. */
export class Merger {
  probe: FtlProbe | null = null;
  private readonly parts: MergerParts;

  constructor(parts: MergerParts) {
    this.parts = parts;
  }

  /**
   * Full merge: the newest versions of all slots of `lbn` go to a fresh block, which becomes its data block. `urgent` as
   * in `Space.openForMerge`. For another `reason` than a merge it is not counted as one.
   * @returns false if there is no free block for it now.
   */
  full(lbn: number, urgent = false, reason: number = MoveReason.merge): boolean {
    const { layout, frontiers, stats, data, space, numbers, copier, order } = this.parts;
    const domain = layout.domainOf(lbn);
    const end = copier.liveEnd(lbn);
    if (end === 0) {
      data.drop(lbn);
      this.releaseOwned(lbn);
      return true;
    }
    const f = domain * numbers.perDomain + numbers.merge;
    // What is open of the data block is closed first: that may take the free block itself if a program fails.
    data.close(lbn);
    if (!space.openForMerge(f, domain, order, Role.data, urgent)) return false;
    const block = frontiers.block[f];
    data.lbnOf[block] = lbn;
    data.writePointer[block] = layout.slotsPerBlock;
    this.count(block, 0, reason);
    if (reason === MoveReason.merge) stats.fullMerges++;
    if (copier.copy(f, lbn, 0, end, reason) < 0) return true;
    if (frontiers.block[f] >= 0) data.leave(f);
    if (frontiers.role[block] === Role.data) data.install(lbn, block);
    this.releaseOwned(lbn);
    return true;
  }

  /**
   * Switch merge of a log block that is in order, or partial merge: what follows is copied behind. It becomes the data
   * block and is a log block no longer. @returns false if it is not in order, or holds a slot that is not the newest.
   */
  install(log: number): boolean {
    const { layout, frontiers, stats, data, logs, copier } = this.parts;
    if (!logs.isInOrder(log) || !this.isNewest(log)) return false;
    const lbn = logs.lbn[log];
    const block = logs.block[log];
    const f = logs.frontier(log);
    const from = logs.ordered[log];
    const copiedBefore = logs.kind[log] === EXTENDED;
    this.count(block, this.parts.table.valid[block], MoveReason.merge);
    data.close(lbn);
    logs.detach(log);
    frontiers.role[block] = Role.data;
    data.lbnOf[block] = lbn;
    data.writePointer[block] = layout.slotsPerBlock;
    this.forgetEntries(lbn, from);
    const end = copier.liveEnd(lbn);
    const copied = end > from ? copier.copy(f, lbn, from, end) : 0;
    if (copied === 0 && !copiedBefore) stats.switchMerges++;
    else stats.partialMerges++;
    // A failed program has made a stray of the block.
    if (copied < 0) return true;
    if (frontiers.block[f] === block) data.leave(f);
    if (frontiers.role[block] === Role.data) data.install(lbn, block);
    return true;
  }

  /**
   * Copies what precedes `offset` of `lbn` to its log block, which is in order; false if a program failed: then it is a
   * stray.
   */
  extend(log: number, lbn: number, offset: number): boolean {
    const { logs, frontiers, copier } = this.parts;
    const f = logs.frontier(log);
    const block = logs.block[log];
    const at = frontiers.positionAt(f);
    if (at === offset) return true;
    const copied = copier.copy(f, lbn, at, offset);
    if (copied < 0 || logs.block[log] !== block) return false;
    if (copied > 0) logs.kind[log] = EXTENDED;
    logs.lbn[log] = lbn;
    logs.ordered[log] = offset;
    return true;
  }

  /** Merges every logical block with a valid slot in `block`; false if there is no room to go on now. */
  evacuate(block: number, urgent = false): boolean {
    const { table, layout, frontiers } = this.parts;
    const { l2p, array } = frontiers;
    for (let at = 0; at < layout.slotsPerBlock && table.valid[block] > 0; at++) {
      const psn = layout.psnAt(block, at);
      const lpn = array.lpn[psn];
      if (lpn >= layout.logicalSlots || l2p[lpn] !== psn) continue;
      layout.locate(lpn);
      if (!this.full(layout.lbn, urgent)) return false;
    }
    return true;
  }

  /** The log block holds nothing that is valid: it is erased. */
  release(log: number): void {
    const { logs, table, frontiers, eraser } = this.parts;
    const block = logs.block[log];
    if (!logs.close(log)) return;
    logs.detach(log);
    frontiers.role[block] = Role.none;
    eraser.emptied(block, table.domainOf(block));
  }

  /** A log block of `lbn` alone that has been merged is erased. */
  private releaseOwned(lbn: number): void {
    const { logs, ownedByBlocks } = this.parts;
    if (!ownedByBlocks) return;
    const log = logs.ofOwner[lbn];
    if (log >= 0 && logs.valid(log) === 0) this.release(log);
  }

  /** True if no slot of the log block, which is in order, has a newer version elsewhere. */
  private isNewest(log: number): boolean {
    const { layout, frontiers, logs } = this.parts;
    if (logs.valid(log) === logs.ordered[log]) return true;
    for (let offset = 0; offset < logs.ordered[log]; offset++) {
      const lpn = layout.lpnAt(logs.lbn[log], offset);
      const psn = lpn < 0 ? -1 : frontiers.l2p[lpn];
      if (psn >= 0 && psn !== layout.psnAt(logs.block[log], offset)) return false;
    }
    return true;
  }

  /** The first `end` offsets of `lbn` are found by the block map from now on; none is elsewhere in the log. */
  private forgetEntries(lbn: number, end: number): void {
    const { layout, map } = this.parts;
    const first = lbn * layout.slotsPerBlock;
    for (let key = first; key < first + end; key++) map.delete(key);
  }

  private count(block: number, valid: number, reason: number): void {
    const { stats, table } = this.parts;
    if (stats.gcStartHost < 0 && reason === MoveReason.merge) {
      stats.gcStartHost = stats.host;
      stats.gcStartDomain = table.domainOf(block);
      stats.gcStartFree = table.freeCount[stats.gcStartDomain];
    }
    stats.runs[reason]++;
    if (this.probe !== null) this.probe.victim(block, valid, reason);
  }
}

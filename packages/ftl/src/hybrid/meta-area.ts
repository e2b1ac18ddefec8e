import { type NandArray, NandClass, type NandScheduler, NandStatus, type Token } from '@flashstack/nand-device';
import type { BlockTable } from '../block-table.js';
import type { Custody } from '../custody.js';
import type { BlockEraser } from '../eraser.js';
import { isInRam } from '../host-reads.js';
import { mostPadding } from '../paired-risk.js';
import { settle } from '../settle.js';
import { type FtlStats, MoveReason } from '../stats.js';
import type { TrimMap } from '../trim-map.js';
import { type PlacedFrontiers, Role } from './placed-frontiers.js';
import type { FrontierNumbers } from './space.js';

/** Blocks that the pages of the trim map may take in a domain, besides one more while the oldest is emptied. */
export function metaBlocks(
  domain: number,
  table: BlockTable,
  trimMap: TrimMap,
  array: NandArray,
  unit: number,
): number {
  const pages = Math.ceil((trimMap.pages - domain) / table.domains);
  if (pages <= 0) return 0;
  return 1 + Math.ceil((2 * (pages + mostPadding(array, table.members, unit))) / table.slotsPerBlock);
}

/** What the blocks of the trim map are made of. */
export interface MetaParts {
  readonly array: NandArray;
  readonly table: BlockTable;
  readonly stats: FtlStats;
  readonly trimMap: TrimMap;
  readonly numbers: FrontierNumbers;
  readonly unit: number;
}

/**
 * Blocks for the pages of the trim map, page-mapped: page j goes to domain j mod D, where a block that is full is followed
 * by another, and the oldest one is emptied when there are too many. None is taken before the first trim.
 */
export class MetaArea {
  scheduler: NandScheduler;
  private readonly parts: MetaParts;
  /** Blocks per domain, in the order in which they were opened. */
  private readonly blocks: number[][];
  private readonly limits: Int32Array;
  private frontiers!: PlacedFrontiers;
  private eraser!: BlockEraser;
  private upkeep!: Custody;

  constructor(parts: MetaParts, scheduler: NandScheduler) {
    const { array, table, trimMap, unit } = parts;
    this.parts = parts;
    this.scheduler = scheduler;
    this.blocks = Array.from({ length: table.domains }, () => []);
    this.limits = Int32Array.from(this.blocks, (_, domain) => metaBlocks(domain, table, trimMap, array, unit));
  }

  /** Once, before anything happens. */
  attach(frontiers: PlacedFrontiers, eraser: BlockEraser, upkeep: Custody): void {
    this.frontiers = frontiers;
    this.eraser = eraser;
    this.upkeep = upkeep;
  }

  /** Free blocks of the domain that are kept for the trim map. */
  reserve(domain: number): number {
    const limit = this.limits[domain];
    return limit === 0 ? 0 : Math.max(0, limit + 1 - this.blocks[domain].length);
  }

  /** Writes a page of the trim map; false if there is no room for it now. */
  write(page: number): boolean {
    const { table, trimMap, stats } = this.parts;
    const f = this.makeRoom(page % table.domains);
    if (f < 0) return false;
    trimMap.write(page, f, this.frontiers, stats, this.upkeep.lost);
    settle(this.frontiers, f);
    return true;
  }

  /** Moves the page of the trim map in slot `psn`; false if there is no room for it now. */
  rewrite(psn: number): boolean {
    const { array, table, trimMap } = this.parts;
    const f = this.makeRoom((array.lpn[psn] - trimMap.logicalSlots) % table.domains);
    if (f < 0) return false;
    // Making room may have moved it.
    if (this.frontiers.l2p[array.lpn[psn]] === psn) this.copy(psn, f);
    settle(this.frontiers, f);
    return true;
  }

  /** Takes over a block that recovery found; oldest first. */
  adopt(domain: number, block: number): void {
    this.frontiers.role[block] = Role.meta;
    this.blocks[domain].push(block);
  }

  /** `block` has failed: others take its pages. */
  forget(block: number): void {
    const list = this.blocks[this.parts.table.domainOf(block)];
    if (list.includes(block)) list.splice(list.indexOf(block), 1);
  }

  reset(): void {
    for (const list of this.blocks) list.length = 0;
  }

  private makeRoom(domain: number): number {
    const { table, numbers } = this.parts;
    const f = domain * numbers.perDomain + numbers.meta;
    const { block, role } = this.frontiers;
    // Emptying a block may fill the new one, if blocks are small; it gives one back each time.
    for (let tries = 0; block[f] < 0; tries++) {
      if (table.freeCount[domain] === 0 || tries > table.blocksPerDomain) return -1;
      this.frontiers.open(f, domain, 'youngest');
      role[block[f]] = Role.meta;
      this.blocks[domain].push(block[f]);
      while (this.blocks[domain].length > this.limits[domain] && block[f] >= 0) this.empty(domain, f);
    }
    return f;
  }

  private empty(domain: number, f: number): void {
    const { table, array, stats } = this.parts;
    const { l2p } = this.frontiers;
    const oldest = this.blocks[domain].shift() as number;
    stats.runs[MoveReason.gc]++;
    for (let i = 0; i < table.members; i++) {
      const physical = table.memberBlock[oldest * table.members + i];
      const first = physical * table.slotsPerMember;
      for (let psn = first; psn < first + table.slotsPerMember && table.valid[oldest] > 0; psn++) {
        const lpn = array.lpn[psn];
        if (lpn < l2p.length && l2p[lpn] === psn && this.frontiers.block[f] >= 0) this.copy(psn, f);
      }
    }
    settle(this.frontiers, f);
    if (table.valid[oldest] > 0) {
      // The new block failed, or is full: what is left follows when the next one has been opened.
      this.blocks[domain].unshift(oldest);
      return;
    }
    this.frontiers.role[oldest] = Role.none;
    this.eraser.emptied(oldest, domain);
  }

  private copy(psn: number, f: number): void {
    const { array, stats } = this.parts;
    const { slotsPerPage } = array.geometry;
    const ppn = Math.floor(psn / slotsPerPage);
    const lpn = array.lpn[psn];
    let after: Token = 0;
    // A page of the trim map waits for what it speaks of, and so must a copy that overtakes it.
    if (isInRam(this.frontiers, psn)) after = this.scheduler.fence();
    else {
      after = this.scheduler.read(ppn, 1 << (psn - ppn * slotsPerPage), NandClass.gcRead, 0);
      if (this.scheduler.status[after] === NandStatus.uncorrectable) this.upkeep.slotLost(lpn, psn);
      stats.moveReads++;
    }
    stats.moved[MoveReason.gc]++;
    stats.movedByOrigin[(MoveReason.gc << 8) | array.origin[psn]]++;
    this.frontiers.append(f, lpn, array.origin[psn], psn, -1, after);
  }
}

import type { Allocator } from './allocator.js';
import type { BlockTable } from './block-table.js';
import type { Collector } from './collector.js';
import type { CollectorOwner } from './collector-parts.js';
import { Custody, type CustodyParts } from './custody.js';
import type { BlockEraser } from './eraser.js';
import type { Frontiers } from './frontier.js';
import type { FrontierLayout } from './frontier-layout.js';
import type { Jobs } from './jobs.js';
import type { MapCache } from './map-cache/map-cache.js';
import { settle, settleAll } from './settle.js';
import { MoveReason } from './stats.js';
import type { StreamPolicy } from './streams.js';

/** What upkeep is about. */
export interface UpkeepParts extends CustodyParts {
  readonly table: BlockTable;
  readonly layout: FrontierLayout;
  /** Null if the whole map is in RAM. */
  readonly mapCache: MapCache | null;
  readonly streams: StreamPolicy;
}

/**
 * Where frontiers, collector and eraser meet: failures, lost slots, content words, and what must be durable before an
 * erase. None of it happens in the middle of a placement; `serve` does what has been put off.
 */
export class Upkeep extends Custody implements CollectorOwner {
  private readonly parts: UpkeepParts;
  private collector!: Collector;
  private allocator!: Allocator;

  constructor(parts: UpkeepParts) {
    super(parts);
    this.parts = parts;
  }

  /** Once, before anything happens. */
  attach(frontiers: Frontiers, collector: Collector, eraser: BlockEraser, allocator: Allocator, jobs: Jobs): void {
    this.frontiers = frontiers;
    this.collector = collector;
    this.eraser = eraser;
    this.allocator = allocator;
    this.jobs = jobs;
  }

  get perSlot(): Float64Array | null {
    return this.parts.streams.perSlot ?? null;
  }

  moveFrontier(domain: number, block: number, reason: number, lpn: number): number {
    return this.allocator.moveFrontier(domain, block, reason, lpn);
  }

  moveTarget(domain: number, block: number, reason: number): number {
    return this.allocator.moveTarget(domain, block, reason);
  }

  reclaiming(block: number): void {
    const { streams } = this.parts;
    if (streams.reclaimed !== undefined) streams.reclaimed(block);
  }

  relocated(block: number): void {
    if (this.parts.mapCache !== null) this.parts.mapCache.relocated(block);
  }

  override slotLost(lpn: number, psn: number): void {
    const { mapCache } = this.parts;
    if (mapCache !== null && lpn >= mapCache.firstSlot) mapCache.slotUnreadable(lpn);
    else super.slotLost(lpn, psn);
  }

  override slotStranded(lpn: number, job: number): void {
    super.slotStranded(lpn, job);
    if (this.parts.mapCache !== null && lpn < this.parts.trimMap.logicalSlots) this.parts.mapCache.unmapped(lpn);
  }

  protected override mapStranded(lpn: number): void {
    const { mapCache } = this.parts;
    if (mapCache !== null && lpn >= mapCache.firstSlot) mapCache.slotUnreadable(lpn);
    else super.mapStranded(lpn);
  }

  blockFailed(block: number, physicalBlock: number): void {
    this.eraser.fail(physicalBlock);
    this.collector.require(block, MoveReason.retirement);
  }

  rescueFrontier(f: number, block: number): number {
    const { table } = this.parts;
    const domain = table.domainOf(block);
    if (this.frontiers.block[f] < 0 && table.freeCount[domain] > 0) this.frontiers.open(f, domain, 'youngest');
    return this.frontiers.block[f] < 0 ? -1 : f;
  }

  trimReserve(block: number): number {
    const pages = this.parts.trimMap.mostNeeded(block);
    // One padding for host data that is collected, one behind the trim map.
    return pages === 0 ? 0 : pages + 2 * this.frontiers.mostPadding;
  }

  beforeErase(block: number, domain: number): boolean {
    const { trimMap, stats, layout } = this.parts;
    const { frontiers } = this;
    const pages = trimMap.neededBefore(block);
    if (pages.length === 0) return true;
    // A bit that is clear because of a newer write is true only once that write cannot vanish any more.
    settleAll(frontiers, layout.host);
    for (const page of pages) {
      const f = this.anyFrontier(domain, block);
      if (f < 0) return false;
      trimMap.write(page, f, frontiers, stats, this.lost);
      settle(frontiers, f);
    }
    return true;
  }

  /**
   * A frontier with room, if possible one for relocated data of the domain; −1 if there is none. While the domain has no
   * erased block, the one that collection took last should hold nothing but copies (see `Allocator`).
   */
  private anyFrontier(domain: number, block: number): number {
    const { table, layout } = this.parts;
    const open = this.frontiers.block;
    if (table.freeCount[domain] === 0) {
      const ofHost = (f: number): boolean => layout.gc > 0 && f % layout.total < layout.host;
      const spare = (f: number): boolean => table.freeCount[this.allocator.domainOf[f]] > 0 || ofHost(f);
      const other = open.findIndex((taken, f) => taken >= 0 && spare(f));
      if (other >= 0) return other;
    }
    const f = this.allocator.moveFrontier(domain, block, MoveReason.gc, this.parts.trimMap.logicalSlots);
    return f >= 0 ? f : open.findIndex((taken) => taken >= 0);
  }

  serve(): void {
    while (this.eraser.hasReady) this.eraser.serveReady();
    if (this.collector.hasUrgent) {
      this.collector.serveUrgent();
      this.eraser.serveReady();
    }
  }

  /** Takes over what the array asks to be written again, as far as it is in blocks of the table. */
  requireRefresh(): void {
    const { array, table } = this.parts;
    const { reliability } = array;
    if (reliability === null) return;
    for (const physical of reliability.reclaimQueue.splice(0)) {
      if (table.covers(physical)) this.collector.require(table.blockOfPhysical[physical], MoveReason.refresh);
      else reliability.reclaimQueue.push(physical);
    }
    for (const ppn of reliability.refreshQueue.splice(0)) {
      if (table.covers(array.geometry.blockOf(ppn))) this.collector.refresh(ppn);
      else reliability.refreshQueue.push(ppn);
    }
  }
}

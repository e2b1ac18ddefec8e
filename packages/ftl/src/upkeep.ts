import type { NandArray, NandClient } from '@flashstack/nand-device';
import type { Allocator } from './allocator.js';
import type { BlockTable } from './block-table.js';
import type { Collector, CollectorOwner } from './collector.js';
import { type FtlClient, FtlStatus } from './contract.js';
import type { BlockEraser, EraserOwner } from './eraser.js';
import type { Frontiers } from './frontier.js';
import type { FrontierLayout } from './frontier-layout.js';
import type { Jobs } from './jobs.js';
import { settle, settleAll } from './settle.js';
import { SlotFlag } from './slot-contents.js';
import { type FtlStats, MoveReason } from './stats.js';
import type { TrimMap } from './trim-map.js';

/** What upkeep is about. */
export interface UpkeepParts {
  readonly array: NandArray;
  readonly table: BlockTable;
  readonly stats: FtlStats;
  readonly client: FtlClient;
  readonly trimMap: TrimMap;
  readonly layout: FrontierLayout;
  /** Receives the completions of host programs and erases. */
  readonly completions: NandClient;
}

/**
 * Where frontiers, collector and eraser meet: failures, lost slots, content words, and what must be durable before an
 * erase. None of it happens in the middle of a placement; `serve` does what has been put off.
 */
export class Upkeep implements CollectorOwner, EraserOwner {
  /** Logical slots whose data was lost in a relocation (mapped), or could not be written anywhere (not mapped). */
  readonly lost: Set<number> = new Set();
  /** Too few good blocks are left to take writes. */
  readOnly = false;
  readonly completions: NandClient;
  private readonly parts: UpkeepParts;
  private frontiers!: Frontiers;
  private collector!: Collector;
  private eraser!: BlockEraser;
  private allocator!: Allocator;
  private jobs!: Jobs;

  constructor(parts: UpkeepParts) {
    this.parts = parts;
    this.completions = parts.completions;
  }

  /** Once, before anything happens. */
  attach(frontiers: Frontiers, collector: Collector, eraser: BlockEraser, allocator: Allocator, jobs: Jobs): void {
    this.frontiers = frontiers;
    this.collector = collector;
    this.eraser = eraser;
    this.allocator = allocator;
    this.jobs = jobs;
  }

  moveFrontier(domain: number, block: number, reason: number): number {
    return this.allocator.moveFrontier(domain, block, reason);
  }

  moveTarget(domain: number, block: number, reason: number): number {
    return this.allocator.moveTarget(domain, block, reason);
  }

  slotLost(lpn: number, psn: number): void {
    const flags = this.parts.array.flags;
    if (flags !== null) flags[psn] |= SlotFlag.lost;
    if (lpn < this.parts.trimMap.logicalSlots) this.addLost(lpn);
  }

  private addLost(lpn: number): void {
    if (this.lost.has(lpn)) return;
    this.lost.add(lpn);
    this.parts.stats.lost++;
    if (this.frontiers.probe !== null) this.frontiers.probe.lost(lpn);
  }

  slotStranded(lpn: number, job: number): void {
    this.readOnly = true;
    // The version before, if it was flushed, must be there after the next power cut.
    this.eraser.freeze();
    if (job >= 0) this.jobs.fail(job, FtlStatus.readOnly);
    if (lpn >= this.parts.trimMap.logicalSlots) this.parts.trimMap.stranded(lpn);
    else this.addLost(lpn);
  }

  successorFailed(lpn: number, block: number): void {
    // What has become of `lpn` since may be anywhere, and is as good as a trim to the old version.
    this.parts.trimMap.trimmed(lpn, block);
  }

  blockFailed(block: number, physicalBlock: number): void {
    this.eraser.fail(physicalBlock);
    this.collector.require(block, MoveReason.retirement);
  }

  eraseReady(block: number): void {
    this.eraser.released(block);
  }

  contentCopied(word: number, flags: number): void {
    if ((flags & SlotFlag.kindMask) === SlotFlag.trimMap) this.parts.trimMap.copied(word);
    else this.parts.client.wordCopied(word);
  }

  contentDead(word: number, flags: number): void {
    if ((flags & SlotFlag.kindMask) === SlotFlag.trimMap) this.parts.trimMap.dead(word);
    else this.parts.client.wordDead(word);
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

  hasTrims(block: number): boolean {
    return this.parts.trimMap.hasTrims(block);
  }

  trimsErased(block: number): void {
    this.parts.trimMap.erased(block);
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
    const f = this.allocator.moveFrontier(domain, block, MoveReason.gc);
    return f >= 0 ? f : open.findIndex((taken) => taken >= 0);
  }

  /** Nothing is known any more: power loss. */
  reset(): void {
    this.lost.clear();
    this.readOnly = false;
  }

  /** Work that could not be done in the middle of a placement. */
  serve(): void {
    while (this.eraser.hasReady) this.eraser.serveReady();
    if (this.collector.hasUrgent) {
      this.collector.serveUrgent();
      this.eraser.serveReady();
    }
  }

  /** Takes over what the array asks to be written again. */
  requireRefresh(): void {
    const { reliability } = this.parts.array;
    if (reliability === null) return;
    for (const physical of reliability.reclaimQueue.splice(0)) {
      this.collector.require(this.parts.table.blockOfPhysical[physical], MoveReason.refresh);
    }
    for (const ppn of reliability.refreshQueue.splice(0)) this.collector.refresh(ppn);
  }
}

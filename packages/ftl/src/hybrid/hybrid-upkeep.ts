import type { BlockTable } from '../block-table.js';
import { Custody, type CustodyParts } from '../custody.js';
import type { BlockEraser } from '../eraser.js';
import type { Jobs } from '../jobs.js';
import { settle, settleAll } from '../settle.js';
import type { DataBlocks } from './data-blocks.js';
import type { HybridLayout } from './layout.js';
import type { LogBlocks } from './log-blocks.js';
import type { LogMap } from './log-map.js';
import type { Merger } from './merger.js';
import type { MetaArea } from './meta-area.js';
import { type PlacedFrontiers, Role } from './placed-frontiers.js';
import { Refreshes } from './refreshes.js';
import type { FrontierNumbers, Space } from './space.js';

/** What the upkeep of a hybrid scheme is about. */
export interface HybridUpkeepParts extends CustodyParts {
  readonly table: BlockTable;
  readonly meta: MetaArea;
  readonly numbers: FrontierNumbers;
  readonly map: LogMap;
}

/** The parts that are made later. */
export interface UpkeepPeers {
  readonly frontiers: PlacedFrontiers;
  readonly eraser: BlockEraser;
  readonly jobs: Jobs;
  readonly layout: HybridLayout;
  readonly data: DataBlocks;
  readonly logs: LogBlocks;
  readonly merger: Merger;
  readonly space: Space;
}

/**
 * Failures and what must be durable before an erase. A block that failed becomes a stray: what is valid in it, and in the
 * block that took the rest of the failed unit, goes back to data blocks by full merges.
 */
export class HybridUpkeep extends Custody {
  private readonly parts: HybridUpkeepParts;
  private peers!: UpkeepPeers;
  /** Blocks to be emptied and erased. */
  private readonly strays: number[] = [];
  private readonly refreshes: Refreshes = new Refreshes();

  constructor(parts: HybridUpkeepParts) {
    super(parts);
    this.parts = parts;
  }

  /** Once, before anything happens. */
  attach(peers: UpkeepPeers): void {
    this.peers = peers;
    this.frontiers = peers.frontiers;
    this.eraser = peers.eraser;
    this.jobs = peers.jobs;
    this.refreshes.attach(this.parts.array, this.parts.table, peers);
  }

  get hasWork(): boolean {
    return this.strays.length > 0 || this.refreshes.hasWork;
  }

  beforeErase(block: number): boolean {
    const { trimMap, meta } = this.parts;
    const pages = trimMap.neededBefore(block);
    if (pages.length === 0) return true;
    // A bit that is clear because of a newer write is true only once that write cannot vanish any more.
    settleAll(this.frontiers, this.frontiers.perDomain);
    for (const page of pages) if (!meta.write(page)) return false;
    return true;
  }

  blockFailed(block: number, physicalBlock: number): void {
    this.eraser.fail(physicalBlock);
    this.makeStray(block);
  }

  rescueFrontier(_f: number, block: number): number {
    const { table, numbers } = this.parts;
    const { role } = this.peers.frontiers;
    const domain = table.domainOf(block);
    const to = domain * numbers.perDomain + numbers.rescue;
    if (this.frontiers.block[to] >= 0) return to;
    if (table.freeCount[domain] === 0) return -1;
    this.frontiers.open(to, domain, 'youngest');
    role[this.frontiers.block[to]] = Role.stray;
    this.strays.push(this.frontiers.block[to]);
    return to;
  }

  /** `block` is to be emptied and erased; all that is valid in it is found by the log map. */
  makeStray(block: number): void {
    const { data, logs, layout } = this.peers;
    const { role } = this.peers.frontiers;
    if (role[block] === Role.stray) return;
    if (role[block] === Role.data) data.forget(block);
    if (role[block] === Role.log) logs.detach(logs.logOf[block]);
    if (role[block] === Role.meta) this.parts.meta.forget(block);
    role[block] = Role.stray;
    this.strays.push(block);
    const { l2p, array } = this.frontiers;
    for (let at = 0; at < layout.slotsPerBlock; at++) {
      const psn = layout.psnAt(block, at);
      const lpn = array.lpn[psn];
      if (lpn < layout.logicalSlots && l2p[lpn] === psn) this.parts.map.set(layout.keyOf(lpn), psn);
    }
  }

  /** Takes over what the array asks to be written again; `serve` does it as soon as there is room. */
  requireRefresh(): void {
    this.refreshes.collect();
  }

  /** The same for what lies in one page. */
  requireRefreshOf(ppn: number): void {
    this.refreshes.list(ppn);
  }

  serve(): void {
    while (this.eraser.hasReady) this.eraser.serveReady();
    if (!this.hasWork) return;
    for (let i = 0; i < this.strays.length; i++) if (this.empty(this.strays[i])) i = -1;
    this.refreshes.serve();
    while (this.eraser.hasReady) this.eraser.serveReady();
  }

  /**
   * A cut can leave a merge that was neither done nor can be undone: its target holds the only version of a slot that it got
   * from RAM, and the blocks before it hold the rest. That is a block more than there are roles for.
   */
  override serveStuck(): void {
    this.serve();
    if (this.strays.length === 0 || this.eraser.inFlightTotal > 0 || !this.writeTrimMap()) return;
    const { space } = this.peers;
    space.lastResort = true;
    try {
      this.serve();
    } finally {
      space.lastResort = false;
    }
  }

  /** Writes what is dirty of the trim map; false if there is no room for it. */
  writeTrimMap(): boolean {
    const { trimMap, meta } = this.parts;
    settleAll(this.frontiers, this.frontiers.perDomain);
    for (let page = trimMap.nextDirty(0); page >= 0; page = trimMap.nextDirty(page + 1)) {
      if (!meta.write(page)) return false;
    }
    return true;
  }

  override reset(): void {
    super.reset();
    this.strays.length = 0;
    this.refreshes.reset();
  }

  /** Empties a stray; false if there is no room for it now. */
  private empty(block: number): boolean {
    const { table, numbers } = this.parts;
    const { merger, layout } = this.peers;
    const { role } = this.peers.frontiers;
    const { l2p, array } = this.frontiers;
    const domain = table.domainOf(block);
    const rescue = domain * numbers.perDomain + numbers.rescue;
    if (this.frontiers.block[rescue] === block) {
      settle(this.frontiers, rescue);
      if (this.frontiers.block[rescue] === block) this.frontiers.close(rescue);
    }
    merger.evacuate(block, true);
    for (let at = 0; at < layout.slotsPerBlock && table.valid[block] > 0; at++) {
      const psn = layout.psnAt(block, at);
      const lpn = array.lpn[psn];
      if (lpn >= layout.logicalSlots && lpn < l2p.length && l2p[lpn] === psn) this.parts.meta.rewrite(psn);
    }
    if (table.valid[block] > 0) return false;
    this.strays.splice(this.strays.indexOf(block), 1);
    role[block] = Role.none;
    this.eraser.emptied(block, domain);
    return true;
  }
}

import type { Allocator } from './allocator.js';
import type { Collector } from './collector.js';
import { FtlStatus } from './contract.js';
import { FtlError } from './errors.js';
import type { Frontiers } from './frontier.js';
import type { FrontierLayout } from './frontier-layout.js';
import { Done } from './frontier-parts.js';
import { HostQueue, type HostQueueTarget } from './host-queue.js';
import type { MapCache } from './map-cache/map-cache.js';
import { settle, settleAll } from './settle.js';
import { FROM_NOTHING, UNMAPPED } from './slot-contents.js';
import type { StreamPolicy } from './streams.js';
import type { TrimMap } from './trim-map.js';
import type { Upkeep } from './upkeep.js';

/** The FTL whose host writes these are. */
export interface HostWritesTarget extends HostQueueTarget {
  readonly logicalSlots: number;
  /** Slots from here on are not written for the host. */
  readonly hostSlots: number;
  readonly frontiers: Frontiers;
  readonly collector: Collector;
  readonly trimMap: TrimMap;
  readonly allocator: Allocator;
  readonly upkeep: Upkeep;
  readonly layout: FrontierLayout;
  /** Null if the whole map is in RAM. */
  readonly mapCache: MapCache | null;
}

/** Host operations on a page map: a slot may go to any frontier of the host that has room. */
export class HostWrites extends HostQueue {
  private readonly ftl: HostWritesTarget;
  /** Null if there is but one stream. */
  private readonly streams: StreamPolicy | null;
  /** With a map cache: the slot that found no room after its look-up, −1: none. */
  private lookedUp = -1;

  constructor(ftl: HostWritesTarget, streams: StreamPolicy | null) {
    super(ftl);
    this.ftl = ftl;
    this.streams = streams;
  }

  override clear(): void {
    super.clear();
    this.lookedUp = -1;
  }

  /**
   * Writes one slot that nobody waits for and that holds nothing, as preconditioning does. False if there is no room
   * before an erase is done.
   */
  writeUnattended(lpn: number, origin: number): boolean {
    return this.place(lpn, origin, 0, -1, FROM_NOTHING);
  }

  protected place(lpn: number, origin: number, hint: number, job: number, from: number): boolean {
    const { frontiers, collector, table, stats, upkeep, allocator, eraser, mapCache } = this.ftl;
    // The map is far larger than a CPU's cache: asked for so early, its entry comes from memory while room is found.
    if (frontiers.l2p[lpn] < UNMAPPED)
      throw new FtlError('ERR_FTL_ACCOUNTING', `the map has no valid entry for ${lpn}`);
    if (mapCache !== null) this.lookUp(mapCache, lpn, job);
    let stream = 0;
    let group = allocator.anyGroup;
    if (this.streams !== null) {
      // What nobody asked for belongs to no group.
      if (this.streams.group !== undefined && from !== FROM_NOTHING) group = this.streams.group(hint);
      const old = frontiers.l2p[lpn];
      stream = this.streams.choose(lpn, hint, old < 0 ? -1 : frontiers.blockOf(old));
    }
    const f = allocator.hostFrontier(lpn, stream, group);
    if (f < 0) {
      this.lookedUp = lpn;
      return false;
    }
    table.clock++;
    if (lpn < this.ftl.hostSlots) {
      stats.host++;
      stats.hostByOrigin[origin]++;
    } else stats.backups++;
    if (upkeep.lost.size > 0) upkeep.lost.delete(lpn);
    frontiers.append(f, lpn, origin, from, job, 0);
    if (group !== allocator.anyGroup && !allocator.isIn(group, f)) stats.outsideGroup++;
    if (this.streams?.written !== undefined) this.streams.written(lpn);
    collector.afterHostWrite(allocator.domainOf[f]);
    if (mapCache !== null) mapCache.writeBack();
    if (eraser.hasReady || collector.hasUrgent) upkeep.serve();
    return true;
  }

  /** Displaced entries go first, as the look-up comes before the change; a slot that was parked has been looked up. */
  private lookUp(mapCache: MapCache, lpn: number, job: number): void {
    if (this.lookedUp !== lpn) {
      mapCache.lookUpForWrite(lpn, job);
      mapCache.writeBack();
    }
    this.lookedUp = -1;
  }

  protected trimSlots(lpn: number, count: number, job: number): void {
    const { frontiers, stats, upkeep, mapCache } = this.ftl;
    for (let i = lpn; i < lpn + count; i++) {
      const psn = frontiers.l2p[i];
      if (psn === UNMAPPED) {
        if (upkeep.lost.size > 0 && upkeep.lost.delete(i)) this.ftl.trimMap.trimmedStranded(i);
        continue;
      }
      frontiers.invalidate(psn);
      frontiers.l2p[i] = UNMAPPED;
      if (mapCache !== null) mapCache.unmapped(i);
      this.ftl.trimMap.trimmed(i, frontiers.blockOf(psn));
      if (i < this.ftl.hostSlots) stats.trimmed++;
      if (upkeep.lost.size > 0) upkeep.lost.delete(i);
    }
    this.ftl.jobs.finishLater(job);
    if (mapCache === null) return;
    mapCache.writeBackRange(lpn, count);
    upkeep.serve();
  }

  /** Makes everything durable that was mapped before; false if the trim map finds no room yet. */
  protected flushNow(job: number): boolean {
    const { frontiers, trimMap, stats, allocator, collector } = this.ftl;
    if (trimMap.isDirty) {
      settleAll(frontiers, frontiers.perDomain);
      for (let page = trimMap.nextDirty(0); page >= 0; page = trimMap.nextDirty(page + 1)) {
        const f = allocator.hostFrontier(this.ftl.logicalSlots + page, 0, allocator.anyGroup);
        if (f < 0) {
          if (!this.ftl.upkeep.readOnly) return false;
          // Trims of a worn-out drive cannot be made durable any more.
          this.ftl.jobs.fail(job, FtlStatus.readOnly);
          break;
        }
        // Making room may have collected a block that needed this page.
        if (!trimMap.isPageDirty(page)) continue;
        trimMap.write(page, f, frontiers, stats, this.ftl.upkeep.lost);
        settle(frontiers, f);
        collector.afterHostWrite(allocator.domainOf[f]);
      }
    }
    settleAll(frontiers, this.ftl.layout.host);
    this.ftl.upkeep.serve();
    // The last blocks failed under the trim map.
    if (trimMap.isDirty && this.ftl.upkeep.readOnly) this.ftl.jobs.fail(job, FtlStatus.readOnly);
    this.ftl.frontiers.scheduler.then(this.ftl.frontiers.scheduler.fence(), this.ftl, (job << 3) | Done.job);
    return true;
  }
}

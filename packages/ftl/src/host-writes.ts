import type { NandClient } from '@flashstack/nand-device';
import type { Allocator } from './allocator.js';
import type { BlockTable } from './block-table.js';
import type { Collector } from './collector.js';
import { FtlStatus } from './contract.js';
import type { BlockEraser } from './eraser.js';
import { FtlError } from './errors.js';
import type { Frontiers } from './frontier.js';
import type { FrontierLayout } from './frontier-layout.js';
import { Done } from './frontier-parts.js';
import type { Jobs } from './jobs.js';
import { ParkedKind, ParkedQueue } from './parked.js';
import type { FtlProbe } from './probe.js';
import { settle, settleAll } from './settle.js';
import { FROM_HOST, FROM_NOTHING, UNMAPPED } from './slot-contents.js';
import type { FtlStats } from './stats.js';
import type { StreamPolicy } from './streams.js';
import type { TrimMap } from './trim-map.js';
import type { Upkeep } from './upkeep.js';

/** The FTL whose host writes these are. It receives the completions. */
export interface HostWritesTarget extends NandClient {
  readonly logicalSlots: number;
  readonly stats: FtlStats;
  readonly table: BlockTable;
  readonly frontiers: Frontiers;
  readonly collector: Collector;
  readonly eraser: BlockEraser;
  readonly trimMap: TrimMap;
  readonly allocator: Allocator;
  readonly upkeep: Upkeep;
  readonly layout: FrontierLayout;
  readonly jobs: Jobs;
  readonly probe: FtlProbe | null;
}

/**
 * What the host changes: writes, trims and flushes, in the order of their arrival. One that finds no free block is
 * parked, and everything behind it, until an erase is done.
 */
export class HostWrites {
  private readonly ftl: HostWritesTarget;
  private readonly parked: ParkedQueue = new ParkedQueue();
  /** Null if there is but one stream. */
  private readonly streams: StreamPolicy | null;

  constructor(ftl: HostWritesTarget, streams: StreamPolicy | null) {
    this.ftl = ftl;
    this.streams = streams;
  }

  /** Nothing waits any more: power loss. */
  clear(): void {
    this.parked.clear();
  }

  write(lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.ftl.jobs.begin(job, count);
    if (this.parked.length > 0) {
      this.park(ParkedKind.write, lpn, count, origin, stream, job);
      return;
    }
    const done = this.writeSlots(lpn, count, origin, stream, job);
    if (done < count) this.park(ParkedKind.write, lpn + done, count - done, origin, stream, job);
  }

  trim(lpn: number, count: number, job: number): void {
    this.ftl.jobs.begin(job, 1);
    if (this.parked.length > 0) this.park(ParkedKind.trim, lpn, count, 0, 0, job);
    else this.trimSlots(lpn, count, job);
  }

  flush(job: number): void {
    this.ftl.jobs.begin(job, 1);
    if (this.parked.length > 0 || !this.flushNow(job)) this.park(ParkedKind.flush, 0, 0, 0, 0, job);
  }

  /**
   * Writes one slot that nobody waits for and that holds nothing, as preconditioning does. False if there is no room
   * before an erase is done.
   */
  writeUnattended(lpn: number, origin: number): boolean {
    return this.place(lpn, origin, 0, -1, FROM_NOTHING);
  }

  /** Writes slots until one finds no room; returns how many were written. */
  private writeSlots(lpn: number, count: number, origin: number, hint: number, job: number): number {
    if (this.ftl.upkeep.readOnly) return this.refuse(job, count);
    for (let i = 0; i < count; i++) if (!this.place(lpn + i, origin, hint, job, FROM_HOST)) return i;
    return count;
  }

  private place(lpn: number, origin: number, hint: number, job: number, from: number): boolean {
    const { frontiers, collector, table, stats, upkeep, allocator, eraser } = this.ftl;
    let stream = 0;
    if (this.streams !== null) {
      const old = frontiers.l2p[lpn];
      stream = this.streams.choose(lpn, hint, old < 0 ? -1 : frontiers.blockOf(old));
    }
    const f = allocator.hostFrontier(lpn, stream);
    if (f < 0) return false;
    table.clock++;
    stats.host++;
    stats.hostByOrigin[origin]++;
    if (upkeep.lost.size > 0) upkeep.lost.delete(lpn);
    frontiers.append(f, lpn, origin, from, job, 0);
    collector.afterHostWrite(allocator.domainOf[f]);
    if (eraser.hasReady || collector.hasUrgent) upkeep.serve();
    return true;
  }

  private refuse(job: number, count: number): number {
    // Slots written before the drive became read-only may still be in flight.
    if (this.ftl.jobs.giveUp(job, count, FtlStatus.readOnly)) this.ftl.jobs.finishLater(job);
    return count;
  }

  private trimSlots(lpn: number, count: number, job: number): void {
    const { frontiers, stats, upkeep } = this.ftl;
    for (let i = lpn; i < lpn + count; i++) {
      const psn = frontiers.l2p[i];
      if (psn === UNMAPPED) {
        if (upkeep.lost.size > 0 && upkeep.lost.delete(i)) this.ftl.trimMap.trimmedStranded(i);
        continue;
      }
      frontiers.invalidate(psn);
      frontiers.l2p[i] = UNMAPPED;
      this.ftl.trimMap.trimmed(i, frontiers.blockOf(psn));
      stats.trimmed++;
      if (upkeep.lost.size > 0) upkeep.lost.delete(i);
    }
    this.ftl.jobs.finishLater(job);
  }

  /** Makes everything durable that was mapped before; false if the trim map finds no room yet. */
  private flushNow(job: number): boolean {
    const { frontiers, trimMap, stats, allocator, collector } = this.ftl;
    if (trimMap.isDirty) {
      settleAll(frontiers, frontiers.perDomain);
      for (let page = trimMap.nextDirty(0); page >= 0; page = trimMap.nextDirty(page + 1)) {
        const f = allocator.hostFrontier(this.ftl.logicalSlots + page, 0);
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

  private park(kind: number, lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.parked.push(kind, lpn, count, origin, stream, job);
    this.ftl.stats.parked++;
    this.ftl.jobs.park(job);
    if (this.ftl.probe !== null) this.ftl.probe.parked(job);
    if (this.parked.length === 1) this.resume();
  }

  /** Goes on with parked operations, as far as there is room. */
  resume(): void {
    const { parked } = this;
    if (parked.length === 0) return;
    while (parked.length > 0) {
      const at = parked.head;
      const job = parked.job[at];
      if (parked.kind[at] === ParkedKind.write) {
        const done = this.writeSlots(parked.lpn[at], parked.count[at], parked.origin[at], parked.stream[at], job);
        parked.lpn[at] += done;
        parked.count[at] -= done;
        if (parked.count[at] > 0) {
          this.stopIfStuck();
          return;
        }
      } else if (parked.kind[at] === ParkedKind.trim) this.trimSlots(parked.lpn[at], parked.count[at], job);
      else if (!this.flushNow(job)) {
        this.stopIfStuck();
        return;
      }
      this.ftl.jobs.resume(job);
      parked.shift();
    }
    if (this.ftl.probe !== null) this.ftl.probe.resumed();
  }

  /** Parked operations wait for an erase. If there is none, the drive has worn out, or our books are wrong. */
  private stopIfStuck(): void {
    const { eraser, table, upkeep, stats } = this.ftl;
    // The drive may have become read-only under the very operation: then what is parked is refused.
    if (upkeep.readOnly) this.resume();
    if (upkeep.readOnly || eraser.inFlightTotal > 0) return;
    for (let domain = 0; domain < table.domains; domain++) eraser.releaseWaiting(domain);
    eraser.retry();
    upkeep.serve();
    if (eraser.inFlightTotal > 0) return;
    if (stats.programFailures + stats.eraseFailures === 0) {
      throw new FtlError('ERR_FTL_STUCK', 'no block can be written, and no erase is under way that would free one');
    }
    upkeep.readOnly = true;
    this.resume();
  }
}

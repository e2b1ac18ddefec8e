import type { NandClient } from '@flashstack/nand-device';
import type { BlockTable } from './block-table.js';
import { FtlStatus } from './contract.js';
import type { Custody } from './custody.js';
import type { BlockEraser } from './eraser.js';
import { FtlError } from './errors.js';
import type { Jobs } from './jobs.js';
import { ParkedKind, ParkedQueue } from './parked.js';
import type { FtlProbe } from './probe.js';
import { FROM_HOST } from './slot-contents.js';
import type { FtlStats } from './stats.js';

/** The FTL whose host operations are queued. It receives the completions. */
export interface HostQueueTarget extends NandClient {
  readonly stats: FtlStats;
  readonly jobs: Jobs;
  readonly probe: FtlProbe | null;
  readonly eraser: BlockEraser;
  readonly table: BlockTable;
  readonly upkeep: Custody;
}

/**
 * What the host changes: writes, trims and flushes, in the order of their arrival. One that finds no free block is
 * parked, and everything behind it, until an erase is done.
 */
export abstract class HostQueue {
  private readonly owner: HostQueueTarget;
  private readonly parked: ParkedQueue = new ParkedQueue();

  constructor(owner: HostQueueTarget) {
    this.owner = owner;
  }

  /** Places one slot (`from` as in `Frontiers.append`); false if there is no room for it now. */
  protected abstract place(lpn: number, origin: number, hint: number, job: number, from: number): boolean;

  /** Unmaps slots; the job is done with it. */
  protected abstract trimSlots(lpn: number, count: number, job: number): void;

  /** Makes everything durable that was mapped before; false if there is no room for what that takes yet. */
  protected abstract flushNow(job: number): boolean;

  /** Nothing waits any more: power loss. */
  clear(): void {
    this.parked.clear();
  }

  write(lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.owner.jobs.begin(job, count);
    if (this.parked.length > 0) {
      this.park(ParkedKind.write, lpn, count, origin, stream, job);
      return;
    }
    const done = this.writeSlots(lpn, count, origin, stream, job);
    if (done < count) this.park(ParkedKind.write, lpn + done, count - done, origin, stream, job);
  }

  trim(lpn: number, count: number, job: number): void {
    this.owner.jobs.begin(job, 1);
    if (this.parked.length > 0) this.park(ParkedKind.trim, lpn, count, 0, 0, job);
    else this.trimSlots(lpn, count, job);
  }

  flush(job: number): void {
    this.owner.jobs.begin(job, 1);
    if (this.parked.length > 0 || !this.flushNow(job)) this.park(ParkedKind.flush, 0, 0, 0, 0, job);
  }

  /** Writes slots until one finds no room; returns how many were written. */
  private writeSlots(lpn: number, count: number, origin: number, hint: number, job: number): number {
    if (this.owner.upkeep.readOnly) return this.refuse(job, count);
    for (let i = 0; i < count; i++) if (!this.place(lpn + i, origin, hint, job, FROM_HOST)) return i;
    return count;
  }

  private refuse(job: number, count: number): number {
    // Slots written before the drive became read-only may still be in flight.
    if (this.owner.jobs.giveUp(job, count, FtlStatus.readOnly)) this.owner.jobs.finishLater(job);
    return count;
  }

  private park(kind: number, lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.parked.push(kind, lpn, count, origin, stream, job);
    this.owner.stats.parked++;
    this.owner.jobs.park(job);
    if (this.owner.probe !== null) this.owner.probe.parked(job);
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
      this.owner.jobs.resume(job);
      parked.shift();
    }
    if (this.owner.probe !== null) this.owner.probe.resumed();
  }

  /** Parked operations wait for an erase. If there is none, the drive has worn out, or our books are wrong. */
  private stopIfStuck(): void {
    // The drive may have become read-only under the very operation: then what is parked is refused.
    if (this.owner.upkeep.readOnly || !this.unstick()) this.resume();
  }

  /** Does what could free a block if nothing is in flight; false if the drive has become read-only. */
  private unstick(): boolean {
    const { eraser, table, upkeep, stats } = this.owner;
    if (eraser.inFlightTotal > 0) return true;
    for (let domain = 0; domain < table.domains; domain++) eraser.releaseWaiting(domain);
    eraser.retry();
    upkeep.serveStuck();
    if (eraser.inFlightTotal > 0) return true;
    if (stats.programFailures + stats.eraseFailures === 0) {
      throw new FtlError('ERR_FTL_STUCK', 'no block can be written, and no erase is under way that would free one');
    }
    upkeep.readOnly = true;
    return false;
  }
}

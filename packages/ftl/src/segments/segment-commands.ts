import type { NandClient, NandScheduler } from '@flashstack/nand-device';
import { FtlStatus } from '../contract.js';
import type { Jobs } from '../jobs.js';
import type { PageMapFtl } from '../page-map.js';
import { ParkedKind, ParkedQueue } from '../parked.js';
import type { FtlProbe } from '../probe.js';
import { FROM_HOST } from '../slot-contents.js';
import type { FtlStats } from '../stats.js';
import type { Backups } from './backups.js';
import type { InnerJobs } from './inner-jobs.js';
import { Readiness, type SegmentArea, SegmentFlag } from './segment-area.js';
import type { ZoneSettler } from './zone-settler.js';

/** The FTL whose commands these are. It receives the completions. */
export interface SegmentCommandsTarget extends NandClient {
  readonly area: SegmentArea;
  readonly store: PageMapFtl;
  readonly jobs: Jobs;
  readonly inner: InnerJobs;
  readonly backups: Backups;
  readonly settler: ZoneSettler;
  readonly stats: FtlStats;
  readonly scheduler: NandScheduler;
  readonly probe: FtlProbe | null;
}

/** Argument of `nandDone` for a part of a flush: no low bits of another kind. */
const FLUSH_DONE = 5;
/** What states of zones are written as: an origin that no host uses. */
const ZONE_STATE_ORIGIN = 29;
/** Job of a flush that nobody waits for. */
const NOBODY = -1;

/**
 * What the host changes: writes, releases, flushes and finished segments, in the order of their arrival. One that finds no
 * block is parked, and everything behind it, until an erase is done.
 */
export class SegmentCommands {
  private readonly ftl: SegmentCommandsTarget;
  private readonly parked: ParkedQueue = new ParkedQueue();
  /** Flushes under way, which end together, and those that came later. */
  private flushing: number[] = [];
  private readonly nextFlushes: number[] = [];
  private flushParts = 0;
  /** Released segments have been made durable in the page map, and the backups may be written. */
  private isSecond = false;
  /** The flush waits for the erases up to this one; 0: for none. */
  private flushErase = 0;
  /** Given to `release`, which must not make a function each time. */
  private readonly ended: (job: number) => void;

  constructor(ftl: SegmentCommandsTarget) {
    this.ftl = ftl;
    this.ended = (job) => this.ftl.jobs.finishLater(job);
  }

  /** Nothing waits any more: power loss. */
  clear(): void {
    this.parked.clear();
    this.flushing = [];
    this.nextFlushes.length = 0;
    this.flushParts = 0;
    this.flushErase = 0;
  }

  private get mustWait(): boolean {
    return this.parked.length > 0 || this.ftl.area.isHeld || this.ftl.inner.unplaced > 0;
  }

  write(lpn: number, count: number, origin: number, stream: number, job: number): void {
    const below = Math.max(0, Math.min(count, this.ftl.area.layout.plan.first - lpn));
    this.ftl.jobs.begin(job, count - below + (below > 0 ? 1 : 0));
    if (this.mustWait) {
      this.park(ParkedKind.write, lpn, count, origin, stream, job);
      return;
    }
    const done = this.startWrite(lpn, count, origin, stream, job);
    if (done < count) this.park(ParkedKind.write, lpn + done, count - done, origin, stream, job);
  }

  trim(lpn: number, count: number, job: number): void {
    const below = Math.max(0, Math.min(count, this.ftl.area.layout.plan.first - lpn));
    this.ftl.jobs.begin(job, below > 0 ? 2 : 1);
    if (this.mustWait) this.park(ParkedKind.trim, lpn, count, 0, 0, job);
    else this.trimNow(lpn, count, job);
  }

  flush(job: number): void {
    this.ftl.jobs.begin(job, 1);
    if (this.parked.length > 0) this.park(ParkedKind.flush, 0, 0, 0, 0, job);
    else this.flushNow(job);
  }

  finish(segment: number, job: number): void {
    this.ftl.jobs.begin(job, 1);
    if (this.mustWait || !this.finishNow(segment, job)) this.park(ParkedKind.finish, segment, 0, 0, 0, job);
  }

  reset(segment: number, job: number): void {
    this.ftl.jobs.begin(job, 1);
    if (this.mustWait) this.park(ParkedKind.reset, segment, 0, 0, 0, job);
    else this.resetNow(segment, job);
  }

  /** Makes a segment ready for its next slot. A `Readiness`. */
  prepare(segment: number): number {
    const { area, settler } = this.ftl;
    if (area.group[segment] < 0 && settler.mustWait(segment)) return Readiness.wait;
    return area.prepare(segment);
  }

  /** Adds slots to a segment that is ready for them. @returns how many: fewer if a program fails for good. */
  place(segment: number, count: number, origin: number, from: number, job: number): number {
    const { area, stats, backups, settler } = this.ftl;
    const placed = area.append(segment, count, origin, from, job);
    stats.host += placed;
    stats.hostByOrigin[origin] += placed;
    backups.touch(segment);
    if (settler.isLimited && area.isFull(segment)) settler.closed(segment, false, NOBODY);
    return placed;
  }

  /** @returns how many slots were dealt with; the others wait for a block. */
  private startWrite(lpn: number, count: number, origin: number, stream: number, job: number): number {
    const { area, jobs, store, inner } = this.ftl;
    const { first } = area.layout.plan;
    const below = Math.max(0, Math.min(count, first - lpn));
    if (count > below && !this.fits(Math.max(lpn, first), lpn + count)) {
      const parts = count - below + (below > 0 ? 1 : 0);
      if (jobs.giveUp(job, parts, FtlStatus.misplaced)) jobs.finishLater(job);
      return count;
    }
    if (below > 0) store.write(lpn, below, origin, stream, inner.partOf(job));
    return below + this.writeSegments(lpn + below, count - below, origin, job);
  }

  /** True if every part of the range is at the write pointer of its segment and fits. */
  private fits(from: number, end: number): boolean {
    const { area } = this.ftl;
    const { layout } = area;
    for (let lpn = from; lpn < end; ) {
      const segment = layout.segmentOf(lpn);
      const start = layout.start(segment);
      const stop = Math.min(end, start + layout.plan.stride);
      const anew = layout.plan.overwrite && lpn === start;
      if (!anew && (lpn - start !== area.pointer[segment] || area.isFull(segment))) return false;
      if (stop - start > layout.capacityOf(segment)) return false;
      lpn = stop;
    }
    return true;
  }

  private writeSegments(lpn: number, count: number, origin: number, job: number): number {
    const { area } = this.ftl;
    const { layout } = area;
    let done = 0;
    while (done < count) {
      const segment = layout.segmentOf(lpn + done);
      const offset = lpn + done - layout.start(segment);
      if (offset === 0 && (area.pointer[segment] > 0 || area.flags[segment] !== 0)) this.release(segment);
      const ready = this.prepare(segment);
      if (ready === Readiness.wait) return done;
      if (ready === Readiness.refused) return this.refuse(job, count - done, count);
      const slots = Math.min(count - done, layout.capacityOf(segment) - offset);
      const placed = this.place(segment, slots, origin, FROM_HOST, job);
      // A program that fails for good ends the segment in the middle of the write.
      if (placed < slots) return this.refuse(job, count - done - placed, count);
      done += slots;
    }
    return count;
  }

  private refuse(job: number, parts: number, count: number): number {
    // Slots written before may still be in flight.
    if (this.ftl.jobs.giveUp(job, parts, FtlStatus.readOnly)) this.ftl.jobs.finishLater(job);
    return count;
  }

  private release(segment: number): void {
    const { area, backups, inner, store } = this.ftl;
    const note = area.layout.plan.end + segment;
    if (area.isFull(segment) && note < store.logicalSlots) {
      store.trim(note, 1, inner.silent());
      if ((area.flags[segment] & SegmentFlag.finished) !== 0) backups.hasDropped = true;
    }
    backups.drop(segment);
    area.release(segment, this.ended);
  }

  private trimNow(lpn: number, count: number, job: number): void {
    const { area, store, inner, jobs } = this.ftl;
    const { layout } = area;
    const { first } = layout.plan;
    if (lpn < first) store.trim(lpn, Math.min(count, first - lpn), inner.partOf(job));
    const end = lpn + count;
    let segment = Math.max(0, Math.ceil((lpn - first) / layout.plan.stride));
    for (; segment < layout.segments; segment++) {
      if (layout.start(segment) + layout.capacityOf(segment) > end) break;
      if (area.pointer[segment] > 0 || area.flags[segment] !== 0) this.release(segment);
    }
    jobs.finishLater(job);
  }

  private resetNow(segment: number, job: number): void {
    const { area, settler, store } = this.ftl;
    const { contents } = store.frontiers;
    if (contents !== null) area.resetSeq[segment] = ++contents.seq;
    if (area.pointer[segment] > 0 || area.flags[segment] !== 0) this.release(segment);
    settler.reset(segment, this.mayComeBack(segment), job);
  }

  /** True if the page map holds of released segments what would bring them back after a power cut. */
  private mayComeBack(segment: number): boolean {
    const { backups, settler } = this.ftl;
    return backups.hasDropped || (this.flushing.length > 0 && !this.isSecond) || settler.isChanging(segment);
  }

  private finishNow(segment: number, job: number): boolean {
    const { area, store, inner, jobs, settler } = this.ftl;
    if (!area.isFull(segment)) {
      const ready = area.group[segment] < 0 ? Readiness.ready : area.prepare(segment);
      if (ready === Readiness.wait) return false;
      if (ready === Readiness.refused) jobs.fail(job, FtlStatus.readOnly);
      else {
        area.finish(segment);
        // Slots written later have larger numbers; they belong to another life of the segment.
        inner.setNote(segment, (store.frontiers.contents?.seq ?? 0) >>> 0);
        store.write(area.layout.plan.end + segment, 1, ZONE_STATE_ORIGIN, 0, inner.silent());
      }
    }
    const finished = (area.flags[segment] & SegmentFlag.finished) !== 0;
    settler.closed(segment, finished || this.mayComeBack(segment), job);
    return true;
  }

  /**
   * After a recovery: what was found in places where it could be destroyed is backed up before anything is written, and
   * before blocks with garbage are replaced.
   */
  makeSafe(): void {
    this.ftl.area.isHeld = true;
    this.flushNow(NOBODY);
  }

  private madeSafe(): void {
    const { area } = this.ftl;
    area.isHeld = false;
    for (let segment = 0; segment < area.layout.segments; segment++) {
      if ((area.flags[segment] & SegmentFlag.damaged) !== 0) area.parts.mender.mend(segment);
    }
    this.resume();
  }

  /** Flushes that come while one is under way end with the next one. */
  private flushNow(job: number): void {
    this.nextFlushes.push(job);
    if (this.flushing.length === 0) this.beginFlush();
  }

  private beginFlush(): void {
    const { backups, store, inner } = this.ftl;
    this.flushing = this.nextFlushes.splice(0);
    // Backups of a new life of a segment must not be found together with those of the life before.
    this.isSecond = !backups.hasDropped;
    if (this.isSecond) this.saveAll();
    else {
      backups.hasDropped = false;
      this.flushParts = 1;
      store.flush(inner.flush());
    }
  }

  private saveAll(): void {
    const { area, backups, store, inner, scheduler } = this.ftl;
    this.flushParts = 2;
    backups.save();
    store.flush(inner.flush());
    scheduler.then(scheduler.fence(), this.ftl, FLUSH_DONE);
    // A release is durable when its group is erased, and what had been replaced in the group before.
    this.flushErase = area.eraser.erasingGroups + area.eraser.erasingBlocks > 0 ? area.eraser.erases : 0;
    if (this.flushErase > 0) this.flushParts++;
  }

  /** The page map's part of the flush, its programs, or the erases that it waits for are done. */
  flushPartDone(status: number, token: number): void {
    const { jobs } = this.ftl;
    if (status !== FtlStatus.ok) this.failFlush(status);
    if (--this.flushParts > 0) return;
    if (!this.isSecond) {
      this.isSecond = true;
      this.saveAll();
      return;
    }
    this.ftl.backups.settle();
    const ended = this.flushing.concat(this.ftl.backups.takeCovered());
    this.flushing = [];
    if (this.nextFlushes.length > 0) this.beginFlush();
    for (const job of ended) {
      if (job === NOBODY) this.madeSafe();
      else jobs.partDone(job, token);
    }
  }

  /** What the flush under way covers will not be durable. */
  failFlush(status: number): void {
    for (const job of this.flushing) if (job !== NOBODY) this.ftl.jobs.fail(job, status);
    for (const job of this.ftl.backups.coveredJobs) this.ftl.jobs.fail(job, status);
  }

  /** A group or a block has been erased. */
  erased(token: number): void {
    this.ftl.settler.erased(token);
    this.resume();
    if (this.flushErase === 0 || this.ftl.area.eraser.oldestErase() <= this.flushErase) return;
    this.flushErase = 0;
    this.flushPartDone(FtlStatus.ok, token);
  }

  private park(kind: number, lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.parked.push(kind, lpn, count, origin, stream, job);
    this.ftl.stats.parked++;
    this.ftl.jobs.park(job);
    if (this.ftl.probe !== null) this.ftl.probe.parked(job);
  }

  /** Goes on with parked operations, as far as there is room. */
  resume(): void {
    const { parked } = this;
    if (parked.length === 0) return;
    while (parked.length > 0) {
      if (this.ftl.area.isHeld || this.ftl.inner.unplaced > 0) return;
      const at = parked.head;
      const job = parked.job[at];
      if (parked.kind[at] === ParkedKind.write) {
        const count = parked.count[at];
        const done = this.startWrite(parked.lpn[at], count, parked.origin[at], parked.stream[at], job);
        parked.lpn[at] += done;
        parked.count[at] -= done;
        if (done < count) return;
      } else if (parked.kind[at] === ParkedKind.finish) {
        if (!this.finishNow(parked.lpn[at], job)) return;
      } else if (parked.kind[at] === ParkedKind.reset) this.resetNow(parked.lpn[at], job);
      else if (parked.kind[at] === ParkedKind.trim) this.trimNow(parked.lpn[at], parked.count[at], job);
      else this.flushNow(job);
      this.ftl.jobs.resume(job);
      parked.shift();
    }
    if (this.ftl.probe !== null) this.ftl.probe.resumed();
  }
}

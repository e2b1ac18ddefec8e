import {
  type NandArray,
  NandClass,
  type NandClient,
  type NandScheduler,
  NandStatus,
  type Token,
} from '@flashstack/nand-device';
import type { BlockTable } from '../block-table.js';
import { type DriveFtl, type FtlClient, FtlStatus, type SegmentView } from '../contract.js';
import { FtlError } from '../errors.js';
import { Done } from '../frontier-parts.js';
import { Jobs } from '../jobs.js';
import type { FtlParts } from '../mapping.js';
import type { RecoveryReport } from '../oob-scan.js';
import { PageMapFtl } from '../page-map.js';
import { PageReads } from '../page-reads.js';
import type { FtlProbe } from '../probe.js';
import { FROM_NOTHING } from '../slot-contents.js';
import { FtlStats } from '../stats.js';
import { AreaRecovery } from './area-recovery.js';
import { Backups } from './backups.js';
import { BlockMender } from './block-mender.js';
import { BlockDone } from './group-eraser.js';
import { InnerJobs } from './inner-jobs.js';
import { inspectSegments } from './inspect.js';
import { Readiness, SegmentArea, SegmentFlag } from './segment-area.js';
import { SegmentCommands } from './segment-commands.js';
import type { SegmentDesign } from './segment-design.js';
import { SETTLED, ZoneSettler } from './zone-settler.js';

/**
 * An append-only FTL: a data area mapped by segments that are written in order and released as a whole, and beside it a
 * small page map for the slots below the data area, if there are any, and for what must be durable too early for its
 * place. There is no garbage collection in the data area.
 */
export class SegmentFtl implements DriveFtl, NandClient, SegmentView {
  readonly appendOnly = true;
  readonly logicalSlots: number;
  readonly tableBytes: number;
  readonly stats: FtlStats = new FtlStats();
  readonly array: NandArray;
  readonly first: number;
  readonly stride: number;
  readonly overwrite: boolean;
  readonly zones: SegmentView['zones'];
  /** @internal */
  readonly area: SegmentArea;
  /** @internal The page map. */
  readonly store: PageMapFtl;
  /** @internal */
  readonly jobs: Jobs;
  /** @internal */
  readonly inner: InnerJobs;
  /** @internal */
  readonly backups: Backups;
  /** @internal */
  readonly settler: ZoneSettler;
  /** @internal */
  scheduler: NandScheduler;
  private readonly client: FtlClient;
  private readonly reads: PageReads;
  private readonly commands: SegmentCommands;
  private readonly mender: BlockMender;
  private readonly keeps: boolean;

  /** The array must be empty, except for a call of `recover` right after. */
  constructor(parts: FtlParts, design: SegmentDesign) {
    const { array, scheduler, client, random } = parts;
    const { layout, zones } = design;
    this.array = array;
    this.scheduler = scheduler;
    this.client = client;
    this.logicalSlots = layout.plan.end;
    this.first = layout.plan.first;
    this.stride = layout.plan.stride;
    this.overwrite = layout.plan.overwrite;
    this.zones = zones;
    this.tableBytes = design.tableBytes;
    this.keeps = array.keeps !== 'nothing';
    this.inner = new InnerJobs(client, this);
    const region = {
      range: design.storeRange,
      hostSlots: this.first,
      mostMapped: design.mostMapped,
      stats: this.stats,
    };
    this.store = new PageMapFtl(
      { array, scheduler, client: this.inner, random, options: design.storeOptions },
      null,
      region,
    );
    this.mender = new BlockMender();
    this.area = new SegmentArea({
      array,
      scheduler,
      client,
      stats: this.stats,
      contents: this.store.frontiers.contents,
      backups: this.store.frontiers,
      layout,
      completions: this,
      mender: this.mender,
    });
    this.jobs = new Jobs(client, array, scheduler, this);
    this.mender.attach(this.area, this.jobs);
    this.inner.attach(this.area, this.jobs);
    this.backups = new Backups(this.area, this.store, this.inner);
    this.settler = new ZoneSettler(this, zones?.maxActive ?? 0);
    this.reads = new PageReads(array.geometry.slotsPerPage);
    this.commands = new SegmentCommands(this);
  }

  get segments(): SegmentView {
    return this;
  }

  get count(): number {
    return this.area.layout.segments;
  }

  set probe(probe: FtlProbe | null) {
    this.store.probe = probe;
    this.area.probe = probe;
  }

  get probe(): FtlProbe | null {
    return this.store.probe;
  }

  get tables(): readonly BlockTable[] {
    return [this.store.table, this.area.table];
  }

  get gcLow(): number {
    return this.store.gcLow;
  }

  get isUnused(): boolean {
    return this.area.blocks.openings === 0 && this.store.isUnused;
  }

  get mapBytes(): number {
    const { group, pointer, flags, table } = this.area;
    return this.store.mapBytes + table.bytes + group.byteLength + pointer.byteLength + flags.byteLength;
  }

  get doneParkedNs(): number {
    return this.jobs.doneParkedNs;
  }

  /** @internal */
  get storeParkedNs(): number {
    return this.store.doneParkedNs;
  }

  get readOnly(): boolean {
    return this.store.readOnly || this.area.exhausted;
  }

  get isIdle(): boolean {
    const { erasingGroups, erasingBlocks } = this.area.eraser;
    return this.jobs.active === 0 && erasingGroups + erasingBlocks === 0 && this.store.isIdle && this.settler.isIdle;
  }

  attachScheduler(scheduler: NandScheduler): void {
    if (!this.isIdle)
      throw new FtlError('ERR_FTL_BUSY', 'attachScheduler: jobs or erases are in flight; finish them first');
    this.store.attachScheduler(scheduler);
    this.scheduler = scheduler;
    this.jobs.scheduler = scheduler;
    this.area.scheduler = scheduler;
  }

  write(lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.check(lpn, count);
    this.commands.write(lpn, count, origin, stream, job);
  }

  trim(lpn: number, count: number, job: number): void {
    this.check(lpn, count);
    this.commands.trim(lpn, count, job);
  }

  flush(job: number): void {
    this.commands.flush(job);
  }

  finish(segment: number, job: number): void {
    this.check(this.area.layout.start(segment), 1);
    this.commands.finish(segment, job);
  }

  reset(segment: number, job: number): void {
    this.check(this.area.layout.start(segment), 1);
    this.commands.reset(segment, job);
  }

  read(lpn: number, count: number, job: number): void {
    this.check(lpn, count);
    const below = Math.max(0, Math.min(count, this.first - lpn));
    const { reads } = this;
    reads.clear(count - below);
    let status: number = FtlStatus.ok;
    for (let i = lpn + below; i < lpn + count; i++) if (!this.lookUp(i, job)) status = FtlStatus.unreadable;
    const parts = reads.count + (below > 0 ? 1 : 0);
    this.jobs.begin(job, parts === 0 ? 1 : parts);
    if (status !== FtlStatus.ok) this.jobs.fail(job, status);
    if (parts === 0) this.jobs.finishLater(job);
    this.stats.pageReads += reads.count;
    for (let i = 0; i < reads.count; i++) {
      const token = this.scheduler.read(reads.ppn[i], reads.mask[i], NandClass.userRead, 0);
      this.scheduler.then(token, this, (job << 3) | Done.job);
    }
    if (below > 0) this.store.read(lpn, below, this.inner.partOf(job));
  }

  /** Adds what a slot of the data area needs to `reads`; false if its data is lost. */
  private lookUp(lpn: number, job: number): boolean {
    const { area, stats } = this;
    const segment = area.layout.segmentOf(lpn);
    const offset = lpn - area.layout.start(segment);
    let psn = -1;
    let readable = true;
    stats.hostReads++;
    if (offset >= area.pointer[segment]) stats.unmappedReads++;
    else if (area.lost.size > 0 && area.lost.has(lpn)) readable = false;
    else {
      psn = area.contentOf(segment, offset);
      const inRam = offset >= area.issuedOf(segment) || this.scheduler.isProgramming(this.array.geometry.ppnOfPsn(psn));
      if (inRam) stats.ramReads++;
      else this.reads.add(psn);
    }
    if (this.keeps) this.client.slotRead(job, lpn, psn);
    return readable;
  }

  writeUnattended(lpn: number, origin: number): boolean {
    const { area } = this;
    if (lpn < this.first) return this.store.writeUnattended(lpn, origin);
    const segment = area.layout.segmentOf(lpn);
    const offset = lpn - area.layout.start(segment);
    // The end of a zone that cannot be written.
    if (offset >= area.layout.capacityOf(segment)) return true;
    if (offset !== area.pointer[segment]) {
      throw new FtlError('ERR_FTL_MISPLACED', `slot ${lpn} is not the next one of segment ${segment}`);
    }
    if (this.commands.prepare(segment) !== Readiness.ready) return false;
    this.commands.place(segment, 1, origin, FROM_NOTHING, -1);
    return true;
  }

  idle(untilNs: number): void {
    this.store.idle(untilNs);
    this.refresh();
  }

  /** Replaces blocks that are hard to read, as the array asks. */
  private refresh(): void {
    const { array } = this;
    const { reliability } = array;
    if (reliability === null) return;
    for (const physical of reliability.reclaimQueue.splice(0))
      this.refreshBlock(physical, reliability.reclaimQueue, physical);
    for (const ppn of reliability.refreshQueue.splice(0)) {
      this.refreshBlock(array.geometry.blockOf(ppn), reliability.refreshQueue, ppn);
    }
  }

  private refreshBlock(physical: number, queue: number[], entry: number): void {
    if (!this.area.blocks.owns(physical) || !this.mender.refresh(physical)) queue.push(entry);
  }

  capacityOf(segment: number): number {
    return this.area.layout.capacityOf(segment);
  }

  pointerOf(segment: number): number {
    return this.area.pointer[segment];
  }

  isFinished(segment: number): boolean {
    return (this.area.flags[segment] & SegmentFlag.finished) !== 0;
  }

  isReadOnly(segment: number): boolean {
    return (this.area.flags[segment] & SegmentFlag.frozen) !== 0;
  }

  powerCut(): void {
    this.store.powerCut();
    this.area.reset();
    this.backups.reset();
    this.settler.clear();
    this.jobs.clear();
    this.inner.clear();
    this.commands.clear();
  }

  recover(): RecoveryReport {
    const { contents } = this.store.frontiers;
    // The clock of both areas: before anything is written again.
    if (contents !== null) contents.seq = Math.max(contents.seq, this.newestSeq());
    const report = this.store.recover();
    report.mapped = 0;
    for (let lpn = 0; lpn < this.first; lpn++) if (this.store.frontiers.l2p[lpn] >= 0) report.mapped++;
    new AreaRecovery(this.area, this.store, this.backups, report).run();
    this.commands.makeSafe();
    return report;
  }

  private newestSeq(): number {
    const { array, area } = this;
    const seq = array.seq as Float64Array;
    let newest = 0;
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      if (!area.blocks.owns(physical)) continue;
      const first = physical * area.table.slotsPerMember;
      const end = first + array.nextPage[physical] * array.geometry.slotsPerPage;
      for (let psn = first; psn < end; psn++) if (seq[psn] > newest) newest = seq[psn];
    }
    return newest;
  }

  inspect(): void {
    inspectSegments(this);
  }

  /** @internal */
  storeFlushed(status: number, token: Token): void {
    this.commands.flushPartDone(status, token);
  }

  /** @internal */
  storeSettled(change: number, status: number, token: Token): void {
    this.settler.partDone(change, status, token);
  }

  /** @internal */
  backupRefused(status: number): void {
    this.commands.failFlush(status);
  }

  /** @internal */
  flushStore(change: number): void {
    this.store.flush(this.inner.change(change));
  }

  /** @internal */
  settled(): void {
    this.commands.resume();
  }

  /** @internal */
  storeAdvanced(): void {
    this.commands.resume();
  }

  nandDone(token: Token, arg: number, status: number): void {
    const id = arg >> 3;
    switch (arg & 7) {
      case Done.job:
        if (status === NandStatus.uncorrectable) this.jobs.fail(id, FtlStatus.unreadable);
        this.jobs.partDone(id, token);
        return;
      case Done.unit:
        this.unitDone(id, token);
        return;
      case Done.erase:
        this.area.eraser.groupErased(id);
        this.commands.erased(token);
        return;
      case BlockDone.spare:
      case BlockDone.retired:
        this.area.eraser.discarded(id);
        this.commands.erased(token);
        return;
      case SETTLED:
        this.settler.partDone(id, FtlStatus.ok, token);
        return;
      default:
        this.commands.flushPartDone(FtlStatus.ok, token);
    }
  }

  private unitDone(record: number, token: Token): void {
    const { records } = this.area;
    const count = records.count[record];
    const first = record * records.width;
    for (let i = 0; i < count; i++) this.jobs.partDone(records.jobs[first + i], token);
    records.release(record);
  }

  private check(lpn: number, count: number): void {
    if (lpn >= 0 && count > 0 && lpn + count <= this.logicalSlots) return;
    throw new RangeError(`slots ${lpn} … ${lpn + count - 1} are not in 0 … ${this.logicalSlots - 1}`);
  }
}

import {
  type NandArray,
  NandClass,
  type NandClient,
  type NandScheduler,
  NandStatus,
  type Token,
} from '@flashstack/nand-device';
import type { RandomSource } from '@flashstack/sim';
import { diesInOrder, unitsInOrder } from './allocation.js';
import { BlockTable } from './block-table.js';
import { Collector, type CollectorOwner } from './collector.js';
import { type Ftl, type FtlClient, FtlStatus } from './contract.js';
import { BlockEraser, type EraserOwner } from './eraser.js';
import { FtlError } from './errors.js';
import { Done, FROM_HOST, Frontiers, SlotFlag, UNMAPPED } from './frontier.js';
import { grown } from './grown.js';
import {
  checkCapacity,
  type FtlOptions,
  type ResolvedFtlOptions,
  resolveFtlOptions,
  resolveStrategy,
} from './options.js';
import { PageReads } from './page-reads.js';
import { ParkedKind, ParkedQueue } from './parked.js';
import type { FtlProbe } from './probe.js';
import { FtlStats, MoveReason } from './stats.js';
import { type StreamPolicy, streamKinds } from './streams.js';
import { TrimMap } from './trim-map.js';
import { victimKinds } from './victims/kinds.js';
import type { VictimPolicy } from './victims/policy.js';
import { type StaticWearLeveling, staticWearLeveling } from './wear-leveling.js';

/** What a page-mapping FTL is built on. */
export interface PageMapParts {
  readonly array: NandArray;
  readonly scheduler: NandScheduler;
  readonly client: FtlClient;
  /** Root of the random streams `ftl.victim` and `ftl.wearLevelling`. */
  readonly random: RandomSource;
  readonly options: FtlOptions;
}

/**
 * Page-mapping FTL: maps every logical slot to any physical slot. Mapping is decided when an operation is issued, so
 * the order of issue is the order of mapping on every scheduler.
 */
export class PageMapFtl implements Ftl, NandClient, CollectorOwner, EraserOwner {
  readonly logicalSlots: number;
  readonly options: ResolvedFtlOptions;
  readonly stats: FtlStats = new FtlStats();
  /** Columns of the allocation blocks, read-only for users. */
  readonly table: BlockTable;
  readonly array: NandArray;
  /** @internal */
  readonly frontiers: Frontiers;
  /** @internal */
  readonly collector: Collector;
  /** @internal */
  readonly eraser: BlockEraser;
  /** @internal */
  readonly trimMap: TrimMap;
  /** @internal */
  readonly victimPolicy: VictimPolicy;
  /** Logical slots whose data was lost in a relocation; reads of them fail until they are written or trimmed. */
  readonly lost: Set<number> = new Set();
  /** True once the drive has too few good blocks left to take writes. */
  readOnly = false;

  private readonly client: FtlClient;
  private readonly parked: ParkedQueue = new ParkedQueue();
  private readonly reads: PageReads;
  private readonly wear: StaticWearLeveling | null;
  private readonly streams: StreamPolicy | null;
  private readonly hostFrontiers: number;
  private readonly gcFrontier: number;
  private readonly wearFrontier: number;
  private readonly order: Int32Array;
  private readonly cursor: Int32Array;
  private readonly stripe: number;
  private readonly domainOfFrontier: Int32Array;
  private readonly keeps: boolean;
  private jobPending: Int32Array = new Int32Array(256);
  private jobStatus: Uint8Array = new Uint8Array(256);
  private jobs = 0;
  private scheduler: NandScheduler;

  /**
   * The array must be empty, except for a call of `recover` right after.
   * @throws InputError for options that are wrong or leave too little space to collect garbage.
   */
  constructor(parts: PageMapParts) {
    const { array, scheduler, client, random } = parts;
    const options = resolveFtlOptions(parts.options, array);
    this.options = options;
    this.array = array;
    this.scheduler = scheduler;
    this.client = client;
    this.logicalSlots = options.logicalSlots;
    this.keeps = array.keeps !== 'nothing';
    const g = array.geometry;
    const sorted = options.freeOrder !== 'fifo' || options.gcFreeOrder !== 'fifo';
    this.table = new BlockTable(array, options.domain, diesInOrder(g, options.order), sorted);
    const streams = resolveStrategy(parts.options.streams, 'none', streamKinds, 'stream policy');
    streams.attach(this.table);
    this.streams = streams.streams === 1 ? null : streams;
    this.victimPolicy = resolveStrategy(parts.options.victim, 'greedy', victimKinds, 'victim policy');
    this.victimPolicy.attach(this.table, random.stream('ftl.victim'));
    this.hostFrontiers = streams.streams;
    const gcFrontiers = options.placement === 'mixed' ? 0 : options.gcKeepsStream ? streams.streams : 1;
    this.gcFrontier = options.placement === 'mixed' ? 0 : this.hostFrontiers;
    this.wearFrontier = this.hostFrontiers + gcFrontiers;
    const perDomain = this.wearFrontier + (options.wearLevelling.kind === 'none' ? 0 : 1);
    this.trimMap = new TrimMap(options.logicalSlots, this.table, array);
    const mappedSlots = options.logicalSlots + this.trimMap.pages;
    checkCapacity(options, this.table, perDomain, mappedSlots);
    const { table, stats } = this;
    const shared = {
      array,
      table,
      stats,
      policy: this.victimPolicy,
      owner: this,
      options,
      slotsPerPage: g.slotsPerPage,
    };
    this.frontiers = new Frontiers({
      ...shared,
      scheduler,
      client,
      perDomain,
      mappedSlots,
      multiPlane: options.multiPlane,
    });
    this.eraser = new BlockEraser({ ...shared, frontiers: this.frontiers }, scheduler);
    this.collector = new Collector({ ...shared, frontiers: this.frontiers, eraser: this.eraser }, scheduler);
    this.wear = staticWearLeveling(options.wearLevelling, table, random.stream('ftl.wearLevelling'));
    this.reads = new PageReads(g.slotsPerPage);
    this.order = this.domainOrder();
    this.cursor = new Int32Array(this.hostFrontiers);
    this.stripe = this.frontiers.fullUnit;
    this.domainOfFrontier = Int32Array.from({ length: table.domains * perDomain }, (_, f) => Math.floor(f / perDomain));
  }

  /** Listener for events inside the FTL, or null. */
  set probe(probe: FtlProbe | null) {
    this.frontiers.probe = probe;
    this.collector.probe = probe;
    this.eraser.probe = probe;
  }

  get probe(): FtlProbe | null {
    return this.frontiers.probe;
  }

  /** Bytes of RAM that the mapping takes: map and block table. */
  get mapBytes(): number {
    return this.frontiers.l2p.byteLength + this.table.bytes;
  }

  /** True if no job is unfinished and no erase is in flight. */
  get isIdle(): boolean {
    return this.jobs === 0 && this.eraser.total === 0;
  }

  /** Goes on with another scheduler on the same array. @throws FtlError unless nothing is in flight. */
  attachScheduler(scheduler: NandScheduler): void {
    if (!this.isIdle)
      throw new FtlError('ERR_FTL_BUSY', 'attachScheduler: jobs or erases are in flight; finish them first');
    this.scheduler = scheduler;
    this.frontiers.scheduler = scheduler;
    this.collector.scheduler = scheduler;
    this.eraser.scheduler = scheduler;
  }

  write(lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.check(lpn, count);
    this.begin(job, count);
    if (this.parked.length > 0) {
      this.park(ParkedKind.write, lpn, count, origin, stream, job);
      return;
    }
    const done = this.writeSlots(lpn, count, origin, stream, job);
    if (done < count) this.park(ParkedKind.write, lpn + done, count - done, origin, stream, job);
  }

  read(lpn: number, count: number, job: number): void {
    this.check(lpn, count);
    const { l2p } = this.frontiers;
    const { reads, stats } = this;
    stats.hostReads += count;
    reads.clear(count);
    let status: number = FtlStatus.ok;
    for (let i = lpn; i < lpn + count; i++) {
      let psn = l2p[i];
      if (this.lost.size > 0 && this.lost.has(i)) {
        status = FtlStatus.unreadable;
        psn = UNMAPPED;
      } else if (psn === UNMAPPED) stats.unmappedReads++;
      else if (this.isInRam(psn)) stats.ramReads++;
      else reads.add(psn);
      if (this.keeps) this.client.slotRead(job, i, psn);
    }
    this.begin(job, reads.count === 0 ? 1 : reads.count);
    this.jobStatus[job] = status;
    if (reads.count === 0) this.finishLater(job);
    stats.pageReads += reads.count;
    for (let i = 0; i < reads.count; i++) {
      const token = this.scheduler.read(reads.ppn[i], reads.mask[i], NandClass.userRead, 0);
      this.scheduler.then(token, this, (job << 3) | Done.job);
    }
  }

  trim(lpn: number, count: number, job: number): void {
    this.check(lpn, count);
    this.begin(job, 1);
    if (this.parked.length > 0) this.park(ParkedKind.trim, lpn, count, 0, 0, job);
    else this.trimSlots(lpn, count, job);
  }

  flush(job: number): void {
    this.begin(job, 1);
    if (this.parked.length > 0 || !this.flushNow(job)) this.park(ParkedKind.flush, 0, 0, 0, 0, job);
  }

  /**
   * Uses idle dies until `untilNs`: collects garbage up to `gcHigh` free blocks per domain, and refreshes what the array
   * asks for. Moves as many pages as fit into the time, at the device's own read, transfer and program times.
   */
  idle(untilNs: number): void {
    const { timing } = this.array.config;
    const pageNs = Math.max(...timing.readNs) + Math.max(...timing.programNs) + 2 * timing.commandNs;
    const pages = Math.floor((untilNs - this.array.clock.now) / pageNs);
    this.requireRefresh();
    if (pages <= 0) return;
    for (let domain = 0; domain < this.table.domains; domain++) {
      this.collector.background(domain, pages, this.options.gcHigh);
    }
    this.serve();
  }

  nandDone(token: Token, arg: number, status: number): void {
    const id = arg >> 3;
    switch (arg & 7) {
      case Done.job:
        if (status === NandStatus.uncorrectable) this.jobStatus[id] = FtlStatus.unreadable;
        this.slotDone(id, token);
        return;
      case Done.unit:
        this.unitDone(id, token);
        return;
      default:
        this.eraseDone(id);
    }
  }

  // What frontiers, collector and eraser ask for. @internal

  /** @internal */
  moveFrontier(domain: number, block: number, reason: number): number {
    const { frontiers, table, options } = this;
    const first = domain * frontiers.perDomain;
    if (reason === MoveReason.wearLevelling) {
      const f = first + this.wearFrontier;
      if (frontiers.block[f] >= 0) return f;
      if (table.freeCount[domain] > options.gcHard) {
        frontiers.open(f, domain, 'oldest');
        return f;
      }
    }
    let k = this.gcFrontier;
    if (options.gcKeepsStream) {
      const stream = table.stream[block];
      k += stream < this.hostFrontiers ? stream : stream < this.wearFrontier ? stream - this.hostFrontiers : 0;
    }
    const f = first + k;
    if (frontiers.block[f] >= 0) return f;
    if (table.freeCount[domain] === 0) return -1;
    frontiers.open(f, domain, options.placement === 'mixed' ? options.freeOrder : options.gcFreeOrder);
    return f;
  }

  /** @internal */
  slotLost(lpn: number, psn: number): void {
    const flags = this.array.flags;
    if (flags !== null) flags[psn] |= SlotFlag.lost;
    if (lpn >= this.logicalSlots || this.lost.has(lpn)) return;
    this.lost.add(lpn);
    this.stats.lost++;
    if (this.probe !== null) this.probe.lost(lpn);
  }

  /** @internal */
  slotStranded(lpn: number): void {
    this.readOnly = true;
    this.lost.add(lpn);
    this.stats.lost++;
  }

  /** @internal */
  blockFailed(block: number, physicalBlock: number): void {
    this.eraser.fail(physicalBlock);
    this.collector.require(block, MoveReason.retirement);
  }

  /** @internal */
  eraseReady(block: number): void {
    this.eraser.released(block);
  }

  /** @internal */
  contentCopied(word: number, flags: number): void {
    if ((flags & SlotFlag.kindMask) === SlotFlag.trimMap) this.trimMap.copied(word);
    else this.client.wordCopied(word);
  }

  /** @internal */
  contentDead(word: number, flags: number): void {
    if ((flags & SlotFlag.kindMask) === SlotFlag.trimMap) this.trimMap.dead(word);
    else this.client.wordDead(word);
  }

  /** @internal */
  beforeErase(block: number, domain: number): void {
    const pages = this.trimMap.neededBefore(block);
    if (pages.length === 0) return;
    // A bit that is clear because of a newer write is true only once that write cannot vanish any more.
    this.frontiers.settle(this.frontiers.perDomain);
    for (const page of pages) this.trimMap.write(page, this.anyFrontier(domain, block), this.frontiers, this.stats);
    this.frontiers.settle(this.frontiers.perDomain);
  }

  private anyFrontier(domain: number, block: number): number {
    const f = this.moveFrontier(domain, block, MoveReason.gc);
    if (f >= 0) return f;
    const open = this.frontiers.block.findIndex((other) => other >= 0);
    if (open >= 0) return open;
    throw new FtlError('ERR_FTL_STUCK', 'no block is left to make trims durable before an erase');
  }

  private check(lpn: number, count: number): void {
    if (lpn >= 0 && count > 0 && lpn + count <= this.logicalSlots) return;
    throw new RangeError(`slots ${lpn} … ${lpn + count - 1} are not in 0 … ${this.logicalSlots - 1}`);
  }

  private begin(job: number, pending: number): void {
    while (job >= this.jobPending.length) {
      this.jobPending = grown(this.jobPending);
      this.jobStatus = grown(this.jobStatus);
    }
    this.jobPending[job] = pending;
    this.jobStatus[job] = FtlStatus.ok;
    this.jobs++;
  }

  private slotDone(job: number, token: Token): void {
    if (--this.jobPending[job] > 0) return;
    this.jobs--;
    this.client.ftlDone(job, this.jobStatus[job], token);
  }

  /** The job needs no NAND operation (any more): it is done at once, but not inside the call. */
  private finishLater(job: number): void {
    this.jobPending[job] = 1;
    this.scheduler.then(0, this, (job << 3) | Done.job);
  }

  private unitDone(record: number, token: Token): void {
    const { records } = this.frontiers;
    const count = records.count[record];
    const first = record * records.width;
    for (let i = 0; i < count; i++) this.slotDone(records.jobs[first + i], token);
    records.release(record);
  }

  private eraseDone(block: number): void {
    this.eraser.erased(block);
    if (this.wear !== null) this.wear.erased(block, this.collector);
    this.serve();
    if (this.parked.length > 0) this.resume();
  }

  /** Writes slots until one finds no room; returns how many were written. */
  private writeSlots(lpn: number, count: number, origin: number, hint: number, job: number): number {
    const { frontiers, collector, table, stats } = this;
    if (this.readOnly) return this.refuse(job, count);
    for (let i = 0; i < count; i++) {
      const slot = lpn + i;
      let stream = 0;
      if (this.streams !== null) {
        const old = frontiers.l2p[slot];
        stream = this.streams.choose(slot, hint, old < 0 ? -1 : frontiers.blockOf(old));
      }
      const f = this.hostFrontier(slot, stream);
      if (f < 0) return i;
      table.clock++;
      stats.host++;
      stats.hostByOrigin[origin]++;
      if (this.lost.size > 0) this.lost.delete(slot);
      frontiers.append(f, slot, origin, FROM_HOST, job, 0);
      collector.afterHostWrite(this.domainOfFrontier[f]);
      if (this.eraser.hasReady || collector.hasUrgent) this.serve();
    }
    return count;
  }

  private refuse(job: number, count: number): number {
    this.jobStatus[job] = FtlStatus.readOnly;
    this.jobPending[job] -= count;
    // Slots written before the drive became read-only may still be in flight.
    if (this.jobPending[job] === 0) this.finishLater(job);
    return count;
  }

  /** Frontier with room for the next host slot, or −1. */
  private hostFrontier(lpn: number, stream: number): number {
    const { frontiers, options, order } = this;
    const { perDomain } = frontiers;
    if (options.allocation === 'static') {
      const domain = order[Math.floor(lpn / this.stripe) % order.length];
      return this.hasRoom(domain * perDomain + stream, domain) ? domain * perDomain + stream : -1;
    }
    const start = this.cursor[stream];
    if (options.preferIdle && frontiers.collected(order[start] * perDomain + stream) === 0) {
      const idle = this.idleFrontier(start, stream);
      if (idle >= 0) return idle;
    }
    let at = start;
    do {
      const domain = order[at];
      const f = domain * perDomain + stream;
      const next = at + 1 === order.length ? 0 : at + 1;
      if (this.hasRoom(f, domain)) {
        this.cursor[stream] = frontiers.unitRoom(f) === 1 ? next : at;
        return f;
      }
      // Strictly in turn: wait for this domain, unless it can never make room.
      if (options.allocation === 'striped' && !this.collector.isStuck(domain)) return -1;
      at = next;
    } while (at !== start);
    return -1;
  }

  private idleFrontier(start: number, stream: number): number {
    const { frontiers, order, table, array } = this;
    for (let i = 0; i < order.length; i++) {
      const at = (start + i) % order.length;
      const domain = order[at];
      const f = domain * frontiers.perDomain + stream;
      const block = frontiers.block[f] >= 0 ? frontiers.block[f] : domain * table.blocksPerDomain;
      const ppn = table.memberBlock[block * table.members] * array.geometry.pagesPerBlock;
      if (!this.scheduler.isIdle(ppn) || !this.hasRoom(f, domain)) continue;
      this.cursor[stream] = frontiers.unitRoom(f) === 1 ? (at + 1) % order.length : at;
      return f;
    }
    return -1;
  }

  private hasRoom(f: number, domain: number): boolean {
    const { frontiers, table, options } = this;
    if (frontiers.block[f] >= 0) return true;
    if (table.freeCount[domain] <= options.gcHard) {
      this.collector.makeRoom(domain);
      if (frontiers.block[f] >= 0) return true;
      if (table.freeCount[domain] <= options.gcHard) return false;
    }
    frontiers.open(f, domain, options.freeOrder);
    return true;
  }

  private trimSlots(lpn: number, count: number, job: number): void {
    const { frontiers, stats } = this;
    for (let i = lpn; i < lpn + count; i++) {
      const psn = frontiers.l2p[i];
      if (psn === UNMAPPED) continue;
      frontiers.invalidate(psn);
      frontiers.l2p[i] = UNMAPPED;
      this.trimMap.trimmed(i, frontiers.blockOf(psn));
      stats.trimmed++;
      if (this.lost.size > 0) this.lost.delete(i);
    }
    this.finishLater(job);
  }

  /** Makes everything durable that was mapped before; false if the trim map finds no room yet. */
  private flushNow(job: number): boolean {
    const { frontiers, trimMap } = this;
    if (trimMap.isDirty) {
      frontiers.settle(frontiers.perDomain);
      for (let page = trimMap.nextDirty(0); page >= 0; page = trimMap.nextDirty(page + 1)) {
        const f = this.hostFrontier(this.logicalSlots + page, 0);
        if (f < 0) return false;
        trimMap.write(page, f, frontiers, this.stats);
        this.collector.afterHostWrite(this.domainOfFrontier[f]);
      }
    }
    frontiers.settle(this.hostFrontiers);
    this.serve();
    this.scheduler.then(this.scheduler.fence(), this, (job << 3) | Done.job);
    return true;
  }

  private park(kind: number, lpn: number, count: number, origin: number, stream: number, job: number): void {
    this.parked.push(kind, lpn, count, origin, stream, job);
    this.stats.parked++;
    if (this.probe !== null) this.probe.parked(job);
    if (this.parked.length === 1) this.resume();
  }

  /** Goes on with parked operations, as far as there is room. */
  private resume(): void {
    const { parked } = this;
    while (parked.length > 0) {
      const at = parked.head;
      const job = parked.job[at];
      if (parked.kind[at] === ParkedKind.write) {
        const done = this.writeSlots(parked.lpn[at], parked.count[at], parked.origin[at], parked.stream[at], job);
        parked.lpn[at] += done;
        parked.count[at] -= done;
        if (parked.count[at] > 0) return this.stopIfStuck();
      } else if (parked.kind[at] === ParkedKind.trim) this.trimSlots(parked.lpn[at], parked.count[at], job);
      else if (!this.flushNow(job)) return this.stopIfStuck();
      parked.shift();
    }
    if (this.probe !== null) this.probe.resumed();
  }

  /** Parked operations wait for an erase. If there is none, the drive has worn out, or our books are wrong. */
  private stopIfStuck(): void {
    if (this.eraser.total > 0 || this.readOnly) return;
    if (this.stats.retired === 0) {
      throw new FtlError('ERR_FTL_STUCK', 'no block can be written, and no erase is under way that would free one');
    }
    this.readOnly = true;
    this.resume();
  }

  /** Work that could not be done in the middle of a placement. */
  private serve(): void {
    while (this.eraser.hasReady) this.eraser.serveReady();
    if (this.collector.hasUrgent) {
      this.collector.serveUrgent();
      this.eraser.serveReady();
    }
  }

  private requireRefresh(): void {
    const { reliability } = this.array;
    if (reliability === null) return;
    for (const physical of reliability.reclaimQueue.splice(0)) {
      this.collector.require(this.table.blockOfPhysical[physical], MoveReason.refresh);
    }
    for (const ppn of reliability.refreshQueue.splice(0)) this.collector.refresh(ppn);
  }

  /** A page that is collected but not issued, or whose program has not ended, is still in controller RAM. */
  private isInRam(psn: number): boolean {
    const { geometry, nextPage } = this.array;
    const ppn = geometry.ppnOfPsn(psn);
    if (!this.frontiers.simple && geometry.pageOf(ppn) >= nextPage[geometry.blockOf(ppn)]) return true;
    return this.scheduler.isProgramming(ppn);
  }

  private domainOrder(): Int32Array {
    const g = this.array.geometry;
    if (this.options.domain === 'unit') return unitsInOrder(g, this.options.order);
    return this.options.domain === 'die' ? diesInOrder(g, this.options.order) : Int32Array.of(0);
  }
}

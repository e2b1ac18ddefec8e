import { BlockFlag, BlockOp, BlockStatus } from '@flashstack/block-device';
import { CONTENT_HANDLE, type Ftl, type FtlClient, FtlStatus } from '@flashstack/ftl';
import type { NandScheduler, Token } from '@flashstack/nand-device';
import type { EventTarget, Simulator } from '@flashstack/sim';
import type { SsdConfig } from './config.js';
import type { RequestContents } from './contents.js';
import { HostTimelines } from './host-timelines.js';
import { chargeNand, gcShare, PHASES, Phase } from './phases.js';
import { JobTable, RequestQueues, type RequestTable } from './request-table.js';
import type { SsdCounters } from './stats.js';
import { Waiters } from './waiters.js';
import { EntryState, WriteBuffer } from './write-buffer.js';

const NONE = -1;

/** What the next event of a request does. */
const Stage = { read: 0, preflush: 1, write: 2, flush: 3, discard: 4, persist: 5, reply: 6 } as const;

/** What a job of the FTL is. */
const Job = { read: 0, write: 1, trim: 2, flush: 3, entry: 4, fill: 5, pad: 6 } as const;

/** Event arguments that are no request. */
const PAD_EVENT = -1;
const IDLE_EVENT = -2;

/** What the controller needs of an FTL besides the contract, to tell where time went. */
export interface TimedFtl extends Ftl {
  /** During `ftlDone`: how long the slots of the job waited for a free block, ns. */
  readonly doneParkedNs?: number;
}

/** Where finished requests go. */
export interface HostPort {
  /** The request is done at the present simulated time; its handle is the port's to release. */
  finished(h: number): void;
}

/** What a controller is built from. */
export interface ControllerParts {
  readonly simulator: Simulator;
  readonly config: SsdConfig;
  readonly table: RequestTable;
  readonly port: HostPort;
  readonly counters: SsdCounters;
}

/**
 * Carries out commands: firmware and link time, write buffer, and the FTL. Everything in it is volatile: a power cut
 * replaces the whole object, and what is still scheduled for the old one falls flat.
 */
export class Controller implements FtlClient, EventTarget {
  /** Requests under way. */
  active = 0;
  readonly timelines: HostTimelines;
  readonly buffer: WriteBuffer;
  private ftl!: TimedFtl;
  private scheduler!: NandScheduler;
  private readonly simulator: Simulator;
  private readonly config: SsdConfig;
  private readonly table: RequestTable;
  private readonly port: HostPort;
  /** Null: the drive keeps no contents. */
  private contents: RequestContents | null = null;
  private readonly counters: SsdCounters;
  private readonly jobs: JobTable = new JobTable();
  private readonly waiters: Waiters = new Waiters();
  /** Writes that wait for room in the buffer, and flushes that wait for dirty entries. */
  private readonly admission: RequestQueues;
  private readonly flushes: number[] = [];
  private readonly blocksPerSlot: number;
  private readonly slotBytes: number;
  private readonly fullMask: number;
  private readonly chunkSlots: number;
  private readonly buffered: boolean;
  private readonly early: boolean;
  private readonly inFlightLimit: number;
  private readonly highSlots: number;
  private readonly lowSlots: number;
  private readonly padded: boolean;
  private readonly kept: boolean;
  private draining = false;
  private padArmed = false;
  private idleArmed = false;
  private dead = false;
  private beginning = false;
  private trimmedSinceFlush = false;
  private lostWrites = 0;
  /** Share of the time of the last drained entry that garbage collection caused. */
  private drainGcShare = 0;

  constructor(parts: ControllerParts) {
    const { config } = parts;
    const { geometry } = config.nand;
    const { buffer } = config;
    this.simulator = parts.simulator;
    this.config = config;
    this.table = parts.table;
    this.port = parts.port;
    this.counters = parts.counters;
    this.timelines = new HostTimelines(config.link, config.firmware);
    this.slotBytes = geometry.slotBytes;
    this.blocksPerSlot = geometry.slotBytes / config.blockBytes;
    this.fullMask = this.blocksPerSlot === 32 ? -1 : (1 << this.blocksPerSlot) - 1;
    this.chunkSlots =
      config.link === null ? 0x7fff_ffff : Math.max(1, Math.floor(config.link.chunkBytes / this.slotBytes));
    this.buffered = buffer !== null;
    this.early = buffer?.earlyCompletion ?? false;
    this.buffer = new WriteBuffer(buffer?.slots ?? Number.POSITIVE_INFINITY);
    const limit = buffer?.inFlightSlots ?? 0;
    this.inFlightLimit = buffer === null ? Number.POSITIVE_INFINITY : limit > 0 ? limit : 2 * openSlots(config);
    this.highSlots = buffer?.drain === 'watermark' ? Math.floor(buffer.slots * buffer.highWatermark) : 0;
    this.lowSlots = buffer?.drain === 'watermark' ? Math.floor(buffer.slots * buffer.lowWatermark) : 0;
    this.padded = programSlots(config) > 1;
    this.kept = config.powerLossProtection;
    this.admission = new RequestQueues(this.table, 1);
  }

  /** Power is gone: nothing that was scheduled for this controller has any effect from now on. */
  cut(): void {
    this.dead = true;
  }

  /** What commands are carried out with. Before the first command, and again only while nothing is under way. */
  attach(ftl: TimedFtl, scheduler: NandScheduler, contents: RequestContents | null): void {
    this.ftl = ftl;
    this.scheduler = scheduler;
    this.contents = contents;
  }

  /** Begins a request that has a command slot. It never ends inside this call. */
  begin(h: number): void {
    const { table } = this;
    const now = this.simulator.now;
    this.active++;
    this.beginning = true;
    table.phasesNs[h * PHASES + Phase.link] += now - table.issuedNs[h];
    table.markNs[h] = now;
    const { firmware } = this.config;
    switch (table.op[h]) {
      case BlockOp.read:
        table.stage[h] = Stage.read;
        this.compute(h, firmware.readNs + firmware.readSlotNs * (Math.min(this.chunkSlots, table.slots[h]) - 1));
        break;
      case BlockOp.write:
        if ((table.flags[h] & BlockFlag.preflush) !== 0) {
          table.stage[h] = Stage.preflush;
          this.startFlush(h);
        } else {
          this.receive(h);
        }
        break;
      case BlockOp.flush:
        table.stage[h] = Stage.flush;
        this.compute(h, firmware.flushNs);
        break;
      default:
        table.stage[h] = Stage.discard;
        this.compute(h, firmware.discardNs);
    }
    this.beginning = false;
  }

  /** Simulator only. */
  fire(arg: number): void {
    if (this.dead) return;
    if (arg >= 0) this.step(arg);
    else if (arg === PAD_EVENT) this.pad();
    else this.offerIdle();
  }

  private step(h: number): void {
    switch (this.table.stage[h]) {
      case Stage.read:
        this.readStep(h);
        break;
      case Stage.write:
        this.writeStep(h);
        break;
      case Stage.flush:
        this.startFlush(h);
        break;
      case Stage.discard:
        this.discardStep(h);
        break;
      default:
        this.finish(h);
    }
  }

  /** Spends firmware time, then goes on with the request's stage. */
  private compute(h: number, costNs: number): void {
    const { table } = this;
    const now = this.simulator.now;
    const latencyNs = table.stage[h] === Stage.read ? this.config.firmware.readPipelineNs : 0;
    const end = latencyNs + (costNs === 0 ? now : this.timelines.core(table.lpn[h], now, costNs));
    if (end === now) {
      this.step(h);
      return;
    }
    table.phasesNs[h * PHASES + Phase.firmware] += end - now;
    table.markNs[h] = end;
    this.simulator.at(end, this, h);
  }

  // Reads

  private readStep(h: number): void {
    const { table } = this;
    const { readSlotNs } = this.config.firmware;
    for (;;) {
      const first = table.placed[h];
      const count = Math.min(this.chunkSlots, table.slots[h] - first);
      table.placed[h] += count;
      this.lookUp(h, first, count);
      const rest = table.slots[h] - table.placed[h];
      if (rest === 0) break;
      if (readSlotNs === 0) continue;
      const now = this.simulator.now;
      const end = this.timelines.core(table.lpn[h], now, readSlotNs * Math.min(this.chunkSlots, rest));
      table.phasesNs[h * PHASES + Phase.firmware] += end - now;
      table.markNs[h] = end;
      this.simulator.at(end, this, h);
      return;
    }
    if (table.pending[h] === 0) this.reply(h);
  }

  /** Serves slots from the buffer or asks the FTL, in runs. */
  private lookUp(h: number, first: number, count: number): void {
    const { table, buffer } = this;
    const lpn = table.lpn[h] + first;
    if (buffer.used === 0) {
      this.readFlash(h, lpn, count);
      return;
    }
    let runStart = 0;
    let overlaid = false;
    for (let i = 0; i < count; i++) {
      const entry = buffer.find(lpn + i);
      const wanted = this.maskOf(h, first + i);
      if (entry === NONE || (buffer.mask[entry] & wanted) !== wanted) {
        if (entry !== NONE) overlaid = true;
        continue;
      }
      if (i > runStart) this.readFlash(h, lpn + runStart, i - runStart);
      runStart = i + 1;
      this.counters.bufferReadHits++;
      if (this.contents !== null) this.contents.deliverRecord(h, lpn + i, wanted, buffer.record[entry]);
      this.send(h, 1);
    }
    if (runStart < count) this.readFlash(h, lpn + runStart, count - runStart);
    // The FTL has delivered what flash holds; newer blocks of partly buffered slots go on top.
    if (overlaid && this.contents !== null) this.overlay(h, first, count);
  }

  private overlay(h: number, first: number, count: number): void {
    const { table, buffer } = this;
    for (let i = first; i < first + count; i++) {
      const entry = buffer.find(table.lpn[h] + i);
      if (entry === NONE) continue;
      const mask = buffer.mask[entry] & this.maskOf(h, i);
      this.contents?.deliverRecord(h, table.lpn[h] + i, mask, buffer.record[entry]);
    }
  }

  private readFlash(h: number, lpn: number, count: number): void {
    this.table.pending[h]++;
    this.ftl.read(lpn, count, this.jobs.acquire(Job.read, h, lpn, count));
  }

  /** Books the transfer of slots to the host. */
  private send(h: number, slots: number): void {
    const { table } = this;
    if (this.config.link === null) return;
    const bytes = Math.min(slots * this.slotBytes, table.linkBytes[h]);
    const first = table.linkNs[h] === 0;
    table.linkBytes[h] -= bytes;
    table.linkNs[h] = this.timelines.send(this.simulator.now, bytes, first);
  }

  /** All parts of a read are in: it ends when the link has carried the last one. */
  private reply(h: number): void {
    const { table } = this;
    const now = this.simulator.now;
    const end = Math.max(now, table.linkNs[h]);
    table.phasesNs[h * PHASES + Phase.link] += end - now;
    this.endAt(h, end);
  }

  private readDone(h: number, slots: number, status: number, token: Token): void {
    const { table } = this;
    if (status !== FtlStatus.ok) table.status[h] = BlockStatus.mediaError;
    this.send(h, slots);
    if (--table.pending[h] > 0 || table.placed[h] < table.slots[h]) return;
    this.charge(h, token, false);
    this.reply(h);
  }

  // Writes

  /** Firmware work for a write command, then its data comes over the link in chunks. */
  private receive(h: number): void {
    const { table, timelines } = this;
    const { firmware } = this.config;
    const now = this.simulator.now;
    const first = Math.min(this.chunkSlots, table.slots[h]);
    const cost = firmware.writeNs + firmware.writeSlotNs * (first - 1);
    const ready = cost === 0 ? now : timelines.core(table.lpn[h], now, cost);
    const bytes = table.linkBytes[h];
    const end = timelines.receive(ready, bytes);
    // Start of the data on the link, so that the arrival of each chunk follows from it.
    table.linkNs[h] = end - timelines.writeTransferNs(bytes);
    const arrival = first === table.slots[h] ? end : this.arrivalOf(h, first);
    table.phasesNs[h * PHASES + Phase.firmware] += ready - now;
    table.phasesNs[h * PHASES + Phase.link] += arrival - ready;
    table.markNs[h] = arrival;
    table.stage[h] = Stage.write;
    if (arrival === now) this.writeStep(h);
    else this.simulator.at(arrival, this, h);
  }

  /** When the first `slots` slots of a write are here, as far as the link is concerned. */
  private arrivalOf(h: number, slots: number): number {
    const { table } = this;
    const bytes = Math.min(slots * this.slotBytes - table.head[h] * this.config.blockBytes, table.linkBytes[h]);
    return table.linkNs[h] + this.timelines.writeTransferNs(bytes);
  }

  private writeStep(h: number): void {
    const { table } = this;
    table.arrived[h] += Math.min(this.chunkSlots, table.slots[h] - table.arrived[h]);
    const rest = table.slots[h] - table.arrived[h];
    if (rest > 0) this.expectChunk(h, Math.min(this.chunkSlots, rest));
    this.place(h);
  }

  private expectChunk(h: number, slots: number): void {
    const { table } = this;
    const now = this.simulator.now;
    const onLink = Math.max(now, this.arrivalOf(h, table.arrived[h] + slots));
    const cost = this.config.firmware.writeSlotNs * slots;
    const ready = cost === 0 ? now : this.timelines.core(table.lpn[h], now, cost);
    const arrival = Math.max(onLink, ready);
    table.phasesNs[h * PHASES + Phase.link] += onLink - now;
    table.phasesNs[h * PHASES + Phase.firmware] += arrival - onLink;
    table.markNs[h] = arrival;
    this.simulator.at(arrival, this, h);
  }

  /** Puts arrived slots into the buffer or hands them on; queues the request if the buffer is full. */
  private place(h: number): void {
    const { table } = this;
    if (table.waiting[h] !== 0) return;
    if ((this.admission.length > 0 && table.placed[h] < table.arrived[h]) || !this.placeSlots(h)) {
      table.waiting[h] = 1;
      this.admission.push(0, h);
      this.counters.bufferFullWaits++;
    } else if (table.placed[h] === table.slots[h]) {
      this.placedAll(h);
    }
    if (this.buffer.dirty > 0) this.drain();
  }

  /** False if the buffer is full before everything that arrived is placed. */
  private placeSlots(h: number): boolean {
    const { table } = this;
    const zeroes = table.op[h] === BlockOp.writeZeroes;
    let run = 0;
    while (table.placed[h] < table.arrived[h]) {
      const index = table.placed[h];
      const lpn = table.lpn[h] + index;
      const mask = this.maskOf(h, index);
      const whole = mask === this.fullMask;
      if (zeroes && whole) {
        table.placed[h]++;
        continue;
      }
      if (!this.buffered && whole) {
        table.placed[h]++;
        run++;
        continue;
      }
      if (run > 0) this.writeFlash(h, lpn - run, run);
      run = 0;
      if (!this.insert(h, lpn, mask)) return false;
      table.placed[h]++;
    }
    if (run > 0) this.writeFlash(h, table.lpn[h] + table.placed[h] - run, run);
    return true;
  }

  /** Hands slots straight to the FTL (drives without a buffer). */
  private writeFlash(h: number, lpn: number, count: number): void {
    const { table } = this;
    const job = this.jobs.acquire(Job.write, h, lpn, count);
    if (this.contents !== null) this.jobs.record[job] = this.contents.takeChain(h, count);
    table.pending[h]++;
    this.ftl.write(lpn, count, table.origin[h], table.stream[h], job);
    this.armPad();
  }

  /** Writes one slot into the buffer; false if there is no room. */
  private insert(h: number, lpn: number, mask: number): boolean {
    const { table, buffer, contents } = this;
    const present = buffer.find(lpn);
    if (present !== NONE && buffer.state[present] !== EntryState.issued) {
      buffer.mask[present] |= mask;
      buffer.origin[present] = table.origin[h];
      buffer.stream[present] = table.stream[h];
      if (contents !== null) contents.overlayRecord(buffer.record[present], contents.take(h), mask);
      this.counters.bufferOverwrites++;
      this.await(h, present);
      return true;
    }
    if (buffer.used >= buffer.capacity) return false;
    let record = contents === null ? 0 : contents.take(h);
    let blocks = mask;
    if (present !== NONE) {
      // The version that is being programmed is complete: the other blocks come from it, not from flash.
      if (contents !== null && mask !== this.fullMask) {
        const older = contents.copyOf(buffer.record[present]);
        contents.overlayRecord(older, record, mask);
        record = older;
      }
      blocks = this.fullMask;
      buffer.forget(present);
    }
    const entry = buffer.insert(lpn, blocks, record, table.origin[h], table.stream[h]);
    this.await(h, entry);
    return true;
  }

  /** Makes a request wait for an entry, if it is not done with being buffered. */
  private await(h: number, entry: number): void {
    const { table, buffer, waiters } = this;
    if ((table.flags[h] & BlockFlag.fua) !== 0 && !this.kept) {
      table.unissued[h]++;
      buffer.waiters[entry] = waiters.link(h, true, buffer.waiters[entry]);
      if (this.buffered && buffer.state[entry] === EntryState.dirty) this.advance(entry);
    } else if (!this.early) {
      table.pending[h]++;
      buffer.waiters[entry] = waiters.link(h, false, buffer.waiters[entry]);
    }
  }

  private placedAll(h: number): void {
    const { table } = this;
    const now = this.simulator.now;
    const stall = now - table.markNs[h];
    if (stall > 0) {
      const gc = Math.floor(stall * this.drainGcShare);
      table.phasesNs[h * PHASES + Phase.gc] += gc;
      table.phasesNs[h * PHASES + Phase.buffer] += stall - gc;
      table.markNs[h] = now;
    }
    this.settle(h, 0);
  }

  /** Ends a write or discard, or has it made durable first, once all its parts are. */
  private settle(h: number, token: Token): void {
    const { table } = this;
    if (table.placed[h] < table.slots[h] || table.unissued[h] > 0) return;
    const persist = (table.flags[h] & BlockFlag.fua) !== 0 && !this.kept && table.stage[h] !== Stage.persist;
    if (persist) {
      table.stage[h] = Stage.persist;
      this.flushFtl(h);
      return;
    }
    if (table.pending[h] > 0) return;
    this.charge(h, token, true);
    this.endAt(h, this.simulator.now);
  }

  // Draining the buffer

  private drain(): void {
    const { buffer } = this;
    while (buffer.head !== NONE && buffer.issued + buffer.filling < this.inFlightLimit) {
      if (!this.wantsDrain()) return;
      this.advance(buffer.head);
    }
  }

  private wantsDrain(): boolean {
    if (this.flushes.length > 0 || this.admission.length > 0 || !this.early) return true;
    const { dirty } = this.buffer;
    if (this.draining) this.draining = dirty > this.lowSlots;
    else this.draining = dirty > this.highSlots;
    return this.draining;
  }

  /** A dirty entry goes to the FTL, after a read of what it lacks. */
  private advance(entry: number): void {
    const { buffer, jobs } = this;
    if (buffer.mask[entry] === this.fullMask) {
      this.issue(entry);
      return;
    }
    buffer.startFill(entry);
    this.counters.readModifyWrites++;
    this.ftl.read(buffer.lpn[entry], 1, jobs.acquire(Job.fill, entry, buffer.lpn[entry], 1));
  }

  private issue(entry: number): void {
    const { buffer, table } = this;
    const lpn = buffer.lpn[entry];
    buffer.issue(entry);
    const job = this.jobs.acquire(Job.entry, entry, lpn, 1);
    this.ftl.write(lpn, 1, buffer.origin[entry], buffer.stream[entry], job);
    this.armPad();
    let link = this.waiters.takeIssueWaiters(buffer, entry);
    while (link !== NONE) {
      const h = this.waiters.request[link];
      link = this.waiters.release(link);
      table.unissued[h]--;
      this.settle(h, 0);
    }
    if (this.flushes.length > 0) this.uncover(buffer.age[entry]);
  }

  private entryDone(entry: number, status: number, token: Token): void {
    const { buffer } = this;
    if (status !== FtlStatus.ok) this.lostWrites++;
    this.drainGcShare = gcShare(this.scheduler, token, this.ftl.doneParkedNs ?? 0);
    this.releaseEntry(entry, status, token);
    this.admit();
    if (buffer.dirty > 0) this.drain();
  }

  /** Frees an entry and settles the requests that waited for it. */
  private releaseEntry(entry: number, status: number, token: Token): void {
    const { buffer, table, waiters } = this;
    let link = buffer.waiters[entry];
    if (this.contents !== null) this.contents.release(buffer.record[entry]);
    buffer.free(entry);
    while (link !== NONE) {
      const h = waiters.request[link];
      const untilIssue = waiters.untilIssue[link] !== 0;
      link = waiters.release(link);
      if (status !== FtlStatus.ok)
        table.status[h] = status === FtlStatus.readOnly ? BlockStatus.readOnly : BlockStatus.mediaError;
      if (untilIssue) table.unissued[h]--;
      else table.pending[h]--;
      this.settle(h, token);
    }
  }

  private admit(): void {
    const { admission, table } = this;
    while (admission.length > 0) {
      const h = admission.first;
      if (!this.placeSlots(h)) return;
      admission.shift();
      table.waiting[h] = 0;
      if (table.placed[h] === table.slots[h]) this.placedAll(h);
    }
  }

  private fillDone(entry: number, status: number): void {
    const { buffer } = this;
    if (buffer.state[entry] === EntryState.dropped) {
      this.releaseEntry(entry, FtlStatus.ok, 0);
      this.admit();
    } else if (status !== FtlStatus.ok && buffer.mask[entry] !== this.fullMask) {
      // The rest of the slot cannot be read: the drive cannot make a whole slot of it.
      const { age } = buffer;
      this.lostWrites++;
      this.uncover(age[entry]);
      this.releaseEntry(entry, status, 0);
      this.admit();
    } else {
      buffer.mask[entry] = this.fullMask;
      this.issue(entry);
    }
    if (buffer.dirty > 0) this.drain();
  }

  // Flush, discard

  private startFlush(h: number): void {
    const { table, buffer } = this;
    if (this.kept && !this.trimmedSinceFlush) {
      this.flushed(h);
      return;
    }
    table.unissued[h] = buffer.dirty + buffer.filling;
    table.coversAge[h] = buffer.newestAge;
    if (table.unissued[h] === 0) {
      this.flushFtl(h);
      return;
    }
    this.flushes.push(h);
    this.drain();
  }

  /** An entry of this age has gone to the FTL or was discarded: flushes wait for one less. */
  private uncover(age: number): void {
    const { flushes, table } = this;
    for (let i = 0; i < flushes.length; i++) {
      const h = flushes[i];
      if (table.coversAge[h] < age || --table.unissued[h] > 0) continue;
      flushes.splice(i--, 1);
      this.flushFtl(h);
    }
  }

  private flushFtl(h: number): void {
    this.trimmedSinceFlush = false;
    this.table.pending[h]++;
    this.ftl.flush(this.jobs.acquire(Job.flush, h, 0, 0));
  }

  private flushJobDone(h: number, status: number, token: Token): void {
    const { table } = this;
    table.pending[h]--;
    if (status !== FtlStatus.ok)
      table.status[h] = status === FtlStatus.readOnly ? BlockStatus.readOnly : BlockStatus.mediaError;
    this.charge(h, token, true);
    if (table.stage[h] === Stage.persist) this.settle(h, token);
    else this.flushed(h);
  }

  private flushed(h: number): void {
    const { table } = this;
    if (table.stage[h] === Stage.preflush) {
      this.receive(h);
      return;
    }
    if (this.lostWrites > 0) {
      table.status[h] = BlockStatus.ioError;
      this.lostWrites = 0;
    }
    this.endAt(h, this.simulator.now);
  }

  /** DISCARD and WRITE_ZEROES unmap whole slots; WRITE_ZEROES writes the blocks at its ends. */
  private discardStep(h: number): void {
    const { table } = this;
    let first = table.lpn[h];
    let last = first + table.slots[h] - 1;
    if (this.maskOf(h, 0) !== this.fullMask) first++;
    if (last >= first && this.maskOf(h, table.slots[h] - 1) !== this.fullMask) last--;
    const count = last - first + 1;
    table.arrived[h] = table.slots[h];
    if (count > 0) {
      this.dropBuffered(first, count);
      this.trimmedSinceFlush = true;
      table.pending[h]++;
      this.ftl.trim(first, count, this.jobs.acquire(Job.trim, h, first, count));
    }
    if (table.op[h] === BlockOp.discard) table.placed[h] = table.slots[h];
    this.place(h);
  }

  private dropBuffered(first: number, count: number): void {
    const { buffer } = this;
    if (buffer.used === 0) return;
    if (count <= buffer.used) {
      for (let i = 0; i < count; i++) {
        const entry = buffer.find(first + i);
        if (entry !== NONE) this.dropEntry(entry);
      }
    } else {
      for (let entry = 0; entry < buffer.state.length; entry++) {
        const lpn = buffer.lpn[entry];
        if (buffer.state[entry] !== EntryState.free && lpn >= first && lpn < first + count) this.dropEntry(entry);
      }
    }
    this.admit();
  }

  private dropEntry(entry: number): void {
    const { buffer } = this;
    const state = buffer.state[entry];
    if (state === EntryState.dirty || state === EntryState.filling) {
      const age = buffer.age[entry];
      if (state === EntryState.filling) buffer.dropFilling(entry);
      else this.releaseEntry(entry, FtlStatus.ok, 0);
      this.uncover(age);
    } else if (state === EntryState.issued) {
      buffer.forget(entry);
    }
  }

  // Timers

  /** Where writes wait for their programs, sees to it that a program unit that nobody fills is programmed all the same. */
  private armPad(): void {
    if (this.padArmed || !this.padded || this.early) return;
    this.padArmed = true;
    this.simulator.after(this.config.gatherNs, this, PAD_EVENT);
  }

  private pad(): void {
    this.padArmed = false;
    if (this.active > 0) this.ftl.flush(this.jobs.acquire(Job.pad, 0, 0, 0));
  }

  private offerIdle(): void {
    this.idleArmed = false;
    if (this.active === 0) this.ftl.idle(this.simulator.now + this.config.idleNs);
  }

  // The FTL's answers

  ftlDone(job: number, status: number, token: Token): void {
    const { jobs, table } = this;
    const ref = jobs.ref[job];
    const kind = jobs.kind[job];
    const slots = jobs.slots[job];
    if (jobs.record[job] !== 0) this.contents?.releaseChain(jobs.record[job]);
    jobs.release(job);
    switch (kind) {
      case Job.read:
        this.readDone(ref, slots, status, token);
        break;
      case Job.write:
      case Job.trim:
        if (status !== FtlStatus.ok)
          table.status[ref] = status === FtlStatus.readOnly ? BlockStatus.readOnly : BlockStatus.mediaError;
        table.pending[ref]--;
        this.settle(ref, token);
        break;
      case Job.flush:
        this.flushJobDone(ref, status, token);
        break;
      case Job.entry:
        this.entryDone(ref, status, token);
        break;
      case Job.fill:
        this.fillDone(ref, status);
        break;
    }
  }

  slotWord(job: number, lpn: number): number {
    const contents = this.contents as RequestContents;
    const { jobs } = this;
    if (jobs.kind[job] === Job.entry) return contents.wordOf(this.buffer.record[jobs.ref[job]], CONTENT_HANDLE);
    if (lpn !== jobs.lpn[job]) throw new Error(`content of slot ${lpn} asked for, slot ${jobs.lpn[job]} is next`);
    jobs.lpn[job]++;
    const record = jobs.record[job];
    jobs.record[job] = contents.nextOf(record);
    const word = contents.wordOf(record, CONTENT_HANDLE);
    contents.release(record);
    return word;
  }

  slotRead(job: number, lpn: number, psn: number): void {
    const contents = this.contents as RequestContents;
    const { jobs, buffer } = this;
    const ref = jobs.ref[job];
    if (jobs.kind[job] === Job.fill) {
      contents.fillRecord(buffer.record[ref], this.fullMask & ~buffer.mask[ref], psn);
    } else {
      contents.deliverSlot(ref, lpn, this.maskOf(ref, lpn - this.table.lpn[ref]), psn);
    }
  }

  wordCopied(word: number): void {
    this.contents?.retain(word);
  }

  wordDead(word: number): void {
    this.contents?.release(word);
  }

  // Small things

  /** The blocks of slot `index` of a request that the request covers. */
  private maskOf(h: number, index: number): number {
    if (this.blocksPerSlot === 1) return 1;
    const { table } = this;
    const from = index === 0 ? table.head[h] : 0;
    let to = this.blocksPerSlot;
    if (index === table.slots[h] - 1) to = ((table.head[h] + table.blocks[h] - 1) % this.blocksPerSlot) + 1;
    const upTo = to === 32 ? -1 : (1 << to) - 1;
    return upTo & ~((1 << from) - 1);
  }

  /** Accounts for the time since the request's mark by the phases of the operation that ended last. */
  private charge(h: number, token: Token, program: boolean): void {
    const { table } = this;
    const now = this.simulator.now;
    chargeNand(
      table.phasesNs,
      h * PHASES,
      now - table.markNs[h],
      this.scheduler,
      token,
      program,
      this.ftl.doneParkedNs ?? 0,
    );
    table.markNs[h] = now;
  }

  /** Ends a request now or later, but never inside `begin`. */
  private endAt(h: number, timeNs: number): void {
    this.table.stage[h] = Stage.reply;
    if (timeNs === this.simulator.now && !this.beginning) this.finish(h);
    else this.simulator.at(timeNs, this, h);
  }

  private finish(h: number): void {
    this.active--;
    if (this.active === 0 && this.config.idleNs > 0 && !this.idleArmed) {
      this.idleArmed = true;
      this.simulator.after(this.config.idleNs, this, IDLE_EVENT);
    }
    this.port.finished(h);
  }
}

/** Slots that may wait for their program units in all frontiers of one stream. */
export function openSlots(config: SsdConfig): number {
  const { channels, ways, dies, planes } = config.nand.geometry;
  const { domain = 'unit' } = config.ftl;
  const frontiers = channels * ways * dies * (domain === 'unit' ? planes : 1);
  return frontiers * programSlots(config);
}

/** Slots that one program command writes. */
export function programSlots(config: SsdConfig): number {
  const { geometry, features } = config.nand;
  const { domain = 'unit', multiPlane = true } = config.ftl;
  const pages = geometry.programUnit === 'wordline' ? geometry.cellBits : 1;
  const planes = features.multiPlane && multiPlane && domain !== 'unit' ? geometry.planes : 1;
  return (geometry.pageBytes / geometry.slotBytes) * pages * planes;
}

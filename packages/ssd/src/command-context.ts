import type { Ftl, FtlStats } from '@flashstack/ftl';
import type { NandScheduler, Token } from '@flashstack/nand-device';
import type { EventTarget, Simulator } from '@flashstack/sim';
import type { AppendOrder } from './append-order.js';
import type { BufferedBlocks } from './buffered-blocks.js';
import type { SsdConfig } from './config.js';
import type { RequestContents } from './contents.js';
import { GcFirmware } from './gc-firmware.js';
import { HostTimelines } from './host-timelines.js';
import { chargeNand, PHASES, Phase } from './phases.js';
import { JobTable, type RequestTable } from './request-table.js';
import type { ReadCacheCounters, SsdCounters } from './stats.js';
import { WriteBuffer } from './write-buffer.js';

/** What the next event of a request does. */
export const Stage = {
  read: 0,
  preflush: 1,
  write: 2,
  flush: 3,
  discard: 4,
  persist: 5,
  reply: 6,
  /** The host-interface core is at work on the command. */
  command: 7,
  /** A write waits for the collection core. */
  collection: 8,
} as const;

/** What a job of the FTL is. */
export const Job = { read: 0, write: 1, trim: 2, flush: 3, entry: 4, fill: 5, pad: 6, ahead: 7, zone: 8 } as const;

/** What the controller needs of an FTL besides the contract, to tell where time went. */
export interface TimedFtl extends Ftl {
  /** During `ftlDone`: how long the slots of the job waited for a free block, ns. */
  readonly doneParkedNs: number;
  /** The same for entries of the map that had to be read from flash. Absent: none is. */
  readonly doneMapNs?: number;
  readonly stats: Pick<FtlStats, 'programmed' | 'pending' | 'moveReads' | 'copybacks'>;
}

/** Where finished requests go. */
export interface HostPort {
  /** The request is done at the present simulated time; its handle is the port's to release. */
  finished(h: number): void;
  /** A command to zones has been handed to the FTL, which keeps it before whatever follows. */
  handedOn(h: number): void;
  /** A slot could not be written for good. */
  writeFailed(lpn: number): void;
}

/** What a controller is built from. */
export interface ControllerParts {
  readonly simulator: Simulator;
  readonly config: SsdConfig;
  readonly table: RequestTable;
  readonly port: HostPort;
  readonly counters: SsdCounters;
  readonly buffered: BufferedBlocks;
  /** Null: the drive has no read cache. */
  readonly readCache: ReadCacheCounters | null;
  readonly ftl: TimedFtl;
  readonly scheduler: NandScheduler;
  /** Null: the drive keeps no contents. */
  readonly contents: RequestContents | null;
  /** Null: slots may be written in any order. */
  readonly append: AppendOrder | null;
}

/** What the parts of a controller share: tables, timelines, and how a request passes time and ends. */
export class CommandContext {
  readonly simulator: Simulator;
  readonly config: SsdConfig;
  readonly table: RequestTable;
  readonly counters: SsdCounters;
  readonly buffered: BufferedBlocks;
  readonly ftl: TimedFtl;
  readonly scheduler: NandScheduler;
  readonly contents: RequestContents | null;
  readonly append: AppendOrder | null;
  readonly readCache: ReadCacheCounters | null;
  readonly timelines: HostTimelines;
  readonly buffer: WriteBuffer;
  /** Null: relocating pages costs no processor time. */
  readonly gc: GcFirmware | null;
  readonly jobs: JobTable = new JobTable();
  readonly slotBytes: number;
  readonly blocksPerSlot: number;
  /** All blocks of a slot. */
  readonly fullMask: number;
  /** Slots of a request that are handled at a time, so that flash and link overlap. */
  readonly chunkSlots: number;
  /** Writes are done when they are in the buffer. */
  readonly early: boolean;
  /** Requests under way. */
  active = 0;
  /** True while a request begins: it must not end inside the call of the host. */
  beginning = false;
  /** Power is gone: nothing that was scheduled for this controller has any effect. */
  dead = false;
  private readonly port: HostPort;
  /** Fires `step` of a request. */
  private readonly events: EventTarget;

  constructor(parts: ControllerParts, events: EventTarget) {
    const { config } = parts;
    this.simulator = parts.simulator;
    this.config = config;
    this.table = parts.table;
    this.counters = parts.counters;
    this.buffered = parts.buffered;
    this.ftl = parts.ftl;
    this.scheduler = parts.scheduler;
    this.contents = parts.contents;
    this.append = parts.append;
    this.readCache = parts.readCache;
    this.port = parts.port;
    this.events = events;
    this.timelines = new HostTimelines(parts.simulator, config);
    this.slotBytes = config.nand.geometry.slotBytes;
    this.blocksPerSlot = this.slotBytes / config.blockBytes;
    this.fullMask = upTo(this.blocksPerSlot);
    this.chunkSlots = config.link === null ? 0x7fff_ffff : config.link.chunkBytes / this.slotBytes;
    this.early = config.buffer?.earlyCompletion ?? false;
    this.buffer = new WriteBuffer(config.buffer?.slots ?? Number.POSITIVE_INFINITY);
    this.gc = (config.firmware.gcPageNs ?? 0) > 0 ? new GcFirmware(this) : null;
  }

  /** The blocks of slot `index` of a request that the request covers. */
  maskOf(h: number, index: number): number {
    if (this.blocksPerSlot === 1) return 1;
    const { table } = this;
    const from = index === 0 ? table.head[h] : 0;
    const to = this.blocksPerSlot - (index === table.slots[h] - 1 ? table.tail[h] : 0);
    return upTo(to) & ~(upTo(from) & this.fullMask);
  }

  /** Accounts for the time since the request's mark by the phases of the operation that ended last. */
  charge(h: number, token: Token, program: boolean): void {
    const { table } = this;
    const now = this.simulator.now;
    const elapsed = now - table.markNs[h];
    if (elapsed === 0) return;
    const { doneParkedNs, doneMapNs = 0 } = this.ftl;
    chargeNand(table.phasesNs, h * PHASES, elapsed, this.scheduler, token, program, doneParkedNs, doneMapNs);
    table.markNs[h] = now;
  }

  /** A wait that has just ended belongs to this phase. */
  chargeWait(h: number, phase: number): void {
    const { table } = this;
    const now = this.simulator.now;
    table.phasesNs[h * PHASES + phase] += now - table.markNs[h];
    table.markNs[h] = now;
  }

  /** The request's stage goes on `delayNs` from now, in an event of its own. */
  stepIn(h: number, delayNs: number): void {
    this.simulator.after(delayNs, this.events, h);
  }

  /** Ends a request `delayNs` from now, but never inside the call that began it. */
  endIn(h: number, delayNs: number): void {
    this.table.stage[h] = Stage.reply;
    if (delayNs === 0 && !this.beginning) this.finish(h);
    else this.stepIn(h, delayNs);
  }

  /** What overlaps a command to zones may follow it. */
  handedOn(h: number): void {
    this.port.handedOn(h);
  }

  /** A write of a slot has failed for good. */
  writeFailed(lpn: number): void {
    this.port.writeFailed(lpn);
  }

  finish(h: number): void {
    this.active--;
    this.port.finished(h);
  }

  /** Adds link time that the request spends from its mark on. */
  chargeLink(h: number, ns: number): void {
    this.table.phasesNs[h * PHASES + Phase.link] += ns;
  }
}

/** A mask of the first `blocks` blocks of a slot, at most 32. */
function upTo(blocks: number): number {
  return blocks === 32 ? -1 : (1 << blocks) - 1;
}

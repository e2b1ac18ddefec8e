import { BlockStatus } from '@flashstack/block-device';
import { FtlStatus } from '@flashstack/ftl';
import type { Token } from '@flashstack/nand-device';
import { CachedReads, type CacheOwner } from './cached-reads.js';
import { type CommandContext, Job } from './command-context.js';
import { PHASES, Phase } from './phases.js';
import { ReadAhead } from './read-ahead.js';
import { type PieceOwner, ReadPieces } from './read-pieces.js';

const NONE = -1;

/** Carries out reads: from the write buffer where it holds the blocks, otherwise from flash, then over the link. */
export class ReadCommands implements PieceOwner, CacheOwner {
  readonly pieces: ReadPieces;
  /** Null: the drive has no read cache. */
  readonly cached: CachedReads | null;
  private readonly ahead: ReadAhead | null;
  private readonly context: CommandContext;

  constructor(context: CommandContext) {
    this.context = context;
    this.pieces = new ReadPieces(context, this);
    const { readCache: config = null } = context.config;
    const counters = context.readCache;
    this.cached = config === null || counters === null ? null : new CachedReads(context, this, config, counters);
    this.ahead = config === null || this.cached === null ? null : new ReadAhead(context, this.cached, config);
  }

  /** Looks up the next chunk of a request, and further ones as far as that costs no firmware time. */
  step(h: number): void {
    const { table, config, timelines, chunkSlots, simulator } = this.context;
    const { readSlotNs } = config.firmware;
    for (;;) {
      const first = table.placed[h];
      const count = Math.min(chunkSlots, table.slots[h] - first);
      table.placed[h] += count;
      this.lookUp(h, first, count);
      const rest = table.slots[h] - table.placed[h];
      if (rest === 0) break;
      if (readSlotNs === 0) continue;
      const now = simulator.now;
      const delay = timelines.core(table.lpn[h], now, readSlotNs * Math.min(chunkSlots, rest)) - now;
      table.phasesNs[h * PHASES + Phase.firmware] += delay;
      table.markNs[h] = now + delay;
      this.context.stepIn(h, delay);
      return;
    }
    this.lookedUp(h);
  }

  piecesDone(h: number): void {
    this.lookedUp(h);
  }

  cacheFilled(h: number, ok: boolean): void {
    const { table } = this.context;
    if (!ok) table.status[h] = BlockStatus.mediaError;
    this.send(h, 1);
    if (--table.pending[h] > 0 || table.placed[h] < table.slots[h]) return;
    this.context.chargeWait(h, Phase.buffer);
    this.reply(h);
  }

  cacheLost(h: number, lpn: number): void {
    const { ftl, jobs } = this.context;
    ftl.read(lpn, 1, jobs.acquire(Job.read, h, lpn, 1));
  }

  /** The FTL has read a part of a request. */
  partDone(h: number, slots: number, status: number, token: Token): void {
    const { table } = this.context;
    if (status !== FtlStatus.ok) table.status[h] = BlockStatus.mediaError;
    this.send(h, slots);
    if (--table.pending[h] > 0 || table.placed[h] < table.slots[h]) return;
    this.context.charge(h, token, false);
    this.reply(h);
  }

  /** Reads slots of a request: from the buffer or the cache what is there, the rest from flash. */
  lookUp(h: number, first: number, count: number): void {
    const { table, buffer, counters, contents } = this.context;
    const { cached } = this;
    const lpn = table.lpn[h] + first;
    if (buffer.used === 0 && cached === null) {
      this.readFlash(h, lpn, count);
      return;
    }
    let runStart = 0;
    let overlaid = false;
    for (let i = 0; i < count; i++) {
      const entry = buffer.find(lpn + i);
      const wanted = this.context.maskOf(h, first + i);
      if (
        entry === NONE
          ? cached === null || !this.fromCache(h, lpn + i, wanted)
          : (buffer.mask[entry] & wanted) !== wanted
      ) {
        if (entry !== NONE) overlaid = true;
        continue;
      }
      if (i > runStart) this.readFlash(h, lpn + runStart, i - runStart);
      runStart = i + 1;
      if (entry === NONE) continue;
      counters.bufferReadHits++;
      if (contents !== null) contents.deliverRecord(h, lpn + i, wanted, buffer.record[entry]);
      this.send(h, 1);
    }
    if (runStart < count) this.readFlash(h, lpn + runStart, count - runStart);
    // The FTL has delivered what flash holds; newer blocks of partly buffered slots go on top.
    if (overlaid && contents !== null) this.overlay(h, first, count);
  }

  /** True if the slot is in the cache, or on its way there. */
  private fromCache(h: number, lpn: number, mask: number): boolean {
    const cached = this.cached as CachedReads;
    if (cached.serve(h, lpn, mask)) {
      this.send(h, 1);
      return true;
    }
    if (!cached.awaits(h, lpn)) return false;
    this.context.table.pending[h]++;
    return true;
  }

  /** Every slot of a request has been looked up. */
  private lookedUp(h: number): void {
    this.ahead?.follow(h);
    if (this.context.table.pending[h] === 0) this.reply(h);
  }

  private overlay(h: number, first: number, count: number): void {
    const { table, buffer, contents } = this.context;
    for (let i = first; i < first + count; i++) {
      const entry = buffer.find(table.lpn[h] + i);
      if (entry === NONE) continue;
      const mask = buffer.mask[entry] & this.context.maskOf(h, i);
      contents?.deliverRecord(h, table.lpn[h] + i, mask, buffer.record[entry]);
    }
  }

  private readFlash(h: number, lpn: number, count: number): void {
    const { table, ftl, jobs } = this.context;
    const job = jobs.acquire(Job.read, h, lpn, count);
    table.pending[h]++;
    this.cached?.begin(job, lpn, count);
    ftl.read(lpn, count, job);
  }

  /** Books the transfer of slots to the host. */
  private send(h: number, slots: number): void {
    const { table, config, slotBytes, timelines, simulator } = this.context;
    if (config.link === null) return;
    const bytes = Math.min(slots * slotBytes, table.linkBytes[h]);
    table.linkBytes[h] -= bytes;
    table.linkNs[h] = timelines.send(simulator.now, bytes, table.linkNs[h] === 0);
  }

  /** All parts are in: the request ends when the link has carried the last one. */
  private reply(h: number): void {
    const { table, simulator } = this.context;
    const delay = Math.max(0, table.linkNs[h] - simulator.now);
    this.context.chargeLink(h, delay);
    this.context.endIn(h, delay);
  }
}

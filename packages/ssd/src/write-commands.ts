import { BlockFlag, BlockOp, BlockStatus } from '@flashstack/block-device';
import { FtlStatus } from '@flashstack/ftl';
import type { Token } from '@flashstack/nand-device';
import { BufferDrain, type DrainOwner } from './buffer-drain.js';
import type { CachedReads } from './cached-reads.js';
import { type CommandContext, Job, Stage } from './command-context.js';
import { isZoneCommand } from './drive-zones.js';
import { PHASES, Phase } from './phases.js';
import { mayFillBuffer } from './program-unit.js';
import { RequestQueues } from './request-table.js';
import { WriteArrivals } from './write-arrivals.js';
import { EntryState } from './write-buffer.js';
import { ZoneCommands } from './zone-commands.js';

const NONE = -1;

/** Carries out writes, discards and flushes: data over the link, into the buffer or to the FTL, and durability. */
export class WriteCommands implements DrainOwner {
  readonly drain: BufferDrain;
  readonly zones: ZoneCommands;
  private readonly context: CommandContext;
  private readonly arrivals: WriteArrivals;
  /** Writes that wait for room in the buffer. */
  private readonly admission: RequestQueues;
  private readonly buffered: boolean;
  private readonly kept: boolean;
  private readonly mayFill: boolean;
  private readonly onWritten: () => void;
  private readonly cached: CachedReads | null;
  private trimmedSinceFlush = false;
  /** The write that follows the one that has been handed on last, −1: none that has begun. */
  private nextInOrder = -1;

  /** `onWritten`: called whenever a slot has been handed to the FTL. */
  constructor(context: CommandContext, cached: CachedReads | null, onWritten: () => void) {
    this.context = context;
    this.arrivals = new WriteArrivals(context);
    this.cached = cached;
    this.onWritten = onWritten;
    this.drain = new BufferDrain(context, this, cached);
    this.zones = new ZoneCommands(context, this.drain, cached);
    this.admission = new RequestQueues(context.table, 1);
    this.buffered = context.config.buffer !== null;
    this.kept = context.config.powerLossProtection;
    this.mayFill = mayFillBuffer(context.config);
  }

  get isFull(): boolean {
    return this.admission.length > 0;
  }

  /** A write command is here. */
  receive(h: number): void {
    if (this.arrivals.begin(h)) this.step(h);
  }

  /** A chunk of data is here. */
  step(h: number): void {
    const { table, chunkSlots, ftl } = this.context;
    const rest = table.slots[h] - table.arrived[h];
    if (table.arrived[h] === 0) ftl.announce?.(table.lpn[h], table.slots[h]);
    if (rest <= chunkSlots) {
      table.arrived[h] = table.slots[h];
    } else {
      table.arrived[h] += chunkSlots;
      this.arrivals.next(h, Math.min(chunkSlots, rest - chunkSlots));
    }
    const { append } = this.context;
    if (append === null || !append.isOrdered(h)) this.place(h);
    else if (append.mayPlace(h)) this.placeInOrder(h);
  }

  /** Hands on a write to the append-only range, and those behind it that have waited for it. */
  private placeInOrder(first: number): void {
    const { table } = this.context;
    for (let h = first; h >= 0 && table.arrived[h] > table.placed[h]; ) {
      this.nextInOrder = -1;
      this.place(h);
      h = this.nextInOrder;
    }
  }

  /** DISCARD and WRITE_ZEROES unmap whole slots; WRITE_ZEROES writes the blocks at its ends. */
  discard(h: number): void {
    const { table, ftl, jobs, fullMask } = this.context;
    let first = table.lpn[h];
    let last = first + table.slots[h] - 1;
    if (this.context.maskOf(h, 0) !== fullMask) first++;
    if (last >= first && this.context.maskOf(h, table.slots[h] - 1) !== fullMask) last--;
    let count = last - first + 1;
    const { append } = this.context;
    if (append !== null) [first, count] = append.shrink(first, last);
    table.arrived[h] = table.slots[h];
    if (table.op[h] === BlockOp.discard) table.placed[h] = table.slots[h];
    if (count > 0) {
      this.trimmedSinceFlush = true;
      table.pending[h]++;
      this.cached?.invalidate(first, count);
      ftl.trim(first, count, jobs.acquire(Job.trim, h, first, count));
      // After the trim, so that a flush that waited for these entries covers the trim.
      this.drain.doom(first, count);
    }
    this.place(h);
  }

  /** The firmware is done with a command to zones: those that change flash take their place among the writes. */
  command(h: number): void {
    const { table, append } = this.context;
    table.arrived[h] = table.slots[h];
    if (append?.isOrdered(h) === true) {
      if (append.mayPlace(h)) this.placeInOrder(h);
      return;
    }
    table.placed[h] = table.slots[h];
    this.settle(h, 0);
  }

  /** Makes everything durable that had completed; with power-loss protection it is, trims apart. */
  flush(h: number): void {
    if (this.kept && !this.trimmedSinceFlush) this.flushed(h);
    else if (!this.drain.holdFlush(h)) this.flushFtl(h);
  }

  /** The FTL's flush for a request is done. */
  flushDone(h: number, status: number, token: Token): void {
    const { table } = this.context;
    table.pending[h]--;
    if (status !== FtlStatus.ok) table.status[h] = statusOf(status);
    this.context.charge(h, token, true);
    if (table.stage[h] === Stage.persist) this.settle(h, token);
    else this.flushed(h);
  }

  /** The FTL has unmapped slots. */
  trimDone(h: number, first: number, count: number, status: number, token: Token): void {
    this.drain.drop(first, count);
    this.cached?.invalidate(first, count);
    this.entryGone(h, status, token);
    this.roomMade();
  }

  /** A part that went straight to the FTL is done. */
  partDone(h: number, status: number, token: Token): void {
    const { table } = this.context;
    // Only now: until then reads may still see the older version, and bring it into the cache.
    this.cached?.invalidate(table.lpn[h], table.slots[h]);
    this.entryGone(h, status, token);
  }

  entryGone(h: number, status: number, token: Token): void {
    const { table } = this.context;
    if (status !== FtlStatus.ok) table.status[h] = statusOf(status);
    table.pending[h]--;
    this.settle(h, token);
  }

  entryIssued(h: number): void {
    this.context.table.unissued[h]--;
    this.settle(h, 0);
  }

  covered(h: number): void {
    this.flushFtl(h);
  }

  written(): void {
    this.onWritten();
  }

  roomMade(): void {
    const { admission } = this;
    const { table } = this.context;
    while (admission.length > 0) {
      const h = admission.first;
      if (!this.placeSlots(h)) return;
      admission.shift();
      table.waiting[h] = 0;
      if (table.placed[h] < table.slots[h]) continue;
      this.nextInOrder = -1;
      this.placedAll(h);
      if (this.nextInOrder >= 0) this.placeInOrder(this.nextInOrder);
    }
  }

  /** Puts arrived slots into the buffer or hands them on; queues the request if the buffer is full. */
  private place(h: number): void {
    const { table, counters } = this.context;
    if (isZoneCommand(table.op[h])) {
      table.placed[h] = table.slots[h];
      this.zones.carryOut(h);
      this.placedAll(h);
      return;
    }
    if (table.waiting[h] !== 0) return;
    const mustWait = this.admission.length > 0 && table.placed[h] < table.arrived[h];
    if (mustWait || !this.placeSlots(h)) {
      table.waiting[h] = 1;
      this.admission.push(0, h);
      counters.bufferFullWaits++;
      // What fills the buffer may wait for its program units.
      if (this.mayFill) this.onWritten();
    } else if (table.placed[h] === table.slots[h]) {
      this.placedAll(h);
    }
    this.drain.goOn();
  }

  /** False if the buffer is full before everything that arrived is placed. */
  private placeSlots(h: number): boolean {
    const { table, buffered, fullMask } = this.context;
    const zeroes = table.op[h] === BlockOp.writeZeroes;
    let run = 0;
    while (table.placed[h] < table.arrived[h]) {
      const index = table.placed[h];
      const lpn = table.lpn[h] + index;
      const mask = this.context.maskOf(h, index);
      const whole = mask === fullMask;
      if (zeroes && whole) {
        table.placed[h]++;
      } else if (whole && !this.buffered) {
        table.placed[h]++;
        run++;
      } else {
        if (run > 0) this.writeFlash(h, lpn - run, run);
        run = 0;
        if (!this.insert(h, lpn, mask)) return false;
        if (zeroes) buffered.fill(table.origin[h], mask);
        table.placed[h]++;
      }
    }
    if (run > 0) this.writeFlash(h, table.lpn[h] + table.placed[h] - run, run);
    return true;
  }

  /** Hands slots straight to the FTL (drives without a buffer). */
  private writeFlash(h: number, lpn: number, count: number): void {
    const { table, jobs, ftl, contents } = this.context;
    const job = jobs.acquire(Job.write, h, lpn, count);
    if (contents !== null) jobs.record[job] = contents.takeChain(h, count);
    table.pending[h]++;
    ftl.write(lpn, count, table.origin[h], table.stream[h], job);
    this.onWritten();
  }

  /** Writes one slot into the buffer; false if there is no room. */
  private insert(h: number, lpn: number, mask: number): boolean {
    const { table, buffer, contents, counters, buffered, fullMask } = this.context;
    const present = buffer.find(lpn);
    this.cached?.invalidate(lpn, 1);
    if (present !== NONE && buffer.state[present] !== EntryState.issued) {
      buffered.overwrite(buffer.origin[present], buffer.mask[present], table.origin[h], mask);
      buffer.overwrite(present, mask, table.origin[h], table.stream[h]);
      if (contents !== null) contents.overlayRecord(buffer.record[present], contents.take(h), mask);
      counters.bufferOverwrites++;
      this.awaitEntry(h, present);
      return true;
    }
    const { halves } = this.drain.policy;
    if (halves === null ? buffer.used >= buffer.capacity : !halves.admit(table.placed[h] === 0 ? table.slots[h] : 1)) {
      return false;
    }
    let record = contents === null ? 0 : contents.take(h);
    let blocks = mask;
    if (present !== NONE) {
      // The version that is being programmed is complete: the other blocks come from it, not from flash.
      if (contents !== null && mask !== fullMask) {
        const older = contents.copyOf(buffer.record[present]);
        contents.overlayRecord(older, record, mask);
        record = older;
      }
      buffered.fill(table.origin[h], fullMask & ~mask);
      blocks = fullMask;
      buffer.forget(present);
    }
    const entry = buffer.insert(lpn, blocks, record, table.origin[h], table.stream[h]);
    halves?.entered(entry);
    this.awaitEntry(h, entry);
    return true;
  }

  /** Makes a request wait for an entry, if it is not done with being buffered. */
  private awaitEntry(h: number, entry: number): void {
    const { table, buffer, early } = this.context;
    const { waiters } = this.drain;
    if (this.mustPersist(h)) {
      table.unissued[h]++;
      buffer.waiters[entry] = waiters.link(h, true, buffer.waiters[entry]);
      if (this.buffered && buffer.state[entry] === EntryState.dirty) this.advance(entry);
    } else if (!early) {
      table.pending[h]++;
      buffer.waiters[entry] = waiters.link(h, false, buffer.waiters[entry]);
    }
  }

  /** An entry goes to the FTL; on an append-only drive those before it go first. */
  private advance(entry: number): void {
    const { buffer, append } = this.context;
    while (append !== null && buffer.head !== entry) this.drain.advance(buffer.head);
    this.drain.advance(entry);
  }

  private mustPersist(h: number): boolean {
    return (this.context.table.flags[h] & BlockFlag.fua) !== 0 && !this.kept;
  }

  /** Everything that waited for room has it: what garbage collection caused of the wait counts as its. */
  private placedAll(h: number): void {
    const { table, simulator, append } = this.context;
    if (append?.isOrdered(h) === true) this.nextInOrder = append.placed(h);
    const now = simulator.now;
    const stall = now - table.markNs[h];
    if (stall > 0) {
      const gc = Math.floor(stall * this.drain.lastGcShare);
      table.phasesNs[h * PHASES + Phase.gc] += gc;
      table.phasesNs[h * PHASES + Phase.buffer] += stall - gc;
      table.markNs[h] = now;
    }
    this.settle(h, 0);
  }

  /** Ends a write or discard, or has it made durable first, once all its parts are. */
  private settle(h: number, token: Token): void {
    const { table } = this.context;
    if (table.placed[h] < table.slots[h] || table.unissued[h] > 0) return;
    if (table.stage[h] !== Stage.persist && this.mustPersist(h)) {
      table.stage[h] = Stage.persist;
      this.flushFtl(h);
      return;
    }
    if (table.pending[h] > 0) return;
    this.context.charge(h, token, true);
    this.context.endIn(h, 0);
  }

  private flushFtl(h: number): void {
    const { table, ftl, jobs } = this.context;
    this.trimmedSinceFlush = false;
    table.pending[h]++;
    ftl.flush(jobs.acquire(Job.flush, h, 0, 0));
  }

  private flushed(h: number): void {
    const { table } = this.context;
    if (table.stage[h] === Stage.preflush) {
      this.receive(h);
      return;
    }
    if (this.drain.lostWrites > 0) {
      table.status[h] = BlockStatus.ioError;
      this.drain.lostWrites = 0;
    }
    this.context.endIn(h, 0);
  }
}

function statusOf(status: number): number {
  if (status === FtlStatus.misplaced) return BlockStatus.zoneInvalidWrite;
  return status === FtlStatus.readOnly ? BlockStatus.readOnly : BlockStatus.mediaError;
}

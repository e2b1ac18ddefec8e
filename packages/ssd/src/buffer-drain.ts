import { FtlStatus } from '@flashstack/ftl';
import type { Token } from '@flashstack/nand-device';
import type { CachedReads } from './cached-reads.js';
import { type CommandContext, Job } from './command-context.js';
import { DrainPolicy } from './drain-policy.js';
import { gcShare } from './phases.js';
import { openSlots } from './program-unit.js';
import { Waiters } from './waiters.js';
import { EntryState } from './write-buffer.js';

const NONE = -1;

/** Who is told what becomes of buffer entries. */
export interface DrainOwner {
  /** One entry less stands between this request and its end; `status` is an `FtlStatus`. */
  entryGone(h: number, status: number, token: Token): void;
  /** The request waited until its entries had gone to the FTL: one has. */
  entryIssued(h: number): void;
  /** There is room in the buffer again. */
  roomMade(): void;
  /** A flush that waited for entries may go on to the FTL. */
  covered(h: number): void;
  /** True while writes wait for room. */
  readonly isFull: boolean;
  /** A write that must become durable was handed to the FTL. */
  written(): void;
}

/** Moves entries of the write buffer to the FTL, by the drain policy or because somebody waits for them. */
export class BufferDrain {
  readonly waiters: Waiters = new Waiters();
  /** Share of the time of the last drained entry that garbage collection caused. */
  lastGcShare = 0;
  /** Slots acknowledged and then lost, not yet reported by a flush. */
  lostWrites = 0;
  private readonly context: CommandContext;
  private readonly owner: DrainOwner;
  /** Flushes that wait for entries. */
  private readonly flushes: number[] = [];
  private readonly inFlightLimit: number;
  readonly policy: DrainPolicy;
  private readonly kept: CachedReads | null;

  constructor(context: CommandContext, owner: DrainOwner, cached: CachedReads | null) {
    this.context = context;
    this.owner = owner;
    // What leaves the buffer goes on into the read cache.
    this.kept = context.config.readCache?.writes === true ? cached : null;
    const { buffer } = context.config;
    const limit = buffer?.inFlightSlots ?? Number.POSITIVE_INFINITY;
    this.inFlightLimit = limit > 0 ? limit : 2 * openSlots(context.config);
    this.policy = new DrainPolicy(context, () => this.drain());
  }

  /** Hands dirty entries on, oldest first, as far as policy and the limit in flight allow. */
  drain(): void {
    const { buffer } = this.context;
    while (buffer.head !== NONE && buffer.issued + buffer.filling < this.inFlightLimit) {
      if (!this.wantsDrain()) {
        this.policy.rest();
        return;
      }
      this.advance(buffer.head);
    }
    if (buffer.head === NONE) this.policy.drained();
  }

  /** Drains if there is something to drain, and sees to it that a half whose end writes wait for gets there. */
  goOn(): void {
    if (this.context.buffer.dirty > 0) this.drain();
    if (this.policy.halves !== null && this.owner.isFull) this.completeUnits();
  }

  /** A dirty entry goes to the FTL, after a read of what it lacks. */
  advance(entry: number): void {
    const { buffer, jobs, ftl, counters, fullMask } = this.context;
    if (buffer.mask[entry] === fullMask) {
      this.issue(entry);
      return;
    }
    buffer.startFill(entry);
    counters.readModifyWrites++;
    ftl.read(buffer.lpn[entry], 1, jobs.acquire(Job.fill, entry, buffer.lpn[entry], 1));
  }

  /** All dirty entries go to the FTL, whatever the policy. */
  advanceAll(): void {
    const { buffer } = this.context;
    while (buffer.head !== NONE) this.advance(buffer.head);
  }

  /** The entry's program is done. */
  entryDone(entry: number, status: number, token: Token): void {
    const { scheduler, ftl } = this.context;
    if (status !== FtlStatus.ok) this.lose();
    if (status === FtlStatus.ok && this.kept !== null) this.keep(entry, this.kept);
    this.lastGcShare = gcShare(scheduler, token, ftl.doneParkedNs);
    this.release(entry, status, token);
    this.owner.roomMade();
    this.goOn();
  }

  /** The missing blocks of an entry have been read. */
  fillDone(entry: number, status: number): void {
    const { buffer, buffered, fullMask } = this.context;
    const state = buffer.state[entry];
    if (state === EntryState.dropped) {
      this.release(entry, FtlStatus.ok, 0);
      this.owner.roomMade();
    } else if (state === EntryState.doomedFilling) {
      buffer.endDoomedFill(entry);
    } else if (status !== FtlStatus.ok && buffer.mask[entry] !== fullMask) {
      // The rest of the slot cannot be read: the drive cannot make a whole slot of it.
      const age = buffer.age[entry];
      this.lose();
      this.release(entry, status, 0);
      this.uncover(age);
      this.owner.roomMade();
    } else {
      buffered.fill(buffer.origin[entry], fullMask & ~buffer.mask[entry]);
      buffer.mask[entry] = fullMask;
      this.issue(entry);
    }
    this.goOn();
  }

  /**
   * A discard of these slots has been handed to the FTL: what is buffered of them must not be drained any more. It
   * serves reads until the discard is done, because the FTL may still show an older version.
   */
  doom(first: number, count: number): void {
    this.eachEntry(first, count, (entry) => {
      const { buffer, buffered } = this.context;
      const state = buffer.state[entry];
      if (state !== EntryState.dirty && state !== EntryState.filling) return;
      buffered.drop(buffer.origin[entry], buffer.mask[entry]);
      buffer.doom(entry);
      this.uncover(buffer.age[entry]);
    });
  }

  /** The discard of these slots is done: the buffer forgets them. */
  drop(first: number, count: number): void {
    this.eachEntry(first, count, (entry) => {
      const { buffer } = this.context;
      const state = buffer.state[entry];
      if (state === EntryState.doomed) this.release(entry, FtlStatus.ok, 0);
      else if (state === EntryState.doomedFilling) buffer.dropFilling(entry);
      else if (state === EntryState.issued) buffer.forget(entry);
    });
  }

  /** True if a flush must wait for entries; `covered` says when it may go on. */
  holdFlush(h: number): boolean {
    const { table, buffer } = this.context;
    table.unissued[h] = buffer.dirty + buffer.filling;
    table.coversAge[h] = buffer.newestAge;
    if (table.unissued[h] === 0) return false;
    this.flushes.push(h);
    this.drain();
    return true;
  }

  private wantsDrain(): boolean {
    return this.policy.wants(this.flushes.length > 0 || this.owner.isFull || !this.context.early);
  }

  private keep(entry: number, cached: CachedReads): void {
    const { buffer } = this.context;
    // Superseded or discarded meanwhile: it is not what reads may see any more.
    if (buffer.find(buffer.lpn[entry]) === entry) cached.keep(buffer.lpn[entry], buffer.record[entry]);
  }

  /** Everything in flight waits for its program unit to fill up, and nothing comes that could fill it: pads it. */
  private completeUnits(): void {
    const { buffer, ftl, jobs } = this.context;
    const { issued, filling } = buffer;
    if (issued > 0 && filling === 0 && issued <= ftl.stats.pending) ftl.flush(jobs.acquire(Job.pad, 0, 0, 0));
  }

  private issue(entry: number): void {
    const { buffer, jobs, ftl } = this.context;
    const lpn = buffer.lpn[entry];
    buffer.issue(entry);
    ftl.write(lpn, 1, buffer.origin[entry], buffer.stream[entry], jobs.acquire(Job.entry, entry, lpn, 1));
    this.owner.written();
    let link = this.waiters.takeIssueWaiters(buffer, entry);
    while (link !== NONE) {
      const h = this.waiters.request[link];
      link = this.waiters.release(link);
      this.owner.entryIssued(h);
    }
    if (this.flushes.length > 0) this.uncover(buffer.age[entry]);
  }

  /** Frees an entry and tells the requests that waited for it. */
  private release(entry: number, status: number, token: Token): void {
    const { buffer, contents } = this.context;
    const { waiters, owner } = this;
    let link = buffer.waiters[entry];
    if (contents !== null) contents.release(buffer.record[entry]);
    buffer.free(entry);
    this.policy.halves?.left(entry);
    while (link !== NONE) {
      const h = waiters.request[link];
      const untilIssue = waiters.untilIssue[link] !== 0;
      link = waiters.release(link);
      if (untilIssue) owner.entryIssued(h);
      else owner.entryGone(h, status, token);
    }
  }

  private eachEntry(first: number, count: number, visit: (entry: number) => void): void {
    const { buffer } = this.context;
    if (buffer.used === 0) return;
    if (count <= buffer.used) {
      for (let i = 0; i < count; i++) {
        const entry = buffer.find(first + i);
        if (entry !== NONE) visit(entry);
      }
    } else {
      for (let entry = 0; entry < buffer.state.length; entry++) {
        const lpn = buffer.lpn[entry];
        if (buffer.state[entry] !== EntryState.free && lpn >= first && lpn < first + count) visit(entry);
      }
    }
  }

  /** An entry of this age is not dirty any more: flushes wait for one less. */
  private uncover(age: number): void {
    const { flushes } = this;
    const { table } = this.context;
    for (let i = 0; i < flushes.length; i++) {
      const h = flushes[i];
      if (table.coversAge[h] < age || --table.unissued[h] > 0) continue;
      flushes.splice(i--, 1);
      this.owner.covered(h);
    }
  }

  private lose(): void {
    this.lostWrites++;
    this.context.counters.lostWrites++;
  }
}

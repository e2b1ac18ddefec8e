import { type NandArray, NandClass, type NandClient, type NandScheduler, type Token } from '@flashstack/nand-device';
import type { Frontiers } from '../frontier.js';
import { Done } from '../frontier-parts.js';
import { grown } from '../grown.js';
import { isInRam } from '../host-reads.js';
import type { Jobs } from '../jobs.js';
import { UNMAPPED } from '../slot-contents.js';

/** What waiting look-ups need of the FTL around them. */
export interface LookUpOwner extends NandClient {
  readonly jobs: Jobs;
  readonly stats: { pageReads: number };
  readonly scheduler: NandScheduler;
  readonly frontiers: Frontiers;
  readonly array: NandArray;
}

/**
 * Reads of translation pages that are in flight, and the slots of host requests that wait for them: records and lists of
 * slots in pooled columns. A slot's own page is read when its entry is there, so it is read from where it is then.
 */
export class LookUps {
  /** First cached key that a record brings, and how many follow; free records are linked by `span`. */
  key: Int32Array = new Int32Array(64);
  span: Int32Array = new Int32Array(64);
  private head: Int32Array = new Int32Array(64);
  private tail: Int32Array = new Int32Array(64);
  private sinceNs: Float64Array = new Float64Array(64);
  private freeRecord = -1;
  private records = 0;
  // Slots that wait: −1 as lpn stands for one whose data needs no read.
  private lpn: Int32Array = new Int32Array(64);
  private job: Int32Array = new Int32Array(64);
  private next: Int32Array = new Int32Array(64);
  private freeSlot = -1;
  private slots = 0;
  private readonly owner: LookUpOwner;

  constructor(owner: LookUpOwner) {
    this.owner = owner;
  }

  /** `token`, a read of a translation page, will bring `span` keys from `key` on. @returns its record. */
  open(token: Token, key: number, span: number): number {
    let record = this.freeRecord;
    if (record >= 0) this.freeRecord = this.span[record];
    else {
      if (this.records === this.key.length) this.growRecords();
      record = this.records++;
    }
    this.key[record] = key;
    this.span[record] = span;
    this.head[record] = -1;
    this.sinceNs[record] = this.owner.array.clock.now;
    this.owner.scheduler.then(token, this.owner, (record << 3) | Done.map);
    return record;
  }

  /** A slot of `job` waits for the record; then its data is read (`lpn` −1: needs no read). */
  wait(record: number, lpn: number, job: number): void {
    let slot = this.freeSlot;
    if (slot >= 0) this.freeSlot = this.next[slot];
    else {
      if (this.slots === this.lpn.length) this.growSlots();
      slot = this.slots++;
    }
    this.lpn[slot] = lpn;
    this.job[slot] = job;
    this.next[slot] = -1;
    if (this.head[record] < 0) this.head[record] = slot;
    else this.next[this.tail[record]] = slot;
    this.tail[record] = slot;
  }

  /** The read of a record is done: what waited for it goes on. Call it once its keys wait for nothing. */
  done(record: number): void {
    const { jobs, array } = this.owner;
    const waitedNs = array.clock.now - this.sinceNs[record];
    let slot = this.head[record];
    this.span[record] = this.freeRecord;
    this.freeRecord = record;
    while (slot >= 0) {
      const job = this.job[slot];
      jobs.waitedForMap(job, waitedNs);
      if (this.lpn[slot] >= 0) slot = this.read(slot, job);
      else {
        slot = this.release(slot);
        jobs.partDone(job, 0);
      }
    }
  }

  /** Nothing is in flight any more: power loss. */
  clear(): void {
    this.freeRecord = -1;
    this.records = 0;
    this.freeSlot = -1;
    this.slots = 0;
  }

  /** Reads the data of a slot, and of those behind it that are in the same page and request. @returns the slot after them. */
  private read(first: number, job: number): number {
    const { jobs, scheduler, frontiers, array } = this.owner;
    const m = array.geometry.slotsPerPage;
    const psn = this.sourceOf(first);
    let slot = this.release(first);
    if (psn < 0) {
      jobs.partDone(job, 0);
      return slot;
    }
    const ppn = Math.floor(psn / m);
    let mask = 1 << (psn - ppn * m);
    while (slot >= 0 && this.job[slot] === job && this.lpn[slot] >= 0) {
      const other = frontiers.l2p[this.lpn[slot]];
      if (other < 0 || Math.floor(other / m) !== ppn) break;
      mask |= 1 << (other - ppn * m);
      slot = this.release(slot);
      // Never the last part of the job: that is the read.
      jobs.partDone(job, 0);
    }
    this.owner.stats.pageReads++;
    scheduler.then(scheduler.read(ppn, mask, NandClass.userRead, 0), this.owner, (job << 3) | Done.job);
    return slot;
  }

  /** Where the data of a waiting slot is now; −1 if it needs no read (any more). */
  private sourceOf(slot: number): number {
    const psn = this.owner.frontiers.l2p[this.lpn[slot]];
    return psn === UNMAPPED || isInRam(this.owner.frontiers, psn) ? -1 : psn;
  }

  private release(slot: number): number {
    const after = this.next[slot];
    this.next[slot] = this.freeSlot;
    this.freeSlot = slot;
    return after;
  }

  private growRecords(): void {
    this.key = grown(this.key);
    this.span = grown(this.span);
    this.head = grown(this.head);
    this.tail = grown(this.tail);
    this.sinceNs = grown(this.sinceNs);
  }

  private growSlots(): void {
    this.lpn = grown(this.lpn);
    this.job = grown(this.job);
    this.next = grown(this.next);
  }
}

import { bytes, doubles, ints } from './columns.js';

const NONE = -1;

/** States of a cached slot. */
export const CacheState = {
  free: 0,
  filling: 1,
  /** Read ahead, and not used yet. */
  ahead: 2,
  valid: 3,
} as const;

/**
 * Slots of flash held in controller RAM, as a data structure: found by lpn, the valid ones in order of use. A slot that is
 * being filled belongs to the job that reads it and is never displaced.
 */
export class ReadCache {
  /** Slots held or being filled. */
  used = 0;
  lpn: Int32Array = new Int32Array(0);
  state: Uint8Array = new Uint8Array(0);
  /** The job that fills the slot. */
  job: Int32Array = new Int32Array(0);
  /** Content word as the FTL has it, a handle with its flag; the owner counts handles. */
  content: Float64Array = new Float64Array(0);
  /** Reads that wait until the slot is filled: head of a chain of links, −1: none. */
  waiters: Int32Array = new Int32Array(0);
  private readonly capacity: number;
  private newer: Int32Array = new Int32Array(0);
  private older: Int32Array = new Int32Array(0);
  private chain: Int32Array = new Int32Array(0);
  private buckets: Int32Array = new Int32Array(0);
  private newest: number = NONE;
  private oldest: number = NONE;
  private freeHead: number = NONE;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.grow(Math.min(64, capacity));
  }

  /** The entry of a slot, or −1. */
  find(lpn: number): number {
    let entry = this.buckets[this.bucketOf(lpn)];
    while (entry !== NONE && this.lpn[entry] !== lpn) entry = this.chain[entry];
    return entry;
  }

  isValid(entry: number): boolean {
    return this.state[entry] >= CacheState.ahead;
  }

  /** The valid slot that must go before another one comes, or −1 if there is room or nothing may go. */
  get victim(): number {
    return this.used < this.capacity ? NONE : this.oldest;
  }

  /** A new entry that `job` fills, or −1 if there is no room. The slot must not be present. */
  begin(lpn: number, job: number): number {
    if (this.used >= this.capacity) return NONE;
    if (this.freeHead === NONE) this.grow(Math.min(this.capacity, 2 * this.state.length));
    const entry = this.freeHead;
    this.freeHead = this.chain[entry];
    this.used++;
    this.lpn[entry] = lpn;
    this.job[entry] = job;
    this.content[entry] = 0;
    this.waiters[entry] = NONE;
    this.state[entry] = CacheState.filling;
    const bucket = this.bucketOf(lpn);
    this.chain[entry] = this.buckets[bucket];
    this.buckets[bucket] = entry;
    return entry;
  }

  /** The slot has been read: it is valid and the youngest. `ahead`: nobody has asked for it yet. */
  filled(entry: number, ahead: boolean): void {
    this.state[entry] = ahead ? CacheState.ahead : CacheState.valid;
    this.link(entry);
  }

  /** A valid slot has been used. The first use of one that was read ahead leaves it where it is: it goes before what follows. */
  touch(entry: number): void {
    if (this.state[entry] === CacheState.ahead) {
      this.state[entry] = CacheState.valid;
      return;
    }
    if (this.newest === entry) return;
    this.unlink(entry);
    this.link(entry);
  }

  /** Forgets a slot. Its content and waiters are the caller's to release. */
  remove(entry: number): void {
    const bucket = this.bucketOf(this.lpn[entry]);
    let at = this.buckets[bucket];
    if (at === entry) {
      this.buckets[bucket] = this.chain[entry];
    } else {
      while (this.chain[at] !== entry) at = this.chain[at];
      this.chain[at] = this.chain[entry];
    }
    if (this.isValid(entry)) this.unlink(entry);
    this.state[entry] = CacheState.free;
    this.chain[entry] = this.freeHead;
    this.freeHead = entry;
    this.used--;
  }

  private bucketOf(lpn: number): number {
    const x = Math.imul(lpn, 0x9e37_79b1);
    return (x ^ (x >>> 15)) & (this.buckets.length - 1);
  }

  private link(entry: number): void {
    this.newer[entry] = NONE;
    this.older[entry] = this.newest;
    if (this.newest === NONE) this.oldest = entry;
    else this.newer[this.newest] = entry;
    this.newest = entry;
  }

  private unlink(entry: number): void {
    const newer = this.newer[entry];
    const older = this.older[entry];
    if (newer === NONE) this.newest = older;
    else this.older[newer] = older;
    if (older === NONE) this.oldest = newer;
    else this.newer[older] = newer;
  }

  private grow(length: number): void {
    const old = this.state.length;
    this.lpn = ints(this.lpn, length);
    this.state = bytes(this.state, length);
    this.job = ints(this.job, length);
    this.content = doubles(this.content, length);
    this.waiters = ints(this.waiters, length);
    this.newer = ints(this.newer, length);
    this.older = ints(this.older, length);
    this.chain = ints(this.chain, length);
    this.buckets = new Int32Array(2 ** Math.ceil(Math.log2(2 * length))).fill(NONE);
    for (let entry = 0; entry < old; entry++) {
      const bucket = this.bucketOf(this.lpn[entry]);
      this.chain[entry] = this.buckets[bucket];
      this.buckets[bucket] = entry;
    }
    for (let entry = length - 1; entry >= old; entry--) {
      this.chain[entry] = this.freeHead;
      this.freeHead = entry;
    }
  }
}

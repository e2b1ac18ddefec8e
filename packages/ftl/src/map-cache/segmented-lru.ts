import type { EntryMarks } from './entry-marks.js';

/** Segment of an entry. */
const PROBATIONARY = 0;
const PROTECTED = 1;

/** 2 ** 32 over the golden ratio: products with it differ in their high bits. */
const GOLDEN = 0x9e37_79b1;

/**
 * Segmented LRU over integer keys: a key enters the probationary segment and moves to the protected one with its first
 * hit; what the protected segment has no room for goes back to the head of the probationary one (Karedla, Love and
 * Wherry, "Caching Strategies to Improve Disk System Performance", 1994). Every operation is O(1) and allocates nothing.
 */
export class SegmentedLru {
  /** Key of each entry in use. */
  readonly key: Int32Array;
  readonly capacity: number;
  /** Entries in use. */
  size = 0;
  private readonly protectedCapacity: number;
  /** Keys that are there. Most look-ups miss: then the bit is all that is read. */
  private readonly marks: EntryMarks;
  // Where they are: a hash table of chains. A table by key would be simpler, but too large for a CPU's cache.
  private readonly bucket: Int32Array;
  private readonly chain: Int32Array;
  private readonly shift: number;
  private protectedSize = 0;
  private readonly segment: Uint8Array;
  // Both segments as lists from the most to the least recently used entry.
  private readonly next: Int32Array;
  private readonly previous: Int32Array;
  private readonly head: Int32Array = new Int32Array(2).fill(-1);
  private readonly tail: Int32Array = new Int32Array(2).fill(-1);

  /** Keys are members of `marks`; up to `protectedShare` (0 … 1) of the `capacity` entries are protected. */
  constructor(marks: EntryMarks, capacity: number, protectedShare: number) {
    this.marks = marks;
    // Two to four buckets per entry.
    this.shift = Math.clz32(2 * capacity - 1);
    this.bucket = new Int32Array(2 ** (32 - this.shift)).fill(-1);
    this.chain = new Int32Array(capacity);
    this.key = new Int32Array(capacity);
    this.capacity = capacity;
    this.protectedCapacity = Math.floor(protectedShare * capacity);
    this.segment = new Uint8Array(capacity);
    this.next = new Int32Array(capacity);
    this.previous = new Int32Array(capacity);
  }

  get isFull(): boolean {
    return this.size === this.capacity;
  }

  /** Bytes of the table that finds entries. */
  get tableBytes(): number {
    return this.bucket.byteLength;
  }

  /** Entry that holds a key, −1: none. */
  find(key: number): number {
    if (!this.marks.isCached(key)) return -1;
    let entry = this.bucket[this.bucketOf(key)];
    while (this.key[entry] !== key) entry = this.chain[entry];
    return entry;
  }

  /** The entry that has to go first; the cache must not be empty. */
  get victim(): number {
    return this.tail[PROBATIONARY] >= 0 ? this.tail[PROBATIONARY] : this.tail[PROTECTED];
  }

  /** A hit on the entry. */
  touch(entry: number): void {
    if (this.segment[entry] === PROTECTED) {
      if (this.head[PROTECTED] === entry) return;
      this.unlink(entry);
      this.link(entry, PROTECTED);
      return;
    }
    this.unlink(entry);
    this.link(entry, PROTECTED);
    if (++this.protectedSize <= this.protectedCapacity) return;
    const demoted = this.tail[PROTECTED];
    this.unlink(demoted);
    this.link(demoted, PROBATIONARY);
    this.protectedSize--;
  }

  /** Enters a key that is not there, in the place of the victim if the cache is full. @returns its entry. */
  insert(key: number): number {
    let entry = this.size;
    if (entry < this.capacity) this.size++;
    else {
      entry = this.victim;
      this.unchain(entry);
      if (this.segment[entry] === PROTECTED) this.protectedSize--;
      this.unlink(entry);
    }
    this.key[entry] = key;
    this.marks.cache(key);
    const bucket = this.bucketOf(key);
    this.chain[entry] = this.bucket[bucket];
    this.bucket[bucket] = entry;
    this.link(entry, PROBATIONARY);
    return entry;
  }

  /** Forgets everything; the marks are the owner's to clear. */
  clear(): void {
    this.bucket.fill(-1);
    this.head.fill(-1);
    this.tail.fill(-1);
    this.size = 0;
    this.protectedSize = 0;
  }

  /** For tests: the keys of a segment, most recently used first. */
  keysOf(segment: 'probationary' | 'protected'): number[] {
    const keys: number[] = [];
    let entry = this.head[segment === 'protected' ? PROTECTED : PROBATIONARY];
    for (; entry >= 0; entry = this.next[entry]) keys.push(this.key[entry]);
    return keys;
  }

  private bucketOf(key: number): number {
    return Math.imul(key, GOLDEN) >>> this.shift;
  }

  /** The key of an entry is there no longer. */
  private unchain(entry: number): void {
    const key = this.key[entry];
    this.marks.uncache(key);
    const bucket = this.bucketOf(key);
    let before = this.bucket[bucket];
    if (before === entry) {
      this.bucket[bucket] = this.chain[entry];
      return;
    }
    while (this.chain[before] !== entry) before = this.chain[before];
    this.chain[before] = this.chain[entry];
  }

  private link(entry: number, segment: number): void {
    const { head, tail, next, previous } = this;
    const first = head[segment];
    this.segment[entry] = segment;
    previous[entry] = -1;
    next[entry] = first;
    if (first < 0) tail[segment] = entry;
    else previous[first] = entry;
    head[segment] = entry;
  }

  private unlink(entry: number): void {
    const { head, tail, next, previous } = this;
    const segment = this.segment[entry];
    const before = previous[entry];
    const after = next[entry];
    if (before < 0) head[segment] = after;
    else next[before] = after;
    if (after < 0) tail[segment] = before;
    else previous[after] = before;
  }
}

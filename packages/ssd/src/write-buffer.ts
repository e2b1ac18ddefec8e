import { bytes, doubles, ints } from './columns.js';

const NONE = -1;

/** States of a buffer entry. */
export const EntryState = {
  free: 0,
  /** Waits to be drained; may be overwritten in place. */
  dirty: 1,
  /** The missing blocks of its slot are being read; may be overwritten in place. */
  filling: 2,
  /** As filling, but discarded meanwhile and no longer found: freed when the read ends. */
  dropped: 3,
  /** Handed to the FTL; kept for reads until it is programmed. */
  issued: 4,
  /** Never drained: a discard of its slot is under way. Serves reads until the discard is done. */
  doomed: 5,
  /** As doomed, while its missing blocks are being read. */
  doomedFilling: 6,
} as const;

/**
 * The write buffer as a data structure: entries of one slot each, found by lpn, and the dirty ones in order of age.
 * Holds no time and no policy; the command engine has both.
 */
export class WriteBuffer {
  /** Entries that may be used; `Infinity` for the staging area of a drive without a buffer. */
  readonly capacity: number;
  /** Entries in use. */
  used = 0;
  dirty = 0;
  filling = 0;
  issued = 0;
  /** Oldest dirty entry, or −1. */
  head: number = NONE;

  state: Uint8Array;
  lpn: Int32Array;
  /** Bit i: block i of the slot is here. */
  mask: Int32Array;
  /** Content record, 0: none. */
  record: Int32Array;
  origin: Uint8Array;
  stream: Int32Array;
  /** Order of insertion; a flush covers all entries up to an age. */
  age: Float64Array;
  /** Requests that wait for this entry: head of a chain of links. */
  waiters: Int32Array;

  private tail = NONE;
  private next: Int32Array;
  private previous: Int32Array;
  private chain: Int32Array;
  private freeHead = NONE;
  private buckets: Int32Array;
  private bucketMask: number;
  private readonly clock: Float64Array = new Float64Array(1);

  constructor(capacity: number) {
    this.capacity = capacity;
    this.state = new Uint8Array(0);
    this.lpn = new Int32Array(0);
    this.mask = new Int32Array(0);
    this.record = new Int32Array(0);
    this.origin = new Uint8Array(0);
    this.stream = new Int32Array(0);
    this.age = new Float64Array(0);
    this.waiters = new Int32Array(0);
    this.next = new Int32Array(0);
    this.previous = new Int32Array(0);
    this.chain = new Int32Array(0);
    this.buckets = new Int32Array(0);
    this.bucketMask = 0;
    this.grow(64);
  }

  /** The newest entry of this slot, or −1. */
  find(lpn: number): number {
    let entry = this.buckets[hash(lpn) & this.bucketMask];
    while (entry !== NONE && this.lpn[entry] !== lpn) entry = this.chain[entry];
    return entry;
  }

  /** The age of the newest entry so far. */
  get newestAge(): number {
    return this.clock[0];
  }

  /** A new dirty entry that is found under its lpn, or −1 if the buffer is full. */
  insert(lpn: number, mask: number, record: number, origin: number, stream: number): number {
    if (this.used >= this.capacity) return NONE;
    if (this.freeHead === NONE) this.grow(this.state.length * 2);
    const entry = this.freeHead;
    this.freeHead = this.next[entry];
    this.used++;
    this.lpn[entry] = lpn;
    this.mask[entry] = mask;
    this.record[entry] = record;
    this.origin[entry] = origin;
    this.stream[entry] = stream;
    this.waiters[entry] = NONE;
    this.age[entry] = ++this.clock[0];
    const bucket = hash(lpn) & this.bucketMask;
    this.chain[entry] = this.buckets[bucket];
    this.buckets[bucket] = entry;
    this.state[entry] = EntryState.dirty;
    this.dirty++;
    this.next[entry] = NONE;
    this.previous[entry] = this.tail;
    if (this.tail === NONE) this.head = entry;
    else this.next[this.tail] = entry;
    this.tail = entry;
    return entry;
  }

  /** A dirty or filling entry takes more blocks, or newer ones. */
  overwrite(entry: number, mask: number, origin: number, stream: number): void {
    this.mask[entry] |= mask;
    this.origin[entry] = origin;
    this.stream[entry] = stream;
  }

  /** A dirty entry begins to be filled. */
  startFill(entry: number): void {
    this.unlink(entry);
    this.state[entry] = EntryState.filling;
    this.filling++;
  }

  /** A dirty or filling entry goes to the FTL. */
  issue(entry: number): void {
    if (this.state[entry] === EntryState.dirty) this.unlink(entry);
    else this.filling--;
    this.state[entry] = EntryState.issued;
    this.issued++;
  }

  /** The slot is no longer found here: a newer version or a discard has taken its place. */
  forget(entry: number): void {
    const bucket = hash(this.lpn[entry]) & this.bucketMask;
    let at = this.buckets[bucket];
    if (at === entry) {
      this.buckets[bucket] = this.chain[entry];
    } else {
      while (at !== NONE && this.chain[at] !== entry) at = this.chain[at];
      if (at === NONE) return;
      this.chain[at] = this.chain[entry];
    }
    this.chain[entry] = NONE;
  }

  /** A discard of a dirty or filling entry begins. */
  doom(entry: number): void {
    if (this.state[entry] === EntryState.dirty) {
      this.unlink(entry);
      this.state[entry] = EntryState.doomed;
    } else {
      this.filling--;
      this.state[entry] = EntryState.doomedFilling;
    }
  }

  /** The missing blocks of a doomed entry have been read, in vain. */
  endDoomedFill(entry: number): void {
    this.state[entry] = EntryState.doomed;
  }

  /** The discard of an entry that is still being filled is done: it stays, unfindable, until its read ends. */
  dropFilling(entry: number): void {
    this.forget(entry);
    this.state[entry] = EntryState.dropped;
  }

  /** Ends an entry in any state. Its record and waiters are the caller's to release. */
  free(entry: number): void {
    const state = this.state[entry];
    if (state === EntryState.dirty) this.unlink(entry);
    else if (state === EntryState.filling) this.filling--;
    else if (state === EntryState.issued) this.issued--;
    if (state !== EntryState.dropped) this.forget(entry);
    this.state[entry] = EntryState.free;
    this.next[entry] = this.freeHead;
    this.freeHead = entry;
    this.used--;
  }

  private unlink(entry: number): void {
    const before = this.previous[entry];
    const after = this.next[entry];
    if (before === NONE) this.head = after;
    else this.next[before] = after;
    if (after === NONE) this.tail = before;
    else this.previous[after] = before;
    this.dirty--;
  }

  private grow(capacity: number): void {
    const old = this.state.length;
    this.state = bytes(this.state, capacity);
    this.origin = bytes(this.origin, capacity);
    this.lpn = ints(this.lpn, capacity);
    this.mask = ints(this.mask, capacity);
    this.record = ints(this.record, capacity);
    this.stream = ints(this.stream, capacity);
    this.waiters = ints(this.waiters, capacity);
    this.next = ints(this.next, capacity);
    this.previous = ints(this.previous, capacity);
    this.chain = ints(this.chain, capacity);
    this.age = doubles(this.age, capacity);
    for (let entry = capacity - 1; entry >= old; entry--) {
      this.next[entry] = this.freeHead;
      this.freeHead = entry;
    }
    this.rehash(capacity * 2, old);
  }

  private rehash(buckets: number, entries: number): void {
    // Superseded entries are not in the table: collect those that are, oldest first in each chain, before it is rebuilt.
    const found: number[] = [];
    for (let entry = 0; entry < entries; entry++) {
      if (this.state[entry] !== EntryState.free && this.find(this.lpn[entry]) === entry) found.push(entry);
    }
    this.buckets = new Int32Array(buckets).fill(NONE);
    this.bucketMask = buckets - 1;
    for (const entry of found) {
      const bucket = hash(this.lpn[entry]) & this.bucketMask;
      this.chain[entry] = this.buckets[bucket];
      this.buckets[bucket] = entry;
    }
  }
}

function hash(lpn: number): number {
  const x = Math.imul(lpn, 0x9e37_79b1);
  return x ^ (x >>> 15);
}

import type { BlockRequest } from '@flashstack/block-device';
import { bytes, doubles, ints } from './columns.js';
import { PHASES } from './phases.js';

const NONE = -1;

/**
 * Requests inside the drive as columns, addressed by an integer handle. `BlockRequest` objects are touched only when a
 * request comes in and when it leaves.
 */
export class RequestTable {
  /** The host's object, or null once the host is gone (power cut of a protected drive). */
  request: (BlockRequest | null)[] = [];
  op: Uint8Array;
  flags: Int32Array;
  origin: Uint8Array;
  stream: Int32Array;
  flow: Int32Array;
  status: Uint8Array;
  /** What the next event of a request does; see `Stage` of the controller. */
  stage: Uint8Array;
  /** 1 while a write waits in the admission queue for room in the buffer. */
  waiting: Uint8Array;
  /** Writes: place in a packed command; see `Packed` of the host interface. */
  packed: Uint8Array;
  /** First slot and number of slots the request touches. */
  lpn: Int32Array;
  slots: Int32Array;
  /** Blocks before the request in its first slot, behind it in its last slot, and blocks of the request. */
  head: Uint8Array;
  tail: Uint8Array;
  blocks: Float64Array;
  /** Writes: slots whose data is here; slots placed in the buffer or handed on. Reads: slots looked up. */
  arrived: Int32Array;
  placed: Int32Array;
  /** Parts under way that must end before the request does. */
  pending: Int32Array;
  /** FUA writes: entries not yet handed to the FTL. Flushes: dirty entries they wait for. */
  unissued: Int32Array;
  /** Content records of slots not yet placed, as a chain. */
  record: Int32Array;
  /** Bytes that have not been booked on the link. */
  linkBytes: Float64Array;
  issuedNs: Float64Array;
  /** Up to here the time is accounted for in `phasesNs`. */
  markNs: Float64Array;
  /** Start of the transfer on the link (writes), end of the last booked part (reads). */
  linkNs: Float64Array;
  /** Flushes: the newest age they cover. */
  coversAge: Float64Array;
  phasesNs: Float64Array;
  /** Link of the list a request is in: free list, submission queue, admission queue, or flushes. */
  next: Int32Array;
  private freeHead = NONE;

  constructor() {
    this.op = new Uint8Array(0);
    this.origin = new Uint8Array(0);
    this.status = new Uint8Array(0);
    this.stage = new Uint8Array(0);
    this.waiting = new Uint8Array(0);
    this.packed = new Uint8Array(0);
    this.head = new Uint8Array(0);
    this.tail = new Uint8Array(0);
    this.flags = new Int32Array(0);
    this.stream = new Int32Array(0);
    this.flow = new Int32Array(0);
    this.lpn = new Int32Array(0);
    this.slots = new Int32Array(0);
    this.arrived = new Int32Array(0);
    this.placed = new Int32Array(0);
    this.pending = new Int32Array(0);
    this.unissued = new Int32Array(0);
    this.record = new Int32Array(0);
    this.next = new Int32Array(0);
    this.blocks = new Float64Array(0);
    this.linkBytes = new Float64Array(0);
    this.issuedNs = new Float64Array(0);
    this.markNs = new Float64Array(0);
    this.linkNs = new Float64Array(0);
    this.coversAge = new Float64Array(0);
    this.phasesNs = new Float64Array(0);
    this.grow(64);
  }

  /** Handles there are, in use or not. */
  get capacity(): number {
    return this.op.length;
  }

  /** A handle whose counters and phases are zero. */
  acquire(): number {
    if (this.freeHead === NONE) this.grow(this.op.length * 2);
    const h = this.freeHead;
    this.freeHead = this.next[h];
    this.next[h] = NONE;
    this.status[h] = 0;
    this.stage[h] = 0;
    this.waiting[h] = 0;
    this.packed[h] = 0;
    this.linkNs[h] = 0;
    this.arrived[h] = 0;
    this.placed[h] = 0;
    this.pending[h] = 0;
    this.unissued[h] = 0;
    this.record[h] = 0;
    const at = h * PHASES;
    for (let phase = 0; phase < PHASES; phase++) this.phasesNs[at + phase] = 0;
    return h;
  }

  release(h: number): void {
    this.request[h] = null;
    this.next[h] = this.freeHead;
    this.freeHead = h;
  }

  private grow(capacity: number): void {
    const old = this.op.length;
    this.op = bytes(this.op, capacity);
    this.origin = bytes(this.origin, capacity);
    this.status = bytes(this.status, capacity);
    this.stage = bytes(this.stage, capacity);
    this.waiting = bytes(this.waiting, capacity);
    this.packed = bytes(this.packed, capacity);
    this.head = bytes(this.head, capacity);
    this.tail = bytes(this.tail, capacity);
    this.flags = ints(this.flags, capacity);
    this.stream = ints(this.stream, capacity);
    this.flow = ints(this.flow, capacity);
    this.lpn = ints(this.lpn, capacity);
    this.slots = ints(this.slots, capacity);
    this.arrived = ints(this.arrived, capacity);
    this.placed = ints(this.placed, capacity);
    this.pending = ints(this.pending, capacity);
    this.unissued = ints(this.unissued, capacity);
    this.record = ints(this.record, capacity);
    this.next = ints(this.next, capacity);
    this.blocks = doubles(this.blocks, capacity);
    this.linkBytes = doubles(this.linkBytes, capacity);
    this.issuedNs = doubles(this.issuedNs, capacity);
    this.markNs = doubles(this.markNs, capacity);
    this.linkNs = doubles(this.linkNs, capacity);
    this.coversAge = doubles(this.coversAge, capacity);
    this.phasesNs = doubles(this.phasesNs, capacity * PHASES);
    for (let h = capacity - 1; h >= old; h--) {
      this.request[h] = null;
      this.next[h] = this.freeHead;
      this.freeHead = h;
    }
  }
}

/** What a job of the FTL belongs to: a part of a request, a buffer entry, or nobody. */
export class JobTable {
  kind: Uint8Array = new Uint8Array(0);
  /** Request or entry. */
  ref: Int32Array = new Int32Array(0);
  /** Slots of the part. */
  slots: Int32Array = new Int32Array(0);
  /** Next slot whose content the FTL will ask for, and the records from there on. */
  lpn: Int32Array = new Int32Array(0);
  record: Int32Array = new Int32Array(0);
  private next: Int32Array = new Int32Array(0);
  private freeHead = NONE;

  constructor() {
    this.grow(128);
  }

  acquire(kind: number, ref: number, lpn: number, slots: number): number {
    if (this.freeHead === NONE) this.grow(this.kind.length * 2);
    const job = this.freeHead;
    this.freeHead = this.next[job];
    this.kind[job] = kind;
    this.ref[job] = ref;
    this.lpn[job] = lpn;
    this.slots[job] = slots;
    this.record[job] = 0;
    return job;
  }

  release(job: number): void {
    this.next[job] = this.freeHead;
    this.freeHead = job;
  }

  private grow(capacity: number): void {
    const old = this.kind.length;
    this.kind = bytes(this.kind, capacity);
    this.ref = ints(this.ref, capacity);
    this.slots = ints(this.slots, capacity);
    this.lpn = ints(this.lpn, capacity);
    this.record = ints(this.record, capacity);
    this.next = ints(this.next, capacity);
    for (let job = capacity - 1; job >= old; job--) {
      this.next[job] = this.freeHead;
      this.freeHead = job;
    }
  }
}

/** First in, first out queues of requests, linked through `table.next`. */
export class RequestQueues {
  /** Requests in all queues. */
  length = 0;
  private readonly table: RequestTable;
  private readonly heads: Int32Array;
  private readonly tails: Int32Array;
  private turn = 0;

  constructor(table: RequestTable, queues: number) {
    this.table = table;
    this.heads = new Int32Array(queues).fill(NONE);
    this.tails = new Int32Array(queues).fill(NONE);
  }

  push(queue: number, h: number): void {
    const q = queue % this.heads.length;
    this.table.next[h] = NONE;
    if (this.heads[q] === NONE) this.heads[q] = h;
    else this.table.next[this.tails[q]] = h;
    this.tails[q] = h;
    this.length++;
  }

  /** The first request of queue 0, or −1. */
  get first(): number {
    return this.heads[0];
  }

  /** The next request, queues in turn; −1 if all are empty. */
  shift(): number {
    if (this.length === 0) return NONE;
    const { heads } = this;
    let queue = this.turn;
    while (heads[queue] === NONE) queue = queue + 1 === heads.length ? 0 : queue + 1;
    this.turn = queue + 1 === heads.length ? 0 : queue + 1;
    const h = heads[queue];
    heads[queue] = this.table.next[h];
    this.length--;
    return h;
  }
}

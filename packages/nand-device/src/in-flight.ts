import type { NandClock } from './bus.js';
import { grown } from './columns.js';

/** What an entry of the list of operations in flight is. */
export const FlightKind = { read: 0, program: 1, erase: 2 } as const;

/**
 * Per die, the operations that may not be over yet, in the order in which the die executes them. Pruned lazily. It
 * answers three questions: is this page still being programmed, how much of a wait was behind garbage collection, and
 * what must a power cut undo or tear.
 */
export class InFlight {
  kind: Uint8Array = new Uint8Array(256);
  /** ppn of a program, block of an erase. */
  address: Int32Array = new Int32Array(256);
  /** `nextPage` of the block before the operation. */
  oldNextPage: Int32Array = new Int32Array(256);
  /** The die is taken from here … */
  startNs: Float64Array = new Float64Array(256);
  /** … the cells change from here … */
  arrayNs: Float64Array = new Float64Array(256);
  /** … to here. */
  doneNs: Float64Array = new Float64Array(256);
  next: Int32Array = new Int32Array(256);
  /** 1: work of the garbage collector. */
  private gc: Uint8Array = new Uint8Array(256);
  /** Garbage-collection time of the die up to the end of this entry. */
  private gcSum: Float64Array = new Float64Array(256);
  /** Per die: first entry (0: none), last entry, garbage-collection time booked so far. */
  readonly head: Int32Array;
  private readonly tail: Int32Array;
  private readonly gcTotalNs: Float64Array;
  private readonly lastEndNs: Float64Array;
  private readonly clock: NandClock;
  private firstFree = 0;
  private used = 1;

  constructor(dies: number, clock: NandClock) {
    this.head = new Int32Array(dies);
    this.tail = new Int32Array(dies);
    this.gcTotalNs = new Float64Array(dies);
    this.lastEndNs = new Float64Array(dies);
    this.clock = clock;
  }

  /** Adds an entry at the end of the die's list; the caller fills `startNs`, `arrayNs` and `doneNs`, then calls `booked`. */
  append(die: number, kind: number, address: number, oldNextPage: number): number {
    this.prune(die);
    let entry = this.firstFree;
    if (entry !== 0) this.firstFree = this.next[entry];
    else {
      if (this.used === this.kind.length) this.grow();
      entry = this.used++;
    }
    this.kind[entry] = kind;
    this.address[entry] = address;
    this.oldNextPage[entry] = oldNextPage;
    this.next[entry] = 0;
    if (this.head[die] === 0) this.head[die] = entry;
    else this.next[this.tail[die]] = entry;
    this.tail[die] = entry;
    return entry;
  }

  /** The entry's times are known: accounts the part of the die's time that it adds to garbage collection. */
  booked(die: number, entry: number, isGc: boolean): void {
    const end = this.doneNs[entry];
    const last = this.lastEndNs[die];
    if (this.startNs[entry] < last) this.startNs[entry] = last;
    this.gc[entry] = 0;
    if (end > last) {
      this.lastEndNs[die] = end;
      if (isGc) {
        this.gc[entry] = 1;
        this.gcTotalNs[die] += end - this.startNs[entry];
      }
    }
    this.gcSum[entry] = this.gcTotalNs[die];
  }

  /** Garbage-collection time of the die before `timeNs`, on a scale of its own: differences are meaningful. */
  gcBefore(die: number, timeNs: number): number {
    if (timeNs >= this.lastEndNs[die]) return this.gcTotalNs[die];
    let entry = this.head[die];
    while (entry !== 0 && this.doneNs[entry] <= timeNs) entry = this.next[entry];
    if (entry === 0) return this.gcTotalNs[die];
    if (this.gc[entry] === 0) return this.gcSum[entry];
    const start = this.startNs[entry];
    return this.gcSum[entry] - (this.doneNs[entry] - Math.max(start, timeNs));
  }

  /** True if a program of this page is in the list and not over. */
  isProgramming(die: number, ppn: number, programPages: number): boolean {
    const now = this.clock.now;
    for (let entry = this.head[die]; entry !== 0; entry = this.next[entry]) {
      const from = this.address[entry];
      if (this.kind[entry] === FlightKind.program && ppn >= from && ppn < from + programPages) {
        if (this.doneNs[entry] > now) return true;
      }
    }
    return false;
  }

  /** Forgets everything. */
  clear(): void {
    this.head.fill(0);
    this.tail.fill(0);
    this.lastEndNs.fill(0);
    this.firstFree = 0;
    this.used = 1;
  }

  private prune(die: number): void {
    const now = this.clock.now;
    let entry = this.head[die];
    while (entry !== 0 && this.doneNs[entry] <= now) {
      const next = this.next[entry];
      this.next[entry] = this.firstFree;
      this.firstFree = entry;
      entry = next;
    }
    this.head[die] = entry;
  }

  private grow(): void {
    const capacity = this.kind.length * 2;
    this.kind = grown(this.kind, new Uint8Array(capacity));
    this.gc = grown(this.gc, new Uint8Array(capacity));
    this.address = grown(this.address, new Int32Array(capacity));
    this.oldNextPage = grown(this.oldNextPage, new Int32Array(capacity));
    this.next = grown(this.next, new Int32Array(capacity));
    this.startNs = grown(this.startNs, new Float64Array(capacity));
    this.arrayNs = grown(this.arrayNs, new Float64Array(capacity));
    this.doneNs = grown(this.doneNs, new Float64Array(capacity));
    this.gcSum = grown(this.gcSum, new Float64Array(capacity));
  }
}

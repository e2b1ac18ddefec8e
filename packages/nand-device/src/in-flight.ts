import type { NandClock } from './bus.js';
import { grown } from './columns.js';

/** What an entry of the list of operations in flight is. */
export const FlightKind = { read: 0, program: 1, erase: 2 } as const;

/** Integer fields of an entry, side by side: kind + 4 for garbage collection; address; undo state; next entry. */
const INTS = 4;
/** Times of an entry: the die is taken, the cells change from, and to; garbage-collection time of the die up to its end. */
const TIMES = 4;

/**
 * Per die, the operations that may not be over yet, in the order in which the die executes them. Pruned lazily. It
 * answers three questions: is this page still being programmed, how much of a wait was behind garbage collection, and
 * what must a power cut undo or tear.
 */
export class InFlight {
  /** Arguments of `append`: the die is taken from `io[0]`, the cells change from `io[1]` to `io[2]`. */
  readonly io: Float64Array = new Float64Array(3);
  private ints: Int32Array = new Int32Array(256 * INTS);
  private times: Float64Array = new Float64Array(256 * TIMES);
  /** Per die: first entry (0: none), last entry, garbage-collection time booked so far, end of the last entry. */
  private readonly head: Int32Array;
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

  /** Adds an operation at the end of the die's list; `isGc` is 1 for work of the garbage collector. */
  append(die: number, kind: number, address: number, undo: number, isGc: number): void {
    const { io } = this;
    const end = io[2];
    const last = this.lastEndNs[die];
    const start = Math.max(io[0], last);
    let gc = 0;
    if (end > last) {
      this.lastEndNs[die] = end;
      if (isGc !== 0) {
        gc = 4;
        this.gcTotalNs[die] += end - start;
      }
    }
    const entry = this.take(die);
    const { ints, times } = this;
    const i = entry * INTS;
    ints[i] = kind | gc;
    ints[i + 1] = address;
    ints[i + 2] = undo;
    ints[i + 3] = 0;
    const t = entry * TIMES;
    times[t] = start;
    times[t + 1] = io[1];
    times[t + 2] = end;
    times[t + 3] = this.gcTotalNs[die];
  }

  /** First entry of a die (0: none), and the one after an entry. */
  first(die: number): number {
    return this.head[die];
  }

  next(entry: number): number {
    return this.ints[entry * INTS + 3];
  }

  kind(entry: number): number {
    return this.ints[entry * INTS] & 3;
  }

  /** ppn of a program, block of an erase. */
  address(entry: number): number {
    return this.ints[entry * INTS + 1];
  }

  undo(entry: number): number {
    return this.ints[entry * INTS + 2];
  }

  /** The cells change from here … */
  arrayNs(entry: number): number {
    return this.times[entry * TIMES + 1];
  }

  /** … to here. */
  doneNs(entry: number): number {
    return this.times[entry * TIMES + 2];
  }

  /** Garbage-collection time of the die before `timeNs`, on a scale of its own: differences are meaningful. */
  gcBefore(die: number, timeNs: number): number {
    if (timeNs >= this.lastEndNs[die]) return this.gcTotalNs[die];
    const { ints, times } = this;
    let entry = this.head[die];
    while (entry !== 0 && times[entry * TIMES + 2] <= timeNs) entry = ints[entry * INTS + 3];
    if (entry === 0) return this.gcTotalNs[die];
    const t = entry * TIMES;
    if ((ints[entry * INTS] & 4) === 0) return times[t + 3];
    return times[t + 3] - (times[t + 2] - Math.max(times[t], timeNs));
  }

  /** True if a program of this page is in the list and not over. */
  isProgramming(die: number, ppn: number, programPages: number): boolean {
    const now = this.clock.now;
    const { ints, times } = this;
    for (let entry = this.head[die]; entry !== 0; entry = ints[entry * INTS + 3]) {
      const from = ints[entry * INTS + 1];
      if ((ints[entry * INTS] & 3) !== FlightKind.program || ppn < from || ppn >= from + programPages) continue;
      if (times[entry * TIMES + 2] > now) return true;
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

  /** An entry at the end of the die's list, which loses what is over at its front. */
  private take(die: number): number {
    const now = this.clock.now;
    const { times } = this;
    let { ints } = this;
    let head = this.head[die];
    while (head !== 0 && times[head * TIMES + 2] <= now) {
      const next = ints[head * INTS + 3];
      ints[head * INTS + 3] = this.firstFree;
      this.firstFree = head;
      head = next;
    }
    let entry = this.firstFree;
    if (entry !== 0) this.firstFree = ints[entry * INTS + 3];
    else {
      if (this.used * INTS === ints.length) this.grow();
      ints = this.ints;
      entry = this.used++;
    }
    if (head === 0) head = entry;
    else ints[this.tail[die] * INTS + 3] = entry;
    this.head[die] = head;
    this.tail[die] = entry;
    return entry;
  }

  private grow(): void {
    this.ints = grown(this.ints, new Int32Array(this.ints.length * 2));
    this.times = grown(this.times, new Float64Array(this.times.length * 2));
  }
}

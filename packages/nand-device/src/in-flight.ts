import type { NandArray } from './array.js';
import type { NandClock } from './bus.js';

/** What an entry of the list of operations in flight is. */
export const FlightKind = { read: 0, program: 1, erase: 2 } as const;

/** Integer fields of an entry, side by side: kind + 4 for garbage collection; address; undo state. */
const INTS = 4;
/**
 * Times of an entry: the die is taken, the cells change from; it and all before it are over; garbage-collection time of the
 * die until then. Only a read of one plane may be over earlier than what came before.
 */
const TIMES = 4;

/**
 * Per die, the operations that may not be over yet, in the order in which the die executes them: rings that drop what is
 * over when they are read or added to. They answer three questions: is this page still being programmed, how much of a
 * wait was behind garbage collection, and what must a power cut undo or tear.
 */
export class InFlight {
  /** Arguments of `append`: the die is taken from `span[0]`, the cells change from `span[1]` to `span[2]`. */
  private readonly span: Float64Array;
  /** Arguments of `gcBetween`, and its result in `wait[0]`. */
  private readonly wait: Float64Array;
  private ints: Int32Array;
  private times: Float64Array;
  /** log2 of the entries of a die's ring. */
  private shift = 4;
  /** Per die: first entry and end of the ring, running numbers. */
  private readonly first: Int32Array;
  private readonly last: Int32Array;
  /** Per die: garbage-collection time booked so far, end of the last entry. */
  private readonly gcTotalNs: Float64Array;
  private readonly lastEndNs: Float64Array;
  private readonly clock: NandClock;
  /** Per block: running number of its last program in its die's list. */
  private readonly newest: Int32Array;
  private readonly nand: NandArray;

  /** `span` and `wait` carry arguments, because doubles that cross a call would be boxed. */
  constructor(nand: NandArray, clock: NandClock, span: Float64Array, wait: Float64Array) {
    const { dies } = nand.geometry;
    this.nand = nand;
    this.newest = new Int32Array(nand.geometry.blocks);
    this.span = span;
    this.wait = wait;
    this.ints = new Int32Array((dies << this.shift) * INTS);
    this.times = new Float64Array((dies << this.shift) * TIMES);
    this.first = new Int32Array(dies);
    this.last = new Int32Array(dies);
    this.gcTotalNs = new Float64Array(dies);
    this.lastEndNs = new Float64Array(dies);
    this.clock = clock;
  }

  /** Adds an operation at the end of the die's list; `isGc` is 1 for work of the garbage collector. */
  append(die: number, kind: number, address: number, undo: number, isGc: number): void {
    if (this.last[die] - this.first[die] === 1 << this.shift) this.makeRoom(die);
    const { span, ints, times } = this;
    const end = span[2];
    const last = this.lastEndNs[die];
    const start = Math.max(span[0], last);
    let gc = 0;
    let until = last;
    if (end > last) {
      until = end;
      this.lastEndNs[die] = end;
      if (isGc !== 0) {
        gc = 4;
        this.gcTotalNs[die] += end - start;
      }
    }
    const number = this.last[die];
    this.last[die] = (number + 1) | 0;
    const entry = this.at(die, number);
    const i = entry * INTS;
    ints[i] = kind | gc;
    ints[i + 1] = address;
    ints[i + 2] = undo;
    if (kind === FlightKind.program) {
      const block = this.nand.geometry.blockOf(address);
      ints[i + 3] = this.newest[block];
      this.newest[block] = number;
    }
    const t = entry * TIMES;
    times[t] = start;
    times[t + 1] = span[1];
    times[t + 2] = until;
    times[t + 3] = this.gcTotalNs[die];
  }

  /** Entries of a die that are not over, oldest first. */
  entries(die: number): number[] {
    this.dropPast(die);
    const entries: number[] = [];
    for (let number = this.first[die]; number !== this.last[die]; number = (number + 1) | 0) {
      entries.push(this.at(die, number));
    }
    return entries;
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

  /** Garbage-collection time of the die from `wait[0]` to `wait[1]`, neither of them past; left in `wait[0]`. */
  gcBetween(die: number): void {
    this.dropPast(die);
    const { wait } = this;
    const from = this.gcBefore(die, 0);
    wait[0] = this.gcBefore(die, 1) - from;
  }

  /** True if a program of this page is in the list and not over. */
  isProgramming(die: number, ppn: number): boolean {
    this.dropPast(die);
    const { geometry } = this.nand;
    const block = geometry.blockOf(ppn);
    const first = this.first[die];
    let end = this.last[die];
    let number = this.newest[block];
    // Numbers from before a power cut are too large, or those of other blocks.
    while ((number - first) >>> 0 < (end - first) >>> 0) {
      const i = this.at(die, number) * INTS;
      const ahead = ppn - this.ints[i + 1];
      if (ahead >= 0 && ahead < geometry.programPages && (this.ints[i] & 3) === FlightKind.program) return true;
      end = number;
      number = this.ints[i + 3];
    }
    return false;
  }

  /** Forgets everything. */
  clear(): void {
    this.first.fill(0);
    this.last.fill(0);
    this.lastEndNs.fill(0);
  }

  private at(die: number, number: number): number {
    return (die << this.shift) + (number & ((1 << this.shift) - 1));
  }

  private gcBefore(die: number, which: number): number {
    const timeNs = this.wait[which];
    if (timeNs >= this.lastEndNs[die]) return this.gcTotalNs[die];
    const { ints, times } = this;
    const entry = this.firstAfter(die, timeNs);
    const t = entry * TIMES;
    if ((ints[entry * INTS] & 4) === 0) return times[t + 3];
    return times[t + 3] - (times[t + 2] - Math.max(times[t], timeNs));
  }

  /** The first entry that is not over at a time before the end of the last one. */
  private firstAfter(die: number, timeNs: number): number {
    const { times } = this;
    const number = this.first[die];
    let low = 0;
    let high = (this.last[die] - number) | 0;
    // Mostly the time is the present.
    if (times[this.at(die, number) * TIMES + 2] > timeNs) high = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[this.at(die, number + middle) * TIMES + 2] > timeNs) high = middle;
      else low = middle + 1;
    }
    return this.at(die, number + low);
  }

  private dropPast(die: number): void {
    const { times } = this;
    const now = this.clock.now;
    const last = this.last[die];
    let number = this.first[die];
    while (number !== last && times[this.at(die, number) * TIMES + 2] <= now) number = (number + 1) | 0;
    this.first[die] = number;
  }

  /** Drops what is over; if that is nothing, all rings double. */
  private makeRoom(die: number): void {
    this.dropPast(die);
    if (this.last[die] - this.first[die] < 1 << this.shift) return;
    const dies = this.first.length;
    const { ints, times, shift } = this;
    this.shift++;
    this.ints = new Int32Array(ints.length * 2);
    this.times = new Float64Array(times.length * 2);
    for (let each = 0; each < dies; each++) {
      for (let number = this.first[each]; number !== this.last[each]; number = (number + 1) | 0) {
        const from = (each << shift) + (number & ((1 << shift) - 1));
        const to = this.at(each, number);
        this.ints.set(ints.subarray(from * INTS, (from + 1) * INTS), to * INTS);
        this.times.set(times.subarray(from * TIMES, (from + 1) * TIMES), to * TIMES);
      }
    }
  }
}

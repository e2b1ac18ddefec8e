import { ints } from './columns.js';
import type { RequestTable } from './request-table.js';

const NONE = -1;
/** Slots per region of a level, as powers of two. */
const LEVEL_SHIFTS = [5, 9, 13, 17, 21, 25, 30];
const BUCKETS = 4096;

/**
 * Keeps overlapping writes (and discards) in order of submission: of overlapping writes in flight the one submitted
 * last wins, whatever core or queue they take. A request that overlaps an earlier one under way waits for its end.
 *
 * A request is listed in the regions it touches, on the finest level on which these are at most two, so that entering
 * looks at few others however many are in flight. It waits for the latest request it overlaps; that one has waited for
 * those before it, so a hot slot makes a chain in which every end wakes one.
 */
export class RangeLocks {
  /** Requests that wait. */
  held = 0;
  private readonly table: RequestTable;
  /** Newest node per bucket of a level; the buckets of a level are made when it is first used. */
  private readonly newest: (Int32Array | null)[] = LEVEL_SHIFTS.map(() => null);
  /** Requests listed per level, and the number of levels that have been used. */
  private readonly listed: Int32Array = new Int32Array(LEVEL_SHIFTS.length);
  private levels = 0;
  /** Two nodes per request: its neighbours in the list of each of its regions. */
  private older: Int32Array = new Int32Array(0);
  private newer: Int32Array = new Int32Array(0);
  /** Per request: order of submission (wraps), who waits for it, the next of those who wait with it. */
  private order: Int32Array = new Int32Array(0);
  private waiters: Int32Array = new Int32Array(0);
  private next: Int32Array = new Int32Array(0);
  private entered = 0;
  /** Requests that may begin, in order of submission. */
  private runnable = NONE;

  constructor(table: RequestTable) {
    this.table = table;
  }

  /** Enters a request; true if it may begin now, false if it must wait. */
  enter(h: number): boolean {
    if (h >= this.order.length) this.grow(this.table.capacity);
    this.order[h] = this.entered = (this.entered + 1) | 0;
    this.waiters[h] = NONE;
    const blocker = this.blockerOf(h);
    this.list(h);
    if (blocker === NONE) return true;
    this.held++;
    this.waitFor(h, blocker);
    return false;
  }

  /** A request has ended; those that waited for it alone become runnable. */
  leave(h: number): void {
    this.unlist(h);
    let waiter = this.waiters[h];
    while (waiter !== NONE) {
      const after = this.next[waiter];
      const blocker = this.blockerOf(waiter);
      if (blocker === NONE) this.ready(waiter);
      else this.waitFor(waiter, blocker);
      waiter = after;
    }
  }

  /** The earliest held request that nothing overlaps any more, or −1; it may begin. */
  nextRunnable(): number {
    const h = this.runnable;
    if (h === NONE) return NONE;
    this.runnable = this.next[h];
    this.held--;
    return h;
  }

  private waitFor(h: number, blocker: number): void {
    this.next[h] = this.waiters[blocker];
    this.waiters[blocker] = h;
  }

  private ready(h: number): void {
    const { next } = this;
    let before = NONE;
    let after = this.runnable;
    while (after !== NONE && this.isEarlier(after, h)) {
      before = after;
      after = next[after];
    }
    next[h] = after;
    if (before === NONE) this.runnable = h;
    else next[before] = h;
  }

  /** The latest request before `h` that overlaps it, or −1. */
  private blockerOf(h: number): number {
    const { table, listed } = this;
    const first = table.lpn[h];
    const last = first + table.slots[h] - 1;
    let latest = NONE;
    for (let level = 0; level < this.levels; level++) {
      if (listed[level] === 0) continue;
      const heads = this.newest[level] as Int32Array;
      const shift = LEVEL_SHIFTS[level];
      const from = first >>> shift;
      const to = Math.min(last >>> shift, from + BUCKETS - 1);
      for (let region = from; region <= to; region++) {
        const found = this.searchOlder(heads[region & (BUCKETS - 1)], h, first, last);
        if (found !== NONE && (latest === NONE || this.isEarlier(latest, found))) latest = found;
      }
    }
    return latest;
  }

  /** The newest request from `node` on that is earlier than `h` and overlaps the slots `first … last`, or −1. */
  private searchOlder(newest: number, h: number, first: number, last: number): number {
    const { table, older } = this;
    for (let node = newest; node !== NONE; node = older[node]) {
      const other = node >> 1;
      if (table.lpn[other] > last || first >= table.lpn[other] + table.slots[other]) continue;
      if (this.isEarlier(other, h)) return other;
    }
    return NONE;
  }

  private isEarlier(a: number, b: number): boolean {
    return ((this.order[a] - this.order[b]) | 0) < 0;
  }

  private list(h: number): void {
    const level = this.levelOf(h);
    this.listed[level]++;
    const heads = this.newest[level] ?? this.addLevel(level);
    const from = this.table.lpn[h] >>> LEVEL_SHIFTS[level];
    const to = (this.table.lpn[h] + this.table.slots[h] - 1) >>> LEVEL_SHIFTS[level];
    this.link(heads, from & (BUCKETS - 1), h << 1);
    if (to !== from) this.link(heads, to & (BUCKETS - 1), (h << 1) | 1);
  }

  private addLevel(level: number): Int32Array {
    const heads = new Int32Array(BUCKETS).fill(NONE);
    this.newest[level] = heads;
    this.levels = Math.max(this.levels, level + 1);
    return heads;
  }

  private link(heads: Int32Array, bucket: number, node: number): void {
    const before = heads[bucket];
    this.older[node] = before;
    this.newer[node] = NONE;
    if (before !== NONE) this.newer[before] = node;
    heads[bucket] = node;
  }

  private unlist(h: number): void {
    const level = this.levelOf(h);
    this.listed[level]--;
    const heads = this.newest[level] as Int32Array;
    const from = this.table.lpn[h] >>> LEVEL_SHIFTS[level];
    const to = (this.table.lpn[h] + this.table.slots[h] - 1) >>> LEVEL_SHIFTS[level];
    this.unlink(heads, from & (BUCKETS - 1), h << 1);
    if (to !== from) this.unlink(heads, to & (BUCKETS - 1), (h << 1) | 1);
  }

  private unlink(heads: Int32Array, bucket: number, node: number): void {
    const { older, newer } = this;
    if (newer[node] === NONE) heads[bucket] = older[node];
    else older[newer[node]] = older[node];
    if (older[node] !== NONE) newer[older[node]] = newer[node];
  }

  /** The finest level on which a request touches at most two regions. */
  private levelOf(h: number): number {
    const first = this.table.lpn[h];
    const last = first + this.table.slots[h] - 1;
    let level = 0;
    while ((last >>> LEVEL_SHIFTS[level]) - (first >>> LEVEL_SHIFTS[level]) > 1) level++;
    return level;
  }

  private grow(capacity: number): void {
    this.older = ints(this.older, capacity * 2);
    this.newer = ints(this.newer, capacity * 2);
    this.order = ints(this.order, capacity);
    this.waiters = ints(this.waiters, capacity);
    this.next = ints(this.next, capacity);
  }
}

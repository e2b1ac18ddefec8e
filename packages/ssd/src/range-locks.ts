import type { RequestTable } from './request-table.js';

const NONE = -1;
const REGION_SHIFT = 5;
const REGIONS = 4096;
/** A request over more regions than this is not counted per region. */
const WIDE = 64;

/**
 * Keeps overlapping writes (and discards) in order of submission: of overlapping writes in flight the one submitted
 * last wins, whatever core or queue they take. A request that overlaps an earlier one under way waits for its end.
 *
 * Counters per region of 32 slots say quickly that nothing overlaps; only if they cannot is the list searched.
 */
export class RangeLocks {
  /** Requests that wait. */
  held = 0;
  private readonly table: RequestTable;
  private readonly regions: Int32Array = new Int32Array(REGIONS);
  private wide = 0;
  private head = NONE;
  private tail = NONE;

  constructor(table: RequestTable) {
    this.table = table;
  }

  /** Enters a request; true if it may begin now, false if it must wait. */
  enter(h: number): boolean {
    const { table } = this;
    const clear = this.claim(h);
    table.lockPrevious[h] = this.tail;
    table.lockNext[h] = NONE;
    if (this.tail === NONE) this.head = h;
    else table.lockNext[this.tail] = h;
    this.tail = h;
    table.held[h] = 0;
    if (clear || !this.overlapsEarlier(h)) return true;
    table.held[h] = 1;
    this.held++;
    return false;
  }

  /** A request has ended. */
  leave(h: number): void {
    const { table } = this;
    const before = table.lockPrevious[h];
    const after = table.lockNext[h];
    if (before === NONE) this.head = after;
    else table.lockNext[before] = after;
    if (after === NONE) this.tail = before;
    else table.lockPrevious[after] = before;
    const first = table.lpn[h] >> REGION_SHIFT;
    const last = (table.lpn[h] + table.slots[h] - 1) >> REGION_SHIFT;
    if (last - first >= WIDE) {
      this.wide--;
      return;
    }
    for (let region = first; region <= last; region++) this.regions[region & (REGIONS - 1)]--;
  }

  /** The first held request from `from` (−1: from the oldest) that nothing earlier overlaps any more, or −1. */
  nextRunnable(): number {
    const { table } = this;
    if (this.held === 0) return NONE;
    for (let h = this.head; h !== NONE; h = table.lockNext[h]) {
      if (table.held[h] === 0 || this.overlapsEarlier(h)) continue;
      table.held[h] = 0;
      this.held--;
      return h;
    }
    return NONE;
  }

  /** Counts a request in its regions; true if no other request can overlap it. */
  private claim(h: number): boolean {
    const { table, regions } = this;
    const first = table.lpn[h] >> REGION_SHIFT;
    const last = (table.lpn[h] + table.slots[h] - 1) >> REGION_SHIFT;
    let clear = this.wide === 0;
    if (last - first >= WIDE) {
      this.wide++;
      return this.head === NONE;
    }
    for (let region = first; region <= last; region++) {
      if (regions[region & (REGIONS - 1)]++ !== 0) clear = false;
    }
    return clear;
  }

  private overlapsEarlier(h: number): boolean {
    const { table } = this;
    const first = table.lpn[h];
    const end = first + table.slots[h];
    for (let other = table.lockPrevious[h]; other !== NONE; other = table.lockPrevious[other]) {
      if (table.lpn[other] < end && first < table.lpn[other] + table.slots[other]) return true;
    }
    return false;
  }
}

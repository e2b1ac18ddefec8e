import type { NandArray } from '@flashstack/nand-device';
import type { BlockTable } from './block-table.js';
import { FtlError } from './errors.js';
import type { Frontiers } from './frontier.js';

/** Slots whose validity is checked together. */
const BATCH = 16;

/** Finds the valid slots of victims, page by page in ascending order; one victim per domain. */
export class VictimCursor {
  /** The valid slots that `find` or `gather` found, all of one page. */
  readonly slots: Int32Array;
  private readonly array: NandArray;
  private readonly table: BlockTable;
  private readonly frontiers: Frontiers;
  /** What will be looked up by logical slot when a slot is moved, or null. */
  private readonly perSlot: Float64Array | null;
  /** Sum of what was read ahead: without a use of it the engine would leave the reads out. */
  private readonly ahead: Float64Array = new Float64Array(1);
  private readonly slotsPerPage: number;
  private readonly member: Int32Array;
  /** Simple layout: first slot of the batch; otherwise the page. */
  private readonly page: Int32Array;
  /** Simple layout: valid slots that are left of the batch. */
  private readonly mask: Int32Array;

  constructor(array: NandArray, table: BlockTable, frontiers: Frontiers, perSlot: Float64Array | null) {
    this.array = array;
    this.table = table;
    this.frontiers = frontiers;
    this.perSlot = perSlot;
    this.slotsPerPage = array.geometry.slotsPerPage;
    this.slots = new Int32Array(this.slotsPerPage);
    this.member = new Int32Array(table.domains);
    this.page = new Int32Array(table.domains);
    this.mask = new Int32Array(table.domains);
  }

  /** The domain has a new victim. */
  start(domain: number): void {
    this.member[domain] = 0;
    this.page[domain] = this.frontiers.simple ? -BATCH : 0;
    this.mask[domain] = 0;
  }

  /**
   * Leaves the valid slots of the next page that has any in `slots`; returns their number. Finds the same page again
   * until `advance`. The block must have valid slots. @throws FtlError `ERR_FTL_ACCOUNTING` if there are none.
   */
  find(domain: number, block: number): number {
    if (this.frontiers.simple) {
      this.slots[0] = this.findSlot(domain, block);
      return 1;
    }
    const { table, array } = this;
    for (;;) {
      const physical = table.memberBlock[block * table.members + this.member[domain]];
      const count = this.gather(physical, this.page[domain]);
      if (count > 0) return count;
      this.advance(domain);
      if (this.page[domain] < array.geometry.pagesPerBlock) continue;
      this.page[domain] = 0;
      if (++this.member[domain] >= table.width[block]) this.miscounted(block);
    }
  }

  /** The slots of the page that was found have been moved. */
  advance(domain: number): void {
    if (this.frontiers.simple) this.mask[domain] &= this.mask[domain] - 1;
    else this.page[domain]++;
  }

  /** Leaves the valid slots of a page in `slots`; returns their number. */
  gather(physical: number, page: number): number {
    const { array, slotsPerPage, slots } = this;
    const { l2p } = this.frontiers;
    if (page >= array.nextPage[physical]) return 0;
    const first = (physical * array.geometry.pagesPerBlock + page) * slotsPerPage;
    let count = 0;
    for (let psn = first; psn < first + slotsPerPage; psn++) {
      const lpn = array.lpn[psn];
      if (lpn < l2p.length && l2p[lpn] === psn) slots[count++] = psn;
    }
    return count;
  }

  /** Simple layout: the next valid slot of the block. */
  private findSlot(domain: number, block: number): number {
    const { table } = this;
    const { l2p } = this.frontiers;
    const lpnOf = this.array.lpn;
    const size = table.slotsPerMember;
    const first = table.memberBlock[block * table.members] * size;
    let at = this.page[domain];
    let mask = this.mask[domain];
    for (;;) {
      while (mask === 0) {
        at += BATCH;
        if (at >= size) this.miscounted(block);
        mask = this.validMask(first + at, Math.min(BATCH, size - at));
        if (this.perSlot !== null) this.readAhead(this.perSlot, first + at, mask);
      }
      const psn = first + at + 31 - Math.clz32(mask & -mask);
      // It may have been overwritten since the mask was made.
      if (l2p[lpnOf[psn]] === psn) {
        this.page[domain] = at;
        this.mask[domain] = mask;
        return psn;
      }
      mask &= mask - 1;
    }
  }

  /** Which of `count` slots from `psn` on are valid. Checked together, so that the cache misses of the map overlap. */
  private validMask(psn: number, count: number): number {
    const { l2p } = this.frontiers;
    const lpnOf = this.array.lpn;
    const mapped = l2p.length;
    let mask = 0;
    for (let i = 0; i < count; i++) {
      const lpn = lpnOf[psn + i];
      // Without a branch on the outcome, which would be mispredicted every other time.
      const index = lpn < mapped ? lpn : 0;
      mask |= (l2p[index] === psn + i ? 1 : 0) << i;
    }
    return mask;
  }

  /** Brings what will be looked up for the slots of a mask into the CPU's cache, all of it at a time. */
  private readAhead(perSlot: Float64Array, psn: number, mask: number): void {
    const lpnOf = this.array.lpn;
    let sum = 0;
    for (let left = mask; left !== 0; left &= left - 1) {
      const lpn = lpnOf[psn + 31 - Math.clz32(left & -left)];
      if (lpn < perSlot.length) sum += perSlot[lpn];
    }
    this.ahead[0] = sum;
  }

  private miscounted(block: number): never {
    const { valid } = this.table;
    throw new FtlError('ERR_FTL_ACCOUNTING', `block ${block} counts ${valid[block]} valid slots that are not in it`);
  }
}

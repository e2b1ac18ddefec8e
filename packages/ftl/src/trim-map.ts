import type { NandArray } from '@flashstack/nand-device';
import type { BlockTable } from './block-table.js';
import { FtlError } from './errors.js';
import type { Frontiers } from './frontier.js';
import { FROM_TRIM_MAP, UNMAPPED } from './slot-contents.js';
import type { FtlStats } from './stats.js';

/** Origin under which pages of the trim map are accounted: one that no layer above hands out. */
export const TRIM_MAP_ORIGIN = 31;

/** A stored page of the trim map: a bit per logical slot, set if it was unmapped, and the slots that hold it. */
interface Snapshot {
  readonly bits: Uint8Array;
  slots: number;
}

/**
 * Makes trims durable. The OOB area still names trimmed data, so a scan after a power cut would bring it back. Page j of
 * the trim map is a bitmap of which slots of its range were unmapped at its sequence number; it is mapped at logical slot
 * L + j, written like data when a flush or an erase needs it, and collected like data. A scan ignores a version that is
 * older than the bitmap and marked in it.
 */
export class TrimMap {
  /** Pages of the map. */
  readonly pages: number;
  /** Logical slots per page of the map. */
  readonly range: number;
  /** Logical slots of the host; page j of the map is logical slot `logicalSlots + j`. */
  readonly logicalSlots: number;
  private readonly table: BlockTable;
  private readonly array: NandArray;
  private readonly dirty: Uint8Array;
  private dirtyPages = 0;
  /** Per block: 1 if a slot of it was trimmed since its erase. Made with the first trim. */
  private trimmedIn: Uint8Array | null = null;
  /** Persistent: what the flash holds, by handle. */
  private readonly snapshots: Map<number, Snapshot> = new Map();
  private lastHandle = 0;

  constructor(logicalSlots: number, table: BlockTable, array: NandArray) {
    this.logicalSlots = logicalSlots;
    this.table = table;
    this.array = array;
    this.range = array.geometry.config.slotBytes * 8;
    this.pages = TrimMap.pagesFor(logicalSlots, array);
    this.dirty = new Uint8Array(this.pages);
  }

  /** Pages that a map of so many logical slots has. */
  static pagesFor(logicalSlots: number, array: NandArray): number {
    return Math.ceil(logicalSlots / (array.geometry.config.slotBytes * 8));
  }

  /** True if trims have happened that a power cut would undo. */
  get isDirty(): boolean {
    return this.dirtyPages > 0;
  }

  /** `lpn` was unmapped; `block` holds its last version. A page of the map itself is only kept until a fence. */
  trimmed(lpn: number, block: number): void {
    this.trimmedIn ??= new Uint8Array(this.table.blocks);
    this.trimmedIn[block] = 1;
    if (lpn >= this.logicalSlots) return;
    this.soil(Math.floor(lpn / this.range));
  }

  /** `lpn`, which could not be written anywhere and is not mapped, was trimmed: an older version may be in flash. */
  trimmedStranded(lpn: number): void {
    this.soil(Math.floor(lpn / this.range));
  }

  /** The page of the map at logical slot `lpn` could not be written after all. */
  stranded(lpn: number): void {
    this.soil(lpn - this.logicalSlots);
  }

  isPageDirty(page: number): boolean {
    return this.dirty[page] !== 0;
  }

  /** The next dirty page from `page` on, −1 if there is none. */
  nextDirty(page: number): number {
    return this.dirtyPages === 0 ? -1 : this.dirty.indexOf(1, page);
  }

  /** Upper bound of the number of pages that `neededBefore` names. */
  mostNeeded(block: number): number {
    if (this.trimmedIn === null || this.trimmedIn[block] === 0) return 0;
    return Math.min(this.dirtyPages, this.table.capacity[block] - this.table.valid[block]);
  }

  /** Dirty pages that must be durable before `block` is erased, ascending. */
  neededBefore(block: number): number[] {
    if (this.trimmedIn === null || this.trimmedIn[block] === 0) return [];
    if (this.dirtyPages === 0) return [];
    const { array, table } = this;
    const pages = new Set<number>();
    for (let i = 0; i < table.width[block]; i++) {
      const physical = table.memberBlock[block * table.members + i];
      const first = physical * table.slotsPerMember;
      const end = first + array.nextPage[physical] * array.geometry.slotsPerPage;
      for (let psn = first; psn < end; psn++) {
        const lpn = array.lpn[psn];
        if (lpn >= this.logicalSlots) continue;
        const page = Math.floor(lpn / this.range);
        if (this.dirty[page] !== 0) pages.add(page);
      }
    }
    return [...pages].sort((a, b) => a - b);
  }

  /** True if a slot of `block` was trimmed since its erase. */
  hasTrims(block: number): boolean {
    return this.trimmedIn !== null && this.trimmedIn[block] !== 0;
  }

  /** `block` holds no trimmed slot any more: it has been erased. */
  erased(block: number): void {
    if (this.trimmedIn !== null) this.trimmedIn[block] = 0;
  }

  /**
   * Writes a page of the map to frontier `f`, durable after everything issued before. Slots in `lost` are not marked even
   * if they are unmapped: nobody trimmed them.
   */
  write(page: number, f: number, frontiers: Frontiers, stats: FtlStats, lost: ReadonlySet<number>): void {
    if (frontiers.contents !== null) {
      this.lastHandle++;
      this.snapshots.set(this.lastHandle, { bits: this.bitmap(page, frontiers.l2p, lost), slots: 1 });
      frontiers.contents.metaWord = this.lastHandle;
    }
    stats.trimMap++;
    if (this.dirty[page] !== 0) this.dirtyPages--;
    this.dirty[page] = 0;
    frontiers.append(f, this.logicalSlots + page, TRIM_MAP_ORIGIN, FROM_TRIM_MAP, -1, frontiers.scheduler.fence());
  }

  /** A stored page stands in one more slot, or in one less. */
  copied(handle: number): void {
    this.snapshot(handle).slots++;
  }

  dead(handle: number): void {
    if (--this.snapshot(handle).slots === 0) this.snapshots.delete(handle);
  }

  /** True if `lpn` was unmapped in the stored page `handle`. */
  wasUnmapped(handle: number, lpn: number): boolean {
    const bit = lpn % this.range;
    return (this.snapshot(handle).bits[bit >> 3] & (1 << (bit & 7))) !== 0;
  }

  /** Nothing is known to be dirty: power loss. */
  reset(): void {
    this.dirty.fill(0);
    this.dirtyPages = 0;
    this.trimmedIn?.fill(0);
  }

  private soil(page: number): void {
    if (this.dirty[page] !== 0) return;
    this.dirty[page] = 1;
    this.dirtyPages++;
  }

  private bitmap(page: number, l2p: Int32Array, lost: ReadonlySet<number>): Uint8Array {
    const bits = new Uint8Array(this.range / 8);
    const first = page * this.range;
    const end = Math.min(first + this.range, this.logicalSlots);
    for (let lpn = first; lpn < end; lpn++) {
      if (l2p[lpn] === UNMAPPED && !lost.has(lpn)) bits[(lpn - first) >> 3] |= 1 << ((lpn - first) & 7);
    }
    return bits;
  }

  private snapshot(handle: number): Snapshot {
    const snapshot = this.snapshots.get(handle);
    if (snapshot === undefined) throw new FtlError('ERR_FTL_ACCOUNTING', `trim map page ${handle} is stored nowhere`);
    return snapshot;
  }
}

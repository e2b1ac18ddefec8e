import { UNMAPPED } from '../slot-contents.js';
import type { OwedPages } from './owed-pages.js';

/**
 * What translation pages in flash say: the physical slot per logical slot as of the last program of its page. Kept only if
 * the array keeps contents, for recovery and for checks.
 */
export class StoredMap {
  /** Physical slot of each logical slot by its translation page. */
  readonly psn: Int32Array;
  /** Physical slot that holds what is stored, per slot of a translation page; −1: none. */
  private readonly at: Int32Array;
  private readonly firstSlot: number;
  private readonly entriesPerSlot: number;

  constructor(logicalSlots: number, firstSlot: number, slots: number, entriesPerSlot: number) {
    this.psn = new Int32Array(logicalSlots).fill(UNMAPPED);
    this.at = new Int32Array(slots).fill(UNMAPPED);
    this.firstSlot = firstSlot;
    this.entriesPerSlot = entriesPerSlot;
  }

  /** Slot `lpn` of a translation page stands in `psn` now, unchanged. */
  moved(lpn: number, psn: number): void {
    this.at[lpn - this.firstSlot] = psn;
  }

  /** It stands there with all entries as they are in the map. */
  written(lpn: number, l2p: Int32Array): void {
    const first = this.firstEntry(lpn);
    const end = this.endEntry(lpn);
    for (let entry = first; entry < end; entry++) this.psn[entry] = l2p[entry];
    this.moved(lpn, l2p[lpn]);
  }

  /** It stands there, updated with the entries that are owed only. */
  updated(lpn: number, l2p: Int32Array, owed: OwedPages): void {
    const end = this.endEntry(lpn);
    for (let entry = this.firstEntry(lpn); entry < end; entry++) if (owed.has(entry)) this.psn[entry] = l2p[entry];
    this.moved(lpn, l2p[lpn]);
  }

  /** True if what is stored is what slot `lpn` in `psn` says; not so if a power cut brought back an older version. */
  isAt(lpn: number, psn: number): boolean {
    return this.at[lpn - this.firstSlot] === psn;
  }

  /** Slot `lpn` of a translation page is not in flash: its entries say nothing. */
  forget(lpn: number): void {
    this.psn.fill(UNMAPPED, this.firstEntry(lpn), this.endEntry(lpn));
    this.moved(lpn, UNMAPPED);
  }

  /** Logical slots whose entries are in slot `lpn` of a translation page: from here … */
  firstEntry(lpn: number): number {
    return (lpn - this.firstSlot) * this.entriesPerSlot;
  }

  /** … to here, exclusive. */
  endEntry(lpn: number): number {
    return Math.min(this.firstEntry(lpn) + this.entriesPerSlot, this.psn.length);
  }
}

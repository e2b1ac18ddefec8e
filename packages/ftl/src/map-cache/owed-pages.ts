import type { EntryMarks } from './entry-marks.js';

/**
 * Changes of the map that translation pages do not hold yet and that are not cached either: entries that were dirty when
 * they were displaced, or whose data was relocated or trimmed. Controller RAM holds them until their page is written;
 * pages that are due wait in a queue, each once.
 */
export class OwedPages {
  /** Logical slots whose entries are owed. Null with granularity `page`: there a page is owed as a whole. */
  private readonly entries: EntryMarks | null;
  /** Entries owed per translation page; with granularity `page`: 0 or 1. */
  readonly count: Int32Array;
  private readonly queued: Uint8Array;
  /** The queue, a ring that has room for every page. */
  private readonly ring: Int32Array;
  private first = 0;
  /** Pages in the queue. */
  length = 0;
  private readonly entriesPerPage: number;

  /** `entries`: where owed entries are marked; null with granularity `page`. */
  constructor(pages: number, entriesPerPage: number, entries: EntryMarks | null) {
    this.entries = entries;
    this.count = new Int32Array(pages);
    this.queued = new Uint8Array(pages);
    this.ring = new Int32Array(pages);
    this.entriesPerPage = entriesPerPage;
  }

  has(lpn: number): boolean {
    return this.entries === null ? this.count[this.pageOf(lpn)] > 0 : this.entries.isOwed(lpn);
  }

  /** The entry of `lpn` is owed from now on. @returns its page. */
  add(lpn: number): number {
    const page = this.pageOf(lpn);
    if (this.entries === null) this.count[page] = 1;
    else if (!this.entries.isOwed(lpn)) {
      this.entries.owe(lpn);
      this.count[page]++;
    }
    return page;
  }

  /** The entry of `lpn` is cached again; granularity `entry` only. */
  remove(lpn: number): void {
    if (this.entries === null || !this.entries.isOwed(lpn)) return;
    this.entries.settle(lpn);
    this.count[this.pageOf(lpn)]--;
  }

  /** Entries from `first` to `end`, exclusive, are in their page now; `all`: the page has no others. */
  removeRange(page: number, first: number, end: number, all: boolean): void {
    const { entries } = this;
    if (this.count[page] === 0 || entries === null) return;
    if (all) {
      entries.settleRange(first, end);
      this.count[page] = 0;
      return;
    }
    for (let lpn = first; lpn < end; lpn++) this.remove(lpn);
  }

  /** The page is due. */
  enqueue(page: number): void {
    if (this.queued[page] !== 0) return;
    this.queued[page] = 1;
    let at = this.first + this.length++;
    if (at >= this.ring.length) at -= this.ring.length;
    this.ring[at] = page;
  }

  /** Takes the page that has been due for longest; the queue must not be empty. */
  shift(): number {
    const page = this.ring[this.first];
    if (++this.first === this.ring.length) this.first = 0;
    this.length--;
    this.queued[page] = 0;
    return page;
  }

  /** Nothing is owed, and nothing is due; the marks of entries are the owner's to clear. */
  clear(): void {
    this.count.fill(0);
    this.queued.fill(0);
    this.first = 0;
    this.length = 0;
  }

  private pageOf(lpn: number): number {
    return Math.floor(lpn / this.entriesPerPage);
  }
}

import { Condition, type Simulator } from '@flashstack/sim';
import type { Inode } from './inode.js';
import { type Mapping, PAGE_BYTES } from './page-cache.js';
import { copyFromPage, tagOfPage, tagOfPart } from './page-contents.js';
import { PAGE_LIMIT, PageTable } from './page-table.js';

/** Flags of a page of a mapping. */
export const PageState = { cached: 1, dirty: 2, writeback: 4, reading: 8 } as const;

const BUSY = PageState.writeback | PageState.reading;

/** The pages of one inode in a `SimplePageCache`. */
export class SimpleMapping implements Mapping {
  readonly inode: Inode;
  readonly table: PageTable = new PageTable();
  pages = 0;
  dirtyPages = 0;
  /** Pages under write-back or being read. */
  busyPages = 0;
  /** `Errno` of a write-back that failed, 0: none. */
  error = 0;
  /** Notified when pages stop being busy. */
  readonly changed: Condition;
  /** One more than the highest page that was ever in. */
  limitPages = 0;
  private readonly dirtySet: Set<SimpleMapping>;

  /** @param dirtySet where the mapping is while it has dirty pages. */
  constructor(simulator: Simulator, inode: Inode, dirtySet: Set<SimpleMapping>) {
    this.inode = inode;
    this.dirtySet = dirtySet;
    this.changed = new Condition(simulator, `pages of inode ${inode.ino}`);
  }

  isCached(page: number): boolean {
    return (this.table.flags(page) & PageState.cached) !== 0;
  }

  isDirty(page: number): boolean {
    return (this.table.flags(page) & PageState.dirty) !== 0;
  }

  isUnderWriteback(page: number): boolean {
    return (this.table.flags(page) & PageState.writeback) !== 0;
  }

  tag(page: number): number {
    const leaf = this.table.leaf(page);
    return leaf === null ? 0 : leaf.tags[page & 63];
  }

  bytes(page: number): Uint8Array | null {
    const leaf = this.table.leaf(page);
    return leaf === null ? null : leaf.bytesAt(page & 63);
  }

  fill(page: number, bytes: Uint8Array | null, tag: number): void {
    const leaf = this.enter(page);
    const at = page & 63;
    if ((leaf.flags[at] & PageState.cached) !== 0) return;
    leaf.flags[at] |= PageState.cached;
    this.pages++;
    leaf.tags[at] = bytes === null ? tag : 0;
    if (bytes === null) {
      leaf.setBytes(at, null);
      return;
    }
    const own = new Uint8Array(PAGE_BYTES);
    own.set(bytes.length > PAGE_BYTES ? bytes.subarray(0, PAGE_BYTES) : bytes);
    leaf.setBytes(at, own);
  }

  setDirty(page: number): void {
    const leaf = this.table.leaf(page);
    const at = page & 63;
    if (leaf === null || (leaf.flags[at] & PageState.cached) === 0) {
      throw new Error(`page ${page} of inode ${this.inode.ino} is not cached and cannot become dirty`);
    }
    if ((leaf.flags[at] & PageState.dirty) !== 0) return;
    leaf.flags[at] |= PageState.dirty;
    if (this.dirtyPages++ === 0) this.dirtySet.add(this);
  }

  drop(first: number, count: number): void {
    const limit = Math.min(first + count, this.limitPages);
    const busy = this.busy(first, limit);
    if (busy >= 0) throw new Error(`page ${busy} of inode ${this.inode.ino} is dropped while it is read or written`);
    for (let page = this.table.next(first, limit, 255); page < limit; page = this.table.next(page, limit, 255)) {
      this.remove(page);
    }
  }

  zero(page: number, offset: number, length: number): void {
    const leaf = this.table.leaf(page);
    const at = page & 63;
    if (leaf === null || (leaf.flags[at] & PageState.cached) === 0 || length <= 0) return;
    if (leaf.bytesAt(at) === null && leaf.tags[at] === 0) return;
    if (length === PAGE_BYTES) {
      leaf.setBytes(at, null);
      leaf.tags[at] = 0;
      return;
    }
    this.ownBytes(page).fill(0, offset, offset + length);
  }

  /** Changes bytes of a page, which becomes cached (what was not is zero around them) and dirty. */
  putBytes(page: number, at: number, length: number, from: Uint8Array, fromOffset: number): void {
    this.hold(page);
    const own = length === PAGE_BYTES ? this.freshBytes(page) : this.ownBytes(page);
    if (length === from.length) own.set(from, at);
    else own.set(from.subarray(fromOffset, fromOffset + length), at);
    this.setDirty(page);
  }

  /** Gives a page, or part of it, contents without bytes; see `FileCache.write`. */
  putTag(page: number, at: number, length: number, seed: number): void {
    this.hold(page);
    const leaf = this.table.needLeaf(page);
    const fresh = tagOfPage(seed, page);
    leaf.tags[page & 63] = length === PAGE_BYTES ? fresh : tagOfPart(leaf.tags[page & 63], fresh, at, length);
    leaf.setBytes(page & 63, null);
    this.setDirty(page);
  }

  /** Copies bytes of cached pages. */
  copyOut(offset: number, length: number, into: Uint8Array): void {
    for (let done = 0; done < length; ) {
      const page = Math.floor((offset + done) / PAGE_BYTES);
      const at = offset + done - page * PAGE_BYTES;
      const part = Math.min(PAGE_BYTES - at, length - done);
      // As an integer with a sign the tag crosses the call without being boxed.
      copyFromPage(this.bytes(page), this.tag(page) | 0, at, part, into, done);
      done += part;
    }
  }

  /** First of these pages that is not cached, or −1. */
  missing(first: number, count: number): number {
    for (let page = first; page < first + count; page++) if (!this.isCached(page)) return page;
    return -1;
  }

  /** First of these pages (below `limit`) under write-back or being read, or −1. */
  busy(first: number, limit: number): number {
    return this.busyPages === 0 ? -1 : this.found(first, limit, BUSY);
  }

  /** First of these pages (below `limit`) being read, or −1. */
  reading(first: number, limit: number): number {
    return this.busyPages === 0 ? -1 : this.found(first, limit, PageState.reading);
  }

  /** Marks pages that are missing, from `first` on, as being read; returns how many follow each other. */
  startReading(first: number, limit: number): number {
    let page = first;
    for (; page < limit && (this.table.flags(page) & (PageState.cached | PageState.reading)) === 0; page++) {
      this.enter(page).flags[page & 63] |= PageState.reading;
      this.busyPages++;
    }
    return page - first;
  }

  /** They are read, or could not be. */
  endReading(first: number, count: number): void {
    for (let page = first; page < first + count; page++) this.endBusy(page, PageState.reading);
    this.changed.notifyAll();
  }

  /** Takes dirty pages, as many as `out` holds, to write-back; returns their number. Stops at one that is busy. */
  takeDirty(first: number, limit: number, out: Int32Array): number {
    let count = 0;
    let page = this.table.next(first, limit, PageState.dirty);
    for (; page < limit && count < out.length; page = this.table.next(page + 1, limit, PageState.dirty)) {
      const leaf = this.table.needLeaf(page);
      if ((leaf.flags[page & 63] & BUSY) !== 0) break;
      leaf.flags[page & 63] ^= PageState.dirty | PageState.writeback;
      this.busyPages++;
      this.cleaned();
      out[count++] = page;
    }
    return count;
  }

  /** The write-back of these pages is over. */
  endWriteback(pages: Int32Array, from: number, to: number): void {
    for (let at = from; at < to; at++) this.endBusy(pages[at], PageState.writeback);
    this.changed.notifyAll();
  }

  /** These pages were not written after all. */
  giveBack(pages: Int32Array, from: number, to: number): void {
    for (let at = from; at < to; at++) if (this.isCached(pages[at])) this.setDirty(pages[at]);
    this.endWriteback(pages, from, to);
  }

  /** Forgets those of these pages that are clean and idle; returns how many cached ones are left. */
  dropClean(first: number, count: number): number {
    const limit = Math.min(first + count, this.limitPages);
    let left = 0;
    for (let page = this.table.next(first, limit, 255); page < limit; page = this.table.next(page + 1, limit, 255)) {
      if (this.table.flags(page) === PageState.cached) this.remove(page);
      else left++;
    }
    return left;
  }

  private found(first: number, limit: number, mask: number): number {
    const end = Math.min(limit, this.limitPages);
    const page = this.table.next(first, end, mask);
    return page < end ? page : -1;
  }

  private enter(page: number): ReturnType<PageTable['needLeaf']> {
    if (!(page >= 0 && page < PAGE_LIMIT)) throw new RangeError(`page ${page} is out of range`);
    if (page >= this.limitPages) this.limitPages = page + 1;
    return this.table.needLeaf(page);
  }

  private hold(page: number): void {
    const leaf = this.enter(page);
    const at = page & 63;
    if ((leaf.flags[at] & PageState.cached) !== 0) return;
    leaf.flags[at] |= PageState.cached;
    this.pages++;
  }

  private freshBytes(page: number): Uint8Array {
    const leaf = this.table.needLeaf(page);
    const bytes = leaf.bytesAt(page & 63);
    if (bytes !== null) return bytes;
    const fresh = new Uint8Array(PAGE_BYTES);
    leaf.setBytes(page & 63, fresh);
    leaf.tags[page & 63] = 0;
    return fresh;
  }

  /** The bytes of a page, made of its tag if it has none. */
  private ownBytes(page: number): Uint8Array {
    const tag = this.tag(page);
    const had = this.bytes(page) !== null;
    const bytes = this.freshBytes(page);
    if (!had && tag !== 0) copyFromPage(null, tag, 0, PAGE_BYTES, bytes, 0);
    return bytes;
  }

  private endBusy(page: number, flag: number): void {
    const leaf = this.table.needLeaf(page);
    if ((leaf.flags[page & 63] & flag) === 0) return;
    leaf.flags[page & 63] &= ~flag;
    this.busyPages--;
  }

  private cleaned(): void {
    if (--this.dirtyPages === 0) this.dirtySet.delete(this);
  }

  private remove(page: number): void {
    const flags = this.table.flags(page);
    if ((flags & PageState.cached) !== 0) this.pages--;
    if ((flags & PageState.dirty) !== 0) this.cleaned();
    this.table.clear(page);
  }
}

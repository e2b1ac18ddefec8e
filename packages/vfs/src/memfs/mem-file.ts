import { FsError } from '../errors.js';
import { PAGE_BYTES } from '../page-cache.js';
import { copyFromPage } from '../page-contents.js';
import { PAGE_LIMIT, PageTable } from '../page-table.js';
import type { MemSpace } from './mem-space.js';

/** Flags of a page of a file. */
const TAKEN = 1;
/** It has contents, here or still in the page cache; without this flag it reads as zero and is a hole for `seek`. */
const DATA = 2;

/** Contents of a regular file: a tag or bytes for each page that has some. */
export class MemFile {
  private table: PageTable = new PageTable();
  private readonly space: MemSpace;
  /** Pages that take space. */
  taken = 0;
  /** One more than the highest page that takes space. */
  limit = 0;

  constructor(space: MemSpace) {
    this.space = space;
  }

  /** Takes space for pages that have none. @throws FsError ENOSPC, EFBIG, and changes nothing then. */
  take(first: number, count: number): void {
    const table = this.table;
    if (count === 1 && (table.flags(first) & TAKEN) !== 0) return;
    if (first + count > PAGE_LIMIT) throw new FsError('EFBIG');
    let missing = 0;
    for (let page = first; page < first + count; page++) if ((table.flags(page) & TAKEN) === 0) missing++;
    if (missing === 0) return;
    this.space.takePages(missing);
    this.taken += missing;
    for (let page = first; page < first + count; page++) table.needLeaf(page).flags[page & 63] |= TAKEN;
    if (first + count > this.limit) this.limit = first + count;
  }

  /** Pages that have been taken got contents in the page cache. */
  written(first: number, count: number): void {
    for (let page = first; page < first + count; page++) this.table.needLeaf(page).flags[page & 63] |= DATA;
  }

  /** Stores the contents of a page. */
  put(page: number, bytes: Uint8Array | null, tag: number): void {
    const leaf = this.table.needLeaf(page);
    const at = page & 63;
    leaf.flags[at] |= DATA;
    leaf.tags[at] = bytes === null ? tag : 0;
    const own = leaf.bytesAt(at);
    if (bytes === null) leaf.setBytes(at, null);
    else if (own === null) leaf.setBytes(at, bytes.slice());
    else own.set(bytes);
  }

  hasData(page: number): boolean {
    return (this.table.flags(page) & DATA) !== 0;
  }

  tag(page: number): number {
    const leaf = this.table.leaf(page);
    return leaf === null ? 0 : leaf.tags[page & 63];
  }

  bytes(page: number): Uint8Array | null {
    const leaf = this.table.leaf(page);
    return leaf === null ? null : leaf.bytesAt(page & 63);
  }

  /** Copies pages, as bytes or as tags; stops at a page of which no tag is known if only tags are wanted. */
  readInto(first: number, count: number, data: Uint8Array | null, tags: Uint32Array | null): number {
    for (let at = 0; at < count; at++) {
      const bytes = this.bytes(first + at);
      if (data !== null) copyFromPage(bytes, this.tag(first + at), 0, PAGE_BYTES, data, at * PAGE_BYTES);
      else if (tags !== null) {
        if (bytes !== null) return at;
        tags[at] = this.tag(first + at);
      }
    }
    return count;
  }

  /** Stores pages given as bytes or as tags; neither: zeroes. */
  writeFrom(first: number, count: number, data: Uint8Array | null, tags: Uint32Array | null): void {
    for (let at = 0; at < count; at++) {
      const bytes = data === null ? null : data.subarray(at * PAGE_BYTES, (at + 1) * PAGE_BYTES);
      this.put(first + at, bytes, tags === null ? 0 : tags[at]);
    }
  }

  /** Zeroes part of a page. */
  zero(page: number, offset: number, length: number): void {
    if (length <= 0 || !this.hasData(page)) return;
    const tag = this.tag(page);
    if (this.bytes(page) === null && tag === 0) return;
    const whole = new Uint8Array(PAGE_BYTES);
    copyFromPage(this.bytes(page), tag, 0, PAGE_BYTES, whole, 0);
    whole.fill(0, offset, offset + length);
    this.put(page, whole, 0);
  }

  /** Makes pages read as zero; the space they have taken stays. */
  empty(first: number, count: number): void {
    const limit = Math.min(first + count, this.limit);
    for (let page = this.table.next(first, limit, DATA); page < limit; page = this.table.next(page, limit, DATA)) {
      this.table.clear(page);
      this.table.needLeaf(page).flags[page & 63] = TAKEN;
    }
  }

  /** Gives up pages and their space. */
  free(first: number, count: number): void {
    const limit = Math.min(first + count, this.limit);
    for (let page = this.table.next(first, limit, TAKEN); page < limit; page = this.table.next(page, limit, TAKEN)) {
      this.table.clear(page);
      this.taken--;
      this.space.freePages++;
    }
    if (limit === this.limit && first < limit) this.limit = first;
  }

  /** First page with data (or without), from `first` on and below `limit`; `limit` if there is none. */
  seek(first: number, limit: number, hole: boolean): number {
    return hole ? this.table.nextWithout(first, limit, DATA) : this.table.next(first, limit, DATA);
  }

  /** Moves all pages from `first` on by `by` pages, which may be negative; there is room. */
  shift(first: number, by: number): void {
    const old = this.table;
    const { limit } = this;
    this.table = new PageTable();
    this.limit = 0;
    for (let page = old.next(0, limit, TAKEN); page < limit; page = old.next(page + 1, limit, TAKEN)) {
      const to = page < first ? page : page + by;
      const leaf = old.needLeaf(page);
      const target = this.table.needLeaf(to);
      target.flags[to & 63] = leaf.flags[page & 63];
      target.tags[to & 63] = leaf.tags[page & 63];
      target.setBytes(to & 63, leaf.bytesAt(page & 63));
      this.limit = to + 1;
    }
  }
}

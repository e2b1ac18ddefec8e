import { BlockFlag, expandTag } from '@flashstack/block-device';
import { type Inode, type Mapping, PAGE_BYTES } from '@flashstack/vfs';
import type { ReadaheadPages } from '../readahead/policy.js';
import { PageFlag, type PageFrames } from './frames.js';
import type { LinuxPageCache } from './linux-page-cache.js';
import type { PageMemory } from './memory.js';
import type { WriteIo } from './write-io.js';

/** The cached pages of one file, as file systems and as read-ahead see them. Made by `LinuxPageCache.mapping`. */
export class FileMapping implements Mapping, ReadaheadPages {
  readonly inode: Inode;
  readonly largeFolios: boolean = false;
  /** Pages in memory, those on their way included. */
  pages = 0;
  dirtyPages = 0;
  /** Neighbours in the queue of dirty files. */
  nextDirty: FileMapping | null = null;
  previousDirty: FileMapping | null = null;
  queued = false;
  /** `Errno` of a write-back that failed since it was last asked for, or 0. */
  error = 0;
  /** Writes that are not done. */
  readonly writes: WriteIo[] = [];
  /** Number of the file in the memory, as `PageFrames.owner` has it. */
  readonly number: number;
  private readonly cache: LinuxPageCache;
  private readonly memory: PageMemory;
  private readonly frames: PageFrames;
  private readonly dirtied: Float64Array = new Float64Array(1);
  private firstFrame = 0;
  private firstDirty = 0;
  private round: Int32Array = new Int32Array(0);
  private roundAt = 0;

  constructor(cache: LinuxPageCache, inode: Inode) {
    this.cache = cache;
    this.memory = cache.memory;
    this.frames = cache.memory.frames;
    this.inode = inode;
    this.number = cache.memory.register(this);
  }

  get pageCount(): number {
    return Math.ceil(this.inode.size / PAGE_BYTES);
  }

  get roomPages(): number {
    return this.memory.roomPages;
  }

  /** Since when it has had dirty pages without a break, ns: those that are dirty now may have become so later. */
  get dirtiedNs(): number {
    return this.dirtied[0];
  }

  isPresent(page: number): boolean {
    return this.find(page) !== 0;
  }

  isCached(page: number): boolean {
    return (this.frames.flags[this.find(page)] & PageFlag.upToDate) !== 0;
  }

  isDirty(page: number): boolean {
    return (this.frames.flags[this.find(page)] & PageFlag.dirty) !== 0;
  }

  isUnderWriteback(page: number): boolean {
    return (this.frames.flags[this.find(page)] & PageFlag.writeback) !== 0;
  }

  orderOf(_page: number): number {
    return 0;
  }

  tag(page: number): number {
    return this.frames.word[this.find(page)];
  }

  bytes(page: number): Uint8Array | null {
    return this.frames.bytesOf(this.find(page));
  }

  /** Frame of a page that is in memory or on its way, or 0. */
  find(page: number): number {
    return this.frames.find(this.number, page);
  }

  /** A frame for a page that has none. The caller has made room, or takes a little more than there is. */
  allocate(page: number): number {
    const { frames } = this;
    const frame = frames.add(this.number, page);
    frames.fileNext[frame] = this.firstFrame;
    frames.filePrevious[frame] = 0;
    if (this.firstFrame !== 0) frames.filePrevious[this.firstFrame] = frame;
    this.firstFrame = frame;
    this.pages++;
    this.memory.lru.add(frame);
    return frame;
  }

  fetch(first: number, count: number, marker: number): void {
    this.take(first, count, marker, this.cache.policy.unmarked === true ? 0 : BlockFlag.ahead);
  }

  /** As `fetch`, for pages that are needed now: their requests are no read-ahead. */
  fetchNeeded(first: number, count: number): void {
    this.take(first, count, -1, 0);
  }

  /** Takes frames for pages that are absent, as far as memory goes; `Fetches.start` has them read. */
  private take(first: number, count: number, marker: number, flags: number): void {
    const { frames, memory, cache } = this;
    let start = -1;
    let page = first;
    for (; page < first + count; page++) {
      if (this.find(page) !== 0) {
        if (start >= 0) cache.fetches.want(this, start, page - start, flags);
        start = -1;
        continue;
      }
      // Read-ahead ends where memory does; who needs the page waits for it.
      if (!memory.makeRoom(1)) break;
      const frame = this.allocate(page);
      if (page === marker) frames.flags[frame] |= PageFlag.marker;
      if (start < 0) start = page;
    }
    if (start >= 0) cache.fetches.want(this, start, page - start, flags);
  }

  fetchFolio(_first: number, _order: number, _marked: boolean): boolean {
    throw new Error('the page cache holds single pages only');
  }

  fill(page: number, bytes: Uint8Array | null, tag: number): void {
    const { frames } = this;
    let frame = this.find(page);
    if ((frames.flags[frame] & PageFlag.upToDate) !== 0) return;
    if (frame === 0) frame = this.allocate(page);
    if (bytes === null) {
      frames.setTag(frame, tag);
    } else {
      const target = frames.giveBytes(frame);
      target.set(bytes.subarray(0, PAGE_BYTES));
      target.fill(0, Math.min(bytes.length, PAGE_BYTES));
    }
    frames.flags[frame] |= PageFlag.upToDate;
  }

  setDirty(page: number): void {
    const frame = this.find(page);
    if ((this.frames.flags[frame] & PageFlag.upToDate) === 0) {
      throw new RangeError(`page ${page} of inode ${this.inode.ino} is not cached, so it cannot become dirty`);
    }
    this.dirty(frame);
  }

  /** Marks an up-to-date frame dirty. */
  dirty(frame: number): void {
    const { frames, memory } = this;
    if ((frames.flags[frame] & PageFlag.dirty) !== 0) return;
    frames.flags[frame] |= PageFlag.dirty;
    frames.dirtyNext[frame] = this.firstDirty;
    frames.dirtyPrevious[frame] = 0;
    if (this.firstDirty !== 0) frames.dirtyPrevious[this.firstDirty] = frame;
    this.firstDirty = frame;
    memory.dirtyPages++;
    if (this.dirtyPages++ > 0) return;
    this.dirtied[0] = memory.simulator.now;
    this.cache.dirtyFiles.append(this);
  }

  /** A write-back of this file has failed. */
  failed(errno: number): void {
    this.error = errno;
    this.cache.errors.note(errno);
  }

  /** Takes the dirty mark off. */
  clean(frame: number): void {
    const { frames } = this;
    const next = frames.dirtyNext[frame];
    const previous = frames.dirtyPrevious[frame];
    if (next !== 0) frames.dirtyPrevious[next] = previous;
    if (previous !== 0) frames.dirtyNext[previous] = next;
    else this.firstDirty = next;
    frames.flags[frame] &= ~PageFlag.dirty;
    this.memory.dirtyPages--;
    if (--this.dirtyPages === 0) this.cache.dirtyFiles.remove(this);
  }

  /** Some of these pages are on their way from the device. */
  isReading(first: number, count: number): boolean {
    return this.readingIn(first, count) !== 0;
  }

  /** Frame of one of these pages that is on its way from the device, or 0. */
  readingIn(first: number, count: number): number {
    const { frames } = this;
    if (count <= this.pages) {
      for (let page = first; page < first + count; page++) {
        const frame = this.find(page);
        if (frame !== 0 && (frames.flags[frame] & PageFlag.upToDate) === 0) return frame;
      }
      return 0;
    }
    for (let frame = this.firstFrame; frame !== 0; frame = frames.fileNext[frame]) {
      const inside = frames.page[frame] >= first && frames.page[frame] - first < count;
      if (inside && (frames.flags[frame] & PageFlag.upToDate) === 0) return frame;
    }
    return 0;
  }

  /** The dirty pages from `first` to before `end`, ascending, none behind the end of the file: a write still adds those. */
  dirtyIn(first: number, end: number): Int32Array {
    const { frames } = this;
    const limit = Math.min(end, this.pageCount);
    const pages = new Int32Array(this.dirtyPages);
    let count = 0;
    for (let frame = this.firstDirty; frame !== 0; frame = frames.dirtyNext[frame]) {
      const page = frames.page[frame];
      if (page >= first && page < limit) pages[count++] = page;
    }
    return pages.subarray(0, count).sort();
  }

  /**
   * Up to `limit` pages that are dirty and not under write-back, ascending: they go on where the last ones ended, through
   * the pages that were dirty when the round began.
   */
  nextToWrite(limit: number): Int32Array {
    const next = new Int32Array(Math.min(limit, this.dirtyPages));
    let count = 0;
    for (let rounds = 0; rounds < 2 && count === 0; rounds++) {
      if (this.roundAt >= this.round.length) {
        this.round = this.dirtyIn(0, Number.POSITIVE_INFINITY);
        this.roundAt = 0;
      }
      while (this.roundAt < this.round.length && count < next.length) {
        const page = this.round[this.roundAt++];
        const flags = this.frames.flags[this.find(page)];
        if ((flags & (PageFlag.dirty | PageFlag.writeback)) === PageFlag.dirty) next[count++] = page;
      }
    }
    return next.subarray(0, count);
  }

  drop(first: number, count: number): void {
    const { frames } = this;
    if (count <= this.pages) {
      for (let page = first; page < first + count; page++) {
        const frame = this.find(page);
        if (frame !== 0) this.forgetFrame(frame);
      }
    } else {
      for (let frame = this.firstFrame; frame !== 0; ) {
        const next = frames.fileNext[frame];
        if (frames.page[frame] >= first && frames.page[frame] - first < count) this.forgetFrame(frame);
        frame = next;
      }
    }
    if (this.memory.progress.awaited) this.memory.progress.notifyAll();
  }

  /** Drops the frames for which `goes` is true; none of them is dirty or under write-back. */
  dropWhere(goes: (frame: number) => boolean): void {
    const { frames } = this;
    for (let frame = this.firstFrame; frame !== 0; ) {
      const next = frames.fileNext[frame];
      if (goes(frame)) this.forgetFrame(frame);
      frame = next;
    }
  }

  zero(page: number, offset: number, length: number): void {
    const frame = this.find(page);
    if (frame === 0) return;
    if (length === PAGE_BYTES) this.frames.setTag(frame, 0);
    else this.bytesToChange(frame).fill(0, offset, offset + length);
  }

  /** The bytes of a frame; a tag is written out first. */
  bytesToChange(frame: number): Uint8Array {
    const { frames } = this;
    const had = frames.bytesOf(frame);
    if (had !== null) return had;
    const tag = frames.word[frame];
    const bytes = frames.giveBytes(frame);
    expandTag(tag, bytes, 0, PAGE_BYTES);
    return bytes;
  }

  /** Takes a clean frame out of the file and frees it. */
  removeFrame(frame: number): void {
    const { frames } = this;
    const next = frames.fileNext[frame];
    const previous = frames.filePrevious[frame];
    if (next !== 0) frames.filePrevious[next] = previous;
    if (previous !== 0) frames.fileNext[previous] = next;
    else this.firstFrame = next;
    this.pages--;
    this.memory.lru.remove(frame);
    frames.remove(frame);
  }

  private forgetFrame(frame: number): void {
    const { frames } = this;
    const flags = frames.flags[frame];
    if ((flags & PageFlag.writeback) !== 0) {
      throw new Error(
        `page ${frames.page[frame]} of inode ${this.inode.ino} is under write-back: wait for it before it is dropped`,
      );
    }
    if ((flags & PageFlag.dirty) !== 0) this.clean(frame);
    this.removeFrame(frame);
  }
}

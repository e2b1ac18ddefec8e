import { BlockOp, BlockRequest, BlockStatus, expandTag, type IoOwner } from '@flashstack/block-device';
import { type Process, ProcessQueue, type Wait } from '@flashstack/sim';
import { type Inode, PAGE_BYTES, type PageIo } from '@flashstack/vfs';
import type { FileMapping } from './file-mapping.js';
import { PageFlag } from './frames.js';
import type { LinuxPageCache } from './linux-page-cache.js';

/**
 * One fetch of pages that follow each other: takes from the file system where they are, sends the requests, and makes each
 * page up to date when all of its parts have come. Waiting for it ends with every request that does; look again then.
 */
export class ReadIo implements PageIo, IoOwner, Wait {
  /** Number by which frames name it. */
  readonly number: number;
  /** Status of the first request that failed, 0 if none has. */
  status = 0;
  private readonly cache: LinuxPageCache;
  private readonly requests: BlockRequest[] = [];
  private readonly waiters: ProcessQueue = new ProcessQueue();
  private readonly blockBytes: number;
  private readonly blocksPerPage: number;
  private file: FileMapping | null = null;
  /** Pages of the fetch. */
  first = 0;
  count = 0;
  private flags = 0;
  private added = 0;
  private open = 0;
  /** A tag per block of the pages. */
  private words: Uint32Array<ArrayBuffer>;
  /** Requests that are not done, per page; and whether the file system has said where the page is. */
  private pending: Uint16Array;
  private known: Uint8Array;

  constructor(cache: LinuxPageCache, number: number) {
    this.cache = cache;
    this.blockBytes = cache.blockBytes;
    this.number = number;
    this.blocksPerPage = PAGE_BYTES / cache.blockBytes;
    this.words = new Uint32Array(32 * this.blocksPerPage);
    this.pending = new Uint16Array(32);
    this.known = new Uint8Array(32);
  }

  /** Begins with pages of which those without contents have frames; `flags` are those of the requests. */
  begin(file: FileMapping, first: number, count: number, flags: number): void {
    this.flags = flags;
    this.file = file;
    this.first = first;
    this.count = count;
    this.status = 0;
    this.added = 0;
    if (count > this.pending.length) {
      const room = 2 ** (32 - Math.clz32(count - 1));
      this.words = new Uint32Array(room * this.blocksPerPage);
      this.pending = new Uint16Array(room);
      this.known = new Uint8Array(room);
    } else {
      this.words.fill(0, 0, count * this.blocksPerPage);
      this.pending.fill(0, 0, count);
      this.known.fill(0, 0, count);
    }
    const { frames } = this.cache.memory;
    for (let page = first; page < first + count; page++) frames.dirtyNext[file.find(page)] = this.number;
  }

  get inode(): Inode {
    if (this.file === null) throw new Error('a fetch that is done was asked for its inode');
    return this.file.inode;
  }

  read(offset: number, length: number, block: number, origin: number): void {
    const { blockBytes } = this;
    const blocks = length / blockBytes;
    this.note(offset, length, 1);
    const last = this.added > 0 ? this.requests[this.added - 1] : null;
    const lastEnd = last === null ? 0 : last.cookie + last.count;
    const start = (offset - this.first * PAGE_BYTES) / blockBytes;
    if (last !== null && lastEnd === start && last.block + last.count === block && last.origin === origin) {
      // The pages that both parts touch wait for one request less than was noted.
      if (start % this.blocksPerPage !== 0) this.pending[Math.floor(start / this.blocksPerPage)]--;
      last.count += blocks;
      return;
    }
    const request = this.nextRequest();
    request.op = BlockOp.read;
    request.block = block;
    request.count = blocks;
    request.origin = origin;
    request.flags = this.flags;
    request.cookie = start;
  }

  readHole(offset: number, length: number): void {
    this.note(offset, length, 0);
  }

  done(page: number): void {
    this.note(page * PAGE_BYTES, PAGE_BYTES, 0);
  }

  write(): void {
    throw new Error('readPages has asked for a write');
  }

  /** After the file system has said everything: sends the requests. */
  submit(): void {
    const { file, known, pending } = this;
    for (let at = 0; at < this.count; at++) {
      if (known[at] === 0 && file?.isCached(this.first + at) !== true) {
        throw new Error(`readPages has not said where page ${this.first + at} of inode ${file?.inode.ino} is`);
      }
    }
    // One more than there are requests: pages without one are done at the end, whatever comes back inside `submit`.
    this.open = this.added + 1;
    for (let at = 0; at < this.count; at++) if (known[at] !== 0 && pending[at] === 0) this.complete(at);
    if (this.added > 0) this.send();
    this.closeOne();
  }

  private send(): void {
    const { device, readsBytes } = this.cache;
    device.plug?.();
    for (let at = 0; at < this.added; at++) {
      const request = this.requests[at];
      if (readsBytes) request.data = new Uint8Array(request.count * device.blockBytes);
      else request.tags = this.words.subarray(request.cookie, request.cookie + request.count);
      device.submit(request);
    }
    device.unplug?.();
  }

  /** The file system could not say where the pages are: those that have not come are gone. */
  fail(): void {
    for (let at = 0; at < this.count; at++) this.giveUp(at);
    this.open = 1;
    this.closeOne();
  }

  ioDone(request: BlockRequest): void {
    if (request.status === BlockStatus.notTagged && request.data === null) {
      this.cache.expectBytes();
      request.tags = null;
      request.data = new Uint8Array(request.count * this.blockBytes);
      request.status = 0;
      this.cache.device.submit(request);
      return;
    }
    const { cookie, count, data, status } = request;
    if (status !== 0 && this.status === 0) this.status = status;
    const firstPage = Math.floor(cookie / this.blocksPerPage);
    const lastPage = Math.floor((cookie + count - 1) / this.blocksPerPage);
    if (data !== null && status === 0) this.takeBytes(data, cookie);
    request.data = null;
    request.tags = null;
    for (let at = firstPage; at <= lastPage; at++) {
      if (status !== 0) this.giveUp(at);
      else if (--this.pending[at] === 0) this.complete(at);
    }
    this.closeOne();
  }

  arm(process: Process): boolean {
    if (this.open === 0 && this.file === null) return true;
    this.waiters.push(process);
    return false;
  }

  describe(): string {
    return `pages ${this.first}–${this.first + this.count - 1} of inode ${this.file?.inode.ino} to be read`;
  }

  private nextRequest(): BlockRequest {
    if (this.added === this.requests.length) this.requests.push(new BlockRequest(this));
    const request = this.requests[this.added++];
    request.clear();
    return request;
  }

  private note(offset: number, length: number, requests: number): void {
    const start = Math.floor(offset / PAGE_BYTES) - this.first;
    const end = Math.ceil((offset + length) / PAGE_BYTES) - this.first;
    if (start < 0 || end > this.count || length <= 0) {
      throw new RangeError(`bytes ${offset}+${length} are not within pages ${this.first}+${this.count} that are read`);
    }
    for (let at = start; at < end; at++) {
      this.known[at] = 1;
      this.pending[at] += requests;
    }
  }

  /** Frame that still waits for this read, or 0: it may have been dropped, and read anew by somebody else. */
  private frameAt(at: number): number {
    const { frames } = this.cache.memory;
    const frame = (this.file as FileMapping).find(this.first + at);
    const waits = (frames.flags[frame] & PageFlag.upToDate) === 0 && frames.dirtyNext[frame] === this.number;
    return waits ? frame : 0;
  }

  private complete(at: number): void {
    const { frames } = this.cache.memory;
    const frame = this.frameAt(at);
    if (frame === 0) return;
    if ((frames.flags[frame] & PageFlag.bytes) === 0) this.takeTags(frame, at);
    frames.flags[frame] |= PageFlag.upToDate;
  }

  /** One tag if all parts have the same. */
  private takeTags(frame: number, at: number): void {
    const { words, blocksPerPage } = this;
    const { frames } = this.cache.memory;
    const from = at * blocksPerPage;
    let same = true;
    for (let part = 1; part < blocksPerPage; part++) same &&= words[from + part] === words[from];
    if (same) {
      frames.word[frame] = words[from];
      return;
    }
    const bytes = frames.giveBytes(frame);
    const { blockBytes } = this;
    for (let part = 0; part < blocksPerPage; part++)
      expandTag(words[from + part], bytes, part * blockBytes, blockBytes);
  }

  private takeBytes(data: Uint8Array, start: number): void {
    const { frames } = this.cache.memory;
    const { blockBytes } = this;
    for (let from = 0; from < data.length; ) {
      const block = start + from / blockBytes;
      const inPage = (block % this.blocksPerPage) * blockBytes;
      const length = Math.min(PAGE_BYTES - inPage, data.length - from);
      const at = Math.floor(block / this.blocksPerPage);
      const frame = this.frameAt(at);
      if (frame !== 0) {
        if ((frames.flags[frame] & PageFlag.bytes) === 0) {
          this.takeTags(frame, at);
          (this.file as FileMapping).bytesToChange(frame);
        }
        frames.giveBytes(frame).set(data.subarray(from, from + length), inPage);
      }
      from += length;
    }
  }

  private giveUp(at: number): void {
    const frame = this.frameAt(at);
    if (frame === 0) return;
    (this.file as FileMapping).removeFrame(frame);
    this.cache.memory.stats.fetchErrors++;
  }

  private closeOne(): void {
    for (let process = this.waiters.shift(); process !== null; process = this.waiters.shift()) {
      process.wake();
    }
    if (--this.open > 0) return;
    // On a device that takes no time this was work all the same.
    this.cache.memory.simulator.noteProgress();
    this.file = null;
    this.cache.memory.progress.notifyAll();
    this.cache.fetches.give(this);
  }
}

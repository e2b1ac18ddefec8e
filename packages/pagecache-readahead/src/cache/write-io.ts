import { BlockFlag, BlockOp, BlockRequest, expandTag, type IoOwner } from '@flashstack/block-device';
import { type Process, ProcessQueue, type Wait } from '@flashstack/sim';
import { Errno, PAGE_BYTES, type PageIo, WritebackReason } from '@flashstack/vfs';
import type { FileMapping } from './file-mapping.js';
import { PageFlag } from './frames.js';
import type { LinuxPageCache } from './linux-page-cache.js';

/**
 * One write-back of dirty pages of a file: takes from the file system where they go and sends them. Contents are those at
 * the time of submission; a page that is changed later is dirty again. Waiting for it ends when all is done.
 */
export class WriteIo implements PageIo, IoOwner, Wait {
  /** Pages that the file system took, and that failed. */
  taken = 0;
  failed = 0;
  /** First page, and the one behind the last. */
  first = 0;
  end = 0;
  private readonly cache: LinuxPageCache;
  private readonly requests: BlockRequest[] = [];
  /** Byte of the file at which each request begins, and the place of its first page among those of this write. */
  private readonly offsets: number[] = [];
  private readonly places: number[] = [];
  /** Place that was asked for last: most follow each other. */
  private lastPlace = 0;
  private readonly waiters: ProcessQueue = new ProcessQueue();
  private file: FileMapping | null = null;
  private pages: Int32Array = new Int32Array(0);
  /** Frames of those: they stay where they are until the write is done. */
  private frames: Int32Array = new Int32Array(64);
  private pending: Uint16Array = new Uint16Array(64);
  private flags = 0;
  private added = 0;
  private open = 0;

  constructor(cache: LinuxPageCache) {
    this.cache = cache;
  }

  /** Begins with dirty pages, ascending: they are under write-back from now on. */
  begin(file: FileMapping, pages: Int32Array, reason: number): void {
    const { frames } = this.cache.memory;
    this.file = file;
    this.pages = pages;
    this.first = pages[0];
    this.end = pages[pages.length - 1] + 1;
    this.taken = 0;
    this.failed = 0;
    this.added = 0;
    this.lastPlace = 0;
    this.flags = reason === WritebackReason.sync ? BlockFlag.sync : BlockFlag.background;
    if (pages.length > this.pending.length) {
      this.pending = new Uint16Array(pages.length);
      this.frames = new Int32Array(pages.length);
    }
    this.pending.fill(0, 0, pages.length);
    for (let at = 0; at < pages.length; at++) {
      const frame = file.find(pages[at]);
      this.frames[at] = frame;
      file.clean(frame);
      frames.flags[frame] |= PageFlag.writeback;
    }
    this.cache.memory.writebackPages += pages.length;
    file.writes.push(this);
  }

  write(offset: number, length: number, block: number, origin: number, flags: number, stream: number): void {
    const { blockBytes } = this.cache;
    const blocks = length / blockBytes;
    const from = this.indexOf(Math.floor(offset / PAGE_BYTES));
    const to = this.indexOf(Math.ceil((offset + length) / PAGE_BYTES) - 1);
    const last = this.added > 0 ? this.requests[this.added - 1] : null;
    const all = flags | this.flags;
    const joins =
      last !== null &&
      this.offsets[this.added - 1] + last.count * blockBytes === offset &&
      last.block + last.count === block &&
      last.origin === origin &&
      last.flags === all &&
      last.stream === stream;
    const shared = joins && offset % PAGE_BYTES !== 0 ? 1 : 0;
    for (let at = from + shared; at <= to; at++) this.pending[at]++;
    if (joins) {
      last.count += blocks;
      return;
    }
    if (this.added === this.requests.length) this.requests.push(new BlockRequest(this));
    this.offsets[this.added] = offset;
    this.places[this.added] = from;
    const request = this.requests[this.added];
    request.clear();
    request.op = BlockOp.write;
    request.block = block;
    request.count = blocks;
    request.origin = origin;
    request.flags = all;
    request.stream = stream;
    request.cookie = this.added++;
  }

  done(page: number): void {
    this.indexOf(page);
  }

  read(): void {
    throw new Error('writePages has asked for a read');
  }

  readHole(): void {
    throw new Error('writePages has asked for a read');
  }

  /** After the file system has taken `taken` pages: sends the requests; the other pages are dirty as before. */
  submit(taken: number): void {
    const { file, pages } = this;
    this.taken = taken;
    for (let at = taken; at < pages.length; at++) this.putBack(at);
    this.open = this.added + 1;
    // Pages without a request are done; the others may be inside `send`.
    for (let at = 0; at < taken; at++) if (this.pending[at] === 0) this.settle(at);
    if (this.added > 0) this.send();
    this.cache.memory.stats.writtenBack += taken;
    if (file === null) throw new Error('a write-back that has not begun was submitted');
    this.closeOne();
  }

  private send(): void {
    const { device } = this.cache;
    device.plug?.();
    for (let at = 0; at < this.added; at++) {
      const request = this.requests[at];
      this.attach(request, this.offsets[at], this.places[at]);
      device.submit(request);
    }
    device.unplug?.();
  }

  /** The file system failed: the pages stay dirty if `again`, otherwise their changes are lost, as after a failed write. */
  fail(again: boolean): void {
    for (let at = 0; at < this.pages.length; at++) {
      if (again) this.putBack(at);
      else this.settle(at);
    }
    if (!again) this.failed = this.pages.length;
    this.open = 1;
    this.closeOne();
  }

  ioDone(request: BlockRequest): void {
    const from = this.places[request.cookie];
    const offset = this.offsets[request.cookie];
    const end = offset + request.count * this.cache.blockBytes;
    const to = from + Math.ceil(end / PAGE_BYTES) - Math.floor(offset / PAGE_BYTES) - 1;
    if (request.status !== 0) {
      (this.file as FileMapping).failed(Errno.EIO);
      this.failed += to - from + 1;
      this.cache.memory.stats.writebackErrors += to - from + 1;
    } else {
      this.cache.bandwidth.add(to - from + 1);
    }
    request.data = null;
    request.tags = null;
    for (let at = from; at <= to; at++) if (--this.pending[at] === 0) this.settle(at);
    this.closeOne();
  }

  /** True once it is done; an object that has been used again is not. */
  arm(process: Process): boolean {
    if (this.file === null) return true;
    this.waiters.push(process);
    return false;
  }

  describe(): string {
    return `${this.pages.length} pages of inode ${this.file?.inode.ino} to be written`;
  }

  /** Position of a page among those of this write. */
  private indexOf(page: number): number {
    const { pages, lastPlace } = this;
    if (pages[lastPlace] === page) return lastPlace;
    if (pages[lastPlace + 1] === page) return ++this.lastPlace;
    let low = 0;
    let high = pages.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (pages[middle] < page) low = middle + 1;
      else high = middle;
    }
    if (pages[low] !== page) throw new RangeError(`page ${page} is not among those that are written`);
    this.lastPlace = low;
    return low;
  }

  /** Attaches the contents, of pages from the one at `place` on: tags if all pages are tags, otherwise bytes. */
  private attach(request: BlockRequest, offset: number, place: number): void {
    const { frames } = this.cache.memory;
    const { blockBytes } = this.cache;
    const first = Math.floor(offset / PAGE_BYTES);
    const end = offset + request.count * blockBytes;
    let bytes = false;
    for (let at = place; (first + at - place) * PAGE_BYTES < end; at++) {
      if ((frames.flags[this.frames[at]] & PageFlag.bytes) !== 0) bytes = true;
    }
    if (bytes) request.data = this.cache.scratchBytes(request.count * blockBytes);
    else request.tags = this.cache.scratchTags(request.count);
    for (let at = offset; at < end; at += blockBytes) {
      const frame = this.frames[place + Math.floor(at / PAGE_BYTES) - first];
      const to = at - offset;
      if (request.tags !== null) request.tags[to / blockBytes] = frames.word[frame];
      if (request.data === null) continue;
      const held = frames.bytesOf(frame);
      const inPage = at % PAGE_BYTES;
      if (held === null) expandTag(frames.word[frame], request.data, to, blockBytes);
      else request.data.set(held.subarray(inPage, inPage + blockBytes), to);
    }
  }

  private settle(at: number): void {
    const { frames } = this.cache.memory;
    frames.flags[this.frames[at]] &= ~PageFlag.writeback;
    this.cache.memory.writebackPages--;
  }

  private putBack(at: number): void {
    this.settle(at);
    (this.file as FileMapping).dirty(this.frames[at]);
  }

  private closeOne(): void {
    if (--this.open > 0) return;
    // On a device that takes no time this was work all the same.
    this.cache.memory.simulator.noteProgress();
    const file = this.file as FileMapping;
    file.writes.splice(file.writes.indexOf(this), 1);
    this.file = null;
    this.pages = new Int32Array(0);
    for (let process = this.waiters.shift(); process !== null; process = this.waiters.shift()) {
      process.wake();
    }
    this.cache.memory.progress.notifyAll();
  }
}

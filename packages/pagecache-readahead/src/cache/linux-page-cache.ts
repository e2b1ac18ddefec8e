import type { BlockDevice } from '@flashstack/block-device';
import { Delay, InputError, type MaybeTask, type Task } from '@flashstack/sim';
import {
  FileAdvice,
  type FileCache,
  type FileSystem,
  FsError,
  type Inode,
  MemoryAdvice,
  PAGE_BYTES,
  WritebackReason,
  WriteErrors,
} from '@flashstack/vfs';
import type { ReadaheadPolicy } from '../readahead/policy.js';
import type { ReadaheadLimits } from '../readahead/state.js';
import { WriteBandwidth } from './bandwidth.js';
import { DirtyFiles } from './dirty-files.js';
import { fault } from './fault.js';
import { Fetches } from './fetches.js';
import { FileMapping } from './file-mapping.js';
import { FileReader } from './file-reader.js';
import { Flusher } from './flusher.js';
import { PageFlag } from './frames.js';
import type { PageMemory } from './memory.js';
import { readRange } from './read-path.js';
import { writeRange } from './write-back.js';
import { writeInto } from './write-path.js';

/** What the cache needs of a file system: where pages are. */
export type PageBackend = Pick<FileSystem, 'readPages' | 'writePages'>;

/** How the pages of one file system are cached. */
export interface LinuxPageCacheOptions {
  /** Read-ahead policy, see `readaheadKinds`. */
  readonly policy: ReadaheadPolicy;
  /** Window and request size of the device, pages. */
  readonly limits: ReadaheadLimits;
  /**
   * Whether pages are read as tags or as bytes. With `tags`, a page that holds bytes is read a second time, and everything
   * after it as bytes; so set `bytes` where programs look at contents. Default `tags`.
   */
  readonly contents?: 'tags' | 'bytes';
}

/** What every page is that nobody uses or changes; `bytes` may be set besides. */
const IDLE = PageFlag.dirty | PageFlag.writeback | PageFlag.mapped | PageFlag.upToDate;

/** The page cache of one mounted file system, after the one of Linux. The memory is shared with others. */
export class LinuxPageCache implements FileCache {
  readonly memory: PageMemory;
  readonly policy: ReadaheadPolicy;
  readonly limits: ReadaheadLimits;
  readonly dirtyFiles: DirtyFiles = new DirtyFiles();
  readonly errors: WriteErrors = new WriteErrors();
  readonly bandwidth: WriteBandwidth;
  readonly fetches: Fetches = new Fetches(this);
  /** For pauses of writers. */
  readonly pause: Delay;
  /** Bytes of a block of the device; of a page if there is none. */
  readonly blockBytes: number;
  /** Pages are read as bytes. */
  readsBytes: boolean;
  private readonly blockDevice: BlockDevice | null;
  private readonly flusher: Flusher;
  private attached: PageBackend | null = null;
  private readonly files: Set<FileMapping> = new Set();
  private bytesScratch: Uint8Array<ArrayBuffer> = new Uint8Array(PAGE_BYTES);
  private tagScratch: Uint32Array<ArrayBuffer> = new Uint32Array(64);
  /** What was asked for last: most requests are as long as the one before. */
  private tagsGiven: Uint32Array = this.tagScratch.subarray(0, 1);

  /**
   * @param device where the file system's pages are; null for one that keeps them itself.
   * @throws InputError `ERR_PAGE_CACHE_DEVICE` if a page is no multiple of a block.
   */
  constructor(memory: PageMemory, device: BlockDevice | null, options: LinuxPageCacheOptions) {
    this.memory = memory;
    this.policy = options.policy;
    this.limits = options.limits;
    this.readsBytes = options.contents === 'bytes';
    this.bandwidth = new WriteBandwidth(memory.simulator);
    this.pause = new Delay(memory.simulator);
    this.flusher = new Flusher(this);
    this.blockDevice = device;
    this.blockBytes = device?.blockBytes ?? PAGE_BYTES;
    if (PAGE_BYTES % this.blockBytes !== 0) {
      throw new InputError(
        'ERR_PAGE_CACHE_DEVICE',
        `the device has blocks of ${this.blockBytes} bytes, expected a divisor of the page, ${PAGE_BYTES} bytes: use a ` +
          'device with blocks of 512 to 4096 bytes.',
        'blockBytes',
      );
    }
  }

  /** @param backend the file system, or whatever else says where pages are. */
  attach(backend: PageBackend): void {
    if (this.attached !== null) throw new Error('a page cache serves one file system');
    this.attached = backend;
  }

  get device(): BlockDevice {
    if (this.blockDevice === null)
      throw new Error('the page cache has no device to reach the pages of this file system');
    return this.blockDevice;
  }

  get backend(): PageBackend {
    if (this.attached === null) throw new Error('the page cache has no file system: call attach');
    return this.attached;
  }

  daemons(): readonly { readonly name: string; readonly task: Task<void> }[] {
    return [{ name: 'flusher', task: this.flusher.task() }];
  }

  get pieceBytes(): number {
    return this.memory.pieceBytes;
  }

  stop(): void {
    this.flusher.stop();
  }

  /** Dirty pages are written without being asked for: the daemon runs. */
  get flushed(): boolean {
    return this.flusher.running;
  }

  mapping(inode: Inode): FileMapping {
    if (inode.mapping !== null) return inode.mapping as FileMapping;
    const file = new FileMapping(this, inode);
    inode.mapping = file;
    this.files.add(file);
    return file;
  }

  reader(_inode: Inode): FileReader {
    return new FileReader(this.limits);
  }

  read(inode: Inode, reader: object, offset: number, length: number, into: Uint8Array | null): MaybeTask {
    return readRange(this, this.mapping(inode), reader as FileReader, offset, length, into);
  }

  write(inode: Inode, offset: number, length: number, from: Uint8Array | null, seed: number): MaybeTask {
    return writeInto(this, this.mapping(inode), offset, length, from, seed);
  }

  load(inode: Inode, first: number, count: number): MaybeTask {
    const file = this.mapping(inode);
    for (let page = first; page < first + count; page++) {
      if (!file.isCached(page)) return this.loadRest(file, page, first + count);
    }
    return 0;
  }

  /**
   * A load through a shared mapping of the file, which brings the page in by the rules of faults; a store follows it by
   * `write`. `advice`: the `MemoryAdvice` of the mapping. 0, or the rest as a task. @throws FsError EIO
   */
  touch(inode: Inode, reader: object, page: number, advice: number = MemoryAdvice.normal): MaybeTask {
    const file = this.mapping(inode);
    const frame = file.find(page);
    if ((this.memory.frames.flags[frame] & PageFlag.mapped) === 0) {
      return fault(this, file, (reader as FileReader).state, page, advice);
    }
    this.memory.stats.hits++;
    this.memory.lru.touch(frame);
    return 0;
  }

  advise(inode: Inode, reader: object, offset: number, length: number, advice: number): MaybeTask {
    const { state } = reader as FileReader;
    const end = length === 0 ? inode.size : Math.min(offset + length, inode.size);
    if (advice === FileAdvice.normal) state.adviseNormal();
    else if (advice === FileAdvice.sequential) state.adviseSequential();
    else if (advice === FileAdvice.random) state.adviseRandom();
    else if (advice === FileAdvice.noReuse) (reader as FileReader).noReuse = true;
    else if (advice === FileAdvice.dontNeed) return this.dontNeed(inode, offset, end);
    else if (advice !== FileAdvice.willNeed) throw new RangeError(`advice is ${advice}, expected one of FileAdvice`);
    if (advice === FileAdvice.normal) (reader as FileReader).noReuse = false;
    if (advice !== FileAdvice.willNeed || end <= offset) return 0;
    const first = Math.floor(offset / PAGE_BYTES);
    this.policy.force(state, this.mapping(inode), first, Math.ceil(end / PAGE_BYTES) - first);
    return this.fetches.start();
  }

  *writeBack(
    inode: Inode,
    reason: number,
    offset: number = 0,
    length: number = Number.POSITIVE_INFINITY,
  ): Task<number> {
    const first = Math.floor(offset / PAGE_BYTES);
    return yield* writeRange(this, this.mapping(inode), reason, first, Math.ceil((offset + length) / PAGE_BYTES), true);
  }

  startWriteBack(inode: Inode, offset: number, length: number): MaybeTask {
    const file = this.mapping(inode);
    if (file.dirtyPages === 0) return 0;
    const first = Math.floor(offset / PAGE_BYTES);
    return writeRange(this, file, WritebackReason.sync, first, Math.ceil((offset + length) / PAGE_BYTES), false);
  }

  *writeBackAll(reason: number): Task<number> {
    let written = 0;
    // Files that become dirty meanwhile are not waited for.
    for (let left = this.dirtyFiles.length; left > 0; left--) {
      const file = this.dirtyFiles.rotate();
      if (file === null) break;
      written += yield* writeRange(this, file, reason, 0, Number.POSITIVE_INFINITY, false);
    }
    for (const file of [...this.files]) yield* this.written(file, 0, Number.POSITIVE_INFINITY);
    return written;
  }

  settle(inode: Inode, first: number, count: number): MaybeTask {
    const file = this.mapping(inode);
    return file.writes.length === 0 && !file.isReading(first, count) ? 0 : this.settleRest(file, first, count);
  }

  /** Waits for write-back of these pages that has begun. */
  *written(file: FileMapping, first: number, end: number): Task<void> {
    if (file.writes.length === 0) return;
    for (const write of file.writes.filter((io) => io.first < end && io.end > first)) yield write;
  }

  takeError(inode: Inode): number {
    const file = this.mapping(inode);
    const { error } = file;
    file.error = 0;
    return error;
  }

  invalidate(inode: Inode, first: number, count: number): number {
    const file = this.mapping(inode);
    const { flags, page } = this.memory.frames;
    let left = 0;
    file.dropWhere((frame) => {
      if (page[frame] < first || page[frame] - first >= count) return false;
      const idle = (flags[frame] & (IDLE & ~PageFlag.mapped)) === PageFlag.upToDate;
      if (!idle) left++;
      return idle;
    });
    return left;
  }

  forget(inode: Inode): void {
    const file = inode.mapping as FileMapping | null;
    if (file === null) return;
    file.drop(0, Number.POSITIVE_INFINITY);
    this.memory.unregister(file.number);
    this.files.delete(file);
    inode.mapping = null;
  }

  /** Drops every clean page that is not mapped, as `echo 1 > /proc/sys/vm/drop_caches` does. */
  dropClean(): void {
    const { flags } = this.memory.frames;
    for (const file of this.files) file.dropWhere((frame) => (flags[frame] & IDLE) === PageFlag.upToDate);
  }

  /** A page was found to hold bytes: from now on pages are read as bytes. */
  expectBytes(): void {
    this.readsBytes = true;
    this.memory.stats.bytesReread++;
  }

  /** Bytes that are good until the next submission. */
  scratchBytes(length: number): Uint8Array {
    if (length > this.bytesScratch.length) this.bytesScratch = new Uint8Array(2 ** (32 - Math.clz32(length - 1)));
    return this.bytesScratch.subarray(0, length);
  }

  /** As `scratchBytes`, for tags. */
  scratchTags(length: number): Uint32Array {
    if (length === this.tagsGiven.length) return this.tagsGiven;
    if (length > this.tagScratch.length) this.tagScratch = new Uint32Array(2 ** (32 - Math.clz32(length - 1)));
    this.tagsGiven = this.tagScratch.subarray(0, length);
    return this.tagsGiven;
  }

  /** Makes room for pages, waiting for write-back if it must. */
  *waitForRoom(pages: number): Task<void> {
    const { memory } = this;
    while (!memory.makeRoom(pages)) {
      memory.stats.memoryWaits++;
      memory.shortOfMemory = true;
      memory.wakeFlushers();
      if (!this.flushed && this.dirtyFiles.first !== null) {
        yield* writeRange(this, this.dirtyFiles.first, WritebackReason.reclaim, 0, Number.POSITIVE_INFINITY, true);
      } else {
        yield memory.progress;
      }
    }
    memory.shortOfMemory = false;
  }

  /** Reads one page that is absent, alone, and waits for it; nothing happens behind the end. @throws FsError EIO */
  *readAlone(file: FileMapping, page: number): Task<void> {
    yield* this.waitForRoom(1);
    if (page >= file.pageCount) return;
    file.fetchNeeded(page, 1);
    const started = this.fetches.start();
    if (typeof started !== 'number') yield* started;
    yield* this.awaitPage(file, page);
    if (page >= file.pageCount || file.isCached(page)) return;
    throw new FsError('EIO', `page ${page} of inode ${file.inode.ino} could not be read`);
  }

  /** Waits until a page is up to date or gone. */
  *awaitPage(file: FileMapping, page: number): Task<void> {
    const { frames } = this.memory;
    for (;;) {
      const frame = file.find(page);
      if (frame === 0 || (frames.flags[frame] & PageFlag.upToDate) !== 0) return;
      yield this.fetches.ioOf(frame);
    }
  }

  private *loadRest(file: FileMapping, first: number, end: number): Task<number> {
    // Together, as far as memory goes; what has not come is read alone, so that an error is seen.
    this.memory.makeRoom(end - first);
    file.fetchNeeded(first, end - first);
    const started = this.fetches.start();
    if (typeof started !== 'number') yield* started;
    for (let page = first; page < end; page++) {
      yield* this.awaitPage(file, page);
      if (!file.isCached(page)) yield* this.readAlone(file, page);
    }
    return 0;
  }

  private *settleRest(file: FileMapping, first: number, count: number): Task<number> {
    yield* this.written(file, first, first + count);
    const { frames } = this.memory;
    for (let frame = file.readingIn(first, count); frame !== 0; frame = file.readingIn(first, count)) {
      yield* this.awaitPage(file, frames.page[frame]);
    }
    return 0;
  }

  /** FADV_DONTNEED: begins to write dirty pages, and drops clean ones that lie fully inside and that nobody has mapped. */
  private *dontNeed(inode: Inode, offset: number, end: number): Task<number> {
    const file = this.mapping(inode);
    const { flags, page } = this.memory.frames;
    const first = Math.ceil(offset / PAGE_BYTES);
    const endPage = end >= inode.size ? file.pageCount : Math.floor(end / PAGE_BYTES);
    yield* writeRange(this, file, WritebackReason.background, Math.floor(offset / PAGE_BYTES), endPage, false);
    file.dropWhere(
      (frame) => page[frame] >= first && page[frame] < endPage && (flags[frame] & IDLE) === PageFlag.upToDate,
    );
    return 0;
  }
}

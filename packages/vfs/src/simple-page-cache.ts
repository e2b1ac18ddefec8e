import type { BlockDevice } from '@flashstack/block-device';
import type { MaybeTask, Simulator, Task } from '@flashstack/sim';
import { Errno, FsError } from './errors.js';
import type { FileSystem } from './file-system.js';
import type { Inode } from './inode.js';
import { type FileCache, PAGE_BYTES, WritebackReason } from './page-cache.js';
import { PageRequests } from './page-requests.js';
import { PageState, SimpleMapping } from './simple-mapping.js';
import { FileAdvice } from './system-calls.js';
import { WriteErrors } from './write-errors.js';

/** Pages that one call of `writePages` is offered. */
const WRITE_PAGES = 256;

/**
 * The least page cache, for image tools and tests: it grows without limit, reads only what is asked for, and writes only
 * when it is told to. A page of which a write-back failed is clean afterwards, as on Linux.
 */
export class SimplePageCache implements FileCache {
  readonly errors: WriteErrors = new WriteErrors();
  private readonly simulator: Simulator;
  private readonly device: BlockDevice | null;
  private fileSystem: FileSystem | null = null;
  /** Mappings with dirty pages, in the order in which they became dirty. */
  private readonly dirty: Set<SimpleMapping> = new Set();
  private readonly noReader: object = Object.freeze({});

  /** @param device where the file system's pages are; null for one that keeps them itself. */
  constructor(simulator: Simulator, device: BlockDevice | null = null) {
    this.simulator = simulator;
    this.device = device;
  }

  attach(fileSystem: FileSystem): void {
    if (this.fileSystem !== null) throw new Error('a page cache serves one file system');
    this.fileSystem = fileSystem;
  }

  daemons(): readonly { readonly name: string; readonly task: Task<void> }[] {
    return [];
  }

  stop(): void {}

  reader(_inode: Inode): object {
    return this.noReader;
  }

  mapping(inode: Inode): SimpleMapping {
    if (inode.mapping === null) inode.mapping = new SimpleMapping(this.simulator, inode, this.dirty);
    return inode.mapping as SimpleMapping;
  }

  read(inode: Inode, _reader: object, offset: number, length: number, into: Uint8Array | null): MaybeTask {
    const mapping = this.mapping(inode);
    const first = Math.floor(offset / PAGE_BYTES);
    const count = pagesOf(offset, length);
    if (mapping.missing(first, count) >= 0) return this.readMissing(inode, offset, length, into);
    if (into !== null) mapping.copyOut(offset, length, into);
    return length;
  }

  write(inode: Inode, offset: number, length: number, from: Uint8Array | null, seed: number): MaybeTask {
    const mapping = this.mapping(inode);
    if (this.partsToLoad(mapping, offset, length) >= 0) return this.writeParts(inode, offset, length, from, seed);
    copyIn(mapping, offset, length, from, seed);
    return length;
  }

  load(inode: Inode, first: number, count: number): MaybeTask {
    return this.mapping(inode).missing(first, count) < 0 ? 0 : this.loadMissing(inode, first, count);
  }

  /** Simple: one page alone, whatever the advice. */
  touch(inode: Inode, _reader: object, page: number): MaybeTask {
    return this.load(inode, page, 1);
  }

  advise(inode: Inode, _reader: object, offset: number, length: number, advice: number): MaybeTask {
    const end = Math.min(length === 0 ? inode.size : offset + length, inode.size);
    if (end <= offset) return 0;
    const first = Math.floor(offset / PAGE_BYTES);
    if (advice === FileAdvice.willNeed) return this.load(inode, first, pagesOf(offset, end - offset));
    if (advice === FileAdvice.dontNeed) {
      const whole = Math.ceil(offset / PAGE_BYTES);
      this.invalidate(inode, whole, Math.floor(end / PAGE_BYTES) - whole);
    }
    return 0;
  }

  /** Simple: it waits all the same. */
  startWriteBack(inode: Inode, offset: number, length: number): MaybeTask {
    return this.mapping(inode).dirtyPages === 0 ? 0 : this.writeBack(inode, WritebackReason.sync, offset, length);
  }

  *writeBackAll(reason: number): Task<number> {
    let written = 0;
    for (const mapping of [...this.dirty]) written += yield* this.writeBack(mapping.inode, reason);
    return written;
  }

  *writeBack(inode: Inode, reason: number, offset: number = 0, length: number = Number.MAX_SAFE_INTEGER): Task<number> {
    const mapping = this.mapping(inode);
    const limit = Math.min(Math.ceil((offset + length) / PAGE_BYTES), mapping.limitPages);
    const pages = new Int32Array(WRITE_PAGES);
    let written = 0;
    let page = Math.floor(offset / PAGE_BYTES);
    for (;;) {
      const first = mapping.table.next(page, limit, PageState.dirty);
      if (first >= limit) break;
      // The page may be on its way already with older contents: one write of it at a time.
      const settled = this.settle(inode, first, 1);
      if (typeof settled !== 'number') {
        yield* settled;
        continue;
      }
      const count = mapping.takeDirty(first, limit, pages);
      const taken = yield* this.writeTaken(mapping, pages, count, reason);
      if (taken === 0) break;
      written += taken;
      page = pages[taken - 1] + 1;
    }
    const first = Math.floor(offset / PAGE_BYTES);
    const settled = this.settle(inode, first, limit - first);
    if (typeof settled !== 'number') yield* settled;
    return written;
  }

  settle(inode: Inode, first: number, count: number): MaybeTask {
    const mapping = this.mapping(inode);
    if (mapping.busy(first, first + count) < 0) return 0;
    return waitUntilIdle(mapping, first, first + count);
  }

  private failed(mapping: SimpleMapping, errno: number): void {
    mapping.error = errno;
    this.errors.note(errno);
  }

  takeError(inode: Inode): number {
    const mapping = this.mapping(inode);
    const error = mapping.error;
    mapping.error = 0;
    return error;
  }

  invalidate(inode: Inode, first: number, count: number): number {
    return this.mapping(inode).dropClean(first, count);
  }

  forget(inode: Inode): void {
    const mapping = inode.mapping as SimpleMapping | null;
    mapping?.drop(0, mapping.limitPages);
    inode.mapping = null;
  }

  private *readMissing(inode: Inode, offset: number, length: number, into: Uint8Array | null): Task<number> {
    const mapping = this.mapping(inode);
    const first = Math.floor(offset / PAGE_BYTES);
    for (;;) {
      const rest = Math.min(length, inode.size - offset);
      if (rest <= 0) return 0;
      const count = pagesOf(offset, rest);
      if (mapping.missing(first, count) >= 0) {
        yield* this.loadMissing(inode, first, count);
        continue;
      }
      if (into !== null) mapping.copyOut(offset, rest, into);
      return rest;
    }
  }

  private *writeParts(
    inode: Inode,
    offset: number,
    length: number,
    from: Uint8Array | null,
    seed: number,
  ): Task<number> {
    const mapping = this.mapping(inode);
    for (;;) {
      const page = this.partsToLoad(mapping, offset, length);
      if (page < 0) break;
      yield* this.loadMissing(inode, page, 1);
    }
    copyIn(mapping, offset, length, from, seed);
    return length;
  }

  /** A page that must be loaded, or come in, before these bytes can be changed; −1: none. */
  private partsToLoad(mapping: SimpleMapping, offset: number, length: number): number {
    const first = Math.floor(offset / PAGE_BYTES);
    const end = offset + length;
    const last = Math.floor((end - 1) / PAGE_BYTES);
    const size = mapping.inode.size;
    if (!mapping.isCached(first) && inPart(first, offset, end, size)) return first;
    if (last !== first && !mapping.isCached(last) && inPart(last, offset, end, size)) return last;
    return mapping.reading(first, last + 1);
  }

  private *loadMissing(inode: Inode, first: number, count: number): Task<number> {
    const mapping = this.mapping(inode);
    for (;;) {
      // Truncation may have overtaken us.
      const limit = Math.min(first + count, Math.ceil(inode.size / PAGE_BYTES));
      const page = mapping.missing(first, limit - first);
      if (page < 0) return 0;
      if ((mapping.table.flags(page) & PageState.reading) !== 0) yield mapping.changed;
      else yield* this.readRun(mapping, page, mapping.startReading(page, limit));
    }
  }

  /** Reads pages that are marked as being read. */
  private *readRun(mapping: SimpleMapping, first: number, count: number): Task<void> {
    const requests = new PageRequests(this.device, mapping, first, count);
    try {
      const located = this.attached().readPages(mapping.inode, first, count, requests);
      if (typeof located !== 'number') yield* located;
      const submission = requests.submission();
      if (submission !== null) yield submission;
      requests.fillPages();
    } finally {
      mapping.endReading(first, count);
    }
    if (requests.failed) throw new FsError('EIO', `read of inode ${mapping.inode.ino}`);
  }

  /** Writes pages that are marked as under write-back; returns how many the file system took. */
  private *writeTaken(mapping: SimpleMapping, pages: Int32Array, count: number, reason: number): Task<number> {
    const requests = new PageRequests(this.device, mapping, 0, 0);
    let taken = 0;
    try {
      const answer = this.attached().writePages(mapping.inode, pages, count, reason, requests);
      taken = typeof answer === 'number' ? answer : yield* answer;
      if (taken < 1 || taken > count) throw new Error(`writePages took ${taken} of ${count} pages`);
      mapping.giveBack(pages, taken, count);
      const submission = requests.submission();
      if (submission !== null) yield submission;
      if (requests.failed) this.failed(mapping, Errno.EIO);
      mapping.endWriteback(pages, 0, taken);
    } catch (error) {
      if (!(error instanceof FsError)) throw error;
      this.failed(mapping, error.errno);
      mapping.giveBack(pages, 0, count);
    }
    return taken;
  }

  private attached(): FileSystem {
    if (this.fileSystem === null) throw new Error('the page cache has no file system: call attach');
    return this.fileSystem;
  }
}

function* waitUntilIdle(mapping: SimpleMapping, first: number, limit: number): Task<number> {
  while (mapping.busy(first, limit) >= 0) yield mapping.changed;
  return 0;
}

function pagesOf(offset: number, length: number): number {
  return Math.floor((offset + length - 1) / PAGE_BYTES) - Math.floor(offset / PAGE_BYTES) + 1;
}

function copyIn(mapping: SimpleMapping, offset: number, length: number, from: Uint8Array | null, seed: number): void {
  for (let done = 0; done < length; ) {
    const page = Math.floor((offset + done) / PAGE_BYTES);
    const at = offset + done - page * PAGE_BYTES;
    const part = Math.min(PAGE_BYTES - at, length - done);
    if (from === null) mapping.putTag(page, at, part, seed);
    else mapping.putBytes(page, at, part, from, done);
    done += part;
  }
}

/** Page `page` keeps bytes of the file that a write of `offset` to `end` does not cover. */
function inPart(page: number, offset: number, end: number, size: number): boolean {
  const start = page * PAGE_BYTES;
  return start < size && (start < offset || Math.min(start + PAGE_BYTES, size) > end);
}

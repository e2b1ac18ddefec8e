import type { MaybeTask, Task } from '@flashstack/sim';
import type { FileSystem } from './file-system.js';
import type { Inode } from './inode.js';
import type { WriteErrors } from './write-errors.js';

/** Bytes of a page. Page `p` of a file holds its bytes from `p * PAGE_BYTES` on. */
export const PAGE_BYTES = 4096;

/** Why dirty pages are written. */
export const WritebackReason = {
  /** Old enough, or above the background threshold. */
  background: 0,
  /** fsync, fdatasync, sync, unmount: somebody waits. */
  sync: 1,
  /** A writer is above the dirty limit. */
  throttle: 2,
  /** Memory is short. */
  reclaim: 3,
  /** Before direct I/O, truncation or an allocation mode change of the range. */
  range: 4,
} as const;

/**
 * The pages of one inode. The cache owns them: bytes or a tag each (a tag stands for a page filled with that little-endian
 * word). A file system reads, fills or re-dirties them here only.
 */
export interface Mapping {
  /** The page is in memory and holds what the file holds. */
  isCached(page: number): boolean;
  isDirty(page: number): boolean;
  isUnderWriteback(page: number): boolean;
  /** Tag of a cached page; meaningless if it holds bytes. */
  tag(page: number): number;
  /** Contents of a cached page, or null if a tag stands for them. Good until the next yield; never to be changed. */
  bytes(page: number): Uint8Array | null;
  /**
   * Gives a page its contents: of a hole (null, 0), inline or decompressed data. Bytes are copied, up to a page, the rest
   * becomes zero. The page is cached and clean; one that is cached already keeps what it has.
   */
  fill(page: number, bytes: Uint8Array | null, tag: number): void;
  /** Marks a cached page dirty, so that it is written again: what lazy migration by a cleaner needs. */
  setDirty(page: number): void;
  /** Number of cached pages. */
  readonly pages: number;
  /** Number of dirty pages. */
  readonly dirtyPages: number;
  /**
   * Forgets pages from `first` on (of these `count`), dirty or not: after truncation, punching, direct writes. What is
   * under write-back or being read must have been waited for: `PageCache.settle`.
   */
  drop(first: number, count: number): void;
  /** Zeroes `length` bytes of a cached page from `offset` on, clean or dirty as it is; a page that is not cached is left alone. */
  zero(page: number, offset: number, length: number): void;
}

/**
 * Where a file system says what is to be read or written for the pages of one call. The cache makes the requests, attaches
 * the pages' contents, submits them together after the call, and knows which page failed. Offsets and lengths are bytes of
 * the file, multiples of the device's block size, within the pages of the call.
 */
export interface PageIo {
  /** These bytes of the file are at device block `block` and on. */
  read(offset: number, length: number, block: number, origin: number): void;
  /** They are in a hole or unwritten extent: zero. */
  readHole(offset: number, length: number): void;
  /** Pages are written to device block `block` and on. `flags` are `BlockFlag`, `stream` a write-lifetime hint (0: none). */
  write(offset: number, length: number, block: number, origin: number, flags: number, stream: number): void;
  /** The page needs no request: its contents went into a structure of the file system (inline data), or are beyond the end. */
  done(page: number): void;
}

/** Pages of all inodes of a file system, as it sees them: handed to it; `pagecache-readahead` has the real one. */
export interface PageCache {
  /** The pages of an inode; made when first asked for. */
  mapping(inode: Inode): Mapping;
  /** Brings pages into memory without read-ahead; 0, or the rest as a task. @throws FsError EIO */
  load(inode: Inode, first: number, count: number): MaybeTask;
  /** Writes the dirty pages of an inode within these bytes and waits for them. Returns how many were written. */
  writeBack(inode: Inode, reason: number, offset?: number, length?: number): Task<number>;
  /**
   * Waits until none of these pages is under write-back or being read, without writing any: before truncation frees their
   * space. A file system holds no lock of its own then that reading or writing pages takes. 0, or the rest as a task.
   */
  settle(inode: Inode, first: number, count: number): MaybeTask;
  /** Error of a write-back of this inode since the last call, as `Errno` number; 0: none. */
  takeError(inode: Inode): number;
  /** Forgets the inode and all its pages. */
  forget(inode: Inode): void;
}

/**
 * What a host calls besides: file contents as ranges of bytes. A cache serves one file system, which is handed to it once
 * (`attach`), because each is given to the other. `reader` is the cache's own state of one open file description.
 */
export interface FileCache extends PageCache {
  /** Failures of write-back of any file. */
  readonly errors: WriteErrors;
  /** Before mount. */
  attach(fileSystem: FileSystem): void;
  /** Write-back threads: spawned by the host after mount, in its group; they end after `stop`. */
  daemons(): readonly { readonly name: string; readonly task: Task<void> }[];
  /** Daemons end; called before unmount, after everything has been written back. */
  stop(): void;
  /**
   * Bytes that one `write` should change at most, a multiple of a page: longer writes go piece by piece, each with its own
   * `beginWrite` and `endWrite`, so that a writer is held back in between. Absent: any number.
   */
  readonly pieceBytes?: number;
  /** State of reading for a new open file description: read-ahead window, advice. */
  reader(inode: Inode): object;
  /**
   * Reads bytes inside the size of the file; null: contents are not looked at. Reads ahead as `reader` has it. Returns the
   * length, a plain number if all was cached; less if the file was truncated meanwhile. @throws FsError EIO
   */
  read(inode: Inode, reader: object, offset: number, length: number, into: Uint8Array | null): MaybeTask;
  /**
   * Changes bytes and makes their pages dirty, after `FileSystem.beginWrite` and under the same lock. Loads pages that are
   * changed in part. Without bytes a whole page gets a tag drawn from (`seed`, page), and one changed in part a tag drawn
   * from that, its old tag, offset and length. May wait while too much is dirty. Returns the length. @throws FsError EIO
   */
  write(inode: Inode, offset: number, length: number, from: Uint8Array | null, seed: number): MaybeTask;
  /**
   * A load through a shared mapping of the file: brings the page in as a fault does. `advice`: the `MemoryAdvice` of the
   * mapping. A store is a `write` after it. 0, or the rest as a task. @throws FsError EIO
   */
  touch(inode: Inode, reader: object, page: number, advice: number): MaybeTask;
  /** `posix_fadvise` and `readahead`; `advice`: `FileAdvice`. */
  advise(inode: Inode, reader: object, offset: number, length: number, advice: number): MaybeTask;
  /** Begins to write dirty pages within these bytes and does not wait for them. */
  startWriteBack(inode: Inode, offset: number, length: number): MaybeTask;
  /** Writes all dirty pages of all inodes and waits. Returns how many were written. */
  writeBackAll(reason: number): Task<number>;
  /** Forgets those of these pages that are clean. Returns how many are left. */
  invalidate(inode: Inode, first: number, count: number): number;
}

import type { MaybeTask, RandomStream, Simulator, Task } from '@flashstack/sim';
import type { Inode, WallClock } from './inode.js';
import type { PageCache, PageIo } from './page-cache.js';

/** What a file system gets at construction, besides its device and options. It imports neither host nor page cache. */
export interface FsEnvironment {
  readonly simulator: Simulator;
  readonly cache: PageCache;
  readonly random: RandomStream;
  /** Calendar time, for inode times. */
  readonly clock: WallClock;
  /** A message for the user, such as `recovered 3 transactions`. */
  log(message: string): void;
}

/** What a file system offers and promises. Conformance suites are driven by it. */
export interface FsCapabilities {
  /** Short name, such as `ext4`. */
  readonly name: string;
  /** Longest name of a directory entry, bytes. */
  readonly nameBytes: number;
  /** Largest file, bytes. */
  readonly fileBytes: number;
  /** Most hard links of a file; 1: none. */
  readonly links: number;
  readonly symlinks: boolean;
  /** Fifos, sockets and device nodes. */
  readonly specialFiles: boolean;
  /** Files that begin without a name (O_TMPFILE). */
  readonly unnamedFiles: boolean;
  readonly sparse: boolean;
  /** SEEK_DATA and SEEK_HOLE know holes; without it a file is one piece of data. */
  readonly seeksHoles: boolean;
  /** Modes of `fallocate`, see `FallocateMode`; empty: EOPNOTSUPP. */
  readonly fallocate: readonly number[];
  /** Longest value of an extended attribute, bytes; 0: none are kept. */
  readonly attributeBytes: number;
  /** `direct` is offered, in multiples of this many bytes; 0: direct I/O goes through the cache. */
  readonly directBytes: number;
  readonly renameExchange: boolean;
  /** Resolution of times that are kept, ns; 1e9 for whole seconds. */
  readonly timeNs: number;
  /** What is on the device after a power cut: nothing (a file system in memory), or what was synced. */
  readonly durable: boolean;
}

/** How a new inode begins. */
export interface NewInode {
  /** A `FileKind`. */
  readonly kind: number;
  /** Permission bits, umask applied. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Device nodes. */
  readonly device?: number;
  /** Symbolic links: what they point to. */
  readonly target?: string;
}

/** Changes of attributes; what is absent stays. Times are (seconds, nanoseconds). */
export interface AttributeChange {
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  /** Truncation or extension, bytes. */
  readonly size?: number;
  readonly accessed?: readonly [number, number];
  readonly modified?: readonly [number, number];
}

/** Modes of `fallocate`, bits as on Linux. */
export const FallocateMode = {
  allocate: 0,
  keepSize: 1,
  /** Always together with `keepSize`. */
  punchHole: 2,
  collapseRange: 8,
  zeroRange: 16,
  insertRange: 32,
} as const;

/** What `renameat2` may be asked for, bits as on Linux. */
export const RenameFlag = { noReplace: 1, exchange: 2 } as const;

/** Space and inodes of a file system. */
export interface FsStatus {
  blockBytes: number;
  blocks: number;
  /** Free blocks. */
  free: number;
  /** Free blocks for whoever is not root. */
  available: number;
  /** 0: not limited. */
  inodes: number;
  freeInodes: number;
}

/** One directory entry. */
export interface DirectoryEntry {
  readonly name: string;
  readonly ino: number;
  /** A `FileKind`. */
  readonly kind: number;
  /** Position of the entry after it, for `readdir`. */
  readonly next: number;
}

/**
 * A mounted or mountable file system. Names are byte strings (one UTF-16 unit per byte) without `/` and NUL, neither empty
 * nor `.` or `..`, at most `nameBytes` long. All operations throw `FsError`.
 *
 * **Locks.** The caller holds `lock` of a directory, shared for `lookup` and `readdir`, exclusive for what changes entries
 * (both directories of a rename, in the order of `lockTwo`); and of a file, exclusive, for `setAttributes`, `beginWrite` to
 * `endWrite`, `fallocate` and `direct` writes. `fsync`, `readPages` and `writePages` come without locks. Between two yields
 * nothing else runs. A file system's own locks are taken after these.
 *
 * **What the caller has checked.** Permissions; that a name exists or does not, by `lookup` under the same lock; kinds
 * (EISDIR, ENOTDIR); that a directory is not moved into itself. The file system checks what only it knows: space, limits,
 * emptiness of a directory, damage.
 *
 * **Times and sizes.** The file system sets the times of what it changes: a write and a truncation `modified` and
 * `changed`, a change of attributes `changed`, a change of entries both of the directory and `changed` of the inode. The
 * caller decides about access times and sets them through `accessed`.
 */
export interface FileSystem {
  readonly capabilities: FsCapabilities;
  /** Recovers what a power cut left. @throws FsError EUCLEAN, EINVAL */
  mount(): Task<void>;
  /** Everything is on the device afterwards; daemons end. */
  unmount(): Task<void>;
  /** Commit thread, cleaner, discard thread: spawned by the host after mount, in its group; they end at unmount. */
  daemons(): readonly { readonly name: string; readonly task: Task<void> }[];
  root(): Inode;
  /** The inode of an entry, or null. */
  lookup(directory: Inode, name: string): Task<Inode | null>;
  /** A new inode and its entry; name null: without entry and links (O_TMPFILE), see `unnamedFiles`. */
  create(directory: Inode, name: string | null, what: NewInode): Task<Inode>;
  /** A further entry, the first one of a file without a name. @throws FsError EMLINK, ENOSPC */
  link(inode: Inode, directory: Inode, name: string): Task<void>;
  /** Removes the entry; the inode is freed by `evict` if it has no links then. */
  unlink(directory: Inode, name: string, inode: Inode): Task<void>;
  rmdir(directory: Inode, name: string, inode: Inode): Task<void>;
  /**
   * Moves an entry, atomically also over a power cut. `target` is the inode that `newName` has now: it loses the entry,
   * or with `RenameFlag.exchange` takes the old place.
   */
  rename(
    from: Inode,
    name: string,
    inode: Inode,
    to: Inode,
    newName: string,
    target: Inode | null,
    flags: number,
  ): Task<void>;
  /**
   * Appends entries from a position on (0: the start) to `out`, at most `limit`. `.` and `..` are among them. The position
   * to go on from is that of the last entry; nothing appended: the end. Positions stay good while entries come and go.
   */
  readdir(directory: Inode, position: number, limit: number, out: DirectoryEntry[]): Task<void>;
  readlink(inode: Inode): Task<string>;
  /** With `size`, the file system also waits for, drops and zeroes the pages that truncation concerns. */
  setAttributes(inode: Inode, change: AttributeChange): Task<void>;
  /** Sets the access time to the present; may be lazy. */
  accessed(inode: Inode): void;
  /**
   * `mode`: `FallocateMode` bits. The file system writes back, drops and zeroes the pages it concerns, and checks what
   * ranges a mode takes. @throws FsError EOPNOTSUPP, EINVAL, EFBIG, ENOSPC
   */
  fallocate(inode: Inode, mode: number, offset: number, length: number): Task<void>;
  /** First data (or hole) at or behind `offset`, at most the size. */
  seek(inode: Inode, offset: number, hole: boolean): Task<number>;
  /** Value of an extended attribute such as `user.a`, or null. */
  getAttribute(inode: Inode, name: string): Task<Uint8Array | null>;
  /** Null removes it. @throws FsError ERANGE, ENOSPC, EOPNOTSUPP */
  setAttribute(inode: Inode, name: string, value: Uint8Array | null): Task<void>;
  listAttributes(inode: Inode): Task<string[]>;
  status(): FsStatus;
  /**
   * Before bytes are changed in the cache: space (delayed allocation), inline conversion. 0, or the rest as a task. Pages
   * that are written in part are loaded afterwards, within `FileCache.write`. @throws FsError ENOSPC, EFBIG
   */
  beginWrite(inode: Inode, offset: number, length: number): MaybeTask;
  /** Afterwards, with the bytes that were really changed: size and times. Never fails and never waits. */
  endWrite(inode: Inode, offset: number, length: number): void;
  /**
   * Says by `io` where these pages are, or gives them their contents by `Mapping.fill`. 0, or the rest as a task. Pages
   * behind the end of the file are not asked for.
   */
  readPages(inode: Inode, first: number, count: number, io: PageIo): MaybeTask;
  /**
   * Maps or allocates these dirty pages (ascending, already tagged as under write-back) and says by `io` where they go.
   * Returns how many it took from the front, at least one; the rest stays dirty. `reason`: a `WritebackReason`.
   */
  writePages(inode: Inode, pages: Int32Array, count: number, reason: number, io: PageIo): MaybeTask;
  /**
   * Direct I/O past the cache, after the caller has written back and (for a write) dropped its pages. Offset and length are
   * multiples of `directBytes`. Contents are bytes, or one tag per block. Returns the bytes done; fewer: the rest goes through the cache.
   */
  direct(
    inode: Inode,
    write: boolean,
    offset: number,
    length: number,
    data: Uint8Array | null,
    tags: Uint32Array | null,
  ): Task<number>;
  /**
   * Makes the file durable: its pages have been written by the caller, who waits for them. `dataOnly`: what is not needed
   * to read the data back may stay behind.
   */
  fsync(inode: Inode, dataOnly: boolean): Task<void>;
  /** Everything, of all inodes; pages have been written by the caller. */
  sync(): Task<void>;
  /**
   * Nobody refers to the inode any more. Without links its space is freed, and the file system makes the cache forget it.
   * With links no page of it is dirty or under write-back; it may leave the memory.
   */
  evict(inode: Inode): Task<void>;
}

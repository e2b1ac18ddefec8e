import type { MaybeTask, Task } from '@flashstack/sim';
import type { DirectoryEntry, FsStatus } from './file-system.js';

/** Flags of `open`, with their values on Linux (x86-64), so that recorded traces need no translation. */
export const OpenFlag = {
  readOnly: 0,
  writeOnly: 1,
  readWrite: 2,
  accessMode: 3,
  create: 0o100,
  exclusive: 0o200,
  truncate: 0o1000,
  append: 0o2000,
  nonBlock: 0o4000,
  dataSync: 0o10000,
  direct: 0o40000,
  directory: 0o200000,
  noFollow: 0o400000,
  noAccessTime: 0o1000000,
  closeOnExec: 0o2000000,
  /** O_SYNC includes O_DSYNC. */
  sync: 0o4010000,
  /** Only a place in the tree: no reading or writing. */
  path: 0o10000000,
  /** O_TMPFILE includes O_DIRECTORY. */
  temporary: 0o20200000,
} as const;

/** Where `lseek` counts from. */
export const Seek = { set: 0, current: 1, end: 2, data: 3, hole: 4 } as const;

/** Kinds of advice of `posix_fadvise`. */
export const FileAdvice = { normal: 0, random: 1, sequential: 2, willNeed: 3, dontNeed: 4, noReuse: 5 } as const;

/** Kinds of advice of `madvise` that read-ahead knows. */
export const MemoryAdvice = { normal: 0, random: 1, sequential: 2, willNeed: 3, dontNeed: 4 } as const;

/** Flags of `sync_file_range`. */
export const SyncRange = { waitBefore: 1, write: 2, waitAfter: 4 } as const;

/** Directory that `*at` calls start from if it is not a descriptor: the working directory. */
export const AT_WORKING_DIRECTORY = -100;

/** Filled in by the `stat` family. Times are seconds and nanoseconds. */
export class FileStatus {
  ino = 0;
  /** Kind and permissions, as `st_mode`. */
  mode = 0;
  links = 0;
  uid = 0;
  gid = 0;
  device = 0;
  size = 0;
  /** Unit of `st_blksize`. */
  blockBytes = 0;
  /** In units of 512 bytes, as `st_blocks`. */
  sectors = 0;
  accessedSec = 0;
  accessedNsec = 0;
  modifiedSec = 0;
  modifiedNsec = 0;
  changedSec = 0;
  changedNsec = 0;
}

/** How a process begins. */
export interface ProcessOptions {
  readonly name?: string;
  /** Default 0, root. */
  readonly uid?: number;
  readonly gid?: number;
  readonly groups?: readonly number[];
  /** Default 0o022. */
  readonly umask?: number;
  /** Working directory, default `/`. */
  readonly directory?: string;
}

/** What programs call: processes with descriptors and threads. `host` implements it, `workloads` drive it. */
export interface SystemCalls {
  /** A new process without open files. @throws FsError ENOENT, ENOTDIR for its directory. */
  process(options?: ProcessOptions): UserProcess;
}

/** A process: descriptors, working directory, credentials. */
export interface UserProcess {
  readonly pid: number;
  readonly name: string;
  /** A further thread. Calls of one thread follow each other; threads run beside each other. */
  thread(name?: string): Thread;
  /** A child with the same open file descriptions, as `fork`. */
  fork(name?: string): UserProcess;
  /** Closes what is open. */
  exit(): Task<void>;
}

/**
 * One thread's system calls. A `MaybeTask` is the result itself, or the rest of the call: `const r = t.read(…); const n =
 * typeof r === 'number' ? r : yield* r;`. Failures are thrown as `FsError` by call and task alike. Paths are byte strings.
 * Buffers may be null: then contents are not looked at, and what is written is a tag of the host's choice.
 * Calls that take a directory `at` start there if the path is relative (`AT_WORKING_DIRECTORY`).
 */
export interface Thread {
  readonly process: UserProcess;
  /** The descriptor. `flags`: `OpenFlag`. */
  open(path: string, flags: number, mode?: number, at?: number): MaybeTask;
  close(fd: number): MaybeTask;
  dup(fd: number): number;
  /** The new descriptor is `to`, which is closed before. */
  dup2(fd: number, to: number): MaybeTask;
  read(fd: number, into: Uint8Array | null, length: number): MaybeTask;
  pread(fd: number, into: Uint8Array | null, length: number, offset: number): MaybeTask;
  write(fd: number, from: Uint8Array | null, length: number): MaybeTask;
  pwrite(fd: number, from: Uint8Array | null, length: number, offset: number): MaybeTask;
  /** `whence`: `Seek`. The new position. */
  lseek(fd: number, offset: number, whence: number): MaybeTask;
  /** Bytes copied inside the kernel, from a position each or the cursor (−1); `sendfile` and `copy_file_range`. */
  copyRange(from: number, fromOffset: number, to: number, toOffset: number, length: number): MaybeTask;
  fsync(fd: number): MaybeTask;
  fdatasync(fd: number): MaybeTask;
  /** `flags`: `SyncRange`. Length 0: to the end. */
  syncFileRange(fd: number, offset: number, length: number, flags: number): MaybeTask;
  /** Writes everything back; never fails. */
  sync(): MaybeTask;
  /** The same, and fails if the file system does, or once for an open file if write-back of any file has failed. */
  syncFs(fd: number): MaybeTask;
  truncate(path: string, length: number): MaybeTask;
  ftruncate(fd: number, length: number): MaybeTask;
  /** `mode`: `FallocateMode`. */
  fallocate(fd: number, mode: number, offset: number, length: number): MaybeTask;
  fadvise(fd: number, offset: number, length: number, advice: number): MaybeTask;
  readahead(fd: number, offset: number, length: number): MaybeTask;
  /** Touches bytes of a shared mapping of the file: reads them, or makes their pages dirty. */
  touch(fd: number, offset: number, length: number, write: boolean, from?: Uint8Array | null): MaybeTask;
  /** `advice`: `MemoryAdvice`, for the mapping that `touch` goes through. */
  madvise(fd: number, offset: number, length: number, advice: number): MaybeTask;
  msync(fd: number, offset: number, length: number): MaybeTask;
  stat(path: string, out: FileStatus, at?: number): MaybeTask;
  /** As `stat`, of a link itself. */
  lstat(path: string, out: FileStatus, at?: number): MaybeTask;
  fstat(fd: number, out: FileStatus): MaybeTask;
  /** `mode`: bits 4 read, 2 write, 1 execute; 0: exists. */
  access(path: string, mode: number, at?: number): MaybeTask;
  mkdir(path: string, mode: number, at?: number): MaybeTask;
  rmdir(path: string, at?: number): MaybeTask;
  /** A regular file, fifo, socket or device node: `mode` includes the kind, as for `mknod(2)`. */
  mknod(path: string, mode: number, device: number, at?: number): MaybeTask;
  unlink(path: string, at?: number): MaybeTask;
  /** `flags`: `RenameFlag`. */
  rename(from: string, to: string, flags?: number, fromAt?: number, toAt?: number): MaybeTask;
  /** `from` empty and `fromAt` a descriptor: its file, also one that O_TMPFILE made without O_EXCL and has no name yet. */
  link(from: string, to: string, fromAt?: number, toAt?: number): MaybeTask;
  symlink(target: string, path: string, at?: number): MaybeTask;
  readlink(path: string, at?: number): Task<string>;
  chmod(path: string, mode: number, at?: number): MaybeTask;
  fchmod(fd: number, mode: number): MaybeTask;
  /** −1 leaves an owner as it is. */
  chown(path: string, uid: number, gid: number, at?: number): MaybeTask;
  lchown(path: string, uid: number, gid: number, at?: number): MaybeTask;
  fchown(fd: number, uid: number, gid: number): MaybeTask;
  /** Null: the present. `follow` false: of a symbolic link itself. */
  utimens(
    path: string,
    accessed: readonly [number, number] | null,
    modified: readonly [number, number] | null,
    at?: number,
    follow?: boolean,
  ): MaybeTask;
  /** Appends entries to `out`; their number, 0 at the end. */
  readdir(fd: number, out: DirectoryEntry[]): MaybeTask;
  getAttribute(path: string, name: string): Task<Uint8Array>;
  setAttribute(path: string, name: string, value: Uint8Array): MaybeTask;
  removeAttribute(path: string, name: string): MaybeTask;
  listAttributes(path: string): Task<string[]>;
  statfs(path: string, out: FsStatus): MaybeTask;
  chdir(path: string): MaybeTask;
  /** The mask before. */
  umask(mask: number): number;
}

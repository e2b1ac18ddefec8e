import type { MaybeTask, Task } from '@flashstack/sim';
import {
  type DirectoryEntry,
  FileAdvice,
  FileKind,
  FsError,
  type Inode,
  MemoryAdvice,
  OpenFlag,
  PAGE_BYTES,
  Seek,
  SyncRange,
  WritebackReason,
} from '@flashstack/vfs';
import { touchAccessTime } from './attribute-calls.js';
import type { CallFrame } from './call-frame.js';
import { errorOf } from './error-of.js';
import type { OpenFile } from './open-file.js';
import { modeAfterWrite } from './permissions.js';

/** Entries that one call lists at most. */
const LISTED = 256;

/** `lseek`. */
export function seek(thread: CallFrame, file: OpenFile, offset: number, whence: number): MaybeTask {
  const { inode } = file;
  switch (whence) {
    case Seek.set:
      return moveTo(file, offset);
    case Seek.current:
      return moveTo(file, file.position + offset);
    case Seek.end:
      return moveTo(file, inode.size + offset);
    case Seek.data:
    case Seek.hole:
      if (!Number.isSafeInteger(offset) || offset < 0 || offset >= inode.size) throw new FsError('ENXIO', `${offset}`);
      return seekData(thread, file, offset, whence === Seek.hole);
    default:
      throw new FsError('EINVAL', `whence ${whence}`);
  }
}

function moveTo(file: OpenFile, position: number): number {
  if (!Number.isSafeInteger(position) || position < 0) throw new FsError('EINVAL', `a position of ${position}`);
  file.position = position;
  return position;
}

function* seekData(thread: CallFrame, file: OpenFile, offset: number, hole: boolean): Task<number> {
  const { inode } = file;
  if (!inode.lock.tryRead()) yield inode.lock.read;
  try {
    const found = yield* thread.host.fileSystem.seek(inode, offset, hole);
    if (!hole && found >= inode.size) throw new FsError('ENXIO', `no data behind ${offset}`);
    return moveTo(file, found);
  } finally {
    inode.lock.unlockRead();
  }
}

/** `getdents`. */
export function* list(thread: CallFrame, file: OpenFile, out: DirectoryEntry[]): Task<number> {
  const { inode, dentry } = file;
  if (inode.kind !== FileKind.directory || dentry === null) throw new FsError('ENOTDIR', 'readdir');
  const before = out.length;
  if (!file.cursor.tryLock()) yield file.cursor;
  try {
    if (!inode.lock.tryRead()) yield inode.lock.read;
    try {
      if (dentry.dead) throw new FsError('ENOENT', 'the directory has been removed');
      yield* thread.host.fileSystem.readdir(inode, file.position, LISTED, out);
    } finally {
      inode.lock.unlockRead();
    }
    if (out.length > before) file.position = out[out.length - 1].next;
  } finally {
    file.cursor.unlock();
  }
  touchAccessTime(thread, inode, file.flags);
  const count = out.length - before;
  thread.debtNs += count * thread.host.costs.listed;
  return count;
}

/** `sync_file_range`. */
export function* syncRange(
  thread: CallFrame,
  inode: Inode,
  offset: number,
  length: number,
  flags: number,
): Task<number> {
  const { cache } = thread.host;
  if ((flags & ~7) !== 0) throw new FsError('EINVAL', `flags ${flags} of sync_file_range`);
  checkExtent(offset, length);
  const bytes = length === 0 ? Math.max(0, inode.size - offset) : length;
  if (bytes === 0) return 0;
  const first = Math.floor(offset / PAGE_BYTES);
  const count = Math.ceil((offset + bytes) / PAGE_BYTES) - first;
  if ((flags & SyncRange.waitBefore) !== 0) {
    const settled = cache.settle(inode, first, count);
    if (typeof settled !== 'number') yield* settled;
    thread.host.throwWriteError(inode);
  }
  if ((flags & SyncRange.write) !== 0) {
    const started = cache.startWriteBack(inode, offset, bytes);
    if (typeof started !== 'number') yield* started;
  }
  if ((flags & SyncRange.waitAfter) !== 0) {
    const settled = cache.settle(inode, first, count);
    if (typeof settled !== 'number') yield* settled;
    thread.host.throwWriteError(inode);
  }
  return 0;
}

/** `sync`, which always succeeds: what fails is left to `syncfs` and `fsync` to tell. */
export function* syncAll(thread: CallFrame): Task<number> {
  try {
    yield* writeEverything(thread);
  } catch (error) {
    if (!(error instanceof FsError)) throw error;
  }
  return 0;
}

/** `syncfs`: fails if the file system does, or once for each open file description if write-back of any file has failed. */
export function* syncFileSystem(thread: CallFrame, file: OpenFile): Task<number> {
  const { errors } = thread.host.cache;
  let failure: FsError | null = null;
  try {
    yield* writeEverything(thread);
  } catch (error) {
    if (!(error instanceof FsError)) throw error;
    failure = error;
  }
  const errno = errors.take(file.toldErrors);
  file.toldErrors = errors.latest;
  // The error of the file system comes first; the others count as told with it.
  if (failure !== null) throw failure;
  if (errno !== 0) throw errorOf(errno, 'write-back of the file system');
  return 0;
}

function* writeEverything(thread: CallFrame): Task<void> {
  const { cache, fileSystem } = thread.host;
  yield* cache.writeBackAll(WritebackReason.sync);
  yield* fileSystem.sync();
}

/** @throws FsError EINVAL */
export function checkExtent(offset: number, length: number): void {
  if (!Number.isSafeInteger(offset) || offset < 0) throw new FsError('EINVAL', `an offset of ${offset}`);
  if (!Number.isSafeInteger(length) || length < 0) throw new FsError('EINVAL', `a length of ${length}`);
}

/** `fallocate`. */
export function* allocate(
  thread: CallFrame,
  file: OpenFile,
  mode: number,
  offset: number,
  length: number,
): Task<number> {
  const { inode } = file;
  const { fileSystem } = thread.host;
  checkExtent(offset, length);
  if (length === 0) throw new FsError('EINVAL', 'a length of 0');
  if (!fileSystem.capabilities.fallocate.includes(mode)) throw new FsError('EOPNOTSUPP', `fallocate mode ${mode}`);
  if (!file.writable) throw new FsError('EBADF', 'not open for writing');
  if (inode.kind !== FileKind.regular) throw new FsError('ENODEV', 'fallocate');
  if (offset + length > fileSystem.capabilities.fileBytes) throw new FsError('EFBIG', `up to ${offset + length}`);
  if (!inode.lock.tryWrite()) yield inode.lock.write;
  try {
    const privileges = modeAfterWrite(thread.process, inode);
    if (privileges !== inode.mode) yield* fileSystem.setAttributes(inode, { mode: privileges });
    yield* fileSystem.fallocate(inode, mode, offset, length);
    return 0;
  } finally {
    inode.lock.unlockWrite();
  }
}

/** Reads pages of a shared mapping, one after the other as a program would touch them. */
export function touchToRead(thread: CallFrame, file: OpenFile, offset: number, length: number): MaybeTask {
  if (!file.readable) throw new FsError('EACCES', 'the mapping cannot be read');
  checkMapped(file, offset, length);
  const { inode, reader } = file;
  const { cache } = thread.host;
  const end = Math.min(offset + length, inode.size);
  for (let page = Math.floor(offset / PAGE_BYTES); page * PAGE_BYTES < end; page++) {
    const touched = cache.touch(inode, reader, page, file.mappingAdvice);
    if (typeof touched !== 'number') return touchRest(thread, file, offset, end, page + 1, touched);
  }
  touchAccessTime(thread, inode, file.flags);
  return end - offset;
}

function* touchRest(
  thread: CallFrame,
  file: OpenFile,
  offset: number,
  end: number,
  next: number,
  begun: Task<number>,
): Task<number> {
  const { cache } = thread.host;
  yield* begun;
  for (let page = next; page * PAGE_BYTES < Math.min(end, file.inode.size); page++) {
    const touched = cache.touch(file.inode, file.reader, page, file.mappingAdvice);
    if (typeof touched !== 'number') yield* touched;
  }
  touchAccessTime(thread, file.inode, file.flags);
  return end - offset;
}

/** Makes pages of a shared mapping dirty. */
export function* touchToWrite(
  thread: CallFrame,
  file: OpenFile,
  offset: number,
  length: number,
  from: Uint8Array | null,
): Task<number> {
  if (!file.writable) throw new FsError('EACCES', 'the mapping cannot be written');
  checkMapped(file, offset, length);
  const { inode } = file;
  const { cache, fileSystem } = thread.host;
  const end = Math.min(offset + length, inode.size);
  for (let at = offset; at < end; ) {
    const page = Math.floor(at / PAGE_BYTES);
    const loaded = cache.touch(inode, file.reader, page, file.mappingAdvice);
    if (typeof loaded !== 'number') yield* loaded;
    if (!inode.lock.tryWrite()) yield inode.lock.write;
    let count: number;
    try {
      // A store does not extend a file that was truncated meanwhile.
      count = Math.min(end - at, PAGE_BYTES - (at % PAGE_BYTES), inode.size - at);
      if (count <= 0) return at - offset;
      const begun = fileSystem.beginWrite(inode, at, count);
      if (typeof begun !== 'number') yield* begun;
      const part = from === null ? null : from.subarray(at - offset, at - offset + count);
      const changed = cache.write(inode, at, count, part, thread.host.nextTagSeed(inode));
      if (typeof changed !== 'number') yield* changed;
      fileSystem.endWrite(inode, at, count);
    } finally {
      inode.lock.unlockWrite();
    }
    at += count;
  }
  return end - offset;
}

/** A mapping beyond the end of the file cannot be touched (SIGBUS). */
function checkMapped(file: OpenFile, offset: number, length: number): void {
  checkExtent(offset, length);
  if ((file.flags & OpenFlag.path) !== 0) throw new FsError('EBADF', 'opened with O_PATH');
  if (offset >= file.inode.size) throw new FsError('EINVAL', `byte ${offset} is beyond the end of the mapped file`);
}

/** `madvise`: what later touches go by, or what `posix_fadvise` does. */
export function adviseMapping(
  thread: CallFrame,
  file: OpenFile,
  offset: number,
  length: number,
  advice: number,
): MaybeTask {
  checkExtent(offset, length);
  switch (advice) {
    case MemoryAdvice.normal:
    case MemoryAdvice.random:
    case MemoryAdvice.sequential:
      file.mappingAdvice = advice;
      return 0;
    case MemoryAdvice.willNeed:
      if (length === 0) return 0;
      return thread.host.cache.advise(file.inode, file.reader, offset, length, FileAdvice.willNeed);
    case MemoryAdvice.dontNeed:
      // Only the mapping is given up: pages of a file stay cached.
      return 0;
    default:
      throw new FsError('EINVAL', `advice ${advice}`);
  }
}

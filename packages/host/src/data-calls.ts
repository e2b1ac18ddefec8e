import type { MaybeTask, Task } from '@flashstack/sim';
import { FileKind, FsError, type Inode, OpenFlag, PAGE_BYTES, WritebackReason } from '@flashstack/vfs';
import { touchAccessTime } from './attribute-calls.js';
import type { CallFrame } from './call-frame.js';
import { readDirectly, writeDirectly } from './direct-io.js';
import type { OpenFile } from './open-file.js';
import { modeAfterWrite } from './permissions.js';

/** Writes with these flags take the long way. */
const SLOW_WRITE = OpenFlag.direct | OpenFlag.dataSync | OpenFlag.sync;

/** @throws FsError EBADF, EISDIR, EINVAL */
export function checkRead(file: OpenFile, into: Uint8Array | null, length: number, offset: number): void {
  if (!file.readable) throw new FsError('EBADF', 'not open for reading');
  if (file.inode.kind === FileKind.directory) throw new FsError('EISDIR', 'read');
  checkRange(into, length, offset);
}

/** @throws FsError EBADF, EINVAL */
export function checkWrite(file: OpenFile, from: Uint8Array | null, length: number, offset: number): void {
  if (!file.writable) throw new FsError('EBADF', 'not open for writing');
  checkRange(from, length, offset);
}

function checkRange(buffer: Uint8Array | null, length: number, offset: number): void {
  if (!Number.isSafeInteger(length) || length < 0) throw new FsError('EINVAL', `a length of ${length}`);
  if (!Number.isSafeInteger(offset) || offset < 0) throw new FsError('EINVAL', `an offset of ${offset}`);
  if (buffer !== null && buffer.length < length) {
    throw new FsError('EINVAL', `a buffer of ${buffer.length} bytes for a length of ${length}`);
  }
}

/** Reads at an offset; the number of bytes, without their CPU time. */
export function read(
  thread: CallFrame,
  file: OpenFile,
  into: Uint8Array | null,
  length: number,
  offset: number,
): MaybeTask {
  const { inode } = file;
  const count = Math.min(length, inode.size - offset);
  if (count <= 0) return 0;
  const { host } = thread;
  if (host.isDirect(file)) {
    return readDirectly(thread, file, into, length, offset);
  }
  const done = host.cache.read(inode, file.reader, offset, count, into);
  if (typeof done !== 'number') return readRest(thread, file, done);
  touchAccessTime(thread, inode, file.flags);
  return done;
}

function* readRest(thread: CallFrame, file: OpenFile, rest: Task<number>): Task<number> {
  const done = yield* rest;
  touchAccessTime(thread, file.inode, file.flags);
  return done;
}

/** Writes at an offset (−1: at the end); the number of bytes, without their CPU time. */
export function write(
  thread: CallFrame,
  file: OpenFile,
  from: Uint8Array | null,
  length: number,
  offset: number,
): MaybeTask {
  const { inode, flags } = file;
  const { fileSystem, cache, pieceBytes } = thread.host;
  const at = offset < 0 ? inode.size : offset;
  thread.writtenAt = at;
  if (
    length === 0 ||
    length > pieceBytes ||
    (flags & SLOW_WRITE) !== 0 ||
    at + length > fileSystem.capabilities.fileBytes ||
    modeAfterWrite(thread.process, inode) !== inode.mode ||
    !inode.lock.tryWrite()
  ) {
    return writeSlowly(thread, file, from, length, offset);
  }
  let locked = true;
  try {
    const begun = fileSystem.beginWrite(inode, at, length);
    if (typeof begun !== 'number') {
      locked = false;
      return writeRest(thread, inode, from, length, at, begun);
    }
    const done = cache.write(inode, at, length, from, thread.host.nextTagSeed(inode));
    if (typeof done !== 'number') {
      locked = false;
      return writeEnd(thread, inode, at, done);
    }
    fileSystem.endWrite(inode, at, done);
    return done;
  } catch (error) {
    if (!(error instanceof FsError && error.code === 'ENOSPC' && length > PAGE_BYTES)) throw error;
  } finally {
    if (locked) inode.lock.unlockWrite();
  }
  // Some of its pages may have room.
  return writeSlowly(thread, file, from, length, offset);
}

/** Goes on after `beginWrite` had to wait, with the lock. */
function* writeRest(
  thread: CallFrame,
  inode: Inode,
  from: Uint8Array | null,
  length: number,
  offset: number,
  begun: Task<number>,
): Task<number> {
  try {
    yield* begun;
    return yield* change(thread, inode, from, length, offset);
  } finally {
    inode.lock.unlockWrite();
  }
}

/** Goes on after the cache had to wait, with the lock. */
function* writeEnd(thread: CallFrame, inode: Inode, offset: number, rest: Task<number>): Task<number> {
  try {
    const done = yield* rest;
    thread.host.fileSystem.endWrite(inode, offset, done);
    return done;
  } finally {
    inode.lock.unlockWrite();
  }
}

function* change(
  thread: CallFrame,
  inode: Inode,
  from: Uint8Array | null,
  length: number,
  offset: number,
): Task<number> {
  const { cache, fileSystem } = thread.host;
  const changed = cache.write(inode, offset, length, from, thread.host.nextTagSeed(inode));
  const done = typeof changed === 'number' ? changed : yield* changed;
  fileSystem.endWrite(inode, offset, done);
  return done;
}

/** A write with whatever may happen: loading, privileges, waiting for space, pieces, direct and synchronous I/O. */
function* writeSlowly(
  thread: CallFrame,
  file: OpenFile,
  from: Uint8Array | null,
  length: number,
  offset: number,
): Task<number> {
  const { host } = thread;
  const { inode, flags } = file;
  if (length === 0) return 0;
  let at = offset;
  let done = 0;
  if (!inode.lock.tryWrite()) yield inode.lock.write;
  try {
    if (offset < 0) at = inode.size;
    thread.writtenAt = at;
    const room = host.fileSystem.capabilities.fileBytes - at;
    if (room <= 0) throw new FsError('EFBIG', `a write at ${at}`);
    const mode = modeAfterWrite(thread.process, inode);
    if (mode !== inode.mode) yield* host.fileSystem.setAttributes(inode, { mode });
    const count = Math.min(length, room);
    if (host.isDirect(file)) {
      done = yield* writeDirectly(thread, inode, from, count, at);
    }
    if (done < count) {
      const cached = yield* writePieces(thread, inode, from, count, at, done);
      // What went through the cache although it was to go past it does not stay there dirty.
      if (done > 0) yield* host.cache.writeBack(inode, WritebackReason.range, at + done, cached - done);
      done = cached;
    }
  } finally {
    inode.lock.unlockWrite();
  }
  if ((flags & (OpenFlag.dataSync | OpenFlag.sync)) !== 0) {
    yield* synchronise(thread, inode, (flags & OpenFlag.sync) !== OpenFlag.sync, at, done);
  }
  return done;
}

/** Through the cache, from `begin` bytes on; returns all bytes done, fewer if the space ends before. */
function* writePieces(
  thread: CallFrame,
  inode: Inode,
  from: Uint8Array | null,
  length: number,
  offset: number,
  begin: number,
): Task<number> {
  let done = begin;
  let { pieceBytes } = thread.host;
  while (done < length) {
    const at = offset + done;
    const count = Math.min(length - done, pieceBytes - (at % pieceBytes));
    try {
      const begun = thread.host.fileSystem.beginWrite(inode, at, count);
      if (typeof begun !== 'number') yield* begun;
      const part = from === null ? null : from.subarray(done, done + count);
      done += yield* change(thread, inode, part, count, at);
    } catch (error) {
      if (!(error instanceof FsError)) throw error;
      if (error.code === 'ENOSPC' && count > PAGE_BYTES) pieceBytes = PAGE_BYTES;
      else if (done > 0) return done;
      else throw error;
    }
  }
  return done;
}

/** Makes bytes of a file durable. @throws FsError EIO, ENOSPC */
export function* synchronise(
  thread: CallFrame,
  inode: Inode,
  dataOnly: boolean,
  offset?: number,
  length?: number,
): Task<number> {
  const { cache, fileSystem } = thread.host;
  yield* cache.writeBack(inode, WritebackReason.sync, offset, length);
  thread.host.throwWriteError(inode);
  yield* fileSystem.fsync(inode, dataOnly);
  return 0;
}

/** Copies inside the kernel, in pieces, until the source ends; the number of bytes. */
export function* copy(
  thread: CallFrame,
  source: OpenFile,
  sourceOffset: number,
  target: OpenFile,
  targetOffset: number,
  length: number,
): Task<number> {
  const { host } = thread;
  const count = Math.min(length, Math.max(0, source.inode.size - sourceOffset));
  const overlaps = sourceOffset < targetOffset + count && targetOffset < sourceOffset + count;
  if (source.inode === target.inode && overlaps && count > 0) throw new FsError('EINVAL', 'the ranges overlap');
  const buffer = host.copyBuffers.pop() ?? new Uint8Array(1 << 16);
  try {
    let done = 0;
    while (done < count) {
      const piece = Math.min(buffer.length, count - done);
      const got = read(thread, source, buffer, piece, sourceOffset + done);
      const bytes = typeof got === 'number' ? got : yield* got;
      if (bytes === 0) break;
      const put = write(thread, target, buffer, bytes, targetOffset + done);
      const written = typeof put === 'number' ? put : yield* put;
      done += written;
      if (written < bytes) break;
    }
    return done;
  } finally {
    host.copyBuffers.push(buffer);
  }
}

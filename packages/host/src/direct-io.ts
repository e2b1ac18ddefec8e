import type { Task } from '@flashstack/sim';
import { FsError, type Inode, PAGE_BYTES, tagOfPage, WritebackReason } from '@flashstack/vfs';
import { touchAccessTime } from './attribute-calls.js';
import type { CallFrame } from './call-frame.js';
import type { OpenFile } from './open-file.js';

/** Direct I/O goes in whole multiples of what the file system asks for. @throws FsError EINVAL */
function checkAlignment(thread: CallFrame, offset: number, length: number): void {
  const unit = thread.host.directBytes;
  if (offset % unit === 0 && length % unit === 0) return;
  throw new FsError('EINVAL', `direct I/O at ${offset}, length ${length}: expected multiples of ${unit}`);
}

/** Reads past the cache what is behind `offset`, after what is dirty there has been written. */
export function* readDirectly(
  thread: CallFrame,
  file: OpenFile,
  into: Uint8Array | null,
  length: number,
  offset: number,
): Task<number> {
  const { host } = thread;
  const { inode } = file;
  checkAlignment(thread, offset, length);
  if (!inode.lock.tryRead()) yield inode.lock.read;
  let done = 0;
  try {
    const unit = host.directBytes;
    const wanted = Math.min(length, Math.ceil((inode.size - offset) / unit) * unit);
    if (wanted <= 0) return 0;
    yield* host.cache.writeBack(inode, WritebackReason.range, offset, wanted);
    host.throwWriteError(inode);
    const data = into === null ? null : into.subarray(0, wanted);
    done = yield* host.fileSystem.direct(inode, false, offset, wanted, data, null);
  } finally {
    inode.lock.unlockRead();
  }
  const end = Math.min(length, inode.size - offset);
  if (done < end) {
    const rest = host.cache.read(inode, file.reader, offset + done, end - done, into?.subarray(done) ?? null);
    done += typeof rest === 'number' ? rest : yield* rest;
  }
  touchAccessTime(thread, inode, file.flags);
  return Math.min(done, end);
}

/** Writes past the cache, under the lock; what the file system leaves is the caller's. */
export function* writeDirectly(
  thread: CallFrame,
  inode: Inode,
  from: Uint8Array | null,
  length: number,
  offset: number,
): Task<number> {
  const { host } = thread;
  checkAlignment(thread, offset, length);
  yield* emptyCache(thread, inode, offset, length);
  const data = from === null ? null : from.subarray(0, length);
  const tags = from === null ? tagsFor(thread, inode, offset, length) : null;
  const done = yield* host.fileSystem.direct(inode, true, offset, length, data, tags);
  // A reader may have brought old pages back meanwhile.
  yield* emptyCache(thread, inode, offset, done);
  return done;
}

/** Writes back and drops cached pages of a range. */
function* emptyCache(thread: CallFrame, inode: Inode, offset: number, length: number): Task<void> {
  if (length === 0) return;
  const { cache } = thread.host;
  const first = Math.floor(offset / PAGE_BYTES);
  const count = Math.ceil((offset + length) / PAGE_BYTES) - first;
  do {
    yield* cache.writeBack(inode, WritebackReason.range, first * PAGE_BYTES, count * PAGE_BYTES);
    thread.host.throwWriteError(inode);
  } while (cache.invalidate(inode, first, count) > 0);
}

/** A tag for each block: one for all blocks of a page, as if the page had been written. */
function tagsFor(thread: CallFrame, inode: Inode, offset: number, length: number): Uint32Array {
  const { host } = thread;
  const { blockBytes } = host;
  const tags = new Uint32Array(length / blockBytes);
  const seed = host.nextTagSeed(inode);
  for (let at = 0; at < tags.length; at++) {
    tags[at] = tagOfPage(seed, Math.floor((offset + at * blockBytes) / PAGE_BYTES));
  }
  return tags;
}

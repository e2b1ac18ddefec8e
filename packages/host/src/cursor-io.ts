import type { MaybeTask, Task } from '@flashstack/sim';
import { FsError, OpenFlag, PAGE_BYTES } from '@flashstack/vfs';
import type { CallFrame } from './call-frame.js';
import { checkRead, checkWrite, copy, read, write } from './data-calls.js';
import type { OpenFile } from './open-file.js';

/** Pages (or parts of them) that a range touches. */
export function pagesOf(offset: number, length: number): number {
  return length === 0 ? 0 : Math.floor((offset + length - 1) / PAGE_BYTES) - Math.floor(offset / PAGE_BYTES) + 1;
}

/** `pread`: at an offset, with the CPU time. */
export function readAt(
  thread: CallFrame,
  file: OpenFile,
  into: Uint8Array | null,
  length: number,
  offset: number,
): MaybeTask {
  checkRead(file, into, length, offset);
  const done = read(thread, file, into, length, offset);
  return typeof done === 'number'
    ? thread.haveRead(file, done, offset)
    : thread.wait(counted(thread, file, done, offset, false));
}

/** `pwrite`: at an offset, with the CPU time. As on Linux, a file opened for appending is appended to. */
export function writeAt(
  thread: CallFrame,
  file: OpenFile,
  from: Uint8Array | null,
  length: number,
  offset: number,
): MaybeTask {
  checkWrite(file, from, length, offset);
  const done = write(thread, file, from, length, placeOf(file, offset));
  return typeof done === 'number'
    ? thread.haveWritten(file, done, offset)
    : thread.wait(counted(thread, file, done, offset, true));
}

/** `read`: at the position, which moves. */
export function readNext(thread: CallFrame, file: OpenFile, into: Uint8Array | null, length: number): MaybeTask {
  const { position, cursor } = file;
  checkRead(file, into, length, position);
  if (!cursor.tryLock()) return thread.wait(readLater(thread, file, into, length));
  let done: MaybeTask;
  try {
    done = read(thread, file, into, length, position);
  } catch (error) {
    cursor.unlock();
    throw error;
  }
  if (typeof done !== 'number') return thread.wait(readOn(thread, file, done));
  cursor.unlock();
  file.position = position + done;
  return thread.haveRead(file, done, position);
}

/** `write`: at the position, which moves, or at the end of a file opened for appending. */
export function writeNext(thread: CallFrame, file: OpenFile, from: Uint8Array | null, length: number): MaybeTask {
  const { position, cursor } = file;
  checkWrite(file, from, length, position);
  if (!cursor.tryLock()) return thread.wait(writeLater(thread, file, from, length));
  let done: MaybeTask;
  try {
    done = write(thread, file, from, length, placeOf(file, position));
  } catch (error) {
    cursor.unlock();
    throw error;
  }
  if (typeof done !== 'number') return thread.wait(writeOn(thread, file, done));
  cursor.unlock();
  if (done > 0) file.position = thread.writtenAt + done;
  return thread.haveWritten(file, done, position);
}

/** −1: at the end. */
function placeOf(file: OpenFile, offset: number): number {
  return (file.flags & OpenFlag.append) !== 0 ? -1 : offset;
}

function* counted(
  thread: CallFrame,
  file: OpenFile,
  rest: Task<number>,
  offset: number,
  written: boolean,
): Task<number> {
  const done = yield* rest;
  if (written) thread.countWritten(file, done, offset);
  else thread.countRead(file, done, offset);
  return done;
}

function* readLater(thread: CallFrame, file: OpenFile, into: Uint8Array | null, length: number): Task<number> {
  yield file.cursor;
  return yield* readOn(thread, file, null, into, length);
}

function* readOn(
  thread: CallFrame,
  file: OpenFile,
  begun: Task<number> | null,
  into: Uint8Array | null = null,
  length = 0,
): Task<number> {
  try {
    const { position } = file;
    const rest = begun ?? read(thread, file, into, length, position);
    const done = typeof rest === 'number' ? rest : yield* rest;
    file.position = position + done;
    thread.countRead(file, done, position);
    return done;
  } finally {
    file.cursor.unlock();
  }
}

function* writeLater(thread: CallFrame, file: OpenFile, from: Uint8Array | null, length: number): Task<number> {
  yield file.cursor;
  return yield* writeOn(thread, file, null, from, length);
}

function* writeOn(
  thread: CallFrame,
  file: OpenFile,
  begun: Task<number> | null,
  from: Uint8Array | null = null,
  length = 0,
): Task<number> {
  try {
    const { position } = file;
    const rest = begun ?? write(thread, file, from, length, placeOf(file, position));
    const done = typeof rest === 'number' ? rest : yield* rest;
    if (done > 0) file.position = thread.writtenAt + done;
    thread.countWritten(file, done, position);
    return done;
  } finally {
    file.cursor.unlock();
  }
}

/** `copy_file_range`: from and to positions of its own, or the cursors (−1), which move. */
export function* copyRange(
  thread: CallFrame,
  source: OpenFile,
  sourceOffset: number,
  target: OpenFile,
  targetOffset: number,
  length: number,
): Task<number> {
  checkRead(source, null, length, sourceOffset < 0 ? source.position : sourceOffset);
  checkWrite(target, null, length, targetOffset < 0 ? target.position : targetOffset);
  if ((target.flags & OpenFlag.append) !== 0) throw new FsError('EBADF', 'the target was opened for appending');
  const one = sourceOffset < 0 ? source : null;
  const other = targetOffset < 0 && target !== one ? target : null;
  yield* lockCursors(one, other);
  try {
    const from = sourceOffset < 0 ? source.position : sourceOffset;
    const to = targetOffset < 0 ? target.position : targetOffset;
    const done = yield* copy(thread, source, from, target, to, length);
    if (sourceOffset < 0) source.position = from + done;
    if (targetOffset < 0) target.position = to + done;
    thread.countRead(source, done, from);
    thread.countWritten(target, done, to);
    return done;
  } finally {
    one?.cursor.unlock();
    other?.cursor.unlock();
  }
}

/** Both or none, so that copies to and fro cannot wait for each other. */
function* lockCursors(one: OpenFile | null, other: OpenFile | null): Task<void> {
  let [first, second] = one === null ? [other, one] : [one, other];
  if (first === null) return;
  for (;;) {
    if (!first.cursor.tryLock()) yield first.cursor;
    if (second === null || second.cursor.tryLock()) return;
    first.cursor.unlock();
    [first, second] = [second, first];
  }
}

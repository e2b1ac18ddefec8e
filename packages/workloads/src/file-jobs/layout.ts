import type { Task } from '@flashstack/sim';
import { FileAdvice, FileStatus, FsError, OpenFlag, type Thread } from '@flashstack/vfs';
import { done } from '../files/done.js';
import { makeParents } from '../files/parents.js';
import { type FileJob, kindsOf } from './file-job-options.js';

/** The file of a clone. */
export function jobPath(job: FileJob, clone: number): string {
  const directory = job.directory.endsWith('/') ? job.directory : `${job.directory}/`;
  return `${directory}${job.name}.${clone}.0`;
}

/**
 * Prepares the file of a clone as fio does, outside the measured time: one that is large enough is left alone; readers
 * (and writers with `overwrite`) get one that is written whole and synced, other writers an empty one with its space.
 * Directories that are missing are made.
 */
export function* layOut(thread: Thread, job: FileJob, clone: number): Task<void> {
  const path = jobPath(job, clone);
  const size = yield* sizeOf(thread, path);
  if (size >= job.size) return;
  const filled = kindsOf(job).reads || job.overwrite;
  if (size >= 0) yield* done(thread.unlink(path));
  else yield* makeParents(thread, path);
  const flags = OpenFlag.writeOnly | OpenFlag.create | (filled ? OpenFlag.truncate : 0);
  const fd = yield* done(thread.open(path, flags, 0o644));
  if (job.fallocate === 'native') yield* allocate(thread, fd, job.size);
  if (filled) {
    yield* done(thread.ftruncate(fd, job.size));
    for (let at = 0; at < job.size; at += job.bs) {
      const length = Math.min(job.bs, job.size - at);
      const written = yield* done(thread.write(fd, null, length));
      if (written !== length) throw new FsError('ENOSPC', `${path}: ${at + written} of ${job.size} bytes`);
    }
    yield* done(thread.fsync(fd));
  }
  yield* done(thread.fadvise(fd, 0, job.size, FileAdvice.dontNeed));
  yield* done(thread.close(fd));
}

/** Size of a file, −1 if there is none. */
function* sizeOf(thread: Thread, path: string): Task<number> {
  const status = new FileStatus();
  try {
    yield* done(thread.stat(path, status));
  } catch (error) {
    if (error instanceof FsError && error.code === 'ENOENT') return -1;
    throw error;
  }
  return status.size;
}

function* allocate(thread: Thread, fd: number, size: number): Task<void> {
  try {
    yield* done(thread.fallocate(fd, 0, 0, size));
  } catch (error) {
    // File systems without fallocate are used without, as fio does it.
    if (!(error instanceof FsError && error.code === 'EOPNOTSUPP')) throw error;
  }
}

import type { MaybeTask, Task } from '@flashstack/sim';
import { type DirectoryEntry, FileAdvice, FileKind, type FileStatus, FsError } from '@flashstack/vfs';
import * as attributes from './attribute-calls.js';
import { CallFrame } from './call-frame.js';
import { copyRange, pagesOf, readAt, readNext, writeAt, writeNext } from './cursor-io.js';
import { synchronise } from './data-calls.js';
import * as descriptors from './descriptor-calls.js';

/** System calls of a thread that name files by descriptor. */
export abstract class DescriptorThread extends CallFrame {
  close(fd: number): MaybeTask {
    const { close } = this.begin();
    this.host.release(this.process.files.take(fd));
    return this.finish(0, close);
  }

  dup(fd: number): number {
    this.begin();
    const { files } = this.process;
    const file = files.get(fd);
    const copied = files.add(file);
    file.descriptors++;
    return copied;
  }

  dup2(fd: number, to: number): MaybeTask {
    const { close } = this.begin();
    const { files } = this.process;
    const file = files.get(fd);
    if (fd !== to) {
      const before = files.put(to, file);
      file.descriptors++;
      if (before !== null) this.host.release(before);
    }
    return this.finish(to, close);
  }

  read(fd: number, into: Uint8Array | null, length: number): MaybeTask {
    this.begin();
    return readNext(this, this.process.files.getOpen(fd), into, length);
  }

  pread(fd: number, into: Uint8Array | null, length: number, offset: number): MaybeTask {
    this.begin();
    return readAt(this, this.process.files.getOpen(fd), into, length, offset);
  }

  write(fd: number, from: Uint8Array | null, length: number): MaybeTask {
    this.begin();
    return writeNext(this, this.process.files.getOpen(fd), from, length);
  }

  pwrite(fd: number, from: Uint8Array | null, length: number, offset: number): MaybeTask {
    this.begin();
    return writeAt(this, this.process.files.getOpen(fd), from, length, offset);
  }

  lseek(fd: number, offset: number, whence: number): MaybeTask {
    const { seek } = this.begin();
    const position = descriptors.seek(this, this.process.files.getOpen(fd), offset, whence);
    return typeof position === 'number' ? this.finish(position, seek) : this.wait(position, seek);
  }

  copyRange(from: number, fromOffset: number, to: number, toOffset: number, length: number): MaybeTask {
    this.begin();
    const { files } = this.process;
    return this.wait(copyRange(this, files.getOpen(from), fromOffset, files.getOpen(to), toOffset, length));
  }

  fsync(fd: number): MaybeTask {
    return this.synchronise(fd, false);
  }

  fdatasync(fd: number): MaybeTask {
    return this.synchronise(fd, true);
  }

  msync(fd: number, offset: number, length: number): MaybeTask {
    const { synchronise: cost } = this.begin();
    descriptors.checkExtent(offset, length);
    this.host.stats.syncCalls++;
    return this.wait(synchronise(this, this.process.files.getOpen(fd).inode, false, offset, length), cost);
  }

  syncFileRange(fd: number, offset: number, length: number, flags: number): MaybeTask {
    const { synchronise: cost } = this.begin();
    const { inode } = this.process.files.getOpen(fd);
    return this.wait(descriptors.syncRange(this, inode, offset, length, flags), cost);
  }

  sync(): MaybeTask {
    const { synchronise: cost } = this.begin();
    this.host.stats.syncCalls++;
    return this.wait(descriptors.syncAll(this), cost);
  }

  syncFs(fd: number): MaybeTask {
    const { synchronise: cost } = this.begin();
    const file = this.process.files.getOpen(fd);
    this.host.stats.syncCalls++;
    return this.wait(descriptors.syncFileSystem(this, file), cost);
  }

  ftruncate(fd: number, length: number): MaybeTask {
    const { attributes: cost } = this.begin();
    const file = this.process.files.getOpen(fd);
    if (!file.writable || file.inode.kind !== FileKind.regular) throw new FsError('EINVAL', 'not open for writing');
    return this.wait(attributes.resize(this, file.inode, length), cost);
  }

  fallocate(fd: number, mode: number, offset: number, length: number): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.wait(descriptors.allocate(this, this.process.files.getOpen(fd), mode, offset, length), cost);
  }

  fadvise(fd: number, offset: number, length: number, advice: number): MaybeTask {
    const { seek } = this.begin();
    descriptors.checkExtent(offset, length);
    if (!(advice >= 0 && advice <= FileAdvice.noReuse)) throw new FsError('EINVAL', `advice ${advice}`);
    const { inode, reader } = this.process.files.getOpen(fd);
    const done = this.host.cache.advise(inode, reader, offset, length, advice);
    return typeof done === 'number' ? this.finish(0, seek) : this.wait(nothingAfter(done), seek);
  }

  readahead(fd: number, offset: number, length: number): MaybeTask {
    const { seek } = this.begin();
    const file = this.process.files.getOpen(fd);
    checkForReading(file.readable);
    if (file.inode.kind !== FileKind.regular) throw new FsError('EINVAL', 'not a regular file');
    descriptors.checkExtent(offset, length);
    // A length of 0 is nothing here, but the whole file as advice.
    if (length === 0) return this.finish(0, seek);
    const done = this.host.cache.advise(file.inode, file.reader, offset, length, FileAdvice.willNeed);
    return typeof done === 'number' ? this.finish(0, seek) : this.wait(nothingAfter(done), seek);
  }

  touch(fd: number, offset: number, length: number, write: boolean, from: Uint8Array | null = null): MaybeTask {
    const { fault } = this.begin();
    const file = this.process.files.getOpen(fd);
    const cost = fault * pagesOf(offset, length);
    if (write) return this.wait(descriptors.touchToWrite(this, file, offset, length, from), cost);
    const done = descriptors.touchToRead(this, file, offset, length);
    return typeof done === 'number' ? this.finish(done, cost) : this.wait(done, cost);
  }

  madvise(fd: number, offset: number, length: number, advice: number): MaybeTask {
    const { seek } = this.begin();
    const done = descriptors.adviseMapping(this, this.process.files.getOpen(fd), offset, length, advice);
    return typeof done === 'number' ? this.finish(0, seek) : this.wait(nothingAfter(done), seek);
  }

  fstat(fd: number, out: FileStatus): MaybeTask {
    const { attributes: cost } = this.begin();
    attributes.fillStatus(out, this.process.files.get(fd).inode, this.host.blockBytes);
    return this.finish(0, cost);
  }

  fchmod(fd: number, mode: number): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.wait(attributes.chmod(this, this.process.files.getOpen(fd).inode, mode, `descriptor ${fd}`), cost);
  }

  fchown(fd: number, uid: number, gid: number): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.wait(attributes.chown(this, this.process.files.getOpen(fd).inode, uid, gid, `descriptor ${fd}`), cost);
  }

  readdir(fd: number, out: DirectoryEntry[]): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.wait(descriptors.list(this, this.process.files.getOpen(fd), out), cost);
  }

  umask(mask: number): number {
    this.begin();
    const before = this.process.umask;
    this.process.umask = mask & 0o777;
    return before;
  }

  private synchronise(fd: number, dataOnly: boolean): MaybeTask {
    const { synchronise: cost } = this.begin();
    this.host.stats.syncCalls++;
    return this.wait(synchronise(this, this.process.files.getOpen(fd).inode, dataOnly), cost);
  }
}

function checkForReading(readable: boolean): void {
  if (!readable) throw new FsError('EBADF', 'not open for reading');
}

function* nothingAfter(task: Task<number>): Task<number> {
  yield* task;
  return 0;
}

import { Mutex, type Simulator } from '@flashstack/sim';
import { type FileCache, FsError, type Inode, MemoryAdvice, OpenFlag } from '@flashstack/vfs';
import type { Dentry } from './dentry-cache.js';

/** An open file description: what descriptors made by `dup` and `fork` share. */
export class OpenFile {
  readonly inode: Inode;
  /** `OpenFlag` bits. */
  readonly flags: number;
  /** Where a directory or path descriptor stands in the tree; null for files. */
  readonly dentry: Dentry | null;
  /** The cache's state of reading. */
  readonly reader: object;
  /** Bytes; for a directory the position of `readdir`. */
  position = 0;
  /** `MemoryAdvice` of the shared mapping that `touch` goes through. */
  mappingAdvice: number = MemoryAdvice.normal;
  /** What `syncfs` through it has told of failures of write-back, see `WriteErrors`. */
  toldErrors: number;
  /** `link` may give the file its first name: it was made by O_TMPFILE, and has not had one yet. */
  linkable: boolean;
  /** Descriptors that refer to it. */
  descriptors = 1;
  /** Held by a call that moves the position and waits. */
  readonly cursor: Mutex;

  constructor(simulator: Simulator, cache: FileCache, inode: Inode, flags: number, dentry: Dentry | null) {
    this.inode = inode;
    this.flags = flags;
    this.dentry = dentry;
    this.reader = cache.reader(inode);
    this.toldErrors = cache.errors.begin();
    this.linkable = (flags & (OpenFlag.temporary | OpenFlag.exclusive)) === OpenFlag.temporary;
    this.cursor = new Mutex(simulator, 'file position');
  }

  get readable(): boolean {
    return (this.flags & OpenFlag.accessMode) !== OpenFlag.writeOnly && (this.flags & OpenFlag.path) === 0;
  }

  get writable(): boolean {
    return (this.flags & OpenFlag.accessMode) !== OpenFlag.readOnly && (this.flags & OpenFlag.path) === 0;
  }
}

/** The descriptors of a process. A new one gets the smallest free number. */
export class DescriptorTable {
  private readonly files: (OpenFile | null)[] = [];
  private readonly limit: number;
  /** Nothing below it is free. */
  private lowest = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** @throws FsError EBADF */
  get(fd: number): OpenFile {
    const file = this.files[fd];
    if (file === undefined || file === null) throw new FsError('EBADF', `descriptor ${fd}`);
    return file;
  }

  /** As `get`, but not a descriptor that is only a place in the tree. @throws FsError EBADF */
  getOpen(fd: number): OpenFile {
    const file = this.get(fd);
    if ((file.flags & OpenFlag.path) !== 0) throw new FsError('EBADF', `descriptor ${fd} was opened with O_PATH`);
    return file;
  }

  /** @throws FsError EMFILE if every number is taken. */
  reserve(): number {
    let fd = this.lowest;
    while (fd < this.files.length && this.files[fd] !== null) fd++;
    this.lowest = fd;
    if (fd >= this.limit) throw new FsError('EMFILE', `the process has ${this.limit} open files`);
    return fd;
  }

  /** Puts a file at the smallest free number. @throws FsError EMFILE */
  add(file: OpenFile): number {
    const fd = this.reserve();
    this.files[fd] = file;
    return fd;
  }

  /** Puts a file at a number, in place of what it returns. @throws FsError EBADF beyond the limit. */
  put(fd: number, file: OpenFile): OpenFile | null {
    if (!Number.isSafeInteger(fd) || fd < 0 || fd >= this.limit) throw new FsError('EBADF', `descriptor ${fd}`);
    while (this.files.length < fd) this.files.push(null);
    const before = this.files[fd] ?? null;
    this.files[fd] = file;
    return before;
  }

  /** Takes a file out. @throws FsError EBADF */
  take(fd: number): OpenFile {
    const file = this.get(fd);
    this.files[fd] = null;
    if (fd < this.lowest) this.lowest = fd;
    return file;
  }

  /** A table with the same files, each of which has one more descriptor. */
  fork(): DescriptorTable {
    const copy = new DescriptorTable(this.limit);
    for (const file of this.files) {
      if (file !== null) file.descriptors++;
      copy.files.push(file);
    }
    return copy;
  }

  /** Numbers in use, ascending. */
  open(): number[] {
    return this.files.flatMap((file, fd) => (file === null ? [] : [fd]));
  }
}

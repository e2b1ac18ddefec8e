import { type BlockDevice, BlockOp, IoBatch, Origin } from '@flashstack/block-device';
import type { MaybeTask, Task } from '@flashstack/sim';
import {
  type DirectoryEntry,
  FileKind,
  type FileSystem,
  type FsCapabilities,
  type FsEnvironment,
  FsError,
  type FsStatus,
  Inode,
  PAGE_BYTES,
  type PageIo,
} from '@flashstack/vfs';

// biome-ignore lint/correctness/useYield: it has nothing to wait for.
function* done<T>(value: T): Task<T> {
  return value;
}

function refuse(what: string): never {
  throw new FsError('EOPNOTSUPP', what);
}

/**
 * The least file system on a device: files `0`, `1`, … of one size, one behind the other, without metadata. What is synced
 * survives a power cut. It shows what a host and a block layer do with a device below.
 */
export class SlabFs implements FileSystem {
  readonly capabilities: FsCapabilities = {
    name: 'slab',
    nameBytes: 255,
    fileBytes: Number.MAX_SAFE_INTEGER,
    links: 1,
    symlinks: false,
    specialFiles: false,
    unnamedFiles: false,
    sparse: false,
    seeksHoles: false,
    fallocate: [],
    attributeBytes: 0,
    directBytes: PAGE_BYTES,
    renameExchange: false,
    timeNs: 1,
    durable: true,
  };
  private readonly device: BlockDevice;
  private readonly fileBytes: number;
  private readonly directory: Inode;
  private readonly files: Inode[] = [];

  constructor(environment: FsEnvironment, device: BlockDevice, files: number, fileBytes: number) {
    this.device = device;
    this.fileBytes = fileBytes;
    this.directory = new Inode(environment.simulator, 1, FileKind.directory);
    this.directory.mode = 0o755;
    this.directory.links = 2;
    for (let at = 0; at < files; at++) {
      const inode = new Inode(environment.simulator, at + 2, FileKind.regular);
      inode.mode = 0o644;
      inode.links = 1;
      inode.size = fileBytes;
      this.files.push(inode);
    }
  }

  mount(): Task<void> {
    return done(undefined);
  }

  unmount(): Task<void> {
    return this.sync();
  }

  daemons(): [] {
    return [];
  }

  root(): Inode {
    return this.directory;
  }

  lookup(_directory: Inode, name: string): Task<Inode | null> {
    return done(this.files[Number(name)] ?? null);
  }

  // biome-ignore lint/correctness/useYield: it has nothing to wait for.
  *readdir(_directory: Inode, position: number, limit: number, out: DirectoryEntry[]): Task<void> {
    for (let at = position; at < Math.min(this.files.length, position + limit); at++) {
      out.push({ name: String(at), ino: at + 2, kind: FileKind.regular, next: at + 1 });
    }
  }

  private blockOf(inode: Inode, offset: number): number {
    return ((inode.ino - 2) * this.fileBytes + offset) / this.device.blockBytes;
  }

  beginWrite(inode: Inode, offset: number, length: number): MaybeTask {
    if (offset + length > inode.size) throw new FsError('ENOSPC', `${offset + length} bytes`);
    return 0;
  }

  endWrite(): void {}

  readPages(inode: Inode, first: number, count: number, io: PageIo): MaybeTask {
    const offset = first * PAGE_BYTES;
    io.read(offset, count * PAGE_BYTES, this.blockOf(inode, offset), Origin.fileData);
    return 0;
  }

  writePages(inode: Inode, pages: Int32Array, count: number, _reason: number, io: PageIo): MaybeTask {
    for (let at = 0; at < count; at++) {
      const offset = pages[at] * PAGE_BYTES;
      io.write(offset, PAGE_BYTES, this.blockOf(inode, offset), Origin.fileData, 0, 0);
    }
    return count;
  }

  *direct(
    inode: Inode,
    write: boolean,
    offset: number,
    length: number,
    data: Uint8Array | null,
    tags: Uint32Array | null,
  ): Task<number> {
    const batch = new IoBatch(this.device);
    const count = length / this.device.blockBytes;
    const request = batch.add(write ? BlockOp.write : BlockOp.read, this.blockOf(inode, offset), count);
    request.data = data;
    request.tags = tags;
    request.origin = Origin.fileData;
    yield batch;
    if (batch.status !== 0) throw new FsError('EIO', 'direct I/O');
    return length;
  }

  fsync(): Task<void> {
    return this.sync();
  }

  *sync(): Task<void> {
    const batch = new IoBatch(this.device);
    batch.add(BlockOp.flush, 0, 0);
    yield batch;
    if (batch.status !== 0) throw new FsError('EIO', 'flush');
  }

  evict(): Task<void> {
    return done(undefined);
  }

  status(): FsStatus {
    const blocks = (this.files.length * this.fileBytes) / PAGE_BYTES;
    return {
      blockBytes: this.device.blockBytes,
      blocks,
      free: 0,
      available: 0,
      inodes: this.files.length,
      freeInodes: 0,
    };
  }

  accessed(): void {}

  setAttributes(): Task<void> {
    return refuse('attributes');
  }

  create(): Task<Inode> {
    return refuse('create');
  }

  link(): Task<void> {
    return refuse('link');
  }

  unlink(): Task<void> {
    return refuse('unlink');
  }

  rmdir(): Task<void> {
    return refuse('rmdir');
  }

  rename(): Task<void> {
    return refuse('rename');
  }

  readlink(): Task<string> {
    return refuse('readlink');
  }

  fallocate(): Task<void> {
    return refuse('fallocate');
  }

  seek(): Task<number> {
    return refuse('seek');
  }

  getAttribute(): Task<Uint8Array | null> {
    return refuse('attributes');
  }

  setAttribute(): Task<void> {
    return refuse('attributes');
  }

  listAttributes(): Task<string[]> {
    return refuse('attributes');
  }
}

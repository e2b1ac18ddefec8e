import { type BlockDevice, type BlockRequest, MemoryDevice, Origin, validateRequest } from '@flashstack/block-device';
import { type EventTarget, type MaybeTask, ProcessGroup, runTask, Simulator, type Task } from '@flashstack/sim';
import { FileKind, FsError, Inode, PAGE_BYTES, type PageIo } from '@flashstack/vfs';
import {
  Linux6Readahead,
  LinuxPageCache,
  type LinuxPageCacheOptions,
  type PageBackend,
  type PageCacheOptions,
  PageMemory,
} from '../src/index.js';

/** Full counts, and those of the long profile. */
export const full: boolean = process.env.CI !== undefined;
export const long: boolean = process.env.FLASHSTACK_LONG !== undefined;

/** Every file is one extent of a device: page p of file n is at `n * filePages + p`, in pages. */
export class ExtentBackend implements PageBackend {
  /** Calls: pages asked for, pages written with the reason. */
  readonly reads: [number, number][] = [];
  readonly writes: [number[], number][] = [];
  /** Pages taken by one call at most. */
  takes: number = Number.POSITIVE_INFINITY;
  /** Code of the error that the next call throws, or null. */
  failure: 'EIO' | 'ENOSPC' | null = null;
  private readonly filePages: number;
  private readonly blocksPerPage: number;

  constructor(device: BlockDevice, filePages: number) {
    this.filePages = filePages;
    this.blocksPerPage = PAGE_BYTES / device.blockBytes;
  }

  readPages(inode: Inode, first: number, count: number, io: PageIo): number {
    this.reads.push([first, count]);
    this.fail();
    io.read(first * PAGE_BYTES, count * PAGE_BYTES, this.blockOf(inode, first), Origin.fileData);
    return 0;
  }

  writePages(inode: Inode, pages: Int32Array, count: number, reason: number, io: PageIo): number {
    this.writes.push([[...pages.subarray(0, count)], reason]);
    this.fail();
    const taken = Math.min(count, this.takes);
    for (const page of pages.subarray(0, taken)) {
      io.write(page * PAGE_BYTES, PAGE_BYTES, this.blockOf(inode, page), Origin.fileData, 0, 0);
    }
    return taken;
  }

  blockOf({ ino }: Inode, page: number): number {
    return (ino * this.filePages + page) * this.blocksPerPage;
  }

  private fail(): void {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw new FsError(failure, 'as the test wants it');
  }
}

/** Serves one request after the other, each block in the same time; keeps nothing. */
export class SerialDevice implements BlockDevice, EventTarget {
  readonly blockBytes: number = PAGE_BYTES;
  readonly blockCount: number = 1 << 20;
  readonly features = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'nothing' } as const;
  private readonly simulator: Simulator;
  private readonly blockNs: number;
  private readonly requests: BlockRequest[] = [];
  private busyUntilNs = 0;

  constructor(simulator: Simulator, blockNs: number) {
    this.simulator = simulator;
    this.blockNs = blockNs;
  }

  submit(request: BlockRequest): void {
    validateRequest(this, request);
    this.requests.push(request);
    this.busyUntilNs = Math.max(this.simulator.now, this.busyUntilNs) + request.count * this.blockNs;
    this.simulator.at(this.busyUntilNs, this, 0);
  }

  fire(): void {
    const request = this.requests.shift() as BlockRequest;
    request.status = 0;
    request.owner.ioDone(request);
  }
}

export interface StackOptions {
  readonly memory?: PageCacheOptions;
  readonly cache?: Partial<LinuxPageCacheOptions>;
  readonly device?: (simulator: Simulator) => BlockDevice;
  readonly filePages?: number;
  readonly daemon?: boolean;
}

/** A cache over an `ExtentBackend`. */
export class Stack {
  readonly simulator: Simulator = new Simulator();
  readonly device: BlockDevice;
  readonly memory: PageMemory;
  readonly cache: LinuxPageCache;
  readonly backend: ExtentBackend;
  private files = 0;

  constructor(options: StackOptions = {}) {
    const filePages = options.filePages ?? 4096;
    this.device = options.device?.(this.simulator) ?? new MemoryDevice({ blockCount: 1 << 20 });
    this.memory = new PageMemory(this.simulator, options.memory);
    const limits = { raPages: 32, ioPages: 320 };
    this.cache = new LinuxPageCache(this.memory, this.device, {
      policy: new Linux6Readahead(),
      limits,
      ...options.cache,
    });
    this.backend = new ExtentBackend(this.device, filePages);
    this.cache.attach(this.backend);
    if (options.daemon !== true) return;
    const group = new ProcessGroup('host');
    for (const { name, task } of this.cache.daemons()) this.simulator.spawn(name, task, { group, daemon: true });
  }

  /** A file of so many bytes. */
  file(size: number): Inode {
    const inode = new Inode(this.simulator, this.files++, FileKind.regular);
    inode.size = size;
    return inode;
  }

  run<T>(task: Task<T>): T {
    return runTask(this.simulator, task);
  }

  /** The result of an operation, after whatever it waits for. */
  finish(operation: MaybeTask): number {
    return typeof operation === 'number' ? operation : this.run(operation);
  }

  /** Reads with a reader of its own. */
  read(inode: Inode, offset: number, length: number, into: Uint8Array | null = null): number {
    return this.finish(this.cache.read(inode, this.cache.reader(inode), offset, length, into));
  }

  /** Writes as a host does: the size follows. */
  write(inode: Inode, offset: number, length: number, from: Uint8Array | null = null, seed: number = 1): number {
    const written = this.finish(this.cache.write(inode, offset, length, from, seed));
    inode.size = Math.max(inode.size, offset + written);
    return written;
  }
}

import { Condition, type Simulator, type Task } from '@flashstack/sim';
import { type FileCache, type FileSystem, FsError, type Inode, WritebackReason } from '@flashstack/vfs';
import type { InodeReferences } from './dentry-cache.js';

/** Counts who refers to inodes, and lets the file system evict those that nobody refers to any more. */
export class InodeTable implements InodeReferences {
  /** Inodes evicted. */
  evictions = 0;
  /** Evictions that lost something: data that could not be written, or what the file system could not set free. */
  lostWrites = 0;
  private readonly fileSystem: FileSystem;
  private readonly cache: FileCache;
  private readonly unused: Inode[] = [];
  private readonly evicting: Set<Inode> = new Set();
  private readonly evicted: Condition;

  constructor(simulator: Simulator, fileSystem: FileSystem, cache: FileCache) {
    this.fileSystem = fileSystem;
    this.cache = cache;
    this.evicted = new Condition(simulator, 'inodes being evicted');
  }

  /** Somebody must call `reap` soon. */
  get pending(): boolean {
    return this.unused.length > 0;
  }

  take(inode: Inode): void {
    inode.references++;
  }

  drop(inode: Inode): void {
    if (--inode.references === 0) this.unused.push(inode);
  }

  /** True while the file system takes the inode out of memory: it must not be used, but looked up afresh after `settled`. */
  isLeaving(inode: Inode): boolean {
    return this.evicting.has(inode);
  }

  /** Waits until an inode that was leaving has left. */
  *settled(inode: Inode): Task<void> {
    while (this.evicting.has(inode)) yield this.evicted;
  }

  /** Evicts what nobody refers to. To be called without locks. */
  *reap(): Task<void> {
    for (let inode = this.unused.shift(); inode !== undefined; inode = this.unused.shift()) {
      if (inode.references > 0 || this.evicting.has(inode)) continue;
      this.evicting.add(inode);
      try {
        yield* this.evict(inode);
      } catch (error) {
        // Whoever's call this happens in has done what it was asked.
        if (!(error instanceof FsError)) throw error;
        this.lostWrites++;
      } finally {
        this.evicting.delete(inode);
        this.evicted.notifyAll();
      }
    }
  }

  private *evict(inode: Inode): Task<void> {
    const { cache, fileSystem } = this;
    if (inode.links > 0) {
      yield* cache.writeBack(inode, WritebackReason.background);
      if (cache.takeError(inode) !== 0) this.lostWrites++;
      cache.forget(inode);
    }
    this.evictions++;
    yield* fileSystem.evict(inode);
  }
}

import type { BlockDevice } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FileKind, type FsEnvironment, FsError, type Inode, Stamp } from '@flashstack/vfs';
import { MOST_PAGES } from './block-map.js';
import type { Directory } from './directory.js';
import { ROOT } from './format.js';
import { Inodes } from './inodes.js';
import type { Journal } from './journal.js';
import { BLOCK_BYTES, type Layout } from './layout.js';
import { Metadata } from './metadata.js';
import { nodeOf } from './node.js';
import { type Planted, SOUND } from './planted.js';

const CHANGED = Stamp.modified | Stamp.changed;

/** A mounted volume: its structures, and the changes that several operations share. */
export class Volume {
  readonly layout: Layout;
  readonly journal: Journal;
  readonly metadata: Metadata;
  readonly inodes: Inodes;
  private readonly environment: FsEnvironment;
  private readonly planted: Planted;
  private top: Inode | null = null;

  constructor(
    device: BlockDevice,
    environment: FsEnvironment,
    layout: Layout,
    journal: Journal,
    planted: Planted = SOUND,
  ) {
    this.planted = planted;
    this.layout = layout;
    this.journal = journal;
    this.environment = environment;
    this.metadata = new Metadata(device, layout, () => journal.running, planted);
    this.inodes = new Inodes(environment.simulator, layout, this.metadata);
  }

  get root(): Inode {
    if (this.top === null) throw new Error('the volume is not loaded');
    return this.top;
  }

  /** Reads the maps, and frees what lost its last name before a power cut. @throws FsError EIO, EUCLEAN */
  *load(): Task<void> {
    yield* this.metadata.loadMaps();
    const orphans = this.inodes.scan();
    this.top = yield* this.inodes.get(ROOT);
    if (this.top.kind !== FileKind.directory) throw new FsError('EUCLEAN', `inode ${ROOT}: the root is no directory`);
    if (this.top.links === 0) throw new FsError('EUCLEAN', `inode ${ROOT}: the root has no links`);
    if (this.planted.has('orphans-kept')) return;
    for (const ino of orphans) this.drop(yield* this.inodes.get(ino));
  }

  /** Returns when so many blocks can be taken and the transaction has room. @throws FsError ENOSPC, EROFS, EIO */
  *room(needed: () => number): Task<void> {
    const { journal, metadata } = this;
    for (;;) {
      journal.demandSound();
      if (!journal.roomy) yield* journal.wait(journal.running.tid);
      else if (needed() <= metadata.available) return;
      else if (metadata.waiting) yield* journal.checkpoint();
      else throw new FsError('ENOSPC');
    }
  }

  /** An inode has changed. `data`: in what is needed to read its data. */
  touch(inode: Inode, times: number, data: boolean = true): void {
    const { running } = this.journal;
    const node = nodeOf(inode);
    inode.stamp(times, this.environment.clock);
    running.inodes.add(inode);
    node.tid = running.tid;
    if (data) node.dataTid = running.tid;
  }

  /** A new entry, or another inode for the one of this name. There is room. */
  enter(directory: Inode, entries: Directory, name: string, inode: Inode): void {
    const before = this.planted.has('name-not-logged') ? new Set(this.journal.running.blocks) : null;
    entries.set(name, inode.ino, inode.kind);
    if (before !== null) this.unlog(before);
    directory.sectors = nodeOf(directory).map.blocks * 8;
    this.touch(directory, CHANGED);
  }

  leave(directory: Inode, entries: Directory, name: string): void {
    const before = this.planted.has('removal-not-logged') ? new Set(this.journal.running.blocks) : null;
    entries.delete(name);
    if (before !== null) this.unlog(before);
    this.touch(directory, CHANGED);
  }

  /** For planted defects: what has become part of the transaction is no part of it. */
  private unlog(before: ReadonlySet<number>): void {
    const { blocks } = this.journal.running;
    for (const block of blocks) if (!before.has(block)) blocks.delete(block);
  }

  /** A directory has moved to another one. */
  adopt(inode: Inode, from: Inode, to: Inode): void {
    if (inode.kind !== FileKind.directory || this.planted.has('parent-not-changed')) return;
    nodeOf(inode).parent = to.ino;
    from.links--;
    to.links++;
    this.touch(from, 0);
    this.touch(to, 0);
  }

  /** The text of a symbolic link goes into a block of its own. */
  writeTarget(inode: Inode, target: string): void {
    const bytes = this.metadata.change(nodeOf(inode).map.allocate(0, true));
    for (let at = 0; at < target.length; at++) bytes[at] = target.charCodeAt(at);
    inode.size = target.length;
    inode.sectors = 8;
  }

  /** Frees all of an inode. */
  drop(inode: Inode): void {
    const { running } = this.journal;
    running.inodes.delete(inode);
    running.ordered.delete(inode);
    nodeOf(inode).map.truncate(0);
    this.inodes.release(inode, running);
  }

  /** Truncates or extends a file. @throws FsError EFBIG, EROFS, EIO */
  *resize(inode: Inode, size: number): Task<void> {
    if (size > MOST_PAGES * BLOCK_BYTES) throw new FsError('EFBIG');
    yield* this.room(() => 0);
    if (size > inode.size) {
      yield* this.zeroTail(inode);
      inode.size = size;
      return;
    }
    const { cache } = this.environment;
    const first = Math.ceil(size / BLOCK_BYTES);
    const count = Math.ceil(inode.size / BLOCK_BYTES) - first;
    if (count > 0) {
      const settled = cache.settle(inode, first, count);
      if (typeof settled !== 'number') yield* settled;
      cache.mapping(inode).drop(first, count);
    }
    inode.size = size;
    const { map } = nodeOf(inode);
    map.truncate(first);
    inode.sectors = map.blocks * 8;
    const at = size % BLOCK_BYTES;
    if (at > 0) cache.mapping(inode).zero(first - 1, at, BLOCK_BYTES - at);
  }

  /** Takes promises for the pages of a write that cannot go on at once. */
  *beginWrite(inode: Inode, end: number, first: number, count: number): Task<number> {
    const { map } = nodeOf(inode);
    if (end > inode.size) yield* this.zeroTail(inode);
    yield* this.room(() => map.missing(first, count));
    map.promise(first, count);
    inode.sectors = map.blocks * 8;
    return 0;
  }

  /**
   * Before a file becomes longer: what its last block holds behind the end, which may be older contents, becomes zero, and
   * reaches the device before the new size is committed.
   */
  private *zeroTail(inode: Inode): Task<void> {
    const at = inode.size % BLOCK_BYTES;
    if (at === 0) return;
    const page = Math.floor(inode.size / BLOCK_BYTES);
    const mapped = nodeOf(inode).map.get(page) !== 0;
    const { cache } = this.environment;
    const mapping = cache.mapping(inode);
    while (mapped && !mapping.isCached(page)) {
      const loaded = cache.load(inode, page, 1);
      if (typeof loaded !== 'number') yield* loaded;
    }
    mapping.zero(page, at, BLOCK_BYTES - at);
    if (!mapped || this.planted.has('tail-not-zeroed')) return;
    mapping.setDirty(page);
    this.journal.running.order(inode, page, page);
  }
}

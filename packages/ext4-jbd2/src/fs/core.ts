import { Origin } from '@flashstack/block-device';
import type { Simulator, Task } from '@flashstack/sim';
import { type FsEnvironment, FsError, type Inode } from '@flashstack/vfs';
import { putByteString } from '../format/bytes.js';
import type { Checksums } from '../format/checksums.js';
import { initNode, ROOT_ENTRIES } from '../format/extents.js';
import { Compat } from '../format/features.js';
import type { Geometry } from '../format/superblock.js';
import { BlockKind, type MetadataBuffer } from '../journal/buffer.js';
import type { Journal } from '../journal/journal.js';
import type { Transaction } from '../journal/transaction.js';
import type { DeviceBlocks } from '../volume/device-blocks.js';
import { Attributes } from './attributes.js';
import { BlockAllocator } from './block-allocator.js';
import type { BufferCache } from './buffer-cache.js';
import { DirectIo } from './direct-io.js';
import { Directories } from './directory.js';
import { ExtentTree } from './extent-tree.js';
import { Files } from './files.js';
import type { Groups } from './groups.js';
import { InodeAllocator } from './inode-allocator.js';
import { Inodes } from './inodes.js';
import { nodeOf } from './node.js';
import { Orphans } from './orphans.js';
import type { SuperblockState } from './superblock-state.js';

/** Largest file, bytes: half of what the format allows, because a page cache numbers pages in 31 bits. */
export const FILE_BYTES: number = (2 ** 31 - 1) * 4096;
/** Blocks that freeing an inode may change. */
const FREE_CREDITS = 8;

/** The parts of a mounted file system, which know each other through it. */
export class Core {
  readonly environment: FsEnvironment;
  readonly io: DeviceBlocks;
  readonly geometry: Geometry;
  readonly sums: Checksums;
  readonly cache: BufferCache;
  readonly groups: Groups;
  readonly journal: Journal;
  readonly superblock: SuperblockState;
  readonly blocks: BlockAllocator;
  readonly inodeNumbers: InodeAllocator;
  readonly tree: ExtentTree;
  readonly inodes: Inodes;
  readonly files: Files;
  readonly directIo: DirectIo;
  readonly directories: Directories;
  readonly orphans: Orphans;
  readonly attributes: Attributes;

  constructor(
    environment: FsEnvironment,
    io: DeviceBlocks,
    geometry: Geometry,
    sums: Checksums,
    cache: BufferCache,
    groups: Groups,
    journal: Journal,
    superblock: SuperblockState,
  ) {
    this.environment = environment;
    this.io = io;
    this.geometry = geometry;
    this.sums = sums;
    this.cache = cache;
    this.groups = groups;
    this.journal = journal;
    this.superblock = superblock;
    this.blocks = new BlockAllocator(groups, journal);
    this.inodeNumbers = new InodeAllocator(groups, journal);
    this.tree = new ExtentTree(this);
    this.inodes = new Inodes(this);
    this.files = new Files(this);
    this.directIo = new DirectIo(this);
    this.directories = new Directories(this);
    this.orphans = new Orphans(this);
    this.attributes = new Attributes(this);
  }

  get simulator(): Simulator {
    return this.environment.simulator;
  }

  /** Directories that outgrow a block get a hash index. */
  get indexesDirectories(): boolean {
    return (this.geometry.compat & Compat.dirIndex) !== 0;
  }

  /** Waits until so many blocks can be promised. @throws FsError ENOSPC, EROFS, EIO */
  *makeRoom(blocks: number): Task<void> {
    while (this.blocks.available < blocks) {
      if (this.blocks.waiting === 0) throw new FsError('ENOSPC');
      yield* this.journal.commitAll();
    }
  }

  /** Frees an inode that has no names, and all that it has. */
  *free(inode: Inode): Task<void> {
    const node = nodeOf(inode);
    this.files.dropKept(node);
    yield* this.files.release(inode, 0);
    const transaction = yield* this.journal.open(FREE_CREDITS);
    if (node.attributeBlock !== 0) yield* this.attributes.drop(transaction, inode);
    this.orphans.remove(transaction, inode);
    node.freed = true;
    inode.size = 0;
    node.diskSize = 0;
    yield* this.inodeNumbers.free(transaction, inode.ino, inode.kind);
    this.inodes.store(inode, transaction);
    transaction.inodes.delete(inode);
    this.inodes.forget(inode);
    this.journal.close(transaction, FREE_CREDITS);
  }

  /** The block that holds the target of a symbolic link. */
  *symlinkBlock(inode: Inode): Task<MetadataBuffer> {
    const { map, seed } = nodeOf(inode);
    const where = `inode ${inode.ino}, symbolic link`;
    if (inode.size > this.geometry.blockBytes || map.stateOf(0) !== 1)
      throw new FsError('EUCLEAN', `${where}: its block is missing`);
    return yield* this.cache.load(map.blockOf(0), BlockKind.symlink, seed, Origin.symlink, where, null);
  }

  /** Puts the target of a symbolic link into a block of its own. */
  *makeSymlinkBlock(transaction: Transaction, inode: Inode, target: string): Task<void> {
    const node = nodeOf(inode);
    initNode(node.root, 0, ROOT_ENTRIES, 0);
    const block = yield* this.files.allocateMetadata(transaction, inode, 0);
    const buffer = this.cache.create(block, BlockKind.symlink, node.seed, Origin.symlink);
    this.journal.change(buffer, transaction);
    putByteString(buffer.bytes, 0, target);
    inode.size = target.length;
    node.diskSize = target.length;
  }

  /** An inode has changed: its record is written when the transaction commits. `data`: in what reading its bytes needs. */
  touch(inode: Inode, transaction: Transaction, data: boolean = true): void {
    const node = nodeOf(inode);
    this.journal.touch(inode, transaction);
    node.tid = transaction.tid;
    if (data) node.dataTid = transaction.tid;
  }
}

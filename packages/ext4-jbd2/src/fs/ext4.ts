import type { BlockDevice } from '@flashstack/block-device';
import type { MaybeTask, Task } from '@flashstack/sim';
import {
  type AttributeChange,
  type DirectoryEntry,
  FileKind,
  type FileSystem,
  type FsCapabilities,
  type FsEnvironment,
  FsError,
  type FsStatus,
  type Inode,
  type NewInode,
  type PageIo,
  RenameFlag,
  Stamp,
  WritebackReason,
} from '@flashstack/vfs';
import { Ino } from '../format/superblock.js';
import type { JournalOptions, JournalStats } from '../journal/journal.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';
import { CoreJournalClient } from './journal-client.js';
import { MetadataFlusher } from './metadata-flusher.js';
import { markClean, mountVolume } from './mount.js';
import { adopt, CHANGED, enter, leave, lose, loseDirectory, stamp, writeTarget } from './names.js';
import { nodeOf } from './node.js';
import { capabilities, type Ext4Options, MOST_LINKS, resolveExt4Options } from './options.js';
import { Ranges } from './ranges.js';

/** Blocks that a change of entries may touch. */
const NAME_CREDITS = 40;
/** Blocks that a new entry may need: a leaf, blocks of the index, nodes of extents. */
const ENTRY_BLOCKS = 6;

/**
 * EXT4 on a device: what it writes, e2fsck accepts and Linux mounts; what Linux left, it recovers. Metadata go through the
 * journal (JBD2), contents are in their places before the metadata that lead to them are committed (`data=ordered`), and
 * get those places when they are written back (delayed allocation).
 */
export class Ext4 implements FileSystem {
  readonly capabilities: FsCapabilities = capabilities;
  private readonly device: BlockDevice;
  private readonly environment: FsEnvironment;
  private readonly options: JournalOptions;
  private mounted: Core | null = null;
  private ranges: Ranges | null = null;
  private top: Inode | null = null;
  private flusher: MetadataFlusher | null = null;

  /** @throws InputError for an unknown option or a bad value. */
  constructor(device: BlockDevice, environment: FsEnvironment, options: Ext4Options = {}) {
    this.device = device;
    this.environment = environment;
    this.options = resolveExt4Options(options);
  }

  /** What the journal has done since mount. */
  get journal(): JournalStats {
    return this.core.journal.stats;
  }

  *mount(): Task<void> {
    if (this.mounted !== null) throw new FsError('EBUSY', 'mounted already');
    const client = new CoreJournalClient(this.environment);
    const core = yield* mountVolume(this.device, this.environment, client, this.options);
    client.core = core;
    this.mounted = core;
    this.flusher = new MetadataFlusher(core);
    this.ranges = new Ranges(core);
    core.blocks.discardKept = () => {
      for (const inode of core.inodes.all()) core.files.dropKept(nodeOf(inode));
    };
    try {
      this.top = yield* core.inodes.get(Ino.root);
      if (this.top.kind !== FileKind.directory)
        throw new FsError('EUCLEAN', `inode ${Ino.root}: the root is no directory`);
      const orphans = yield* core.orphans.load();
      yield* core.orphans.process(orphans);
    } catch (error) {
      this.mounted = null;
      throw error;
    }
  }

  *unmount(): Task<void> {
    const { core } = this;
    if (this.flusher !== null) yield* this.flusher.stop();
    try {
      yield* core.journal.stop();
      if (core.journal.failure === null) yield* markClean(core);
    } finally {
      this.mounted = null;
    }
  }

  daemons(): readonly { readonly name: string; readonly task: Task<void> }[] {
    const { core, flusher } = this;
    if (flusher === null) return [];
    return [
      { name: 'jbd2', task: core.journal.run() },
      { name: 'ext4 metadata write-back', task: flusher.run() },
    ];
  }

  root(): Inode {
    if (this.top === null) throw new FsError('EINVAL', 'not mounted');
    return this.top;
  }

  *lookup(directory: Inode, name: string): Task<Inode | null> {
    const ino = yield* this.core.directories.lookup(directory, name);
    return ino === 0 ? null : yield* this.core.inodes.get(ino);
  }

  *create(directory: Inode, name: string | null, what: NewInode): Task<Inode> {
    const { core } = this;
    return yield* this.change(ENTRY_BLOCKS + 2, function* (transaction) {
      const ino = yield* core.inodeNumbers.take(transaction, directory.ino, name ?? '', what.kind);
      const inode = yield* core.inodes.make(transaction, ino, what);
      if (what.kind === FileKind.symlink) yield* writeTarget(core, transaction, inode, what.target ?? '');
      if (what.kind === FileKind.directory) {
        yield* core.directories.create(transaction, inode, directory.ino);
        inode.links = 2;
        directory.links++;
      } else inode.links = name === null ? 0 : 1;
      if (name === null) core.orphans.add(transaction, inode);
      else yield* enter(core, transaction, directory, name, inode);
      return inode;
    });
  }

  *link(inode: Inode, directory: Inode, name: string): Task<void> {
    const { core } = this;
    if (inode.links >= MOST_LINKS) throw new FsError('EMLINK');
    yield* this.change(ENTRY_BLOCKS, function* (transaction) {
      yield* enter(core, transaction, directory, name, inode);
      if (inode.links === 0) core.orphans.remove(transaction, inode);
      inode.links++;
      stamp(core, transaction, inode, Stamp.changed);
    });
  }

  *unlink(directory: Inode, name: string, inode: Inode): Task<void> {
    const { core } = this;
    yield* this.change(0, function* (transaction) {
      yield* leave(core, transaction, directory, name);
      lose(core, transaction, inode);
    });
  }

  *rmdir(directory: Inode, name: string, inode: Inode): Task<void> {
    const { core } = this;
    yield* this.change(0, function* (transaction) {
      if (!(yield* core.directories.isEmpty(inode))) throw new FsError('ENOTEMPTY');
      yield* leave(core, transaction, directory, name);
      directory.links--;
      loseDirectory(core, transaction, inode);
    });
  }

  *rename(
    from: Inode,
    name: string,
    inode: Inode,
    to: Inode,
    newName: string,
    target: Inode | null,
    flags: number,
  ): Task<void> {
    const { core } = this;
    const exchange = (flags & RenameFlag.exchange) !== 0;
    if (target !== null && !exchange && inode.kind === FileKind.regular) yield* this.placeBeforeReplacing(inode);
    yield* this.change(target === null ? ENTRY_BLOCKS : 0, function* (transaction) {
      if (target?.kind === FileKind.directory && !exchange && !(yield* core.directories.isEmpty(target))) {
        throw new FsError('ENOTEMPTY');
      }
      if (target === null) yield* enter(core, transaction, to, newName, inode);
      else {
        yield* core.directories.replace(transaction, to, newName, inode.ino, inode.kind);
        stamp(core, transaction, to, CHANGED);
      }
      if (target !== null && exchange) {
        yield* core.directories.replace(transaction, from, name, target.ino, target.kind);
        stamp(core, transaction, from, CHANGED);
        yield* adopt(core, transaction, target, to, from);
        stamp(core, transaction, target, Stamp.changed);
      } else yield* leave(core, transaction, from, name);
      yield* adopt(core, transaction, inode, from, to);
      stamp(core, transaction, inode, Stamp.changed);
      if (target === null || exchange) return;
      if (target.kind === FileKind.directory) {
        to.links--;
        loseDirectory(core, transaction, target);
      } else lose(core, transaction, target);
    });
  }

  *readdir(directory: Inode, position: number, limit: number, out: DirectoryEntry[]): Task<void> {
    yield* this.core.directories.list(directory, position, limit, out);
  }

  *readlink(inode: Inode): Task<string> {
    const node = nodeOf(inode);
    let bytes = node.root;
    if (node.extents) bytes = (yield* this.core.symlinkBlock(inode)).bytes;
    let target = '';
    for (let at = 0; at < inode.size; at++) target += String.fromCharCode(bytes[at]);
    return target;
  }

  *setAttributes(inode: Inode, change: AttributeChange): Task<void> {
    const { core } = this;
    if (change.size !== undefined) yield* this.rangesOf().resize(inode, change.size);
    // biome-ignore lint/correctness/useYield: a change of attributes waits for nothing within its handle.
    yield* this.change(0, function* (transaction) {
      if (change.mode !== undefined) inode.mode = change.mode;
      if (change.uid !== undefined) inode.uid = change.uid;
      if (change.gid !== undefined) inode.gid = change.gid;
      if (change.size !== undefined) inode.stamp(CHANGED, core.environment.clock);
      if (change.accessed !== undefined) [inode.accessedSec, inode.accessedNsec] = change.accessed;
      if (change.modified !== undefined) [inode.modifiedSec, inode.modifiedNsec] = change.modified;
      stamp(core, transaction, inode, Stamp.changed, change.size !== undefined);
    });
  }

  accessed(inode: Inode): void {
    const { core } = this;
    if (core.journal.failure !== null) return;
    inode.stamp(Stamp.accessed, core.environment.clock);
    core.touch(inode, core.journal.joinLate(), false);
  }

  *fallocate(inode: Inode, mode: number, offset: number, length: number): Task<void> {
    yield* this.rangesOf().fallocate(inode, mode, offset, length);
  }

  // biome-ignore lint/correctness/useYield: the whole map is in memory.
  *seek(inode: Inode, offset: number, hole: boolean): Task<number> {
    return this.rangesOf().seek(inode, offset, hole);
  }

  *getAttribute(inode: Inode, name: string): Task<Uint8Array | null> {
    return yield* this.core.attributes.get(inode, name);
  }

  *setAttribute(inode: Inode, name: string, value: Uint8Array | null): Task<void> {
    const { core } = this;
    yield* this.change(2, function* (transaction) {
      yield* core.attributes.set(transaction, inode, name, value);
      stamp(core, transaction, inode, Stamp.changed);
    });
  }

  *listAttributes(inode: Inode): Task<string[]> {
    return yield* this.core.attributes.list(inode);
  }

  status(): FsStatus {
    const { geometry, groups, blocks, superblock } = this.core;
    const free = groups.totalFreeBlocks - blocks.reserved;
    const overhead = superblock.overhead;
    const available = Math.max(0, free - superblock.reservedBlocks);
    return {
      blockBytes: geometry.blockBytes,
      blocks: geometry.blocks - overhead,
      free,
      available,
      inodes: geometry.inodes,
      freeInodes: groups.totalFreeInodes,
    };
  }

  beginWrite(inode: Inode, offset: number, length: number): MaybeTask {
    return this.core.files.beginWrite(inode, offset, length);
  }

  endWrite(inode: Inode, offset: number, length: number): void {
    this.core.files.endWrite(inode, offset, length);
  }

  readPages(inode: Inode, first: number, count: number, io: PageIo): MaybeTask {
    return this.core.files.readPages(inode, first, count, io);
  }

  writePages(inode: Inode, pages: Int32Array, count: number, _reason: number, io: PageIo): MaybeTask {
    return this.core.files.writePages(inode, pages, count, io);
  }

  direct(
    inode: Inode,
    write: boolean,
    offset: number,
    length: number,
    data: Uint8Array | null,
    tags: Uint32Array | null,
  ): Task<number> {
    const { directIo } = this.core;
    return write ? directIo.write(inode, offset, length, { data, tags }) : directIo.read(inode, offset, length, data);
  }

  *fsync(inode: Inode, dataOnly: boolean): Task<void> {
    const { journal, io } = this.core;
    const { tid, dataTid } = nodeOf(inode);
    const needed = dataOnly ? dataTid : tid;
    if (needed !== 0 && !journal.isCommitted(needed)) yield* journal.commitAndWait(needed);
    else if (this.options.barrier) yield* io.flush();
  }

  *sync(): Task<void> {
    const { journal, cache, io } = this.core;
    journal.demandSound();
    yield* journal.commitAll();
    yield* journal.checkpointer.writeHome([...cache.dirty()]);
    if (this.options.barrier) yield* io.flush();
  }

  *evict(inode: Inode): Task<void> {
    const { core } = this;
    const node = nodeOf(inode);
    const { cache } = this.environment;
    if (inode.links === 0) {
      const settled = cache.settle(inode, 0, Number.MAX_SAFE_INTEGER);
      if (typeof settled !== 'number') yield* settled;
      cache.forget(inode);
      if (core.journal.failure === null) yield* core.free(inode);
      return;
    }
    if (inode === this.top) return;
    core.files.dropKept(node);
    // A record that waits for a commit is in memory with its inode.
    if (core.journal.running?.inodes.has(inode) === true) {
      core.inodes.store(inode, core.journal.running);
      core.journal.running.inodes.delete(inode);
    }
    if (node.nextOrphan < 0) core.inodes.forget(inode);
  }

  private get core(): Core {
    if (this.mounted === null) throw new FsError('EINVAL', 'not mounted');
    return this.mounted;
  }

  private rangesOf(): Ranges {
    if (this.ranges === null) throw new FsError('EINVAL', 'not mounted');
    return this.ranges;
  }

  /** Runs a change of metadata within a handle; so many blocks are promised to it. */
  private *change<T>(blocks: number, work: (transaction: Transaction) => Task<T>): Task<T> {
    const { core } = this;
    core.journal.demandSound();
    if (blocks > 0) yield* core.makeRoom(blocks);
    core.blocks.reserved += blocks;
    try {
      const transaction = core.journal.tryOpen(NAME_CREDITS) ?? (yield* core.journal.open(NAME_CREDITS));
      try {
        return yield* work(transaction);
      } finally {
        core.journal.close(transaction, NAME_CREDITS);
      }
    } finally {
      core.blocks.reserved -= blocks;
    }
  }

  /** What replaces a file by its name gets its blocks first, so that either contents are found after a power cut. */
  private *placeBeforeReplacing(inode: Inode): Task<void> {
    if (nodeOf(inode).map.delayed > 0) yield* this.environment.cache.writeBack(inode, WritebackReason.range);
  }
}

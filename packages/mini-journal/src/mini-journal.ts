import { type BlockDevice, Origin } from '@flashstack/block-device';
import { Condition, type MaybeTask, type Task } from '@flashstack/sim';
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
import { MOST_PAGES } from './block-map.js';
import { capabilities } from './capabilities.js';
import { flush, readBlocks, unitsOf } from './device-io.js';
import { Journal, type JournalClient, type JournalStats, type Transaction } from './journal.js';
import { BLOCK_BYTES, decodeSuperblock } from './layout.js';
import { nodeOf } from './node.js';
import { type MiniJournalOptions, resolveOptions } from './options.js';
import { type Planted, SOUND } from './planted.js';
import { Volume } from './volume.js';

const CHANGED = Stamp.modified | Stamp.changed;

/**
 * A journaling file system: metadata go through a redo journal, data are in their places before the metadata that lead to
 * them are committed. Every change of metadata happens between two yields, so a transaction is whatever changed since the
 * last commit, and the operations of one process survive a power cut as a prefix.
 */
export class MiniJournalFs implements FileSystem, JournalClient {
  readonly capabilities: FsCapabilities = capabilities;
  private readonly device: BlockDevice;
  private readonly environment: FsEnvironment;
  private readonly intervalNs: number;
  private readonly checkpointBlocks: number;
  private readonly planted: Planted;
  /** Device blocks of one block. */
  private readonly units: number;
  private readonly wake: Condition;
  private readonly ended: Condition;
  private mounted: Volume | null = null;
  private committing = false;
  private stopping = false;

  /**
   * @param planted defects, for tests of tests
   * @throws InputError for an unknown option or a bad value.
   */
  constructor(
    device: BlockDevice,
    environment: FsEnvironment,
    options: MiniJournalOptions = {},
    planted: Planted = SOUND,
  ) {
    const { commitIntervalNs, checkpointBlocks } = resolveOptions(options);
    this.checkpointBlocks = checkpointBlocks;
    this.planted = planted;
    this.device = device;
    this.environment = environment;
    this.intervalNs = commitIntervalNs;
    this.units = unitsOf(device);
    this.wake = new Condition(environment.simulator, 'the next commit');
    this.ended = new Condition(environment.simulator, 'the end of the commit thread');
  }

  /** What the journal has done since mount. */
  get journal(): JournalStats {
    return this.volume.journal.stats;
  }

  *mount(): Task<void> {
    const { device, environment } = this;
    if (this.mounted !== null) throw new FsError('EBUSY', 'mounted already');
    if (this.units === 0) throw new FsError('EINVAL', `blocks of ${device.blockBytes} bytes`);
    const layout = decodeSuperblock(
      yield* readBlocks(device, 0, 1, Origin.superblock),
      Math.floor(device.blockCount / this.units),
    );
    const journal = new Journal(environment.simulator, device, layout, this, this.checkpointBlocks, this.planted);
    yield* journal.recover();
    if (journal.stats.recovered > 0) environment.log(`recovered ${journal.stats.recovered} transactions`);
    const volume = new Volume(device, environment, layout, journal, this.planted);
    // Orphans are freed by what the journal asks of a mounted volume.
    this.mounted = volume;
    try {
      yield* volume.load();
    } catch (error) {
      this.mounted = null;
      throw error;
    }
  }

  *unmount(): Task<void> {
    const { journal } = this.volume;
    this.stopping = true;
    this.wake.notifyAll();
    while (this.committing) yield this.ended;
    try {
      if (journal.failure === null) yield* journal.checkpoint();
    } finally {
      this.mounted = null;
      this.stopping = false;
    }
  }

  daemons(): readonly { readonly name: string; readonly task: Task<void> }[] {
    return [{ name: 'mini-journal commit', task: this.commitRegularly() }];
  }

  root(): Inode {
    return this.volume.root;
  }

  *lookup(directory: Inode, name: string): Task<Inode | null> {
    const { inodes } = this.volume;
    const entries = yield* inodes.directory(directory);
    const ino = entries.get(name);
    if (ino === 0) return null;
    const inode = yield* inodes.get(ino);
    const said = entries.kindOf(name);
    if (said === inode.kind) return inode;
    throw new FsError(
      'EUCLEAN',
      `directory ${directory.ino}: an entry of kind ${said} leads to inode ${ino} of kind ${inode.kind}`,
    );
  }

  *create(directory: Inode, name: string | null, what: NewInode): Task<Inode> {
    const { inodes } = this.volume;
    const entries = yield* inodes.directory(directory);
    const symlink = what.kind === FileKind.symlink;
    yield* this.volume.room(() => (name === null ? 0 : entries.growth) + (symlink ? 1 : 0));
    const inode = inodes.make(what.kind);
    inode.mode = what.mode;
    inode.uid = what.uid;
    inode.gid = what.gid;
    inode.device = what.device ?? 0;
    if (symlink) this.volume.writeTarget(inode, what.target ?? '');
    if (what.kind === FileKind.directory) nodeOf(inode).parent = directory.ino;
    this.volume.touch(inode, Stamp.accessed | CHANGED | Stamp.born);
    if (name === null) return inode;
    inode.links = what.kind === FileKind.directory ? 2 : 1;
    if (what.kind === FileKind.directory) directory.links++;
    this.volume.enter(directory, entries, name, inode);
    return inode;
  }

  *link(inode: Inode, directory: Inode, name: string): Task<void> {
    const entries = yield* this.volume.inodes.directory(directory);
    yield* this.volume.room(() => entries.growth);
    inode.links++;
    if (!this.planted.has('links-not-logged')) this.volume.touch(inode, Stamp.changed);
    this.volume.enter(directory, entries, name, inode);
  }

  *unlink(directory: Inode, name: string, inode: Inode): Task<void> {
    const entries = yield* this.volume.inodes.directory(directory);
    yield* this.volume.room(() => 0);
    this.volume.leave(directory, entries, name);
    inode.links--;
    this.volume.touch(inode, Stamp.changed);
  }

  *rmdir(directory: Inode, name: string, inode: Inode): Task<void> {
    const { inodes } = this.volume;
    const entries = yield* inodes.directory(directory);
    if ((yield* inodes.directory(inode)).size > 0) throw new FsError('ENOTEMPTY');
    yield* this.volume.room(() => 0);
    this.volume.leave(directory, entries, name);
    directory.links--;
    inode.links = 0;
    this.volume.touch(inode, CHANGED);
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
    const { inodes } = this.volume;
    const source = yield* inodes.directory(from);
    const entries = yield* inodes.directory(to);
    const exchange = (flags & RenameFlag.exchange) !== 0;
    const replacesDirectory = !exchange && target?.kind === FileKind.directory;
    if (replacesDirectory && (yield* inodes.directory(target)).size > 0) throw new FsError('ENOTEMPTY');
    yield* this.volume.room(() => (target === null ? entries.growth : 0));
    if (target !== null && exchange) {
      this.volume.enter(from, source, name, target);
      if (from !== to) this.volume.adopt(target, to, from);
    } else {
      if (replacesDirectory) {
        target.links = 0;
        to.links--;
      } else if (target !== null && !this.planted.has('replaced-not-dropped')) target.links--;
      this.volume.leave(from, source, name);
      if (this.planted.has('rename-in-two')) yield* this.volume.journal.wait(this.volume.journal.running.tid);
    }
    this.volume.enter(to, entries, newName, inode);
    if (from !== to) this.volume.adopt(inode, from, to);
    this.volume.touch(inode, Stamp.changed);
    if (target !== null) this.volume.touch(target, Stamp.changed);
  }

  *readdir(directory: Inode, position: number, limit: number, out: DirectoryEntry[]): Task<void> {
    (yield* this.volume.inodes.directory(directory)).list(position, limit, out);
  }

  *readlink(inode: Inode): Task<string> {
    const bytes = yield* this.volume.metadata.load(nodeOf(inode).map.get(0), Origin.symlink);
    let target = '';
    for (let at = 0; at < inode.size; at++) target += String.fromCharCode(bytes[at]);
    return target;
  }

  *setAttributes(inode: Inode, change: AttributeChange): Task<void> {
    if (change.size !== undefined) yield* this.volume.resize(inode, change.size);
    else yield* this.volume.room(() => 0);
    if (change.size !== undefined) inode.stamp(CHANGED, this.environment.clock);
    if (change.mode !== undefined) inode.mode = change.mode;
    if (change.uid !== undefined) inode.uid = change.uid;
    if (change.gid !== undefined) inode.gid = change.gid;
    if (change.accessed !== undefined) [inode.accessedSec, inode.accessedNsec] = change.accessed;
    if (change.modified !== undefined) [inode.modifiedSec, inode.modifiedNsec] = change.modified;
    if (change.size === undefined && this.planted.has('attributes-not-logged')) return;
    this.volume.touch(inode, Stamp.changed);
  }

  accessed(inode: Inode): void {
    if (this.volume.journal.failure === null) this.volume.touch(inode, Stamp.accessed);
  }

  fallocate(_inode: Inode, mode: number): Task<void> {
    throw new FsError('EOPNOTSUPP', `fallocate mode ${mode}`);
  }

  // biome-ignore lint/correctness/useYield: all of a file counts as data, so there is nothing to look up.
  *seek(inode: Inode, offset: number, hole: boolean): Task<number> {
    return hole ? inode.size : offset;
  }

  getAttribute(_inode: Inode, name: string): Task<Uint8Array | null> {
    throw new FsError('EOPNOTSUPP', name);
  }

  setAttribute(_inode: Inode, name: string): Task<void> {
    throw new FsError('EOPNOTSUPP', name);
  }

  listAttributes(): Task<string[]> {
    throw new FsError('EOPNOTSUPP');
  }

  status(): FsStatus {
    const { layout, metadata, inodes } = this.volume;
    const { free } = metadata;
    const blocks = layout.blocks - layout.dataStart;
    const counts = { inodes: layout.inodes - 1, freeInodes: inodes.free };
    return { blockBytes: BLOCK_BYTES, blocks, free, available: free, ...counts };
  }

  beginWrite(inode: Inode, offset: number, length: number): MaybeTask {
    const { journal, metadata } = this.volume;
    journal.demandSound();
    if (offset + length > capabilities.fileBytes) throw new FsError('EFBIG');
    const first = Math.floor(offset / BLOCK_BYTES);
    const count = Math.floor((offset + length - 1) / BLOCK_BYTES) - first + 1;
    const { map } = nodeOf(inode);
    if (offset + length <= inode.size && map.missing(first, count) === 0) return 0;
    if (inode.size % BLOCK_BYTES !== 0 || map.missing(first, count) > metadata.available || !journal.roomy) {
      return this.volume.beginWrite(inode, offset + length, first, count);
    }
    map.promise(first, count);
    inode.sectors = map.blocks * 8;
    return 0;
  }

  endWrite(inode: Inode, offset: number, length: number): void {
    const node = nodeOf(inode);
    const first = Math.floor(offset / BLOCK_BYTES);
    const last = Math.floor((offset + length - 1) / BLOCK_BYTES);
    if (offset + length > inode.size) {
      inode.size = offset + length;
      // The new size may be committed only with the bytes that it covers.
      if (node.map.get(first) !== 0) this.volume.journal.running.order(inode, first, last);
      if (!this.planted.has('size-not-data')) node.dataTid = this.volume.journal.running.tid;
    }
    this.volume.touch(inode, CHANGED, false);
  }

  readPages(inode: Inode, first: number, count: number, io: PageIo): MaybeTask {
    const { map } = nodeOf(inode);
    for (let page = first; page < first + count; ) {
      const block = map.get(page);
      let run = 1;
      while (page + run < first + count && map.get(page + run) === (block === 0 ? 0 : block + run)) run++;
      if (block === 0) io.readHole(page * BLOCK_BYTES, run * BLOCK_BYTES);
      else io.read(page * BLOCK_BYTES, run * BLOCK_BYTES, block * this.units, Origin.fileData);
      page += run;
    }
    return 0;
  }

  writePages(inode: Inode, pages: Int32Array, count: number, _reason: number, io: PageIo): MaybeTask {
    const { journal } = this.volume;
    journal.demandSound();
    const { map } = nodeOf(inode);
    for (let at = 0; at < count; at++) {
      const page = pages[at];
      if (page * BLOCK_BYTES >= inode.size) {
        io.done(page);
        continue;
      }
      let block = map.get(page);
      if (block === 0) {
        block = map.allocate(page, false);
        journal.running.order(inode, page, page);
        this.volume.touch(inode, 0);
      }
      io.write(page * BLOCK_BYTES, BLOCK_BYTES, block * this.units, Origin.fileData, 0, 0);
    }
    inode.sectors = map.blocks * 8;
    return count;
  }

  direct(): Task<number> {
    throw new FsError('EINVAL', 'direct I/O goes through the cache');
  }

  *fsync(inode: Inode, dataOnly: boolean): Task<void> {
    const { journal } = this.volume;
    const { tid, dataTid } = nodeOf(inode);
    const needed = dataOnly ? dataTid : tid;
    if (journal.failure !== null) throw journal.failure;
    if (needed > journal.committedTid) yield* journal.wait(needed);
    else if (!this.planted.has('overwrite-not-flushed')) yield* flush(this.device);
  }

  *sync(): Task<void> {
    const { journal } = this.volume;
    if (this.planted.has('sync-without-commit')) return;
    if (journal.running.empty && journal.committedTid === journal.running.tid - 1) yield* flush(this.device);
    else yield* journal.wait(journal.running.empty ? journal.running.tid - 1 : journal.running.tid);
  }

  *evict(inode: Inode): Task<void> {
    const { journal, inodes } = this.volume;
    const { cache } = this.environment;
    if (inode.links === 0) {
      const settled = cache.settle(inode, 0, MOST_PAGES);
      if (typeof settled !== 'number') yield* settled;
      cache.forget(inode);
      if (journal.failure === null) this.volume.drop(inode);
      return;
    }
    if (inode === this.volume.root) return;
    if (journal.running.inodes.delete(inode)) inodes.store(inode, journal.running);
    inodes.forget(inode);
  }

  store(transaction: Transaction): void {
    for (const inode of transaction.inodes) this.volume.inodes.store(inode, transaction);
  }

  contents(block: number): Uint8Array {
    return this.volume.metadata.get(block);
  }

  *settle({ ordered }: Transaction): Task<void> {
    const { cache } = this.environment;
    if (this.planted.has('data-not-settled')) return;
    for (const [inode, [first, last]] of ordered) {
      const length = (last - first + 1) * BLOCK_BYTES;
      yield* cache.writeBack(inode, WritebackReason.sync, first * BLOCK_BYTES, length);
      // Committed metadata would show what these blocks held before.
      if (cache.takeError(inode) !== 0) throw new FsError('EIO', `data of inode ${inode.ino} before a commit`);
    }
  }

  checkpointed(tid: number): void {
    this.volume.metadata.checkpointed(tid);
  }

  private get volume(): Volume {
    if (this.mounted === null) throw new FsError('EINVAL', 'not mounted');
    return this.mounted;
  }

  private *commitRegularly(): Task<void> {
    this.committing = true;
    while (!this.stopping) {
      yield this.wake.within(this.intervalNs);
      const { journal } = this.volume;
      if (journal.failure !== null || journal.running.empty) continue;
      try {
        yield* journal.wait(journal.running.tid);
      } catch (error) {
        if (!(error instanceof FsError)) throw error;
        this.environment.log(`commit failed, nothing can be changed any more: ${error.message}`);
      }
    }
    this.committing = false;
    this.ended.notifyAll();
  }
}

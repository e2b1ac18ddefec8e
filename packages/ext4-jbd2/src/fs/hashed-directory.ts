import type { Task } from '@flashstack/sim';
import { FileKind, FsError, type Inode } from '@flashstack/vfs';
import {
  entryBytes,
  entryInode,
  entryLength,
  entryName,
  entryType,
  setEntryLength,
  typeOfKind,
  writeEntry,
  writeTail,
} from '../format/dir-block.js';
import {
  checkIndex,
  hashVersionOf,
  indexBlock,
  indexCount,
  indexHash,
  indexLimit,
  initIndex,
  initRootInfo,
  insertIndex,
  levelsOf,
  MOST_LEVELS,
  NODE_INDEX,
  ROOT_INDEX,
  searchIndex,
  setIndexCount,
  setLevels,
} from '../format/htree.js';
import { InodeFlag } from '../format/inode-record.js';
import { BlockKind, type MetadataBuffer } from '../journal/buffer.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';
import type { Directories } from './directory.js';
import { nodeOf } from './node.js';

/** A block of the index on the way to a leaf, and the entry that was followed. */
interface Frame {
  readonly buffer: MetadataBuffer;
  readonly offset: number;
  entry: number;
}

/** An entry of a leaf that is split. */
interface Moved {
  readonly name: string;
  readonly ino: number;
  readonly type: number;
  readonly hash: number;
}

/** Set in an index hash: names of this hash begin in the leaf before. */
const CONTINUED = 1;

/** Directories with a hash index (htree): finding the leaf of a name, and splitting what is full. */
export class HashedDirectory {
  private readonly core: Core;
  private readonly directories: Directories;

  constructor(core: Core, directories: Directories) {
    this.core = core;
    this.directories = directories;
  }

  /** Leaves in which a name may be: its own, and those behind as long as equal hashes continue in them. */
  *leavesOf(directory: Inode, name: string): Task<number[]> {
    const hash = yield* this.hash(directory, name);
    const frames = yield* this.walk(directory, hash);
    const leaves: number[] = [];
    for (;;) {
      const { buffer, offset, entry } = frames[frames.length - 1];
      leaves.push(indexBlock(buffer.bytes, offset, entry));
      if (!(yield* this.advance(directory, frames, hash))) return leaves;
    }
  }

  /** Adds an entry; splits its leaf if that is full. */
  *add(transaction: Transaction, directory: Inode, name: string, ino: number, kind: number): Task<void> {
    const hash = yield* this.hash(directory, name);
    const frames = yield* this.walk(directory, hash);
    const { buffer, offset, entry } = frames[frames.length - 1];
    const leaf = yield* this.directories.leaf(directory, indexBlock(buffer.bytes, offset, entry));
    if (this.directories.addTo(transaction, leaf, name, ino, kind)) return;
    yield* this.makeRoom(transaction, directory, frames);
    const again = yield* this.walk(directory, hash);
    const last = again[again.length - 1];
    const [fresh, from] = yield* this.splitLeaf(transaction, directory, leaf, last);
    const target = hash >= (from & ~CONTINUED) >>> 0 ? fresh : leaf;
    if (this.directories.addTo(transaction, target, name, ino, kind)) return;
    // All names of the half have this hash: the other half, which continues it, has room or is split again.
    const other = target === leaf ? fresh : leaf;
    if (!this.directories.addTo(transaction, other, name, ino, kind)) {
      throw new FsError('ENOSPC', `directory ${directory.ino}: too many names of one hash`);
    }
  }

  /** Turns a directory of one full block into an index with two leaves. */
  *convert(transaction: Transaction, directory: Inode): Task<void> {
    const { core, directories } = this;
    const { geometry, journal } = core;
    const node = nodeOf(directory);
    const root = yield* directories.leaf(directory, 0);
    const leaf = yield* directories.appendLeaf(transaction, directory);
    journal.change(root, transaction);
    const entries = this.entriesOf(root, geometry.hashVersion).filter(({ name }) => name !== '.' && name !== '..');
    const parent = entryInode(root.bytes, 12);
    root.bytes.fill(0);
    const type = typeOfKind(FileKind.directory);
    writeEntry(root.bytes, 0, directory.ino, 12, '.', type);
    writeEntry(root.bytes, 12, parent, geometry.blockBytes - 12, '..', type);
    initRootInfo(root.bytes, geometry.hashVersion);
    const limit = indexLimit(geometry.blockBytes, ROOT_INDEX, core.sums.on);
    initIndex(root.bytes, ROOT_INDEX, limit, 1);
    root.kind = BlockKind.directoryIndex;
    this.fill(leaf, entries);
    node.flags |= InodeFlag.index;
    core.touch(directory, transaction);
    yield* this.splitLeaf(transaction, directory, leaf, { buffer: root, offset: ROOT_INDEX, entry: 0 });
  }

  /** Throws unless a block of the index makes sense. @throws FsError EUCLEAN */
  check(directory: Inode, logical: number, bytes: Uint8Array, where: string): void {
    const offset = logical === 0 ? ROOT_INDEX : NODE_INDEX;
    const blocks = directory.size / this.core.geometry.blockBytes;
    checkIndex(bytes, offset, this.core.sums.on, nodeOf(directory).seed, blocks, where);
  }

  private *hash(directory: Inode, name: string): Task<number> {
    const root = yield* this.directories.leaf(directory, 0);
    return this.directories.hashOf(name, hashVersionOf(root.bytes)).major;
  }

  /** From the root of the index to the block that names the leaf of a hash. */
  private *walk(directory: Inode, hash: number): Task<Frame[]> {
    const root = yield* this.indexBlock(directory, 0);
    const frames: Frame[] = [{ buffer: root, offset: ROOT_INDEX, entry: searchIndex(root.bytes, ROOT_INDEX, hash) }];
    for (let level = levelsOf(root.bytes); level > 0; level--) {
      const { buffer, offset, entry } = frames[frames.length - 1];
      const next = yield* this.indexBlock(directory, indexBlock(buffer.bytes, offset, entry));
      frames.push({ buffer: next, offset: NODE_INDEX, entry: searchIndex(next.bytes, NODE_INDEX, hash) });
    }
    return frames;
  }

  private *indexBlock(directory: Inode, logical: number): Task<MetadataBuffer> {
    const buffer = yield* this.directories.leaf(directory, logical);
    buffer.kind = BlockKind.directoryIndex;
    return buffer;
  }

  /** On to the next leaf, if names of a hash may continue there. */
  private *advance(directory: Inode, frames: Frame[], hash: number): Task<boolean> {
    let level = frames.length - 1;
    while (level >= 0 && frames[level].entry + 1 >= indexCount(frames[level].buffer.bytes, frames[level].offset))
      level--;
    if (level < 0) return false;
    const frame = frames[level];
    const next = indexHash(frame.buffer.bytes, frame.offset, frame.entry + 1);
    if ((next & CONTINUED) === 0 || (next & ~CONTINUED) >>> 0 !== hash) return false;
    frame.entry++;
    for (let below = level + 1; below < frames.length; below++) {
      const above = frames[below - 1];
      const buffer = yield* this.indexBlock(directory, indexBlock(above.buffer.bytes, above.offset, above.entry));
      frames[below] = { buffer, offset: NODE_INDEX, entry: 0 };
    }
    return true;
  }

  /** Makes sure that the lowest block of the index has room for one more entry. */
  private *makeRoom(transaction: Transaction, directory: Inode, frames: readonly Frame[]): Task<void> {
    const { core, directories } = this;
    const full = ({ buffer, offset }: Frame): boolean =>
      indexCount(buffer.bytes, offset) === indexLimit(core.geometry.blockBytes, offset, core.sums.on);
    const lowest = frames[frames.length - 1];
    if (!full(lowest)) return;
    const limit = indexLimit(core.geometry.blockBytes, NODE_INDEX, core.sums.on);
    const [root] = frames;
    if (frames.length > 1 && full(root)) throw new FsError('ENOSPC', `directory ${directory.ino}: its index is full`);
    if (frames.length === 1 && levelsOf(root.buffer.bytes) === MOST_LEVELS) throw new FsError('ENOSPC');
    const logical = directory.size / core.geometry.blockBytes;
    const fresh = yield* directories.appendLeaf(transaction, directory);
    fresh.kind = BlockKind.directoryIndex;
    fresh.bytes.fill(0);
    setEntryLength(fresh.bytes, 0, core.geometry.blockBytes);
    initIndex(fresh.bytes, NODE_INDEX, limit, 0);
    core.journal.change(root.buffer, transaction);
    if (frames.length === 1) {
      // The root's entries move one level down.
      copyEntries(root.buffer.bytes, ROOT_INDEX, 0, fresh.bytes);
      initIndex(root.buffer.bytes, ROOT_INDEX, indexLimit(core.geometry.blockBytes, ROOT_INDEX, core.sums.on), logical);
      setLevels(root.buffer.bytes, 1);
      return;
    }
    core.journal.change(lowest.buffer, transaction);
    const half = indexCount(lowest.buffer.bytes, NODE_INDEX) >>> 1;
    const hash = indexHash(lowest.buffer.bytes, NODE_INDEX, half);
    copyEntries(lowest.buffer.bytes, NODE_INDEX, half, fresh.bytes);
    setIndexCount(lowest.buffer.bytes, NODE_INDEX, half);
    insertIndex(root.buffer.bytes, ROOT_INDEX, root.entry, hash, logical);
  }

  /** Moves the upper half of a leaf, by hash, into a new one; returns that and its lowest hash as the index has it. */
  private *splitLeaf(
    transaction: Transaction,
    directory: Inode,
    leaf: MetadataBuffer,
    parent: Frame,
  ): Task<[fresh: MetadataBuffer, hash: number]> {
    const { core, directories } = this;
    const version = hashVersionOf((yield* directories.leaf(directory, 0)).bytes);
    const entries = this.entriesOf(leaf, version).sort((a, b) => a.hash - b.hash);
    const logical = directory.size / core.geometry.blockBytes;
    const fresh = yield* directories.appendLeaf(transaction, directory);
    core.journal.change(leaf, transaction);
    core.journal.change(parent.buffer, transaction);
    const cut = halfOf(entries);
    const continued = entries[cut].hash === entries[cut - 1].hash ? CONTINUED : 0;
    const hash = (entries[cut].hash | continued) >>> 0;
    this.fill(leaf, entries.slice(0, cut));
    this.fill(fresh, entries.slice(cut));
    insertIndex(parent.buffer.bytes, parent.offset, parent.entry, hash, logical);
    return [fresh, hash];
  }

  private entriesOf({ bytes }: MetadataBuffer, version: number): Moved[] {
    const found: Moved[] = [];
    for (let at = 0; at < this.directories.leafEnd; at += entryLength(bytes, at)) {
      const ino = entryInode(bytes, at);
      if (ino === 0) continue;
      const name = entryName(bytes, at);
      found.push({ name, ino, type: entryType(bytes, at), hash: this.directories.hashOf(name, version).major });
    }
    return found;
  }

  /** Writes these entries into a leaf, one after the other, and nothing else. */
  private fill({ bytes }: MetadataBuffer, entries: readonly Moved[]): void {
    const end = this.directories.leafEnd;
    bytes.fill(0);
    if (this.core.sums.on) writeTail(bytes, bytes.length);
    if (entries.length === 0) setEntryLength(bytes, 0, end);
    let at = 0;
    entries.forEach(({ name, ino, type }, index) => {
      const length = index === entries.length - 1 ? end - at : entryBytes(name.length);
      writeEntry(bytes, at, ino, length, name, type);
      at += length;
    });
  }
}

/** Copies the entries of an index from `first` on into an empty one, whose first has no hash. */
function copyEntries(from: Uint8Array, offset: number, first: number, to: Uint8Array): void {
  const count = indexCount(from, offset);
  initIndex(to, NODE_INDEX, indexLimitOf(to), indexBlock(from, offset, first));
  for (let entry = first + 1; entry < count; entry++) {
    insertIndex(to, NODE_INDEX, entry - first - 1, indexHash(from, offset, entry), indexBlock(from, offset, entry));
  }
}

function indexLimitOf(block: Uint8Array): number {
  return block[NODE_INDEX] | (block[NODE_INDEX + 1] << 8);
}

/** Where the bytes of entries in order of their hashes are cut into halves: from 1 to one less than their number. */
function halfOf(entries: readonly Moved[]): number {
  const total = entries.reduce((sum, { name }) => sum + entryBytes(name.length), 0);
  let bytes = 0;
  for (let at = 0; at < entries.length - 1; at++) {
    bytes += entryBytes(entries[at].name.length);
    if (bytes * 2 >= total) return at + 1;
  }
  return Math.max(1, entries.length - 1);
}

import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { type DirectoryEntry, FileKind, FsError, type Inode } from '@flashstack/vfs';
import { u32 } from '../format/bytes.js';
import {
  checkEntries,
  entryBytes,
  entryInode,
  entryLength,
  entryName,
  entryType,
  hasTail,
  kindOfType,
  leafChecksum,
  namedSo,
  setEntryLength,
  TAIL_BYTES,
  typeOfKind,
  writeEntry,
  writeTail,
} from '../format/dir-block.js';
import { hashName } from '../format/hash.js';
import { InodeFlag } from '../format/inode-record.js';
import { BlockKind, type MetadataBuffer } from '../journal/buffer.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';
import { HashedDirectory } from './hashed-directory.js';
import { nodeOf } from './node.js';

/** An entry where it lies. */
interface Place {
  readonly buffer: MetadataBuffer;
  readonly at: number;
  /** Offset of the entry before it in its block, −1: it is the first. */
  readonly previous: number;
}

/** An entry with the position that a listing goes on from. */
interface Listed extends DirectoryEntry {
  readonly hash: number;
  readonly minor: number;
}

/** Positions of `.` and `..`; others follow from the hash of the name. */
const DOT = 1;
const DOT_DOT = 2;
const FIRST = 4;

/** Entries of directories, in blocks that are searched through or found by the hash of a name. */
export class Directories {
  private readonly core: Core;
  private readonly hashed: HashedDirectory;
  private readonly hash: { major: number; minor: number } = { major: 0, minor: 0 };

  constructor(core: Core) {
    this.core = core;
    this.hashed = new HashedDirectory(core, this);
  }

  /** Bytes of a leaf that entries may take. */
  get leafEnd(): number {
    return this.core.geometry.blockBytes - (this.core.sums.on ? TAIL_BYTES : 0);
  }

  /** Hash of a name, as this file system has it; the result is overwritten by the next call. */
  hashOf(
    name: string,
    version: number = this.core.geometry.hashVersion,
  ): { readonly major: number; readonly minor: number } {
    const { unsignedHash, hashSeed } = this.core.geometry;
    return hashName(name, version % 3, unsignedHash, hashSeed, this.hash);
  }

  /** Inode number of a name, 0: there is none. @throws FsError EUCLEAN, EIO */
  *lookup(directory: Inode, name: string): Task<number> {
    const place = yield* this.find(directory, name);
    return place === null ? 0 : entryInode(place.buffer.bytes, place.at);
  }

  /** Adds an entry; the name is new. @throws FsError ENOSPC, EUCLEAN, EIO */
  *add(transaction: Transaction, directory: Inode, name: string, ino: number, kind: number): Task<void> {
    if (isIndexed(directory)) return yield* this.hashed.add(transaction, directory, name, ino, kind);
    const blocks = directory.size / this.core.geometry.blockBytes;
    for (let logical = 0; logical < blocks; logical++) {
      const leaf = yield* this.leaf(directory, logical);
      if (this.addTo(transaction, leaf, name, ino, kind)) return;
    }
    if (blocks === 1 && this.core.indexesDirectories) {
      yield* this.hashed.convert(transaction, directory);
      return yield* this.hashed.add(transaction, directory, name, ino, kind);
    }
    const leaf = yield* this.appendLeaf(transaction, directory);
    this.addTo(transaction, leaf, name, ino, kind);
  }

  /** Takes an entry out. */
  *remove(transaction: Transaction, directory: Inode, name: string): Task<void> {
    const { buffer, at, previous } = yield* this.demand(directory, name);
    this.core.journal.change(buffer, transaction);
    const { bytes } = buffer;
    if (previous < 0) {
      const length = entryLength(bytes, at);
      bytes.fill(0, at, at + length);
      setEntryLength(bytes, at, length);
    } else {
      const length = entryLength(bytes, at);
      setEntryLength(bytes, previous, entryLength(bytes, previous) + length);
      bytes.fill(0, at, at + length);
    }
  }

  /** Lets an entry lead to another inode; `..` as well. */
  *replace(transaction: Transaction, directory: Inode, name: string, ino: number, kind: number): Task<void> {
    const { buffer, at } = yield* this.demand(directory, name);
    this.core.journal.change(buffer, transaction);
    writeEntry(buffer.bytes, at, ino, entryLength(buffer.bytes, at), name, typeOfKind(kind));
  }

  /** Makes the first block of a new directory. */
  *create(transaction: Transaction, directory: Inode, parent: number): Task<void> {
    const leaf = yield* this.appendLeaf(transaction, directory);
    const type = typeOfKind(FileKind.directory);
    writeEntry(leaf.bytes, 0, directory.ino, 12, '.', type);
    writeEntry(leaf.bytes, 12, parent, this.leafEnd - 12, '..', type);
  }

  /** True if nothing but `.` and `..` is in it. */
  *isEmpty(directory: Inode): Task<boolean> {
    const blocks = directory.size / this.core.geometry.blockBytes;
    for (let logical = 0; logical < blocks; logical++) {
      const { bytes } = yield* this.leaf(directory, logical);
      for (let at = 0; at < bytes.length; at += entryLength(bytes, at)) {
        if (entryInode(bytes, at) === 0) continue;
        const name = entryName(bytes, at);
        if (name !== '.' && name !== '..') return false;
      }
    }
    return true;
  }

  /** Entries behind a position in the order of their hashes, `.` and `..` first. */
  *list(directory: Inode, position: number, limit: number, out: DirectoryEntry[]): Task<void> {
    const from = out.length;
    const found: Listed[] = [];
    const blocks = directory.size / this.core.geometry.blockBytes;
    for (let logical = 0; logical < blocks; logical++) this.collect(yield* this.leaf(directory, logical), found);
    found.sort((a, b) => a.hash - b.hash || a.minor - b.minor || (a.name < b.name ? -1 : 1));
    let last = 0;
    let same = 0;
    for (const { name, ino, kind, hash, minor } of found) {
      let next = positionOf(name, hash, minor);
      same = next === last ? same + 1 : 0;
      last = next;
      next += same;
      if (next <= position) continue;
      if (out.length - from >= limit) return;
      out.push({ name, ino, kind, next });
    }
  }

  /** A block of entries. @throws FsError EUCLEAN, EIO */
  *leaf(directory: Inode, logical: number): Task<MetadataBuffer> {
    const node = nodeOf(directory);
    const where = `directory ${directory.ino}, block ${logical}`;
    if (node.map.stateOf(logical) !== 1) throw new FsError('EUCLEAN', `${where} is missing`);
    const block = node.map.blockOf(logical);
    const known = this.core.cache.get(block);
    if (known !== undefined) return known;
    return yield* this.core.cache.load(block, BlockKind.directoryLeaf, node.seed, Origin.directory, where, (bytes) => {
      this.check(directory, logical, bytes, where);
    });
  }

  /** Adds an entry to a block if it has room. */
  addTo(transaction: Transaction, leaf: MetadataBuffer, name: string, ino: number, kind: number): boolean {
    const { bytes } = leaf;
    const needed = entryBytes(name.length);
    for (let at = 0; at < this.leafEnd; ) {
      const length = entryLength(bytes, at);
      const used = entryInode(bytes, at) === 0 ? 0 : entryBytes(bytes[at + 6]);
      if (length - used >= needed) {
        this.core.journal.change(leaf, transaction);
        if (used > 0) setEntryLength(bytes, at, used);
        writeEntry(bytes, at + used, ino, length - used, name, typeOfKind(kind));
        return true;
      }
      at += length;
    }
    return false;
  }

  /** A new, empty block at the end of a directory. */
  *appendLeaf(transaction: Transaction, directory: Inode): Task<MetadataBuffer> {
    const { blockBytes } = this.core.geometry;
    const logical = directory.size / blockBytes;
    const block = yield* this.core.files.allocateMetadata(transaction, directory, logical);
    const leaf = this.core.cache.create(block, BlockKind.directoryLeaf, nodeOf(directory).seed, Origin.directory);
    this.core.journal.change(leaf, transaction);
    setEntryLength(leaf.bytes, 0, this.leafEnd);
    if (this.core.sums.on) writeTail(leaf.bytes, blockBytes);
    directory.size += blockBytes;
    nodeOf(directory).diskSize = directory.size;
    return leaf;
  }

  private *demand(directory: Inode, name: string): Task<Place> {
    const place = yield* this.find(directory, name);
    if (place === null) throw new FsError('EUCLEAN', `directory ${directory.ino}: an entry has gone`);
    return place;
  }

  private *find(directory: Inode, name: string): Task<Place | null> {
    if (isIndexed(directory) && name !== '.' && name !== '..') {
      for (const logical of yield* this.hashed.leavesOf(directory, name)) {
        const place = this.findIn(yield* this.leaf(directory, logical), name);
        if (place !== null) return place;
      }
      return null;
    }
    const blocks = name === '..' ? 1 : directory.size / this.core.geometry.blockBytes;
    for (let logical = 0; logical < blocks; logical++) {
      const place = this.findIn(yield* this.leaf(directory, logical), name);
      if (place !== null) return place;
    }
    return null;
  }

  private findIn(buffer: MetadataBuffer, name: string): Place | null {
    const { bytes } = buffer;
    let previous = -1;
    for (let at = 0; at < bytes.length; at += entryLength(bytes, at)) {
      if (entryInode(bytes, at) !== 0 && namedSo(bytes, at, name)) return { buffer, at, previous };
      previous = at;
    }
    return null;
  }

  private collect({ bytes }: MetadataBuffer, out: Listed[]): void {
    for (let at = 0; at < bytes.length; at += entryLength(bytes, at)) {
      const ino = entryInode(bytes, at);
      if (ino === 0) continue;
      const name = entryName(bytes, at);
      const dot = name === '.' || name === '..';
      const { major, minor } = dot ? { major: 0, minor: name.length } : this.hashOf(name);
      out.push({ name, ino, kind: kindOfType(entryType(bytes, at)), next: 0, hash: dot ? -1 : major, minor });
    }
  }

  private check(directory: Inode, logical: number, bytes: Uint8Array, where: string): void {
    const { sums, geometry } = this.core;
    const spans = entryInode(bytes, 0) === 0 && entryLength(bytes, 0) === bytes.length;
    if (isIndexed(directory) && (logical === 0 || spans)) {
      this.hashed.check(directory, logical, bytes, where);
      return;
    }
    if (sums.on) {
      if (!hasTail(bytes, bytes.length)) throw new FsError('EUCLEAN', `${where}: no checksum`);
      if (u32(bytes, bytes.length - 4) !== leafChecksum(nodeOf(directory).seed, bytes)) {
        throw new FsError('EUCLEAN', `${where}: det_checksum is wrong`);
      }
    }
    checkEntries(bytes, 0, this.leafEnd, geometry.inodes, where);
  }
}

function isIndexed(directory: Inode): boolean {
  return (nodeOf(directory).flags & InodeFlag.index) !== 0;
}

/** Where a listing goes on behind an entry: 31 bits of its hash, 16 of the minor one, and room to count equal ones. */
function positionOf(name: string, hash: number, minor: number): number {
  if (name === '.') return DOT;
  if (name === '..') return DOT_DOT;
  return FIRST + ((hash >>> 1) * 65_536 + (minor >>> 16)) * 16;
}

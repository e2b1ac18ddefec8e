import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FileKind, FsError } from '@flashstack/vfs';
import {
  attributeName,
  attributesInBlock,
  attributesInInode,
  inlineRest,
  type StoredAttribute,
} from '../format/attributes.js';
import { byteString, u32 } from '../format/bytes.js';
import {
  checkEntries,
  entryInode,
  entryLength,
  entryName,
  entryType,
  hasTail,
  kindOfType,
  leafChecksum,
  TAIL_BYTES,
} from '../format/dir-block.js';
import type { Extent } from '../format/extents.js';
import { deviceOf, I_BLOCK, I_BLOCK_BYTES, InodeFlag } from '../format/inode-record.js';
import { readMap } from './file-map.js';
import type { StoredInode, Volume } from './volume.js';

/** Blocks that are read at a time. */
const CHUNK = 64;

/** An entry of a directory as it is stored. */
export interface StoredEntry {
  readonly name: string;
  readonly ino: number;
  /** A `FileKind`, 0 if the entry does not say. */
  readonly kind: number;
}

export function kindOf(inode: StoredInode): number {
  return inode.record.mode >>> 12;
}

/** All extended attributes, those in the inode first. @throws FsError EUCLEAN, EIO */
export function* readAttributes(volume: Volume, inode: StoredInode): Task<StoredAttribute[]> {
  const where = `inode ${inode.ino}`;
  const found = attributesInInode(inode.bytes, volume.geometry.inodeBytes, where);
  const { attributeBlock } = inode.record;
  if (attributeBlock === 0) return found;
  const at = `${where}, attribute block ${attributeBlock}`;
  const block = yield* volume.block(attributeBlock, Origin.extendedAttribute, at);
  const inBlock = attributesInBlock(block, at);
  if (volume.sums.on && u32(block, 0x10) !== volume.sums.attributeBlock(attributeBlock, block)) {
    throw new FsError('EUCLEAN', `${at}: h_checksum is wrong`);
  }
  return [...found, ...inBlock];
}

/** Attributes as programs see them: what holds inline contents is none. */
export function visibleAttributes(attributes: readonly StoredAttribute[]): Map<string, Uint8Array> {
  const visible = new Map<string, Uint8Array>();
  for (const attribute of attributes) {
    if (attribute.index !== 7 || attribute.suffix !== 'data') visible.set(attributeName(attribute), attribute.value);
  }
  return visible;
}

/** Contents that lie in the inode: `i_block`, then the rest. @throws FsError EUCLEAN */
function* inlineContents(volume: Volume, inode: StoredInode): Task<Uint8Array> {
  const rest = inlineRest(yield* readAttributes(volume, inode));
  if (rest === null) throw new FsError('EUCLEAN', `inode ${inode.ino}: inline data without their attribute`);
  const size = I_BLOCK_BYTES + rest.length;
  const contents = new Uint8Array(size);
  contents.set(inode.bytes.subarray(I_BLOCK, I_BLOCK + I_BLOCK_BYTES));
  contents.set(rest, I_BLOCK_BYTES);
  return contents;
}

/** What a symbolic link points to. @throws FsError EUCLEAN, EIO */
export function* readTarget(volume: Volume, inode: StoredInode): Task<string> {
  const { size, flags } = inode.record;
  const wrong = (what: string): never => {
    throw new FsError('EUCLEAN', `inode ${inode.ino}, symbolic link: ${what}`);
  };
  if (size === 0 || size > volume.geometry.blockBytes) wrong(`i_size is ${size}`);
  const fast = size < I_BLOCK_BYTES && (flags & (InodeFlag.extents | InodeFlag.inlineData)) === 0;
  if (fast) return byteString(inode.bytes, I_BLOCK, size);
  const bytes = new Uint8Array(size);
  let end = 0;
  yield* readContents(volume, inode, (part, offset) => {
    bytes.set(part.subarray(0, Math.max(0, Math.min(part.length, size - offset))), offset);
    end = Math.max(end, offset + part.length);
  });
  if (end < size) wrong(`i_size is ${size}, ${end} bytes are there`);
  return byteString(bytes, 0, size);
}

/**
 * Hands out the contents of a file in order, holes and unwritten extents left out; at most `CHUNK` blocks are in memory
 * at a time. @throws FsError EUCLEAN, EIO
 */
export function* readContents(
  volume: Volume,
  inode: StoredInode,
  take: (part: Uint8Array, offset: number) => void,
): Task<void> {
  const pieces = yield* FilePieces.of(volume, inode);
  for (let piece = yield* pieces.next(); piece !== null; piece = yield* pieces.next()) take(piece.bytes, piece.offset);
}

/** A part of a file's contents. */
export interface FilePiece {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The contents of a file, piece by piece for whoever waits between them: holes and unwritten extents are left out. */
export class FilePieces {
  private readonly volume: Volume;
  private readonly inode: StoredInode;
  private readonly extents: readonly Extent[];
  /** Contents that lie in the inode and have not been handed out. */
  private inline: Uint8Array | null;
  /** The extent that comes next, and the block in it. */
  private index = 0;
  private at = 0;

  private constructor(volume: Volume, inode: StoredInode, extents: readonly Extent[], inline: Uint8Array | null) {
    this.volume = volume;
    this.inode = inode;
    this.extents = extents;
    this.inline = inline;
  }

  /** @throws FsError EUCLEAN, EIO */
  static *of(volume: Volume, inode: StoredInode): Task<FilePieces> {
    const { size, flags } = inode.record;
    if ((flags & InodeFlag.inlineData) === 0) {
      const { extents } = yield* readMap(volume, inode);
      return new FilePieces(volume, inode, extents, null);
    }
    const contents = yield* inlineContents(volume, inode);
    if (size > contents.length) {
      throw new FsError('EUCLEAN', `inode ${inode.ino}: i_size is ${size}, ${contents.length} bytes are inline`);
    }
    return new FilePieces(volume, inode, [], contents.subarray(0, size));
  }

  /** The next piece, or null at the end. @throws FsError EIO */
  *next(): Task<FilePiece | null> {
    const { size } = this.inode.record;
    const { blockBytes } = this.volume.geometry;
    if (this.inline !== null) {
      const bytes = this.inline;
      this.inline = null;
      return { offset: 0, bytes };
    }
    for (; this.index < this.extents.length; this.index++, this.at = 0) {
      const { logical, length, physical, unwritten } = this.extents[this.index];
      const offset = (logical + this.at) * blockBytes;
      if (unwritten || this.at >= length || offset >= size) continue;
      const count = Math.min(CHUNK, length - this.at);
      const where = `inode ${this.inode.ino}, contents`;
      const bytes = yield* this.volume.io.read(physical + this.at, count, Origin.fileData, where);
      this.at += count;
      return { offset, bytes: bytes.subarray(0, Math.min(bytes.length, size - offset)) };
    }
    return null;
  }
}

/** Number of a device node. */
export function readDevice(inode: StoredInode): number {
  return deviceOf(inode.bytes, 0);
}

/** All entries of a directory, `.` and `..` among them. @throws FsError EUCLEAN, EIO */
export function* readEntries(volume: Volume, directory: StoredInode): Task<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  if (kindOf(directory) !== FileKind.directory) throw new FsError('ENOTDIR', `inode ${directory.ino}`);
  if ((directory.record.flags & InodeFlag.inlineData) !== 0) {
    yield* readInlineEntries(volume, directory, entries);
    return entries;
  }
  const { blockBytes, inodes } = volume.geometry;
  const { size } = directory.record;
  if (size % blockBytes !== 0) {
    throw new FsError('EUCLEAN', `directory ${directory.ino}: i_size is ${size}, no multiple of a block`);
  }
  const map = yield* readMap(volume, directory);
  let next = 0;
  for (const { logical, length, physical } of map.extents) {
    if (logical !== next) throw new FsError('EUCLEAN', `directory ${directory.ino}: block ${next} is missing`);
    next += length;
    for (let at = 0; at < length && (logical + at) * blockBytes < size; at++) {
      const where = `directory ${directory.ino}, block ${logical + at}`;
      const block = yield* volume.block(physical + at, Origin.directory, where);
      collect(volume, directory, block, logical + at, inodes, entries, where);
    }
  }
  if (next * blockBytes < size) throw new FsError('EUCLEAN', `directory ${directory.ino}: block ${next} is missing`);
  return entries;
}

/** Adds the entries of one block; those of an index are free ones that span it. */
function collect(
  volume: Volume,
  directory: StoredInode,
  block: Uint8Array,
  logical: number,
  inodes: number,
  out: StoredEntry[],
  where: string,
): void {
  const { sums } = volume;
  const indexed = (directory.record.flags & InodeFlag.index) !== 0;
  const spansAll = entryInode(block, 0) === 0 && entryLength(block, 0) === block.length;
  const isIndex = indexed && (logical === 0 || spansAll);
  const tailed = sums.on && !isIndex;
  if (tailed) {
    if (!hasTail(block, block.length)) throw new FsError('EUCLEAN', `${where}: no checksum`);
    const seed = sums.inodeSeed(directory.ino, directory.record.generation);
    if (u32(block, block.length - 4) !== leafChecksum(seed, block)) {
      throw new FsError('EUCLEAN', `${where}: det_checksum is wrong`);
    }
  }
  pick(block, 0, tailed ? block.length - TAIL_BYTES : block.length, inodes, out, where);
}

function pick(block: Uint8Array, from: number, end: number, inodes: number, out: StoredEntry[], where: string): void {
  checkEntries(block, from, end, inodes, where);
  for (let at = from; at < end; at += entryLength(block, at)) {
    const ino = entryInode(block, at);
    if (ino !== 0) out.push({ name: entryName(block, at), ino, kind: kindOfType(entryType(block, at)) });
  }
}

/** `i_block` begins with the parent; then come entries, and more of them in the attribute. */
function* readInlineEntries(volume: Volume, directory: StoredInode, out: StoredEntry[]): Task<void> {
  const { inodes } = volume.geometry;
  const where = `directory ${directory.ino}, inline`;
  const contents = yield* inlineContents(volume, directory);
  out.push({ name: '.', ino: directory.ino, kind: FileKind.directory });
  out.push({ name: '..', ino: u32(contents, 0), kind: FileKind.directory });
  pick(contents, 4, I_BLOCK_BYTES, inodes, out, where);
  if (contents.length > I_BLOCK_BYTES) pick(contents, I_BLOCK_BYTES, contents.length, inodes, out, where);
}

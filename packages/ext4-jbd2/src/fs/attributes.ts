import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError, type Inode } from '@flashstack/vfs';
import {
  ATTRIBUTE_HEADER,
  ATTRIBUTE_MAGIC,
  attributeName,
  attributesInBlock,
  attributesInInode,
  blockHash,
  entryHash,
  entrySpace,
  type StoredAttribute,
  splitName,
  writeEntries,
} from '../format/attributes.js';
import { put32, u32 } from '../format/bytes.js';
import { GOOD_OLD_BYTES } from '../format/inode-record.js';
import { BlockKind, type MetadataBuffer } from '../journal/buffer.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';
import { nodeOf } from './node.js';

/** Extended attributes: in the inode behind its fields, and in one block besides. */
export class Attributes {
  private readonly core: Core;

  constructor(core: Core) {
    this.core = core;
  }

  *get(inode: Inode, name: string): Task<Uint8Array | null> {
    const all = yield* this.read(inode);
    return all.find((attribute) => attributeName(attribute) === name)?.value ?? null;
  }

  *list(inode: Inode): Task<string[]> {
    return (yield* this.read(inode)).filter(({ index, suffix }) => index !== 7 || suffix !== 'data').map(attributeName);
  }

  /** Sets or (null) removes an attribute. @throws FsError EOPNOTSUPP for an unknown kind of name, ENOSPC */
  *set(transaction: Transaction, inode: Inode, name: string, value: Uint8Array | null): Task<void> {
    const split = splitName(name);
    if (split === null) throw new FsError('EOPNOTSUPP', `attribute ${name}`);
    const rest = (yield* this.read(inode)).filter((attribute) => attributeName(attribute) !== name);
    const wanted = value === null ? rest : [...rest, { ...split, value: value.slice() }];
    const inside: StoredAttribute[] = [];
    const outside: StoredAttribute[] = [];
    let room = this.roomInInode(inode);
    for (const attribute of wanted) {
      const space = entrySpace(attribute);
      if (space <= room) {
        inside.push(attribute);
        room -= space;
      } else outside.push(attribute);
    }
    const { blockBytes } = this.core.geometry;
    const needed = outside.reduce((sum, attribute) => sum + entrySpace(attribute), ATTRIBUTE_HEADER + 4);
    if (needed > blockBytes) throw new FsError('ENOSPC', `attributes of ${needed} bytes`);
    yield* this.writeBlock(transaction, inode, outside);
    this.writeInside(inode, inside);
    this.core.inodes.count(inode);
  }

  /** Gives up the block. */
  *drop(transaction: Transaction, inode: Inode): Task<void> {
    const node = nodeOf(inode);
    const buffer = yield* this.block(inode);
    const references = u32(buffer.bytes, 4);
    if (references > 1) {
      this.core.journal.change(buffer, transaction);
      put32(buffer.bytes, 4, references - 1);
    } else {
      this.core.journal.forget(buffer, transaction);
      this.core.cache.remove(buffer.block);
      yield* this.core.blocks.free(transaction, buffer.block, 1);
    }
    node.attributeBlock = 0;
  }

  private *read(inode: Inode): Task<StoredAttribute[]> {
    const node = nodeOf(inode);
    const where = `inode ${inode.ino}`;
    const inside = attributesInInode(node.bytes, this.core.geometry.inodeBytes, where);
    if (node.attributeBlock === 0) return inside;
    const { bytes, block } = yield* this.block(inode);
    return [...inside, ...attributesInBlock(bytes, `${where}, attribute block ${block}`)];
  }

  private *block(inode: Inode): Task<MetadataBuffer> {
    const { attributeBlock } = nodeOf(inode);
    const where = `inode ${inode.ino}, attribute block ${attributeBlock}`;
    const { cache, sums } = this.core;
    return yield* cache.load(
      attributeBlock,
      BlockKind.attributes,
      attributeBlock,
      Origin.extendedAttribute,
      where,
      (bytes) => {
        attributesInBlock(bytes, where);
        if (sums.on && u32(bytes, 0x10) !== sums.attributeBlock(attributeBlock, bytes)) {
          throw new FsError('EUCLEAN', `${where}: h_checksum is wrong`);
        }
      },
    );
  }

  /** Bytes for entries behind the fields of the inode. */
  private roomInInode(inode: Inode): number {
    const { inodeBytes } = this.core.geometry;
    if (inodeBytes <= GOOD_OLD_BYTES) return 0;
    return Math.max(0, inodeBytes - GOOD_OLD_BYTES - nodeOf(inode).extraBytes - 8);
  }

  private writeInside(inode: Inode, attributes: readonly StoredAttribute[]): void {
    const node = nodeOf(inode);
    const { inodeBytes } = this.core.geometry;
    if (inodeBytes <= GOOD_OLD_BYTES) return;
    const header = GOOD_OLD_BYTES + node.extraBytes;
    node.bytes.fill(0, header);
    if (attributes.length === 0) return;
    put32(node.bytes, header, ATTRIBUTE_MAGIC);
    writeEntries(node.bytes, header + 4, header + 4, inodeBytes, attributes, () => 0);
  }

  private *writeBlock(transaction: Transaction, inode: Inode, attributes: readonly StoredAttribute[]): Task<void> {
    const node = nodeOf(inode);
    const { core } = this;
    if (attributes.length === 0) {
      if (node.attributeBlock !== 0) yield* this.drop(transaction, inode);
      return;
    }
    const old = node.attributeBlock === 0 ? null : yield* this.block(inode);
    let buffer = old;
    if (buffer === null || u32(buffer.bytes, 4) > 1) {
      const { start } = yield* core.blocks.take(transaction, core.files.goalBefore(inode, 0), 1, 0);
      if (old !== null) yield* this.drop(transaction, inode);
      buffer = core.cache.create(start, BlockKind.attributes, start, Origin.extendedAttribute);
      node.attributeBlock = start;
    }
    core.journal.change(buffer, transaction);
    const { bytes } = buffer;
    bytes.fill(0);
    put32(bytes, 0, ATTRIBUTE_MAGIC);
    put32(bytes, 4, 1);
    put32(bytes, 8, 1);
    const sorted = [...attributes].sort(inOrder);
    writeEntries(bytes, ATTRIBUTE_HEADER, 0, bytes.length, sorted, entryHash);
    put32(bytes, 0xc, blockHash(sorted));
  }
}

/** Entries of a block are sorted by kind of name, length and name. */
function inOrder(a: StoredAttribute, b: StoredAttribute): number {
  return a.index - b.index || a.suffix.length - b.suffix.length || (a.suffix < b.suffix ? -1 : 1);
}

import { Origin } from '@flashstack/block-device';
import { CRC32C, TableCrc } from '@flashstack/codec';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { bitAt, clearBit, setBit } from '../format/bytes.js';
import type { Checksums } from '../format/checksums.js';
import { GroupFlag, keptChecksum, readDescriptor, writeDescriptor } from '../format/group.js';
import { type Geometry, groupBlocks, groupStart, superblockBlocks } from '../format/superblock.js';
import { BlockKind, MetadataBuffer } from '../journal/buffer.js';
import type { BufferCache } from './buffer-cache.js';

const crc32c: TableCrc = new TableCrc(CRC32C);

/** Bits of a range as they were, to find what a change does to a checksum. */
const before: Uint8Array = new Uint8Array(4096);

/** The descriptors of all groups as columns, and the bitmaps of those that are in use. */
export class Groups {
  readonly geometry: Geometry;
  readonly count: number;
  readonly freeBlocks: Int32Array;
  readonly freeInodes: Int32Array;
  readonly usedDirs: Int32Array;
  readonly inodeTables: Float64Array;
  /** Free in all groups. */
  totalFreeBlocks = 0;
  totalFreeInodes = 0;
  private readonly sums: Checksums;
  private readonly cache: BufferCache;
  private readonly itableUnused: Int32Array;
  private readonly flags: Uint8Array;
  private readonly blockBitmaps: Float64Array;
  private readonly inodeBitmaps: Float64Array;
  private readonly blockSums: Uint32Array;
  private readonly inodeSums: Uint32Array;
  /** Groups whose descriptor has to be written. */
  private readonly changed: Set<number> = new Set();

  constructor(geometry: Geometry, sums: Checksums, cache: BufferCache, table: Uint8Array) {
    this.geometry = geometry;
    this.sums = sums;
    this.cache = cache;
    this.count = geometry.groups;
    const { count } = this;
    this.freeBlocks = new Int32Array(count);
    this.freeInodes = new Int32Array(count);
    this.usedDirs = new Int32Array(count);
    this.itableUnused = new Int32Array(count);
    this.flags = new Uint8Array(count);
    this.blockBitmaps = new Float64Array(count);
    this.inodeBitmaps = new Float64Array(count);
    this.inodeTables = new Float64Array(count);
    this.blockSums = new Uint32Array(count);
    this.inodeSums = new Uint32Array(count);
    for (let group = 0; group < count; group++) this.take(group, table);
    for (let at = 0; at < geometry.descriptorBlocks; at++) {
      const { blockBytes } = geometry;
      const bytes = table.slice(at * blockBytes, (at + 1) * blockBytes);
      const buffer = new MetadataBuffer(
        this.descriptorBlock(at),
        bytes,
        BlockKind.descriptors,
        at,
        Origin.allocationMap,
      );
      buffer.pins = 1;
      cache.add(buffer);
    }
  }

  /** The buffer that holds a group's descriptor. */
  descriptorBuffer(group: number): MetadataBuffer {
    const perBlock = this.geometry.blockBytes / this.geometry.descriptorBytes;
    const buffer = this.cache.get(this.descriptorBlock(Math.floor(group / perBlock)));
    if (buffer === undefined) throw new Error(`descriptors of group ${group} are not in memory`);
    return buffer;
  }

  /** A group's block bitmap; one that was never written is made. @throws FsError EIO, EUCLEAN */
  *blockBitmap(group: number): Task<MetadataBuffer> {
    const at = this.blockBitmaps[group];
    const known = this.cache.get(at);
    if (known !== undefined) return known;
    if ((this.flags[group] & GroupFlag.blockUninit) !== 0) return this.makeBlockBitmap(group);
    const where = `block bitmap of group ${group}`;
    return yield* this.cache.load(at, BlockKind.blockBitmap, group, Origin.allocationMap, where, (bytes) => {
      this.check(bytes, this.geometry.blocksPerGroup, this.blockSums[group], where);
    });
  }

  /** A group's inode bitmap; one that was never written is made. @throws FsError EIO, EUCLEAN */
  *inodeBitmap(group: number): Task<MetadataBuffer> {
    const at = this.inodeBitmaps[group];
    const known = this.cache.get(at);
    if (known !== undefined) return known;
    const { inodesPerGroup } = this.geometry;
    if ((this.flags[group] & GroupFlag.inodeUninit) !== 0) {
      const made = this.cache.create(at, BlockKind.inodeBitmap, group, Origin.allocationMap);
      made.bytes.fill(0xff, inodesPerGroup >>> 3);
      this.inodeSums[group] = this.sums.bitmap(made.bytes, inodesPerGroup);
      return made;
    }
    const where = `inode bitmap of group ${group}`;
    return yield* this.cache.load(at, BlockKind.inodeBitmap, group, Origin.allocationMap, where, (bytes) => {
      this.check(bytes, inodesPerGroup, this.inodeSums[group], where);
    });
  }

  /** True if the table of a group has been used at this inode or behind it. */
  tableUsed(group: number, index: number): boolean {
    return index < this.geometry.inodesPerGroup - this.itableUnused[group];
  }

  /** Marks blocks of a group as used or free; the caller has made bitmap and descriptor part of a transaction. */
  markBlocks(bitmap: MetadataBuffer, from: number, length: number, used: boolean): void {
    const group = bitmap.owner;
    this.flags[group] &= ~GroupFlag.blockUninit;
    this.blockSums[group] = this.mark(
      bitmap.bytes,
      from,
      length,
      used,
      this.geometry.blocksPerGroup,
      this.blockSums[group],
    );
    const change = used ? -length : length;
    this.freeBlocks[group] += change;
    this.totalFreeBlocks += change;
    this.changed.add(group);
  }

  /** Marks an inode as used or free. */
  markInode(bitmap: MetadataBuffer, index: number, used: boolean, directory: boolean): void {
    const group = bitmap.owner;
    const { inodesPerGroup } = this.geometry;
    this.flags[group] &= ~GroupFlag.inodeUninit;
    this.inodeSums[group] = this.mark(bitmap.bytes, index, 1, used, inodesPerGroup, this.inodeSums[group]);
    const change = used ? -1 : 1;
    this.freeInodes[group] += change;
    this.totalFreeInodes += change;
    if (directory) this.usedDirs[group] -= change;
    if (used) this.itableUnused[group] = Math.min(this.itableUnused[group], inodesPerGroup - index - 1);
    this.changed.add(group);
  }

  /** Writes the descriptors that have changed into their buffers. */
  sealDescriptors(): void {
    const perBlock = this.geometry.blockBytes / this.geometry.descriptorBytes;
    for (const group of this.changed) {
      const { bytes } = this.descriptorBuffer(group);
      const at = (group % perBlock) * this.geometry.descriptorBytes;
      const kept = (sum: number): number => (this.sums.on ? keptChecksum(this.geometry, sum) : 0);
      const inodesMade = (this.flags[group] & GroupFlag.inodeUninit) === 0;
      const blocksMade = (this.flags[group] & GroupFlag.blockUninit) === 0;
      const descriptor = {
        blockBitmap: this.blockBitmaps[group],
        inodeBitmap: this.inodeBitmaps[group],
        inodeTable: this.inodeTables[group],
        freeBlocks: this.freeBlocks[group],
        freeInodes: this.freeInodes[group],
        usedDirs: this.usedDirs[group],
        flags: this.flags[group],
        blockBitmapChecksum: blocksMade ? kept(this.blockSums[group]) : 0,
        inodeBitmapChecksum: inodesMade ? kept(this.inodeSums[group]) : 0,
        itableUnused: this.itableUnused[group],
      };
      writeDescriptor(this.geometry, this.sums, group, descriptor, bytes, at);
    }
    this.changed.clear();
  }

  private descriptorBlock(at: number): number {
    return this.geometry.firstDataBlock + 1 + at;
  }

  private take(group: number, table: Uint8Array): void {
    const d = readDescriptor(this.geometry, table, group * this.geometry.descriptorBytes);
    this.blockBitmaps[group] = d.blockBitmap;
    this.inodeBitmaps[group] = d.inodeBitmap;
    this.inodeTables[group] = d.inodeTable;
    this.freeBlocks[group] = d.freeBlocks;
    this.freeInodes[group] = d.freeInodes;
    this.usedDirs[group] = d.usedDirs;
    this.flags[group] = d.flags;
    this.itableUnused[group] = d.itableUnused;
    this.blockSums[group] = d.blockBitmapChecksum;
    this.inodeSums[group] = d.inodeBitmapChecksum;
    this.totalFreeBlocks += d.freeBlocks;
    this.totalFreeInodes += d.freeInodes;
  }

  private check(bytes: Uint8Array, bits: number, expected: number, where: string): void {
    if (this.sums.on && keptChecksum(this.geometry, this.sums.bitmap(bytes, bits)) !== expected) {
      throw new FsError('EUCLEAN', `${where}: its checksum is wrong`);
    }
  }

  /** Only the group's own metadata are used in it. */
  private makeBlockBitmap(group: number): MetadataBuffer {
    const { geometry } = this;
    const buffer = this.cache.create(this.blockBitmaps[group], BlockKind.blockBitmap, group, Origin.allocationMap);
    const start = groupStart(geometry, group);
    const blocks = groupBlocks(geometry, group);
    const put = (block: number, length: number): void => {
      for (let at = Math.max(block, start); at < Math.min(block + length, start + blocks); at++)
        setBit(buffer.bytes, at - start);
    };
    put(start, superblockBlocks(geometry, group));
    const table = (geometry.inodesPerGroup * geometry.inodeBytes) / geometry.blockBytes;
    const flex = group - (group % geometry.groupsPerFlex);
    for (let other = flex; other < Math.min(flex + geometry.groupsPerFlex, this.count); other++) {
      put(this.blockBitmaps[other], 1);
      put(this.inodeBitmaps[other], 1);
      put(this.inodeTables[other], table);
    }
    for (let at = blocks; at < geometry.blockBytes * 8; at++) setBit(buffer.bytes, at);
    this.blockSums[group] = this.sums.bitmap(buffer.bytes, geometry.blocksPerGroup);
    return buffer;
  }

  /** Changes a run of bits; returns the new checksum of the bitmap. */
  private mark(bitmap: Uint8Array, from: number, length: number, used: boolean, bits: number, sum: number): number {
    const first = from >>> 3;
    const end = (from + length + 7) >>> 3;
    for (let at = first; at < end; at++) before[at - first] = bitmap[at];
    for (let bit = from; bit < from + length; bit++) {
      if (bitAt(bitmap, bit) === used) throw new Error(`bit ${bit} is ${used ? 'used' : 'free'} already`);
      if (used) setBit(bitmap, bit);
      else clearBit(bitmap, bit);
    }
    if (!this.sums.on) return 0;
    return crc32c.delta(sum, before, 0, bitmap, first, end - first, (bits >>> 3) - end);
  }
}

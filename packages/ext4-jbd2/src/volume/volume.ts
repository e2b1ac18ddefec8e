import { type BlockDevice, Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { isZero, u16, u32 } from '../format/bytes.js';
import { Checksums, superblockChecksum } from '../format/checksums.js';
import { type GroupDescriptor, GroupFlag, readDescriptor } from '../format/group.js';
import { type InodeRecord, readInode } from '../format/inode-record.js';
import {
  type Geometry,
  groupStart,
  readGeometry,
  SB,
  SUPERBLOCK_BYTES,
  SUPERBLOCK_OFFSET,
} from '../format/superblock.js';
import { DeviceBlocks, readBytes } from './device-blocks.js';

/** Blocks that a volume keeps in memory to spare reading them again. */
const KEPT_BLOCKS = 4096;

/** An inode as it lies in the table. */
export interface StoredInode {
  readonly ino: number;
  readonly record: InodeRecord;
  /** Its bytes, `s_inode_size` of them. */
  readonly bytes: Uint8Array;
}

/**
 * A file system on a device as it can be read without mounting it: superblock, descriptors, inodes. Every structure is
 * checked when it is read; what is wrong is an FsError EUCLEAN that names structure, place and reason.
 */
export class Volume {
  readonly geometry: Geometry;
  readonly sums: Checksums;
  /** The superblock's 1,024 bytes. */
  readonly superblock: Uint8Array;
  readonly io: DeviceBlocks;
  /** The group descriptors' table. */
  readonly descriptors: Uint8Array;
  private readonly kept: Map<number, Uint8Array> = new Map();

  private constructor(geometry: Geometry, superblock: Uint8Array, io: DeviceBlocks, descriptors: Uint8Array) {
    this.geometry = geometry;
    this.sums = new Checksums(geometry, superblock);
    this.superblock = superblock;
    this.io = io;
    this.descriptors = descriptors;
  }

  /** Reads superblock and descriptors. @throws FsError EINVAL, EUCLEAN, EIO */
  static *open(device: BlockDevice): Task<Volume> {
    const superblock = (yield* readBytes(device, SUPERBLOCK_OFFSET, SUPERBLOCK_BYTES, 'superblock')).slice();
    const geometry = readGeometry(superblock);
    const io = new DeviceBlocks(device, geometry.blockBytes);
    if (geometry.blocks > io.count) {
      throw new FsError(
        'EUCLEAN',
        `superblock: s_blocks_count is ${geometry.blocks}, the device has ${io.count} blocks`,
      );
    }
    const first = geometry.firstDataBlock + 1;
    const table = yield* io.read(first, geometry.descriptorBlocks, Origin.allocationMap, 'group descriptors');
    const volume = new Volume(geometry, superblock, io, table);
    volume.checkSuperblock();
    return volume;
  }

  /** A block; the bytes are the volume's and must not be changed. @throws FsError EIO, EUCLEAN outside the file system */
  *block(block: number, origin: number, where: string): Task<Uint8Array> {
    const known = this.kept.get(block);
    if (known !== undefined) return known;
    if (!(block >= 0 && block < this.geometry.blocks)) {
      throw new FsError('EUCLEAN', `${where}: block ${block} of ${this.geometry.blocks}`);
    }
    const bytes = yield* this.io.read(block, 1, origin, where);
    if (this.kept.size >= KEPT_BLOCKS) this.kept.clear();
    this.kept.set(block, bytes);
    return bytes;
  }

  /** A group's descriptor. @throws FsError EUCLEAN for a wrong checksum or places outside the file system. */
  descriptor(group: number): GroupDescriptor {
    const { geometry, sums, descriptors } = this;
    const at = group * geometry.descriptorBytes;
    const wrong = (what: string): never => {
      throw new FsError('EUCLEAN', `descriptor of group ${group}: ${what}`);
    };
    if ((sums.on || sums.groupsOnly) && u16(descriptors, at + 0x1e) !== sums.group(group, descriptors, at)) {
      wrong(
        `bg_checksum is 0x${u16(descriptors, at + 0x1e).toString(16)}, expected 0x${sums.group(group, descriptors, at).toString(16)}`,
      );
    }
    const descriptor = readDescriptor(geometry, descriptors, at);
    const tableBlocks = (geometry.inodesPerGroup * geometry.inodeBytes) / geometry.blockBytes;
    const first = groupStart(geometry, 0) + 1;
    for (const [name, block, length] of [
      ['bg_block_bitmap', descriptor.blockBitmap, 1],
      ['bg_inode_bitmap', descriptor.inodeBitmap, 1],
      ['bg_inode_table', descriptor.inodeTable, tableBlocks],
    ] as const) {
      if (block < first || block + length > geometry.blocks) wrong(`${name} is ${block}, outside the file system`);
    }
    return descriptor;
  }

  /** An inode. @throws FsError EUCLEAN for a number that does not exist or a wrong checksum. */
  *inode(ino: number): Task<StoredInode> {
    const { geometry, sums } = this;
    const { inodesPerGroup, inodeBytes, blockBytes } = geometry;
    if (!(ino >= 1 && ino <= geometry.inodes)) throw new FsError('EUCLEAN', `inode ${ino} of ${geometry.inodes}`);
    const group = Math.floor((ino - 1) / inodesPerGroup);
    const index = (ino - 1) % inodesPerGroup;
    const descriptor = this.descriptor(group);
    if ((descriptor.flags & GroupFlag.inodeUninit) !== 0 && (sums.on || sums.groupsOnly)) {
      throw new FsError('EUCLEAN', `inode ${ino}: the table of group ${group} is not in use`);
    }
    const block = descriptor.inodeTable + Math.floor((index * inodeBytes) / blockBytes);
    const table = yield* this.block(block, Origin.inode, `inode ${ino}`);
    const at = (index * inodeBytes) % blockBytes;
    const bytes = table.slice(at, at + inodeBytes);
    // What was never used is zero and has no checksum.
    if (!sums.inodeIsRight(ino, bytes, 0) && !isZero(bytes)) {
      throw new FsError('EUCLEAN', `inode ${ino} in block ${block}: i_checksum is wrong`);
    }
    return { ino, record: readInode(geometry, bytes, 0), bytes };
  }

  private checkSuperblock(): void {
    const found = u32(this.superblock, SB.s_checksum);
    const expected = superblockChecksum(this.superblock);
    if (!this.sums.on || found === expected) return;
    const text = `s_checksum is 0x${found.toString(16)}, expected 0x${expected.toString(16)}`;
    throw new FsError('EUCLEAN', `superblock: ${text}`);
  }
}

import type { BlockDevice, MemoryDevice } from '@flashstack/block-device';
import { runTask, Simulator } from '@flashstack/sim';
import { clearBit, put16, put32, putBe32, setBit, u16, u32 } from '../src/format/bytes.js';
import { superblockChecksum } from '../src/format/checksums.js';
import { sealLeaf } from '../src/format/dir-block.js';
import { writeDescriptor } from '../src/format/group.js';
import { SB } from '../src/format/superblock.js';
import { Volume } from '../src/index.js';
import { bytesAt, imageOf, patch, TIME } from './images.js';

/** One change of one field of `min-tree`, whose checksums are right again afterwards. */
export interface Damage {
  readonly name: string;
  readonly image?: string | undefined;
  /** `e2fsck -n` does not mention it: it repairs it without a word, or looks at it only when it may write. */
  readonly quiet?: boolean;
  make(volume: Volume, device: BlockDevice): void;
}

const BLOCK = 4096;
const run = <T>(task: Parameters<typeof runTask<T>>[1]): T => runTask(new Simulator(), task);

function superblock(name: string, change: (sb: Uint8Array) => void, image?: string): Damage {
  return {
    name,
    image,
    make: (_, device) =>
      patch(device, 1024, (sb) => {
        change(sb);
        put32(sb, SB.s_checksum, superblockChecksum(sb));
      }),
  };
}

type Descriptor = ReturnType<Volume['descriptor']>;

function group(name: string, change: (descriptor: Descriptor) => void, image?: string, number: number = 0): Damage {
  return {
    name,
    image,
    make: (volume, device) => {
      const { geometry, sums } = volume;
      const descriptor = volume.descriptor(number);
      change(descriptor);
      patch(device, (geometry.firstDataBlock + 1) * geometry.blockBytes, (table) =>
        writeDescriptor(geometry, sums, number, descriptor, table, number * geometry.descriptorBytes),
      );
    },
  };
}

function inode(name: string, ino: number, change: (record: Uint8Array) => void): Damage {
  return {
    name,
    make: (volume, device) => {
      const { geometry, sums } = volume;
      const { inodeTable } = volume.descriptor(0);
      const at = inodeTable * geometry.blockBytes + (ino - 1) * geometry.inodeBytes;
      patch(
        device,
        at,
        (record) => {
          change(record);
          sums.sealInode(ino, record, 0);
        },
        geometry.inodeBytes,
      );
    },
  };
}

/** Changes a bitmap; its checksum, and that of the descriptor, are right again. */
function bitmap(name: string, kind: 'block' | 'inode', change: (bits: Uint8Array) => void): Damage {
  return {
    name,
    make: (volume, device) => {
      const descriptor = volume.descriptor(0);
      const place = kind === 'block' ? descriptor.blockBitmap : descriptor.inodeBitmap;
      patch(device, place * BLOCK, change, BLOCK);
      const bits = bytesAt(device, place * BLOCK, BLOCK);
      const { blocksPerGroup, inodesPerGroup } = volume.geometry;
      const sum = volume.sums.bitmap(bits, kind === 'block' ? blocksPerGroup : inodesPerGroup);
      group('', (d) => {
        if (kind === 'block') d.blockBitmapChecksum = sum;
        else d.inodeBitmapChecksum = sum;
      }).make(volume, device);
    },
  };
}

/** Changes the only block of the root directory. */
function root(name: string, change: (block: Uint8Array) => void, sealed: boolean = true): Damage {
  return {
    name,
    make: (volume, device) => {
      const record = run(volume.inode(2)).bytes;
      const place = u32(record, 0x28 + 12 + 8);
      patch(
        device,
        place * BLOCK,
        (block) => {
          change(block);
          if (sealed) sealLeaf(volume.sums.inodeSeed(2, u32(record, 0x64)), block);
        },
        BLOCK,
      );
    },
  };
}

/** Offset of the n-th entry of a directory block. */
function entry(block: Uint8Array, index: number): number {
  let at = 0;
  for (let step = 0; step < index; step++) at += u16(block, at + 4);
  return at;
}

function journal(name: string, change: (jsb: Uint8Array) => void): Damage {
  return {
    name,
    make: (volume, device) => {
      const record = run(volume.inode(8)).bytes;
      patch(device, u32(record, 0x28 + 12 + 8) * BLOCK, change);
    },
  };
}

function quiet(damage: Damage): Damage {
  return { ...damage, quiet: true };
}

const later = TIME + 400 * 86_400;

export const DAMAGES: readonly Damage[] = [
  superblock('a superblock with too many free blocks', (sb) => put32(sb, SB.s_free_blocks_count_lo, 7000)),
  superblock('a superblock with too many free inodes', (sb) => put32(sb, SB.s_free_inodes_count, 5)),
  quiet(superblock('no variant of the directory hash', (sb) => put32(sb, SB.s_flags, 0))),
  quiet(superblock('no copy of the journal inode', (sb) => sb.fill(0, SB.s_jnl_backup_type, SB.s_jnl_backup_type + 1))),
  quiet(superblock('an old copy of the journal inode', (sb) => put32(sb, SB.s_jnl_blocks + 20, 77))),
  superblock('reserved descriptors without resize_inode', (sb) => put16(sb, SB.s_reserved_gdt_blocks, 5)),
  quiet(superblock('errors on record', (sb) => put16(sb, SB.s_state, 3))),
  quiet(superblock('a write in the future', (sb) => put32(sb, SB.s_wtime, later))),
  quiet(superblock('a mount in the future', (sb) => put32(sb, SB.s_mtime, later))),
  quiet(superblock('an orphan that is no inode', (sb) => put32(sb, SB.s_last_orphan, 100_000))),
  superblock('another uuid', (sb) => sb.fill(7, SB.s_uuid, SB.s_uuid + 16)),
  superblock('no journal feature beside a journal', (sb) => put32(sb, SB.s_feature_compat, 0x28)),
  group('a group with too many free blocks', (d) => d.freeBlocks++),
  group('a group with too few free inodes', (d) => d.freeInodes--),
  group('a group with too many directories', (d) => d.usedDirs++),
  group('a group whose table is said to be unused', (d) => {
    d.itableUnused = 8192 - 20;
  }),
  group('BLOCK_UNINIT in the last group', (d) => {
    d.flags |= 2;
  }),
  group(
    'BLOCK_UNINIT in the last of several groups',
    (d) => {
      d.flags |= 2;
    },
    'def-groups',
    4,
  ),
  group('another checksum of the block bitmap', (d) => d.blockBitmapChecksum++),
  group('another checksum of the inode bitmap', (d) => d.inodeBitmapChecksum++),
  group('a table that lies elsewhere', (d) => d.inodeTable++),
  {
    name: 'a descriptor with a wrong checksum',
    make: (_, device) => patch(device, BLOCK, (table) => put16(table, 0x1e, u16(table, 0x1e) ^ 1)),
  },
  bitmap('a used block that is free in the bitmap', 'block', (bits) => clearBit(bits, 3)),
  bitmap('a free block that is used in the bitmap', 'block', (bits) => setBit(bits, 8190)),
  bitmap('padding of the block bitmap', 'block', (bits) => clearBit(bits, 9000)),
  bitmap('a used inode that is free in the bitmap', 'inode', (bits) => clearBit(bits, 11)),
  bitmap('a free inode that is used in the bitmap', 'inode', (bits) => setBit(bits, 8000)),
  bitmap('padding of the inode bitmap', 'inode', (bits) => clearBit(bits, 9000)),
  inode('a directory with too many links', 2, (record) => put16(record, 0x1a, 40)),
  inode('a directory with a size that is no block', 2, (record) => put32(record, 0x4, 4000)),
  inode('a directory with a longer size', 2, (record) => put32(record, 0x4, 8192)),
  inode('too many i_blocks', 2, (record) => put32(record, 0x1c, 16)),
  inode('a dtime of an inode in use', 11, (record) => put32(record, 0x14, TIME)),
  inode('an inode whose links are gone', 11, (record) => put16(record, 0x1a, 0)),
  inode('a kind of file that does not exist', 12, (record) => put16(record, 0x0, 0x3000)),
  inode('a directory that has become a file', 12, (record) => put16(record, 0x0, 0o100644)),
  inode('an extent beyond the end', 2, (record) => put32(record, 0x28 + 20, 9000)),
  inode('an extent within the tables', 2, (record) => put32(record, 0x28 + 20, 60)),
  inode('an extent root with another magic', 2, (record) => put16(record, 0x28, 0xf30b)),
  inode('an extent root with too many entries', 2, (record) => put16(record, 0x2a, 5)),
  inode('an empty extent', 2, (record) => put16(record, 0x28 + 16, 0)),
  inode('no file of the journal', 8, (record) => put16(record, 0x0, 0)),
  {
    name: 'an inode with a wrong checksum',
    make: (volume, device) =>
      patch(device, volume.descriptor(0).inodeTable * BLOCK + 256, (record) =>
        put16(record, 0x7c, u16(record, 0x7c) ^ 1),
      ),
  },
  root('a directory without .', (block) => put32(block, entry(block, 0), 0)),
  root('a . of another inode', (block) => put32(block, entry(block, 0), 11)),
  root('a .. of another inode', (block) => put32(block, entry(block, 1), 11)),
  root('an entry of a wrong kind', (block) => block.fill(1, entry(block, 2) + 7, entry(block, 2) + 8)),
  root('an entry of an inode that is not in use', (block) => put32(block, entry(block, 3), 8000)),
  root('an entry of an inode that does not exist', (block) => put32(block, entry(block, 3), 9000)),
  root('an entry of a reserved inode', (block) => put32(block, entry(block, 3), 8)),
  root('an entry that is gone', (block) => put32(block, entry(block, 3), 0)),
  root('an entry with a slash', (block) => block.fill(47, entry(block, 2) + 8, entry(block, 2) + 9)),
  root('an entry that is too long', (block) => put16(block, entry(block, 3) + 4, 4000)),
  root('an entry without length', (block) => put16(block, entry(block, 3) + 4, 0)),
  root('a directory block without checksum', (block) => block.fill(0, BLOCK - 12), false),
  root('a directory block with a wrong checksum', (block) => put32(block, BLOCK - 4, 1), false),
  journal('a journal that is longer than its file', (jsb) => putBe32(jsb, 0x10, 5000)),
  quiet(journal('a journal that is too short', (jsb) => putBe32(jsb, 0x10, 500))),
  journal('a journal with another magic', (jsb) => putBe32(jsb, 0, 1)),
  journal('a journal of other blocks', (jsb) => putBe32(jsb, 0xc, 1024)),
  journal('a log without needs_recovery', (jsb) => putBe32(jsb, 0x1c, 1)),
];

/** A device with one damage. */
export function damaged({ image = 'min-tree', make }: Damage): MemoryDevice {
  const device = imageOf(image);
  make(run(Volume.open(device)), device);
  return device;
}

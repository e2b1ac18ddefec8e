import { type BlockDevice, BlockOp, IoBatch, Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { put16, put32, putBe32, putByteString, setBit } from '../format/bytes.js';
import { Checksums, superblockChecksum } from '../format/checksums.js';
import { sealLeaf, TAIL_BYTES, typeOfKind, writeEntry, writeTail } from '../format/dir-block.js';
import {
  initNode,
  MOST_WRITTEN,
  nodeCapacity,
  ROOT_ENTRIES,
  sealNode,
  setEntries,
  writeExtent,
  writeIndex,
} from '../format/extents.js';
import { Compat, Incompat, RoCompat } from '../format/features.js';
import { type GroupDescriptor, GroupFlag, writeDescriptor } from '../format/group.js';
import { I_BLOCK, I_BLOCK_BYTES, InodeFlag, type InodeRecord, writeInode } from '../format/inode-record.js';
import {
  EXT4_MAGIC,
  type Geometry,
  Ino,
  readGeometry,
  SB,
  State,
  SUPERBLOCK_BYTES,
  SUPERBLOCK_OFFSET,
} from '../format/superblock.js';
import { JOURNAL_MAGIC, JSB } from '../journal/records.js';
import { DeviceBlocks } from '../volume/device-blocks.js';
import { MkfsLayout, type Run } from './layout.js';
import { checkMkfsOptions, type MkfsOptions } from './options.js';
import { isBackupGroup, MKFS_BLOCK, MKFS_DESCRIPTOR, MKFS_FLEX, MKFS_INODE, planOf } from './plan.js';

/** First inode that is not reserved: `lost+found`. */
const LOST_FOUND = 11;
const LOST_FOUND_BLOCKS = 4;
const EXTRA_BYTES = 32;

/**
 * Makes a file system of the minimal profile: 4 KiB blocks, 256-byte inodes, `has_journal ext_attr dir_index filetype extent
 * 64bit flex_bg sparse_super large_file huge_file dir_nlink extra_isize metadata_csum`. What it writes is byte for byte what
 * mke2fs writes, but for the count of KiB written in the superblock. Blocks of the journal are zeroed: what an older
 * file system left there must not be replayed.
 * @throws InputError for options that cannot be, FsError EIO
 */
export function* mkfs(device: BlockDevice, options: MkfsOptions): Task<void> {
  checkMkfsOptions(options);
  const io = new DeviceBlocks(device, MKFS_BLOCK);
  const maker = new Maker(io, options);
  yield* maker.write();
}

class Maker {
  private readonly io: DeviceBlocks;
  private readonly options: MkfsOptions;
  private readonly layout: MkfsLayout;
  private readonly superblock: Uint8Array = new Uint8Array(SUPERBLOCK_BYTES);
  private readonly geometry: Geometry;
  private readonly sums: Checksums;
  private readonly root: Run[];
  private readonly lostFound: Run[];
  private readonly journal: Run[];
  /** The block of extents of a journal in more than four pieces, or 0. */
  private readonly journalNode: number;
  private readonly inodeTable: Uint8Array = new Uint8Array(MKFS_BLOCK);

  constructor(io: DeviceBlocks, options: MkfsOptions) {
    this.io = io;
    this.options = options;
    const plan = planOf(io.count, options);
    this.layout = new MkfsLayout(plan);
    this.root = this.layout.allocate(1, 0);
    this.lostFound = this.layout.allocate(LOST_FOUND_BLOCKS, 0);
    this.journal = cut(
      plan.journalBlocks === 0 ? [] : this.layout.allocate(plan.journalBlocks, this.layout.journalGoal()),
    );
    this.journalNode =
      this.journal.length > ROOT_ENTRIES ? this.layout.allocate(1, this.layout.journalGoal())[0].start : 0;
    this.fillSuperblock();
    this.geometry = readGeometry(this.superblock);
    this.sums = new Checksums(this.geometry, this.superblock);
  }

  *write(): Task<void> {
    const { io } = this;
    yield* this.zero();
    this.makeInodes();
    const table = this.layout.groups[0].inodeTable;
    yield* io.write(table, this.inodeTable, Origin.inode, 'inode table');
    yield* io.write(this.root[0].start, this.rootBlock(), Origin.directory, 'root directory');
    const blocks = this.lostFound.flatMap(({ start, length }) => Array.from({ length }, (_, at) => start + at));
    for (let at = 0; at < blocks.length; at++) {
      yield* io.write(blocks[at], this.lostFoundBlock(at), Origin.directory, 'lost+found');
    }
    if (this.journal.length > 0) {
      yield* io.write(this.journal[0].start, this.journalSuperblock(), Origin.journal, 'journal superblock');
    }
    if (this.journalNode > 0)
      yield* io.write(this.journalNode, this.journalExtents(), Origin.node, 'extents of the journal');
    const descriptors = yield* this.writeBitmaps();
    for (let group = this.layout.plan.groups - 1; group >= 0; group--) {
      if (isBackupGroup(group)) yield* this.writeSuperblock(group, descriptors);
    }
    yield* io.flush();
  }

  /** Tables, journal and all that is read before it is written must hold nothing old. */
  private *zero(): Task<void> {
    const { plan, groups } = this.layout;
    const batch = new IoBatch(this.io.device);
    const clear = (start: number, length: number, origin: number): void => {
      const { units } = this.io;
      const request = batch.add(BlockOp.writeZeroes, start * units, length * units);
      request.origin = origin;
    };
    clear(0, 1 + plan.descriptorBlocks, Origin.superblock);
    for (const { inodeTable, inodeBitmap, blockBitmap } of groups) {
      clear(inodeTable, plan.tableBlocks, Origin.inode);
      clear(inodeBitmap, 1, Origin.allocationMap);
      clear(blockBitmap, 1, Origin.allocationMap);
    }
    for (const { start, length } of this.journal) clear(start, length, Origin.journal);
    yield batch;
    if (batch.status !== 0) throw new FsError('EIO', 'mkfs: blocks cannot be zeroed');
  }

  private fillSuperblock(): void {
    const { options, layout, superblock: sb } = this;
    const { plan } = layout;
    const { timeSec } = options;
    let free = plan.blocks;
    for (let group = 0; group < plan.groups; group++) free -= layout.usedIn(group);
    const inodes = plan.groups * plan.inodesPerGroup;
    const values: readonly (readonly [at: number, value: number])[] = [
      [SB.s_inodes_count, inodes],
      [SB.s_blocks_count_lo, plan.blocks],
      [SB.s_r_blocks_count_lo, plan.reserved],
      [SB.s_free_blocks_count_lo, free],
      [SB.s_free_inodes_count, inodes - LOST_FOUND],
      [SB.s_log_block_size, 2],
      [SB.s_log_cluster_size, 2],
      [SB.s_blocks_per_group, plan.blocksPerGroup],
      [SB.s_clusters_per_group, plan.blocksPerGroup],
      [SB.s_inodes_per_group, plan.inodesPerGroup],
      [SB.s_wtime, timeSec],
      [SB.s_lastcheck, timeSec],
      [SB.s_rev_level, 1],
      [SB.s_first_ino, LOST_FOUND],
      [SB.s_feature_compat, (this.journal.length > 0 ? Compat.hasJournal : 0) | Compat.extAttr | Compat.dirIndex],
      [SB.s_feature_incompat, Incompat.filetype | Incompat.extents | Incompat.bit64 | Incompat.flexBg],
      [SB.s_feature_ro_compat, RO_COMPAT],
      [SB.s_journal_inum, this.journal.length > 0 ? Ino.journal : 0],
      [SB.s_default_mount_opts, 0xc],
      [SB.s_mkfs_time, timeSec],
      [SB.s_flags, 1],
      [SB.s_overhead_clusters, layout.metadataBlocks + plan.journalBlocks],
    ];
    for (const [at, value] of values) put32(sb, at, value);
    put16(sb, SB.s_max_mnt_count, 0xffff);
    put16(sb, SB.s_magic, EXT4_MAGIC);
    put16(sb, SB.s_state, State.clean);
    put16(sb, SB.s_errors, 1);
    put16(sb, SB.s_inode_size, MKFS_INODE);
    put16(sb, SB.s_desc_size, MKFS_DESCRIPTOR);
    put16(sb, SB.s_min_extra_isize, EXTRA_BYTES);
    put16(sb, SB.s_want_extra_isize, EXTRA_BYTES);
    sb[SB.s_def_hash_version] = 1;
    sb[SB.s_log_groups_per_flex] = Math.log2(MKFS_FLEX);
    sb[SB.s_checksum_type] = 1;
    sb.set(options.uuid, SB.s_uuid);
    sb.set(options.hashSeed, SB.s_hash_seed);
    putByteString(sb, SB.s_volume_name, options.label ?? '');
  }

  private record(mode: number, links: number, size: number, blocks: number): InodeRecord {
    const sec = this.options.timeSec;
    return {
      mode,
      uid: 0,
      gid: 0,
      size,
      links,
      sectors: blocks * (MKFS_BLOCK / 512),
      flags: InodeFlag.extents,
      generation: 0,
      attributeBlock: 0,
      dtime: 0,
      extraBytes: EXTRA_BYTES,
      accessedSec: sec,
      accessedNsec: 0,
      changedSec: sec,
      changedNsec: 0,
      modifiedSec: sec,
      modifiedNsec: 0,
      bornSec: sec,
      bornNsec: 0,
    };
  }

  private makeInodes(): void {
    const { geometry, inodeTable, options } = this;
    for (let ino = 1; ino < LOST_FOUND; ino++) this.sums.sealInode(ino, inodeTable, (ino - 1) * MKFS_INODE);
    // The inode of bad blocks has times and nothing else.
    for (const at of [0x8, 0xc, 0x10]) put32(inodeTable, at, options.timeSec);
    this.sums.sealInode(Ino.bad, inodeTable, 0);
    const make = (ino: number, record: InodeRecord, runs: readonly Run[]): void => {
      const at = (ino - 1) * MKFS_INODE;
      writeInode(geometry, record, inodeTable, at);
      putExtents(inodeTable, at + I_BLOCK, runs);
      if (ino === Ino.journal && this.journalNode > 0) {
        initNode(inodeTable, at + I_BLOCK, ROOT_ENTRIES, 1);
        setEntries(inodeTable, at + I_BLOCK, 1);
        writeIndex(inodeTable, at + I_BLOCK, 0, 0, this.journalNode);
      }
      this.sums.sealInode(ino, inodeTable, at);
    };
    make(Ino.root, this.record(0o40755, 3, MKFS_BLOCK, 1), this.root);
    make(LOST_FOUND, this.record(0o40700, 2, LOST_FOUND_BLOCKS * MKFS_BLOCK, LOST_FOUND_BLOCKS), this.lostFound);
    if (this.journal.length === 0) return;
    const { journalBlocks } = this.layout.plan;
    const blocks = journalBlocks + (this.journalNode > 0 ? 1 : 0);
    make(Ino.journal, this.record(0o100600, 1, journalBlocks * MKFS_BLOCK, blocks), this.journal);
    // A copy of where the journal lies, in case its inode is lost.
    const at = (Ino.journal - 1) * MKFS_INODE;
    this.superblock[SB.s_jnl_backup_type] = 1;
    this.superblock.set(inodeTable.subarray(at + I_BLOCK, at + I_BLOCK + I_BLOCK_BYTES), SB.s_jnl_blocks);
    put32(this.superblock, SB.s_jnl_blocks + 16 * 4, journalBlocks * MKFS_BLOCK);
    put32(this.superblock, SB.s_jnl_blocks + 15 * 4, Math.floor((journalBlocks * MKFS_BLOCK) / 2 ** 32));
  }

  private journalExtents(): Uint8Array {
    const block = new Uint8Array(MKFS_BLOCK);
    initNode(block, 0, nodeCapacity(MKFS_BLOCK), 0);
    putRuns(block, 0, this.journal);
    sealNode(this.sums.inodeSeed(Ino.journal, 0), block);
    return block;
  }

  private rootBlock(): Uint8Array {
    const block = new Uint8Array(MKFS_BLOCK);
    const directory = typeOfKind(4);
    writeEntry(block, 0, Ino.root, 12, '.', directory);
    writeEntry(block, 12, Ino.root, 12, '..', directory);
    writeEntry(block, 24, LOST_FOUND, MKFS_BLOCK - TAIL_BYTES - 24, 'lost+found', directory);
    writeTail(block, MKFS_BLOCK);
    sealLeaf(this.sums.inodeSeed(Ino.root, 0), block);
    return block;
  }

  private lostFoundBlock(index: number): Uint8Array {
    const block = new Uint8Array(MKFS_BLOCK);
    const directory = typeOfKind(4);
    if (index === 0) {
      writeEntry(block, 0, LOST_FOUND, 12, '.', directory);
      writeEntry(block, 12, Ino.root, MKFS_BLOCK - TAIL_BYTES - 12, '..', directory);
    } else writeEntry(block, 0, 0, MKFS_BLOCK - TAIL_BYTES, '', 0);
    writeTail(block, MKFS_BLOCK);
    sealLeaf(this.sums.inodeSeed(LOST_FOUND, 0), block);
    return block;
  }

  /** As mke2fs leaves it: without features, which the first mount sets. */
  private journalSuperblock(): Uint8Array {
    const block = new Uint8Array(MKFS_BLOCK);
    putBe32(block, 0, JOURNAL_MAGIC);
    putBe32(block, 4, 4);
    putBe32(block, JSB.s_blocksize, MKFS_BLOCK);
    putBe32(block, JSB.s_maxlen, this.layout.plan.journalBlocks);
    putBe32(block, JSB.s_first, 1);
    putBe32(block, JSB.s_sequence, 1);
    block.set(this.options.uuid, JSB.s_uuid);
    putBe32(block, JSB.s_nr_users, 1);
    return block;
  }

  /** Writes the bitmaps that are valid; returns the descriptor table. */
  private *writeBitmaps(): Task<Uint8Array> {
    const { plan, groups } = this.layout;
    const table = new Uint8Array(plan.descriptorBlocks * MKFS_BLOCK);
    for (let group = 0; group < plan.groups; group++) {
      const place = groups[group];
      const used = this.layout.usedIn(group);
      const first = group === 0;
      const ownOnly = used === (isBackupGroup(group) ? 1 + plan.descriptorBlocks : 0);
      const blockUninit = !first && group < plan.groups - 1 && ownOnly;
      const descriptor: GroupDescriptor = {
        ...place,
        freeBlocks: this.layout.blocksOf(group) - used,
        freeInodes: plan.inodesPerGroup - (first ? LOST_FOUND : 0),
        usedDirs: first ? 2 : 0,
        flags: GroupFlag.inodeZeroed | (first ? 0 : GroupFlag.inodeUninit) | (blockUninit ? GroupFlag.blockUninit : 0),
        blockBitmapChecksum: 0,
        inodeBitmapChecksum: 0,
        itableUnused: plan.inodesPerGroup - (first ? LOST_FOUND : 0),
      };
      if (!blockUninit) {
        const bitmap = this.layout.bitmap(group);
        descriptor.blockBitmapChecksum = this.sums.bitmap(bitmap, plan.blocksPerGroup);
        yield* this.io.write(place.blockBitmap, bitmap, Origin.allocationMap, `block bitmap of group ${group}`);
      }
      if (first) {
        const bitmap = this.inodeBitmap();
        descriptor.inodeBitmapChecksum = this.sums.bitmap(bitmap, plan.inodesPerGroup);
        yield* this.io.write(place.inodeBitmap, bitmap, Origin.allocationMap, 'inode bitmap of group 0');
      }
      writeDescriptor(this.geometry, this.sums, group, descriptor, table, group * MKFS_DESCRIPTOR);
    }
    return table;
  }

  private inodeBitmap(): Uint8Array {
    const bitmap = new Uint8Array(MKFS_BLOCK);
    for (let at = 0; at < LOST_FOUND; at++) setBit(bitmap, at);
    bitmap.fill(0xff, this.layout.plan.inodesPerGroup / 8);
    return bitmap;
  }

  /** The superblock of a group, and the descriptors behind it. */
  private *writeSuperblock(group: number, descriptors: Uint8Array): Task<void> {
    const block = new Uint8Array(MKFS_BLOCK);
    const sb = this.superblock.slice();
    put16(sb, SB.s_block_group_nr, group);
    // Only the first one says that the file system is clean.
    if (group > 0) put16(sb, SB.s_state, 0);
    put32(sb, SB.s_checksum, superblockChecksum(sb));
    block.set(sb, group === 0 ? SUPERBLOCK_OFFSET : 0);
    const start = this.layout.start(group);
    yield* this.io.write(start + 1, descriptors, Origin.allocationMap, 'group descriptors');
    yield* this.io.write(start, block, Origin.superblock, 'superblock');
  }
}

const RO_COMPAT: number =
  RoCompat.sparseSuper |
  RoCompat.largeFile |
  RoCompat.hugeFile |
  RoCompat.dirNlink |
  RoCompat.extraIsize |
  RoCompat.metadataCsum;

/** Runs in pieces that an extent can hold. */
function cut(runs: readonly Run[]): Run[] {
  return runs.flatMap(({ start, length }) => {
    const pieces: Run[] = [];
    for (let at = 0; at < length; at += MOST_WRITTEN) {
      pieces.push({ start: start + at, length: Math.min(MOST_WRITTEN, length - at) });
    }
    return pieces;
  });
}

/** An extent root with these runs one after the other; more than four belong into a block of their own. */
function putExtents(record: Uint8Array, at: number, runs: readonly Run[]): void {
  initNode(record, at, ROOT_ENTRIES, 0);
  if (runs.length <= ROOT_ENTRIES) putRuns(record, at, runs);
}

function putRuns(node: Uint8Array, at: number, runs: readonly Run[]): void {
  setEntries(node, at, runs.length);
  let logical = 0;
  runs.forEach(({ start, length }, index) => {
    writeExtent(node, at, index, { logical, length, physical: start, unwritten: false });
    logical += length;
  });
}

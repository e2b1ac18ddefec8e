import { FsError } from '@flashstack/vfs';
import { join32, u16, u32 } from './bytes.js';
import { Compat, Incompat, RoCompat, unreadable } from './features.js';

/** Where the superblock lies, in bytes, and how long it is. */
export const SUPERBLOCK_OFFSET = 1024;
export const SUPERBLOCK_BYTES = 1024;
export const EXT4_MAGIC = 0xef53;

/** Offsets of superblock fields, under their names in the format documentation. */
export const SB = {
  s_inodes_count: 0x0,
  s_blocks_count_lo: 0x4,
  s_r_blocks_count_lo: 0x8,
  s_free_blocks_count_lo: 0xc,
  s_free_inodes_count: 0x10,
  s_first_data_block: 0x14,
  s_log_block_size: 0x18,
  s_log_cluster_size: 0x1c,
  s_blocks_per_group: 0x20,
  s_clusters_per_group: 0x24,
  s_inodes_per_group: 0x28,
  s_mtime: 0x2c,
  s_wtime: 0x30,
  s_mnt_count: 0x34,
  s_max_mnt_count: 0x36,
  s_magic: 0x38,
  s_state: 0x3a,
  s_errors: 0x3c,
  s_lastcheck: 0x40,
  s_checkinterval: 0x44,
  s_creator_os: 0x48,
  s_rev_level: 0x4c,
  s_first_ino: 0x54,
  s_inode_size: 0x58,
  s_block_group_nr: 0x5a,
  s_feature_compat: 0x5c,
  s_feature_incompat: 0x60,
  s_feature_ro_compat: 0x64,
  s_uuid: 0x68,
  s_volume_name: 0x78,
  s_last_mounted: 0x88,
  s_reserved_gdt_blocks: 0xce,
  s_journal_uuid: 0xd0,
  s_journal_inum: 0xe0,
  s_journal_dev: 0xe4,
  s_last_orphan: 0xe8,
  s_hash_seed: 0xec,
  s_def_hash_version: 0xfc,
  s_jnl_backup_type: 0xfd,
  s_desc_size: 0xfe,
  s_default_mount_opts: 0x100,
  s_first_meta_bg: 0x104,
  s_mkfs_time: 0x108,
  s_jnl_blocks: 0x10c,
  s_blocks_count_hi: 0x150,
  s_r_blocks_count_hi: 0x154,
  s_free_blocks_count_hi: 0x158,
  s_min_extra_isize: 0x15c,
  s_want_extra_isize: 0x15e,
  s_flags: 0x160,
  s_log_groups_per_flex: 0x174,
  s_checksum_type: 0x175,
  s_kbytes_written: 0x178,
  s_error_count: 0x194,
  s_overhead_clusters: 0x248,
  s_checksum_seed: 0x270,
  s_orphan_file_inum: 0x280,
  s_checksum: 0x3fc,
} as const;

/** Numbers of special inodes. */
export const Ino = { bad: 1, root: 2, bootLoader: 5, undelete: 6, resize: 7, journal: 8 } as const;

/** Bits of `s_state`. */
export const State = { clean: 1, errors: 2, orphans: 4 } as const;

/** Bits of `s_flags`: which variant of the directory hash the file system was made with. */
const UNSIGNED_HASH = 2;

/** Everything about a file system that does not change while it is mounted, in the terms of the format. */
export interface Geometry {
  readonly blockBytes: number;
  readonly blocks: number;
  readonly firstDataBlock: number;
  readonly blocksPerGroup: number;
  readonly inodesPerGroup: number;
  readonly inodes: number;
  readonly groups: number;
  readonly inodeBytes: number;
  /** Bytes of a group descriptor: 32, or with 64bit more. */
  readonly descriptorBytes: number;
  /** Blocks of the group descriptor table. */
  readonly descriptorBlocks: number;
  readonly reservedGdtBlocks: number;
  readonly firstInode: number;
  readonly groupsPerFlex: number;
  readonly compat: number;
  readonly incompat: number;
  readonly roCompat: number;
  readonly uuid: Uint8Array;
  readonly hashSeed: Uint8Array;
  readonly hashVersion: number;
  /** Bytes of names are unsigned for the directory hash. */
  readonly unsignedHash: boolean;
  readonly journalInode: number;
}

function refuse(what: string): never {
  throw new FsError('EUCLEAN', `superblock: ${what}`);
}

/**
 * Reads the 1,024 bytes of a superblock.
 * @throws FsError EINVAL for another format or an unsupported feature (by name), EUCLEAN for impossible values.
 */
export function readGeometry(sb: Uint8Array): Geometry {
  const magic = u16(sb, SB.s_magic);
  if (magic !== EXT4_MAGIC) {
    throw new FsError('EINVAL', `superblock: s_magic is 0x${magic.toString(16)}, expected 0xef53: no ext4 file system`);
  }
  const incompat = u32(sb, SB.s_feature_incompat);
  const unknown = unreadable(incompat);
  if (unknown.length > 0) {
    const features = unknown.length === 1 ? `feature ${unknown[0]} is` : `features ${unknown.join(', ')} are`;
    throw new FsError('EINVAL', `superblock: incompatible ${features} not supported`);
  }
  const log = u32(sb, SB.s_log_block_size);
  if (log > 6) refuse(`s_log_block_size is ${log}, expected 0 to 6`);
  const blockBytes = 1024 << log;
  if (blockBytes > 32_768) refuse('blocks of 64 KiB are not supported');
  const bit64 = (incompat & Incompat.bit64) !== 0;
  const revised = u32(sb, SB.s_rev_level) > 0;
  const geometry = {
    blockBytes,
    blocks: join32(u32(sb, SB.s_blocks_count_lo), bit64 ? u32(sb, SB.s_blocks_count_hi) : 0),
    firstDataBlock: u32(sb, SB.s_first_data_block),
    blocksPerGroup: u32(sb, SB.s_blocks_per_group),
    inodesPerGroup: u32(sb, SB.s_inodes_per_group),
    inodes: u32(sb, SB.s_inodes_count),
    inodeBytes: revised ? u16(sb, SB.s_inode_size) : 128,
    descriptorBytes: bit64 ? u16(sb, SB.s_desc_size) : 32,
    reservedGdtBlocks: u16(sb, SB.s_reserved_gdt_blocks),
    firstInode: revised ? u32(sb, SB.s_first_ino) : 11,
    groupsPerFlex: (incompat & Incompat.flexBg) !== 0 ? 2 ** sb[SB.s_log_groups_per_flex] : 1,
    compat: u32(sb, SB.s_feature_compat),
    incompat,
    roCompat: u32(sb, SB.s_feature_ro_compat),
    uuid: sb.slice(SB.s_uuid, SB.s_uuid + 16),
    hashSeed: sb.slice(SB.s_hash_seed, SB.s_hash_seed + 16),
    hashVersion: sb[SB.s_def_hash_version],
    unsignedHash: (u32(sb, SB.s_flags) & UNSIGNED_HASH) !== 0,
    journalInode: u32(sb, SB.s_journal_inum),
  };
  checkGeometry(geometry, sb);
  const groups = Math.ceil((geometry.blocks - geometry.firstDataBlock) / geometry.blocksPerGroup);
  if (groups * geometry.inodesPerGroup !== geometry.inodes) {
    refuse(`s_inodes_count is ${geometry.inodes}, expected ${groups * geometry.inodesPerGroup} for ${groups} groups`);
  }
  const descriptorBlocks = Math.ceil((groups * geometry.descriptorBytes) / blockBytes);
  if (descriptorBlocks + 2 > geometry.blocksPerGroup) refuse('the group descriptors do not fit into a group');
  return { ...geometry, groups, descriptorBlocks };
}

function checkGeometry(g: Omit<Geometry, 'groups' | 'descriptorBlocks'>, sb: Uint8Array): void {
  const { blockBytes, blocks, firstDataBlock, blocksPerGroup, inodesPerGroup, inodeBytes, descriptorBytes } = g;
  if (blocks >= 2 ** 48) refuse(`s_blocks_count is ${blocks}, more than 2^48`);
  const first = blockBytes === 1024 ? 1 : 0;
  if (firstDataBlock !== first) refuse(`s_first_data_block is ${firstDataBlock}, expected ${first}`);
  if (blocks <= firstDataBlock) refuse(`s_blocks_count is ${blocks}`);
  if (blocksPerGroup < 256 || blocksPerGroup > blockBytes * 8 || blocksPerGroup % 8 !== 0) {
    refuse(`s_blocks_per_group is ${blocksPerGroup}, expected a multiple of 8 from 256 to ${blockBytes * 8}`);
  }
  if (u32(sb, SB.s_log_cluster_size) !== u32(sb, SB.s_log_block_size)) refuse('clusters differ from blocks');
  if (inodeBytes < 128 || inodeBytes > blockBytes || (inodeBytes & (inodeBytes - 1)) !== 0) {
    refuse(`s_inode_size is ${inodeBytes}, expected a power of two from 128 to ${blockBytes}`);
  }
  const inBlock = blockBytes / inodeBytes;
  if (inodesPerGroup < inBlock || inodesPerGroup > blockBytes * 8) {
    refuse(`s_inodes_per_group is ${inodesPerGroup}, expected ${inBlock} to ${blockBytes * 8}`);
  }
  if (descriptorBytes < 32 || descriptorBytes > 1024 || (descriptorBytes & (descriptorBytes - 1)) !== 0) {
    refuse(`s_desc_size is ${descriptorBytes}, expected a power of two from 32 to 1,024`);
  }
  if ((g.incompat & Incompat.bit64) !== 0 && descriptorBytes < 64) {
    refuse(`s_desc_size is ${descriptorBytes}, with 64bit at least 64`);
  }
  if (g.firstInode < 11 || g.firstInode > g.inodes) refuse(`s_first_ino is ${g.firstInode}, expected at least 11`);
  if (sb[SB.s_log_groups_per_flex] > 31) refuse(`s_log_groups_per_flex is ${sb[SB.s_log_groups_per_flex]}`);
  if ((g.roCompat & RoCompat.gdtCsum) !== 0 && (g.roCompat & RoCompat.metadataCsum) !== 0) {
    refuse('uninit_bg and metadata_csum exclude each other');
  }
  if ((g.roCompat & RoCompat.metadataCsum) !== 0 && sb[SB.s_checksum_type] !== 1) {
    refuse(`s_checksum_type is ${sb[SB.s_checksum_type]}, expected 1 (crc32c)`);
  }
  if ((g.compat & Compat.hasJournal) !== 0 && g.journalInode !== Ino.journal) {
    const where = g.journalInode === 0 ? 'an external journal is not supported' : `s_journal_inum is ${g.journalInode}`;
    refuse(`${where}, expected inode ${Ino.journal}`);
  }
}

/** First block of a group. */
export function groupStart(g: Geometry, group: number): number {
  return g.firstDataBlock + group * g.blocksPerGroup;
}

/** Blocks of a group; the last one may be short. */
export function groupBlocks(g: Geometry, group: number): number {
  return Math.min(g.blocksPerGroup, g.blocks - groupStart(g, group));
}

/** True if a group begins with copies of superblock and descriptors. */
export function hasSuperblock(g: Geometry, group: number): boolean {
  if (group === 0) return true;
  if ((g.roCompat & RoCompat.sparseSuper) === 0) return true;
  if (group === 1) return true;
  for (const base of [3, 5, 7]) {
    let power = base;
    while (power < group) power *= base;
    if (power === group) return true;
  }
  return false;
}

/** Blocks that superblock, descriptors and the room for more of them take at the start of a group. */
export function superblockBlocks(g: Geometry, group: number): number {
  if (!hasSuperblock(g, group)) return 0;
  const reserved = (g.compat & Compat.resizeInode) !== 0 ? g.reservedGdtBlocks : 0;
  return 1 + g.descriptorBlocks + reserved;
}

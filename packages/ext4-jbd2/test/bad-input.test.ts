import { MemoryDevice } from '@flashstack/block-device';
import { runTask, Simulator } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { put16, put32, u32 } from '../src/format/bytes.js';
import { superblockChecksum } from '../src/format/checksums.js';
import { SB } from '../src/format/superblock.js';
import { featureNames, type MkfsOptions, mkfs, recover, Volume } from '../src/index.js';
import { HASH_SEED, imageOf, patch, TIME, UUID } from './images.js';

const run = <T>(task: Parameters<typeof runTask<T>>[1]): T => runTask(new Simulator(), task);

/** The error of opening `min-tree` after a change of its superblock, which is sealed again. */
function opened(change: (sb: Uint8Array) => void): unknown {
  const device = imageOf('min-tree');
  patch(device, 1024, (sb) => {
    change(sb);
    put32(sb, SB.s_checksum, superblockChecksum(sb));
  });
  try {
    run(Volume.open(device));
  } catch (error) {
    return error;
  }
  return null;
}

describe('an image is refused', () => {
  test.each([
    [0x1, 'feature compression is'],
    [0x8, 'feature journal_dev is'],
    [0x10, 'feature meta_bg is'],
    [0x100, 'feature mmp is'],
    [0x400, 'feature ea_inode is'],
    [0x4000, 'feature large_dir is'],
    [0x1_0000, 'feature encrypt is'],
    [0x2_0000, 'feature casefold is'],
    [0x8000_0000, 'feature FEATURE_I31 is'],
    [0x110, 'features meta_bg, mmp are'],
  ])('for the incompatible features 0x%s by name', (bits, text) => {
    const error = opened((sb) => put32(sb, SB.s_feature_incompat, u32(sb, SB.s_feature_incompat) | bits));
    expect(error).toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining(`superblock: incompatible ${text} not supported`),
    });
  });

  test.each<[string, string, (sb: Uint8Array) => void]>([
    ['EINVAL', 's_magic is 0x1234, expected 0xef53: no ext4 file system', (sb) => put16(sb, SB.s_magic, 0x1234)],
    ['EUCLEAN', 's_log_block_size is 7, expected 0 to 6', (sb) => put32(sb, SB.s_log_block_size, 7)],
    ['EUCLEAN', 's_first_data_block is 1, expected 0', (sb) => put32(sb, SB.s_first_data_block, 1)],
    ['EUCLEAN', 's_blocks_count is 0', (sb) => put32(sb, SB.s_blocks_count_lo, 0)],
    ['EUCLEAN', 's_blocks_count is 8193, the device has 8192 blocks', (sb) => put32(sb, SB.s_blocks_count_lo, 8193)],
    ['EUCLEAN', 's_blocks_per_group is 0', (sb) => put32(sb, SB.s_blocks_per_group, 0)],
    ['EUCLEAN', 'clusters differ from blocks', (sb) => put32(sb, SB.s_log_cluster_size, 4)],
    ['EUCLEAN', 's_inode_size is 100', (sb) => put16(sb, SB.s_inode_size, 100)],
    ['EUCLEAN', 's_inodes_per_group is 0', (sb) => put32(sb, SB.s_inodes_per_group, 0)],
    ['EUCLEAN', 's_inodes_count is 8000, expected 8192 for 1 groups', (sb) => put32(sb, SB.s_inodes_count, 8000)],
    ['EUCLEAN', 's_desc_size is 32, with 64bit at least 64', (sb) => put16(sb, SB.s_desc_size, 32)],
    ['EUCLEAN', 's_first_ino is 2, expected at least 11', (sb) => put32(sb, SB.s_first_ino, 2)],
    [
      'EUCLEAN',
      's_checksum_type is 2, expected 1 (crc32c)',
      (sb) => sb.fill(2, SB.s_checksum_type, SB.s_checksum_type + 1),
    ],
    ['EUCLEAN', 'an external journal is not supported', (sb) => put32(sb, SB.s_journal_inum, 0)],
    ['EUCLEAN', 'uninit_bg and metadata_csum exclude each other', (sb) => put32(sb, SB.s_feature_ro_compat, 0x47b)],
  ])('with %s: %s', (code, text, change) => {
    expect(opened(change)).toMatchObject({ code, message: expect.stringContaining(text) });
  });

  test('for a wrong checksum of its superblock', () => {
    const device = imageOf('min-tree');
    patch(device, 1024, (sb) => put32(sb, SB.s_wtime, 1));
    expect(() => run(Volume.open(device))).toThrow(/superblock: s_checksum is 0x[0-9a-f]+, expected 0x[0-9a-f]+/);
  });

  test('if the device ends before the superblock, or has larger blocks', () => {
    expect(() => run(Volume.open(new MemoryDevice({ blockBytes: 512, blockCount: 3 })))).toThrow(
      /superblock: the device ends/,
    );
    const device = imageOf('b1k-tree');
    const large = new MemoryDevice({ blockCount: device.blockCount / 4 });
    patch(large, 0, (bytes) => patch(device, 1024, (sb) => bytes.set(sb, 1024)), 4096);
    expect(() => run(Volume.open(large))).toThrow('blocks of 1024 bytes on a device with blocks of 4096');
  });
});

test('recovery without a journal', () => {
  const device = new MemoryDevice({ blockCount: 8192 });
  run(mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME, journalBlocks: 0 }));
  expect(() => run(recover(run(Volume.open(device))))).toThrow('superblock: recovery without a journal');
});

test.each<[string, Partial<MkfsOptions> & Record<string, unknown>]>([
  ['blocks', { blocks: 8193 }],
  ['blocks', { blocks: 63 }],
  ['bytesPerInode', { bytesPerInode: 512 }],
  ['journalBlocks', { journalBlocks: 100 }],
  ['journalBlocks', { journalBlocks: 9000 }],
  ['reservedPercent', { reservedPercent: 51 }],
  ['uuid', { uuid: new Uint8Array(16) }],
  ['hashSeed', { hashSeed: new Uint8Array(4) }],
  ['label', { label: 'seventeen bytes !' }],
  ['timeSec', { timeSec: -1 }],
])('mkfs refuses %s', (key, options) => {
  const device = new MemoryDevice({ blockCount: 8192 });
  const call = (): void => run(mkfs(device, { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME, ...options }));
  expect(call).toThrow(expect.objectContaining({ code: 'ERR_EXT4_MKFS', key, message: expect.stringContaining(key) }));
});

test('mkfs knows its options', () => {
  const options = { uuid: UUID, hashSeed: HASH_SEED, timeSec: TIME, lable: 'x' };
  expect(() => run(mkfs(new MemoryDevice({ blockCount: 8192 }), options))).toThrow(/"lable".*label/);
});

test('features have the names of mke2fs', () => {
  const names =
    'has_journal ext_attr dir_index filetype extent 64bit flex_bg sparse_super large_file huge_file dir_nlink extra_isize metadata_csum';
  expect(featureNames(0x2c, 0x2c2, 0x46b).sort()).toEqual(names.split(' ').sort());
});

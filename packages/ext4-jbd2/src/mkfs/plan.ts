import { InputError } from '@flashstack/sim';
import type { MkfsOptions } from './options.js';

/** Bytes of a block, inode and group descriptor of what is made. */
export const MKFS_BLOCK = 4096;
export const MKFS_INODE = 256;
export const MKFS_DESCRIPTOR = 64;
/** Groups whose bitmaps and tables lie together. */
export const MKFS_FLEX = 16;
const MOST_PER_GROUP = MKFS_BLOCK * 8;
const INODES_IN_BLOCK = MKFS_BLOCK / MKFS_INODE;
/** Blocks that mke2fs wants free in a last group. */
const SPARE = 50;
const MIB = 2 ** 20;

/** Sizes of a file system that is made. */
export interface Plan {
  readonly blocks: number;
  readonly blocksPerGroup: number;
  readonly groups: number;
  readonly inodesPerGroup: number;
  readonly tableBlocks: number;
  readonly descriptorBlocks: number;
  readonly reserved: number;
  readonly journalBlocks: number;
}

/** True if a group carries copies of the superblock (`sparse_super`). */
export function isBackupGroup(group: number): boolean {
  if (group <= 1) return true;
  return [3, 5, 7].some((base) => {
    let power = base;
    while (power < group) power *= base;
    return power === group;
  });
}

function defaultJournal(blocks: number): number {
  if (blocks < 2048) return 0;
  const sizes = [
    [32_768, 1024],
    [256 * 1024, 4096],
    [512 * 1024, 8192],
    [4096 * 1024, 16_384],
    [8192 * 1024, 32_768],
    [16_384 * 1024, 65_536],
    [32_768 * 1024, 131_072],
  ] as const;
  return sizes.find(([below]) => blocks < below)?.[1] ?? 262_144;
}

/**
 * Sizes as mke2fs computes them: a last group that is too small for its own metadata is left out, and where that would
 * take more inodes than a group can have, all groups get smaller until the last one is worth having.
 * @throws InputError `ERR_EXT4_MKFS` for a device that is too small.
 */
export function planOf(deviceBlocks: number, options: MkfsOptions): Plan {
  const asked = options.blocks ?? deviceBlocks;
  if (!Number.isSafeInteger(asked) || asked < 64 || asked > deviceBlocks || asked >= 2 ** 32) {
    const most = Math.min(deviceBlocks, 2 ** 32 - 1);
    throw new InputError('ERR_EXT4_MKFS', `blocks is ${asked}, expected an integer from 64 to ${most}.`, 'blocks');
  }
  const ratio = options.bytesPerInode ?? (asked * MKFS_BLOCK < 512 * MIB ? 4096 : 16_384);
  const inodes = Math.floor((asked * MKFS_BLOCK) / ratio);
  const reserved = Math.floor((asked * (options.reservedPercent ?? 5)) / 100);
  let kept = reserved;
  let blocks = asked;
  let blocksPerGroup = MOST_PER_GROUP;
  for (;;) {
    const groups = Math.ceil(blocks / blocksPerGroup);
    const perGroup = Math.ceil(inodes / groups);
    if (perGroup > MOST_PER_GROUP) {
      if (blocksPerGroup < 256) throw new InputError('ERR_EXT4_MKFS', `${inodes} inodes do not fit.`, 'bytesPerInode');
      blocksPerGroup -= 8;
      blocks = asked;
      continue;
    }
    const tableBlocks = Math.max(1, Math.ceil(((perGroup + 7) & ~7) / INODES_IN_BLOCK));
    const descriptorBlocks = Math.ceil((groups * MKFS_DESCRIPTOR) / MKFS_BLOCK);
    const overhead = 2 + tableBlocks + (isBackupGroup(groups - 1) ? 1 + descriptorBlocks : 0);
    const rest = blocks % blocksPerGroup;
    if (groups === 1 && rest > 0 && rest < overhead) {
      throw new InputError('ERR_EXT4_MKFS', `${asked} blocks are too few for ${inodes} inodes.`, 'blocks');
    }
    if (groups > 1 && rest > 0 && rest < overhead + SPARE) {
      blocks -= rest;
      kept = Math.floor((reserved * blocks) / asked);
      continue;
    }
    const journalBlocks = options.journalBlocks ?? defaultJournal(blocks);
    const inodesPerGroup = tableBlocks * INODES_IN_BLOCK;
    return {
      blocks,
      blocksPerGroup,
      groups,
      inodesPerGroup,
      tableBlocks,
      descriptorBlocks,
      reserved: kept,
      journalBlocks,
    };
  }
}

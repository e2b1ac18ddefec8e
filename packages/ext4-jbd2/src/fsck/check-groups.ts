import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { bitAt, join32, u32 } from '../format/bytes.js';
import { Incompat } from '../format/features.js';
import { type GroupDescriptor, GroupFlag, keptChecksum } from '../format/group.js';
import { groupBlocks, groupStart, SB } from '../format/superblock.js';
import type { Findings } from './findings.js';

/** Compares bitmaps and counts of all groups with what is in use, and the superblock's totals with those of the groups. */
export function* checkGroups(findings: Findings): Task<void> {
  const { geometry, volume } = findings;
  let freeBlocks = 0;
  let freeInodes = 0;
  for (let group = 0; group < geometry.groups; group++) {
    const descriptor = volume.descriptor(group);
    freeBlocks += yield* checkBlockBitmap(findings, group, descriptor);
    freeInodes += yield* checkInodeBitmap(findings, group, descriptor);
    const directories = findings.directories[group];
    if (descriptor.usedDirs !== directories) {
      findings.add('group', group, `bg_used_dirs_count is ${descriptor.usedDirs}, expected ${directories}`);
    }
  }
  const sb = volume.superblock;
  const wide = (geometry.incompat & Incompat.bit64) !== 0;
  const said = join32(u32(sb, SB.s_free_blocks_count_lo), wide ? u32(sb, SB.s_free_blocks_count_hi) : 0);
  if (said !== freeBlocks) findings.add('superblock', 0, `s_free_blocks_count is ${said}, expected ${freeBlocks}`);
  const inodes = u32(sb, SB.s_free_inodes_count);
  if (inodes !== freeInodes) findings.add('superblock', 0, `s_free_inodes_count is ${inodes}, expected ${freeInodes}`);
}

/** Returns how many blocks of a group are free. */
function* checkBlockBitmap(findings: Findings, group: number, descriptor: GroupDescriptor): Task<number> {
  const { geometry, volume } = findings;
  const start = groupStart(geometry, group);
  const count = groupBlocks(geometry, group);
  const wrong = (reason: string): void => findings.add('group', group, reason);
  let free = 0;
  for (let at = 0; at < count; at++) if (!findings.isClaimed(start + at)) free++;
  if (descriptor.freeBlocks !== free) wrong(`bg_free_blocks_count is ${descriptor.freeBlocks}, expected ${free}`);
  if ((descriptor.flags & GroupFlag.blockUninit) !== 0 && (volume.sums.on || volume.sums.groupsOnly)) {
    if (group === geometry.groups - 1) wrong('BLOCK_UNINIT is set, which the last group cannot have');
    return free;
  }
  const bitmap = yield* volume.block(descriptor.blockBitmap, Origin.allocationMap, `block bitmap of group ${group}`);
  const sum = keptChecksum(geometry, volume.sums.bitmap(bitmap, geometry.blocksPerGroup));
  if (volume.sums.on && descriptor.blockBitmapChecksum !== sum) wrong('the checksum of the block bitmap is wrong');
  compare(
    bitmap,
    count,
    geometry.blockBytes * 8,
    (at) => findings.isClaimed(start + at),
    (at, set) => {
      wrong(
        `block ${start + at} is ${set ? 'used' : 'free'} in the bitmap, but ${set ? 'nothing lies there' : 'something lies there'}`,
      );
    },
    () => wrong('bits of the block bitmap behind the end of the group are 0'),
  );
  return free;
}

/** Returns how many inodes of a group are free. */
function* checkInodeBitmap(findings: Findings, group: number, descriptor: GroupDescriptor): Task<number> {
  const { geometry, volume, used } = findings;
  const { inodesPerGroup, blockBytes } = geometry;
  const first = group * inodesPerGroup + 1;
  const wrong = (reason: string): void => findings.add('group', group, reason);
  let free = 0;
  for (let at = 0; at < inodesPerGroup; at++) if (used[first + at] === 0) free++;
  if (descriptor.freeInodes !== free) wrong(`bg_free_inodes_count is ${descriptor.freeInodes}, expected ${free}`);
  const lazy = volume.sums.on || volume.sums.groupsOnly;
  if (lazy && (descriptor.flags & GroupFlag.inodeUninit) !== 0) return free;
  const bitmap = yield* volume.block(descriptor.inodeBitmap, Origin.allocationMap, `inode bitmap of group ${group}`);
  const sum = keptChecksum(geometry, volume.sums.bitmap(bitmap, inodesPerGroup));
  if (volume.sums.on && descriptor.inodeBitmapChecksum !== sum) wrong('the checksum of the inode bitmap is wrong');
  compare(
    bitmap,
    inodesPerGroup,
    blockBytes * 8,
    (at) => used[first + at] !== 0,
    (at, set) => {
      wrong(`inode ${first + at} is ${set ? 'used' : 'free'} in the bitmap, but ${set ? 'not ' : ''}in use`);
    },
    () => wrong('bits of the inode bitmap behind the last inode are 0'),
  );
  return free;
}

/** Reports the first bit that differs, and padding that is not all ones. */
function compare(
  bitmap: Uint8Array,
  count: number,
  end: number,
  expected: (at: number) => boolean,
  differs: (at: number, set: boolean) => void,
  padding: () => void,
): void {
  for (let at = 0; at < count; at++) {
    const set = bitAt(bitmap, at);
    if (set === expected(at)) continue;
    differs(at, set);
    break;
  }
  for (let at = count; at < end; at++) {
    if (bitAt(bitmap, at)) continue;
    padding();
    break;
  }
}

import { byteString, join32, u16, u32 } from '../format/bytes.js';
import { featureNames } from '../format/features.js';
import type { GroupDescriptor } from '../format/group.js';
import { groupBlocks, groupStart, hasSuperblock, SB, State } from '../format/superblock.js';
import type { Volume } from './volume.js';

/** A group of blocks: where it is, what its descriptor says. */
export interface GroupSummary extends Readonly<GroupDescriptor> {
  readonly group: number;
  /** First block, and their number. */
  readonly start: number;
  readonly blocks: number;
  /** Carries a superblock or a copy of it. */
  readonly hasSuperblock: boolean;
}

/** What superblock and descriptors say, times in seconds since 1970 (0: never). */
export interface VolumeSummary {
  readonly label: string;
  /** In the usual form of five groups. */
  readonly uuid: string;
  /** By the names of mke2fs. */
  readonly features: readonly string[];
  readonly state: 'clean' | 'not clean' | 'with errors';
  readonly lastMountedOn: string;
  readonly mounts: number;
  readonly madeSec: number;
  readonly mountedSec: number;
  readonly writtenSec: number;
  readonly blockBytes: number;
  readonly blocks: number;
  readonly freeBlocks: number;
  readonly reservedBlocks: number;
  readonly inodeBytes: number;
  readonly inodes: number;
  readonly freeInodes: number;
  readonly groups: readonly GroupSummary[];
}

/** Superblock and descriptors in words and numbers. @throws FsError EUCLEAN for a damaged descriptor */
export function summaryOf(volume: Volume): VolumeSummary {
  const { geometry, superblock: sb } = volume;
  const wide = geometry.descriptorBytes >= 64;
  const total = (low: number, high: number): number => join32(u32(sb, low), wide ? u32(sb, high) : 0);
  const state = u16(sb, SB.s_state);
  const groups = Array.from({ length: geometry.groups }, (_, group) => ({
    group,
    start: groupStart(geometry, group),
    blocks: groupBlocks(geometry, group),
    hasSuperblock: hasSuperblock(geometry, group),
    ...volume.descriptor(group),
  }));
  return {
    label: text(sb, SB.s_volume_name, 16),
    uuid: uuidText(geometry.uuid),
    features: featureNames(geometry.compat, geometry.incompat, geometry.roCompat),
    state: (state & State.errors) !== 0 ? 'with errors' : (state & State.clean) !== 0 ? 'clean' : 'not clean',
    lastMountedOn: text(sb, SB.s_last_mounted, 64),
    mounts: u16(sb, SB.s_mnt_count),
    madeSec: u32(sb, SB.s_mkfs_time),
    mountedSec: u32(sb, SB.s_mtime),
    writtenSec: u32(sb, SB.s_wtime),
    blockBytes: geometry.blockBytes,
    blocks: geometry.blocks,
    freeBlocks: total(SB.s_free_blocks_count_lo, SB.s_free_blocks_count_hi),
    reservedBlocks: total(SB.s_r_blocks_count_lo, SB.s_r_blocks_count_hi),
    inodeBytes: geometry.inodeBytes,
    inodes: geometry.inodes,
    freeInodes: u32(sb, SB.s_free_inodes_count),
    groups,
  };
}

/** Bytes up to a NUL. */
function text(bytes: Uint8Array, at: number, length: number): string {
  return byteString(bytes, at, length).replace(/\0.*$/s, '');
}

function uuidText(uuid: Uint8Array): string {
  const digits = Array.from(uuid, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

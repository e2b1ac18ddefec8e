import type { Task } from '@flashstack/sim';
import { FileKind } from '@flashstack/vfs';
import { u32 } from '../format/bytes.js';
import { Compat } from '../format/features.js';
import { GroupFlag } from '../format/group.js';
import { GOOD_OLD_BYTES, I_BLOCK_BYTES, InodeFlag } from '../format/inode-record.js';
import { groupStart, hasSuperblock, Ino, SB, superblockBlocks } from '../format/superblock.js';
import { kindOf, readAttributes } from '../volume/contents.js';
import { type FileMap, readMap } from '../volume/file-map.js';
import type { StoredInode } from '../volume/volume.js';
import type { Findings } from './findings.js';

const KINDS: ReadonlySet<number> = new Set(Object.values(FileKind));

/** Marks the blocks of superblocks, descriptors, bitmaps and tables. @throws FsError EUCLEAN for a damaged descriptor */
export function claimMetadata(findings: Findings): void {
  const { geometry, volume } = findings;
  const tableBlocks = (geometry.inodesPerGroup * geometry.inodeBytes) / geometry.blockBytes;
  for (let group = 0; group < geometry.groups; group++) {
    findings.claim(groupStart(geometry, group), superblockBlocks(geometry, group), 'group', group);
    const { blockBitmap, inodeBitmap, inodeTable } = volume.descriptor(group);
    findings.claim(blockBitmap, 1, 'group', group);
    findings.claim(inodeBitmap, 1, 'group', group);
    findings.claim(inodeTable, tableBlocks, 'group', group);
  }
}

/** Checks every inode that may be in use by itself, and notes what it holds. */
export function* checkInodes(findings: Findings): Task<void> {
  const { geometry, volume } = findings;
  const { inodesPerGroup } = geometry;
  const orphans = yield* readOrphans(findings);
  const attributeBlocks: Map<number, number> = new Map();
  const lazy = volume.sums.on || volume.sums.groupsOnly;
  for (let group = 0; group < geometry.groups; group++) {
    const { flags, itableUnused } = volume.descriptor(group);
    if (lazy && (flags & GroupFlag.inodeUninit) !== 0) continue;
    if (lazy && itableUnused > inodesPerGroup) {
      findings.add('group', group, `bg_itable_unused is ${itableUnused} of ${inodesPerGroup} inodes`);
      continue;
    }
    const last = (group + 1) * inodesPerGroup - (lazy ? itableUnused : 0);
    for (let ino = group * inodesPerGroup + 1; ino <= last; ino++) {
      const inode = yield* findings.part('inode', ino, volume.inode(ino));
      if (ino < geometry.firstInode) findings.used[ino] = 1;
      if (inode === null) findings.used[ino] = 1;
      else yield* findings.part('inode', ino, checkInode(findings, inode, orphans, attributeBlocks));
    }
  }
  yield* checkReferences(findings, attributeBlocks);
}

/** Inodes of the list of orphans. */
function* readOrphans(findings: Findings): Task<Set<number>> {
  const { volume, geometry } = findings;
  const orphans: Set<number> = new Set();
  let ino = u32(volume.superblock, SB.s_last_orphan);
  while (ino !== 0) {
    if (ino < geometry.firstInode || ino > geometry.inodes || orphans.has(ino)) {
      findings.add('superblock', 0, `the list of orphans leads to inode ${ino}`);
      break;
    }
    orphans.add(ino);
    const inode = yield* findings.part('inode', ino, volume.inode(ino));
    ino = inode === null ? 0 : inode.record.dtime;
  }
  return orphans;
}

function* checkInode(
  findings: Findings,
  inode: StoredInode,
  orphans: ReadonlySet<number>,
  attributeBlocks: Map<number, number>,
): Task<void> {
  const { geometry } = findings;
  const { ino, record } = inode;
  if (record.links === 0 && !orphans.has(ino)) {
    if (record.mode !== 0 && record.dtime === 0 && ino >= geometry.firstInode) {
      findings.add('inode', ino, 'no links are left, but i_dtime is 0');
    }
    return;
  }
  const kind = kindOf(inode);
  findings.used[ino] = 1;
  findings.kinds[ino] = kind;
  findings.links[ino] = record.links;
  if (!KINDS.has(kind)) {
    findings.add('inode', ino, `i_mode is 0${record.mode.toString(8)}, no kind of file`);
    return;
  }
  if (kind === FileKind.directory) findings.directories[Math.floor((ino - 1) / geometry.inodesPerGroup)]++;
  if (record.dtime !== 0 && !orphans.has(ino))
    findings.add('inode', ino, `it is in use, but i_dtime is ${record.dtime}`);
  const extra = geometry.inodeBytes - GOOD_OLD_BYTES;
  if (record.extraBytes > extra || record.extraBytes % 4 !== 0) {
    findings.add('inode', ino, `i_extra_isize is ${record.extraBytes}, expected a multiple of 4 up to ${extra}`);
    return;
  }
  yield* readAttributes(findings.volume, inode);
  const { attributeBlock } = record;
  if (attributeBlock !== 0) {
    const known = attributeBlocks.get(attributeBlock) ?? 0;
    if (known === 0) findings.claim(attributeBlock, 1, 'inode', ino);
    attributeBlocks.set(attributeBlock, known + 1);
  }
  const map = hasMap(inode, kind) ? yield* readMap(findings.volume, inode) : { extents: [], nodes: new Set<number>() };
  checkMap(findings, inode, kind, map);
}

/** True if `i_block` says where the contents lie. */
function hasMap({ record }: StoredInode, kind: number): boolean {
  if (kind === FileKind.regular || kind === FileKind.directory) return true;
  return kind === FileKind.symlink && (record.size >= I_BLOCK_BYTES || (record.flags & InodeFlag.extents) !== 0);
}

/** Claims the blocks of a file, and compares them with `i_blocks` and the size. */
function checkMap(findings: Findings, { ino, record }: StoredInode, kind: number, map: FileMap): void {
  const { geometry } = findings;
  let blocks = record.attributeBlock === 0 ? 0 : 1;
  let end = 0;
  for (const { logical, length, physical } of map.extents) {
    blocks += length;
    end = logical + length;
    if (ino !== Ino.resize) findings.claim(physical, length, 'inode', ino);
  }
  for (const node of map.nodes) {
    blocks++;
    // The resize inode holds what belongs to the superblock's group anyway.
    if (ino !== Ino.resize || !isReserved(findings, node)) findings.claim(node, 1, 'inode', ino);
  }
  const sectors = blocks * (geometry.blockBytes / 512);
  if (record.sectors !== sectors) findings.add('inode', ino, `i_blocks is ${record.sectors}, expected ${sectors}`);
  if (kind !== FileKind.directory || (record.flags & InodeFlag.inlineData) !== 0) return;
  if (record.size !== end * geometry.blockBytes) {
    findings.add('inode', ino, `i_size is ${record.size}, expected ${end * geometry.blockBytes}`);
  }
  if ((record.flags & InodeFlag.index) !== 0 && (geometry.compat & Compat.dirIndex) === 0) {
    findings.add('inode', ino, 'it has an index, but the file system lacks dir_index');
  }
}

function isReserved({ geometry }: Findings, block: number): boolean {
  const group = Math.floor((block - geometry.firstDataBlock) / geometry.blocksPerGroup);
  return hasSuperblock(geometry, group) && block < groupStart(geometry, group) + superblockBlocks(geometry, group);
}

/** Attribute blocks may be shared: `h_refcount` says by how many. */
function* checkReferences(findings: Findings, blocks: ReadonlyMap<number, number>): Task<void> {
  for (const [block, count] of blocks) {
    const bytes = yield* findings.volume.block(block, 0, `attribute block ${block}`);
    const said = u32(bytes, 4);
    if (said !== count) findings.add('inode', 0, `attribute block ${block}: h_refcount is ${said}, expected ${count}`);
  }
}

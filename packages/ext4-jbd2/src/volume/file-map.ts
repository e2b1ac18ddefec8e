import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { u32 } from '../format/bytes.js';
import {
  capacityOf,
  checkNode,
  childOf,
  depthOf,
  EXTENT_ENTRY,
  type Extent,
  entriesOf,
  keyOf,
  nodeCapacity,
  nodeChecksum,
  ROOT_ENTRIES,
  readExtent,
} from '../format/extents.js';
import { I_BLOCK, InodeFlag } from '../format/inode-record.js';
import type { StoredInode, Volume } from './volume.js';

/** Where a file lies, and the blocks that say so. */
export interface FileMap {
  /** Ascending; neighbours are not merged. */
  readonly extents: readonly Extent[];
  /** Blocks of the extent tree or of indirect pointers. */
  readonly nodes: ReadonlySet<number>;
}

/** First logical block that no file has. */
const LOGICAL_END = 2 ** 32;

/** The map of a file, checked throughout. @throws FsError EUCLEAN, EIO */
export function* readMap(volume: Volume, inode: StoredInode): Task<FileMap> {
  const { flags } = inode.record;
  if ((flags & InodeFlag.inlineData) !== 0) return { extents: [], nodes: new Set() };
  return (flags & InodeFlag.extents) !== 0 ? yield* readExtents(volume, inode) : yield* readPointers(volume, inode);
}

function* readExtents(volume: Volume, inode: StoredInode): Task<FileMap> {
  const extents: Extent[] = [];
  const nodes: Set<number> = new Set();
  const { blocks, firstDataBlock } = volume.geometry;
  const limits = { blocks, firstBlock: firstDataBlock + 1 };
  const seed = volume.sums.inodeSeed(inode.ino, inode.record.generation);
  const capacity = nodeCapacity(volume.geometry.blockBytes);

  function* walk(node: Uint8Array, at: number, from: number, to: number): Task<void> {
    const count = entriesOf(node, at);
    const depth = depthOf(node, at);
    for (let index = 0; index < count; index++) {
      if (depth === 0) {
        extents.push(readExtent(node, at, index));
        continue;
      }
      const child = childOf(node, at, index);
      const where = `inode ${inode.ino}, extent block ${child}`;
      if (nodes.has(child)) throw new FsError('EUCLEAN', `${where}: occurs twice`);
      nodes.add(child);
      const bytes = yield* volume.block(child, Origin.node, where);
      const first = Math.max(from, keyOf(node, at, index));
      const end = index + 1 < count ? keyOf(node, at, index + 1) : to;
      checkNode(bytes, 0, capacity, depth - 1, first, end, limits, where);
      if (volume.sums.on && u32(bytes, EXTENT_ENTRY * (capacityOf(bytes) + 1)) !== nodeChecksum(seed, bytes)) {
        throw new FsError('EUCLEAN', `${where}: et_checksum is wrong`);
      }
      yield* walk(bytes, 0, first, end);
    }
  }
  checkNode(inode.bytes, I_BLOCK, ROOT_ENTRIES, -1, 0, LOGICAL_END, limits, `inode ${inode.ino}, extent root`);
  yield* walk(inode.bytes, I_BLOCK, 0, LOGICAL_END);
  return { extents, nodes };
}

/** Direct and indirect pointers of ext2 and ext3, which the resize inode still has. */
function* readPointers(volume: Volume, inode: StoredInode): Task<FileMap> {
  const extents: Extent[] = [];
  const nodes: Set<number> = new Set();
  const { blocks, blockBytes, firstDataBlock } = volume.geometry;
  const perBlock = blockBytes / 4;
  const valid = (block: number, where: string): void => {
    if (block <= firstDataBlock || block >= blocks) throw new FsError('EUCLEAN', `${where} leads to block ${block}`);
  };
  const add = (logical: number, physical: number): void => {
    const last = extents.at(-1);
    if (last !== undefined && last.logical + last.length === logical && last.physical + last.length === physical) {
      last.length++;
    } else extents.push({ logical, length: 1, physical, unwritten: false });
  };
  function* walk(pointer: number, depth: number, logical: number, where: string): Task<void> {
    if (pointer === 0) return;
    valid(pointer, where);
    if (depth === 0) return add(logical, pointer);
    if (nodes.has(pointer)) throw new FsError('EUCLEAN', `${where}: block ${pointer} occurs twice`);
    nodes.add(pointer);
    const bytes = yield* volume.block(pointer, Origin.node, where);
    const span = perBlock ** (depth - 1);
    for (let at = 0; at < perBlock; at++) {
      yield* walk(
        u32(bytes, at * 4),
        depth - 1,
        logical + at * span,
        `inode ${inode.ino}, pointer ${at} of block ${pointer}`,
      );
    }
  }
  let logical = 0;
  for (let at = 0; at < 15; at++) {
    const depth = Math.max(0, at - 11);
    yield* walk(u32(inode.bytes, I_BLOCK + at * 4), depth, logical, `inode ${inode.ino}, i_block[${at}]`);
    logical += perBlock ** depth;
  }
  return { extents, nodes };
}

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
  entryAt,
  initNode,
  keyOf,
  MOST_DEPTH,
  MOST_UNWRITTEN,
  MOST_WRITTEN,
  nodeCapacity,
  nodeChecksum,
  ROOT_ENTRIES,
  readExtent,
  search,
  setEntries,
  writeExtent,
  writeIndex,
} from '../format/extents.js';
import { BlockKind, type MetadataBuffer } from '../journal/buffer.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';

/** Whose tree it is. */
export interface TreeOwner {
  readonly ino: number;
  /** Start of checksums of the inode. */
  readonly seed: number;
  /** `i_block`: the root, 60 bytes. */
  readonly root: Uint8Array;
  /** Where new nodes are to lie. */
  readonly goal: number;
  /** Blocks of the tree were taken or given up. */
  nodesChanged(change: number): void;
}

/** A node on the way to a leaf; `buffer` is null for the root. */
interface Level {
  readonly buffer: MetadataBuffer | null;
  readonly bytes: Uint8Array;
  /** Entry that was followed, −1 before the first. */
  index: number;
}

const LOGICAL_END = 2 ** 32;

/** Changes extent trees as they lie in inodes and blocks; every change joins the transaction. */
export class ExtentTree {
  private readonly core: Core;
  private readonly capacity: number;

  constructor(core: Core) {
    this.core = core;
    this.capacity = nodeCapacity(core.geometry.blockBytes);
  }

  /** Hands out all extents in order; checks every node. Returns the number of nodes in blocks. @throws FsError EUCLEAN, EIO */
  *read(owner: TreeOwner, take: (extent: Extent) => void): Task<number> {
    const limits = this.limits();
    checkNode(owner.root, 0, ROOT_ENTRIES, -1, 0, LOGICAL_END, limits, `inode ${owner.ino}, extent root`);
    return yield* this.readNode(owner, owner.root, 0, LOGICAL_END, take);
  }

  /** Adds an extent where there is none; joins it with its neighbours where they continue each other. */
  *insert(transaction: Transaction, owner: TreeOwner, extent: Extent): Task<void> {
    const path = yield* this.walk(owner, extent.logical);
    const leaf = path[path.length - 1];
    if (this.joinLeft(transaction, leaf, extent) || this.joinRight(transaction, leaf, extent)) {
      this.nameFirst(transaction, path, path.length - 1);
    } else yield* this.insertEntry(transaction, owner, path, extent);
    yield* this.shorten(transaction, owner);
  }

  /** Takes a range out; hands out the blocks that it lay on. Splits an extent that reaches beyond both ends. */
  *remove(
    transaction: Transaction,
    owner: TreeOwner,
    logical: number,
    end: number,
    freed: (physical: number, length: number) => void,
  ): Task<void> {
    for (let at = logical; at < end; ) {
      const path = yield* this.walk(owner, at);
      const leaf = path[path.length - 1];
      const found = leaf.index >= 0 ? readExtent(leaf.bytes, 0, leaf.index) : null;
      if (found === null || found.logical + found.length <= at) {
        const next = nextKey(path);
        if (next >= end) break;
        at = next;
        continue;
      }
      const cutEnd = Math.min(end, found.logical + found.length);
      freed(found.physical + at - found.logical, cutEnd - at);
      yield* this.cutOut(transaction, owner, path, found, at, cutEnd);
      at = cutEnd;
    }
    yield* this.shorten(transaction, owner);
  }

  private limits(): { readonly blocks: number; readonly firstBlock: number } {
    const { blocks, firstDataBlock } = this.core.geometry;
    return { blocks, firstBlock: firstDataBlock + 1 };
  }

  private *readNode(
    owner: TreeOwner,
    node: Uint8Array,
    from: number,
    to: number,
    take: (extent: Extent) => void,
  ): Task<number> {
    const count = entriesOf(node);
    const depth = depthOf(node);
    let nodes = 0;
    for (let index = 0; index < count; index++) {
      if (depth === 0) {
        take(readExtent(node, 0, index));
        continue;
      }
      const first = Math.max(from, keyOf(node, 0, index));
      const end = index + 1 < count ? keyOf(node, 0, index + 1) : to;
      const { bytes } = yield* this.child(owner, node, index, depth);
      checkNode(
        bytes,
        0,
        this.capacity,
        depth - 1,
        first,
        end,
        this.limits(),
        this.where(owner, childOf(node, 0, index)),
      );
      nodes += 1 + (yield* this.readNode(owner, bytes, first, end, take));
    }
    return nodes;
  }

  private where(owner: TreeOwner, block: number): string {
    return `inode ${owner.ino}, extent block ${block}`;
  }

  private *child(owner: TreeOwner, node: Uint8Array, index: number, depth: number): Task<MetadataBuffer> {
    const block = childOf(node, 0, index);
    const where = this.where(owner, block);
    return yield* this.core.cache.load(block, BlockKind.extentNode, owner.seed, Origin.node, where, (bytes) => {
      checkNode(bytes, 0, this.capacity, depth - 1, 0, LOGICAL_END, this.limits(), where);
      if (this.core.sums.on && u32(bytes, EXTENT_ENTRY * (capacityOf(bytes) + 1)) !== nodeChecksum(owner.seed, bytes)) {
        throw new FsError('EUCLEAN', `${where}: et_checksum is wrong`);
      }
    });
  }

  /** From the root to the leaf in which a block is or would be. */
  private *walk(owner: TreeOwner, logical: number): Task<Level[]> {
    const path: Level[] = [{ buffer: null, bytes: owner.root, index: search(owner.root, 0, logical) }];
    for (let depth = depthOf(owner.root); depth > 0; depth--) {
      const level = path[path.length - 1];
      level.index = Math.max(0, level.index);
      const buffer = yield* this.child(owner, level.bytes, level.index, depth);
      path.push({ buffer, bytes: buffer.bytes, index: search(buffer.bytes, 0, logical) });
    }
    return path;
  }

  /** Before bytes of a node are changed: it joins the transaction, which makes its checksum. The root is its inode's. */
  private prepare(transaction: Transaction, level: Level): void {
    if (level.buffer !== null) this.core.journal.change(level.buffer, transaction);
  }

  private joinLeft(transaction: Transaction, leaf: Level, extent: Extent): boolean {
    if (leaf.index < 0) return false;
    const left = readExtent(leaf.bytes, 0, leaf.index);
    if (!follows(left, extent) || left.length + extent.length > mostOf(extent)) return false;
    this.prepare(transaction, leaf);
    writeExtent(leaf.bytes, 0, leaf.index, { ...left, length: left.length + extent.length });
    return true;
  }

  private joinRight(transaction: Transaction, leaf: Level, extent: Extent): boolean {
    if (leaf.index + 1 >= entriesOf(leaf.bytes)) return false;
    const right = readExtent(leaf.bytes, 0, leaf.index + 1);
    if (!follows(extent, right) || right.length + extent.length > mostOf(extent)) return false;
    this.prepare(transaction, leaf);
    writeExtent(leaf.bytes, 0, leaf.index + 1, { ...extent, length: extent.length + right.length });
    return true;
  }

  private *insertEntry(transaction: Transaction, owner: TreeOwner, path: Level[], extent: Extent): Task<void> {
    let leaf = path[path.length - 1];
    if (entriesOf(leaf.bytes) === capacityOf(leaf.bytes)) {
      yield* this.makeRoom(transaction, owner, path, extent.logical);
      const again = yield* this.walk(owner, extent.logical);
      path.splice(0, path.length, ...again);
      leaf = path[path.length - 1];
    }
    this.prepare(transaction, leaf);
    const at = leaf.index + 1;
    openGap(leaf.bytes, at);
    writeExtent(leaf.bytes, 0, at, extent);
    this.nameFirst(transaction, path, path.length - 1);
  }

  /** Those that lead to a node name its first key: e2fsck wants them equal. */
  private nameFirst(transaction: Transaction, path: readonly Level[], level: number): void {
    const { bytes } = path[level];
    if (entriesOf(bytes) === 0) return;
    const key = keyOf(bytes, 0, 0);
    for (let at = level - 1; at >= 0; at--) {
      const parent = path[at];
      if (keyOf(parent.bytes, 0, parent.index) === key) return;
      this.prepare(transaction, parent);
      writeIndex(parent.bytes, 0, parent.index, key, childOf(parent.bytes, 0, parent.index));
      if (parent.index > 0) return;
    }
  }

  /** A tree of one leaf whose entries fit into the inode needs no leaf. */
  private *shorten(transaction: Transaction, owner: TreeOwner): Task<void> {
    const { root } = owner;
    if (depthOf(root) !== 1 || entriesOf(root) !== 1) return;
    const buffer = yield* this.child(owner, root, 0, 1);
    const count = entriesOf(buffer.bytes);
    if (count > ROOT_ENTRIES) return;
    root.fill(0);
    initNode(root, 0, ROOT_ENTRIES, 0);
    root.set(buffer.bytes.subarray(EXTENT_ENTRY, EXTENT_ENTRY * (count + 1)), EXTENT_ENTRY);
    setEntries(root, 0, count);
    yield* this.giveUp(transaction, owner, buffer);
  }

  private *giveUp(transaction: Transaction, owner: TreeOwner, buffer: MetadataBuffer): Task<void> {
    this.core.journal.forget(buffer, transaction);
    this.core.cache.remove(buffer.block);
    yield* this.core.blocks.free(transaction, buffer.block, 1);
    owner.nodesChanged(-1);
  }

  /** Splits the deepest full node that has a parent with room, or makes the tree deeper. */
  private *makeRoom(transaction: Transaction, owner: TreeOwner, path: Level[], logical: number): Task<void> {
    let at = path.length - 1;
    while (at > 0 && entriesOf(path[at - 1].bytes) === capacityOf(path[at - 1].bytes)) at--;
    if (at === 0) {
      yield* this.deepen(transaction, owner);
      return;
    }
    yield* this.split(transaction, owner, path, at, logical);
    // Nodes below are still full if it was not a leaf that was split.
    if (at < path.length - 1) {
      const again = yield* this.walk(owner, logical);
      yield* this.makeRoom(transaction, owner, again, logical);
    }
  }

  /** The root moves into a block of its own, and becomes an index with one entry; then there is room for a split. */
  private *deepen(transaction: Transaction, owner: TreeOwner): Task<void> {
    const { root } = owner;
    const depth = depthOf(root);
    if (depth === MOST_DEPTH) throw new FsError('EFBIG', `inode ${owner.ino}: the extent tree is ${depth} levels deep`);
    const buffer = yield* this.newNode(transaction, owner, depth);
    const count = entriesOf(root);
    buffer.bytes.set(root.subarray(EXTENT_ENTRY, EXTENT_ENTRY * (count + 1)), EXTENT_ENTRY);
    setEntries(buffer.bytes, 0, count);
    const first = count > 0 ? keyOf(root, 0, 0) : 0;
    root.fill(0);
    initNode(root, 0, ROOT_ENTRIES, depth + 1);
    setEntries(root, 0, 1);
    writeIndex(root, 0, 0, first, buffer.block);
  }

  /** Moves the entries behind the place of insertion into a new node (at the end: none, the new one starts there). */
  private *split(transaction: Transaction, owner: TreeOwner, path: Level[], at: number, logical: number): Task<void> {
    const node = path[at];
    const parent = path[at - 1];
    const count = entriesOf(node.bytes);
    const from = node.index + 1;
    const buffer = yield* this.newNode(transaction, owner, depthOf(node.bytes));
    this.prepare(transaction, node);
    this.prepare(transaction, parent);
    // An index that would be left empty is not allowed: its last entry moves with the insertion.
    const cut = from === count && depthOf(node.bytes) > 0 ? count - 1 : from;
    const moved = count - cut;
    buffer.bytes.set(node.bytes.subarray(entryAt(0, cut), entryAt(0, count)), EXTENT_ENTRY);
    setEntries(buffer.bytes, 0, moved);
    node.bytes.fill(0, entryAt(0, cut), entryAt(0, count));
    setEntries(node.bytes, 0, cut);
    const key = moved > 0 ? keyOf(buffer.bytes, 0, 0) : logical;
    openGap(parent.bytes, parent.index + 1);
    writeIndex(parent.bytes, 0, parent.index + 1, key, buffer.block);
  }

  private *newNode(transaction: Transaction, owner: TreeOwner, depth: number): Task<MetadataBuffer> {
    const { start } = yield* this.core.blocks.take(transaction, owner.goal, 1, 0);
    const buffer = this.core.cache.create(start, BlockKind.extentNode, owner.seed, Origin.node);
    this.core.journal.change(buffer, transaction);
    initNode(buffer.bytes, 0, this.capacity, depth);
    owner.nodesChanged(1);
    return buffer;
  }

  /** Takes part of an extent, or all of it, out of its leaf. */
  private *cutOut(
    transaction: Transaction,
    owner: TreeOwner,
    path: Level[],
    found: Extent,
    from: number,
    end: number,
  ): Task<void> {
    const leaf = path[path.length - 1];
    const tail = found.logical + found.length - end;
    this.prepare(transaction, leaf);
    if (from > found.logical) {
      writeExtent(leaf.bytes, 0, leaf.index, { ...found, length: from - found.logical });
      if (tail === 0) return;
      const rest = { ...found, logical: end, length: tail, physical: found.physical + end - found.logical };
      return yield* this.insertEntry(transaction, owner, path, rest);
    }
    if (tail > 0) {
      const rest = { ...found, logical: end, length: tail, physical: found.physical + end - found.logical };
      writeExtent(leaf.bytes, 0, leaf.index, rest);
      this.nameFirst(transaction, path, path.length - 1);
      return;
    }
    closeGap(leaf.bytes, leaf.index);
    this.nameFirst(transaction, path, path.length - 1);
    yield* this.dropEmpty(transaction, owner, path);
  }

  /** Frees nodes that have become empty, upwards; a root without entries is a leaf again. */
  private *dropEmpty(transaction: Transaction, owner: TreeOwner, path: Level[]): Task<void> {
    for (let at = path.length - 1; at > 0 && entriesOf(path[at].bytes) === 0; at--) {
      const { buffer } = path[at];
      const parent = path[at - 1];
      if (buffer === null) return;
      this.prepare(transaction, parent);
      closeGap(parent.bytes, parent.index);
      if (at > 1) this.nameFirst(transaction, path, at - 1);
      yield* this.giveUp(transaction, owner, buffer);
    }
    if (entriesOf(owner.root) > 0) return;
    owner.root.fill(0);
    initNode(owner.root, 0, ROOT_ENTRIES, 0);
  }
}

/** First key behind the leaf entry of a path. */
function nextKey(path: readonly Level[]): number {
  for (let at = path.length - 1; at >= 0; at--) {
    const { bytes, index } = path[at];
    if (index + 1 < entriesOf(bytes)) return keyOf(bytes, 0, index + 1);
  }
  return LOGICAL_END;
}

function follows(left: Extent, right: Extent): boolean {
  if (left.unwritten !== right.unwritten) return false;
  return left.logical + left.length === right.logical && left.physical + left.length === right.physical;
}

function mostOf(extent: Extent): number {
  return extent.unwritten ? MOST_UNWRITTEN : MOST_WRITTEN;
}

/** Makes room for an entry. */
function openGap(node: Uint8Array, index: number): void {
  const count = entriesOf(node);
  node.copyWithin(entryAt(0, index + 1), entryAt(0, index), entryAt(0, count));
  setEntries(node, 0, count + 1);
}

/** Takes an entry out. */
function closeGap(node: Uint8Array, index: number): void {
  const count = entriesOf(node);
  node.copyWithin(entryAt(0, index), entryAt(0, index + 1), entryAt(0, count));
  node.fill(0, entryAt(0, count - 1), entryAt(0, count));
  setEntries(node, 0, count - 1);
}

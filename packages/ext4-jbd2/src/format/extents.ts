import { FsError } from '@flashstack/vfs';
import { high32, join32, put16, put32, u16, u32 } from './bytes.js';
import { crc } from './checksums.js';

/** Bytes of a node's header and of each of its entries. */
export const EXTENT_ENTRY = 12;
const EXTENT_MAGIC = 0xf30a;
/** Most blocks of a written extent; longer lengths mean an unwritten one of that much less. */
export const MOST_WRITTEN = 32_768;
export const MOST_UNWRITTEN = 32_767;
/** Deepest tree that the format allows. */
export const MOST_DEPTH = 5;
/** Entries of the root in an inode. */
export const ROOT_ENTRIES = 4;

/** Consecutive blocks of a file that lie consecutively on the device. */
export interface Extent {
  /** First logical block. */
  logical: number;
  length: number;
  /** First block on the device. */
  physical: number;
  /** Allocated, but reads as zero. */
  unwritten: boolean;
}

/** Entries that a node in a block of its own has room for. */
export function nodeCapacity(blockBytes: number): number {
  return Math.floor((blockBytes - EXTENT_ENTRY) / EXTENT_ENTRY);
}

export function entriesOf(node: Uint8Array, at: number = 0): number {
  return u16(node, at + 2);
}

export function capacityOf(node: Uint8Array, at: number = 0): number {
  return u16(node, at + 4);
}

export function depthOf(node: Uint8Array, at: number = 0): number {
  return u16(node, at + 6);
}

/** Makes an empty node. */
export function initNode(node: Uint8Array, at: number, capacity: number, depth: number): void {
  put16(node, at, EXTENT_MAGIC);
  put16(node, at + 2, 0);
  put16(node, at + 4, capacity);
  put16(node, at + 6, depth);
  put32(node, at + 8, 0);
}

export function setEntries(node: Uint8Array, at: number, count: number): void {
  put16(node, at + 2, count);
}

/** Offset of an entry. */
export function entryAt(at: number, index: number): number {
  return at + EXTENT_ENTRY * (index + 1);
}

/** First logical block of an entry, of a leaf or of an index. */
export function keyOf(node: Uint8Array, at: number, index: number): number {
  return u32(node, entryAt(at, index));
}

export function readExtent(node: Uint8Array, at: number, index: number): Extent {
  const entry = entryAt(at, index);
  const raw = u16(node, entry + 4);
  const unwritten = raw > MOST_WRITTEN;
  return {
    logical: u32(node, entry),
    length: unwritten ? raw - MOST_WRITTEN : raw,
    physical: join32(u32(node, entry + 8), u16(node, entry + 6)),
    unwritten,
  };
}

export function writeExtent(node: Uint8Array, at: number, index: number, extent: Extent): void {
  const entry = entryAt(at, index);
  put32(node, entry, extent.logical);
  put16(node, entry + 4, extent.unwritten ? extent.length + MOST_WRITTEN : extent.length);
  put16(node, entry + 6, high32(extent.physical));
  put32(node, entry + 8, extent.physical);
}

/** Block of the child that an index entry leads to. */
export function childOf(node: Uint8Array, at: number, index: number): number {
  const entry = entryAt(at, index);
  return join32(u32(node, entry + 4), u16(node, entry + 8));
}

export function writeIndex(node: Uint8Array, at: number, index: number, logical: number, child: number): void {
  const entry = entryAt(at, index);
  put32(node, entry, logical);
  put32(node, entry + 4, child);
  put16(node, entry + 8, high32(child));
  put16(node, entry + 10, 0);
}

/** Position of the last entry whose key is not above a logical block, −1: all are above. */
export function search(node: Uint8Array, at: number, logical: number): number {
  let low = 0;
  let high = entriesOf(node, at);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keyOf(node, at, middle) <= logical) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Checksum behind a node in a block of its own. */
export function nodeChecksum(inodeSeed: number, node: Uint8Array): number {
  return crc(inodeSeed, node, 0, EXTENT_ENTRY * (capacityOf(node) + 1));
}

export function sealNode(inodeSeed: number, node: Uint8Array): void {
  put32(node, EXTENT_ENTRY * (capacityOf(node) + 1), nodeChecksum(inodeSeed, node));
}

/** What an extent tree must keep to. */
export interface NodeLimits {
  /** Blocks of the file system. */
  readonly blocks: number;
  /** First block that may hold data. */
  readonly firstBlock: number;
}

/**
 * Throws unless a node makes sense by itself.
 * @param capacity entries that there is room for.
 * @param depth what the parent says; −1 for a root.
 * @param from first logical block that may occur, `to` the first behind.
 * @throws FsError EUCLEAN that names `where`.
 */
export function checkNode(
  node: Uint8Array,
  at: number,
  capacity: number,
  depth: number,
  from: number,
  to: number,
  limits: NodeLimits,
  where: string,
): void {
  const wrong = (what: string): never => {
    throw new FsError('EUCLEAN', `${where}: ${what}`);
  };
  if (u16(node, at) !== EXTENT_MAGIC) wrong(`eh_magic is 0x${u16(node, at).toString(16)}, expected 0xf30a`);
  const count = entriesOf(node, at);
  if (capacityOf(node, at) > capacity) wrong(`eh_max is ${capacityOf(node, at)}, at most ${capacity} fit`);
  if (count > capacityOf(node, at)) wrong(`eh_entries is ${count}, above eh_max of ${capacityOf(node, at)}`);
  const found = depthOf(node, at);
  if (depth < 0 ? found > MOST_DEPTH : found !== depth) {
    wrong(`eh_depth is ${found}, expected ${depth < 0 ? `at most ${MOST_DEPTH}` : depth}`);
  }
  if (found > 0 && count === 0) wrong('an index without entries');
  let next = from;
  for (let index = 0; index < count; index++) {
    const logical = keyOf(node, at, index);
    if (logical < next || logical >= to)
      wrong(`entry ${index} begins at block ${logical}, expected ${next} to ${to - 1}`);
    if (found > 0) {
      const child = childOf(node, at, index);
      if (child < limits.firstBlock || child >= limits.blocks) wrong(`entry ${index} leads to block ${child}`);
      next = logical + 1;
      continue;
    }
    const { length, physical } = readExtent(node, at, index);
    if (length === 0) wrong(`entry ${index} is empty`);
    if (logical + length > to) wrong(`entry ${index} ends at block ${logical + length}, behind ${to}`);
    if (physical < limits.firstBlock || physical + length > limits.blocks) {
      wrong(`entry ${index} lies at blocks ${physical} to ${physical + length - 1}, outside the file system`);
    }
    next = logical + length;
  }
}

import { FsError } from '@flashstack/vfs';
import { put16, put32, u16, u32 } from './bytes.js';
import { crc } from './checksums.js';

/** Where the index begins: in the root behind `.` and `..`, in other blocks behind an entry that spans them. */
export const ROOT_INDEX = 0x20;
export const NODE_INDEX = 8;
const HASH_VERSION = 0x1c;
const INFO_LENGTH = 0x1d;
const LEVELS = 0x1e;
const SLOT = 8;
/** Deepest index without `large_dir`: levels below the root. */
export const MOST_LEVELS = 1;

const zeroes: Uint8Array = new Uint8Array(8);

/** Entries that there is room for, the first of which has no hash. */
export function indexLimit(blockBytes: number, offset: number, checksums: boolean): number {
  return Math.floor((blockBytes - offset - (checksums ? SLOT : 0)) / SLOT);
}

export function hashVersionOf(root: Uint8Array): number {
  return root[HASH_VERSION];
}

export function levelsOf(root: Uint8Array): number {
  return root[LEVELS];
}

export function setLevels(root: Uint8Array, levels: number): void {
  root[LEVELS] = levels;
}

export function indexCount(block: Uint8Array, offset: number): number {
  return u16(block, offset + 2);
}

export function setIndexCount(block: Uint8Array, offset: number, count: number): void {
  put16(block, offset + 2, count);
}

/** Lowest hash that an entry leads to; that of the first one is 0. */
export function indexHash(block: Uint8Array, offset: number, entry: number): number {
  return entry === 0 ? 0 : u32(block, offset + entry * SLOT);
}

/** Logical block of the directory that an entry leads to. */
export function indexBlock(block: Uint8Array, offset: number, entry: number): number {
  return u32(block, offset + entry * SLOT + 4);
}

/** Puts an entry behind `entry`. */
export function insertIndex(block: Uint8Array, offset: number, entry: number, hash: number, logical: number): void {
  const count = indexCount(block, offset);
  const at = offset + (entry + 1) * SLOT;
  block.copyWithin(at + SLOT, at, offset + count * SLOT);
  put32(block, at, hash);
  put32(block, at + 4, logical);
  setIndexCount(block, offset, count + 1);
}

/** The last entry whose hash is not above a name's. */
export function searchIndex(block: Uint8Array, offset: number, hash: number): number {
  let low = 1;
  let high = indexCount(block, offset);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (indexHash(block, offset, middle) <= hash) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Makes the header of an index with one entry. */
export function initIndex(block: Uint8Array, offset: number, limit: number, logical: number): void {
  put16(block, offset, limit);
  put16(block, offset + 2, 1);
  put32(block, offset + 4, logical);
}

/** Makes the description of the index in a root. */
export function initRootInfo(root: Uint8Array, hashVersion: number): void {
  put32(root, 0x18, 0);
  root[HASH_VERSION] = hashVersion;
  root[INFO_LENGTH] = 8;
  root[LEVELS] = 0;
  root[LEVELS + 1] = 0;
}

/** Checksum behind the last entry that there is room for. */
function indexChecksum(inodeSeed: number, block: Uint8Array, offset: number): number {
  const tail = offset + u16(block, offset) * SLOT;
  let register = crc(inodeSeed, block, 0, offset + indexCount(block, offset) * SLOT);
  register = crc(register, block, tail, tail + 4);
  return crc(register, zeroes, 0, 4);
}

export function sealIndex(inodeSeed: number, block: Uint8Array, offset: number): void {
  const tail = offset + u16(block, offset) * SLOT;
  put32(block, tail, 0);
  put32(block, tail + 4, indexChecksum(inodeSeed, block, offset));
}

/** Throws unless a block's index makes sense by itself. @throws FsError EUCLEAN */
export function checkIndex(
  block: Uint8Array,
  offset: number,
  checksums: boolean,
  inodeSeed: number,
  blocks: number,
  where: string,
): void {
  const wrong = (what: string): never => {
    throw new FsError('EUCLEAN', `${where}: ${what}`);
  };
  const limit = indexLimit(block.length, offset, checksums);
  if (u16(block, offset) !== limit) wrong(`limit is ${u16(block, offset)}, expected ${limit}`);
  const count = indexCount(block, offset);
  if (count < 1 || count > limit) wrong(`count is ${count}, expected 1 to ${limit}`);
  if (offset === ROOT_INDEX) {
    if (block[INFO_LENGTH] !== 8) wrong(`info_length is ${block[INFO_LENGTH]}, expected 8`);
    if (block[HASH_VERSION] > 5) wrong(`hash_version is ${block[HASH_VERSION]}`);
    if (block[LEVELS] > MOST_LEVELS) wrong(`indirect_levels is ${block[LEVELS]}, at most ${MOST_LEVELS}`);
  }
  if (checksums) {
    const tail = offset + limit * SLOT;
    if (u32(block, tail + 4) !== indexChecksum(inodeSeed, block, offset)) wrong('dt_checksum is wrong');
  }
  for (let entry = 0; entry < count; entry++) {
    if (indexBlock(block, offset, entry) >= blocks)
      wrong(`entry ${entry} leads to block ${indexBlock(block, offset, entry)}`);
    if (entry > 1 && indexHash(block, offset, entry) < indexHash(block, offset, entry - 1))
      wrong(`entry ${entry} is out of order`);
  }
}

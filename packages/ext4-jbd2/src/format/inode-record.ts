import { high32, i32, join32, put16, put32, u16, u32 } from './bytes.js';
import type { Geometry } from './superblock.js';

/** Bits of `i_flags`. */
export const InodeFlag = {
  immutable: 0x10,
  append: 0x20,
  noAtime: 0x80,
  /** Directory with a hash index. */
  index: 0x1000,
  journalData: 0x4000,
  /** `i_blocks` counts file-system blocks. */
  hugeFile: 0x4_0000,
  extents: 0x8_0000,
  verity: 0x10_0000,
  eaInode: 0x20_0000,
  encrypt: 0x800,
  casefold: 0x4000_0000,
  inlineData: 0x1000_0000,
} as const;

/** Offset and length of `i_block` in an inode record: extent root, inline data or short symbolic link. */
export const I_BLOCK = 0x28;
export const I_BLOCK_BYTES = 60;
/** Where the fields behind the first 128 bytes begin. */
export const GOOD_OLD_BYTES = 128;

/** An inode record as numbers; times are seconds since 1970 and nanoseconds. */
export interface InodeRecord {
  mode: number;
  uid: number;
  gid: number;
  size: number;
  links: number;
  /** In units of 512 bytes. */
  sectors: number;
  flags: number;
  generation: number;
  /** Block of extended attributes, 0: none. */
  attributeBlock: number;
  /** Time of deletion, or the next inode of the orphan list. */
  dtime: number;
  extraBytes: number;
  accessedSec: number;
  accessedNsec: number;
  changedSec: number;
  changedNsec: number;
  modifiedSec: number;
  modifiedNsec: number;
  bornSec: number;
  bornNsec: number;
}

/** Seconds of a time whose upper bits are the two lowest of its extra word, if there is one. */
function seconds(record: Uint8Array, at: number, extraAt: number, has: boolean): number {
  return i32(record, at) + (has ? (u32(record, extraAt) & 3) * 2 ** 32 : 0);
}

function nanoseconds(record: Uint8Array, extraAt: number, has: boolean): number {
  return has ? u32(record, extraAt) >>> 2 : 0;
}

/** Reads the inode record at `at`. */
export function readInode(g: Geometry, record: Uint8Array, at: number): InodeRecord {
  const extraBytes = g.inodeBytes > GOOD_OLD_BYTES ? u16(record, at + 0x80) : 0;
  const has = (offset: number): boolean => GOOD_OLD_BYTES + extraBytes >= offset + 4;
  const flags = u32(record, at + 0x20);
  const blocks = join32(u32(record, at + 0x1c), u16(record, at + 0x74));
  const born = has(0x90);
  return {
    mode: u16(record, at),
    uid: u16(record, at + 0x2) + u16(record, at + 0x78) * 65_536,
    gid: u16(record, at + 0x18) + u16(record, at + 0x7a) * 65_536,
    size: join32(u32(record, at + 0x4), u32(record, at + 0x6c)),
    links: u16(record, at + 0x1a),
    sectors: (flags & InodeFlag.hugeFile) !== 0 ? blocks * (g.blockBytes / 512) : blocks,
    flags,
    generation: u32(record, at + 0x64),
    attributeBlock: join32(u32(record, at + 0x68), u16(record, at + 0x76)),
    dtime: u32(record, at + 0x14),
    extraBytes,
    accessedSec: seconds(record, at + 0x8, at + 0x8c, has(0x8c)),
    accessedNsec: nanoseconds(record, at + 0x8c, has(0x8c)),
    changedSec: seconds(record, at + 0xc, at + 0x84, has(0x84)),
    changedNsec: nanoseconds(record, at + 0x84, has(0x84)),
    modifiedSec: seconds(record, at + 0x10, at + 0x88, has(0x88)),
    modifiedNsec: nanoseconds(record, at + 0x88, has(0x88)),
    bornSec: born ? seconds(record, at + 0x90, at + 0x94, has(0x94)) : 0,
    bornNsec: nanoseconds(record, at + 0x94, has(0x94)),
  };
}

/** The extra word of a time: bits 32 and 33 of the seconds, and the nanoseconds. */
function extraWord(sec: number, nsec: number): number {
  const low = sec | 0;
  return ((nsec << 2) | (Math.round((sec - low) / 2 ** 32) & 3)) >>> 0;
}

/**
 * Writes an inode record; what it does not say (`i_block`, extended attributes, version) stays. Times without room for
 * their extra words lose their nanoseconds, as on Linux. The checksum is set by `Checksums.sealInode`.
 */
export function writeInode(g: Geometry, inode: InodeRecord, record: Uint8Array, at: number): void {
  const { flags } = inode;
  const blocks = (flags & InodeFlag.hugeFile) !== 0 ? inode.sectors / (g.blockBytes / 512) : inode.sectors;
  put16(record, at, inode.mode);
  put16(record, at + 0x2, inode.uid);
  put32(record, at + 0x4, inode.size);
  put32(record, at + 0x8, inode.accessedSec);
  put32(record, at + 0xc, inode.changedSec);
  put32(record, at + 0x10, inode.modifiedSec);
  put32(record, at + 0x14, inode.dtime);
  put16(record, at + 0x18, inode.gid);
  put16(record, at + 0x1a, inode.links);
  put32(record, at + 0x1c, blocks);
  put32(record, at + 0x20, flags);
  put32(record, at + 0x64, inode.generation);
  put32(record, at + 0x68, inode.attributeBlock);
  put32(record, at + 0x6c, high32(inode.size));
  put16(record, at + 0x74, high32(blocks));
  put16(record, at + 0x76, high32(inode.attributeBlock));
  put16(record, at + 0x78, inode.uid >>> 16);
  put16(record, at + 0x7a, inode.gid >>> 16);
  if (g.inodeBytes <= GOOD_OLD_BYTES) return;
  put16(record, at + 0x80, inode.extraBytes);
  const has = (offset: number): boolean => GOOD_OLD_BYTES + inode.extraBytes >= offset + 4;
  if (has(0x84)) put32(record, at + 0x84, extraWord(inode.changedSec, inode.changedNsec));
  if (has(0x88)) put32(record, at + 0x88, extraWord(inode.modifiedSec, inode.modifiedNsec));
  if (has(0x8c)) put32(record, at + 0x8c, extraWord(inode.accessedSec, inode.accessedNsec));
  if (has(0x90)) put32(record, at + 0x90, inode.bornSec);
  if (has(0x94)) put32(record, at + 0x94, extraWord(inode.bornSec, inode.bornNsec));
}

/**
 * Device number of a device node, as `st_rdev` of Linux has it: the first word of `i_block` holds small numbers, the
 * second large ones.
 */
export function deviceOf(record: Uint8Array, at: number): number {
  const old = u32(record, at + I_BLOCK);
  if (old !== 0) return old & 0xffff;
  return u32(record, at + I_BLOCK + 4);
}

/** Writes a device number in the form that has room for it. */
export function putDevice(record: Uint8Array, at: number, device: number): void {
  record.fill(0, at + I_BLOCK, at + I_BLOCK + I_BLOCK_BYTES);
  // Minor numbers below 256 and majors below 256 fit the old form: minor in the low byte, major above it.
  if ((device & ~0xffff) === 0) put32(record, at + I_BLOCK, device);
  else put32(record, at + I_BLOCK + 4, device);
}

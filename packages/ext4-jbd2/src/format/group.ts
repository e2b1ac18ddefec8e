import { high32, join32, put16, put32, u16, u32 } from './bytes.js';
import type { Checksums } from './checksums.js';
import type { Geometry } from './superblock.js';

/** Bits of `bg_flags`. */
export const GroupFlag = {
  /** Inode bitmap and table are not valid: no inode is used. */
  inodeUninit: 1,
  /** The block bitmap is not valid: only the group's own metadata are used. */
  blockUninit: 2,
  /** The inode table is zeroed. */
  inodeZeroed: 4,
} as const;

/** A group descriptor, as numbers. */
export interface GroupDescriptor {
  blockBitmap: number;
  inodeBitmap: number;
  inodeTable: number;
  freeBlocks: number;
  freeInodes: number;
  usedDirs: number;
  flags: number;
  blockBitmapChecksum: number;
  inodeBitmapChecksum: number;
  /** Inodes at the end of the table that were never used. */
  itableUnused: number;
}

/** Reads a descriptor of the table at `at`. */
export function readDescriptor(g: Geometry, bytes: Uint8Array, at: number): GroupDescriptor {
  const wide = g.descriptorBytes >= 64;
  const high = (offset: number): number => (wide ? u32(bytes, at + offset) : 0);
  const upper = (offset: number): number => (wide ? u16(bytes, at + offset) * 65_536 : 0);
  return {
    blockBitmap: join32(u32(bytes, at), high(0x20)),
    inodeBitmap: join32(u32(bytes, at + 0x4), high(0x24)),
    inodeTable: join32(u32(bytes, at + 0x8), high(0x28)),
    freeBlocks: u16(bytes, at + 0xc) + upper(0x2c),
    freeInodes: u16(bytes, at + 0xe) + upper(0x2e),
    usedDirs: u16(bytes, at + 0x10) + upper(0x30),
    flags: u16(bytes, at + 0x12),
    blockBitmapChecksum: u16(bytes, at + 0x18) + upper(0x38),
    inodeBitmapChecksum: u16(bytes, at + 0x1a) + upper(0x3a),
    itableUnused: u16(bytes, at + 0x1c) + upper(0x32),
  };
}

/** Writes a descriptor, with its checksum. */
export function writeDescriptor(
  g: Geometry,
  sums: Checksums,
  group: number,
  descriptor: GroupDescriptor,
  bytes: Uint8Array,
  at: number,
): void {
  const d = descriptor;
  put32(bytes, at, d.blockBitmap);
  put32(bytes, at + 0x4, d.inodeBitmap);
  put32(bytes, at + 0x8, d.inodeTable);
  put16(bytes, at + 0xc, d.freeBlocks);
  put16(bytes, at + 0xe, d.freeInodes);
  put16(bytes, at + 0x10, d.usedDirs);
  put16(bytes, at + 0x12, d.flags);
  put16(bytes, at + 0x18, d.blockBitmapChecksum);
  put16(bytes, at + 0x1a, d.inodeBitmapChecksum);
  put16(bytes, at + 0x1c, d.itableUnused);
  if (g.descriptorBytes >= 64) {
    put32(bytes, at + 0x20, high32(d.blockBitmap));
    put32(bytes, at + 0x24, high32(d.inodeBitmap));
    put32(bytes, at + 0x28, high32(d.inodeTable));
    put16(bytes, at + 0x2c, d.freeBlocks >>> 16);
    put16(bytes, at + 0x2e, d.freeInodes >>> 16);
    put16(bytes, at + 0x30, d.usedDirs >>> 16);
    put16(bytes, at + 0x32, d.itableUnused >>> 16);
    put16(bytes, at + 0x38, d.blockBitmapChecksum >>> 16);
    put16(bytes, at + 0x3a, d.inodeBitmapChecksum >>> 16);
  }
  put16(bytes, at + 0x1e, sums.group(group, bytes, at));
}

/** What of a bitmap's checksum a descriptor has room for. */
export function keptChecksum(g: Geometry, checksum: number): number {
  return g.descriptorBytes >= 64 ? checksum : checksum & 0xffff;
}

import { CRC16, CRC32C, TableCrc } from '@flashstack/codec';
import { high32, put16, put32, u16, u32 } from './bytes.js';
import { Incompat, RoCompat } from './features.js';
import { type Geometry, SB } from './superblock.js';

const crc32c: TableCrc = new TableCrc(CRC32C);
const crc16: TableCrc = new TableCrc(CRC16);
const word: Uint8Array = new Uint8Array(8);
const zeroes: Uint8Array = new Uint8Array(8);

/** CRC-32C as ext4 uses it: the register goes in and out, without a final inversion. */
export function crc(register: number, bytes: Uint8Array, from: number = 0, end: number = bytes.length): number {
  return crc32c.update(register, bytes, from, end);
}

/** The register after a 32-bit number. */
function crcOf32(register: number, value: number): number {
  put32(word, 0, value);
  return crc32c.update(register, word, 0, 4);
}

function crcOf64(register: number, value: number): number {
  put32(word, 0, value >>> 0);
  put32(word, 4, high32(value));
  return crc32c.update(register, word, 0, 8);
}

/** What a superblock's own checksum must be. */
export function superblockChecksum(sb: Uint8Array): number {
  return crc(0xffff_ffff, sb, 0, SB.s_checksum);
}

/** Checksums of everything but superblocks and the journal; all are 0 and right where the file system has none. */
export class Checksums {
  /** Structures carry CRC-32C (`metadata_csum`). */
  readonly on: boolean;
  /** Only group descriptors carry CRC-16 (`uninit_bg`). */
  readonly groupsOnly: boolean;
  /** Start of all other checksums: of the uuid, or `s_checksum_seed`. */
  readonly seed: number;
  private readonly geometry: Geometry;

  constructor(geometry: Geometry, sb: Uint8Array) {
    this.geometry = geometry;
    this.on = (geometry.roCompat & RoCompat.metadataCsum) !== 0;
    this.groupsOnly = (geometry.roCompat & RoCompat.gdtCsum) !== 0;
    const stored = (geometry.incompat & Incompat.csumSeed) !== 0;
    this.seed = stored ? u32(sb, SB.s_checksum_seed) : crc(0xffff_ffff, geometry.uuid);
  }

  /** Start of the checksums of what belongs to one inode. */
  inodeSeed(ino: number, generation: number): number {
    return crcOf32(crcOf32(this.seed, ino), generation);
  }

  /** Of a descriptor, in `bytes` at `at`: the value of `bg_checksum`. */
  group(group: number, bytes: Uint8Array, at: number): number {
    const end = at + this.geometry.descriptorBytes;
    if (this.on) {
      let register = crcOf32(this.seed, group);
      register = crc(register, bytes, at, at + 0x1e);
      register = crc(register, zeroes, 0, 2);
      return crc(register, bytes, at + 0x20, end) & 0xffff;
    }
    if (!this.groupsOnly) return 0;
    put32(word, 0, group);
    let register = crc16.update(0xffff, this.geometry.uuid);
    register = crc16.update(register, word, 0, 4);
    register = crc16.update(register, bytes, at, at + 0x1e);
    return crc16.update(register, bytes, at + 0x20, end);
  }

  /** Of the first `bits` of a bitmap. */
  bitmap(bytes: Uint8Array, bits: number): number {
    return crc(this.seed, bytes, 0, bits >>> 3);
  }

  /** Of an inode record; its two checksum fields count as zero. */
  inode(ino: number, record: Uint8Array, at: number): number {
    const { inodeBytes } = this.geometry;
    let register = this.inodeSeed(ino, u32(record, at + 0x64));
    register = crc(register, record, at, at + 0x7c);
    register = crc(register, zeroes, 0, 2);
    register = crc(register, record, at + 0x7e, at + 0x80);
    if (inodeBytes <= 128) return register;
    const high = hasHighChecksum(record, at);
    register = crc(register, record, at + 0x80, at + 0x82);
    register = high ? crc(register, zeroes, 0, 2) : crc(register, record, at + 0x82, at + 0x84);
    return crc(register, record, at + 0x84, at + inodeBytes);
  }

  /** True if an inode carries the checksum that it should, or none is asked for. */
  inodeIsRight(ino: number, record: Uint8Array, at: number): boolean {
    if (!this.on) return true;
    const value = this.inode(ino, record, at);
    if (u16(record, at + 0x7c) !== (value & 0xffff)) return false;
    if (this.geometry.inodeBytes <= 128 || !hasHighChecksum(record, at)) return true;
    return u16(record, at + 0x82) === value >>> 16;
  }

  /** Writes an inode's checksum. */
  sealInode(ino: number, record: Uint8Array, at: number): void {
    if (!this.on) return;
    const value = this.inode(ino, record, at);
    put16(record, at + 0x7c, value & 0xffff);
    if (this.geometry.inodeBytes > 128 && hasHighChecksum(record, at)) put16(record, at + 0x82, value >>> 16);
  }

  /** Of an extended attribute block; its checksum field counts as zero. */
  attributeBlock(block: number, bytes: Uint8Array): number {
    let register = crcOf64(this.seed, block);
    register = crc(register, bytes, 0, 0x10);
    register = crc(register, zeroes, 0, 4);
    return crc(register, bytes, 0x14, this.geometry.blockBytes);
  }

  /** Of a block of the orphan file, whose inode has this seed. */
  orphanBlock(inodeSeed: number, block: number, bytes: Uint8Array): number {
    return crc(crcOf64(inodeSeed, block), bytes, 0, this.geometry.blockBytes - 8);
  }
}

/** The upper half of the checksum has room only behind an `i_extra_isize` of at least 4. */
function hasHighChecksum(record: Uint8Array, at: number): boolean {
  return u16(record, at + 0x80) >= 4;
}

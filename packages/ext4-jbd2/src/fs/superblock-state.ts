import { Origin } from '@flashstack/block-device';
import { put16, put32, putByteString, u16, u32 } from '../format/bytes.js';
import { superblockChecksum } from '../format/checksums.js';
import { SB, SUPERBLOCK_BYTES, SUPERBLOCK_OFFSET } from '../format/superblock.js';
import { BlockKind, MetadataBuffer } from '../journal/buffer.js';

/** The superblock of a mounted file system: one copy in memory, in the block that it lies in. */
export class SuperblockState {
  readonly buffer: MetadataBuffer;
  /** Its 1,024 bytes. */
  readonly bytes: Uint8Array;
  private readonly checksums: boolean;

  /** @param block the block that holds it, as it is on the device. */
  constructor(block: Uint8Array, blockBytes: number, checksums: boolean) {
    const at = blockBytes === 1024 ? 0 : SUPERBLOCK_OFFSET;
    this.buffer = new MetadataBuffer(blockBytes === 1024 ? 1 : 0, block, BlockKind.superblock, 0, Origin.superblock);
    this.buffer.pins = 1;
    this.bytes = block.subarray(at, at + SUPERBLOCK_BYTES);
    this.checksums = checksums;
  }

  get(field: number): number {
    return u32(this.bytes, field);
  }

  set(field: number, value: number): void {
    put32(this.bytes, field, value);
  }

  get16(field: number): number {
    return u16(this.bytes, field);
  }

  set16(field: number, value: number): void {
    put16(this.bytes, field, value);
  }

  setText(field: number, text: string): void {
    putByteString(this.bytes, field, text);
  }

  /** Blocks that only root may use. */
  get reservedBlocks(): number {
    return this.get(SB.s_r_blocks_count_lo);
  }

  /** Blocks that metadata made at mkfs take. */
  get overhead(): number {
    return this.get(SB.s_overhead_clusters);
  }

  /** Makes its checksum right. */
  seal(): void {
    if (this.checksums) put32(this.bytes, SB.s_checksum, superblockChecksum(this.bytes));
  }
}

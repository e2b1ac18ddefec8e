import type { Inode } from '@flashstack/vfs';
import type { InodeRecord } from '../format/inode-record.js';
import { I_BLOCK, I_BLOCK_BYTES, InodeFlag } from '../format/inode-record.js';
import type { MetadataBuffer } from '../journal/buffer.js';
import { ExtentMap } from './extent-map.js';

/** Blocks that are kept in memory for a range of a file, so that it grows in one piece. */
export interface KeptBlocks {
  readonly logical: number;
  readonly start: number;
  readonly length: number;
}

/** What ext4 knows of an inode besides what every file system does. */
export class Node {
  /** The record, `s_inode_size` bytes: `i_block` and attributes within are read and changed here. */
  readonly bytes: Uint8Array;
  /** `i_block`. */
  readonly root: Uint8Array;
  /** Start of the checksums of its blocks. */
  readonly seed: number;
  /** The block of the inode table that holds its record. */
  readonly table: MetadataBuffer;
  readonly map: ExtentMap = new ExtentMap();
  /** `i_flags`. */
  flags: number;
  /** `i_size` as it is committed: behind `Inode.size` until write-back has given the bytes their places. */
  diskSize: number;
  /** Blocks of contents that are allocated. */
  dataBlocks = 0;
  /** Blocks of the extent tree. */
  treeBlocks = 0;
  attributeBlock: number;
  extraBytes: number;
  /** Next inode of the orphan list, 0: the end; −1: it is not in the list. */
  nextOrphan = -1;
  /** Transactions of its last change, and of the last one without which its data cannot be read. */
  tid = 0;
  dataTid = 0;
  kept: KeptBlocks | null = null;
  /** Blocks of metadata that its delayed data may need. */
  reservedNodes = 0;
  /** A file that shall have its blocks when it is closed or renamed over another. */
  replaces = false;
  freed = false;

  constructor(bytes: Uint8Array, record: InodeRecord, seed: number, table: MetadataBuffer) {
    this.bytes = bytes;
    this.root = bytes.subarray(I_BLOCK, I_BLOCK + I_BLOCK_BYTES);
    this.seed = seed;
    this.table = table;
    this.flags = record.flags;
    this.diskSize = record.size;
    this.attributeBlock = record.attributeBlock;
    this.extraBytes = record.extraBytes;
  }

  get extents(): boolean {
    return (this.flags & InodeFlag.extents) !== 0;
  }

  get inline(): boolean {
    return (this.flags & InodeFlag.inlineData) !== 0;
  }

  /** Blocks that `i_blocks` counts. */
  get storedBlocks(): number {
    return this.dataBlocks + this.treeBlocks + (this.attributeBlock === 0 ? 0 : 1);
  }
}

export function nodeOf(inode: Inode): Node {
  return inode.state as Node;
}

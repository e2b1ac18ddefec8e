import type { Transaction } from './transaction.js';

/** What a metadata block holds, which says how its checksum is made. */
export const BlockKind = {
  superblock: 0,
  descriptors: 1,
  blockBitmap: 2,
  inodeBitmap: 3,
  inodeTable: 4,
  extentNode: 5,
  directoryLeaf: 6,
  directoryIndex: 7,
  attributes: 8,
  symlink: 9,
} as const;

/**
 * A metadata block in memory. Its bytes are those of the running transaction; a copy is kept for the committing one when
 * they are changed before that has been submitted to the journal.
 */
export class MetadataBuffer {
  /** Block of the file system. */
  readonly block: number;
  bytes: Uint8Array;
  /** A `BlockKind`. */
  kind: number;
  /** Who its checksum depends on: the group of a bitmap, the inode seed of what belongs to an inode. */
  owner: number;
  /** Origin of its writes. */
  readonly origin: number;
  /** The transaction that it was last changed in and that has not begun to commit. */
  running: Transaction | null = null;
  /** The transaction that is being committed with it. */
  committing: Transaction | null = null;
  /** What the committing transaction has of it, if `bytes` are newer and not submitted yet. */
  frozen: Uint8Array | null = null;
  /** The committed transaction whose log still holds the only copy of its contents. */
  checkpoint: Transaction | null = null;
  /** Committed and not written to its home. */
  dirty = false;
  /** When it became dirty, simulated time in ns. */
  dirtySinceNs = 0;
  /** Counts commits, so that a write home knows whether it is outdated when it completes. */
  version = 0;
  /** A write home is in flight. */
  writing = false;
  /** Keeps it in memory. */
  pins = 0;

  constructor(block: number, bytes: Uint8Array, kind: number, owner: number, origin: number) {
    this.block = block;
    this.bytes = bytes;
    this.kind = kind;
    this.owner = owner;
    this.origin = origin;
  }

  /** Nothing but the memory knows what it holds, or will. */
  get busy(): boolean {
    return this.running !== null || this.committing !== null || this.dirty || this.writing || this.pins > 0;
  }
}

import { type BlockDevice, Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { readBlocks } from './device-io.js';
import type { Transaction } from './journal.js';
import { BLOCK_BYTES, type Layout } from './layout.js';
import { type Planted, SOUND } from './planted.js';

/**
 * Metadata blocks in memory, and which blocks are taken. A block that was freed may be taken again only when nothing in the
 * journal refers to it any more: a replay would overwrite its new contents.
 */
export class Metadata {
  private readonly device: BlockDevice;
  private readonly layout: Layout;
  private readonly blocks: Map<number, Uint8Array> = new Map();
  /** 1: taken, or freed and not to be taken yet. */
  private readonly busy: Uint8Array;
  private readonly freed: { readonly tid: number; readonly block: number }[] = [];
  private readonly running: () => Transaction;
  private readonly planted: Planted;
  /** A planted defect that shows when freed blocks are the next to be taken. */
  private readonly eager: boolean;
  /** Inode that each block is known to belong to, 0: none yet. */
  private readonly owners: Uint32Array;
  private takeable = 0;
  private cursor = 0;
  /** Blocks that writes and directories have been promised. */
  reserved = 0;

  /** @param running the transaction that changes belong to. */
  constructor(device: BlockDevice, layout: Layout, running: () => Transaction, planted: Planted = SOUND) {
    this.planted = planted;
    this.eager = planted.has('reused-at-once') || planted.has('reused-before-checkpoint');
    this.device = device;
    this.layout = layout;
    this.running = running;
    this.busy = new Uint8Array(layout.blocks).fill(1);
    this.owners = new Uint32Array(layout.blocks);
    this.cursor = layout.dataStart;
  }

  /** Blocks that can be promised now. */
  get available(): number {
    return this.takeable - this.reserved;
  }

  /** Blocks that are or become free. */
  get free(): number {
    return this.available + this.freed.length;
  }

  /** True if a commit and checkpoint would make room. */
  get waiting(): boolean {
    return this.freed.length > 0;
  }

  /** Reads bitmap and inode table. @throws FsError EIO */
  *loadMaps(): Task<void> {
    const { bitmapStart, bitmapBlocks, inodeBlocks, dataStart, blocks } = this.layout;
    const data = yield* readBlocks(this.device, bitmapStart, bitmapBlocks + inodeBlocks, Origin.allocationMap);
    for (let at = 0; at < bitmapBlocks + inodeBlocks; at++) {
      this.blocks.set(bitmapStart + at, data.slice(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES));
    }
    for (let block = dataStart; block < blocks; block++) {
      if ((this.mapByte(block) & (1 << (block & 7))) !== 0) continue;
      this.busy[block] = 0;
      this.takeable++;
    }
  }

  /** An inode's map names a block. @throws FsError EUCLEAN if it cannot be that inode's */
  claim(block: number, ino: number, what: string): void {
    const wrong = (why: string): never => {
      throw new FsError('EUCLEAN', `inode ${ino}, ${what}: block ${block} ${why}`);
    };
    if (block < this.layout.dataStart || block >= this.layout.blocks) wrong('is outside the data');
    if ((this.mapByte(block) & (1 << (block & 7))) === 0) wrong('is free in the bitmap');
    const owner = this.owners[block];
    if (owner !== 0 && owner !== ino) wrong(`belongs to inode ${owner}`);
    this.owners[block] = ino;
  }

  /** A block that is in memory. */
  get(block: number): Uint8Array {
    const bytes = this.blocks.get(block);
    if (bytes === undefined) throw new Error(`metadata block ${block} is not in memory`);
    return bytes;
  }

  /** A block, read if need be. @throws FsError EIO, EUCLEAN */
  *load(block: number, origin: number): Task<Uint8Array> {
    const known = this.blocks.get(block);
    if (known !== undefined) return known;
    if (block < this.layout.dataStart || block >= this.layout.blocks) {
      throw new FsError('EUCLEAN', `pointer to block ${block}`);
    }
    const bytes = yield* readBlocks(this.device, block, 1, origin);
    const meanwhile = this.blocks.get(block);
    if (meanwhile !== undefined) return meanwhile;
    this.blocks.set(block, bytes);
    return bytes;
  }

  /** A block for changes, which become part of the running transaction. */
  change(block: number): Uint8Array {
    this.running().blocks.add(block);
    return this.get(block);
  }

  /** A free block; what it is for has been promised or is available. */
  take(ino: number): number {
    if (this.takeable === 0) throw new FsError('ENOSPC');
    const { blocks, dataStart } = this.layout;
    while (this.busy[this.cursor] !== 0) this.cursor = this.cursor + 1 === blocks ? dataStart : this.cursor + 1;
    const block = this.cursor;
    this.busy[block] = 1;
    this.takeable--;
    this.owners[block] = ino;
    this.setBit(block, true);
    return block;
  }

  /** A free block for metadata, zero. */
  takeZeroed(ino: number): number {
    const block = this.take(ino);
    this.blocks.set(block, new Uint8Array(BLOCK_BYTES));
    this.running().blocks.add(block);
    return block;
  }

  /** Gives a block up. */
  release(block: number): void {
    this.setBit(block, false);
    this.owners[block] = 0;
    this.freed.push({ tid: this.running().tid, block });
    if (this.planted.has('reused-at-once')) this.checkpointed(this.running().tid);
    if (this.blocks.delete(block)) this.running().blocks.delete(block);
  }

  /** Blocks freed in transactions up to this one can be taken again. */
  checkpointed(tid: number): void {
    let kept = 0;
    if (this.eager && this.freed.length > 0) this.cursor = this.freed[0].block;
    for (const entry of this.freed) {
      if (entry.tid > tid) {
        this.freed[kept++] = entry;
        continue;
      }
      this.busy[entry.block] = 0;
      this.takeable++;
    }
    this.freed.length = kept;
  }

  private setBit(block: number, taken: boolean): void {
    const place = this.layout.bitmapStart + (block >> 15);
    const bitmap = this.planted.has('bitmap-not-logged') ? this.get(place) : this.change(place);
    const at = (block >> 3) & (BLOCK_BYTES - 1);
    if (taken) bitmap[at] |= 1 << (block & 7);
    else bitmap[at] &= ~(1 << (block & 7));
  }

  private mapByte(block: number): number {
    return this.get(this.layout.bitmapStart + (block >> 15))[(block >> 3) & (BLOCK_BYTES - 1)];
  }
}

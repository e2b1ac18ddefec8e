import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { Ino } from '../format/superblock.js';
import { readMap } from '../volume/file-map.js';
import type { Volume } from '../volume/volume.js';

/** Blocks of the log that are read at a time. */
const WINDOW = 64;

/** Where the blocks of the journal's file lie, and a window of them in memory. */
export class LogFile {
  readonly blocks: number;
  private readonly volume: Volume;
  /** First journal block and first device block of each piece, and its length. */
  private readonly pieces: readonly { readonly logical: number; readonly physical: number; readonly length: number }[];
  private windowAt = -1;
  private window: Uint8Array = new Uint8Array(0);

  private constructor(volume: Volume, pieces: LogFile['pieces'], blocks: number) {
    this.volume = volume;
    this.pieces = pieces;
    this.blocks = blocks;
  }

  /** The journal of a volume. @throws FsError EUCLEAN */
  static *of(volume: Volume): Task<LogFile> {
    const inode = yield* volume.inode(Ino.journal);
    const where = `inode ${Ino.journal}, journal`;
    if (inode.record.mode >>> 12 !== 8 || inode.record.links === 0) throw new FsError('EUCLEAN', `${where}: no file`);
    const { extents } = yield* readMap(volume, inode);
    let blocks = 0;
    for (const { logical, length } of extents) {
      if (logical !== blocks) throw new FsError('EUCLEAN', `${where}: block ${blocks} is missing`);
      blocks += length;
    }
    return new LogFile(volume, extents, blocks);
  }

  /** Block of the device on which a block of the journal lies. @throws FsError EUCLEAN */
  place(block: number): number {
    const piece = this.pieces.find(({ logical, length }) => block >= logical && block < logical + length);
    if (piece === undefined) throw new FsError('EUCLEAN', `journal: block ${block} of ${this.blocks}`);
    return piece.physical + block - piece.logical;
  }

  /** A block; the bytes are good until the next call. @throws FsError EIO, EUCLEAN */
  *read(block: number): Task<Uint8Array> {
    const { blockBytes } = this.volume.geometry;
    if (this.windowAt < 0 || block < this.windowAt || block >= this.windowAt + this.window.length / blockBytes) {
      yield* this.fill(block);
    }
    const from = (block - this.windowAt) * blockBytes;
    return this.window.subarray(from, from + blockBytes);
  }

  private *fill(block: number): Task<void> {
    const physical = this.place(block);
    const piece = this.pieces.find(({ logical, length }) => block >= logical && block < logical + length);
    const left = piece === undefined ? 1 : piece.logical + piece.length - block;
    this.window = yield* this.volume.io.read(
      physical,
      Math.min(WINDOW, left),
      Origin.journal,
      `journal, block ${block}`,
    );
    this.windowAt = block;
  }
}

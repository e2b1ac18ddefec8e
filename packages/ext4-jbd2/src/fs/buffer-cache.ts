import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { MetadataBuffer } from '../journal/buffer.js';
import type { DeviceBlocks } from '../volume/device-blocks.js';

/** Clean blocks that are kept to spare reading them again. */
const KEPT = 32_768;

/** Metadata blocks in memory. */
export class BufferCache {
  private readonly io: DeviceBlocks;
  /** Blocks of the file system. */
  private readonly blocks: number;
  private readonly known: Map<number, MetadataBuffer> = new Map();

  constructor(io: DeviceBlocks, blocks: number) {
    this.io = io;
    this.blocks = blocks;
  }

  /** A block that is in memory, or undefined. */
  get(block: number): MetadataBuffer | undefined {
    return this.known.get(block);
  }

  /**
   * A block, read if need be; `check` is called once, with what was read.
   * @throws FsError EIO, EUCLEAN outside the file system or by `check`
   */
  *load(
    block: number,
    kind: number,
    owner: number,
    origin: number,
    where: string,
    check: ((bytes: Uint8Array) => void) | null,
  ): Task<MetadataBuffer> {
    const known = this.known.get(block);
    if (known !== undefined) return known;
    if (!(block > 0 && block < this.blocks) && kind !== 0) {
      throw new FsError('EUCLEAN', `${where}: block ${block} of ${this.blocks}`);
    }
    const bytes = yield* this.io.read(block, 1, origin, where);
    const meanwhile = this.known.get(block);
    if (meanwhile !== undefined) return meanwhile;
    check?.(bytes);
    return this.add(new MetadataBuffer(block, bytes, kind, owner, origin));
  }

  /** A block with new contents, zero at first. */
  create(block: number, kind: number, owner: number, origin: number): MetadataBuffer {
    return this.add(new MetadataBuffer(block, new Uint8Array(this.io.blockBytes), kind, owner, origin));
  }

  /** Takes over a block with contents that were read or made elsewhere. */
  add(buffer: MetadataBuffer): MetadataBuffer {
    if (this.known.size >= KEPT) this.shrink();
    this.known.set(buffer.block, buffer);
    return buffer;
  }

  remove(block: number): void {
    this.known.delete(block);
  }

  /** Blocks that are to be written home. */
  *dirty(): IterableIterator<MetadataBuffer> {
    for (const buffer of this.known.values()) if (buffer.dirty) yield buffer;
  }

  /** Forgets half of what is clean, oldest first. */
  private shrink(): void {
    let left = KEPT >> 1;
    for (const [block, buffer] of this.known) {
      if (buffer.busy || buffer.checkpoint !== null) continue;
      this.known.delete(block);
      if (--left === 0) return;
    }
  }
}

import { expandTag, tagOfBytes } from './contents.js';
import { type BlockFeatures, BlockOp, type BlockRequest, BlockStatus } from './contract.js';
import { ImmediateDevice } from './immediate-device.js';

/** How a memory device differs from the default. */
export interface MemoryDeviceOptions {
  /** Bytes of a block, default 4096. */
  readonly blockBytes?: number;
  /** Number of blocks. */
  readonly blockCount: number;
  /** Default: FUA, discard, no volatile cache, one atomic block, contents kept. */
  readonly features?: Partial<BlockFeatures>;
}

/** Throws unless sizes are usable: blocks of a power of two from 512 to 65,536 bytes, at least one of them. */
export function checkGeometry(blockBytes: number, blockCount: number): void {
  if (
    !Number.isSafeInteger(blockBytes) ||
    blockBytes < 512 ||
    blockBytes > 65536 ||
    (blockBytes & (blockBytes - 1)) !== 0
  ) {
    throw new RangeError(`blockBytes must be a power of two from 512 to 65536, found ${blockBytes}`);
  }
  if (!Number.isSafeInteger(blockCount) || blockCount < 1) {
    throw new RangeError(`blockCount must be an integer ≥ 1, found ${blockCount}`);
  }
}

/** Contents of `tagged` blocks: no bytes. */
const TAGGED = 0;

/**
 * A device in memory that takes no time. A block holds a 32-bit tag, or bytes where no tag stands for them, so zeroes
 * and tagged data cost five bytes a block and only real bytes a block's worth.
 */
export class MemoryDevice extends ImmediateDevice {
  readonly blockBytes: number;
  readonly blockCount: number;
  readonly features: BlockFeatures;
  private readonly tags: Uint32Array;
  /** Per block: 0, or 1 + the slot of its bytes. */
  private readonly slots: Uint32Array;
  /** The bytes of each slot: views of larger chunks, made once because a view costs as much as a small copy. */
  private readonly views: Uint8Array[] = [];
  private readonly freeSlots: number[] = [];
  private readonly slotsPerChunk: number;

  /** @throws RangeError if the sizes are unusable. */
  constructor(options: MemoryDeviceOptions) {
    super();
    const { blockBytes = 4096, blockCount, features = {} } = options;
    checkGeometry(blockBytes, blockCount);
    this.blockBytes = blockBytes;
    this.blockCount = blockCount;
    this.features = { fua: true, volatileCache: false, discard: true, atomicBlocks: 1, keeps: 'contents', ...features };
    const kept = this.features.keeps === 'contents' ? blockCount : 0;
    this.tags = new Uint32Array(kept);
    this.slots = new Uint32Array(kept);
    this.slotsPerChunk = Math.max(1, (1 << 20) / blockBytes);
  }

  /** Blocks that hold bytes rather than a tag. */
  get blocksInBytes(): number {
    return this.views.length - this.freeSlots.length;
  }

  protected perform(request: BlockRequest): number {
    if (this.features.keeps === 'nothing') return BlockStatus.ok;
    switch (request.op) {
      case BlockOp.read:
        return this.read(request);
      case BlockOp.write:
        this.write(request, request.block);
        return BlockStatus.ok;
      case BlockOp.discard:
      case BlockOp.writeZeroes:
        this.zero(request.block, request.count);
        return BlockStatus.ok;
      default:
        return BlockStatus.ok;
    }
  }

  private read(request: BlockRequest): number {
    const { block, count, data, tags } = request;
    let status: number = BlockStatus.ok;
    for (let at = 0; at < count; at++) {
      const slot = this.slots[block + at];
      if (data !== null) {
        const offset = at * this.blockBytes;
        if (slot === TAGGED) expandTag(this.tags[block + at], data, offset, this.blockBytes);
        else data.set(this.bytesOf(slot), offset);
      } else if (tags !== null) {
        if (slot === TAGGED) tags[at] = this.tags[block + at];
        else status = BlockStatus.notTagged;
      }
    }
    return status;
  }

  /** Stores the payload of a request from `block` on. */
  protected write(request: BlockRequest, block: number): void {
    const { count, data, tags } = request;
    for (let at = 0; at < count; at++) {
      if (data === null) {
        this.putTag(block + at, tags === null ? 0 : tags[at]);
        continue;
      }
      const offset = at * this.blockBytes;
      const tag = tagOfBytes(data, offset, this.blockBytes);
      if (tag >= 0) this.putTag(block + at, tag);
      else this.putBytes(block + at, data, offset);
    }
  }

  /** Makes blocks read as zero. */
  protected zero(block: number, count: number): void {
    for (let at = 0; at < count; at++) this.putTag(block + at, 0);
  }

  private putTag(block: number, tag: number): void {
    const slot = this.slots[block];
    if (slot !== TAGGED) {
      this.freeSlots.push(slot);
      this.slots[block] = TAGGED;
    }
    this.tags[block] = tag;
  }

  private putBytes(block: number, data: Uint8Array, offset: number): void {
    let slot = this.slots[block];
    if (slot === TAGGED) {
      slot = this.freeSlots.pop() ?? this.newSlot();
      this.slots[block] = slot;
    }
    const into = this.bytesOf(slot);
    if (data.length === this.blockBytes) into.set(data);
    else into.set(data.subarray(offset, offset + this.blockBytes));
  }

  /** Makes a chunk's worth of slots; all but the first are free. */
  private newSlot(): number {
    const chunk = new Uint8Array(this.slotsPerChunk * this.blockBytes);
    const first = this.views.length + 1;
    for (let at = 0; at < chunk.length; at += this.blockBytes)
      this.views.push(chunk.subarray(at, at + this.blockBytes));
    for (let slot = this.views.length; slot > first; slot--) this.freeSlots.push(slot);
    return first;
  }

  private bytesOf(slot: number): Uint8Array {
    return this.views[slot - 1];
  }
}

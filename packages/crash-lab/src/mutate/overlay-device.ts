import { type BlockFeatures, BlockOp, type BlockRequest, BlockStatus, ImmediateDevice } from '@flashstack/block-device';
import type { ImageBytes } from '@flashstack/vfs';

/** What one mutant may ask of its device before it counts as one that never ends. */
export interface DeviceBudget {
  readonly requests: number;
  /** Read and written. */
  readonly bytes: number;
}

/** A mutant has asked for more than its budget. */
export class BudgetError extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'BudgetError';
  }
}

/**
 * A device over bytes that never change: it keeps only the blocks that differ from them, so that a new mutant costs what it
 * changes. Both the bytes of an image, to be damaged, and a device, to be mounted.
 */
export class OverlayDevice extends ImmediateDevice implements ImageBytes {
  readonly blockBytes: number = 4096;
  readonly features: BlockFeatures = {
    fua: true,
    volatileCache: false,
    discard: true,
    atomicBlocks: 1,
    keeps: 'contents',
  };
  private readonly base: Uint8Array;
  private readonly budget: DeviceBudget;
  private readonly changed: Map<number, Uint8Array> = new Map();
  private blocks: number;
  private requests = 0;
  private bytes = 0;

  /** @throws RangeError unless the bytes are whole blocks of 4 KiB */
  constructor(base: Uint8Array, budget: DeviceBudget) {
    super();
    if (base.length === 0 || base.length % this.blockBytes !== 0) {
      throw new RangeError(`an image has ${base.length} bytes, expected whole blocks of ${this.blockBytes}`);
    }
    this.base = base;
    this.budget = budget;
    this.blocks = base.length / this.blockBytes;
  }

  get blockCount(): number {
    return this.blocks;
  }

  get length(): number {
    return this.blocks * this.blockBytes;
  }

  /** Holds the bytes that it stands on again, with its whole budget. */
  reset(): void {
    this.changed.clear();
    this.blocks = this.base.length / this.blockBytes;
    this.requests = 0;
    this.bytes = 0;
  }

  /** Ends after so many blocks, at least one and at most all. */
  truncate(blocks: number): void {
    this.blocks = blocks;
  }

  read(at: number, length: number): Uint8Array {
    this.demandInside(at, length);
    const out = new Uint8Array(length);
    this.readInto(at, out);
    return out;
  }

  write(at: number, bytes: Uint8Array): void {
    this.demandInside(at, bytes.length);
    this.eachPart(at, bytes.length, (block, from, offset, count) => {
      this.own(block).set(bytes.subarray(offset, offset + count), from);
    });
  }

  protected perform(request: BlockRequest): number {
    const { op, block, count, data, tags } = request;
    if (op === BlockOp.flush) return this.charge(0);
    const at = block * this.blockBytes;
    const length = count * this.blockBytes;
    const status = this.charge(length);
    if (op === BlockOp.read) {
      if (data !== null) this.readInto(at, data);
      else if (tags !== null) return BlockStatus.notTagged;
    } else this.write(at, data ?? new Uint8Array(length));
    return status;
  }

  private readInto(at: number, out: Uint8Array): void {
    out.set(this.base.subarray(at, at + out.length));
    const last = Math.floor((at + out.length - 1) / this.blockBytes);
    for (let block = Math.floor(at / this.blockBytes); block <= last; block++) {
      const bytes = this.changed.get(block);
      if (bytes === undefined) continue;
      const start = block * this.blockBytes;
      const from = Math.max(at, start);
      const end = Math.min(at + out.length, start + this.blockBytes);
      out.set(bytes.subarray(from - start, end - start), from - at);
    }
  }

  private charge(bytes: number): number {
    this.bytes += bytes;
    if (++this.requests > this.budget.requests) throw new BudgetError(`more than ${this.budget.requests} requests`);
    if (this.bytes > this.budget.bytes) throw new BudgetError(`more than ${this.budget.bytes} bytes of I/O`);
    return BlockStatus.ok;
  }

  private own(block: number): Uint8Array {
    const known = this.changed.get(block);
    if (known !== undefined) return known;
    const bytes = this.base.slice(block * this.blockBytes, (block + 1) * this.blockBytes);
    this.changed.set(block, bytes);
    return bytes;
  }

  private eachPart(
    at: number,
    length: number,
    visit: (block: number, from: number, offset: number, count: number) => void,
  ): void {
    for (let offset = 0; offset < length; ) {
      const block = Math.floor((at + offset) / this.blockBytes);
      const from = (at + offset) % this.blockBytes;
      const count = Math.min(this.blockBytes - from, length - offset);
      visit(block, from, offset, count);
      offset += count;
    }
  }

  private demandInside(at: number, length: number): void {
    if (at >= 0 && length >= 0 && at + length <= this.length) return;
    throw new RangeError(`bytes ${at} to ${at + length} of an image of ${this.length}`);
  }
}

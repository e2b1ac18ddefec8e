import { BlockState, type BlockTable, type FreeOrder } from '../block-table.js';
import type { BlockEraser } from '../eraser.js';
import { FtlError } from '../errors.js';
import { settle } from '../settle.js';
import type { HybridLayout } from './layout.js';
import { type PlacedFrontiers, Role } from './placed-frontiers.js';
import { type FrontierNumbers, OPEN_DATA_BLOCKS, type Space } from './space.js';

/** Answers of `DataBlocks.frontier` besides a frontier. */
export const Place = {
  /** The slot's place in the data block is taken, or behind the write pointer. */
  taken: -1,
  /** No free block now. */
  wait: -2,
} as const;

/** What data blocks are made of. */
export interface DataBlockParts {
  readonly table: BlockTable;
  readonly layout: HybridLayout;
  readonly frontiers: PlacedFrontiers;
  readonly eraser: BlockEraser;
  readonly space: Space;
  readonly numbers: FrontierNumbers;
  readonly order: FreeOrder;
}

/**
 * The block map: logical block → data block, in which each offset is at its place. Offsets from the write pointer on can
 * be written in place; a few blocks of a domain are open for it, others are opened again when they are needed.
 */
export class DataBlocks {
  /** Data block per logical block, −1: none. */
  readonly blockOf: Int32Array;
  /** Logical block per block, −1: no data block. */
  readonly lbnOf: Int32Array;
  /** Position from which a closed data block can be written; the block's slots if it cannot. */
  readonly writePointer: Int32Array;
  private readonly parts: DataBlockParts;
  /** Per frontier of data blocks: when it was used last. */
  private readonly used: Float64Array;
  private uses = 0;

  constructor(parts: DataBlockParts) {
    const { layout, table } = parts;
    this.parts = parts;
    this.blockOf = new Int32Array(layout.logicalBlocks * layout.domains).fill(-1);
    this.lbnOf = new Int32Array(table.blocks).fill(-1);
    this.writePointer = new Int32Array(table.blocks).fill(layout.slotsPerBlock);
    this.used = new Float64Array(table.domains * OPEN_DATA_BLOCKS);
  }

  get bytes(): number {
    return this.blockOf.byteLength + this.lbnOf.byteLength + this.writePointer.byteLength;
  }

  /** The frontier at the place of an offset, gaps before it padded; or a `Place`. */
  frontier(domain: number, lbn: number, offset: number): number {
    const { frontiers, table } = this.parts;
    for (;;) {
      const block = this.blockOf[lbn];
      if (block >= 0 && table.state[block] !== BlockState.open && this.writePointer[block] > offset) return Place.taken;
      const f = block < 0 ? this.create(domain, lbn) : this.openFrontier(domain, block);
      if (f < 0) return f;
      const opened = frontiers.block[f];
      if (frontiers.positionAt(f) > offset) return Place.taken;
      while (frontiers.block[f] === opened && frontiers.positionAt(f) < offset) frontiers.padSlot(f);
      // Padding may have failed: then the logical block needs another data block.
      if (frontiers.block[f] === opened) return f;
    }
  }

  /** Block `block` is the data block of `lbn` from now on; the one before is erased. */
  install(lbn: number, block: number): void {
    const old = this.blockOf[lbn];
    this.blockOf[lbn] = block;
    this.lbnOf[block] = lbn;
    if (old >= 0) this.retire(old);
  }

  /** The data block of `lbn` holds nothing that is valid: it is erased. */
  drop(lbn: number): void {
    this.close(lbn);
    const block = this.blockOf[lbn];
    if (block < 0) return;
    this.blockOf[lbn] = -1;
    this.retire(block);
  }

  /** Closes the data block of `lbn` if it is open. */
  close(lbn: number): void {
    const block = this.blockOf[lbn];
    if (block < 0 || this.parts.table.state[block] !== BlockState.open) return;
    const { frontiers, numbers, layout } = this.parts;
    const first = layout.domainOf(lbn) * numbers.perDomain;
    for (let f = first; f < first + OPEN_DATA_BLOCKS; f++) if (frontiers.block[f] === block) this.leave(f);
  }

  /** Frontier `f` leaves its data block; what can still be written of it is remembered. */
  leave(f: number): void {
    const { frontiers } = this.parts;
    const block = frontiers.block[f];
    settle(frontiers, f);
    if (frontiers.block[f] !== block) return;
    this.writePointer[block] = frontiers.positionAt(f);
    frontiers.close(f);
  }

  /** `block` is no data block any more. */
  forget(block: number): void {
    const lbn = this.lbnOf[block];
    this.lbnOf[block] = -1;
    if (lbn >= 0 && this.blockOf[lbn] === block) this.blockOf[lbn] = -1;
  }

  /** All is forgotten: power loss. */
  reset(): void {
    this.blockOf.fill(-1);
    this.lbnOf.fill(-1);
    this.writePointer.fill(this.parts.layout.slotsPerBlock);
    this.used.fill(0);
  }

  private retire(block: number): void {
    const { table, frontiers, eraser } = this.parts;
    if (table.valid[block] !== 0) {
      throw new FtlError('ERR_FTL_ACCOUNTING', `data block ${block} is left with ${table.valid[block]} valid slots`);
    }
    this.lbnOf[block] = -1;
    frontiers.role[block] = Role.none;
    eraser.emptied(block, table.domainOf(block));
  }

  /** A new data block for `lbn`. */
  private create(domain: number, lbn: number): number {
    const { frontiers, space, order } = this.parts;
    const f = this.freeFrontier(domain);
    if (!space.openForHost(f, domain, order, Role.data)) return Place.wait;
    const block = frontiers.block[f];
    this.writePointer[block] = this.parts.layout.slotsPerBlock;
    this.blockOf[lbn] = block;
    this.lbnOf[block] = lbn;
    return f;
  }

  /** The frontier of a data block that is not full, opened again if necessary. */
  private openFrontier(domain: number, block: number): number {
    const { frontiers, numbers, table, layout } = this.parts;
    const first = domain * numbers.perDomain;
    if (table.state[block] === BlockState.open) {
      for (let f = first; f < first + OPEN_DATA_BLOCKS; f++) {
        if (frontiers.block[f] !== block) continue;
        this.used[domain * OPEN_DATA_BLOCKS + f - first] = ++this.uses;
        return f;
      }
    }
    const f = this.freeFrontier(domain);
    frontiers.resumeAt(f, block, this.writePointer[block]);
    this.writePointer[block] = layout.slotsPerBlock;
    return f;
  }

  /** A frontier for data blocks of the domain that is not open; the one used longest ago is closed if need be. */
  private freeFrontier(domain: number): number {
    const { frontiers, numbers } = this.parts;
    const first = domain * numbers.perDomain;
    const used = domain * OPEN_DATA_BLOCKS - first;
    let oldest = first;
    for (let f = first; f < first + OPEN_DATA_BLOCKS; f++) {
      if (frontiers.block[f] < 0) {
        oldest = f;
        break;
      }
      if (this.used[used + f] < this.used[used + oldest]) oldest = f;
    }
    if (frontiers.block[oldest] >= 0) this.leave(oldest);
    this.used[used + oldest] = ++this.uses;
    return oldest;
  }
}

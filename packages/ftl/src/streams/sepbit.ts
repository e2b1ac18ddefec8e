import type { StrategyKind } from '@flashstack/sim';
import type { BlockTable } from '../block-table.js';
import type { FrontierLayout } from '../frontier-layout.js';
import type { StreamContext, StreamPolicy } from '../streams.js';

/** Blocks of class 1 over whose reclaiming the lifespan is averaged. */
const WINDOW = 16;

/**
 * Placement by inferred block invalidation times (Wang et al., "Separating Data via Block Invalidation Time Inference for
 * Write Amplification Reduction in Log-Structured Storage", FAST 2022; specification section 8.3). Host writes: class 1 if
 * the overwritten version lived shorter than `lifespan` host writes, otherwise class 2. Relocated data: class 3 from blocks
 * of class 1; the rest by the time since the host wrote it, class 4 below 4, class 5 below 16 lifespans, then class 6.
 */
class SepBit implements StreamPolicy {
  /** Classes 1 and 2. */
  readonly streams = 2;
  /** Classes 3 to 6. */
  readonly moveStreams = 4;
  /**
   * Mean lifespan of the blocks of class 1 that were reclaimed last, host writes from opening to reclaiming. Infinite until
   * there were enough of them.
   */
  lifespan = Number.POSITIVE_INFINITY;
  private readonly spans: Float64Array = new Float64Array(WINDOW);
  private spanned = 0;
  private blocks!: BlockTable;
  private layout!: FrontierLayout;
  /** Clock of the last write of each logical slot. */
  private writtenAt!: Float64Array;

  attach(blocks: BlockTable, { layout, logicalSlots }: StreamContext): void {
    this.blocks = blocks;
    this.layout = layout;
    this.writtenAt = new Float64Array(logicalSlots);
  }

  get perSlot(): Float64Array {
    return this.writtenAt;
  }

  choose(lpn: number, _hint: number, oldBlock: number): number {
    if (oldBlock < 0) return 1;
    return this.blocks.clock - this.writtenAt[lpn] < this.lifespan ? 0 : 1;
  }

  written(lpn: number): void {
    this.writtenAt[lpn] = this.blocks.clock;
  }

  move(lpn: number, block: number): number {
    if (this.blocks.stream[block] === 0) return 0;
    if (lpn < 0) {
      const stream = this.blocks.stream[block] - this.layout.gc;
      return stream > 1 && stream < this.moveStreams ? stream : 1;
    }
    const age = this.blocks.clock - this.writtenAt[lpn];
    if (age < 4 * this.lifespan) return 1;
    return age < 16 * this.lifespan ? 2 : 3;
  }

  reset(): void {
    this.writtenAt.fill(0);
    this.spanned = 0;
    this.lifespan = Number.POSITIVE_INFINITY;
  }

  reclaimed(block: number): void {
    if (this.blocks.stream[block] !== 0) return;
    this.spans[this.spanned++ % WINDOW] = this.blocks.clock - this.blocks.openedAt[block];
    if (this.spanned < WINDOW) return;
    let sum = 0;
    for (let i = 0; i < WINDOW; i++) sum += this.spans[i];
    this.lifespan = sum / WINDOW;
  }
}

/** `sepbit`, see `SepBit`. */
export const sepBitKind: StrategyKind<StreamPolicy> = {
  name: 'sepbit',
  summary: 'Six classes by lifetimes inferred from overwrites and ages (SepBIT).',
  parameters: [],
  create: () => new SepBit(),
};

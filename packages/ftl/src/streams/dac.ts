import type { StrategyKind } from '@flashstack/sim';
import type { BlockTable } from '../block-table.js';
import type { FrontierLayout } from '../frontier-layout.js';
import type { StreamContext, StreamPolicy } from '../streams.js';

/**
 * Dynamic data clustering (Chiang, Lee and Chang, "Using Data Clustering to Improve Cleaning Performance for Flash Memory",
 * 1999; specification section 8.2): regions from cold (0) to hot. A slot that the host overwrites moves one region up, one
 * that collection relocates one down. With ages, only a slot that was overwritten soon enough goes up, and only one that
 * was not written for long enough goes down; otherwise it stays.
 */
class Dac implements StreamPolicy {
  readonly streams: number;
  readonly moveStreams: number;
  private readonly firstRegion: number;
  private readonly promoteShare: number;
  private readonly demoteShare: number;
  private promoteAge = Number.POSITIVE_INFINITY;
  private demoteAge = 0;
  private blocks!: BlockTable;
  private layout!: FrontierLayout;
  /** Clock of the last write of each logical slot; null while no age matters. */
  private writtenAt: Float64Array | null = null;

  constructor(regions: number, start: string, promoteAge: number, demoteAge: number) {
    this.streams = regions;
    this.moveStreams = regions;
    this.firstRegion = start === 'middle' ? Math.floor((regions - 1) / 2) : 0;
    this.promoteShare = promoteAge;
    this.demoteShare = demoteAge;
  }

  attach(blocks: BlockTable, { layout, logicalSlots }: StreamContext): void {
    this.blocks = blocks;
    this.layout = layout;
    if (this.promoteShare > 0) this.promoteAge = this.promoteShare * logicalSlots;
    this.demoteAge = this.demoteShare * logicalSlots;
    if (this.promoteShare > 0 || this.demoteShare > 0) this.writtenAt = new Float64Array(logicalSlots);
  }

  get perSlot(): Float64Array | null {
    return this.demoteAge > 0 ? this.writtenAt : null;
  }

  choose(lpn: number, _hint: number, oldBlock: number): number {
    if (oldBlock < 0) return this.firstRegion;
    const region = this.regionOf(oldBlock);
    if (region + 1 === this.streams || this.age(lpn) > this.promoteAge) return region;
    return region + 1;
  }

  written(lpn: number): void {
    if (this.writtenAt !== null) this.writtenAt[lpn] = this.blocks.clock;
  }

  move(lpn: number, block: number): number {
    const region = this.regionOf(block);
    if (region === 0) return 0;
    return this.demoteAge > 0 && lpn >= 0 && this.age(lpn) < this.demoteAge ? region : region - 1;
  }

  reset(): void {
    this.writtenAt?.fill(0);
  }

  /** The region that the block's frontier belongs to; data moved by wear levelling is the coldest. */
  private regionOf(block: number): number {
    const { host, gc, wear } = this.layout;
    const k = this.blocks.stream[block];
    if (k < host) return k;
    return k < wear ? k - gc : 0;
  }

  private age(lpn: number): number {
    return this.writtenAt === null ? 0 : this.blocks.clock - this.writtenAt[lpn];
  }
}

/** `dac`, see `Dac`. */
export const dacKind: StrategyKind<StreamPolicy> = {
  name: 'dac',
  summary: 'Regions by temperature: overwrites move data up, relocations move it down (dynamic data clustering).',
  parameters: [
    { name: 'regions', type: 'integer', default: 4, min: 1, max: 32, help: 'Regions, each with frontiers of its own.' },
    {
      name: 'start',
      type: 'enum',
      default: 'coldest',
      values: ['coldest', 'middle'],
      help: 'Region of a slot that held nothing.',
    },
    {
      name: 'promoteAge',
      type: 'number',
      default: 0,
      min: 0,
      max: 1e6,
      help: 'A slot goes up only if it lived at most so many host writes, in multiples of the logical slots; 0: always.',
    },
    {
      name: 'demoteAge',
      type: 'number',
      default: 0,
      min: 0,
      max: 1e6,
      help: 'A slot goes down only if it was not written for so many host writes, in multiples of the logical slots.',
    },
  ],
  create: (values) =>
    new Dac(values.regions as number, values.start as string, values.promoteAge as number, values.demoteAge as number),
};

import type { StrategyKind } from '@flashstack/sim';
import type { BlockTable } from '../block-table.js';
import type { FrontierLayout } from '../frontier-layout.js';
import type { FtlStats } from '../stats.js';
import type { StreamContext, StreamPolicy } from '../streams.js';

/**
 * Flexible data placement (NVMe TP 4146; specification section 8.1): the hint of a write is a placement identifier, group ·
 * handles + handle. A reclaim unit handle is a stream, its reclaim units are allocation blocks; a reclaim group is a set of
 * dies. Data of initially isolated handles may be mixed when it is relocated; of persistently isolated ones it never is.
 */
class FlexibleDataPlacement implements StreamPolicy {
  readonly streams: number;
  readonly moveStreams: number;
  readonly isolates: boolean;
  readonly groups: number;
  private blocks!: BlockTable;
  private layout!: FrontierLayout;
  private stats!: FtlStats;
  /** The identifier of the present write names no handle. */
  private isUnknown = false;

  constructor(handles: number, groups: number, isPersistent: boolean) {
    this.streams = handles;
    this.moveStreams = isPersistent ? handles : 1;
    this.isolates = isPersistent;
    this.groups = groups;
  }

  attach(blocks: BlockTable, { layout, stats }: StreamContext): void {
    this.blocks = blocks;
    this.layout = layout;
    this.stats = stats;
  }

  choose(_lpn: number, hint: number): number {
    if (hint < this.streams * this.groups) return hint % this.streams;
    this.isUnknown = true;
    return 0;
  }

  written(): void {
    if (this.isUnknown) this.stats.unknownPlacements++;
    this.isUnknown = false;
  }

  group(hint: number): number {
    return hint < this.streams * this.groups ? Math.floor(hint / this.streams) : 0;
  }

  move(_lpn: number, block: number): number {
    if (!this.isolates) return 0;
    const { host, gc } = this.layout;
    const k = this.blocks.stream[block];
    return k < host ? k : k - gc;
  }
}

/** `fdp`, see `FlexibleDataPlacement`. */
export const fdpKind: StrategyKind<StreamPolicy> = {
  name: 'fdp',
  summary: 'Placement identifiers of the host name a reclaim unit handle and a reclaim group (NVMe FDP).',
  parameters: [
    {
      name: 'handles',
      type: 'integer',
      default: 8,
      min: 1,
      max: 64,
      help: 'Reclaim unit handles; identifiers that name none are those of handle 0 in group 0.',
    },
    {
      name: 'groups',
      type: 'integer',
      default: 1,
      min: 1,
      max: 256,
      help: 'Reclaim groups, equal sets of dies; identifiers are group · handles + handle.',
    },
    {
      name: 'isolation',
      type: 'enum',
      default: 'initial',
      values: ['initial', 'persistent'],
      help: 'Whether relocation may mix data of several handles, or never does.',
    },
  ],
  create: (values) =>
    new FlexibleDataPlacement(values.handles as number, values.groups as number, values.isolation === 'persistent'),
};

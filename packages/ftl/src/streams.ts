import type { StrategyKind } from '@flashstack/sim';
import type { BlockTable } from './block-table.js';
import type { FrontierLayout } from './frontier-layout.js';
import type { FtlStats } from './stats.js';
import { dacKind } from './streams/dac.js';
import { fdpKind } from './streams/fdp.js';
import { sepBitKind } from './streams/sepbit.js';

/** What a stream policy may need to know of the FTL. */
export interface StreamContext {
  readonly logicalSlots: number;
  /** Which stream the frontiers are for: `BlockTable.stream` holds the frontier that has opened a block. */
  readonly layout: FrontierLayout;
  readonly stats: FtlStats;
}

/** Decides which frontier a host write goes to, so that data of like lifetime shares blocks. */
export interface StreamPolicy {
  /** Number of streams; each has a frontier of its own in every domain. */
  readonly streams: number;
  /**
   * With `move`: number of streams of relocated data. They have frontiers of their own, or share those of the host with
   * placement `mixed`, for which there must be as many of both.
   */
  readonly moveStreams?: number;
  /** No block ever holds data of two streams; stream k of relocated data is stream k of the host. Default false. */
  readonly isolates?: boolean;
  /** With `group`: the dies are divided into so many groups, each a domain of placement of its own. */
  readonly groups?: number;
  /** Called once, before anything else. */
  attach(blocks: BlockTable, context: StreamContext): void;
  /**
   * Stream (0 … streams − 1) of a write of `lpn` with the host's hint (0 = none); `oldBlock` holds the version that it
   * supersedes (−1: none).
   */
  choose(lpn: number, hint: number, oldBlock: number): number;
  /** Group of dies (0 … groups − 1) for a write with the host's hint. */
  group?(hint: number): number;
  /** The write that a stream was chosen for has been mapped. */
  written?(lpn: number): void;
  /** Stream (0 … moveStreams − 1) of a slot that is relocated from `block`; `lpn` −1: of most of its slots. */
  move?(lpn: number, block: number): number;
  /**
   * What `move` looks up by logical slot, if anything, from `attach` on. Collection reads the entries of several slots ahead,
   * so that their cache misses overlap.
   */
  readonly perSlot?: Float64Array | null;
  /** `block` is about to be emptied. */
  reclaimed?(block: number): void;
  /** What was in RAM is gone: power loss. */
  reset?(): void;
}

/** Everything in one stream. */
class NoStreams implements StreamPolicy {
  readonly streams = 1;

  attach(): void {
    // Nothing to observe.
  }

  choose(): number {
    return 0;
  }
}

/** Streams as the host names them; more hints than streams are folded (hint 0 keeps stream 0 for itself). */
class HostStreams implements StreamPolicy {
  readonly streams: number;

  constructor(streams: number) {
    this.streams = streams;
  }

  attach(): void {
    // Nothing to observe.
  }

  choose(_lpn: number, hint: number): number {
    if (hint < this.streams) return hint;
    return this.streams === 1 ? 0 : 1 + ((hint - 1) % (this.streams - 1));
  }
}

/**
 * Hot (stream 1) if the overwritten version lived shorter than the mean so far, otherwise cold (stream 0). The age is
 * estimated from the opening of the block that holds the version, so no memory per slot is needed; relocation makes
 * data look younger than it is.
 */
class HotCold implements StreamPolicy {
  readonly streams = 2;
  private readonly share: number;
  private blocks!: BlockTable;
  private meanAge = 0;

  constructor(share: number) {
    this.share = share;
  }

  attach(blocks: BlockTable): void {
    this.blocks = blocks;
  }

  reset(): void {
    this.meanAge = 0;
  }

  choose(_lpn: number, _hint: number, oldBlock: number): number {
    if (oldBlock < 0) return 0;
    const age = this.blocks.clock - this.blocks.openedAt[oldBlock];
    this.meanAge += (age - this.meanAge) / 1024;
    return age < this.share * this.meanAge ? 1 : 0;
  }
}

/** The stream policies that come with the package. */
export const streamKinds: readonly StrategyKind<StreamPolicy>[] = [
  { name: 'none', summary: 'All host data in one stream.', parameters: [], create: () => new NoStreams() },
  {
    name: 'host',
    summary: 'One stream per write-lifetime hint of the host (NVMe streams).',
    parameters: [
      {
        name: 'maxStreams',
        type: 'integer',
        default: 8,
        min: 1,
        max: 64,
        help: 'Streams of the device, stream 0 (no hint) included; hints beyond are folded onto 1 … maxStreams − 1.',
      },
    ],
    create: (values) => new HostStreams(values.maxStreams as number),
  },
  {
    name: 'hot-cold',
    summary: 'Two streams by the age of the overwritten version.',
    parameters: [
      {
        name: 'share',
        type: 'number',
        default: 1,
        min: 0,
        max: 100,
        help: 'A version that lived shorter than this share of the mean age is hot.',
      },
    ],
    create: (values) => new HotCold(values.share as number),
  },
  dacKind,
  sepBitKind,
  fdpKind,
];

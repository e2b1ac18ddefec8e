import type { NandArray, NandClient, NandScheduler } from '@flashstack/nand-device';
import type { FtlClient } from '../contract.js';
import type { Frontiers } from '../frontier.js';
import type { SlotContents } from '../slot-contents.js';
import type { FtlStats } from '../stats.js';
import type { SegmentLayout } from './layout.js';

/** What a segment area works on. */
export interface AreaParts {
  readonly array: NandArray;
  readonly scheduler: NandScheduler;
  readonly client: FtlClient;
  readonly stats: FtlStats;
  readonly contents: SlotContents | null;
  /** The page map beside the area, in which backups of slots are found. */
  readonly backups: Frontiers;
  readonly layout: SegmentLayout;
  /** Receives completions: arguments as in `Done` and `BlockDone`. */
  readonly completions: NandClient;
  readonly mender: Mender;
}

/** Replaces blocks in the middle of their lives. */
export interface Mender {
  /**
   * The program of the unit of `segment` that begins at `start` failed in the planes of `failed` (bit i: plane i). Writes it
   * elsewhere. @returns a token of what it did last; −1 if there is no block for it.
   */
  programFailed(segment: number, start: number, failed: number): number;
  /** Replaces what must be replaced in a damaged segment. @returns true if that is done. */
  mend(segment: number): boolean;
}

import type { NandArray, NandClient } from '@flashstack/nand-device';
import { type FtlClient, FtlStatus } from './contract.js';
import type { BlockEraser, EraserOwner } from './eraser.js';
import type { Frontiers } from './frontier.js';
import type { Jobs } from './jobs.js';
import { SlotFlag } from './slot-contents.js';
import type { FtlStats } from './stats.js';
import type { TrimMap } from './trim-map.js';

/** What custody of data is about. */
export interface CustodyParts {
  readonly array: NandArray;
  readonly stats: FtlStats;
  readonly client: FtlClient;
  readonly trimMap: TrimMap;
  /** Receives the completions of host programs and erases. */
  readonly completions: NandClient;
}

/**
 * What frontiers and eraser report of the data in their hands, whatever the mapping scheme: slots that are lost, content
 * words that are copied or die, trims that an erase must not undo.
 */
export abstract class Custody implements EraserOwner {
  /** Logical slots whose data was lost in a relocation (mapped), or could not be written anywhere (not mapped). */
  readonly lost: Set<number> = new Set();
  /** Too few good blocks are left to take writes. */
  readOnly = false;
  readonly completions: NandClient;
  protected frontiers!: Frontiers;
  protected eraser!: BlockEraser;
  protected jobs!: Jobs;
  private readonly custody: CustodyParts;

  constructor(parts: CustodyParts) {
    this.custody = parts;
    this.completions = parts.completions;
  }

  abstract beforeErase(block: number, domain: number): boolean;
  abstract blockFailed(block: number, physicalBlock: number): void;
  abstract rescueFrontier(f: number, block: number): number;
  /** Work that could not be done in the middle of a placement. */
  abstract serve(): void;

  /** The same when no block can be written and no erase is under way: by whatever means there are left. */
  serveStuck(): void {
    this.serve();
  }

  slotLost(lpn: number, psn: number): void {
    const flags = this.custody.array.flags;
    if (flags !== null) flags[psn] |= SlotFlag.lost;
    if (lpn < this.custody.trimMap.logicalSlots) this.addLost(lpn);
  }

  slotStranded(lpn: number, job: number): void {
    this.readOnly = true;
    // The version before, if it was flushed, must be there after the next power cut.
    this.eraser.freeze();
    if (job >= 0) this.jobs.fail(job, FtlStatus.readOnly);
    if (lpn >= this.custody.trimMap.logicalSlots) this.mapStranded(lpn);
    else this.addLost(lpn);
  }

  /** A slot behind those of the host could not be written anywhere. */
  protected mapStranded(lpn: number): void {
    this.custody.trimMap.stranded(lpn);
  }

  successorFailed(lpn: number, block: number): void {
    // What has become of `lpn` since may be anywhere, and is as good as a trim to the old version.
    this.custody.trimMap.trimmed(lpn, block);
  }

  eraseReady(block: number): void {
    this.eraser.released(block);
  }

  contentCopied(word: number, flags: number): void {
    if ((flags & SlotFlag.kindMask) === SlotFlag.trimMap) this.custody.trimMap.copied(word);
    else this.custody.client.wordCopied(word);
  }

  contentDead(word: number, flags: number): void {
    if ((flags & SlotFlag.kindMask) === SlotFlag.trimMap) this.custody.trimMap.dead(word);
    else this.custody.client.wordDead(word);
  }

  hasTrims(block: number): boolean {
    return this.custody.trimMap.hasTrims(block);
  }

  trimsErased(block: number): void {
    this.custody.trimMap.erased(block);
  }

  /** Nothing is known any more: power loss. */
  reset(): void {
    this.lost.clear();
    this.readOnly = false;
  }

  private addLost(lpn: number): void {
    if (this.lost.has(lpn)) return;
    this.lost.add(lpn);
    this.custody.stats.lost++;
    if (this.frontiers.probe !== null) this.frontiers.probe.lost(lpn);
  }
}

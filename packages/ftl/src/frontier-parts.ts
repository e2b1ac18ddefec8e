import { type NandArray, NandClass, type NandClient, type NandScheduler } from '@flashstack/nand-device';
import type { BlockTable } from './block-table.js';
import type { FtlClient } from './contract.js';
import { type ContentOwner, FROM_HOST } from './slot-contents.js';
import type { FtlStats } from './stats.js';
import type { VictimPolicy } from './victims/policy.js';

/** What an argument of `nandDone` refers to (low three bits); the rest is a job, unit record, block or record of a look-up. */
export const Done = { job: 0, unit: 1, erase: 2, map: 3 } as const;

/** Who is told about events inside the writer. */
export interface FrontierOwner extends ContentOwner {
  /** Receives the completions of programs and erases; arguments as in `Done`. */
  readonly completions: NandClient;
  /** A block whose erase waited may be erased now: everything that supersedes its data has been issued. */
  eraseReady(block: number): void;
  /** A program failed: the block takes no more programs and must be emptied. */
  blockFailed(block: number, physicalBlock: number): void;
  /** An open frontier for what a failed program of frontier `f` has left, or −1 if there is none; `block` is given up. */
  rescueFrontier(f: number, block: number): number;
  /** No free block is left to write `lpn` again after a failed program; it is unmapped. `job` waits for it (−1: none). */
  slotStranded(lpn: number, job: number): void;
  /** What superseded a version of `lpn` in `block` failed, but had been superseded, or trimmed, itself. */
  successorFailed(lpn: number, block: number): void;
}

/** Who follows the changes of the map: a cache of it. */
export interface MapListener {
  /** `lpn` was mapped to another slot; `from`: the slot it was copied from, or what `FROM_HOST` and its like say. */
  mapped(lpn: number, from: number): void;
  /** `lpn` was moved inside a plane: its data is unchanged. */
  copiedBack(lpn: number): void;
}

/** What `Frontiers` works on. */
export interface FrontierParts {
  readonly array: NandArray;
  readonly scheduler: NandScheduler;
  readonly client: FtlClient;
  readonly table: BlockTable;
  readonly policy: VictimPolicy;
  readonly stats: FtlStats;
  readonly owner: FrontierOwner;
  /** Frontiers per domain. */
  readonly perDomain: number;
  /** Logical slots, those of the trim map and of translation pages included. */
  readonly mappedSlots: number;
  readonly multiPlane: boolean;
}

/** Priority class (`NandClass`) of the program of a slot that is copied `from` another, or comes from the host or a map. */
export function programClass(from: number): number {
  if (from >= 0) return NandClass.gcWrite;
  return from === FROM_HOST ? NandClass.userWrite : NandClass.mappingWrite;
}

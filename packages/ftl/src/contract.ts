import type { NandArray, NandScheduler, Token } from '@flashstack/nand-device';
import type { BlockTable } from './block-table.js';
import type { RecoveryReport } from './oob-scan.js';
import type { FtlProbe } from './probe.js';
import type { FtlStats } from './stats.js';

/** Outcome of a job, given to `FtlClient.ftlDone`. Of several outcomes the largest is reported. */
export const FtlStatus = {
  ok: 0,
  /** A slot of a read could not be corrected, or its data was lost earlier while it was relocated. */
  unreadable: 1,
  /** The drive has too few good blocks left to take writes. */
  readOnly: 2,
  /** A write to a segment was not at its write pointer, or did not fit into it. Nothing was changed. */
  misplaced: 3,
} as const;

/** Added to a 32-bit content word by `FtlClient.slotWord` to say that the word is a handle, not a tag. */
export const CONTENT_HANDLE = 0x1_0000_0000;

/** What the owner of an FTL (the controller) gets back. `job` is the owner's handle, passed in with the request. */
export interface FtlClient {
  /**
   * Every slot of the job is done; called exactly once per job, never from inside the call that started it.
   * `status` is an `FtlStatus`. `token` is the NAND operation that finished last (its phases are readable during the
   * call), or 0 if the job needed none.
   */
  ftlDone(job: number, status: number, token: Token): void;
  /**
   * Write: the 32-bit content word of `lpn` (asked for once, when its mapping is decided), plus `CONTENT_HANDLE` if
   * the word is a handle that the owner counts. Called only if the array keeps contents.
   */
  slotWord(job: number, lpn: number): number;
  /**
   * Read: the content of `lpn` at the moment its mapping was looked up; `psn` is −1 for a slot that holds nothing
   * or whose data is lost. Called only if the array keeps contents, once per slot, before `ftlDone`.
   */
  slotRead(job: number, lpn: number, psn: number): void;
  /** A content handle now stands in one more physical slot: it was relocated. */
  wordCopied(word: number): void;
  /** A content handle is gone from one physical slot: its block has been erased. */
  wordDead(word: number): void;
}

/** A flash translation layer. Addresses and lengths are in slots. Job handles are small integers ≥ 0 (below 2^27). */
export interface Ftl {
  /** Slots the host may address. */
  readonly logicalSlots: number;
  read(lpn: number, count: number, job: number): void;
  /** `origin`: who caused it (0–255, charged for GC copies too); `stream`: write-lifetime hint, 0 = none. */
  write(lpn: number, count: number, origin: number, stream: number, job: number): void;
  /**
   * A write request for these slots has come from the host: `write` gets them later, in parts, in any order and perhaps less
   * of them. For schemes that place a slot by the length of its request, or by what came before it; others go without.
   */
  announce?(lpn: number, count: number): void;
  trim(lpn: number, count: number, job: number): void;
  /** Done when every write and trim issued before is durable: pads and programs what is pending. */
  flush(job: number): void;
  /** Offered when dies are idle: background GC, wear levelling, refresh, until `untilNs` at the latest. */
  idle(untilNs: number): void;
}

/** Limits of zones; 0: none. */
export interface ZoneLimits {
  /** Zones that may be open at a time. */
  readonly maxOpen: number;
  /**
   * Zones that may be open or partly written at a time. The host keeps to it; the FTL holds a write to an empty zone back as
   * long as a power cut could leave more of them partly written, because a zone is not yet durably full, finished or reset.
   */
  readonly maxActive: number;
  /** Slots that one append may take. */
  readonly appendSlots: number;
}

/** The segments of an append-only FTL: each is written in order, from its start, and released as a whole. */
export interface SegmentView {
  /** First slot that belongs to a segment; those below may be written in any order. */
  readonly first: number;
  readonly count: number;
  /** Slots from the start of a segment to that of the next. */
  readonly stride: number;
  /** The first write at the start of a written segment releases it. */
  readonly overwrite: boolean;
  /** Limits if the host sees the segments as zones; null: it does not. */
  readonly zones: ZoneLimits | null;
  /** Slots of a segment that can be written: from its start. */
  capacityOf(segment: number): number;
  /** Slots of a segment that have been written. */
  pointerOf(segment: number): number;
  /** True if the segment takes no more writes because of `finish`. */
  isFinished(segment: number): boolean;
  /** True if the segment takes no more writes because no block is left for it. */
  isReadOnly(segment: number): boolean;
  /**
   * The segment takes no more writes before it is released. Done when that and all that was written to it are durable.
   * Zones only. `job` as for `Ftl.write`.
   */
  finish(segment: number, job: number): void;
  /** The segment is released, as by a trim. Done when that is durable: its blocks are erased. `job` as for `Ftl.write`. */
  reset(segment: number, job: number): void;
}

/**
 * What a drive needs of an FTL besides the contract with its host: its life over schedulers, preconditioning and power
 * cuts, and what it can tell about itself. Every mapping scheme makes one (see `createFtl`).
 */
export interface DriveFtl extends Ftl {
  readonly stats: FtlStats;
  /** Blocks of each area that is managed by itself; one for most schemes. Read-only for users. */
  readonly tables: readonly BlockTable[];
  /** Collection or merging begins when so many blocks of a domain are free; 0 if the FTL never does either. */
  readonly gcLow: number;
  /** The host must write every block range in order and release it before it writes again: random writes are refused. */
  readonly appendOnly: boolean;
  /** Of an append-only FTL: its segments. */
  readonly segments?: SegmentView;
  /** Bytes of controller RAM that the mapping tables of the modelled scheme take. */
  readonly tableBytes: number;
  /** Bytes of RAM that the simulation takes for them. */
  readonly mapBytes: number;
  /** True until the first slot is written. */
  readonly isUnused: boolean;
  /** True if no job is unfinished and no erase is in flight. */
  readonly isIdle: boolean;
  /** During `FtlClient.ftlDone`: how long slots of the job waited for a free block, ns. */
  readonly doneParkedNs: number;
  /** During `FtlClient.ftlDone`: how long slots of the job waited for entries of the map that are kept in flash, ns. Absent: 0. */
  readonly doneMapNs?: number;
  /** True once the drive has too few good blocks left to take writes. */
  readonly readOnly: boolean;
  /**
   * Good allocation blocks beyond those of the logical blocks, of the domain that has the fewest. Of block and hybrid mapping,
   * where a logical block stays in its domain and none lends another one blocks; otherwise absent.
   */
  readonly leastSpareBlocks?: number;
  readonly array: NandArray;
  /** Where flash operations go. */
  readonly scheduler: NandScheduler;
  /** Listener for events inside the FTL, or null. */
  probe: FtlProbe | null;
  /** Goes on with another scheduler on the same array. @throws FtlError unless idle. */
  attachScheduler(scheduler: NandScheduler): void;
  /** Writes one slot of zeroes for nobody (preconditioning); false if it must be tried again after erases are done. */
  writeUnattended(lpn: number, origin: number): boolean;
  /** Power is gone: all that is not in the array is forgotten. Call it after the scheduler's own power cut. */
  powerCut(): void;
  /** Rebuilds mapping and block states from the array, after `powerCut`. @throws FtlError if the array keeps nothing. */
  recover(): RecoveryReport;
  /** For tests: checks all invariants by brute force. @throws FtlError `ERR_FTL_INVARIANT`. */
  inspect(): void;
}

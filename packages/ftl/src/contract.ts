import type { Token } from '@flashstack/nand-device';

/** Outcome of a job, given to `FtlClient.ftlDone`. Of several outcomes the largest is reported. */
export const FtlStatus = {
  ok: 0,
  /** A slot of a read could not be corrected, or its data was lost earlier while it was relocated. */
  unreadable: 1,
  /** The drive has too few good blocks left to take writes. */
  readOnly: 2,
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
  trim(lpn: number, count: number, job: number): void;
  /** Done when every write and trim issued before is durable: pads and programs what is pending. */
  flush(job: number): void;
  /** Offered when dies are idle: background GC, wear levelling, refresh, until `untilNs` at the latest. */
  idle(untilNs: number): void;
}

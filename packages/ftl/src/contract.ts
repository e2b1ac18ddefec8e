/** What the owner of an FTL (the controller) gets back. `job` is the owner's handle, passed in with the request. */
export interface FtlClient {
  /** Every slot of the job is done; called exactly once per job, never from inside the call that started it. */
  ftlDone(job: number, status: number): void;
  /**
   * Write: the 32-bit content word of `lpn` (asked for once, when its mapping is decided).
   * Called only if the array keeps contents.
   */
  slotWord(job: number, lpn: number): number;
  /**
   * Read: the content of `lpn` at the moment its mapping was looked up; `psn` is −1 for a slot that holds nothing.
   * Called only if the array keeps contents, once per slot, before `ftlDone`.
   */
  slotRead(job: number, lpn: number, psn: number): void;
  /** A content handle (a word with the handle flag set) now stands in one more physical slot: it was relocated. */
  wordCopied(word: number): void;
  /** A content handle is gone from one physical slot: its block has been erased. */
  wordDead(word: number): void;
}

/** A flash translation layer. Addresses and lengths are in slots. */
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

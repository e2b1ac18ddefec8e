/** Trace sources of an FTL. Set `PageMapFtl.probe`; when it is null, nothing is spent on it. */
export interface FtlProbe {
  /** A free block was opened by frontier `frontier` of its domain. */
  opened(block: number, frontier: number): void;
  /** A block became a candidate for collection. */
  closed(block: number): void;
  /** `block` with `valid` valid slots will be emptied; `reason` is a `MoveReason`. */
  victim(block: number, valid: number, reason: number): void;
  /** `lpn` was relocated. */
  moved(lpn: number, fromPsn: number, toPsn: number): void;
  /** The erase of a block was issued; it is done (and the block free) at `erased`. */
  erasing(block: number): void;
  erased(block: number): void;
  /** A physical block failed and takes no more data. */
  retired(physicalBlock: number): void;
  /** A host operation waits for a free block; `resumed` when none waits any more. */
  parked(job: number): void;
  resumed(): void;
  /** The data of `lpn` could not be read when it was relocated. */
  lost(lpn: number): void;
}

/**
 * Identifies work in flight on a NAND scheduler; 0 means "nothing to wait for".
 * Each token is used exactly once: as `after`, in `join`, in `then`, or in `drop`.
 */
export type Token = number;

/** Priority classes, in the default order of service (specification section 3: transaction scheduling). */
export const NandClass = {
  mappingRead: 0,
  userRead: 1,
  mappingWrite: 2,
  gcRead: 3,
  userWrite: 4,
  gcWrite: 5,
  gcErase: 6,
} as const;

/** Outcome of a NAND operation. Outcomes are drawn when the operation is issued, so `status[token]` is valid at once. */
export const NandStatus = { ok: 0, programFailed: 1, eraseFailed: 2, uncorrectable: 3, erased: 4 } as const;

/** Columns of `phasesNs`, disjoint: their sum is the latency from readiness (issue, or end of `after`) to completion. */
export const NandPhase = { dieWait: 0, gcWait: 1, busWait: 2, array: 3, transfer: 4 } as const;
/** Number of columns a token has in `phasesNs`. */
export const NAND_PHASES = 5;

/** Receives completions. Never called from inside the scheduler call that issued the work. */
export interface NandClient {
  /** `token` is released on return; its phases are readable until then. `status` is a `NandStatus`. */
  nandDone(token: Token, arg: number, status: number): void;
}

/**
 * Executes NAND operations in simulated time. Four implementations share one `NandArray` and one set of rules:
 * `timeline` (places every phase when the operation is issued), `event` (queues, priorities, suspension), `vssim` (the
 * delay model of VSSIM, strictly in order) and `instant` (no time passes: preconditioning and recovery).
 *
 * The state of the array changes when an operation is issued; a power cut undoes what had not begun.
 * A violation of a programming, multi-plane or copyback rule throws `NandRuleError` and changes nothing.
 */
export interface NandScheduler {
  /** Reads the slots of `slotMask` (bit i = slot i of the page). `after` must be done first. */
  read(ppn: number, slotMask: number, cls: number, after: Token): Token;
  /** Programs one page whose OOB columns and content words have been set in the array. */
  program(ppn: number, cls: number, after: Token): Token;
  /** Multi-plane program: `count` pages of one die, pairwise different planes, same page index. */
  programPlanes(ppns: Int32Array, count: number, cls: number, after: Token): Token;
  /** Erases one physical block. It may be programmed again only after this token is done. */
  erase(block: number, cls: number, after: Token): Token;
  /** Moves a whole page inside its plane without the bus. */
  copyback(from: number, to: number, cls: number, after: Token): Token;
  /**
   * What a garbage collector does with a page that is valid as a whole: reads it (class `gcRead`), programs `to` with its
   * data (class `gcWrite`) as soon as it is there, and guards the block of `from` with that program. Nobody is told. The
   * array must be intact (`NandArray.isIntact`), because there is no outcome to look at. Much faster than `read`, `program`,
   * `guard` and `drop` on `timeline`, with the same results. @throws NandRuleError as these do, and `relocate`.
   */
  relocate(from: number, to: number): void;
  /**
   * The same for a page of the mapping that is written anew with what has changed: a read of class `mappingRead`, and a
   * program of class `mappingWrite`.
   */
  rewrite(from: number, to: number): void;
  /** A token that is done when both are. */
  join(a: Token, b: Token): Token;
  /** A token that is done when every program issued so far is durable. */
  fence(): Token;
  /**
   * What program `token` writes supersedes data in `block`: erases of the block issued from now on wait until the program
   * is durable, or a power cut could lose both versions. The token is not used up; several blocks may be named.
   */
  guard(block: number, token: Token): void;
  /** Nobody will ask for this token again. */
  drop(token: Token): void;
  /** Calls `client.nandDone(token, arg, status)` when the token is done, from the event loop, never from inside `then`. */
  then(token: Token, client: NandClient, arg: number): void;
  /** True while the program of this page has not finished: its data is still in controller RAM. */
  isProgramming(ppn: number): boolean;
  /** True if the die of this page would begin a new operation at once. */
  isIdle(ppn: number): boolean;
  /** Per token, valid from issue. */
  readonly status: Uint8Array;
  /** `phasesNs[token * NAND_PHASES + phase]`, ns; valid from issue on `timeline`, in `nandDone` on `event`. */
  readonly phasesNs: Float64Array;
}

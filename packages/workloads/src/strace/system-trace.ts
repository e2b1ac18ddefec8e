/** One recorded system call, or the end of a thread. */
export interface TracedCall {
  /** Line of the file where it began, from 1. */
  readonly line: number;
  /** The thread, 0 if the trace names none. */
  readonly pid: number;
  /** Name of the call; {@link EXITED} for the end of a thread. */
  readonly name: string;
  /** The arguments as they stand in the trace. */
  readonly arguments: readonly string[];
  /** What it returned; NaN if the trace does not tell (`?`). */
  readonly result: number;
  /** Name of the error that it returned, or empty. */
  readonly error: string;
  /** Begin and end, ns since the first call; equal if the trace has no durations. */
  readonly startNs: number;
  readonly endNs: number;
}

/** Name of the pseudo-call that ends a thread. */
export const EXITED = 'exited';

/** What a trace of system calls holds, in memory. Made by `readStrace`. */
export interface SystemTrace {
  /** The name that messages show. */
  readonly file: string;
  readonly calls: readonly TracedCall[];
  /**
   * Begins and ends in the order of the file: `2 × index` where a call begins, `2 × index + 1` where it ends. A call
   * that nothing came between has both next to each other.
   */
  readonly order: Int32Array;
  /** Threads that occur. */
  readonly threads: number;
  /** The calls have times, so that they can be replayed at their pace. */
  readonly timed: boolean;
  /** Calls that began and whose end is not in the file, left out. */
  readonly unfinished: number;
  /** Lines about signals, and messages of strace. */
  readonly notes: number;
  /** Lines that could not be read and were skipped because that was asked for. */
  readonly badLines: number;
  readonly firstBadLine: string | null;
}

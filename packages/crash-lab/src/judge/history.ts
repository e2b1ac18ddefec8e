import type { Workload } from '../workload/workload.js';

/**
 * One operation as it was executed. `begin` and `end` are positions in one order with the submissions and completions of
 * the device, so that a power cut is a position too.
 */
export interface HistoryEvent {
  /** Program, and position of the operation in it. */
  readonly process: number;
  readonly step: number;
  readonly begin: number;
  /** When it was acknowledged; Infinity: never. */
  end: number;
  /** `none`, or the POSIX code it failed with; what is not acknowledged has none. */
  code: string;
  /** Bytes that a write says it has written. */
  bytes: number;
}

/** A workload and what became of its operations, in the order in which they began. */
export interface History {
  readonly workload: Workload;
  readonly events: readonly HistoryEvent[];
}

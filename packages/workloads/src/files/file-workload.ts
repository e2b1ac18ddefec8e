import type { RandomSource, Simulator, StatsRegistry, Task } from '@flashstack/sim';
import type { SystemCalls } from '@flashstack/vfs';
import type { CallTotals } from './call-totals.js';

/** A workload on files: programs that call the operating system. */
export interface FileWorkload {
  /** Operations that have ended so far; what one is, is the workload's to say. */
  readonly done: number;
  /** Operations there will be, −1 if that is not known. */
  readonly total: number;
  /** Makes the files that it wants to find. Not part of what is measured. */
  prepare(): Task<void>;
  /** The workload itself, once, after `prepare`. */
  task(): Task<void>;
  /** Begins nothing more: `task` ends with what is under way. */
  stop(): void;
  /** What came of its calls so far. */
  totals(): CallTotals;
  /** Registers figures of its own, at its end. */
  register(registry: StatsRegistry): void;
}

/** Makes a workload on the files of a host. */
export type FileWorkloadFactory = (simulator: Simulator, host: SystemCalls, random: RandomSource) => FileWorkload;

/** A name as metrics may have it: `copy_file_range` becomes `copyFileRange`. Empty if nothing is left of it. */
export function metricName(name: string): string {
  return name
    .replace(/^[^A-Za-z0-9]+/, '')
    .replace(/[^A-Za-z0-9]+([A-Za-z0-9]?)/g, (_, next: string) => next.toUpperCase());
}

import type { CrashModel, ImageChoice } from '@flashstack/block-device/crash';
import type { Violation } from '../judge/violation.js';
import type { Workload } from '../workload/workload.js';

/** Everything that makes one failure happen again. */
export interface CrashCase {
  /** Name of the subject. */
  readonly subject: string;
  readonly workload: Workload;
  readonly model: CrashModel;
  /** Requests take times drawn by the seed of the workload, so that they overlap. */
  readonly overlap: boolean;
  /** The file system is unmounted behind the workload. */
  readonly unmount: boolean;
  /** Power cuts: the first during the workload, each further one during the recovery from the one before. */
  readonly images: readonly ImageChoice[];
  /** What is violated first. */
  readonly violation: Violation;
}

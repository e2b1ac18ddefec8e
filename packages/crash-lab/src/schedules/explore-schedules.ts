import type { BlockDevice } from '@flashstack/block-device';
import {
  PctScheduler,
  RandomScheduler,
  RandomSource,
  RecordingScheduler,
  ReplayScheduler,
  runTask,
  type Scheduler,
  ScheduleTree,
  type Task,
} from '@flashstack/sim';
import { type FileSystemUnderTest, interleave } from '@flashstack/vfs/conformance';
import { BufferGuard } from './buffer-guard.js';

/** Which schedules are tried. */
export type ScheduleStrategy =
  /** Every decision is drawn. */
  | { readonly kind: 'random' }
  /** Random priorities that change `depth − 1` times. */
  | { readonly kind: 'pct'; readonly depth: number }
  /** All that differ from first come, first served in at most `bound` decisions. */
  | { readonly kind: 'exhaustive'; readonly bound: number };

/** Programs that are run beside each other, and how often. */
export interface ScheduleOptions {
  readonly subject: FileSystemUnderTest;
  readonly strategy: ScheduleStrategy;
  /** Schedules at most. */
  readonly schedules: number;
  /** First seed: of the programs, and of what a strategy draws. Default 1. */
  readonly seed?: number;
  /** Programs beside each other. Default 3. */
  readonly programs?: number;
  /** Operations of each. Default 5. */
  readonly operations?: number;
  /** What is wrong with an unmounted volume, in words. Default: nobody looks. */
  readonly check?: (device: BlockDevice) => Task<string[]>;
  /** Ends with the first schedule that fails. Default true. */
  readonly stopAtFirst?: boolean;
}

/** A schedule that must not be: run it again with `runSchedule`. */
export interface FailedSchedule {
  /** Of the programs. */
  readonly seed: number;
  readonly decisions: readonly number[];
  /** What is wrong: results without an explanation, a deadlock with its circle, a changed buffer, a damaged volume. */
  readonly text: string;
}

/** What was tried. */
export interface ScheduleReport {
  schedules: number;
  /** Decisions between two or more candidates, in all schedules. */
  decisions: number;
  /** True: there are no further schedules of the programs (exhaustive only). */
  complete: boolean;
  readonly failures: FailedSchedule[];
}

/** Runs the programs of a seed under one schedule. @returns what is wrong, null: nothing */
export function runSchedule(
  options: Pick<ScheduleOptions, 'subject' | 'programs' | 'operations' | 'check'>,
  seed: number,
  scheduler: Scheduler,
): string | null {
  const { subject, check, programs = 3, operations = 5 } = options;
  const faults: string[] = [];
  let guard: BufferGuard | null = null;
  let unguarded: BlockDevice | null = null;
  try {
    interleave(subject, seed, {
      programs,
      operations,
      scheduler,
      watch: (device) => {
        unguarded = device;
        guard = new BufferGuard(device);
        return guard;
      },
      unmounted: (simulator, device) => {
        if (check !== undefined) faults.push(...runTask(simulator, check(unguarded ?? device), 'check'));
      },
    });
  } catch (error) {
    // A defect may show as any error: what a program under test throws is what is looked for.
    faults.push(error instanceof Error ? error.message : String(error));
  }
  if (guard !== null) faults.push(...(guard as BufferGuard).changes);
  return faults.length === 0 ? null : faults.join('\n');
}

/**
 * Tries schedules of programs that work on the same files. Each schedule must end, return results and leave files that some
 * order of the operations explains, change no buffer that is in flight, and leave a volume without damage. Same options,
 * same schedules, same verdicts. `random` and `pct` take the next seed for each schedule; `exhaustive` goes through those of
 * the first seed's programs.
 */
export function exploreSchedules(options: ScheduleOptions): ScheduleReport {
  const { strategy, schedules, seed = 1, stopAtFirst = true } = options;
  const report: ScheduleReport = { schedules: 0, decisions: 0, complete: false, failures: [] };
  const tree = strategy.kind === 'exhaustive' ? new ScheduleTree(strategy.bound) : null;
  while (report.schedules < schedules) {
    if (tree !== null && !tree.advance()) {
      report.complete = true;
      break;
    }
    const at = tree === null ? seed + report.schedules : seed;
    const recording = new RecordingScheduler(tree ?? schedulerOf(options, at));
    const text = runSchedule(options, at, recording);
    report.schedules++;
    report.decisions += recording.decisions.length;
    if (text === null) continue;
    report.failures.push({ seed: at, decisions: recording.decisions, text });
    if (stopAtFirst) break;
  }
  return report;
}

/** The same failure with as few decisions as can be that differ from first come, first served. */
export function simplifySchedule(options: ScheduleOptions, failed: FailedSchedule): FailedSchedule {
  let best = failed;
  const attempt = (decisions: number[]): boolean => {
    while (decisions[decisions.length - 1] === 0) decisions.pop();
    const text = runSchedule(options, failed.seed, new ReplayScheduler(decisions));
    if (text === null) return false;
    best = { seed: failed.seed, decisions, text };
    return true;
  };
  // Runs of decisions at once, shorter and shorter ones.
  for (let length = failed.decisions.length; length >= 1; length = length === 1 ? 0 : Math.ceil(length / 2)) {
    for (let from = 0; from < best.decisions.length; from += length) {
      const { decisions } = best;
      if (decisions.slice(from, from + length).every((choice) => choice === 0)) continue;
      attempt(decisions.map((choice, at) => (at >= from && at < from + length ? 0 : choice)));
    }
  }
  return best;
}

function schedulerOf({ strategy, ...options }: ScheduleOptions, seed: number): Scheduler {
  const source = new RandomSource(seed);
  if (strategy.kind !== 'pct') return new RandomScheduler(source.stream('schedule'));
  // How long a run is: the same programs, first come, first served.
  const counting = new CountingScheduler();
  runSchedule({ ...options }, seed, counting);
  return new PctScheduler(source.stream('schedule'), strategy.depth, Math.max(1, counting.steps));
}

/** First come, first served; counts resumptions. */
class CountingScheduler implements Scheduler {
  steps = 0;

  choose(ready: readonly unknown[]): number {
    if (ready.length > 0) this.steps++;
    return 0;
  }
}

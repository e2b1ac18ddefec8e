import type { Task } from '@flashstack/sim';
import { FsError, type SystemCalls } from '@flashstack/vfs';
import type { History, HistoryEvent } from '../judge/history.js';
import { readTree } from '../judge/read-tree.js';
import { BASE_STATES } from './base-states.js';
import { versionOf } from './contents.js';
import { Performer } from './perform.js';
import type { Step, Workload } from './workload.js';

/** Gives positions in the order of everything that happens to a device and its programs. */
export interface OrderClock {
  /** The next position. */
  tick(): number;
}

/** Programs of a workload that are about to run. */
export interface WorkloadRun {
  /** Filled in while the programs run: a power cut leaves it unfinished. */
  readonly history: History;
  /** One task for each program, to be spawned in the group of the host that is tested. */
  readonly programs: readonly Task<void>[];
}

/** Makes the programs of a workload for a mounted file system in its base state. */
export function executeWorkload(workload: Workload, calls: SystemCalls, clock: OrderClock): WorkloadRun {
  const events: HistoryEvent[] = [];
  const programs = workload.processes.map((steps, process) => runProgram(steps, process, calls, clock, events));
  return { history: { workload, events }, programs };
}

/**
 * Makes the base state of workloads on a new file system, and makes it durable. Empty directories that a new one comes with,
 * such as `lost+found`, are removed. @throws FsError
 */
export function* makeBase(base: string, calls: SystemCalls): Task<void> {
  const program = calls.process({ umask: 0 });
  const thread = program.thread();
  for (const [path, { kind }] of yield* readTree(thread, false)) {
    if (path === '' || kind !== 'directory') continue;
    const removed = thread.rmdir(path);
    if (typeof removed !== 'number') yield* removed;
  }
  const performer = new Performer(thread);
  for (const [step, what] of BASE_STATES[base].entries()) yield* performer.perform(what, versionOf(-1, step));
  yield* performer.perform(['sync'], 0);
  yield* program.exit();
}

function* runProgram(
  steps: readonly Step[],
  process: number,
  calls: SystemCalls,
  clock: OrderClock,
  events: HistoryEvent[],
): Task<void> {
  const program = calls.process({ umask: 0 });
  const performer = new Performer(program.thread());
  for (let step = 0; step < steps.length; step++) {
    const event = { process, step, begin: clock.tick(), end: Number.POSITIVE_INFINITY, code: '', bytes: 0 };
    events.push(event);
    try {
      event.bytes = yield* performer.perform(steps[step], versionOf(process, step));
      event.code = 'none';
    } catch (error) {
      if (!(error instanceof FsError)) throw error;
      event.code = error.code;
    }
    event.end = clock.tick();
  }
  yield* program.exit();
}

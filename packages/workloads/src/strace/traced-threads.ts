import { Delay, type Simulator, type Task } from '@flashstack/sim';
import type { SystemCalls } from '@flashstack/vfs';
import { LAST_ARRIVAL_NS } from '../replay.js';
import { ReplayError, ReplayErrorCode } from '../replay-error.js';
import type { CallReplay } from './call-replay.js';
import type { CallScene } from './call-scene.js';
import type { SystemReplayOptions } from './replay-options.js';
import { EXITED, type TracedCall } from './system-trace.js';
import type { TraceRoot } from './trace-root.js';
import { TracedProcess, type TracedThread } from './traced-process.js';

/** Calls that make threads and processes. */
export const FORKS: readonly string[] = ['clone', 'clone3', 'fork', 'vfork'];

/** The child works with the descriptors of its parent, instead of a copy. */
export function sharesTable(call: TracedCall): boolean {
  return /CLONE_(?:THREAD|FILES)\b/.test(call.arguments.join());
}

/** The threads of a replay: who stands for which of the trace, when their calls are due, and how one is carried out. */
export class TracedThreads {
  private readonly simulator: Simulator;
  private readonly host: SystemCalls;
  private readonly root: TraceRoot;
  private readonly calls: CallReplay;
  private readonly options: Required<SystemReplayOptions>;
  private readonly delay: Delay;
  private readonly actors = new Map<number, TracedThread>();
  /** Processes that have not ended, those included whose end the trace does not tell before their number is used again. */
  private readonly processes = new Set<TracedProcess>();
  /** Calls of the trace that have begun. */
  begun = 0;
  /** No call begins any more. */
  stopped = false;

  constructor(
    simulator: Simulator,
    host: SystemCalls,
    root: TraceRoot,
    calls: CallReplay,
    options: Required<SystemReplayOptions>,
  ) {
    this.simulator = simulator;
    this.host = host;
    this.root = root;
    this.calls = calls;
    this.options = options;
    this.delay = new Delay(simulator);
  }

  /** The thread that a call is of; a thread that nobody made had begun before the trace. `tracedNs`: its last end. */
  of(call: TracedCall, tracedNs: number): TracedThread {
    const known = this.actors.get(call.pid);
    if (known !== undefined) return known;
    const { directory, root } = this.options;
    const start = this.root.contains(directory) ? this.root.map(directory) : this.root.map(root);
    const user = this.host.process({ name: `pid ${call.pid}`, directory: start });
    return this.added(call.pid, new TracedProcess(user, directory), tracedNs);
  }

  /** The result of a fork is known from the start, so that the child is there when its first call comes. */
  fork(call: TracedCall, actor: TracedThread): void {
    const process = sharesTable(call) ? actor.process : actor.process.fork(call.result);
    this.added(call.result, process, call.startNs);
    actor.tracedEndNs = call.endNs;
    actor.endNs = this.simulator.now;
    const { stats } = this.calls;
    stats.count(stats.outside, call.name);
  }

  /** Until the call is due. */
  *due(call: TracedCall, actor: TracedThread): Task<void> {
    const { pace, timeScale } = this.options;
    const { simulator } = this;
    const { stats } = this.calls;
    if (pace === 'closed') return;
    const due =
      pace === 'open'
        ? stats.startNs + Math.round(call.startNs * timeScale)
        : actor.endNs + Math.round(Math.max(0, call.startNs - actor.tracedEndNs) * timeScale);
    if (due > LAST_ARRIVAL_NS) {
      const message = `the call of line ${call.line} is due after more than 91 days, longer than simulated time lasts`;
      throw new ReplayError(
        ReplayErrorCode.option,
        `${message}. Choose a smaller timeScale or the pace closed`,
        'timeScale',
      );
    }
    const early = due - simulator.now;
    if (early > 0) {
      yield this.delay.for(early);
    } else if (early < 0) {
      stats.late++;
      stats.lateNs -= early;
      if (-early > stats.maxLateNs) stats.maxLateNs = -early;
    }
  }

  /** Carries a call out; what it assigns is not yet. */
  *perform(scene: CallScene, call: TracedCall): Task<void> {
    const { actor } = scene;
    if (call.name === EXITED) yield* this.exit(actor);
    else yield* this.calls.replay(scene, call);
    actor.tracedEndNs = call.endNs;
    actor.endNs = this.simulator.now;
  }

  /** The trace is over: what is still open is closed. */
  *end(): Task<void> {
    for (const process of this.processes) yield* this.calls.ended(process);
    yield* this.calls.end();
  }

  private added(pid: number, process: TracedProcess, tracedNs: number): TracedThread {
    process.threads++;
    this.processes.add(process);
    const thread = process.user.thread(`pid ${pid}`);
    const actor = { pid, thread, process, tracedEndNs: tracedNs, endNs: this.simulator.now };
    this.actors.set(pid, actor);
    return actor;
  }

  private *exit(actor: TracedThread): Task<void> {
    this.actors.delete(actor.pid);
    if (--actor.process.threads > 0) return;
    this.processes.delete(actor.process);
    yield* this.calls.ended(actor.process);
  }
}

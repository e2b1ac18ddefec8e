import { Delay, type Process, runTask, type Simulator, type Task, type Wait } from '@flashstack/sim';
import type { SystemCalls } from '@flashstack/vfs';
import { CallReplay } from './call-replay.js';
import type { CallScene } from './call-scene.js';
import { assigned } from './descriptor-calls.js';
import { checkedOptions, type SystemReplayOptions } from './replay-options.js';
import type { SystemReplayStats } from './system-replay-stats.js';
import { EXITED, type SystemTrace, type TracedCall } from './system-trace.js';
import { TraceRoot } from './trace-root.js';
import { TracedProcess, type TracedThread } from './traced-process.js';

/** A call that has begun and not ended in the trace. */
interface RunningCall {
  readonly scene: CallScene;
  readonly process: Process;
}

const FORKS: readonly string[] = ['clone', 'clone3', 'fork', 'vfork'];

/**
 * Replays a trace of system calls on a simulated host: a process for each of the trace, a thread for each thread, with
 * the same descriptors and working directories. Results are compared with the recorded ones.
 */
export class SystemReplay {
  readonly stats: SystemReplayStats;
  private readonly simulator: Simulator;
  private readonly host: SystemCalls;
  private readonly trace: SystemTrace;
  private readonly options: Required<SystemReplayOptions>;
  private readonly root: TraceRoot;
  private readonly calls: CallReplay;
  private readonly actors = new Map<number, TracedThread>();
  private readonly running = new Map<number, RunningCall>();
  private readonly delay: Delay;
  private readonly turn = new Turn();

  /** @throws ReplayError, InputError if an option is impossible. */
  constructor(simulator: Simulator, host: SystemCalls, trace: SystemTrace, options: SystemReplayOptions) {
    this.simulator = simulator;
    this.host = host;
    this.trace = trace;
    this.options = checkedOptions(options, trace.timed);
    this.root = new TraceRoot(this.options.root, this.options.target);
    this.calls = new CallReplay(simulator, host, trace, this.root, this.options);
    this.stats = this.calls.stats;
    this.delay = new Delay(simulator);
  }

  /** Runs the simulation until the trace has been replayed. @throws what `task` throws; SimulationError if it stalls. */
  run(): void {
    runTask(this.simulator, this.task(), 'replay');
  }

  /** The replay as a process to spawn, once. */
  *task(): Task<void> {
    const { calls, order } = this.trace;
    const { simulator, stats } = this;
    stats.startNs = simulator.now;
    for (let i = 0; i < order.length; i++) {
      const event = order[i];
      const index = event >> 1;
      if ((event & 1) === 1) {
        yield* this.end(index);
        continue;
      }
      const call = calls[index];
      const actor = this.actorOf(call);
      if (this.options.pace !== 'closed') yield* this.wait(call, actor);
      if (FORKS.includes(call.name) && call.result > 0) {
        this.fork(call, actor);
        continue;
      }
      const scene = this.calls.sceneOf(index, actor);
      const task = this.perform(scene, call);
      // Alone at its time it needs no process of its own. Otherwise it has to begin after those that began before it.
      if (order[i + 1] === event + 1 && this.running.size === 0) {
        yield* task;
        yield* assigned(scene);
        i++;
      } else {
        const process = simulator.spawn(`${call.name} of ${call.pid}`, task, { observed: true });
        this.running.set(index, { scene, process });
        // It begins before anything that comes after it, even if that has nothing to wait for.
        yield this.turn;
      }
    }
    for (const process of new Set([...this.actors.values()].map((actor) => actor.process))) {
      yield* this.calls.ended(process);
    }
    stats.endNs = simulator.now;
  }

  /** The thread that a call is of; a thread that nobody made had begun before the trace. */
  private actorOf(call: TracedCall): TracedThread {
    const known = this.actors.get(call.pid);
    if (known !== undefined) return known;
    const { directory, root } = this.options;
    const start = this.root.contains(directory) ? this.root.map(directory) : this.root.map(root);
    const user = this.host.process({ name: `pid ${call.pid}`, directory: start });
    return this.added(call.pid, new TracedProcess(user, directory), call.startNs);
  }

  private added(pid: number, process: TracedProcess, tracedNs: number): TracedThread {
    process.threads++;
    const thread = process.user.thread(`pid ${pid}`);
    const actor = { pid, thread, process, tracedEndNs: tracedNs, endNs: this.simulator.now };
    this.actors.set(pid, actor);
    return actor;
  }

  /** Until the call is due. */
  private *wait(call: TracedCall, actor: TracedThread): Task<void> {
    const { pace, timeScale } = this.options;
    const { simulator, stats } = this;
    const due =
      pace === 'open'
        ? stats.startNs + Math.round(call.startNs * timeScale)
        : actor.endNs + Math.round(Math.max(0, call.startNs - actor.tracedEndNs) * timeScale);
    const early = due - simulator.now;
    if (early > 0) {
      yield this.delay.for(early);
    } else if (early < 0) {
      stats.late++;
      stats.lateNs -= early;
      if (-early > stats.maxLateNs) stats.maxLateNs = -early;
    }
  }

  /** The call has ended in the trace: it has to end here too. */
  private *end(index: number): Task<void> {
    const running = this.running.get(index);
    if (running === undefined) return;
    this.running.delete(index);
    yield running.process;
    if (running.process.state === 'failed') throw running.process.error;
    yield* assigned(running.scene);
  }

  private *perform(scene: CallScene, call: TracedCall): Task<void> {
    const { actor } = scene;
    if (call.name === EXITED) yield* this.exit(actor);
    else yield* this.calls.replay(scene, call);
    actor.tracedEndNs = call.endNs;
    actor.endNs = this.simulator.now;
  }

  /** The result of a fork is known from the start, so that the child is there when its first call comes. */
  private fork(call: TracedCall, actor: TracedThread): void {
    const shares = /CLONE_(?:THREAD|FILES)\b/.test(call.arguments.join());
    const process = shares ? actor.process : actor.process.fork(call.result);
    this.added(call.result, process, call.startNs);
    actor.tracedEndNs = call.endNs;
    actor.endNs = this.simulator.now;
    this.stats.count(this.stats.outside, call.name);
  }

  private *exit(actor: TracedThread): Task<void> {
    this.actors.delete(actor.pid);
    if (--actor.process.threads === 0) yield* this.calls.ended(actor.process);
  }
}

/** Goes on when all that could run at this instant has. */
class Turn implements Wait {
  arm(process: Process): boolean {
    process.startTimer(0);
    return false;
  }

  interrupt(): boolean {
    return true;
  }

  describe(): string {
    return 'its turn';
  }
}

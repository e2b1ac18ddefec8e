import { type Process, runTask, type Simulator, type StatsRegistry, type Task, type Wait } from '@flashstack/sim';
import type { SystemCalls } from '@flashstack/vfs';
import type { CallTotals } from '../files/call-totals.js';
import type { FileWorkload } from '../files/file-workload.js';
import { makeTree, type TreeEntry } from '../files/tree.js';
import { CallReplay } from './call-replay.js';
import { CallResources } from './call-resources.js';
import type { CallScene } from './call-scene.js';
import { assigned } from './descriptor-calls.js';
import { FreeReplay } from './free-replay.js';
import { checkedOptions, type SystemReplayOptions } from './replay-options.js';
import type { SystemReplayStats } from './system-replay-stats.js';
import type { SystemTrace } from './system-trace.js';
import { TraceRoot } from './trace-root.js';
import { FORKS, TracedThreads } from './traced-threads.js';

/** A call that has begun and not ended in the trace. */
interface RunningCall {
  readonly scene: CallScene;
  readonly process: Process;
}

/**
 * Replays a trace of system calls on a simulated host: a process for each of the trace, a thread for each thread, with
 * the same descriptors and working directories. Results are compared with the recorded ones.
 */
export class SystemReplay implements FileWorkload {
  readonly stats: SystemReplayStats;
  private readonly simulator: Simulator;
  private readonly host: SystemCalls;
  private readonly trace: SystemTrace;
  private readonly options: Required<SystemReplayOptions>;
  private readonly root: TraceRoot;
  private readonly calls: CallReplay;
  private readonly threads: TracedThreads;
  private readonly tree: readonly TreeEntry[];
  private free: FreeReplay | null = null;
  private readonly running = new Map<number, RunningCall>();
  private readonly turn = new Turn();

  /**
   * @param tree what `prepare` makes below the root, as `parseListing` reads it.
   * @throws ReplayError, InputError if an option is impossible.
   */
  constructor(
    simulator: Simulator,
    host: SystemCalls,
    trace: SystemTrace,
    options: SystemReplayOptions,
    tree: readonly TreeEntry[] = [],
  ) {
    this.tree = tree;
    this.simulator = simulator;
    this.host = host;
    this.trace = trace;
    this.options = checkedOptions(options, trace.timed);
    this.root = new TraceRoot(this.options.root, this.options.target);
    this.calls = new CallReplay(simulator, host, trace, this.root, this.options);
    this.threads = new TracedThreads(simulator, host, this.root, this.calls, this.options);
    this.stats = this.calls.stats;
  }

  /** Calls of the trace that have begun. */
  get done(): number {
    return this.threads.begun;
  }

  /** Calls of the trace. */
  get total(): number {
    return this.trace.calls.length;
  }

  /** Makes the tree that was there before. @throws FsError */
  *prepare(): Task<void> {
    const user = this.host.process({ name: 'layout' });
    yield* makeTree(user.thread(), this.tree, this.options.target);
    yield* user.exit();
  }

  stop(): void {
    this.threads.stopped = true;
    this.free?.stop();
  }

  totals(): CallTotals {
    return this.stats.totals();
  }

  register(registry: StatsRegistry): void {
    this.stats.register(registry.layer('trace'));
  }

  /** Runs the simulation until the trace has been replayed. @throws what `task` throws; SimulationError if it stalls. */
  run(): void {
    runTask(this.simulator, this.task(), 'replay');
  }

  /** The replay as a process to spawn, once. */
  *task(): Task<void> {
    const { simulator, stats, trace, calls, threads } = this;
    stats.startNs = simulator.now;
    if (this.options.order === 'trace') {
      yield* this.inOrder();
    } else {
      const waits = new CallResources(trace, this.root, this.options.directory).waits();
      this.free = new FreeReplay(simulator, trace, calls, threads, waits);
      yield* this.free.task();
    }
    yield* threads.end();
    stats.endNs = simulator.now;
  }

  /** Begins and ends as in the trace. */
  private *inOrder(): Task<void> {
    const { calls, order } = this.trace;
    const { simulator, threads } = this;
    for (let i = 0; i < order.length; i++) {
      const event = order[i];
      const index = event >> 1;
      if ((event & 1) === 1) {
        yield* this.end(index);
        continue;
      }
      // What has begun before a stop goes on to its end.
      if (threads.stopped) continue;
      threads.begun++;
      const call = calls[index];
      const actor = threads.of(call, call.startNs);
      yield* threads.due(call, actor);
      if (FORKS.includes(call.name) && call.result > 0) {
        threads.fork(call, actor);
        continue;
      }
      const scene = this.calls.sceneOf(index, actor);
      const task = threads.perform(scene, call);
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

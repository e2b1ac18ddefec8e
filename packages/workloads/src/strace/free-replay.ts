import { Condition, type Process, type Simulator, type Task } from '@flashstack/sim';
import type { CallReplay } from './call-replay.js';
import { assigned } from './descriptor-calls.js';
import { EXITED, type SystemTrace } from './system-trace.js';
import { FORKS, type TracedThreads } from './traced-threads.js';

/**
 * Replays each thread of a trace on its own: its calls follow each other, and wait for those of other threads only where
 * they share something.
 */
export class FreeReplay {
  private readonly simulator: Simulator;
  private readonly trace: SystemTrace;
  private readonly calls: CallReplay;
  private readonly threads: TracedThreads;
  private readonly waits: readonly (readonly number[] | undefined)[];
  /** By event: 1 once it has happened. */
  private readonly happened: Uint8Array;
  private readonly awaited = new Map<number, Condition>();
  /** Calls of each thread; threads that were there from the beginning, and by the call that makes them. */
  private readonly first: number[][] = [];
  private readonly made = new Map<number, number[]>();
  private readonly started: Process[] = [];

  /** @param waits by event: the events before it, as `CallResources` finds them. */
  constructor(
    simulator: Simulator,
    trace: SystemTrace,
    calls: CallReplay,
    threads: TracedThreads,
    waits: readonly (readonly number[] | undefined)[],
  ) {
    this.simulator = simulator;
    this.trace = trace;
    this.calls = calls;
    this.threads = threads;
    this.waits = waits;
    this.happened = new Uint8Array(2 * trace.calls.length);
    this.divide();
  }

  *task(): Task<void> {
    for (const indices of this.first) this.start(indices);
    // Threads that are made meanwhile are added to those that are waited for.
    for (let at = 0; at < this.started.length; at++) {
      const process = this.started[at];
      yield process;
      if (process.state === 'failed') throw process.error;
    }
  }

  /** Wakes the threads that wait for each other: what they wait for may not come any more. */
  stop(): void {
    for (const condition of this.awaited.values()) condition.notifyAll();
  }

  /** Numbers of threads are used again once they have exited. */
  private divide(): void {
    const { calls, order } = this.trace;
    const living = new Map<number, number[]>();
    for (const event of order) {
      if ((event & 1) === 1) continue;
      const index = event >> 1;
      const { name, pid, result } = calls[index];
      let own = living.get(pid);
      if (own === undefined) {
        own = [];
        this.first.push(own);
        living.set(pid, own);
      }
      own.push(index);
      if (name === EXITED) living.delete(pid);
      if (!FORKS.includes(name) || !(result > 0)) continue;
      const child: number[] = [];
      this.made.set(index, child);
      living.set(result, child);
    }
  }

  private start(indices: readonly number[]): void {
    const { pid } = this.trace.calls[indices[0]];
    this.started.push(this.simulator.spawn(`pid ${pid}`, this.thread(indices), { observed: true }));
  }

  private *thread(indices: readonly number[]): Task<void> {
    const { calls, trace, threads } = this;
    for (const index of indices) {
      const call = trace.calls[index];
      yield* this.turn(2 * index);
      const actor = threads.of(call, 0);
      yield* threads.due(call, actor);
      if (threads.stopped) return;
      threads.begun++;
      this.happens(2 * index);
      if (FORKS.includes(call.name) && call.result > 0) {
        threads.fork(call, actor);
        const child = this.made.get(index) as readonly number[];
        if (child.length > 0) this.start(child);
      } else {
        const scene = calls.sceneOf(index, actor);
        yield* threads.perform(scene, call);
        yield* this.turn(2 * index + 1);
        yield* assigned(scene);
      }
      this.happens(2 * index + 1);
    }
  }

  private *turn(event: number): Task<void> {
    for (const before of this.waits[event] ?? []) {
      if (this.happened[before] === 1) continue;
      let condition = this.awaited.get(before);
      if (condition === undefined) {
        const { line, name } = this.trace.calls[before >> 1];
        condition = new Condition(
          this.simulator,
          `${(before & 1) === 1 ? 'the end' : 'the begin'} of ${name}, line ${line}`,
        );
        this.awaited.set(before, condition);
      }
      while (this.happened[before] === 0 && !this.threads.stopped) yield condition;
    }
  }

  private happens(event: number): void {
    this.happened[event] = 1;
    this.awaited.get(event)?.notifyAll();
    this.awaited.delete(event);
  }
}

import { type Process, SimulationError, type Simulator, type Task } from '@flashstack/sim';
import { type ErrorCode, FsError } from '@flashstack/vfs';
import { fitting, type SystemStack } from './stack.js';

/** What a file system says when requests fail: the one that did, and the others once it takes no more changes. */
const OF_A_FAILED_DRIVE: readonly ErrorCode[] = ['EIO', 'EROFS'];

/** Length of a slice, ns: the first, the least and the most. */
const FIRST_NS = 1_000_000;
const LEAST_NS = 10_000;
const MOST_NS = 1_000_000_000;
/** A slice is made longer below this much work, and shorter above four times as much. */
const SLICE_WORK = 1000;

/**
 * The workload of a stack, run in slices. Their lengths follow from calls and events of the slice before alone, so that a
 * run is the same whoever watches.
 */
export class SystemRun {
  /** When the workload began. */
  readonly startNs: number;
  /** When its last call ended; what follows is the final write-back. */
  callsEndNs: number;
  private readonly stack: SystemStack;
  private readonly simulator: Simulator;
  private readonly process: Process;
  private sliceNs: number = FIRST_NS;
  private stopped = false;

  constructor(stack: SystemStack, simulator: Simulator, finalSync: boolean) {
    this.stack = stack;
    this.simulator = simulator;
    this.startNs = simulator.now;
    this.callsEndNs = simulator.now;
    this.process = stack.start(this.task(finalSync));
  }

  /** Runs a slice. True: the workload has come to its end. @throws what the workload throws. */
  advance(): boolean {
    const { process, simulator } = this;
    const before = this.work;
    simulator.runUntil(simulator.now + this.sliceNs);
    // Nothing is pending and the workload still waits: this says who for what.
    if (!process.finished && simulator.pendingEvents === 0) simulator.run(process);
    if (!process.finished) {
      const work = this.work - before;
      if (work < SLICE_WORK) this.sliceNs = Math.min(2 * this.sliceNs, MOST_NS);
      else if (work > 4 * SLICE_WORK) this.sliceNs = Math.max(this.sliceNs >> 1, LEAST_NS);
      return false;
    }
    if (process.state === 'failed') throw fitting(process.error);
    return true;
  }

  /** The workload begins nothing more. */
  stop(): void {
    this.stopped = true;
    this.stack.workload.stop();
  }

  /**
   * Unmounts, after the figures have been taken, and checks that no request was lost.
   * @throws SimulationError `ERR_EXPERIMENT_LOST`
   */
  finish(assertDrained: () => void): void {
    this.stack.host.run(this.unlessDriveFailed(this.stack.host.unmount()), 'unmount');
    assertDrained();
    const { issued, completed, failed } = this.stack.meter.stats;
    if (issued === completed + failed) return;
    throw new SimulationError(
      'ERR_EXPERIMENT_LOST',
      `requests are missing: ${issued} issued, ${completed} completed, ${failed} failed`,
    );
  }

  private get work(): number {
    return this.simulator.events + this.stack.host.stats.calls;
  }

  /**
   * On a drive that has refused requests, what is to be written fails too: the result tells how many were refused. Other
   * errors of the file system are its own.
   */
  private *unlessDriveFailed(task: Task<void>): Task<void> {
    try {
      yield* task;
    } catch (error) {
      const explained = error instanceof FsError && OF_A_FAILED_DRIVE.includes(error.code);
      if (!explained || this.stack.meter.stats.failed === 0) throw fitting(error);
    }
  }

  private *task(finalSync: boolean): Task<void> {
    try {
      yield* this.stack.workload.task();
      this.callsEndNs = this.simulator.now;
      if (finalSync && !this.stopped) yield* this.unlessDriveFailed(this.stack.sync());
    } finally {
      // So that the clock stands where the workload ended, and not at the end of the slice.
      this.simulator.stop();
    }
  }
}

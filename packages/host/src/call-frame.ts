import type { MaybeTask, Task } from '@flashstack/sim';
import type { CallCosts } from './costs.js';
import { pagesOf } from './cursor-io.js';
import type { Host } from './host.js';
import type { OpenFile } from './open-file.js';
import type { HostProcess } from './user-process.js';

/**
 * What all system calls of a thread share: counting and CPU time, which a call spends when it ends. What is found in
 * memory is done at once, without a generator.
 */
export abstract class CallFrame {
  readonly process: HostProcess;
  readonly host: Host;
  readonly name: string;
  /** CPU time of the present call so far, and of failed calls that could not spend theirs, ns. */
  debtNs = 0;
  /** Where the last write began: known only then if it appended. */
  writtenAt = 0;

  constructor(process: HostProcess, name: string) {
    this.process = process;
    this.host = process.host;
    this.name = name;
  }

  /** Ends a read that had nothing to wait for. */
  haveRead(file: OpenFile, bytes: number, offset: number): MaybeTask {
    this.countRead(file, bytes, offset);
    return this.finish(bytes, 0);
  }

  /** Ends a write that had nothing to wait for. */
  haveWritten(file: OpenFile, bytes: number, offset: number): MaybeTask {
    this.countWritten(file, bytes, offset);
    return this.finish(bytes, 0);
  }

  /** Counts a read and its CPU time. */
  countRead(file: OpenFile, bytes: number, offset: number): void {
    const { read, readPage, direct } = this.host.costs;
    this.host.stats.readBytes += bytes;
    this.debtNs += read + (this.host.isDirect(file) ? direct : pagesOf(offset, bytes) * readPage);
  }

  /** Counts a write and its CPU time. */
  countWritten(file: OpenFile, bytes: number, offset: number): void {
    const { write, writePage, direct } = this.host.costs;
    this.host.stats.writtenBytes += bytes;
    this.debtNs += write + (this.host.isDirect(file) ? direct : pagesOf(offset, bytes) * writePage);
  }

  /** Ends a call that may have to wait: spends its CPU time, whatever its outcome. */
  *wait<T>(task: Task<T>, cost = 0): Task<T> {
    const { host } = this;
    let result: T;
    try {
      result = yield* task;
    } catch (error) {
      yield* host.cpus.run(this.takeDebt(cost), 0);
      throw error;
    }
    if (host.untidy) yield* host.tidy();
    const ns = this.takeDebt(cost);
    if (!host.cpus.tryRun(ns)) yield* host.cpus.run(ns, 0);
    return result;
  }

  /** Begins a call. */
  protected begin(): CallCosts {
    const { costs, stats } = this.host;
    stats.calls++;
    this.debtNs += costs.enter;
    return costs;
  }

  /** Ends a call that had nothing to wait for: a number if a processor is free and nothing else could happen meanwhile. */
  finish(result: number, cost: number): MaybeTask {
    const { host } = this;
    if (host.untidy) return this.tidyUp(result, cost);
    const ns = this.takeDebt(cost);
    return host.cpus.tryRun(ns) ? result : host.cpus.run(ns, result);
  }

  private takeDebt(cost: number): number {
    const ns = this.debtNs + cost;
    this.debtNs = 0;
    return ns;
  }

  private *tidyUp(result: number, cost: number): Task<number> {
    yield* this.host.tidy();
    return yield* this.host.cpus.run(this.takeDebt(cost), result);
  }
}

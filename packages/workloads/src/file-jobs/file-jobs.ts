import {
  type Process,
  type RandomSource,
  runTask,
  SimulationError,
  type Simulator,
  type StatsRegistry,
  type Task,
} from '@flashstack/sim';
import { type ErrorCode, FileAdvice, FsError, OpenFlag, type SystemCalls, type Thread } from '@flashstack/vfs';
import { CallTotals } from '../files/call-totals.js';
import { done } from '../files/done.js';
import { type FileWorkload, metricName } from '../files/file-workload.js';
import { ReplayError, ReplayErrorCode } from '../replay-error.js';
import type { RequestStats } from '../replay-stats.js';
import { type FileJob, type FileJobOptions, fileJob, isRandom, kindsOf } from './file-job-options.js';
import { FileJobStats } from './file-job-stats.js';
import { JobOp, JobPlan } from './job-plan.js';
import { jobPath, layOut } from './layout.js';

/** A host on which calls take no time never reaches the end of a run that is limited by time. */
const MOST_AT_ONCE = 100_000;

/** Series of the results. */
export interface FileJobsOptions {
  /** First interval of the time series, ns. Default 1 ms; it doubles whenever a series is full. */
  readonly seriesIntervalNs?: number;
  /** Points of each time series at most, an even number. Default 600. */
  readonly seriesPoints?: number;
}

/** One clone: its plan, which its threads share, and whether it goes on. */
interface Clone {
  readonly job: FileJob;
  readonly stats: FileJobStats;
  readonly plan: JobPlan;
  readonly fd: number;
  readonly endNs: number;
  failed: boolean;
  /** Operations begun at `instantNs`. */
  atOnce: number;
  instantNs: number;
}

/**
 * Runs jobs as fio does: lays out the files of all, then runs each clone as a process with `iodepth` threads, jobs side by
 * side unless `stonewall` holds them back.
 */
export class FileJobs implements FileWorkload {
  /** The jobs, with their defaults. */
  readonly jobs: readonly FileJob[];
  /** Results, in the order of the jobs. */
  readonly stats: readonly FileJobStats[];
  private readonly simulator: Simulator;
  private readonly host: SystemCalls;
  private readonly random: RandomSource;
  private prepared = false;
  private stopped = false;

  /** @throws InputError, ReplayError naming the option that is impossible. */
  constructor(
    simulator: Simulator,
    host: SystemCalls,
    jobs: readonly FileJobOptions[],
    random: RandomSource,
    options: FileJobsOptions = {},
  ) {
    this.simulator = simulator;
    this.host = host;
    this.random = random;
    this.jobs = jobs.map(fileJob);
    FileJobs.check(this.jobs);
    const { seriesIntervalNs = 1_000_000, seriesPoints = 600 } = options;
    this.stats = this.jobs.map(() => new FileJobStats(seriesIntervalNs, seriesPoints));
  }

  /** @throws ReplayError if there are no jobs, or two that would use the same files. */
  static check(jobs: readonly FileJob[]): void {
    if (jobs.length === 0)
      throw new ReplayError(ReplayErrorCode.empty, 'name at least one file job, found none', 'jobs');
    for (const [index, { name }] of jobs.entries()) {
      if (jobs.findIndex((job) => job.name === name) === index) continue;
      const message = `two jobs are called "${name}", so that they would use the same files: name them differently`;
      throw new ReplayError(ReplayErrorCode.option, message, 'name');
    }
  }

  /** Reads and writes that have ended. */
  get done(): number {
    return this.stats.reduce(
      (sum, { read, write }) => sum + read.completed + read.failed + write.completed + write.failed,
      0,
    );
  }

  /** Reads and writes of all jobs, −1 if one of them is limited by time. */
  get total(): number {
    if (this.jobs.some(({ runtimeNs }) => runtimeNs > 0)) return -1;
    return this.jobs.reduce((sum, job) => sum + job.numjobs * transfersOf(job), 0);
  }

  /** Runs the simulation until all jobs have ended. @throws FsError of the layout; SimulationError if it stalls. */
  run(): void {
    runTask(this.simulator, this.task(), 'file jobs');
  }

  /** Lays out the files of all jobs. @throws FsError */
  *prepare(): Task<void> {
    this.prepared = true;
    const setup = this.host.process({ name: 'layout' });
    const thread = setup.thread();
    for (const job of this.jobs) {
      for (let clone = 0; clone < job.numjobs; clone++) yield* layOut(thread, job, clone);
    }
    yield* setup.exit();
  }

  /** The jobs as a process to spawn, once; lays the files out unless `prepare` has. */
  *task(): Task<void> {
    const { jobs, simulator } = this;
    if (!this.prepared) yield* this.prepare();
    let running: Process[] = [];
    for (const [index, job] of jobs.entries()) {
      if (job.stonewall) {
        for (const process of running) yield* joined(process);
        running = [];
      }
      this.stats[index].startNs = simulator.now;
      for (let clone = 0; clone < job.numjobs; clone++) {
        const task = this.clone(job, this.stats[index], clone);
        running.push(simulator.spawn(`${job.name}.${clone}`, task, { observed: true }));
      }
    }
    for (const process of running) yield* joined(process);
  }

  stop(): void {
    this.stopped = true;
  }

  totals(): CallTotals {
    const totals = new CallTotals();
    for (const { read, write, sync } of this.stats) {
      totals.read.add(read.completed, read.failed, read.bytes, read.latencyNs);
      totals.write.add(write.completed, write.failed, write.bytes, write.latencyNs);
      totals.sync.add(sync.completed, sync.failed, sync.bytes, sync.latencyNs);
    }
    return totals;
  }

  /** Registers each job as `jobs.NAME.…`, and failed calls by their error as `jobs.NAME.errors.ENOSPC`. */
  register(registry: StatsRegistry): void {
    const taken = new Set<string>();
    for (const [index, stats] of this.stats.entries()) {
      const name = metricName(this.jobs[index].name);
      const own = name === '' || taken.has(name) ? `${name}${index + 1}` : name;
      taken.add(own);
      const layer = registry.layer(`jobs.${own}`);
      stats.register(layer);
      for (const [code, count] of stats.errors) layer.gauge(`errors.${code}`, () => count);
    }
  }

  private *clone(job: FileJob, stats: FileJobStats, number: number): Task<void> {
    const { simulator } = this;
    const user = this.host.process({ name: `${job.name}.${number}` });
    const thread = user.thread();
    const clone: Clone = {
      job,
      stats,
      plan: new JobPlan(job, number, this.random),
      fd: yield* opened(thread, job, number),
      endNs: job.runtimeNs === 0 ? Number.POSITIVE_INFINITY : simulator.now + job.runtimeNs,
      failed: false,
      atOnce: 0,
      instantNs: -1,
    };
    const others: Process[] = [];
    for (let i = 1; i < job.iodepth; i++) {
      others.push(simulator.spawn(`${job.name}.${number}`, this.work(clone, user.thread()), { observed: true }));
    }
    yield* this.work(clone, thread);
    for (const other of others) yield* joined(other);
    if (job.endFsync && !clone.failed && !this.stopped) yield* this.sync(clone, thread);
    yield* done(thread.close(clone.fd));
    yield* user.exit();
    stats.endNs = simulator.now;
  }

  /** One of the requests in flight: takes the next operation of the clone as soon as its last one has ended. */
  private *work(clone: Clone, thread: Thread): Task<void> {
    const { fd, job, plan, stats } = clone;
    const { simulator } = this;
    while (!clone.failed && !this.stopped && simulator.now < clone.endNs && plan.next()) {
      const startNs = simulator.now;
      this.checkProgress(clone, startNs);
      const { op, offset } = plan;
      const counted = op < JobOp.fsync ? stats.kinds[op] : stats.sync;
      counted.issued++;
      try {
        const begun =
          op === JobOp.read
            ? thread.pread(fd, null, job.bs, offset)
            : op === JobOp.write
              ? thread.pwrite(fd, null, job.bs, offset)
              : op === JobOp.fsync
                ? thread.fsync(fd)
                : thread.fdatasync(fd);
        const bytes = typeof begun === 'number' ? begun : yield* begun;
        if (op < JobOp.fsync && bytes < job.bs) stats.short++;
        this.settle(stats, counted, op < JobOp.fsync ? bytes : 0, startNs);
      } catch (error) {
        this.fail(clone, counted, error);
      }
    }
  }

  private *sync(clone: Clone, thread: Thread): Task<void> {
    const { stats } = clone;
    const startNs = this.simulator.now;
    stats.sync.issued++;
    try {
      yield* done(thread.fsync(clone.fd));
      this.settle(stats, stats.sync, 0, startNs);
    } catch (error) {
      this.fail(clone, stats.sync, error);
    }
  }

  private settle(stats: FileJobStats, counted: RequestStats, bytes: number, startNs: number): void {
    const now = this.simulator.now;
    counted.succeeded(bytes, now - startNs);
    counted.addToSeries(now - stats.startNs, bytes, now - startNs);
  }

  private fail(clone: Clone, counted: RequestStats, error: unknown): void {
    if (!(error instanceof FsError)) throw error;
    const { errors } = clone.stats;
    const code: ErrorCode = error.code;
    counted.failed++;
    errors.set(code, (errors.get(code) ?? 0) + 1);
    clone.failed = true;
  }

  private checkProgress(clone: Clone, now: number): void {
    if (now !== clone.instantNs) {
      clone.instantNs = now;
      clone.atOnce = 0;
    } else if (++clone.atOnce > MOST_AT_ONCE + clone.job.iodepth && clone.job.timeBased) {
      const message = `file job ${clone.job.name} is stalled at ${now} ns: its calls take no simulated time, so that runtimeNs never ends. Use a host with costs or a device, or limit the job by ioSize`;
      throw new SimulationError('ERR_SIM_STALLED', message);
    }
  }
}

/** Reads and writes of a clone: whole blocks; in a pass that has begun, what is missing of one takes another. */
function transfersOf(job: FileJob): number {
  const whole = Math.floor(job.ioSize / job.bs);
  const inPass = whole % Math.floor(job.size / job.bs);
  return job.ioSize > whole * job.bs && inPass > 0 ? whole + 1 : whole;
}

function* opened(thread: Thread, job: FileJob, clone: number): Task<number> {
  const { writes } = kindsOf(job);
  let flags: number = writes ? OpenFlag.readWrite | OpenFlag.create : OpenFlag.readOnly;
  if (job.direct) flags |= OpenFlag.direct;
  if (job.sync !== 'none') flags |= job.sync === 'sync' ? OpenFlag.sync : OpenFlag.dataSync;
  const fd = yield* done(thread.open(jobPath(job, clone), flags, 0o600));
  if (job.invalidate) yield* done(thread.fadvise(fd, 0, job.size, FileAdvice.dontNeed));
  yield* done(thread.fadvise(fd, 0, job.size, isRandom(job) ? FileAdvice.random : FileAdvice.sequential));
  return fd;
}

function* joined(process: Process): Task<void> {
  yield process;
  if (process.state === 'failed') throw process.error;
}

import {
  Histogram,
  Permutation,
  type RandomSource,
  runTask,
  type Simulator,
  type StatsRegistry,
  type Task,
  unknownName,
} from '@flashstack/sim';
import { FsError, OpenFlag, Seek, type SystemCalls, type Thread } from '@flashstack/vfs';
import { CallTotals } from './files/call-totals.js';
import { done } from './files/done.js';
import type { FileWorkload } from './files/file-workload.js';
import { makeParents } from './files/parents.js';
import { wrongOption } from './replay-error.js';

/** Tests of iozone in the order in which they run: `-i 0` has the first two, `-i 1` the next two, `-i 2` the last two. */
export type IozonePhase = 'write' | 'rewrite' | 'read' | 'reread' | 'randomRead' | 'randomWrite';

/** What iozone is to do; the letters are those of its command line. */
export interface IozoneOptions {
  /** `-s`: size of the file, bytes. */
  readonly size: number;
  /** `-r`: size of a record, bytes; divides `size`. Default 4096. */
  readonly record?: number;
  /** `-i`: 0 write and rewrite, 1 read and reread, 2 random read and write. Default all. Without 0, `prepare` writes the file. */
  readonly tests?: readonly (0 | 1 | 2)[];
  /** `-f`: the file; `prepare` makes the directories on its way. Default `/iozone.tmp`. */
  readonly path?: string;
  /** `-e`: fsync counts in the time of phases that write. Default false. */
  readonly includeFlush?: boolean;
  /** `-c`: close counts in the time. Default false. */
  readonly includeClose?: boolean;
  /** `-I`: O_DIRECT. Default false. */
  readonly direct?: boolean;
  /** `-o`: O_SYNC in phases that write. Default false. */
  readonly sync?: boolean;
  /** `-+n`: without rewrite and reread. Default false. */
  readonly noRetest?: boolean;
  /** `-w`: keep the file. Default false. */
  readonly keep?: boolean;
}

/** Result of one phase. Times are simulated, ns. */
export interface IozoneResult {
  readonly phase: IozonePhase;
  readonly operations: number;
  readonly bytes: number;
  /** Time of the phase as iozone counts it: with fsync and close only if they were asked for. */
  readonly elapsedNs: number;
  /** What iozone prints: kilobytes of 1024 bytes per second; 0 for a phase that took no time. */
  readonly kilobytesPerSecond: number;
  /** Of the records, ns. */
  readonly latencyNs: Histogram;
  /** What ended the phase early, such as `ENOSPC`, or null. Later phases are left out then. */
  readonly error: string | null;
}

const defaults: Required<Omit<IozoneOptions, 'size'>> = {
  record: 4096,
  tests: [0, 1, 2],
  path: '/iozone.tmp',
  includeFlush: false,
  includeClose: false,
  direct: false,
  sync: false,
  noRetest: false,
  keep: false,
};

/** Runs the phases of iozone on one file by one thread. Random phases take each record once, in shuffled order. */
export class Iozone implements FileWorkload {
  /** Results so far, in the order of the phases. */
  readonly results: IozoneResult[] = [];
  private readonly simulator: Simulator;
  private readonly host: SystemCalls;
  private readonly random: RandomSource;
  private readonly options: Required<IozoneOptions>;
  private readonly records: number;
  private transferred = 0;
  private stopped = false;

  /** @throws InputError, ReplayError naming the option that is impossible. */
  constructor(simulator: Simulator, host: SystemCalls, options: IozoneOptions, random: RandomSource) {
    this.simulator = simulator;
    this.host = host;
    this.random = random;
    this.options = iozoneOptions(options);
    this.records = this.options.size / this.options.record;
  }

  /** Records that have been transferred. */
  get done(): number {
    return this.transferred;
  }

  /** Records of all phases. */
  get total(): number {
    return this.records * phasesOf(this.options).length;
  }

  /**
   * Makes the directories on the way to the file, and writes it, if there is no phase that does and it is not there.
   * @throws FsError
   */
  *prepare(): Task<void> {
    const { path, tests } = this.options;
    const below = path.lastIndexOf('/') > 0;
    if (tests.includes(0) && !below) return;
    const process = this.host.process({ name: 'layout' });
    const thread = process.thread();
    if (below) yield* makeParents(thread, path);
    if (!tests.includes(0)) yield* this.layOut(thread);
    yield* process.exit();
  }

  /** Runs the simulation until the last phase has ended. @throws SimulationError if it stalls. */
  run(): void {
    runTask(this.simulator, this.task(), 'iozone');
  }

  /** The phases as a process to spawn, once. */
  *task(): Task<void> {
    const { keep, path } = this.options;
    const process = this.host.process({ name: 'iozone' });
    const thread = process.thread();
    for (const phase of phasesOf(this.options)) {
      if (!(yield* this.phase(thread, phase))) break;
    }
    if (!keep && !this.stopped && this.results.some(({ phase }) => phase === 'write')) {
      const failure = yield* failureOf(removed(thread, path));
      // What ended a phase may keep the file from being removed as well.
      if (failure !== null && this.results.at(-1)?.error === null) throw failure;
    }
    yield* process.exit();
  }

  stop(): void {
    this.stopped = true;
  }

  totals(): CallTotals {
    const totals = new CallTotals();
    for (const { phase, operations, bytes, latencyNs, error } of this.results) {
      const total = isWrite(phase) ? totals.write : totals.read;
      total.add(operations, error === null ? 0 : 1, bytes, latencyNs);
    }
    return totals;
  }

  /** Registers each phase as `iozone.PHASE`: `.kilobytesPerSecond`, `.bytes`, `.elapsedNs`, `.latencyNs.…`. */
  register(registry: StatsRegistry): void {
    const layer = registry.layer('iozone');
    for (const result of this.results) {
      layer.gauge(`${result.phase}.kilobytesPerSecond`, () => result.kilobytesPerSecond);
      layer.gauge(`${result.phase}.bytes`, () => result.bytes);
      layer.gauge(`${result.phase}.elapsedNs`, () => result.elapsedNs);
      layer.histogram(`${result.phase}.latencyNs`, result.latencyNs);
    }
  }

  private *layOut(thread: Thread): Task<void> {
    const { path, record, size } = this.options;
    const fd = yield* done(thread.open(path, OpenFlag.writeOnly | OpenFlag.create, 0o640));
    for (let at = yield* done(thread.lseek(fd, 0, Seek.end)); at < size; at += record) {
      const length = Math.min(record, size - at);
      const written = yield* done(thread.pwrite(fd, null, length, at));
      if (written !== length) throw new FsError('ENOSPC', `${path}: ${at + written} of ${size} bytes`);
    }
    yield* done(thread.fsync(fd));
    yield* done(thread.close(fd));
  }

  /** True if it came to its end. */
  private *phase(thread: Thread, phase: IozonePhase): Task<boolean> {
    const { simulator } = this;
    const { includeClose, path, record } = this.options;
    const writes = isWrite(phase);
    const latencyNs = new Histogram();
    const fd = yield* done(thread.open(path, this.flagsOf(phase, writes), 0o640));
    const startNs = simulator.now;
    let failure = yield* failureOf(this.timed(thread, fd, phase, writes, latencyNs));
    if (includeClose) yield* done(thread.close(fd));
    const elapsedNs = simulator.now - startNs;
    if (!includeClose) {
      // Outside the time, so that the next phase begins with a file that has been written.
      if (writes && failure === null) failure = yield* failureOf(flushed(thread, fd));
      yield* done(thread.close(fd));
    }
    const error = failure?.code ?? null;
    const operations = latencyNs.count;
    const bytes = operations * record;
    const kilobytesPerSecond = elapsedNs > 0 ? (bytes / 1024 / elapsedNs) * 1e9 : 0;
    this.results.push({ phase, operations, bytes, elapsedNs, kilobytesPerSecond, latencyNs, error });
    return error === null && !this.stopped;
  }

  /** What counts in the time of a phase, but for closing. */
  private *timed(thread: Thread, fd: number, phase: IozonePhase, writes: boolean, latencyNs: Histogram): Task<void> {
    yield* this.transfer(thread, fd, phase, writes, latencyNs);
    if (writes && this.options.includeFlush) yield* flushed(thread, fd);
  }

  private *transfer(thread: Thread, fd: number, phase: IozonePhase, writes: boolean, latencyNs: Histogram): Task<void> {
    const { simulator } = this;
    const { path, record } = this.options;
    const random = phase === 'randomRead' || phase === 'randomWrite';
    const order = random ? new Permutation(this.records, this.random.stream(`iozone.${phase}`)) : null;
    for (let i = 0; i < this.records && !this.stopped; i++) {
      const startNs = simulator.now;
      // Random phases move the cursor, as iozone does, instead of naming offsets.
      if (order !== null) yield* done(thread.lseek(fd, order.map(i) * record, Seek.set));
      const begun = writes ? thread.write(fd, null, record) : thread.read(fd, null, record);
      const moved = typeof begun === 'number' ? begun : yield* begun;
      if (moved !== record) throw new FsError('EIO', `${path}: ${moved} of ${record} bytes at record ${i}`);
      latencyNs.record(simulator.now - startNs);
      this.transferred++;
    }
  }

  private flagsOf(phase: IozonePhase, writes: boolean): number {
    const { direct, sync } = this.options;
    let flags: number = writes ? OpenFlag.readWrite : OpenFlag.readOnly;
    if (phase === 'write') flags |= OpenFlag.create | OpenFlag.truncate;
    if (writes && sync) flags |= OpenFlag.sync;
    return direct ? flags | OpenFlag.direct : flags;
  }
}

function* flushed(thread: Thread, fd: number): Task<void> {
  yield* done(thread.fsync(fd));
}

function* removed(thread: Thread, path: string): Task<void> {
  yield* done(thread.unlink(path));
}

/** What ended the task early, or null. */
function* failureOf(task: Task<void>): Task<FsError | null> {
  try {
    yield* task;
    return null;
  } catch (error) {
    if (error instanceof FsError) return error;
    throw error;
  }
}

function isWrite(phase: IozonePhase): boolean {
  return phase === 'write' || phase === 'rewrite' || phase === 'randomWrite';
}

function phasesOf({ noRetest, tests }: Required<IozoneOptions>): IozonePhase[] {
  const phases: IozonePhase[] = [];
  if (tests.includes(0)) phases.push('write', 'rewrite');
  if (tests.includes(1)) phases.push('read', 'reread');
  if (tests.includes(2)) phases.push('randomRead', 'randomWrite');
  return noRetest ? phases.filter((phase) => phase !== 'rewrite' && phase !== 'reread') : phases;
}

/** The options, checked, with their defaults. @throws InputError, ReplayError naming the option. */
export function iozoneOptions(options: IozoneOptions): Required<IozoneOptions> {
  const names = [...Object.keys(defaults), 'size'];
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw unknownName('option of iozone', name, names);
  }
  const all = { ...defaults, ...options };
  for (const name of ['size', 'record'] as const) {
    const value = all[name];
    if (!Number.isSafeInteger(value) || value < 1)
      throw wrongOption(name, 'a whole number of bytes of at least 1', value);
  }
  if (all.size % all.record !== 0) throw wrongOption('size', `a multiple of record (${all.record})`, all.size);
  if (!Array.isArray(all.tests) || all.tests.length === 0 || all.tests.some((test) => ![0, 1, 2].includes(test))) {
    throw wrongOption('tests', 'some of 0, 1 and 2', all.tests);
  }
  if (typeof all.path !== 'string' || !all.path.startsWith('/'))
    throw wrongOption('path', 'an absolute path', all.path);
  for (const name of ['includeFlush', 'includeClose', 'direct', 'sync', 'noRetest', 'keep'] as const) {
    if (typeof all[name] !== 'boolean') throw wrongOption(name, 'true or false', all[name]);
  }
  return all;
}

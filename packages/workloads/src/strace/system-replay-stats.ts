import { Histogram, type LayerStats } from '@flashstack/sim';
import { type CallKind, CallTotals } from '../files/call-totals.js';
import { metricName } from '../files/file-workload.js';

/** What the replay counts, for the calls of one name. */
export class CallStats {
  /** Calls carried out again. */
  calls = 0;
  /** Of those, the ones whose result was another than the recorded one. */
  different = 0;
  /** Bytes read, written or copied in the replay. */
  bytes = 0;
  /** From begin to end in simulated time, ns. */
  readonly latencyNs: Histogram = new Histogram();
}

/** A call that went otherwise than recorded. */
export interface CallDifference {
  /** Line of the trace. */
  readonly line: number;
  readonly pid: number;
  /** The call with its arguments, cut at 200 characters. */
  readonly call: string;
  /** The recorded result, and that of the replay: a number or the name of an error. */
  readonly recorded: string;
  readonly found: string;
}

/** Result figures of a replay of system calls. Times are simulated, ns. */
export class SystemReplayStats {
  /** By name of the call, in the order in which they came. */
  readonly calls: Map<string, CallStats> = new Map();
  /** Calls on files below the root that the replay does not know how to carry out, by name. */
  readonly unsupported: Map<string, number> = new Map();
  /** Calls that have nothing to do with files below the root, by name. */
  readonly outside: Map<string, number> = new Map();
  /** Calls below the root without an effect on files: locks, flags, queries about descriptors; by name. */
  readonly noEffect: Map<string, number> = new Map();
  /** Recorded failures below the root that were repeated as look-ups of the path. */
  lookups = 0;
  /** Recorded failures without a path, such as a read of a directory: nothing to repeat. */
  failedCalls = 0;
  /** Calls on descriptors that could not be opened in the replay. */
  lost = 0;
  /** Calls that went otherwise than recorded. */
  different = 0;
  /** The first of them. */
  readonly differences: CallDifference[] = [];
  /** Files and directories that the trace takes for granted and that the replay had to make, as in a listing. */
  readonly made: string[] = [];
  /** Descriptors opened before the trace began, which `-y` tells the paths of. */
  attached = 0;
  readBytes = 0;
  writtenBytes = 0;
  copiedBytes = 0;
  /** Paces `open` and `think`: calls begun later than they were due, the sum and the most. */
  late = 0;
  lateNs = 0;
  maxLateNs = 0;
  startNs = 0;
  endNs = 0;
  private readonly kept: number;

  /** @param kept how many differences are kept. */
  constructor(kept: number) {
    this.kept = kept;
  }

  /** Figures of the calls of a name. */
  of(name: string): CallStats {
    let found = this.calls.get(name);
    if (found === undefined) {
      found = new CallStats();
      this.calls.set(name, found);
    }
    return found;
  }

  /** Counts a call by name. */
  count(table: Map<string, number>, name: string): void {
    table.set(name, (table.get(name) ?? 0) + 1);
  }

  /** Counts a difference and keeps it if it is among the first. */
  differs(difference: CallDifference): void {
    this.different++;
    if (this.differences.length < this.kept) this.differences.push(difference);
  }

  /** Calls carried out again, of all names. */
  get replayed(): number {
    let sum = 0;
    for (const stats of this.calls.values()) sum += stats.calls;
    return sum;
  }

  get elapsedNs(): number {
    return this.endNs - this.startNs;
  }

  /** All calls by kind. A call that went otherwise than recorded has not failed for that. */
  totals(): CallTotals {
    const totals = new CallTotals();
    for (const [name, { calls, bytes, latencyNs }] of this.calls) {
      totals[kindOf(name)].add(calls, 0, bytes, latencyNs);
    }
    return totals;
  }

  /**
   * Registers everything under the names of a layer (`trace`): totals, and for each call `.calls`, `.bytes`, `.latencyNs`, as
   * `copyFileRange.calls`; what could not be carried out by name, as `unsupported.ioctl`.
   */
  register(layer: LayerStats): void {
    for (const [call, count] of this.unsupported) layer.gauge(`unsupported.${metricName(call)}`, () => count);
    for (const [call, stats] of this.calls) {
      const name = metricName(call);
      layer.gauge(`${name}.calls`, () => stats.calls);
      layer.gauge(`${name}.different`, () => stats.different);
      layer.gauge(`${name}.bytes`, () => stats.bytes);
      layer.histogram(`${name}.latencyNs`, stats.latencyNs);
    }
    layer.gauge('replayed', () => this.replayed);
    layer.gauge('different', () => this.different);
    layer.gauge('lookups', () => this.lookups);
    layer.gauge('lost', () => this.lost);
    layer.gauge('unsupported', () => sumOf(this.unsupported));
    layer.gauge('readBytes', () => this.readBytes);
    layer.gauge('writtenBytes', () => this.writtenBytes);
    layer.gauge('copiedBytes', () => this.copiedBytes);
    layer.gauge('elapsedNs', () => this.elapsedNs);
    layer.gauge('late.calls', () => this.late);
    layer.gauge('late.meanNs', () => (this.late > 0 ? this.lateNs / this.late : 0));
    layer.gauge('late.maxNs', () => this.maxLateNs);
  }
}

const kinds: Readonly<Record<Exclude<CallKind, 'other'>, readonly string[]>> = {
  read: ['read', 'pread64', 'pread', 'readv', 'preadv', 'preadv2'],
  write: ['write', 'pwrite64', 'pwrite', 'writev', 'pwritev', 'pwritev2'],
  sync: ['fsync', 'fdatasync', 'sync', 'syncfs', 'sync_file_range', 'msync'],
};

function kindOf(name: string): CallKind {
  for (const [kind, names] of Object.entries(kinds)) if (names.includes(name)) return kind as CallKind;
  return 'other';
}

function sumOf(table: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of table.values()) sum += count;
  return sum;
}

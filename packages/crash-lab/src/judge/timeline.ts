import { versionOf } from '../workload/contents.js';
import type { Step } from '../workload/workload.js';
import type { FileObject } from './file-object.js';
import type { History, HistoryEvent } from './history.js';
import { type Effect, Model } from './model.js';

/** What an operation makes durable when it is acknowledged. */
type Promised = 'all' | 'file' | 'data' | 'range' | 'range and attributes';

/** An operation that makes something durable. */
export interface PersistencePoint {
  readonly position: number;
  readonly promised: Promised;
  /** Null: everything. */
  readonly object: FileObject | null;
  readonly offset: number;
  readonly end: number;
}

const PROMISES: Readonly<Record<string, Promised>> = {
  sync: 'all',
  syncfs: 'all',
  fsync: 'file',
  fdatasync: 'data',
  msync: 'range',
  'write-dsync': 'range',
  'append-dsync': 'range',
  'write-sync': 'range and attributes',
  'append-sync': 'range and attributes',
};

/** Errors that say something about names: the same operation fails with them in each such state. */
const STATE_CODES: ReadonlySet<string> = new Set(['ENOENT', 'EEXIST', 'ENOTDIR', 'EISDIR', 'ENOTEMPTY', 'ENODATA']);

/** Operations that write a range of a file back, or set its size, and leave what lies before it. */
const SKIPS: ReadonlySet<string> = new Set([
  ...['write-direct', 'write-sync', 'write-dsync', 'append-sync', 'append-dsync', 'msync', 'sync-range'],
  ...['truncate', 'fallocate'],
]);

/** A history in one order of its operations, with all states of all files. Position 0 is the base, n + 1 event `order[n]`. */
export class Timeline {
  readonly history: History;
  readonly model: Model;
  /** Events by position; the first is null. */
  readonly events: (HistoryEvent | null)[] = [null];
  readonly points: PersistencePoint[] = [];
  /** Ranges that were written back and sizes that were set, whether or not what lies before them was written. */
  readonly ranges: { readonly position: number; readonly effect: Effect }[] = [];
  /** Position of the first event whose result the order does not explain; −1: none. */
  unexplained = -1;

  constructor(history: History, order: readonly HistoryEvent[]) {
    this.history = history;
    this.model = new Model(history.workload.base);
    for (const event of order) this.add(event);
  }

  /** The step at a position. */
  stepAt(position: number): Step {
    const event = this.events[position] as HistoryEvent;
    return this.history.workload.processes[event.process][event.step];
  }

  /** A position for people. */
  describe(position: number): string {
    if (position === 0) return 'the base state';
    const { process, step } = this.events[position] as HistoryEvent;
    const place = this.history.workload.processes.length > 1 ? `${process}.${step + 1}` : `${step + 1}`;
    return `step ${place} (${this.stepAt(position).join(' ')})`;
  }

  /** Number of a position's last operation that had begun at a cut. */
  begunAt(cut: number): number {
    let last = this.events.length - 1;
    while (last > 0 && (this.events[last] as HistoryEvent).begin > cut) last--;
    return last;
  }

  private add(event: HistoryEvent): void {
    const position = this.events.length;
    this.events.push(event);
    const step = this.history.workload.processes[event.process][event.step];
    const failed = event.code !== 'none' && event.code !== '';
    const writes = /^(write|append)/.test(step[0]);
    if (failed && !writes && !STATE_CODES.has(event.code)) return;
    const { process } = event;
    const version = versionOf(process, event.step);
    const bytes = event.code === 'none' && writes ? event.bytes : -1;
    const effect = this.model.apply({ step, process, position, version, bytes, failed });
    if (effect === null) {
      if (event.code === 'none' && this.unexplained < 0) this.unexplained = position;
      return;
    }
    if (STATE_CODES.has(event.code) && this.unexplained < 0) this.unexplained = position;
    if (SKIPS.has(step[0])) this.ranges.push({ position, effect });
    const promised = PROMISES[step[0]];
    // A range of nothing is not synced.
    if (promised?.startsWith('range') && effect.end <= effect.offset) return;
    if (promised !== undefined && event.code === 'none') this.points.push(pointOf(position, promised, effect));
  }
}

function pointOf(position: number, promised: Promised, { object, offset, end }: Effect): PersistencePoint {
  return { position, promised, object, offset, end };
}

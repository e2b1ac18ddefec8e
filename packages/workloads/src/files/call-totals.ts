import { Histogram, type LayerStats } from '@flashstack/sim';

/** Kinds of system call that every workload on files tells apart. */
export const callKinds: readonly CallKind[] = ['read', 'write', 'sync', 'other'];

/** One of {@link callKinds}; `other` are calls about names and attributes. */
export type CallKind = 'read' | 'write' | 'sync' | 'other';

/** Calls of one kind. */
export class CallTotal {
  completed = 0;
  failed = 0;
  bytes = 0;
  /** Of the completed ones, simulated ns. */
  readonly latencyNs: Histogram = new Histogram();

  /** Adds what was counted elsewhere. */
  add(completed: number, failed: number, bytes: number, latencyNs: Histogram): void {
    this.completed += completed;
    this.failed += failed;
    this.bytes += bytes;
    this.latencyNs.merge(latencyNs);
  }
}

/** All calls of a workload on files, by kind. */
export class CallTotals {
  readonly read: CallTotal = new CallTotal();
  readonly write: CallTotal = new CallTotal();
  readonly sync: CallTotal = new CallTotal();
  readonly other: CallTotal = new CallTotal();

  /** Calls that ended with success, and those that failed. */
  get completed(): number {
    return callKinds.reduce((sum, kind) => sum + this[kind].completed, 0);
  }

  get failed(): number {
    return callKinds.reduce((sum, kind) => sum + this[kind].failed, 0);
  }

  /** Registers for each kind `.requests`, `.failed`, `.bytes`, `.iops`, `.bytesPerSecond`, `.latencyNs.…`, and totals. */
  register(layer: LayerStats, elapsedNs: number): void {
    const perSecond = (amount: number): number => (elapsedNs > 0 ? (amount / elapsedNs) * 1e9 : 0);
    for (const kind of callKinds) {
      const total = this[kind];
      layer.gauge(`${kind}.requests`, () => total.completed + total.failed);
      layer.gauge(`${kind}.failed`, () => total.failed);
      layer.gauge(`${kind}.bytes`, () => total.bytes);
      layer.gauge(`${kind}.iops`, () => perSecond(total.completed));
      layer.gauge(`${kind}.bytesPerSecond`, () => perSecond(total.bytes));
      layer.histogram(`${kind}.latencyNs`, total.latencyNs);
    }
    layer.gauge('completed', () => this.completed);
    layer.gauge('failed', () => this.failed);
    layer.gauge('elapsedNs', () => elapsedNs);
  }
}

import type { LayerStats } from '@flashstack/sim';
import { RequestStats } from '../replay-stats.js';

/** Kinds of operation that a file job tells apart; both syncs count together. */
export const jobOperations: readonly JobOperation[] = ['read', 'write', 'sync'];

/** One of {@link jobOperations}. */
export type JobOperation = 'read' | 'write' | 'sync';

/** Result figures of a job, all its clones together. Times are simulated, ns. */
export class FileJobStats {
  readonly read: RequestStats;
  readonly write: RequestStats;
  readonly sync: RequestStats;
  /** In the order of {@link jobOperations}. */
  readonly kinds: readonly RequestStats[];
  /** Reads and writes that moved less than was asked for. */
  short = 0;
  /** Failed operations by code, such as `ENOSPC`. The first ends its clone, as in fio. */
  readonly errors: Map<string, number> = new Map();
  /** When the first clone began and the last ended, layout of files not included. */
  startNs = 0;
  endNs = 0;

  constructor(seriesIntervalNs: number, seriesPoints: number) {
    this.read = new RequestStats(seriesIntervalNs, seriesPoints);
    this.write = new RequestStats(seriesIntervalNs, seriesPoints);
    this.sync = new RequestStats(seriesIntervalNs, seriesPoints);
    this.kinds = [this.read, this.write, this.sync];
  }

  get elapsedNs(): number {
    return this.endNs - this.startNs;
  }

  /** Registers everything: for each kind `read.requests`, `.failed`, `.bytes`, `.iops`, `.bytesPerSecond`, `.latencyNs.…`. */
  register(layer: LayerStats): void {
    for (const [index, kind] of jobOperations.entries()) this.kinds[index].register(layer, kind, () => this.elapsedNs);
    layer.gauge('short', () => this.short);
    layer.gauge('elapsedNs', () => this.elapsedNs);
  }
}

import { Histogram, type LayerStats, PercentileSeries, TimeSeries } from '@flashstack/sim';

/** Kinds of request that a replay tells apart; discards and write-zeroes count together. */
export const requestKinds: readonly RequestKind[] = ['read', 'write', 'flush', 'discard'];

/** One of {@link requestKinds}. */
export type RequestKind = 'read' | 'write' | 'flush' | 'discard';

/** What a replay counts, for one kind of request. */
export class RequestStats {
  /** Requests handed to the device. */
  issued = 0;
  /** Requests the device completed with success. */
  completed = 0;
  /** Requests the device completed with an error. */
  failed = 0;
  /** Bytes of the completed requests. */
  bytes = 0;
  /** From arrival to completion, in ns, of the completed requests. */
  readonly latencyNs: Histogram = new Histogram();
  /** Bytes completed over simulated time since the start of the replay. */
  readonly bytesOverTime: TimeSeries;
  /** Latencies over the time of completion, likewise. */
  readonly latencyOverTime: TimeSeries;
  /** Percentiles of the latencies over the time of completion. */
  readonly percentilesOverTime: PercentileSeries;

  constructor(seriesIntervalNs: number, seriesPoints: number) {
    this.bytesOverTime = new TimeSeries(seriesIntervalNs, seriesPoints);
    this.latencyOverTime = new TimeSeries(seriesIntervalNs, seriesPoints);
    this.percentilesOverTime = new PercentileSeries(seriesIntervalNs);
  }

  /** Registers everything under the name of a kind: `read.requests`, `.failed`, `.bytes`, `.iops` and so on. */
  register(layer: LayerStats, kind: string, elapsedNs: () => number): void {
    const perSecond = (amount: number): number => (elapsedNs() > 0 ? (amount / elapsedNs()) * 1e9 : 0);
    layer.gauge(`${kind}.requests`, () => this.completed + this.failed);
    layer.gauge(`${kind}.failed`, () => this.failed);
    layer.gauge(`${kind}.bytes`, () => this.bytes);
    layer.gauge(`${kind}.iops`, () => perSecond(this.completed));
    layer.gauge(`${kind}.bytesPerSecond`, () => perSecond(this.bytes));
    layer.histogram(`${kind}.latencyNs`, this.latencyNs);
    layer.series(`${kind}.bytes`, this.bytesOverTime);
    layer.series(`${kind}.latencyNs`, this.latencyOverTime);
  }

  /** Counts a request that has been completed with success. */
  succeeded(bytes: number, latencyNs: number): void {
    this.completed++;
    this.bytes += bytes;
    this.latencyNs.record(latencyNs);
  }

  /** Adds a request that has been completed with success to the series, `timeNs` after their start. */
  addToSeries(timeNs: number, bytes: number, latencyNs: number): void {
    this.latencyOverTime.add(timeNs, latencyNs);
    this.percentilesOverTime.add(timeNs, latencyNs);
    this.bytesOverTime.add(timeNs, bytes);
  }

  /** Starts counting again; what is in flight stays issued. Series go on. */
  reset(): void {
    this.issued -= this.completed + this.failed;
    this.completed = 0;
    this.failed = 0;
    this.bytes = 0;
    this.latencyNs.reset();
  }
}

/** What a replay counts in total. Times are simulated, in ns. */
export class ReplayStats {
  readonly read: RequestStats;
  readonly write: RequestStats;
  readonly flush: RequestStats;
  readonly discard: RequestStats;
  /** Passes over the source that have been issued to the end. */
  passes = 0;
  /** Most requests that were in flight at once. */
  maxInFlight = 0;
  /** Requests that did not start or end at a device block and were widened to whole blocks. */
  widened = 0;
  /** Open and think-time loops: operations whose recorded time lay before that of the one above them; they arrived together with it. */
  outOfOrder = 0;
  /** Open and think-time loops: requests issued later than they were due, because too many were in flight. */
  late = 0;
  /** Sum and maximum of how late those were. */
  lateNs = 0;
  maxLateNs = 0;
  /** When the replay began: the origin of the series. */
  startNs = 0;
  /** Start of counting: `startNs`, or the last `reset`. */
  sinceNs = 0;
  /** When the last request so far completed. */
  endNs = 0;
  /** The four kinds, in the order of {@link requestKinds}. */
  readonly kinds: readonly RequestStats[];

  constructor(seriesIntervalNs: number, seriesPoints: number) {
    this.read = new RequestStats(seriesIntervalNs, seriesPoints);
    this.write = new RequestStats(seriesIntervalNs, seriesPoints);
    this.flush = new RequestStats(seriesIntervalNs, seriesPoints);
    this.discard = new RequestStats(seriesIntervalNs, seriesPoints);
    this.kinds = [this.read, this.write, this.flush, this.discard];
  }

  /** Requests handed to the device, of all kinds. */
  get issued(): number {
    return this.read.issued + this.write.issued + this.flush.issued + this.discard.issued;
  }

  /** Requests completed with success, of all kinds. */
  get completed(): number {
    return this.read.completed + this.write.completed + this.flush.completed + this.discard.completed;
  }

  /** Requests completed with an error, of all kinds. */
  get failed(): number {
    return this.read.failed + this.write.failed + this.flush.failed + this.discard.failed;
  }

  /** From the start of counting to the last completion, in ns. */
  get elapsedNs(): number {
    return this.endNs - this.sinceNs;
  }

  /**
   * Starts counting again at `nowNs`, such as after a warm-up; what is in flight stays issued. Series go on, and
   * `passes` and `widened` count the whole replay.
   */
  reset(nowNs: number): void {
    for (const kind of this.kinds) kind.reset();
    this.maxInFlight = this.issued;
    this.outOfOrder = 0;
    this.late = 0;
    this.lateNs = 0;
    this.maxLateNs = 0;
    this.sinceNs = nowNs;
    this.endNs = nowNs;
  }

  /**
   * Registers everything under the usual names of a layer (`host`): for each kind `read.requests`, `.bytes`, `.failed`,
   * `.iops`, `.bytesPerSecond`, `.latencyNs.…`, and the totals.
   */
  register(layer: LayerStats): void {
    for (const [index, kind] of requestKinds.entries()) this.kinds[index].register(layer, kind, () => this.elapsedNs);
    layer.gauge('issued', () => this.issued);
    layer.gauge('completed', () => this.completed);
    layer.gauge('failed', () => this.failed);
    layer.gauge('elapsedNs', () => this.elapsedNs);
    layer.gauge('passes', () => this.passes);
    layer.gauge('maxInFlight', () => this.maxInFlight);
    layer.gauge('widened', () => this.widened);
    layer.gauge('outOfOrder', () => this.outOfOrder);
    layer.gauge('late.requests', () => this.late);
    layer.gauge('late.meanNs', () => (this.late > 0 ? this.lateNs / this.late : 0));
    layer.gauge('late.maxNs', () => this.maxLateNs);
  }
}

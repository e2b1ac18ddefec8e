/** A series in a result file; entry i covers [i × intervalNs, (i + 1) × intervalNs). */
export interface TimeSeriesRecord {
  readonly intervalNs: number;
  readonly count: readonly number[];
  readonly sum: readonly number[];
  readonly min: readonly (number | null)[];
  readonly max: readonly (number | null)[];
}

/**
 * Samples over simulated time in bounded memory: per interval the number, sum, minimum and maximum of its samples.
 * When time passes its last interval, neighbours are joined and the interval doubles, without loss of a sample.
 */
export class TimeSeries {
  /** Most intervals it holds; even. */
  readonly capacity: number;
  private interval: number;
  private used = 0;
  private readonly counts: Float64Array;
  private readonly sums: Float64Array;
  private readonly minima: Float64Array;
  private readonly maxima: Float64Array;

  /**
   * `intervalNs`: first width of an interval, default 1 ms; `capacity`: default 512.
   * @throws RangeError unless the interval is a positive integer and the capacity an even integer ≥ 2.
   */
  constructor(intervalNs = 1_000_000, capacity = 512) {
    if (!Number.isSafeInteger(intervalNs) || intervalNs < 1) {
      throw new RangeError(`time series: intervalNs must be an integer ≥ 1, found ${intervalNs}`);
    }
    if (!Number.isSafeInteger(capacity) || capacity < 2 || capacity % 2 !== 0) {
      throw new RangeError(`time series: capacity must be an even integer ≥ 2, found ${capacity}`);
    }
    this.capacity = capacity;
    this.interval = intervalNs;
    this.counts = new Float64Array(capacity);
    this.sums = new Float64Array(capacity);
    this.minima = new Float64Array(capacity).fill(Number.POSITIVE_INFINITY);
    this.maxima = new Float64Array(capacity).fill(Number.NEGATIVE_INFINITY);
  }

  /** Present width of an interval, ns. */
  get intervalNs(): number {
    return this.interval;
  }

  /** Number of intervals up to the last one that has a sample. */
  get length(): number {
    return this.used;
  }

  /** Adds a sample. Times may come in any order. @throws RangeError for a negative or missing time. */
  add(timeNs: number, value: number): void {
    if (!(timeNs >= 0 && timeNs <= Number.MAX_SAFE_INTEGER)) {
      throw new RangeError(`time series: time must be from 0 to 2^53 − 1 ns, found ${timeNs}`);
    }
    let at = Math.floor(timeNs / this.interval);
    while (at >= this.capacity) {
      this.halve();
      at = Math.floor(timeNs / this.interval);
    }
    this.counts[at] += 1;
    this.sums[at] += value;
    if (value < this.minima[at]) this.minima[at] = value;
    if (value > this.maxima[at]) this.maxima[at] = value;
    if (at >= this.used) this.used = at + 1;
  }

  /** Plain data for a result file; intervals without a sample have null as minimum and maximum. */
  toRecord(): TimeSeriesRecord {
    const { counts, used } = this;
    const orNull = (values: Float64Array): (number | null)[] =>
      Array.from(values.subarray(0, used), (value, at) => (counts[at] === 0 ? null : value));
    return {
      intervalNs: this.interval,
      count: Array.from(counts.subarray(0, used)),
      sum: Array.from(this.sums.subarray(0, used)),
      min: orNull(this.minima),
      max: orNull(this.maxima),
    };
  }

  private halve(): void {
    const { counts, sums, minima, maxima, capacity } = this;
    const half = capacity / 2;
    for (let at = 0; at < half; at++) {
      const left = 2 * at;
      counts[at] = counts[left] + counts[left + 1];
      sums[at] = sums[left] + sums[left + 1];
      minima[at] = Math.min(minima[left], minima[left + 1]);
      maxima[at] = Math.max(maxima[left], maxima[left + 1]);
    }
    counts.fill(0, half);
    sums.fill(0, half);
    minima.fill(Number.POSITIVE_INFINITY, half);
    maxima.fill(Number.NEGATIVE_INFINITY, half);
    this.interval *= 2;
    this.used = Math.ceil(this.used / 2);
  }
}

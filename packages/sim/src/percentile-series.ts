import type { TimeSeriesRecord } from './time-series.js';

/** Steps per power of two: a percentile is known to 1/32 of itself. */
const STEP_BITS = 5;
const STEPS = 1 << STEP_BITS;
/** Values from 2^48 ns (three days) on share the last bucket. */
const BUCKETS = (48 - STEP_BITS + 1) << STEP_BITS;

/**
 * Percentiles of values over simulated time in bounded memory: a coarse histogram per window. When time passes its last
 * window, neighbours are joined and the windows get twice as wide, as in a `TimeSeries`.
 */
export class PercentileSeries {
  /** Most windows it holds; even. */
  readonly capacity: number;
  private interval: number;
  private used = 0;
  private readonly counts: Uint32Array;

  /**
   * `intervalNs`: first width of a window, default 1 ms; `capacity`: default 120.
   * @throws RangeError unless the width is a positive integer and the capacity an even integer ≥ 2.
   */
  constructor(intervalNs = 1_000_000, capacity = 120) {
    if (!Number.isSafeInteger(intervalNs) || intervalNs < 1) {
      throw new RangeError(`percentile series: intervalNs must be an integer ≥ 1, found ${intervalNs}`);
    }
    if (!Number.isSafeInteger(capacity) || capacity < 2 || capacity % 2 !== 0) {
      throw new RangeError(`percentile series: capacity must be an even integer ≥ 2, found ${capacity}`);
    }
    this.capacity = capacity;
    this.interval = intervalNs;
    this.counts = new Uint32Array(capacity * BUCKETS);
  }

  /** Present width of a window, ns. */
  get intervalNs(): number {
    return this.interval;
  }

  /** Counts a value, an integer ≥ 0, at a time ≥ 0. Times may come in any order. */
  add(timeNs: number, value: number): void {
    let at = Math.floor(timeNs / this.interval);
    while (at >= this.capacity) {
      this.join();
      at = Math.floor(timeNs / this.interval);
    }
    this.counts[at * BUCKETS + bucketOf(value)]++;
    if (at >= this.used) this.used = at + 1;
  }

  /**
   * One percentile (nearest rank) of every window as a series of one sample per window, none for a window without
   * values. With few values a high percentile is the largest of them.
   * @throws RangeError unless 0 < percent < 100.
   */
  toRecord(percent: number): TimeSeriesRecord {
    if (!(percent > 0 && percent < 100)) throw new RangeError(`percent must be between 0 and 100, found ${percent}`);
    const values = Array.from({ length: this.used }, (_, at) => this.percentile(at, percent));
    return {
      intervalNs: this.interval,
      count: values.map((value) => (value === null ? 0 : 1)),
      sum: values.map((value) => value ?? 0),
      min: values,
      max: values,
    };
  }

  private percentile(window: number, percent: number): number | null {
    const row = this.counts.subarray(window * BUCKETS, (window + 1) * BUCKETS);
    let total = 0;
    for (const count of row) total += count;
    // In units of 1/1000 %, so that "99.9 % of 1,000" is exact.
    const beyond = total * (100_000 - Math.round(percent * 1000));
    if (total === 0) return null;
    const wanted = Math.ceil(total - beyond / 100_000);
    let seen = 0;
    let bucket = 0;
    for (; seen < wanted; bucket++) seen += row[bucket];
    return endOf(bucket - 1);
  }

  private join(): void {
    const { counts, capacity } = this;
    const half = capacity / 2;
    for (let at = 0; at < half; at++) {
      const to = at * BUCKETS;
      const from = 2 * to;
      for (let bucket = 0; bucket < BUCKETS; bucket++) {
        counts[to + bucket] = counts[from + bucket] + counts[from + BUCKETS + bucket];
      }
    }
    counts.fill(0, half * BUCKETS);
    this.interval *= 2;
    this.used = Math.ceil(this.used / 2);
  }
}

function bucketOf(value: number): number {
  if (value < STEPS) return value;
  let rest = value;
  let octave = 0;
  if (rest >= 0x8000_0000) {
    // 26 octaves up in one step keeps the rest of the arithmetic in 32 bits.
    rest = Math.floor(rest / 0x400_0000);
    octave = 26;
  }
  const bits = 31 - Math.clz32(rest) - STEP_BITS;
  const bucket = ((octave + bits + 1) << STEP_BITS) + ((rest >>> bits) & (STEPS - 1));
  return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

/** Largest value of a bucket. */
function endOf(bucket: number): number {
  if (bucket < STEPS) return bucket;
  const octave = (bucket >>> STEP_BITS) - 1;
  return ((bucket & (STEPS - 1)) + STEPS + 1) * 2 ** octave - 1;
}

/** Linear steps per power of two: a value is known to 1/128 of itself (0.8 %); below 256 it is exact. */
const STEPS = 128;
const STEP_BITS = 7;
const TWO_32 = 0x1_0000_0000;
/** The sum is kept in two parts so that it stays exact: low < 2^52. */
const SUM_PART = 0x10_0000_0000_0000;

/** A histogram in a result file. `buckets` holds pairs of (buckets skipped since the last pair, count). */
export interface HistogramRecord {
  readonly count: number;
  /** Exact sum as high × 2^52 + low. */
  readonly sumHigh: number;
  readonly sumLow: number;
  readonly min: number;
  readonly max: number;
  readonly buckets: readonly number[];
}

/**
 * Counts of integers from 0 to 2^53 − 1 (latencies in ns, sizes in bytes) in log-linear buckets, as HdrHistogram does
 * with two significant digits: percentiles are at most 1/128 above the true value; count, sum, minimum and maximum are
 * exact. Two histograms merge without loss.
 */
export class Histogram {
  private counts: Float64Array = new Float64Array(STEPS * 8);
  private readonly total: Float64Array = new Float64Array(5);

  constructor() {
    this.reset();
  }

  /** Forgets everything. */
  reset(): void {
    this.counts.fill(0);
    this.total.set([0, 0, 0, Number.POSITIVE_INFINITY, -1]);
  }

  /** Counts one value. @throws RangeError unless it is an integer from 0 to 2^53 − 1. */
  record(value: number): void {
    this.recordMany(value, 1);
  }

  /** Counts a value `times` times. @throws RangeError unless both are integers from 0 to 2^53 − 1. */
  recordMany(value: number, times: number): void {
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER) || Math.floor(value) !== value) {
      throw new RangeError(`histogram values are integers from 0 to 2^53 − 1, found ${value}`);
    }
    if (times !== 1) {
      if (!Number.isSafeInteger(times) || times < 0)
        throw new RangeError(`times must be an integer ≥ 0, found ${times}`);
      if (times === 0) return;
    }
    const bucket = bucketOf(value);
    if (bucket >= this.counts.length) this.grow(bucket);
    this.counts[bucket] += times;
    const total = this.total;
    total[0] += times;
    if (times === 1) this.addSum(0, value);
    else this.addProduct(value, times);
    if (value < total[3]) total[3] = value;
    if (value > total[4]) total[4] = value;
  }

  /** Number of values. */
  get count(): number {
    return this.total[0];
  }

  /** Smallest value, 0 if there is none. */
  get min(): number {
    return this.count === 0 ? 0 : this.total[3];
  }

  /** Largest value, 0 if there is none. */
  get max(): number {
    return this.count === 0 ? 0 : this.total[4];
  }

  /** Sum of all values (exact up to 2^53, then rounded once). */
  get sum(): number {
    return this.total[1] * SUM_PART + this.total[2];
  }

  /** Arithmetic mean, 0 if there is no value. */
  get mean(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }

  /**
   * The smallest bucket's upper end that at least `percent` % of the values do not exceed, never above `max`; 0 if there
   * is no value.
   * @throws RangeError unless 0 ≤ percent ≤ 100.
   */
  percentile(percent: number): number {
    if (!(percent >= 0 && percent <= 100)) throw new RangeError(`percent must be from 0 to 100, found ${percent}`);
    if (this.count === 0) return 0;
    const wanted = rankOf(percent, this.count);
    let seen = 0;
    for (let bucket = 0; bucket < this.counts.length; bucket++) {
      seen += this.counts[bucket];
      if (seen >= wanted) return Math.min(bucketEnd(bucket), this.max);
    }
    throw new Error(`histogram is inconsistent: ${seen} values in buckets, ${this.count} counted`);
  }

  /** Adds the values of another histogram. */
  merge(other: Histogram): void {
    const from = other.counts;
    if (from.length > this.counts.length) this.grow(from.length - 1);
    for (let bucket = 0; bucket < from.length; bucket++) this.counts[bucket] += from[bucket];
    this.total[0] += other.total[0];
    this.addSum(other.total[1], other.total[2]);
    this.total[3] = Math.min(this.total[3], other.total[3]);
    this.total[4] = Math.max(this.total[4], other.total[4]);
  }

  /** Calls `visit` for every bucket that is not empty, in ascending order: the values it stands for, and their number. */
  forEach(visit: (from: number, to: number, count: number) => void): void {
    for (let bucket = 0; bucket < this.counts.length; bucket++) {
      if (this.counts[bucket] > 0) visit(bucketStart(bucket), bucketEnd(bucket), this.counts[bucket]);
    }
  }

  /** Plain data for a result file: only the buckets that are not empty. */
  toRecord(): HistogramRecord {
    const buckets: number[] = [];
    let next = 0;
    for (let bucket = 0; bucket < this.counts.length; bucket++) {
      if (this.counts[bucket] === 0) continue;
      buckets.push(bucket - next, this.counts[bucket]);
      next = bucket + 1;
    }
    return { count: this.count, sumHigh: this.total[1], sumLow: this.total[2], min: this.min, max: this.max, buckets };
  }

  /** The histogram of a record. @throws RangeError if the record contradicts itself. */
  static fromRecord(record: HistogramRecord): Histogram {
    const histogram = new Histogram();
    let bucket = 0;
    let count = 0;
    for (let at = 0; at + 1 < record.buckets.length; at += 2) {
      bucket += record.buckets[at];
      const here = record.buckets[at + 1];
      if (!(bucket >= 0 && bucket <= bucketOf(Number.MAX_SAFE_INTEGER)) || !Number.isSafeInteger(here) || here < 1) {
        throw new RangeError(`histogram record: bad bucket ${bucket} with count ${here}`);
      }
      if (bucket >= histogram.counts.length) histogram.grow(bucket);
      histogram.counts[bucket] = here;
      count += here;
      bucket++;
    }
    if (count !== record.count || record.buckets.length % 2 !== 0) {
      throw new RangeError(`histogram record: buckets hold ${count} values, but count says ${record.count}`);
    }
    if (count > 0) histogram.total.set([count, record.sumHigh, record.sumLow, record.min, record.max]);
    return histogram;
  }

  private addSum(high: number, low: number): void {
    const total = this.total;
    // Both parts are below 2^53, but their sum need not be: subtract before adding.
    let rest = low;
    total[1] += high;
    if (rest >= SUM_PART) {
      rest -= SUM_PART;
      total[1] += 1;
    }
    if (total[2] >= SUM_PART - rest) {
      total[2] -= SUM_PART - rest;
      total[1] += 1;
    } else {
      total[2] += rest;
    }
  }

  /** Adds value × times exactly, by doubling; rare, so it may take fifty steps. */
  private addProduct(value: number, times: number): void {
    let high = 0;
    let low = value;
    for (let rest = times; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) this.addSum(high, low);
      if (low >= SUM_PART) {
        low -= SUM_PART;
        high += 1;
      }
      high *= 2;
      low *= 2;
    }
  }

  private grow(bucket: number): void {
    const counts = new Float64Array((Math.floor(bucket / STEPS) + 4) * STEPS);
    counts.set(this.counts);
    this.counts = counts;
  }
}

/** Least number of values that make up `percent` % of `count`; a rounding error must not demand one more. */
function rankOf(percent: number, count: number): number {
  const exact = (percent / 100) * count;
  const nearest = Math.round(exact);
  const rank = Math.abs(exact - nearest) <= exact * 1e-15 ? nearest : Math.ceil(exact);
  return Math.max(1, Math.min(rank, count));
}

function bucketOf(value: number): number {
  const leading = value < TWO_32 ? 31 - Math.clz32(value) : 63 - Math.clz32(value / TWO_32);
  if (leading <= STEP_BITS) return value;
  const shift = leading - STEP_BITS;
  // value / 2^shift lies in [128, 256): each octave after the exact part adds 128 buckets.
  const step = value < TWO_32 ? value >>> shift : Math.floor(value / 2 ** shift);
  return shift * STEPS + step;
}

function bucketStart(bucket: number): number {
  if (bucket < 2 * STEPS) return bucket;
  const shift = Math.floor(bucket / STEPS) - 1;
  return (bucket - shift * STEPS) * 2 ** shift;
}

function bucketEnd(bucket: number): number {
  return bucket < 2 * STEPS ? bucket : bucketStart(bucket + 1) - 1;
}

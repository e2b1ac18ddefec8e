import type { TimeSeriesRecord } from '@flashstack/sim';

/** Values per window of simulated time; NaN where there is none. */
export interface Windows {
  readonly intervalNs: number;
  readonly values: readonly number[];
}

/** Sum of each window per second of the time it covers: the last one ends with the run. */
export function ratePerSecond(series: TimeSeriesRecord, elapsedNs: number): Windows {
  const { intervalNs } = series;
  const length = Math.max(series.sum.length, Math.ceil(elapsedNs / intervalNs));
  const values = Array.from({ length }, (_, at) => {
    const covered = Math.min(intervalNs, elapsedNs - at * intervalNs);
    return covered <= 0 ? Number.NaN : (series.sum[at] ?? 0) / (covered / 1e9);
  });
  // A sliver of a window at the end says nothing about a rate.
  const rest = elapsedNs - (length - 1) * intervalNs;
  if (length > 2 && rest < intervalNs / 2) values.pop();
  return { intervalNs, values };
}

/** Mean of the samples of each window. */
export function means(series: TimeSeriesRecord): Windows {
  const values = series.count.map((count, at) => (count === 0 ? Number.NaN : series.sum[at] / count));
  return { intervalNs: series.intervalNs, values };
}

/** Smallest sample of each window. */
export function minima(series: TimeSeriesRecord): Windows {
  return { intervalNs: series.intervalNs, values: series.min.map((value) => value ?? Number.NaN) };
}

/** Joins windows so that at most so many remain: sums of the series' samples. */
export function joined(
  series: TimeSeriesRecord,
  most: number,
): { intervalNs: number; sums: number[]; counts: number[] } {
  const by = Math.max(1, Math.ceil(series.sum.length / most));
  const length = Math.ceil(series.sum.length / by);
  const sums = new Array<number>(length).fill(0);
  const counts = new Array<number>(length).fill(0);
  for (const [at, sum] of series.sum.entries()) {
    sums[Math.floor(at / by)] += sum;
    counts[Math.floor(at / by)] += series.count[at];
  }
  return { intervalNs: series.intervalNs * by, sums, counts };
}

/** Windows as points at their middles; gaps stay gaps unless `bridge`d. */
export function pointsOf(windows: Windows, bridge: boolean): [x: number, y: number][] {
  const points = windows.values.map((value, at): [number, number] => [(at + 0.5) * windows.intervalNs, value]);
  return bridge ? points.filter(([, y]) => Number.isFinite(y)) : points;
}

/** Mean of the windows within a span of time, NaN if there is none. */
export function meanBetween(windows: Windows, fromNs: number, toNs: number): number {
  let sum = 0;
  let count = 0;
  for (const [at, value] of windows.values.entries()) {
    const middle = (at + 0.5) * windows.intervalNs;
    if (middle < fromNs || middle >= toNs || !Number.isFinite(value)) continue;
    sum += value;
    count++;
  }
  return count === 0 ? Number.NaN : sum / count;
}

/** Largest of the windows' values, 0 if there is none. */
export function largest(...all: readonly Windows[]): number {
  let most = 0;
  for (const { values } of all) for (const value of values) if (value > most) most = value;
  return most;
}

/** Joins neighbouring windows by their mean so that at most so many remain. */
export function thinned(windows: Windows, most: number): Windows {
  const by = Math.max(1, Math.ceil(windows.values.length / most));
  if (by === 1) return windows;
  const values: number[] = [];
  for (let at = 0; at < windows.values.length; at += by) {
    const part = windows.values.slice(at, at + by).filter(Number.isFinite);
    values.push(part.length === 0 ? Number.NaN : part.reduce((sum, value) => sum + value, 0) / part.length);
  }
  return { intervalNs: windows.intervalNs * by, values };
}

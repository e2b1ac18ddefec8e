import { Histogram } from '@flashstack/sim';
import type { Table, TableRow } from '../figure.js';
import { count, latencyUnit, significant } from '../numbers.js';
import type { RunView } from '../view.js';

/** Calls beyond a percentile for it to be told. */
const LEAST_BEYOND = 10;
/** Whose latencies are told, in this order: kinds of calls, phases of iozone, and calls of a trace by name. */
const LAYERS: readonly { readonly layer: string; readonly heading: string }[] = [
  { layer: 'calls', heading: 'By kind' },
  { layer: 'iozone', heading: 'By phase of iozone' },
  { layer: 'trace', heading: 'By call of the trace' },
];
const COLUMNS: readonly { readonly head: string; readonly beyond: number }[] = [
  { head: 'p50', beyond: 0.5 },
  { head: 'p99', beyond: 0.01 },
  { head: 'p99.9', beyond: 0.001 },
];

interface Told {
  readonly name: string;
  readonly latencies: Histogram;
  readonly bytesPerSecond: number;
}

/** How long calls of programs took, by kind, by phase of iozone and by name; null without any. */
export function callsTable(view: RunView): Table | null {
  const groups = LAYERS.map(({ layer, heading }) => ({ heading, told: toldOf(view, layer) })).filter(
    ({ told }) => told.length > 0,
  );
  if (groups.length === 0) return null;
  const { unit, ns } = latencyUnit(
    Math.max(...groups.flatMap(({ told }) => told.map(({ latencies }) => latencies.max))),
  );
  const rows = groups.flatMap(({ heading, told }): TableRow[] => [
    ...(groups.length > 1 ? [{ group: heading }] : []),
    ...told.map(({ name, latencies, bytesPerSecond }) => [
      name,
      count(latencies.count),
      significant(bytesPerSecond / 1e6),
      ...COLUMNS.map(({ beyond }) => {
        const known = latencies.count * beyond >= LEAST_BEYOND;
        return significant(known ? latencies.percentile(100 * (1 - beyond)) / ns : Number.NaN);
      }),
      significant(latencies.max / ns),
    ]),
  ]);
  const heads = [...COLUMNS.map(({ head }) => head), 'max'].map((head) => `${head}, ${unit}`);
  return { head: ['', 'calls', 'MB/s', ...heads], rows, numeric: [1, 2, 3, 4, 5, 6] };
}

function toldOf(view: RunView, layer: string): Told[] {
  const prefix = `${layer}.`;
  return Object.entries(view.result.histograms).flatMap(([key, record]) => {
    if (!key.startsWith(prefix) || !key.endsWith('.latencyNs') || record.count === 0) return [];
    const name = key.slice(prefix.length, -'.latencyNs'.length);
    const kilobytes = view.metric(`${layer}.${name}.kilobytesPerSecond`) * 1024;
    const bytesPerSecond = view.metric(`${layer}.${name}.bytesPerSecond`, kilobytes);
    return [{ name, latencies: Histogram.fromRecord(record), bytesPerSecond }];
  });
}

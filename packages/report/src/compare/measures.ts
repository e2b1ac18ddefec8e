import { bytes, count, duration, megabytesPerSecond, significant, UNKNOWN } from '../numbers.js';
import type { RunView } from '../view.js';
import type { Group } from './groups.js';

/** A quantity that runs are compared by. */
export interface Measure {
  readonly name: string;
  /** Of the table's row; empty if the value carries it. */
  readonly unit: string;
  readonly better: 'more' | 'less';
  readonly value: (view: RunView) => number;
  readonly text: (value: number) => string;
  /** The value with its unit, for sentences. */
  readonly spoken: (value: number) => string;
  readonly layer: 'Host' | 'Drive';
}

const micro = (ns: number): string => significant(ns / 1e3);

function latency(kind: 'read' | 'write', label: string, beyond: number): Measure {
  return {
    name: `${kind} ${label}`,
    unit: 'µs',
    better: 'less',
    value: (view) => view.percentile(kind, beyond, view.seen),
    text: micro,
    spoken: duration,
    layer: 'Host',
  };
}

/** The quantities of a comparison, most telling first; throughput and latencies are those of calls where there are programs. */
export const measures: readonly Measure[] = [
  {
    name: 'throughput',
    unit: 'MB/s',
    better: 'more',
    value: (view) => view.bytesPerSecond(view.seen) || Number.NaN,
    text: megabytesPerSecond,
    spoken: (rate) => `${megabytesPerSecond(rate)}\u00a0MB/s`,
    layer: 'Host',
  },
  latency('write', 'p50', 0.5),
  latency('write', 'p99', 0.01),
  latency('write', 'p99.9', 0.001),
  latency('read', 'p50', 0.5),
  latency('read', 'p99', 0.01),
  {
    name: 'write amplification',
    unit: '',
    better: 'less',
    value: (view) => view.writeAmplification,
    text: significant,
    spoken: significant,
    layer: 'Drive',
  },
  {
    name: 'flash programmed',
    unit: 'MiB',
    better: 'less',
    value: (view) => programmedBytes(view) || Number.NaN,
    text: (value) => significant(value / 2 ** 20),
    spoken: bytes,
    layer: 'Drive',
  },
  {
    name: 'erases',
    unit: '',
    better: 'less',
    value: (view) => view.metric('nand.erases') || Number.NaN,
    text: count,
    spoken: count,
    layer: 'Drive',
  },
  {
    name: 'mapping table',
    unit: 'KiB',
    better: 'less',
    value: (view) => view.metric('ftl.map.bytes'),
    text: (value) => significant(value / 2 ** 10),
    spoken: bytes,
    layer: 'Drive',
  },
];

/** Bytes that the run programmed, by all causes. */
function programmedBytes(view: RunView): number {
  const slots = view.programs.reduce((sum, part) => sum + part.value, 0);
  return slots * view.result.spec.device.nand.geometry.slotBytes;
}

/** A quantity over the seeds of a group. */
export interface Spread {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  readonly seeds: number;
}

/** Mean, least and most over the seeds; null where a seed lacks the quantity or nobody ran. */
export function spreadOf(group: Group | null, measure: Measure): Spread | null {
  if (group === null) return null;
  const values = group.views.map(measure.value);
  if (values.some((value) => !Number.isFinite(value))) return null;
  return {
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    low: Math.min(...values),
    high: Math.max(...values),
    seeds: values.length,
  };
}

/** How one group stands to another. */
export type Verdict = 'better' | 'worse' | 'same' | 'equal';

/** Below this difference two deterministic runs are called the same. */
const NOISE = 0.005;

/** Judges a quantity against the baseline's. Ranges of seeds that overlap are no difference. */
export function judge(base: Spread, other: Spread, measure: Measure): Verdict {
  if (other.mean === base.mean) return 'equal';
  if (other.low <= base.high && other.high >= base.low) return 'same';
  if (Math.abs(other.mean / base.mean - 1) < NOISE) return 'same';
  return other.mean > base.mean === (measure.better === 'more') ? 'better' : 'worse';
}

/** Symbols and classes of verdicts. The symbol tells the judgement, the sign of a change its direction. */
export const verdictMarks: Readonly<Record<Verdict, { readonly symbol: string; readonly style: string }>> = {
  better: { symbol: '▲', style: 'up' },
  worse: { symbol: '▼', style: 'down' },
  same: { symbol: '≈', style: 'same' },
  equal: { symbol: '=', style: 'same' },
};

/** A ratio as × 2.38, and below 1 as ÷ 2.38: as far from the baseline to the eye as on the logarithmic axis. */
export function ratioText(ratio: number): string {
  if (!Number.isFinite(ratio) || ratio <= 0) return UNKNOWN;
  return ratio < 1 ? `÷\u00a0${significant(1 / ratio)}` : `×\u00a0${significant(ratio)}`;
}

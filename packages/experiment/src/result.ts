import type { HistogramRecord, TimeSeriesRecord } from '@flashstack/sim';
import type { Analysis } from './analysis.js';
import type { HeatmapRecord } from './busy-map.js';
import type { DistributionRecord } from './distributions.js';
import type { ResolvedSpec } from './spec.js';
import type { WarmupRecord } from './warm-up.js';
import type { WritePart } from './write-flow.js';

/** Name and version of the format of results. */
export const RESULT_SCHEMA = 'flashstack.result/1';

/** How a run ended before its end. */
export interface Partial {
  /** Simulated time, ns, and requests done until then. */
  readonly atNs: number;
  readonly requests: number;
  /** Requests of the whole workload, −1 if unknown. */
  readonly of: number;
}

/** Everything about one run, as plain data: reports and comparisons need nothing else. */
export interface ExperimentResult {
  readonly schema: typeof RESULT_SCHEMA;
  readonly spec: ResolvedSpec;
  /** SHA-256 of the spec as canonical JSON. */
  readonly specHash: string;
  readonly seed: number;
  /** Versions of what made the result, as the environment names them. */
  readonly versions: Readonly<Record<string, string>>;
  /** Null: the run was complete. */
  readonly partial: Partial | null;
  /** How the drive was brought into its state: not at all, from the stationary distribution, or by writing. */
  readonly preconditioned: 'none' | 'analytic' | 'written';
  /** What was left out of metrics, histograms and distributions at the start; null: nothing. Series are of the whole run. */
  readonly warmup: WarmupRecord | null;
  /** Numbers by `layer.metric`. The `run.` group depends on the machine and is absent without a clock. */
  readonly metrics: Readonly<Record<string, number>>;
  readonly histograms: Readonly<Record<string, HistogramRecord>>;
  readonly series: Readonly<Record<string, TimeSeriesRecord>>;
  /** `nand.busy` with a row for each die, `channel.busy` with one for each channel. */
  readonly heatmaps: Readonly<Record<string, HeatmapRecord>>;
  /** `ftl.victimValid`, `ftl.blockValid`, `nand.eraseCount`. */
  readonly distributions: Readonly<Record<string, DistributionRecord>>;
  /** Bytes written at each layer, from the top, by cause and origin, without those of the warm-up. */
  readonly writeFlow: readonly WritePart[];
  /** Why the run was as fast as it was. */
  readonly analysis: Analysis;
}

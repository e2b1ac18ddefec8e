import type { DistributionRecord, ExperimentResult, HeatmapRecord, WritePart } from '@flashstack/experiment';
import { Histogram, type TimeSeriesRecord } from '@flashstack/sim';
import { type HostKind, hostKinds, phaseNames } from '@flashstack/ssd';
import { causeSwatches, schemeCauses, type Token } from './tokens.js';

/** Fewest requests beyond a percentile for it to be told. */
const BEYOND = 10;

/** Percentiles that reports show, with the share of requests beyond them. */
export const percentiles: readonly { readonly key: string; readonly label: string; readonly beyond: number }[] = [
  { key: 'p50', label: 'p50', beyond: 0.5 },
  { key: 'p90', label: 'p90', beyond: 0.1 },
  { key: 'p99', label: 'p99', beyond: 0.01 },
  { key: 'p999', label: 'p99.9', beyond: 0.001 },
  { key: 'p9999', label: 'p99.99', beyond: 0.0001 },
];

/** How lines of a kind of request are drawn. */
export const kindStyles: Readonly<Record<HostKind, { readonly token: Token; readonly dash?: string }>> = {
  read: { token: 'read' },
  write: { token: 'write' },
  flush: { token: 'ink', dash: '6 4' },
  discard: { token: 'faint', dash: '1.5 4' },
};

/** A part of a stack. */
export interface Part {
  readonly name: string;
  readonly value: number;
}

/** Parts of a result that those of earlier versions lack. */
type LaterParts = Partial<Pick<ExperimentResult, 'heatmaps' | 'distributions' | 'warmup' | 'writeFlow'>>;

/** One result, and what reports read from it. */
export class RunView {
  readonly result: ExperimentResult;
  /** Kinds of request that occurred. */
  readonly kinds: readonly HostKind[];
  /** Simulated time that metrics cover, ns. */
  readonly elapsedNs: number;
  /** Simulated time that was left out of the metrics at the start, ns. Series and heat maps cover it. */
  readonly warmupNs: number;
  private readonly later: LaterParts;

  constructor(result: ExperimentResult) {
    this.result = result;
    this.kinds = hostKinds.filter((kind) => this.metric(`host.${kind}.requests`, 0) > 0);
    this.elapsedNs = this.metric('host.elapsedNs', this.metric('sim.elapsedNs', 0));
    this.later = result;
    this.warmupNs = this.later.warmup?.untilNs ?? 0;
  }

  /** Simulated time of the whole run, ns. */
  get spanNs(): number {
    return this.warmupNs + this.elapsedNs;
  }

  /** A metric, or what stands for it where the result lacks it (NaN unless told otherwise). */
  metric(name: string, otherwise: number = Number.NaN): number {
    const value = this.result.metrics[name];
    return value === undefined ? otherwise : value;
  }

  /** A series with samples, or null. */
  series(name: string): TimeSeriesRecord | null {
    const series = this.result.series[name];
    return series === undefined || series.count.length === 0 ? null : series;
  }

  /** A heat map with cells, or null. */
  heatmap(name: string): HeatmapRecord | null {
    const map = this.later.heatmaps?.[name];
    return map === undefined || map.columns === 0 || map.rows.length === 0 ? null : map;
  }

  /** A distribution of at least one value, or null. */
  distribution(name: string): DistributionRecord | null {
    const distribution = this.later.distributions?.[name];
    return distribution === undefined || !distribution.counts.some((value) => value > 0) ? null : distribution;
  }

  /** Bytes written at each layer; empty if the result does not tell. */
  get writeFlow(): readonly WritePart[] {
    return this.later.writeFlow ?? [];
  }

  /** Where what a user waits for is measured: at the calls of programs, or without a system at the requests to the drive. */
  get seen(): 'calls' | 'host' {
    return this.result.spec.system === undefined ? 'host' : 'calls';
  }

  /** Latencies of a kind, or null where there is none. */
  latencies(kind: HostKind, layer: 'calls' | 'host' = 'host'): Histogram | null {
    const record = this.result.histograms[`${layer}.${kind}.latencyNs`];
    return record === undefined || record.count === 0 ? null : Histogram.fromRecord(record);
  }

  /** A percentile of the latency of a kind, ns; NaN with fewer than ten samples beyond it. */
  percentile(kind: HostKind, beyond: number, layer: 'calls' | 'host' = 'host'): number {
    const histogram = this.latencies(kind, layer);
    if (histogram === null || histogram.count * beyond < BEYOND) return Number.NaN;
    return histogram.percentile(100 * (1 - beyond));
  }

  /** Bytes per second of reads and writes together. */
  bytesPerSecond(layer: 'calls' | 'host' = 'host'): number {
    return this.metric(`${layer}.read.bytesPerSecond`, 0) + this.metric(`${layer}.write.bytesPerSecond`, 0);
  }

  /** Slots programmed by cause, in the order in which they are stacked; all causes that every drive has, also those of none. */
  get programs(): Part[] {
    const slots = new Map<string, number>(this.result.analysis.programs.map((part) => [part.cause, part.slots]));
    const known = Object.keys(causeSwatches).filter((name) => slots.has(name) || !schemeCauses.includes(name));
    const names = [...new Set([...known, ...slots.keys()])];
    return names.map((name) => ({ name, value: slots.get(name) ?? 0 }));
  }

  /** Write amplification as its causes add up, what waits for its program unit included; NaN if nothing was written. */
  get writeAmplification(): number {
    const programs = this.programs;
    const host = programs.find((part) => part.name === 'host')?.value ?? 0;
    return host === 0 ? Number.NaN : programs.reduce((sum, part) => sum + part.value, 0) / host;
  }

  /**
   * Phases of the requests of a kind: `group` is empty for the mean of all, or `p50`, `p99`, `p999`, `slowest`. Null
   * where the result does not tell.
   */
  phases(kind: HostKind, group: string): Part[] | null {
    const prefix = `ssd.${kind}.${group === '' ? '' : `${group}.`}phaseNs.`;
    const parts = phaseNames.map((name) => ({ name, value: this.metric(prefix + name) }));
    const known = parts.filter((part) => Number.isFinite(part.value));
    return known.length === 0 || known.every((part) => part.value === 0) ? null : known;
  }

  /** Simulated time at which garbage collection began, ns, or null. */
  get gcStartNs(): number | null {
    return this.result.analysis.gc.startedNs;
  }

  /** Name of the workload. */
  get workload(): string {
    const { workload } = this.result.spec;
    return 'name' in workload ? workload.name : workload.kind;
  }

  /** Name of the policy that chooses victims. */
  get victim(): string {
    const { victim = 'greedy' } = this.result.spec.device.ftl;
    if (typeof victim === 'string') return victim;
    return 'name' in victim ? victim.name : 'own';
  }

  /** Name of the drive. */
  get device(): string {
    return this.result.spec.device.name;
  }
}

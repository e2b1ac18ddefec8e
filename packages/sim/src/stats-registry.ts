import { SimulationError } from './errors.js';
import type { Histogram } from './histogram.js';
import type { TimeSeries } from './time-series.js';

/** Reads one number at the moment a result is made. */
export type Gauge = () => number;

const NAME = /^[a-z][A-Za-z0-9]*(\.[A-Za-z0-9]+)*$/;

/**
 * Where each layer registers its statistics once, by name: `layer.metric`. It reads them when a result is made, so that
 * counting costs a layer no more than adding to its own field.
 */
export class StatsRegistry {
  private readonly gauges: Map<string, Gauge> = new Map();
  private readonly histogramsByName: Map<string, Histogram> = new Map();
  private readonly seriesByName: Map<string, TimeSeries> = new Map();
  /** Calls of `read` so far. */
  private readings = 0;

  /** The part of the registry whose names begin with `name.`. */
  layer(name: string): LayerStats {
    return new LayerStats(this, name);
  }

  /** Registers a number under a full name. @throws SimulationError `ERR_STATS_NAME` if it is taken or malformed. */
  gauge(name: string, read: Gauge): void {
    if (!NAME.test(name))
      throw new SimulationError('ERR_STATS_NAME', `"${name}" is no name of a metric: use layer.metric`);
    if (this.gauges.has(name)) throw new SimulationError('ERR_STATS_NAME', `metric "${name}" is registered twice`);
    this.gauges.set(name, read);
  }

  /**
   * Registers `fields` of what `compute` returns as `name.field`; truth values count as 1 and 0. It is called once for each
   * reading, however many fields there are. @throws SimulationError `ERR_STATS_NAME` as `gauge`.
   */
  group<K extends string>(name: string, fields: readonly K[], compute: () => Readonly<Record<K, unknown>>): void {
    let reading = 0;
    let values = {} as Readonly<Record<K, unknown>>;
    for (const field of fields) {
      this.gauge(`${name}.${field}`, () => {
        if (reading !== this.readings) values = compute();
        reading = this.readings;
        return Number(values[field]);
      });
    }
  }

  /** Registers a histogram, and its summary as `name.mean`, `.p50`, `.p99`, `.p999`, `.max` (0 while it is empty). */
  histogram(name: string, histogram: Histogram): void {
    this.gauge(`${name}.mean`, () => histogram.mean);
    this.gauge(`${name}.p50`, () => histogram.percentile(50));
    this.gauge(`${name}.p99`, () => histogram.percentile(99));
    this.gauge(`${name}.p999`, () => histogram.percentile(99.9));
    this.gauge(`${name}.max`, () => histogram.max);
    this.histogramsByName.set(name, histogram);
  }

  /** Registers a series. @throws SimulationError `ERR_STATS_NAME` if the name is taken or malformed. */
  series(name: string, series: TimeSeries): void {
    if (!NAME.test(name))
      throw new SimulationError('ERR_STATS_NAME', `"${name}" is no name of a series: use layer.metric`);
    if (this.seriesByName.has(name))
      throw new SimulationError('ERR_STATS_NAME', `series "${name}" is registered twice`);
    this.seriesByName.set(name, series);
  }

  /** All numbers now, flat, in alphabetical order. @throws SimulationError `ERR_STATS_VALUE` for a number that is not finite. */
  read(): Record<string, number> {
    const record: Record<string, number> = {};
    this.readings++;
    for (const name of [...this.gauges.keys()].sort()) {
      const value = (this.gauges.get(name) as Gauge)();
      if (!Number.isFinite(value)) throw new SimulationError('ERR_STATS_VALUE', `metric "${name}" is ${value}`);
      record[name] = value;
    }
    return record;
  }

  /** The registered histograms by name. */
  get histograms(): ReadonlyMap<string, Histogram> {
    return this.histogramsByName;
  }

  /** The registered series by name. */
  get allSeries(): ReadonlyMap<string, TimeSeries> {
    return this.seriesByName;
  }
}

/** The registry as one layer sees it: its names get the layer's in front. */
export class LayerStats {
  private readonly registry: StatsRegistry;
  private readonly prefix: string;

  /** Made by `StatsRegistry.layer`. */
  constructor(registry: StatsRegistry, prefix: string) {
    this.registry = registry;
    this.prefix = prefix;
  }

  /** See `StatsRegistry.gauge`. */
  gauge(metric: string, read: Gauge): void {
    this.registry.gauge(`${this.prefix}.${metric}`, read);
  }

  /** See `StatsRegistry.histogram`. */
  histogram(metric: string, histogram: Histogram): void {
    this.registry.histogram(`${this.prefix}.${metric}`, histogram);
  }

  /** See `StatsRegistry.series`. */
  series(metric: string, series: TimeSeries): void {
    this.registry.series(`${this.prefix}.${metric}`, series);
  }

  /**
   * Registers every numeric field of a plain statistics object under its field name.
   * @throws SimulationError `ERR_STATS_NAME` as `gauge`.
   */
  counters<T extends object>(stats: T): void {
    for (const [field, value] of Object.entries(stats)) {
      if (typeof value === 'number') this.gauge(field, () => (stats as Record<string, number>)[field]);
    }
  }
}

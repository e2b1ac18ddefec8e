import type { ExperimentResult } from '@flashstack/experiment';
import type { Table, TableRow } from './figure.js';
import { html } from './markup.js';
import { bytes, count, duration, megabytesPerSecond, percent, significant, UNKNOWN } from './numbers.js';

const layerNames: Readonly<Record<string, string>> = {
  calls: 'System calls of the workload',
  jobs: 'Jobs',
  iozone: 'Phases of iozone',
  trace: 'Replay of system calls',
  os: 'Operating system',
  cache: 'Page cache',
  fs: 'File system',
  block: 'Block layer',
  host: 'Host',
  ssd: 'Drive',
  link: 'Host link',
  firmware: 'Firmware',
  ftl: 'FTL',
  channel: 'Channels',
  nand: 'Flash',
  sim: 'Simulation',
  run: 'This machine (CPU time, not simulated time)',
};

/** Every metric of a result: by layer, in full, and as a reader would say it. */
export function metricsTable(result: ExperimentResult): Table {
  const names = Object.keys(result.metrics);
  const layers = [...new Set(names.map(layerOf))].sort((a, b) => rank(a) - rank(b));
  const rows = layers.flatMap((layer): TableRow[] => [
    { group: layerNames[layer] ?? layer },
    ...names
      .filter((name) => layerOf(name) === layer)
      .sort()
      .map((name) => {
        const value = result.metrics[name];
        return [html`<code>${name}</code>`, exact(value), spoken(name, value)];
      }),
  ]);
  return { head: ['metric', 'value', ''], rows, numeric: [1, 2] };
}

function layerOf(name: string): string {
  return name.split('.', 1)[0];
}

function rank(layer: string): number {
  const at = Object.keys(layerNames).indexOf(layer);
  return at < 0 ? 99 : at;
}

/** A whole number in full, others with six significant digits. */
function exact(value: number): string {
  if (!Number.isFinite(value)) return UNKNOWN;
  if (Number.isInteger(value)) return count(value);
  const [whole, fraction = ''] = Math.abs(value).toPrecision(15).split('.');
  if (Math.abs(value) >= 1e6) return count(value);
  if (Math.abs(value) < 1e-6) return value.toExponential(3);
  const digits = Math.max(0, 6 - (whole === '0' ? 0 : whole.length));
  return fraction === '' ? count(value) : value.toFixed(Math.max(1, digits)).replace('-', '−');
}

/** What a metric means by its name: units are part of names. */
function spoken(name: string, value: number): string {
  if (!Number.isFinite(value)) return '';
  if (/Ns(\.|$)/.test(name)) return value === 0 ? '' : duration(value);
  if (/bytesPerSecond$/i.test(name)) return value === 0 ? '' : `${megabytesPerSecond(value)}\u00a0MB/s`;
  if (/bytes$/i.test(name)) return value === 0 ? '' : bytes(value);
  if (/(Fraction|Share)(\.|$)/.test(name)) return percent(value);
  if (/\.iops$/.test(name)) return value === 0 ? '' : `${significant(value)}\u00a0requests/s`;
  return '';
}

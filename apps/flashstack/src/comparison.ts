import type { ExperimentResult } from '@flashstack/experiment';
import { type Difference, differencesOf, type Group, valueText } from './groups.js';
import { type Style, width, wrap } from './terminal.js';

const LIMIT = 80;
/** Keys named in the second line, and sentences about seeds that disagree, at most. */
const NAMED = 4;
/** Between two columns of a table. */
const GAP = 2;
/** A name of a column is cut at so many characters. */
const LONGEST_NAME = 24;

/** A row: what is compared, and which way is better. */
interface Measure {
  readonly label: string;
  readonly better: 'more' | 'less';
  readonly of: (result: ExperimentResult) => number;
}

const metric =
  (name: string, unit: number) =>
  ({ metrics }: ExperimentResult): number =>
    metrics[name] / unit;

/** What is counted as requests: those to the drive, or the calls of programs. */
type Layer = 'host' | 'calls';

/** A percentile with fewer than ten samples beyond it says nothing. */
const percentile =
  (layer: Layer, kind: string, name: string, beyond: number) =>
  ({ metrics }: ExperimentResult): number =>
    metrics[`${layer}.${kind}.requests`] * beyond >= 10
      ? metrics[`${layer}.${kind}.latencyNs.${name}`] / 1e3
      : Number.NaN;

const latencies = (layer: Layer, kind: string, prefix: string): Measure[] => [
  { label: `${prefix}${kind} p50, µs`, better: 'less', of: percentile(layer, kind, 'p50', 0.5) },
  { label: `${prefix}${kind} p99, µs`, better: 'less', of: percentile(layer, kind, 'p99', 0.01) },
  { label: `${prefix}${kind} p99.9, µs`, better: 'less', of: percentile(layer, kind, 'p999', 0.001) },
];

/** Throughput and latencies; a result without the layer has none of them. */
const rates = (layer: Layer, prefix: string): Measure[] => [
  {
    label: `${prefix}throughput, MB/s`,
    better: 'more',
    of: ({ metrics }) => (metrics[`${layer}.read.bytesPerSecond`] + metrics[`${layer}.write.bytesPerSecond`]) / 1e6,
  },
  ...latencies(layer, 'read', prefix),
  ...latencies(layer, 'write', prefix),
];

const flushes = (prefix: string): Measure => ({
  label: `${prefix}flush p99, µs`,
  better: 'less',
  of: percentile('host', 'flush', 'p99', 0.01),
});

const ofDrives: readonly Measure[] = [
  {
    label: 'write amplification',
    better: 'less',
    of: ({ metrics }) => (metrics['ftl.hostSlots'] === 0 ? Number.NaN : metrics['ftl.waf']),
  },
  {
    label: 'flash written, GiB',
    better: 'less',
    of: ({ metrics, spec }) => (metrics['ftl.programmedSlots'] * spec.device.nand.geometry.slotBytes) / 2 ** 30,
  },
  { label: 'erases', better: 'less', of: metric('nand.erases', 1) },
  { label: 'mapping table, KiB', better: 'less', of: metric('ftl.map.bytes', 1024) },
];

/** Rows as in the summary of a run: with a system those of calls come first, and those of requests are said to be the drive's. */
function measuresOf(groups: readonly Group[]): readonly Measure[] {
  const system = groups.some(({ results }) => results.some(({ spec }) => spec.system !== undefined));
  if (!system) return [...rates('host', ''), flushes(''), ...ofDrives];
  const sync: Measure = { label: 'sync p99, µs', better: 'less', of: percentile('calls', 'sync', 'p99', 0.01) };
  return [...rates('calls', ''), sync, ...rates('host', 'drive '), flushes('drive '), ...ofDrives];
}

/** Mean and standard deviation over the seeds of a group. */
interface Spread {
  readonly mean: number;
  readonly deviation: number;
  readonly count: number;
}

/** Groups of results side by side, or the spread of one: at most 80 columns. */
export function renderComparison(groups: readonly Group[], style: Style): string {
  const lines = [...heading(groups, style), ...tables(groups, style)];
  if (groups.length > 1) {
    const several = groups.some(({ results }) => results.length > 1);
    const noise = several ? '≈ within the spread of the seeds' : '≈ less than half a per cent';
    const legend = style.ascii ? style.plain(noise) : `▲ better  ▼ worse  ${noise}`;
    lines.push(style.tone('dim', legend.padStart(LIMIT)));
  } else {
    lines.push(style.tone('dim', 'mean ± standard deviation over the seeds'));
  }
  return `${style.plain(lines.map((line) => line.trimEnd()).join('\n'))}\n`;
}

function heading(groups: readonly Group[], style: Style): string[] {
  const [first] = groups;
  const seeds = [...new Set(groups.map(({ results }) => results.length))];
  const each = seeds.length === 1 ? ` × ${seeds[0]} seed${seeds[0] === 1 ? '' : 's'}` : '';
  const partial = groups.some(({ results }) => results.some((result) => result.partial !== null));
  const warning = partial ? [style.tone('attention', `${style.attention} interrupted runs are among them`)] : [];
  if (groups.length === 1) {
    return [style.tone('strong', `${first.name}, ${first.results.length} seeds`), ...headlines(first), ...warning];
  }
  const lines = [style.tone('strong', `${groups.length} experiments${each}, baseline ${first.name}`)];
  const differences = differencesOf(groups);
  lines.push(...differenceLines(differences, style), ...several(groups, differences, style), ...warning);
  return lines;
}

/** What limited the runs of a group: once if all seeds agree, otherwise each sentence with the seeds it holds for. */
function headlines({ results }: Group): string[] {
  const seeds = new Map<string, number[]>();
  for (const { analysis, seed } of results) {
    seeds.set(analysis.headline, [...(seeds.get(analysis.headline) ?? []), seed]);
  }
  const found = [...seeds];
  if (found.length === 1) return wrap(found[0][0], LIMIT);
  const shown = found
    .slice(0, NAMED)
    .flatMap(([headline, of]) => wrap(`${of.length === 1 ? 'seed' : 'seeds'} ${of.join(', ')}: ${headline}`, LIMIT));
  const hidden = found.slice(NAMED).reduce((sum, [, of]) => sum + of.length, 0);
  return hidden === 0 ? shown : [...shown, `and ${hidden} seeds more`];
}

function differenceLines(differences: readonly Difference[], style: Style): string[] {
  if (differences.length === 0) return ['Their specs are the same.'];
  const shown = differences.slice(0, NAMED).map(({ path, values }) => {
    const list = values.map(valueText).join(' / ');
    return list.length <= 40 ? `${style.tone('strong', path)} (${list})` : style.tone('strong', path);
  });
  const more = differences.length > NAMED ? ` and ${differences.length - NAMED} more` : '';
  return wrap(`Differ in ${shown.join(', ')}${more}.`, LIMIT);
}

/** A comparison of two changes at once does not tell which of them did it. */
function several(groups: readonly Group[], differences: readonly Difference[], style: Style): string[] {
  return groups.slice(1).flatMap(({ name }, at) => {
    const keys = differences.filter(({ values }) => JSON.stringify(values[at + 1]) !== JSON.stringify(values[0]));
    if (keys.length < 2) return [];
    return [style.tone('attention', `${style.attention} ${style.numbers.count(keys.length)} keys at once for ${name}`)];
  });
}

/** A column: what it is called, and its value and change in every row. */
interface Shown {
  readonly head: string;
  readonly values: readonly string[];
  readonly changes: readonly string[];
  readonly valueWidth: number;
  readonly changeWidth: number;
}

/** As many tables as the columns need, each with the baseline first. */
function tables(groups: readonly Group[], style: Style): string[] {
  const rows = measuresOf(groups).filter((measure) =>
    groups.some((group) => Math.abs(spreadOf(group, measure).mean) > 0),
  );
  const columns = groups.map((group, at) => columnOf(group, at === 0 ? null : groups[0], rows, style));
  const names = 1 + Math.max(...rows.map(({ label }) => width(style.plain(label))));
  const [baseline, ...others] = columns;
  const lines: string[] = [];
  do {
    const shown = [baseline];
    let room = LIMIT - names - widthOf(baseline);
    while (others.length > 0 && (shown.length === 1 || widthOf(others[0]) <= room)) {
      room -= widthOf(others[0]);
      shown.push(others.shift() as Shown);
    }
    const line = (label: string, cells: readonly string[]): string =>
      label + ' '.repeat(names - width(label)) + cells.join('');
    lines.push(
      '',
      style.tone(
        'dim',
        line(
          '',
          shown.map((column) => cellOf(column.head, '', column)),
        ),
      ),
    );
    for (const [row, { label }] of rows.entries()) {
      const cells = shown.map((column) => cellOf(column.values[row], column.changes[row], column));
      lines.push(line(style.plain(label), cells));
    }
  } while (others.length > 0);
  return lines;
}

function columnOf(group: Group, baseline: Group | null, rows: readonly Measure[], style: Style): Shown {
  const spreads = rows.map((measure) => spreadOf(group, measure));
  // In the characters of the output, so that widths are those that will be seen.
  const values = spreads.map((spread) => style.plain(written(spread, style)));
  const changes = rows.map((measure, row) =>
    baseline === null ? '' : style.plain(changeOf(spreadOf(baseline, measure), spreads[row], measure.better, style)),
  );
  const head = short(style.plain(group.name), LONGEST_NAME, style);
  const changeWidth = Math.max(...changes.map(width));
  const valueWidth = Math.max(width(head) - (changeWidth > 0 ? changeWidth + 1 : 0), ...values.map(width));
  return { head, values, changes, valueWidth, changeWidth };
}

function widthOf({ valueWidth, changeWidth }: Shown): number {
  return GAP + valueWidth + (changeWidth > 0 ? 1 + changeWidth : 0);
}

function short(name: string, room: number, style: Style): string {
  const dots = style.plain('…');
  return name.length <= room ? name : `${name.slice(0, room - dots.length)}${dots}`;
}

function cellOf(value: string, change: string, column: Shown): string {
  const { valueWidth, changeWidth } = column;
  const isHead = value === column.head && change === '';
  const room = isHead ? widthOf(column) - GAP : valueWidth;
  const left = ' '.repeat(GAP + Math.max(0, room - width(value))) + value;
  if (isHead || changeWidth === 0) return left;
  return `${left} ${change}${' '.repeat(Math.max(0, changeWidth - width(change)))}`;
}

function spreadOf({ results }: Group, { of }: Measure): Spread {
  const values = results.map(of).filter((value) => !Number.isNaN(value));
  const count = values.length;
  if (count === 0) return { mean: Number.NaN, deviation: 0, count };
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: count < 2 ? 0 : Math.sqrt(squares / (count - 1)), count };
}

function written({ mean, deviation, count }: Spread, style: Style): string {
  const { numbers } = style;
  if (count < 2 || deviation === 0) return numbers.short(mean);
  return `${numbers.short(mean)} ± ${numbers.short(Number(deviation.toPrecision(2)))}`;
}

/** The change with its judgement. Two means are apart if they differ by more than both standard deviations together. */
function changeOf(base: Spread, other: Spread, better: Measure['better'], style: Style): string {
  if (Number.isNaN(base.mean) || Number.isNaN(other.mean)) return '';
  if (base.mean === other.mean) return style.tone('dim', '=');
  const change = other.mean / base.mean - 1;
  const text = changeText(base.mean, other.mean, change, style);
  const noise = Math.max(base.deviation + other.deviation, Math.abs(base.mean) * 0.005);
  if (Math.abs(other.mean - base.mean) <= noise) return style.tone('dim', `≈ ${text}`);
  const good = change > 0 === (better === 'more');
  return style.tone(good ? 'good' : 'bad', `${good ? '▲' : '▼'} ${text}`);
}

function changeText(base: number, other: number, change: number, { numbers }: Style): string {
  if (base === 0) return '      ';
  if (change >= 9) return `× ${numbers.count(Math.round(other / base))}`.padStart(6);
  if (change <= -0.9 && other > 0) return `÷ ${numbers.count(Math.round(base / other))}`.padStart(6);
  const value = Math.abs(change * 100);
  const digits = value < 9.95 && value >= 0.05 ? value.toFixed(1) : value.toFixed(0);
  return `${change < 0 ? '−' : '+'}${digits} %`.padStart(7);
}

import { type Style, type Tone, width, wrap } from './terminal.js';

const LIMIT = 80;
const BAR_CELLS = 40;
const LABEL_GAP = '  ';

/** One row of the table of a summary: requests of one kind. Rates per second, latencies in ns. */
export interface SummaryRow {
  readonly name: string;
  readonly requests: number;
  readonly bytesPerSecond: number;
  readonly iops: number;
  readonly meanNs: number;
  readonly p50Ns: number;
  readonly p99Ns: number;
  readonly p999Ns: number;
  readonly maxNs: number;
}

/** A part of a whole, with its name and colour. */
export interface Part {
  readonly label: string;
  readonly tone: Tone;
  readonly amount: number;
}

/** What a run's summary shows, already taken out of the result. */
export interface Summary {
  readonly workload: string;
  readonly device: string;
  readonly seed: number;
  readonly specHash: string;
  /** The sentence that names the cause. */
  readonly headline: string;
  readonly rows: readonly SummaryRow[];
  /** NaN if nothing left the buffer for flash. */
  readonly waf: number;
  readonly receivedBytes: number;
  /** What of it left the buffer for flash, in whole slots. */
  readonly flushedBytes: number;
  readonly programmedBytes: number;
  /** The programmed bytes by cause. */
  readonly written: readonly Part[];
  /** What the slowest 0.1 % of the writes (or of the reads, if nothing was written) waited for, in ns. */
  readonly slowest: readonly Part[];
  readonly slowestKind: string;
  /** Sentences that explain: when garbage collection ran, how busy dies and channels were, warnings. */
  readonly notes: readonly string[];
  /** Paths written, with what they are. */
  readonly files: readonly (readonly [what: string, path: string])[];
  readonly issued: number;
  readonly completed: number;
  readonly failed: number;
  /** Simulated ns at which the run was interrupted, or null. */
  readonly interruptedNs: number | null;
}

/** The summary of a run in at most 24 lines of 80 columns. */
export function renderSummary(summary: Summary, style: Style): string {
  const { numbers } = style;
  const lines = [...heading(summary, style), '', ...rateTable(summary.rows, style), ''];
  lines.push(...amplification(summary, style));
  if (summary.slowest.length > 0) lines.push(...slowest(summary, style));
  for (const note of summary.notes)
    lines.push(...wrap(note, LIMIT - 2).map((line, i) => (i === 0 ? `  ${line}` : `    ${line}`)));
  lines.push('');
  for (const [what, path] of summary.files)
    lines.push(`${style.tone('dim', what.padEnd(8))} ${style.tone('path', path)}`);
  const failed = `${numbers.count(summary.failed)} failed`;
  const check = `${numbers.count(summary.issued)} issued = ${numbers.count(summary.completed)} completed + ${failed}.`;
  lines.push(summary.failed > 0 ? style.tone('bad', check) : style.tone('dim', check));
  return `${style.plain(lines.join('\n'))}\n`;
}

function heading(summary: Summary, style: Style): string[] {
  const identity = `seed ${summary.seed} · spec ${summary.specHash.slice(0, 8)}`;
  const room = LIMIT - identity.length - 2;
  const title = `${summary.workload} on ${summary.device}`;
  const dots = style.plain('…');
  const shown = title.length <= room ? title : `${title.slice(0, room - dots.length)}${dots}`;
  const first = `${style.tone('strong', shown)}${' '.repeat(LIMIT - shown.length - identity.length)}${style.tone('dim', identity)}`;
  const lines = [first, ...wrap(summary.headline, LIMIT)];
  if (summary.interruptedNs !== null) {
    const mark = style.tone('attention', `${style.attention} interrupted`);
    lines.push(`${mark} at ${style.numbers.simulated(summary.interruptedNs)} of simulated time. A partial result.`);
  }
  return lines;
}

// Least widths of the columns after the name: requests, MB/s, req/s, mean, p50, p99, p99.9, max.
const COLUMNS = [10, 8, 8, 9, 7, 7, 7, 7];
const LATENCY_UNITS: readonly (readonly [unit: string, ns: number])[] = [
  ['µs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
];

/** Requests, throughput and latency of each kind. Latencies are in µs unless that does not fit the line. */
function rateTable(rows: readonly SummaryRow[], style: Style): string[] {
  for (const [unit, ns] of LATENCY_UNITS) {
    const lines = rateTableIn(rows, unit, ns, style);
    if (unit === 's' || lines.every((line) => width(line) <= LIMIT)) return lines;
  }
  return [];
}

function rateTableIn(rows: readonly SummaryRow[], unit: string, ns: number, style: Style): string[] {
  const { numbers } = style;
  const cells = rows.map((row) => [
    numbers.count(row.requests),
    numbers.short(row.bytesPerSecond / 1e6),
    numbers.scaled(row.iops),
    ...[row.meanNs, row.p50Ns, row.p99Ns, row.p999Ns, row.maxNs].map((value) => numbers.short(value / ns)),
  ]);
  const head = ['requests', 'MB/s', 'req/s', 'mean', 'p50', 'p99', 'p99.9', 'max'];
  const widths = COLUMNS.map((least, i) => Math.max(least, ...cells.map((row) => row[i].length + 1)));
  const name = 2 + Math.max(5, ...rows.map((row) => row.name.length));
  const line = (label: string, row: readonly string[]): string =>
    label.padEnd(name) + row.map((cell, i) => cell.padStart(widths[i])).join('');
  const throughputEnd = name + widths[0] + widths[1] + widths[2];
  const latencyEnd = name + widths.reduce((sum, column) => sum + column, 0);
  const above = `${'throughput'.padStart(throughputEnd)}${`latency, ${unit}`.padStart(latencyEnd - throughputEnd)}`;
  return [
    style.tone('dim', above),
    style.tone('dim', line('', head)),
    ...rows.map((row, i) => line(`  ${row.name}`, cells[i])),
  ];
}

function amplification(summary: Summary, style: Style): string[] {
  const { numbers } = style;
  if (summary.flushedBytes === 0) {
    const what = summary.receivedBytes === 0 ? 'nothing was written' : 'nothing left the write buffer for flash';
    return [`  write amplification  none: ${what}`];
  }
  const waf = style.tone('strong', summary.waf.toFixed(2));
  const sizes = `drive received ${numbers.bytes(summary.receivedBytes)}, flash programmed ${numbers.bytes(summary.programmedBytes)}`;
  const lines = [`  write amplification  ${waf}  ${sizes}`, ...absorbed(summary, style)];
  const parts = summary.written.filter((part) => part.amount > 0);
  if (parts.length > 0) lines.push(...bar(parts, style));
  return lines;
}

/** Write amplification counts what left the buffer for flash: says so where that is not what the drive received. */
function absorbed({ receivedBytes, flushedBytes }: Summary, style: Style): string[] {
  const share = flushedBytes / receivedBytes;
  if (share > 0.98 && share < 1.02) return [];
  const why =
    share < 1 ? 'the rest was overwritten in the buffer, or waits there' : 'whole slots, also where a part was written';
  return [`    counted on ${style.numbers.bytes(flushedBytes)}: ${why}`];
}

/** A bar of the parts in proportion; each part that is there has at least one cell. */
function bar(parts: readonly Part[], style: Style): string[] {
  const cells = shares(
    parts.map((part) => part.amount),
    BAR_CELLS,
  );
  // Without colours neighbours are told apart by their density.
  const glyphs = ['█', '▒', '▓', '░'];
  const drawn = parts.map((part, i) => style.tone(part.tone, (style.color ? '█' : glyphs[i % 4]).repeat(cells[i])));
  const names = inOneUnit(parts, style);
  const line = `    ${drawn.join('')}`;
  return width(line) + 2 + width(names) <= LIMIT
    ? [`${line}${LABEL_GAP}${names}`]
    : [line, ...wrap(names, LIMIT - 4).map((text) => `    ${text}`)];
}

/** `host 79, GC 96, map 2, pad 3 GiB`: the unit of the total, once. */
function inOneUnit(parts: readonly Part[], style: Style): string {
  const total = parts.reduce((sum, part) => sum + part.amount, 0);
  const [, unit] = style.numbers.bytes(total).split(' ').slice(-2);
  const size = total === 0 ? 1 : unitBytes(unit);
  const amount = (bytes: number): string => {
    const value = bytes / size;
    if (value > 0 && value < 0.05) return '< 0.1';
    return value >= 9.95 ? style.numbers.count(value) : value.toFixed(1).replace(/\.0$/, '');
  };
  return `${parts.map((part) => `${part.label} ${amount(part.amount)}`).join(', ')} ${unit}`;
}

function unitBytes(unit: string): number {
  return 1024 ** Math.max(0, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'].indexOf(unit));
}

/** Splits `cells` in proportion to the amounts, at least one each; the largest takes what rounding leaves. */
export function shares(amounts: readonly number[], cells: number): number[] {
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  const split = amounts.map((amount) => Math.max(1, Math.round((amount / total) * cells)));
  const largest = amounts.indexOf(Math.max(...amounts));
  split[largest] += cells - split.reduce((sum, share) => sum + share, 0);
  return split;
}

function slowest(summary: Summary, style: Style): string[] {
  const text = waits(summary.slowest, style);
  const line = `  slowest 0.1 % of ${summary.slowestKind}s wait for  ${text}`;
  return wrap(line.trimStart(), LIMIT - 2).map((part, i) => (i === 0 ? `  ${part}` : `    ${part}`));
}

/** The largest parts first, as per cents; those below 2 % together as "other". */
export function waits(parts: readonly Part[], style: Style): string {
  const total = parts.reduce((sum, part) => sum + part.amount, 0);
  if (total === 0) return 'nothing';
  const shown = [...parts].sort((a, b) => b.amount - a.amount).filter((part) => part.amount / total >= 0.02);
  const rest = 1 - shown.reduce((sum, part) => sum + part.amount / total, 0);
  const texts = shown.map((part, i) => {
    const text = `${part.label} ${style.numbers.percent(Math.round((part.amount / total) * 100) / 100)}`;
    return i === 0 ? style.tone('strong', text) : text;
  });
  if (rest >= 0.005) texts.push(`other ${style.numbers.percent(Math.round(rest * 100) / 100)}`);
  return texts.join(', ');
}

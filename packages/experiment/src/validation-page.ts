import { type ProvenanceEntry, type PublishedFigure, provenanceOf } from '@flashstack/ssd';
import type { FigureCheck } from './measure-figure.js';

/** The figures of one drive, measured. */
export interface PresetValidation {
  readonly name: string;
  readonly summary: string;
  readonly checks: readonly FigureCheck[];
}

/** How many figures of a kind there are, how many of them are within their bands, and how many are declared misses. */
export interface KindCount {
  readonly of: number;
  readonly within: number;
  readonly declared: number;
}

/** Verdicts over several drives, by kind of figure. `unexplained`: outside its band, or declared to miss in vain. */
export interface ValidationCounts {
  readonly calibrated: KindCount;
  readonly predicted: KindCount;
  readonly target: KindCount;
  readonly unexplained: number;
}

/** Counts the verdicts of a validation. */
export function countVerdicts(drives: readonly PresetValidation[]): ValidationCounts {
  const checks = drives.flatMap((drive) => drive.checks);
  const count = (kind: PublishedFigure['kind']): KindCount => {
    const some = checks.filter(({ figure }) => figure.kind === kind);
    return {
      of: some.length,
      within: some.filter(({ verdict }) => verdict === 'within').length,
      declared: some.filter(({ verdict }) => verdict === 'declared').length,
    };
  };
  const unexplained = checks.filter(({ verdict }) => verdict === 'outside' || verdict === 'stale').length;
  return { calibrated: count('calibrated'), predicted: count('predicted'), target: count('target'), unexplained };
}

const metrics: Readonly<Record<PublishedFigure['metric'], string>> = {
  sequentialRead: 'sequential read',
  sequentialWrite: 'sequential write',
  randomRead: 'random read',
  randomWrite: 'random write',
};

const verdicts: Readonly<Record<FigureCheck['verdict'], string>> = {
  within: '✓',
  outside: '✗',
  declared: 'declared miss',
  stale: '✗ declared a miss, but met',
};

/** A validation as a page in Markdown: each drive with its figures, the reasons of misses and where its numbers come from. */
export function validationPage(drives: readonly PresetValidation[]): string {
  const { calibrated, predicted, target } = countVerdicts(drives);
  return [
    '# Presets against published figures',
    '',
    'Measured by `flashstack validate`. Each drive is scaled to 2 GiB, or taken as it is if smaller; reads are of a drive that',
    'was filled in order, writes go to an empty one, or to one in steady state where the figure says so. ⊙ marks figures that',
    'constants were fitted to: they prove nothing. Predicted figures were not used. A target was chosen, not published.',
    '',
    `- calibrated: ${calibrated.within} of ${calibrated.of} within their bands`,
    `- predicted: ${predicted.within} of ${predicted.of} within their bands, ${predicted.declared} declared misses`,
    `- targets: ${target.within} of ${target.of} within their bands`,
    '',
    ...drives.flatMap(drivePart),
  ].join('\n');
}

function drivePart({ name, summary, checks }: PresetValidation): string[] {
  const reasons = checks.filter(({ figure }) => figure.miss !== undefined);
  const provenance = Object.entries(provenanceOf(name) ?? {});
  return [
    `## ${name}`,
    '',
    text(summary),
    '',
    '| figure | request | depth | published | simulated | error | band | | source |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...checks.map(figureRow),
    '',
    ...reasons.flatMap(({ figure }) => [
      `- Miss of ${metrics[figure.metric]} at depth ${figure.depth}: ${text(figure.miss as string)}.`,
    ]),
    ...(reasons.length > 0 ? [''] : []),
    ...(provenance.length > 0 ? provenanceTable(provenance) : []),
  ];
}

function figureRow({ figure, simulated, error, verdict }: FigureCheck): string {
  const { metric, requestBytes, depth, kind, tolerance, source, hostNs = 0, state } = figure;
  const sequential = metric.startsWith('sequential');
  const value = (amount: number): string => (sequential ? `${rounded(amount / 1e6)} MB/s` : `${rounded(amount)}/s`);
  const request = requestBytes % 1024 === 0 ? `${requestBytes / 1024} KiB` : `${requestBytes} B`;
  const what = `${metrics[metric]}${state === 'steady' ? ', steady state' : ''}`;
  const cells = [
    kind === 'calibrated' ? `⊙ ${what}` : what,
    request,
    `${depth}${hostNs > 0 ? ` + ${hostNs / 1000} µs host` : ''}`,
    value(figure.value),
    value(simulated),
    signed(error),
    `${kind}, ±${rounded(tolerance * 100)} %`,
    verdicts[verdict],
    text(source),
  ];
  return `| ${cells.join(' | ')} |`;
}

function provenanceTable(provenance: readonly (readonly [string, ProvenanceEntry])[]): string[] {
  const rows = provenance.map(([path, { class: kind, source }]) => `| \`${path}\` | ${kind} | ${text(source)} |`);
  return ['| value | provenance | |', '| --- | --- | --- |', ...rows, ''];
}

/** A deviation as per cent with its sign; none if it rounds to nothing. */
function signed(error: number): string {
  const digits = Math.abs(error * 100).toFixed(1);
  if (digits === '0.0') return '0.0 %';
  return `${error < 0 ? '−' : '+'}${digits} %`;
}

/** Three digits below 1,000, whole in groups of three above. */
function rounded(value: number): string {
  if (value < 99.95) return String(Number(value.toPrecision(3)));
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, ',');
}

function text(plain: string): string {
  return plain.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{', '&#123;').replaceAll('}', '&#125;');
}

import {
  checkFigure,
  countVerdicts,
  type Extensions,
  type FigureCheck,
  type KindCount,
  type PresetValidation,
  validationPage,
} from '@flashstack/experiment';
import { loadModules, writeWhole } from '@flashstack/experiment/node';
import { lookupStrategy } from '@flashstack/sim';
import { type ProvenanceClass, type PublishedFigure, provenanceOf, type SsdConfig } from '@flashstack/ssd';
import { ExitCode } from './exit-code.js';
import { Interrupt, InterruptedError } from './interrupt.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';
import { type Style, table, wrap } from './terminal.js';

const LIMIT = 80;

/** Options of `validate`, as typed. */
export interface ValidateFlags {
  readonly module?: readonly string[];
  readonly out?: string;
  readonly json?: boolean;
}

/**
 * `flashstack validate [PRESET…]`: measures the published figures of presets and compares. Returns the exit code: 1 if a
 * figure outside its band is no declared miss, or a declared miss is none.
 */
export async function runValidate(names: readonly string[], flags: ValidateFlags, session: Session): Promise<number> {
  if (flags.out === '') throw new UsageError('--out is "", expected the name of a folder.');
  const extensions = await loadModules(flags.module ?? [], '.');
  const drives = chosen(names, extensions);
  const interrupt = new Interrupt(session.host);
  const found: PresetValidation[] = [];
  try {
    for (const drive of drives) found.push(await validate(drive, extensions, session, interrupt));
  } catch (error) {
    // What is whole is shown; half a drive says nothing.
    if (!(error instanceof InterruptedError) || found.length === 0) throw error;
  } finally {
    session.progress.clear();
    interrupt.release();
  }
  const files = flags.out === undefined ? [] : writeFiles(found, flags.out);
  if (flags.json === true) session.print(`${JSON.stringify(asJson(found), null, 1)}\n`);
  else session.print(`${render(found, files, interrupt.requested, session.style).join('\n')}\n`);
  if (interrupt.requested) return ExitCode.interrupted;
  return countVerdicts(found).unexplained > 0 ? ExitCode.no : ExitCode.done;
}

function chosen(names: readonly string[], { presets }: Extensions): readonly SsdConfig[] {
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UsageError(`the preset ${twice} is named twice.`);
  const drives = names.map((name) => lookupStrategy(presets, name, 'device preset'));
  const silent = drives.find(({ figures }) => figures.length === 0);
  if (silent !== undefined) {
    throw new UsageError(`the preset ${silent.name} has no published figures to compare with.`, [
      'They are the list "figures" of its configuration.',
    ]);
  }
  return names.length > 0 ? drives : presets.filter(({ figures }) => figures.length > 0);
}

async function validate(
  config: SsdConfig,
  extensions: Extensions,
  session: Session,
  interrupt: Interrupt,
): Promise<PresetValidation> {
  const { progress } = session;
  const checks: FigureCheck[] = [];
  progress.start('measure');
  for (const [at, figure] of config.figures.entries()) {
    progress.announce(`${config.name}, figure ${at + 1} of ${config.figures.length}`);
    await interrupt.yield();
    interrupt.throwIfRequested();
    checks.push(checkFigure(config, figure, extensions));
  }
  return { name: config.name, summary: config.summary, checks };
}

function writeFiles(found: readonly PresetValidation[], folder: string): [string, string][] {
  const base = folder.replace(/(?<=.)\/+$/, '');
  const files: [string, string][] = [
    ['values', `${base}/validation.json`],
    ['page', `${base}/validation.md`],
  ];
  writeWhole(files[0][1], `${JSON.stringify(asJson(found), null, 1)}\n`);
  writeWhole(files[1][1], validationPage(found));
  return files;
}

function asJson(found: readonly PresetValidation[]): unknown {
  return { counts: countVerdicts(found), presets: found };
}

function render(
  found: readonly PresetValidation[],
  files: readonly (readonly [string, string])[],
  partial: boolean,
  style: Style,
): string[] {
  const lines = found.flatMap((drive) => [...renderDrive(drive, style), '']);
  const { calibrated, predicted, target } = countVerdicts(found);
  const counts = [
    ...counted(calibrated, 'calibrated'),
    ...counted(predicted, 'predicted'),
    ...counted(target, 'chosen as targets'),
  ];
  lines.push(...wrap(`Within their bands: ${counts.join(', ')}.`, LIMIT));
  if (calibrated.of > 0) lines.push('⊙ figures were used to fit the preset: they prove nothing.');
  lines.push('Sources and provenance of a drive: flashstack devices show NAME');
  if (partial) lines.push(`${style.tone('attention', style.attention)} interrupted: what followed was not measured`);
  for (const [what, path] of files) lines.push(`${style.tone('dim', what.padEnd(8))} ${style.tone('path', path)}`);
  return lines;
}

function counted({ of, within, declared }: KindCount, what: string): string[] {
  if (of === 0) return [];
  const misses = declared === 0 ? '' : declared === 1 ? ' (1 declared miss)' : ` (${declared} declared misses)`;
  return [`${within} of ${of} ${what}${misses}`];
}

function renderDrive({ name, checks }: PresetValidation, style: Style): string[] {
  const head = ['', 'published', 'simulated', 'error', ''].map((text) => style.tone('dim', text));
  const reasons = checks.flatMap((check) => {
    const { miss } = check.figure;
    if (miss === undefined) return [];
    const why = check.verdict === 'stale' ? `declared a miss, but met: take back "${miss}"` : miss;
    return wrap(`${mark(check, style)} ${label(check.figure)}: ${why}`, LIMIT - 4);
  });
  return [
    style.tone('strong', name),
    ...provenanceLine(name).flatMap((text) => wrap(text, LIMIT - 2).map((line) => `  ${style.tone('dim', line)}`)),
    ...table([head, ...checks.map((check) => row(check, style))], 'lrrrl').map((line) => `  ${line}`),
    ...reasons.map((line) => `    ${line}`),
  ];
}

/** How many entries of the drive's provenance are of which class. */
function provenanceLine(name: string): string[] {
  const provenance = provenanceOf(name);
  if (provenance === null) return [];
  const kinds: readonly ProvenanceClass[] = ['datasheet', 'paper', 'simulator', 'calibrated', 'chosen'];
  const classes = Object.values(provenance).map((entry) => entry.class);
  const parts = kinds
    .map((kind) => [kind, classes.filter((other) => other === kind).length] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`);
  return [`provenance of its values: ${parts.join(', ')}`];
}

const metrics: Readonly<Record<PublishedFigure['metric'], string>> = {
  sequentialRead: 'sequential read',
  sequentialWrite: 'sequential write',
  randomRead: 'random read',
  randomWrite: 'random write',
};

function label({ metric, depth, hostNs = 0, state }: PublishedFigure): string {
  if (metric.startsWith('sequential')) return metrics[metric];
  const what = state === 'steady' ? metrics[metric].replace('random', 'steady') : metrics[metric];
  return `${what} QD${depth}${hostNs > 0 ? '+host' : ''}`;
}

function row(check: FigureCheck, style: Style): string[] {
  const { figure, simulated, error } = check;
  const { numbers } = style;
  const value = (amount: number): string =>
    figure.metric.startsWith('sequential') ? `${numbers.short(amount / 1e6)} MB/s` : `${numbers.scaled(amount)}/s`;
  const digits = Math.abs(error * 100).toFixed(1);
  const sign = digits === '0.0' ? '' : error < 0 ? '−' : '+';
  return [
    label(figure),
    figure.kind === 'calibrated' ? `⊙ ${value(figure.value)}` : value(figure.value),
    value(simulated),
    `${sign}${digits} %`,
    `${mark(check, style)} ${figure.kind} ±${numbers.percent(figure.tolerance)}`,
  ];
}

function mark({ verdict }: FigureCheck, style: Style): string {
  if (verdict === 'within') return style.tone('good', '✓');
  if (verdict === 'declared') return style.tone('attention', style.ascii ? 'exp' : '◐');
  return style.tone('bad', '✗');
}

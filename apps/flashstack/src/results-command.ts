import { basename } from 'node:path';
import { exportResults, readResult, type TableFormat, writeWhole } from '@flashstack/experiment/node';
import { renderComparison } from './comparison.js';
import { ExitCode } from './exit-code.js';
import { groupsOf, type NamedRun } from './groups.js';
import { metricsTable } from './metrics-table.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';
import { renderSummary } from './summary.js';
import { summaryOf } from './summary-of.js';

/** Options of `report`. */
export interface ReportFlags {
  readonly html?: string;
  readonly png?: string;
  readonly verbose?: boolean;
}

/** `flashstack report RESULT…`: what results say, as text, and as a page or pictures if wanted. */
export async function runReport(paths: readonly string[], flags: ReportFlags, session: Session): Promise<number> {
  for (const [flag, value] of [
    ['--html', flags.html],
    ['--png', flags.png],
  ] as const) {
    if (value === '') throw new UsageError(`${flag} is "", expected a name.`);
  }
  const runs = read(paths);
  const groups = groupsOf(runs);
  const results = runs.map(({ result }) => result);
  const files: (readonly [string, string])[] = [];
  if (flags.html !== undefined) {
    const { renderReport } = await import('@flashstack/report');
    writeWhole(flags.html, renderReport(results));
    files.push(['report', flags.html]);
  }
  if (flags.png !== undefined) {
    const { renderFigures } = await import('@flashstack/report/node');
    for (const { png } of renderFigures(results, flags.png)) files.push(['figure', png]);
  }
  if (runs.length === 1) {
    const [{ result }] = runs;
    session.print(renderSummary({ ...summaryOf(result), files }, session.style));
    if (flags.verbose === true) session.print(metricsTable(result.metrics, session.style));
  } else {
    session.print(renderComparison(groups, session.style));
    const lines = files.map(([what, path]) => `${what.padEnd(8)} ${session.style.tone('path', path)}\n`);
    session.print(lines.join(''));
  }
  return ExitCode.done;
}

/** `flashstack compare RESULT…`: results side by side; those that differ only in the seed are one column. */
export function runCompare(paths: readonly string[], json: boolean, session: Session): number {
  const runs = read(paths);
  if (runs.length < 2) {
    throw new UsageError('compare needs at least two results, found one.', ['Make them with --out, or with --seeds.']);
  }
  const groups = groupsOf(runs);
  if (json) {
    const shown = groups.map(({ name, results }) => ({
      name,
      specHashes: results.map(({ specHash }) => specHash),
      metrics: results.map(({ metrics }) => metrics),
    }));
    session.print(`${JSON.stringify(shown, null, 1)}\n`);
  } else {
    session.print(renderComparison(groups, session.style));
  }
  return ExitCode.done;
}

/** `flashstack export RESULT…`: results as tables that spreadsheets and databases read. */
export function runExport(paths: readonly string[], format: TableFormat, out: string, session: Session): number {
  if (out === '') throw new UsageError('--out is "", expected the name of a folder.');
  const names = tableNames(paths);
  const runs = read(paths).map(({ result }, at) => ({ run: names[at], result }));
  const files = exportResults(runs, format, out);
  session.print(files.map((path) => `table    ${session.style.tone('path', path)}\n`).join(''));
  return ExitCode.done;
}

/** Rows of a table tell their run by name: that of its file, or the whole path where two files have the same name. */
function tableNames(paths: readonly string[]): string[] {
  const names = paths.map((path) => nameOf(basename(path)));
  if (new Set(names).size === names.length) return names;
  const whole = paths.map((path) => nameOf(path));
  const twice = whole.find((name, at) => whole.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new UsageError(`the result ${twice} is given twice.`, ['Its rows could not be told apart.']);
  }
  return whole;
}

function nameOf(path: string): string {
  return path.replace(/(\.partial)?\.json$/, '');
}

function read(paths: readonly string[]): NamedRun[] {
  return paths.map((path) => ({ name: nameOf(basename(path)), result: readResult(path) }));
}

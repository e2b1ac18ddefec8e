import type { Figure } from './figure.js';
import type { Canvas } from './plot/canvas.js';
import { type ReportOptions, runFigures, runReport } from './run-report.js';
import type { RunView } from './view.js';

/** All figures of a comparison, in order. */
export function comparisonFigures(views: readonly RunView[], _options: ReportOptions): Figure[] {
  return runFigures(views[0]);
}

/** The report of several runs. */
export function comparisonReport(views: readonly RunView[], options: ReportOptions, canvas: Canvas): string {
  return runReport(views[0], options, canvas);
}

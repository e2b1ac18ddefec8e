import { canonicalJson, type ExperimentResult } from '@flashstack/experiment';
import { InputError } from '@flashstack/sim';
import { comparisonReport } from './comparison.js';
import { Canvas } from './plot/canvas.js';
import { type ReportOptions, runReport } from './run-report.js';
import { RunView } from './view.js';

/**
 * A report as one HTML page: of a run for one result, a comparison for several (results that differ in nothing but the
 * seed form a group and show their spread). The same results and options give the same bytes.
 * @throws InputError `ERR_REPORT_EMPTY` without a result, `ERR_REPORT_BASELINE` for a baseline that is none of them,
 * `ERR_REPORT_TWICE` for a run that is given twice and would count as two samples.
 */
export function renderReport(results: readonly ExperimentResult[], options: ReportOptions = {}): string {
  const views = viewsOf(results, options);
  const canvas = new Canvas();
  return views.length === 1 ? runReport(views[0], options, canvas) : comparisonReport(views, options, canvas);
}

/** What reports read from results. @throws InputError as {@link renderReport}. */
export function viewsOf(results: readonly ExperimentResult[], options: ReportOptions): RunView[] {
  if (results.length === 0) {
    throw new InputError('ERR_REPORT_EMPTY', 'a report needs at least one result, found none', 'results');
  }
  const { baseline = 0 } = options;
  if (!Number.isInteger(baseline) || baseline < 0 || baseline >= results.length) {
    const range = `a whole number from 0 to ${results.length - 1}`;
    throw new InputError('ERR_REPORT_BASELINE', `baseline: found ${baseline}, expected ${range}`, 'baseline');
  }
  const seen = new Set<string>();
  for (const { spec, seed } of results) {
    const key = canonicalJson(spec);
    if (seen.has(key)) {
      const found = `a run of ${spec.device.name} with seed ${seed} is there twice and would count as two samples`;
      throw new InputError('ERR_REPORT_TWICE', `results: ${found}; give it once`, 'results');
    }
    seen.add(key);
  }
  return results.map((result) => new RunView(result));
}

import type { Table, TableRow } from '../figure.js';
import { html, type Insert } from '../markup.js';
import { change, count, significant, UNKNOWN } from '../numbers.js';
import { type Comparison, type Difference, groupOf } from './groups.js';
import { judge, type Measure, measures, type Spread, spreadOf, verdictMarks } from './measures.js';

/** Keys in which systems differ, a column per system. */
export function differenceTable(comparison: Comparison, differences: readonly Difference[]): Table {
  return {
    head: ['spec key', ...comparison.systems.map((system) => system.name)],
    rows: differences.map(({ key, values }) => [html`<code>${key}</code>`, ...values]),
    numeric: [],
  };
}

/** The measures of a workload: a column per system, and one for its change against the baseline. */
export function measureTable(comparison: Comparison, workload: number): Table {
  const { systems, baseline } = comparison;
  const order = [baseline, ...systems.map((_, at) => at).filter((at) => at !== baseline)];
  const head = order.flatMap((at, i): Insert[] => {
    const { name } = systems[at];
    if (i > 0) return [name, ''];
    return [systems.length > 1 ? html`${name} <small>baseline</small>` : name];
  });
  const rows = (['Host', 'Drive'] as const).flatMap((layer): TableRow[] => {
    const told = measures.filter((measure) => measure.layer === layer);
    const own = told.flatMap((measure) => measureRow(comparison, workload, measure, order));
    return own.length === 0 ? [] : [{ group: layer }, ...own];
  });
  return { head: ['', ...head], rows, numeric: head.map((_, i) => i + 1) };
}

function measureRow(comparison: Comparison, workload: number, measure: Measure, order: readonly number[]): Insert[][] {
  const spreads = order.map((at) => spreadOf(groupOf(comparison, workload, at), measure));
  if (spreads.every((spread) => spread === null)) return [];
  const [base] = spreads;
  const best = bestOf(spreads, measure);
  const cells = spreads.flatMap((spread, i): Insert[] => {
    const value = valueCell(spread, measure, i === best);
    if (i === 0) return [value];
    if (base === null || spread === null || base.mean === 0) return [value, ''];
    const verdict = judge(base, spread, measure);
    const { symbol, style } = verdictMarks[verdict];
    const ratio = verdict === 'equal' ? '' : ` ${change(spread.mean / base.mean)}`;
    return [value, html`<span class="${style}">${symbol}${ratio}</span>`];
  });
  return [[measure.unit === '' ? measure.name : `${measure.name}, ${measure.unit}`, ...cells]];
}

function valueCell(spread: Spread | null, measure: Measure, best: boolean): Insert {
  if (spread === null) return UNKNOWN;
  const text = measure.text(spread.mean);
  const value = best ? html`<span class="best">${text}</span>` : text;
  if (spread.seeds === 1) return value;
  return html`${value} <small>±\u202f${measure.text((spread.high - spread.low) / 2)}</small>`;
}

/** The best of a row, if it is better than the second beyond the spread; otherwise −1. */
function bestOf(spreads: readonly (Spread | null)[], measure: Measure): number {
  const known = spreads.flatMap((spread, at) => (spread === null ? [] : [{ spread, at }]));
  known.sort((a, b) => (measure.better === 'more' ? b.spread.mean - a.spread.mean : a.spread.mean - b.spread.mean));
  if (known.length < 2) return -1;
  return judge(known[1].spread, known[0].spread, measure) === 'better' ? known[0].at : -1;
}

/** Every metric of every group, the mean of its seeds. */
export function allMetricsTable(comparison: Comparison): Table {
  const { systems, workloads, groups } = comparison;
  const names = [...new Set(groups.flatMap(({ views }) => views.flatMap((view) => Object.keys(view.result.metrics))))];
  const head = groups.map(({ system, workload }) =>
    workloads.length > 1 ? `${systems[system].name}, ${workloads[workload]}` : systems[system].name,
  );
  const rows = names.sort().flatMap((name): Insert[][] => {
    const values = groups.map(({ views }) => views.reduce((sum, view) => sum + view.metric(name), 0) / views.length);
    if (values.every((value) => value === 0)) return [];
    return [
      [
        html`<code>${name}</code>`,
        ...values.map((value) => (Number.isInteger(value) ? count(value) : significant(value))),
      ],
    ];
  });
  return { head: ['metric', ...head], rows, numeric: head.map((_, i) => i + 1) };
}

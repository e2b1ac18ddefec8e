import { latencyFigure, panelsFigure, waitsFigure, writesFigure } from './compare/figures.js';
import { type Comparison, compare } from './compare/groups.js';
import { comparisonHeadline, ratioTitle } from './compare/headline.js';
import { ratioFigure } from './compare/ratio-figure.js';
import { allMetricsTable, differenceTable, measureTable } from './compare/tables.js';
import type { Figure } from './figure.js';
import { flowFigure } from './figures/flow.js';
import { html, type Insert, type Markup } from './markup.js';
import { count } from './numbers.js';
import { pageHtml } from './page/page.js';
import { figureHtml, type Section, tableHtml, tagHtml } from './page/parts.js';
import type { Canvas } from './plot/canvas.js';
import { footer, type ReportOptions, warnings } from './run-report.js';
import type { RunView } from './view.js';

/** Rows of the table of differences that are shown at once. */
const DIFFERENCES = 8;

/** With more groups the flows of their writes would be a page of their own. */
const FLOWS = 6;

/** All figures of a comparison, in order. */
export function comparisonFigures(views: readonly RunView[], options: ReportOptions): Figure[] {
  return figuresOf(compare(views, options.baseline ?? 0));
}

function figuresOf(comparison: Comparison): Figure[] {
  const each = comparison.workloads.map((_, at) => at);
  return [
    ...each.map((at) => ratioFigure(comparison, at, ratioTitle(comparison, at))),
    writesFigure(comparison),
    ...flowFigures(comparison),
    ...each.flatMap((at) => [latencyFigure(comparison, at), panelsFigure(comparison, at)]),
    waitsFigure(comparison),
  ];
}

/** How bytes grow through the layers, in the first run of each group. */
function flowFigures({ systems, workloads, groups }: Comparison): Figure[] {
  if (groups.length > FLOWS) return [];
  return groups.flatMap(({ system, workload, views: [view] }, at) => {
    if (view.writeFlow.length === 0) return [];
    const under = workloads[workload] === '' ? '' : `, ${workloads[workload]}`;
    return [flowFigure(view, { id: `write-flow-${at + 1}`, name: `${systems[system].name}${under}` })];
  });
}

/** The report of several runs. */
export function comparisonReport(views: readonly RunView[], options: ReportOptions, canvas: Canvas): string {
  const comparison = compare(views, options.baseline ?? 0);
  const figures = figuresOf(comparison);
  const shown = (wanted: (id: string) => boolean): Markup =>
    html`<div class="g">${figures.filter(({ id }) => wanted(id)).map((figure) => figureHtml(figure, canvas))}</div>`;
  const title = options.title ?? defaultTitle(comparison);
  const single = comparison.systems.length === 1;
  const sections: Section[] = [
    {
      id: 'summary',
      name: 'Summary',
      title: 'Summary',
      body: [shown((id) => id === 'writes' || (!single && id.startsWith('ratios')))],
    },
    ...(single ? [] : [differencesSection(comparison)]),
    ...(figures.some(({ id }) => isFlow(id)) ? [{ ...flowSection, body: [shown(isFlow)] }] : []),
    {
      id: 'latency',
      name: 'Latency and time',
      title: 'Latency and time',
      body: [shown((id) => /^(latency|throughput|waits)/.test(id))],
    },
    tableSection(comparison, views, options),
  ];
  return pageHtml({
    title: `Comparison: ${title}`,
    kind: 'comparison',
    head: html`<h1>${title}</h1><p class="sub">${identity(comparison, views)} ${stateTag(views)}</p>${views.flatMap((view) => warnings(view, `${view.workload} on ${view.device}`))}<p class="finding">${comparisonHeadline(comparison)}</p>`,
    sections,
    footer: footer(views),
  });
}

const isFlow = (id: string): boolean => id.startsWith('write-flow');
const flowSection: Omit<Section, 'body'> = {
  id: 'flow',
  name: 'Writes by origin',
  title: 'Writes from layer to layer',
};

function defaultTitle({ systems, drive, workloads }: Comparison): string {
  const under = workloads.filter((name) => name !== '');
  const on = drive === '' ? '' : ` on ${drive}`;
  return `${listed(systems.map((system) => system.name))}${on}${under.length === 0 ? '' : ` under ${listed(under)}`}`;
}

/** Names in a sentence; many are counted. */
function listed(names: readonly string[]): string {
  if (names.length === 1) return names[0];
  if (names.length > 4) return `${names[0]} and ${count(names.length - 1)} others`;
  return `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}

function identity({ systems, workloads, groups, baseline }: Comparison, views: readonly RunView[]): string {
  const seeds = groups.map((group) => group.views.length);
  const [least, most] = [Math.min(...seeds), Math.max(...seeds)];
  const seedText =
    least === most ? `${count(most)} seed${most === 1 ? '' : 's'} each` : `${least} to ${most} seeds each`;
  const parts = [
    `${count(systems.length)} system${systems.length === 1 ? '' : 's'}`,
    workloads.length > 1 ? `${count(workloads.length)} workloads` : '',
    seedText,
    systems.length > 1 ? `baseline ${systems[baseline].name}` : '',
    `${count(views.length)} runs`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

function stateTag(views: readonly RunView[]): Markup {
  const failed = views.filter((view) => view.metric('host.failed', 0) > 0).length;
  if (failed > 0) return tagHtml('miss', `${failed} of ${views.length} with failed requests`);
  const partial = views.filter((view) => view.result.partial !== null).length;
  return partial === 0 ? tagHtml('pass', 'complete') : tagHtml('warn', `${partial} of ${views.length} partial`);
}

function differencesSection(comparison: Comparison): Section {
  const { differences, equalKeys, systems } = comparison;
  const rest = differences.slice(DIFFERENCES);
  const body: Insert[] = [tableHtml(differenceTable(comparison, differences.slice(0, DIFFERENCES)))];
  if (rest.length > 0) {
    body.push(
      html`<details><summary>${count(rest.length)} more keys</summary>${tableHtml(differenceTable(comparison, rest))}</details>`,
    );
  }
  if (differences.length > 1) {
    body.push(
      html`<p class="call warn">◐ The systems differ in ${count(differences.length)} keys at once: this comparison does not tell their effects apart.</p>`,
    );
  }
  return {
    id: 'differences',
    name: 'What differs',
    title: `What differs between the ${systems.length > 2 ? count(systems.length) : 'two'} systems`,
    intro: `Everything else is equal: ${count(equalKeys)} other keys of the spec.`,
    body,
  };
}

function tableSection(comparison: Comparison, views: readonly RunView[], options: ReportOptions): Section {
  const several = comparison.groups.some((group) => group.views.length > 1);
  const spread = several ? 'Mean of the seeds, ± half their range. ' : '';
  const body: Insert[] = comparison.workloads.map((name, at) => {
    const heading = name === '' ? null : html`<h3>${name}</h3>`;
    return html`<div class="panel">${heading}${tableHtml(measureTable(comparison, at))}</div>`;
  });
  body.push(
    html`<details class="all"><summary>All metrics of all runs</summary><input class="script" data-filter type="search" placeholder="part of a name" aria-label="show metrics that contain"><div data-metrics>${tableHtml(allMetricsTable(comparison))}</div></details>`,
  );
  if (options.command !== undefined) body.push(html`<pre tabindex="0">${options.command}</pre>`);
  const hashes = [...new Set(views.map((view) => view.result.specHash.slice(0, 8)))];
  body.push(
    html`<p class="cap">Spec hashes: ${hashes.map((hash, i) => html`${i === 0 ? '' : ', '}<code>${hash}</code>`)}.</p>`,
  );
  return {
    id: 'metrics',
    name: 'Metrics',
    title: 'Metrics',
    intro: `${spread}Bold: best. ▲ better, ▼ worse, ≈ no difference claimed. The sign is that of the change, the symbol that of the judgement.`,
    body,
  };
}

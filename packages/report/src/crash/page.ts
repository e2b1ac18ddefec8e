import { InputError } from '@flashstack/sim';
import type { Table } from '../figure.js';
import { html, type Insert, type Markup, trusted } from '../markup.js';
import { count, percent } from '../numbers.js';
import { pageHtml } from '../page/page.js';
import { keyFiguresHtml, panelHtml, type Section, tableHtml, tagHtml } from '../page/parts.js';
import { failureHtml } from './cases.js';
import { crashStyle } from './style.js';
import type { CrashExploration } from './types.js';

/** What a page of power cuts may be told besides what was found. */
export interface CrashPageOptions {
  /** Title of the page; without it the names of the file systems. */
  readonly title?: string;
}

/**
 * What power cuts left of file systems as one HTML page: how much was tried, what was lost, by rule, operation and
 * configuration, and each failure with what happens in it. The same explorations give the same bytes.
 * @throws InputError `ERR_REPORT_EMPTY` without an exploration.
 */
export function renderCrashes(explorations: readonly CrashExploration[], options: CrashPageOptions = {}): string {
  if (explorations.length === 0) {
    throw new InputError('ERR_REPORT_EMPTY', 'There is no exploration to report.', 'explorations');
  }
  const names = [...new Set(explorations.map(({ name }) => name))];
  const title = options.title ?? names.join(', ');
  const several = explorations.length > 1;
  return pageHtml({
    title: `Power cuts: ${title}`,
    kind: 'power cuts',
    head: html`<h1>${title}</h1><p class="sub">${identity(explorations)}</p><p class="finding">${headline(explorations)}</p>${several ? null : totalsHtml(explorations[0])}`,
    sections: [
      ...(several ? [configurations(explorations)] : []),
      ...explorations.flatMap((one, at) => sectionsOf(one, several ? `${at + 1}` : '')),
    ],
    footer: footer(explorations),
    style: crashStyle,
  });
}

function identity(explorations: readonly CrashExploration[]): string {
  if (explorations.length > 1) return `${count(explorations.length)} configurations`;
  return Object.entries(explorations[0].configuration)
    .map(([key, value]) => `${key} ${value}`)
    .join(' · ');
}

/** The finding: how much of what was tried is lost, and by which rule most. */
function headline(explorations: readonly CrashExploration[]): Markup {
  const sum = (of: (one: CrashExploration) => number): number => explorations.reduce((all, one) => all + of(one), 0);
  const [lost, recovered] = [sum(({ counts }) => counts.lost), sum(({ counts }) => counts.recovered)];
  const workloads = `${count(sum(({ counts }) => counts.workloads))} workloads`;
  const unfinished = explorations.some(({ stopped }) => stopped !== null)
    ? ' Not all that was planned was explored.'
    : '';
  if (lost === 0) {
    return html`<b>Nothing is lost</b> in ${count(recovered)} images that power cuts leave of ${workloads}.${unfinished}`;
  }
  const rules = new Map<string, number>();
  for (const { byRule } of explorations) {
    for (const [rule, number] of Object.entries(byRule)) rules.set(rule, (rules.get(rule) ?? 0) + number);
  }
  const [most] = [...rules].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const title = explorations.find(({ titles }) => titles[most[0]] !== undefined)?.titles[most[0]];
  const means = title === undefined ? '' : ` (${title})`;
  return html`<b>${count(lost)} of ${count(recovered)} images</b> that power cuts leave of ${workloads} break a promise, most of them ${most[0]}${means}.${unfinished}`;
}

function totalsHtml({ counts, unique, planned }: CrashExploration): Markup {
  const of = planned === 0 ? 'without end' : `of ${count(planned)}`;
  return keyFiguresHtml([
    { label: 'workloads', value: count(counts.workloads), unit: '', remark: of },
    { label: 'images tried', value: count(counts.tried), unit: '', remark: 'equal ones each time' },
    { label: 'images recovered', value: count(counts.recovered), unit: '', remark: `${count(unique.images)} unique` },
    {
      label: 'recovered states',
      value: count(unique.states),
      unit: '',
      remark: `${count(counts.judged)} trees judged`,
    },
    {
      label: 'cut again in recovery',
      value: count(counts.second),
      unit: '',
      remark: `${count(counts.third)} a third time`,
    },
    { label: 'images lost', value: count(counts.lost), unit: '', remark: share(counts.lost, counts.recovered) },
  ]);
}

function share(part: number, whole: number): string {
  return whole === 0 ? 'of none' : `${percent(part / whole)} of those recovered`;
}

function configurations(explorations: readonly CrashExploration[]): Section {
  const keys = [...new Set(explorations.flatMap(({ configuration }) => Object.keys(configuration)))].filter(
    (key) => new Set(explorations.map(({ configuration }) => configuration[key])).size > 1,
  );
  const rows = explorations.map(({ name, configuration, counts, unique, stopped }, at) => [
    html`<a href="#found${at + 1}">${name}</a>`,
    ...keys.map((key) => configuration[key] ?? '–'),
    count(counts.workloads),
    count(counts.recovered),
    count(unique.states),
    count(counts.lost),
    stopped === null
      ? tagHtml(counts.lost === 0 ? 'pass' : 'miss', counts.lost === 0 ? 'sound' : 'lost')
      : tagHtml('warn', 'stopped'),
  ]);
  const head = ['file system', ...keys, 'workloads', 'images', 'states', 'lost', ''];
  const numeric = [1, 2, 3, 4].map((at) => keys.length + at);
  return {
    id: 's_configurations',
    name: 'Configurations',
    title: 'By configuration',
    body: [tableHtml({ head, rows, numeric })],
  };
}

function sectionsOf(one: CrashExploration, suffix: string): Section[] {
  const named = suffix === '' ? '' : `${one.name} ${suffix}: `;
  const found: Section = {
    id: `found${suffix}`,
    name: suffix === '' ? 'What was found' : `${one.name} ${suffix}`,
    title: `${named}What was found`,
    ...(suffix === '' ? {} : { intro: identity([one]) }),
    body: [
      suffix === '' ? null : totalsHtml(one),
      one.stopped === null ? null : html`<p class="call warn">Workloads are left: ${one.stopped}.</p>`,
      html`<div class="g">${rulesHtml(one)}${operationsHtml(one)}</div>`,
    ],
  };
  if (one.failures.length === 0) return [found];
  const cases: Section = {
    id: `cases${suffix}`,
    name: suffix === '' ? 'Failures' : `failures ${suffix}`,
    title: `${named}Failures`,
    intro:
      'The first of each rule, made as small as they go. Positions are those of one order of everything that happens.',
    body: one.failures.map((failure) => failureHtml(failure, one.titles[failure.rule] ?? '')),
  };
  return [found, cases];
}

function rulesHtml({ byRule, titles }: CrashExploration): Markup {
  const rules = Object.entries(byRule).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const most = Math.max(1, ...rules.map(([, lost]) => lost));
  const table: Table = {
    head: ['rule', 'it demands', 'images', ''],
    rows: rules.map(([rule, lost]) => [rule, titles[rule] ?? '', count(lost), barHtml(lost / most)]),
    numeric: [2],
  };
  const body = rules.length === 0 ? html`<p class="cap">No image violates any.</p>` : tableHtml(table);
  return panelHtml(7, 'By rule', 'Images by the first rule that they violate.', body);
}

function operationsHtml({ byOperation }: CrashExploration): Markup {
  const rows = Object.entries(byOperation).sort((a, b) => b[1].lost - a[1].lost || (a[0] < b[0] ? -1 : 1));
  const table: Table = {
    head: ['operation', 'workloads', 'lost', ''],
    rows: rows.map(([name, { workloads, lost }]): readonly Insert[] => [
      html`<code>${name}</code>`,
      count(workloads),
      count(lost),
      barHtml(lost / workloads),
    ]),
    numeric: [1, 2],
  };
  const caption =
    'Workloads that an operation is part of, and those of them that lose an image; the bar is their share.';
  return panelHtml(5, 'By operation', caption, tableHtml(table));
}

function barHtml(part: number): Insert {
  if (part === 0) return '';
  return html`<i class="bar" style="width:${trusted((part * 100).toFixed(2))}%"></i>`;
}

function footer(explorations: readonly CrashExploration[]): string {
  const made = [
    ...new Set(explorations.flatMap(({ versions }) => Object.entries(versions).map((pair) => pair.join(' ')))),
  ];
  return `Counts are exact. Equal images of a workload are recovered once; unique images and states are counted over all workloads.${made.length === 0 ? '' : ` Made by ${made.join(', ')}.`}`;
}

import type { Figure } from './figure.js';
import { callsTable } from './figures/calls.js';
import { channelsFigure, dieHeatFigure, victimsFigure, wearFigure } from './figures/device.js';
import { flowFigure } from './figures/flow.js';
import { percentileFigure, percentileTable, phasesFigure } from './figures/latency.js';
import {
  amplificationOverTimeFigure,
  freeBlocksFigure,
  latencyOverTimeFigure,
  throughputFigure,
} from './figures/over-time.js';
import { boundsFigure, waterfallFigure } from './figures/writes.js';
import { flowTable, isWide } from './flow/table.js';
import { headline, withGroups } from './headline.js';
import { html, type Insert, type Markup } from './markup.js';
import { metricsTable } from './metrics.js';
import { bytes, count, duration, megabytesPerSecond, percent, short, significant, split, UNKNOWN } from './numbers.js';
import { pageHtml } from './page/page.js';
import {
  figureHtml,
  type KeyFigure,
  keyFiguresHtml,
  panelHtml,
  type Section,
  tableHtml,
  tagHtml,
} from './page/parts.js';
import type { Canvas } from './plot/canvas.js';
import { specText } from './spec-text.js';
import type { RunView } from './view.js';

/** What a report may be told besides results. */
export interface ReportOptions {
  /** Title of the page; without it workload and drive. */
  readonly title?: string;
  /** The command that gives the results again. */
  readonly command?: string;
  /** Comparisons: index of the result whose group is the baseline. Default 0. */
  readonly baseline?: number;
}

/** All figures of a run report, in order. */
export function runFigures(view: RunView): Figure[] {
  return [
    throughputFigure(view),
    latencyOverTimeFigure(view),
    amplificationOverTimeFigure(view),
    freeBlocksFigure(view),
    percentileFigure(view),
    phasesFigure(view),
    boundsFigure(view),
    waterfallFigure(view),
    flowFigure(view),
    dieHeatFigure(view),
    channelsFigure(view),
    victimsFigure(view),
    wearFigure(view),
  ];
}

/** The report of one run. */
export function runReport(view: RunView, options: ReportOptions, canvas: Canvas): string {
  const figures = new Map(runFigures(view).map((figure) => [figure.id, figureHtml(figure, canvas)]));
  const shown = (...ids: string[]): Markup => html`<div class="g">${ids.map((id) => figures.get(id) ?? null)}</div>`;
  const title = options.title ?? `${view.workload} on ${view.device}`;
  const sections: Section[] = [
    {
      id: 'time',
      name: 'Over time',
      title: 'Over time',
      intro: html`Simulated time. <span class="script">All axes share one cursor: point at any of them.</span>`,
      body: [shown('throughput', 'latency-over-time', 'write-amplification', 'free-blocks')],
    },
    { id: 'latency', name: 'Latency', title: 'Latency', body: [latencyBody(view, figures)] },
    { id: 'writes', name: 'Write amplification', title: 'Write amplification', body: [writesBody(view, figures)] },
    { id: 'device', name: 'Device', title: 'Device', body: [deviceBody(view, figures)] },
    { id: 'spec', name: 'Spec and metrics', title: 'Spec and metrics', body: specBody(view, options) },
  ];
  return pageHtml({
    title: `Run report: ${title}`,
    kind: 'run report',
    head: html`<h1>${title}</h1><p class="sub">${identity(view)} ${stateTag(view)}</p>${warnings(view)}<p class="finding">${headline(view)}</p>${keyFiguresHtml(keyFigures(view))}`,
    sections,
    footer: footer([view]),
  });
}

function latencyBody(view: RunView, figures: ReadonlyMap<string, Markup>): Markup {
  const { issued, completed, failed } = {
    issued: view.metric('host.issued'),
    completed: view.metric('host.completed'),
    failed: view.metric('host.failed'),
  };
  const account = html`<p class="cap">No request was lost: ${count(issued)} issued = ${count(completed)} completed + ${count(failed)} failed.</p>`;
  const table =
    view.kinds.length === 0 ? html`<p class="call">No request was made.</p>` : tableHtml(percentileTable(view));
  const caption = `Upper ends of histogram buckets, at most 0.8\u00a0% above the true value. ${UNKNOWN}: fewer than ten requests beyond it.`;
  const panel = panelHtml(5, 'Percentiles', caption, [table, account]);
  return html`<div class="g">${callsPanel(view)}${figures.get('percentiles') ?? null}${panel}${figures.get('phases') ?? null}${figures.get('bounds') ?? null}</div>`;
}

/** What programs waited for, above what the drive did; without a system there are none. */
function callsPanel(view: RunView): Markup | null {
  const table = callsTable(view);
  if (table === null) return null;
  const caption = `How long calls of programs took; the other panels are of requests to the drive. ${UNKNOWN}: fewer than ten calls beyond it.`;
  return panelHtml(12, 'Calls', caption, tableHtml(table));
}

function writesBody(view: RunView, figures: ReadonlyMap<string, Markup>): Markup {
  const { analysis } = view.result;
  const facts: Insert[][] = [
    ['GC runs', count(view.metric('ftl.gc.runs'))],
    ['slots copied by GC', count(view.metric('ftl.gc.copies'))],
    ['blocks erased', count(view.metric('nand.erases'))],
    ['pages or word lines programmed', count(view.metric('nand.programs'))],
    ['pages read', count(view.metric('nand.reads'))],
    ['writes that waited for the buffer', count(view.metric('ssd.bufferFullWaits'))],
    ['slots overwritten in the buffer', count(view.metric('ssd.bufferOverwrites'))],
  ];
  const { dieShare = Number.NaN }: Partial<typeof analysis.gc> = analysis.gc;
  if (Number.isFinite(dieShare)) facts.unshift(["GC's share of the dies' time", percent(dieShare)]);
  const table = tableHtml({ head: ['', 'amount'], rows: facts, numeric: [1] });
  return html`<div class="g">${figures.get('waterfall') ?? null}${panelHtml(5, 'What the drive did', withGroups(analysis.gcSentence), table)}${figures.get('write-flow') ?? null}${origins(view)}</div>`;
}

/** Who caused the writes, layer by layer. */
function origins(view: RunView): Markup | null {
  const parts = view.writeFlow;
  if (parts.length === 0) return null;
  const base = parts.some(({ layer }) => layer === 'application')
    ? 'a byte of the programs'
    : 'a byte that the drive took';
  const earlier = parts.some(({ origin }) => origin === 'preconditioned')
    ? ' Earlier data is what the drive held before the run.'
    : '';
  const caption = `By whom, at each layer. ×: bytes of flash for ${base}; the rows add up.${earlier}`;
  return panelHtml(isWide(parts) ? 12 : 5, 'Who caused the writes', caption, tableHtml(flowTable(parts)));
}

function deviceBody(view: RunView, figures: ReadonlyMap<string, Markup>): Markup {
  const shown = ['die-activity', 'channels', 'victims', 'wear'].map((id) => figures.get(id) ?? null);
  return html`<div class="g">${shown}${memory(view)}</div>`;
}

function memory(view: RunView): Markup {
  const size = view.metric('ftl.map.bytes');
  const { capacityBytes, nand } = view.result.spec.device;
  if (!Number.isFinite(size)) {
    return panelHtml(4, 'How much memory does mapping need?', null, html`<p class="call">It was not recorded.</p>`);
  }
  const rows = [
    ['mapping table', bytes(size)],
    ['capacity of the drive', bytes(capacityBytes)],
    ['bytes per slot', significant(size / (capacityBytes / nand.geometry.slotBytes))],
  ];
  const caption = 'What the FTL keeps in memory to find the data.';
  return panelHtml(
    4,
    `Mapping takes ${bytes(size)} of memory`,
    caption,
    tableHtml({ head: ['', 'size'], rows, numeric: [1] }),
  );
}

function specBody(view: RunView, options: ReportOptions): Insert[] {
  const { result } = view;
  const versions = Object.entries(result.versions).map(([name, version]) => `${name} ${version}`);
  const command = options.command === undefined ? null : html`<pre tabindex="0">${options.command}</pre>`;
  const again =
    options.command === undefined
      ? `This spec gives the same result bit for bit, with the operations of the workload where it names a trace.`
      : 'The command gives the same result bit for bit.';
  const spec = html`<pre tabindex="0">${specText(result.spec)}</pre>`;
  const metrics = metricsTable(result);
  const total = Object.keys(result.metrics).length;
  return [
    command,
    html`<p class="cap">${again} Spec hash <code>${result.specHash.slice(0, 16)}</code>${versions.length === 0 ? '' : `, ${versions.join(', ')}`}.</p>`,
    html`<details><summary>The spec, with the values of the preset filled in</summary>${spec}</details>`,
    html`<details class="all"><summary>All ${total} metrics</summary><input class="script" data-filter type="search" placeholder="part of a name" aria-label="show metrics that contain"><div data-metrics>${tableHtml(metrics)}</div></details>`,
  ];
}

/** What ran, in one line. */
function identity(view: RunView): string {
  const { spec, seed, preconditioned, metrics } = view.result;
  const { device } = spec;
  const cpu = metrics['run.cpuSeconds'];
  const parts = [
    `${device.name}, ${bytes(device.capacityBytes)}`,
    `${view.victim} GC`,
    ...askedBy(spec),
    preconditioned === 'none'
      ? 'new drive'
      : `${spec.precondition === 'fill' ? 'filled' : 'steady state'}, ${preconditioned}`,
    `${duration(view.spanNs)} simulated${cpu === undefined ? '' : ` in ${significant(cpu)} s of CPU`}`,
    view.warmupNs > 0 ? `warm-up of ${duration(view.warmupNs)} left out` : '',
    `seed ${seed}`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

/** Who asks the drive: a loop of requests, or programs on a file system. */
function askedBy(spec: RunView['result']['spec']): string[] {
  if (spec.system !== undefined) {
    const { fileSystem, memory, readahead } = spec.system;
    return [fileSystem.name, `${bytes(memory)} of page cache`, `read-ahead ${readahead.name}`];
  }
  const { loop, repeat } = spec;
  return [
    loop.kind === 'closed' ? `${count(loop.depth)} in flight` : `${loop.kind} loop`,
    repeat > 1 ? `${count(repeat)} passes` : '',
  ];
}

function stateTag(view: RunView): Markup {
  if (view.metric('host.failed', 0) > 0) return tagHtml('miss', 'requests failed');
  return view.result.partial === null ? tagHtml('pass', 'complete') : tagHtml('warn', 'partial');
}

/** What a reader must know before any figure; `name` tells which run, where there are several. */
export function warnings(view: RunView, name = ''): Markup[] {
  const which = name === '' ? '' : `${name}: `;
  const { partial } = view.result;
  const all: Markup[] = [];
  if (partial !== null) {
    const of = partial.of > 0 ? ` of ${count(partial.of)}` : '';
    all.push(
      html`<p class="call warn"><b>◐ Partial.</b> ${which}Interrupted at ${duration(partial.atNs)} of simulated time, after ${count(partial.requests)}${of} requests. Charts end there; means cover that part only.</p>`,
    );
  }
  const late = view.metric('host.late.requests', 0);
  if (late > 0) {
    all.push(
      html`<p class="call warn"><b>◐ Late.</b> ${which}${count(late)} requests were issued after their time, by ${duration(view.metric('host.late.meanNs'))} on average and ${duration(view.metric('host.late.maxNs'))} at most: the drive did not keep up with the trace.</p>`,
    );
  }
  return all;
}

function keyFigures(view: RunView): KeyFigure[] {
  const figures: KeyFigure[] = [];
  const main = view.kinds.includes('write') ? 'write' : 'read';
  const other = main === 'write' ? 'read' : 'write';
  figures.push({
    label: `${main === 'write' ? 'Write' : 'Read'} throughput`,
    value: megabytesPerSecond(view.metric(`host.${main}.bytesPerSecond`)),
    unit: 'MB/s',
    remark: `${short(view.metric(`host.${main}.iops`))} requests/s`,
  });
  for (const kind of [main, other] as const) figures.push(tailFigure(view, kind));
  const waf = view.writeAmplification;
  figures.push({
    label: 'Write amplification',
    value: Number.isFinite(waf) ? significant(waf) : UNKNOWN,
    unit: Number.isFinite(waf) ? '×' : '',
    remark: Number.isFinite(waf) ? `${count(view.metric('ftl.gc.copies'))} slots copied` : 'nothing was written',
  });
  const busy = split(percent(view.metric('nand.busyFraction.mean')));
  figures.push({
    label: 'Dies busy',
    value: busy.value,
    unit: busy.unit,
    remark: `busiest ${percent(view.metric('nand.busyFraction.max'))}`,
  });
  const erased = split(short(view.metric('nand.erases')));
  figures.push({
    label: 'Erased',
    value: erased.value,
    unit: `${erased.unit} blocks`.trim(),
    remark: view.gcStartNs === null ? 'GC did not run' : `GC from ${duration(view.gcStartNs)}`,
  });
  return figures;
}

function tailFigure(view: RunView, kind: 'read' | 'write'): KeyFigure {
  const label = `${kind === 'write' ? 'Write' : 'Read'} latency p99`;
  const requests = view.metric(`host.${kind}.requests`, 0);
  if (requests === 0) return { label, value: UNKNOWN, unit: '', remark: `no ${kind}s` };
  const p99 = view.percentile(kind, 0.01);
  const p50 = view.percentile(kind, 0.5);
  if (Number.isNaN(p99)) return { label, value: UNKNOWN, unit: '', remark: `only ${count(requests)} ${kind}s` };
  return { label, ...split(duration(p99)), remark: `p50 ${duration(p50)}` };
}

/** How numbers are to be read, and what made the page. */
export function footer(views: readonly RunView[]): string {
  const made = [
    ...new Set(views.flatMap((view) => Object.entries(view.result.versions).map((pair) => pair.join(' ')))),
  ];
  const by = made.length === 0 ? '' : ` Made by ${made.join(', ')}`;
  const from =
    views.length === 1
      ? ` from result ${views[0].result.specHash.slice(0, 8)}.`
      : ` from ${count(views.length)} results.`;
  return `Sizes are binary (1\u00a0KiB = 1\u202f024\u00a0B), rates are decimal (1\u00a0MB/s = 10⁶\u00a0B/s), latencies are simulated time. Values have three significant digits; tables give counts in full.${by}${by === '' ? '' : from}`;
}

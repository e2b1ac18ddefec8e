import { Histogram } from '@flashstack/sim';
import * as Plot from '@observablehq/plot';
import { type Figure, missingFigure } from '../figure.js';
import {
  type LatencyCurve,
  type PhaseBar,
  percentileDrawing,
  phaseBars,
  phaseSegments,
  phaseSwatch,
} from '../figures/latency.js';
import { type Row, rowsDrawing, type Segment } from '../figures/rows.js';
import { bytes, duration, megabytesPerSecond, percent, significant } from '../numbers.js';
import { roundSteps, timeTicks } from '../plot/axes.js';
import type { Size } from '../plot/canvas.js';
import { axisX, labelRoom, type Mark, shortened } from '../plot/marks.js';
import { causeSwatches, color } from '../tokens.js';
import type { RunView } from '../view.js';
import { largest, pointsOf, ratePerSecond, type Windows } from '../windows.js';
import { type Comparison, groupOf, type System } from './groups.js';

/** A system under a workload, with its results. */
interface Entry {
  readonly system: System;
  readonly views: readonly RunView[];
}

function entries(comparison: Comparison, workload: number): Entry[] {
  return comparison.systems.flatMap((system, at) => {
    const group = groupOf(comparison, workload, at);
    return group === null ? [] : [{ system, views: group.views }];
  });
}

/** The workload before a title, where there are several. */
function prefix(comparison: Comparison, workload: number): string {
  return comparison.workloads.length === 1 ? '' : `${comparison.workloads[workload]}: `;
}

/** Where the flash writes of each system come from, on one scale. Seeds are averaged. */
export function writesFigure(comparison: Comparison): Figure {
  const causes = Object.keys(causeSwatches);
  const all = comparison.workloads.flatMap((workload, at) =>
    entries(comparison, at).map(({ system, views }) => {
      const { slotBytes } = views[0].result.spec.device.nand.geometry;
      const parts = causes.map((cause) => meanOf(views, (view) => slotsOf(view, cause)) * slotBytes);
      const total = parts.reduce((sum, value) => sum + value, 0);
      return { name: system.name, workload, parts, total, host: parts[causes.indexOf('host')] };
    }),
  );
  const title = 'Where the flash writes come from';
  if (!all.some((entry) => entry.total > 0)) return missingFigure('writes', 5, title, 'Nothing was programmed.');
  const used = causes.filter((_, i) => all.some((entry) => entry.parts[i] > 0));
  const several = comparison.workloads.length > 1;
  // Workloads differ in size: only what a received byte costs is comparable between them.
  const unit = (entry: (typeof all)[number]): number => (several ? entry.host || 1 : 1);
  const rows = all.map((entry): Row => {
    let from = 0;
    const segments = causes.map((cause, i): Segment => {
      const { token, hatched } = causeSwatches[cause];
      const segment = { from, to: from + entry.parts[i] / unit(entry), token, hatched };
      from = segment.to;
      return segment;
    });
    const times = entry.host > 0 ? ` ×\u00a0${significant(entry.total / entry.host)}` : '';
    const remark = several ? { remark: clipped(entry.workload) } : {};
    return { name: clipped(entry.name), value: `${bytes(entry.total)}${times}`, segments, ...remark };
  });
  return {
    id: 'writes',
    title,
    caption: several
      ? 'Bytes programmed by cause, for each byte that the FTL received; at the right the sum, and this multiple.'
      : 'Bytes programmed by cause, one scale for all; at the right the sum, and as a multiple of what the FTL received.',
    span: several ? 12 : 5,
    content: rowsDrawing(rows, {
      rowHeight: several ? 38 : 30,
      barHeight: 22,
      names: several ? [168, 132] : [140, 132],
      values: 112,
      most: Math.max(...all.map((entry) => entry.total / unit(entry))),
    }),
    legend: used.map((cause) => causeSwatches[cause]),
    table: {
      head: ['', ...all.map((entry) => (several ? `${entry.name}, ${entry.workload}` : entry.name))],
      rows: used.map((cause) => [
        causeSwatches[cause].label,
        ...all.map((entry) => bytes(entry.parts[causes.indexOf(cause)])),
      ]),
      numeric: all.map((_, i) => i + 1),
    },
  };
}

function clipped(name: string): string {
  return name.length > 19 ? `${name.slice(0, 18)}…` : name;
}

function slotsOf(view: RunView, cause: string): number {
  return view.programs.find((part) => part.name === cause)?.value ?? 0;
}

function meanOf(views: readonly RunView[], value: (view: RunView) => number): number {
  return views.reduce((sum, view) => sum + value(view), 0) / views.length;
}

/** Latency over percentile, a line per system; seeds are merged. */
export function latencyFigure(comparison: Comparison, workload: number): Figure {
  const all = entries(comparison, workload);
  const kind = all.some(({ views: [view] }) => view.latencies('write', view.seen) !== null) ? 'write' : 'read';
  const curves = all.flatMap(({ system, views }): LatencyCurve[] => {
    const latencies = new Histogram();
    for (const view of views) {
      const own = view.latencies(kind, view.seen);
      if (own !== null) latencies.merge(own);
    }
    if (latencies.count <= 10) return [];
    const { token, dash } = system;
    return [{ name: system.name, latencies, style: dash === undefined ? { token } : { token, dash } }];
  });
  const id = `latency-${workload + 1}`;
  const question = `${prefix(comparison, workload)}How ${kind} latencies are distributed`;
  if (curves.length === 0) return missingFigure(id, 6, question, 'A distribution needs more than ten requests.');
  return {
    id,
    title: latencyTitle(curves, kind, prefix(comparison, workload)),
    caption: `${kind === 'write' ? 'Write' : 'Read'} latency by percentile, both axes logarithmic. Dots at p50, p90, p99 …`,
    span: 6,
    content: percentileDrawing(curves, `${kind} latency`),
  };
}

/** Below this ratio two curves are about the same at a percentile. */
const ALIKE = 1.02;

function latencyTitle(curves: readonly LatencyCurve[], kind: string, where: string): string {
  const [name] = curves.map((curve) => curve.name);
  if (curves.length === 1)
    return `${where}The p99 of ${kind}s is ${duration(curves[0].latencies.percentile(99))} on ${name}`;
  const [middle, tail] = [50, 99].map((percentage) => slowestAt(curves, percentage));
  if (middle === null && tail === null)
    return `${where}${kind === 'write' ? 'Write' : 'Read'} latencies are about the same`;
  if (tail === null) return `${where}${middle} is slowest at the median, the tails are about the same`;
  if (middle === null) return `${where}${tail} has the longest tail, the medians are about the same`;
  if (tail === middle) return `${where}${tail} is slowest at the median and in the tail`;
  return `${where}${middle} is slowest at the median, ${tail} in the tail`;
}

/** Whose latency is longest at a percentile, or null if all are about the same there. */
function slowestAt(curves: readonly LatencyCurve[], percentage: number): string | null {
  const values = curves.map((curve) => curve.latencies.percentile(percentage));
  const most = Math.max(...values);
  return most <= Math.min(...values) * ALIKE ? null : curves[values.indexOf(most)].name;
}

const PANEL = 84;

/** Throughput over time, a panel per system on one scale, the others in pale behind. The first seed of each. */
export function panelsFigure(comparison: Comparison, workload: number): Figure {
  const drawn = entries(comparison, workload).flatMap(({ system, views }) => {
    const [view] = views;
    const kind = view.kinds.includes('write') ? 'write' : 'read';
    const series = view.series(`host.${kind}.bytes`);
    return series === null ? [] : [{ system, kind, windows: ratePerSecond(series, view.spanNs), end: view.spanNs }];
  });
  const id = `throughput-${workload + 1}`;
  const where = prefix(comparison, workload);
  if (drawn.length === 0) return missingFigure(id, 6, `${where}Throughput over time`, 'Nothing was transferred.');
  const end = Math.max(...drawn.map((panel) => panel.end));
  const top = largest(...drawn.map((panel) => panel.windows)) * 1.1;
  const left = 46;
  const right = (size: Size): number =>
    labelRoom(
      drawn.map((panel) => panel.system.name),
      size,
    );
  const height = 14 + drawn.length * PANEL + 22;
  return {
    id,
    title: panelsTitle(drawn, where),
    caption: `${drawn[0].kind === 'write' ? 'Write' : 'Read'} throughput in MB/s of simulated time, one scale for all; the others in pale behind.`,
    span: 6,
    content: {
      heights: [height, height],
      time: (size) => ({ left, right: right(size) }),
      sketch: (size) => ({
        marginTop: 14,
        marginRight: right(size),
        marginBottom: 22,
        marginLeft: left,
        x: { domain: [0, end], axis: null },
        y: { domain: [0, drawn.length], axis: null },
        marks: [
          ...drawn.flatMap((panel, row) => panelMarks(panel, row, drawn, top, size)),
          ...axisX(timeTicks(end, size.narrow ? 3 : 6), size),
        ],
      }),
    },
  };
}

interface Panel {
  readonly system: System;
  readonly windows: Windows;
  readonly end: number;
}

function panelMarks(panel: Panel, row: number, all: readonly Panel[], top: number, size: Size): Mark[] {
  // Panels from the top; each leaves a little room above its highest value.
  const base = all.length - 1 - row;
  const height = 0.84;
  const place = (value: number): number => base + (value / top) * height;
  const points = (windows: Windows): [number, number][] => pointsOf(windows, false).map(([x, y]) => [x, place(y)]);
  const ticks = roundSteps(0, top, 2).filter((value) => value < top);
  const mean = panel.windows.values.filter(Number.isFinite);
  const level = mean.reduce((sum, value) => sum + value, 0) / mean.length;
  return [
    Plot.ruleY(ticks.slice(1).map(place), { stroke: color('grid') }),
    Plot.text(ticks, {
      y: place,
      text: megabytesPerSecond,
      frameAnchor: 'left',
      textAnchor: 'end',
      dx: -7,
      fill: color('muted'),
    }),
    ...all
      .filter((other) => other !== panel)
      .map((other) => Plot.line(points(other.windows), { stroke: color('rule'), strokeWidth: 1 })),
    Plot.line(points(panel.windows), { stroke: color(panel.system.token), strokeWidth: 1.75 }),
    Plot.ruleY([base], { stroke: color('faint') }),
    Plot.text([{ y: place(level), text: shortened(panel.system.name, size) }], {
      y: 'y',
      text: 'text',
      frameAnchor: 'right',
      textAnchor: 'start',
      dx: 8,
      fill: color('ink'),
      fontWeight: 560,
    }),
  ];
}

function panelsTitle(panels: readonly Panel[], where: string): string {
  if (panels.length === 1) return `${where}Throughput over time`;
  const rates = panels.map((panel) => {
    const values = panel.windows.values.filter(Number.isFinite);
    return values.reduce((sum, value) => sum + value, 0) / values.length;
  });
  const best = rates.indexOf(Math.max(...rates));
  const worst = rates.indexOf(Math.min(...rates));
  const times = rates[best] / rates[worst];
  if (!(times > 1.05)) return `${where}Throughput is about the same`;
  return `${where}${panels[best].system.name} moves ${significant(times)} times the bytes per second of ${panels[worst].system.name}`;
}

/** What the slowest requests of each system wait for. Seeds are averaged. */
export function waitsFigure(comparison: Comparison): Figure {
  const several = comparison.workloads.length > 1;
  const bars = comparison.workloads.flatMap((workload, at) =>
    entries(comparison, at).flatMap(({ system, views }) => {
      const bar = slowest(views);
      return bar === null ? [] : [{ name: system.name, workload, bar }];
    }),
  );
  const title = 'What the slowest 0.1\u00a0% wait for';
  if (bars.length === 0) return missingFigure('waits', 12, title, 'No request was divided into phases.');
  const rows = bars.map(
    ({ name, workload, bar }): Row => ({
      name: clipped(name),
      value: duration(bar.totalNs),
      segments: phaseSegments(bar),
      remark: several ? `${bar.kind}s, ${clipped(workload)}` : `${bar.kind}s`,
    }),
  );
  const used = bars[0].bar.parts
    .map((part) => part.name)
    .filter((phase) => bars.some(({ bar }) => bar.parts.some((part) => part.name === phase && part.value > 0)));
  return {
    id: 'waits',
    title,
    caption:
      'Mean phases of the slowest thousandth of the writes (of the reads, where nothing was written); parts sum to the total. Hatched: the request waits.',
    span: 12,
    content: rowsDrawing(rows, { rowHeight: 38, barHeight: 22, names: [168, 132], values: 68, most: 1 }),
    legend: used.map(phaseSwatch),
    table: {
      head: ['', ...used.map((phase) => phaseSwatch(phase).label)],
      rows: bars.map(({ name, workload, bar }) => [
        several ? `${name}, ${workload}` : name,
        ...used.map((phase) => percent((bar.parts.find((part) => part.name === phase)?.value ?? 0) / bar.totalNs)),
      ]),
      numeric: used.map((_, i) => i + 1),
    },
  };
}

function slowest(views: readonly RunView[]): PhaseBar | null {
  const bars = views.flatMap((view) => {
    const own = phaseBars(view).filter((bar) => bar.group === 'slowest');
    const bar = own.find(({ kind }) => kind === 'write') ?? own[0];
    return bar === undefined ? [] : [bar];
  });
  if (bars.length === 0) return null;
  const parts = bars[0].parts.map(({ name }, i) => ({
    name,
    value: bars.reduce((sum, bar) => sum + bar.parts[i].value, 0) / bars.length,
  }));
  return { ...bars[0], parts, totalNs: parts.reduce((sum, part) => sum + part.value, 0) };
}

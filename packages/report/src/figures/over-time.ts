import { closedFormAmplification } from '../closed-form.js';
import { type Figure, missingFigure, type Table } from '../figure.js';
import { withGroups } from '../headline.js';
import { count, duration, megabytesPerSecond, percent, significant } from '../numbers.js';
import { decades, decadeTicks, roundSteps, timeTicks } from '../plot/axes.js';
import type { Size } from '../plot/canvas.js';
import {
  axisTitle,
  type EndLabel,
  endLabels,
  frame,
  type Line,
  lines,
  type Margins,
  type Mark,
  note,
  reference,
  type Scale,
  span,
} from '../plot/marks.js';
import { kindStyles, type RunView } from '../view.js';
import { joined, largest, meanBetween, means, minima, pointsOf, ratePerSecond, type Windows } from '../windows.js';

/** What a figure over simulated time is made of. */
interface TimePlot {
  readonly lines: readonly Line[];
  readonly scale: Scale;
  readonly ticks: readonly number[];
  readonly tickLabel: (value: number) => string;
  readonly unit: string;
  readonly labels: readonly EndLabel[];
  readonly heights: readonly [number, number];
  readonly extra?: (size: Size) => Mark[];
  readonly left?: number;
}

/** End of the time axis: of the run, or of the planned run if it was interrupted and its length can be told. */
function endOf(view: RunView): number {
  const { partial } = view.result;
  if (partial === null || partial.of <= 0 || partial.requests <= 0) return view.spanNs;
  return Math.min(view.spanNs * (partial.of / partial.requests), view.spanNs * 4);
}

function timeDrawing(view: RunView, plot: TimePlot): Figure['content'] {
  const margins: Margins = { top: 28, right: 114, bottom: 24, left: plot.left ?? 46 };
  const end = endOf(view);
  const gc = view.gcStartNs;
  return {
    heights: plot.heights,
    time: () => margins,
    sketch: (size) => ({
      marginTop: margins.top,
      marginRight: margins.right,
      marginBottom: margins.bottom,
      marginLeft: margins.left,
      x: { domain: [0, end], axis: null },
      y: { domain: [...plot.scale.domain], type: plot.scale.type, axis: null, clamp: true },
      marks: [
        gc === null ? null : span(gc, view.spanNs, 'gc'),
        ...frame(timeTicks(end, size.narrow ? 3 : 6), { at: plot.ticks, label: plot.tickLabel }, size),
        axisTitle(plot.unit, margins),
        ...(gc === null || gc < end * 0.005 ? [] : [reference('x', gc)]),
        ...(view.warmupNs > 0 ? [reference('x', view.warmupNs)] : []),
        ...lines(plot.lines),
        ...(plot.extra?.(size) ?? []),
        ...(view.result.partial === null ? [] : interruption(view, plot.scale, end)),
        ...endLabels(plot.labels, plot.scale, margins, size),
      ],
    }),
  };
}

function interruption(view: RunView, scale: Scale, end: number): Mark[] {
  const anchor = view.spanNs > end * 0.6 ? 'end' : 'start';
  return [reference('x', view.spanNs), note('interrupted', { x: view.spanNs, y: scale.domain[1], anchor, dy: 20 })];
}

function gcNote(view: RunView, scale: Scale): Mark[] {
  const start = view.gcStartNs;
  if (start === null) return [];
  const anchor = start > endOf(view) * 0.6 ? 'end' : 'start';
  return [note(`GC from ${duration(start)}`, { x: start, y: scale.domain[1], anchor, dy: 7 })];
}

/** Zero-based linear scale with round steps over what is to be shown. */
function fromZero(most: number, wanted: number): { scale: Scale; ticks: number[] } {
  const top = most > 0 ? most * 1.16 : 1;
  return { scale: { type: 'linear', domain: [0, top] }, ticks: roundSteps(0, top, wanted) };
}

/** Bytes completed per second, by direction. */
export function throughputFigure(view: RunView): Figure {
  const kinds = view.kinds.filter((kind) => kind === 'read' || kind === 'write');
  const rates = kinds.flatMap((kind) => {
    const series = view.series(`host.${kind}.bytes`);
    return series === null ? [] : [{ kind, windows: ratePerSecond(series, view.spanNs) }];
  });
  if (rates.length === 0) {
    return missingFigure('throughput', 6, 'Throughput over time', 'Nothing was read or written, so there is no rate.');
  }
  const { scale, ticks } = fromZero(largest(...rates.map((rate) => rate.windows)), 4);
  const labels = rates.map(({ kind }) => {
    const mean = view.metric(`host.${kind}.bytesPerSecond`);
    return { value: mean, text: `${kind} ${megabytesPerSecond(mean)}`, token: kindStyles[kind].token };
  });
  const interval = duration(rates[0].windows.intervalNs);
  return {
    id: 'throughput',
    title: throughputTitle(view, rates),
    caption: `Host bytes completed per second of simulated time, windows of ${interval}; at the right the mean of the run.${shading(view)}`,
    span: 6,
    content: timeDrawing(view, {
      lines: rates.map(({ kind, windows }) => ({ points: pointsOf(windows, false), token: kindStyles[kind].token })),
      scale,
      ticks,
      tickLabel: megabytesPerSecond,
      unit: 'MB/s',
      labels,
      heights: [214, 200],
      extra: () => gcNote(view, scale),
    }),
    table: windowTable(
      rates.map(({ kind, windows }) => ({ name: `${kind}, MB/s`, windows, text: megabytesPerSecond })),
    ),
  };
}

function shading(view: RunView): string {
  const gc = view.gcStartNs === null ? '' : ' Shaded: since GC began.';
  return view.warmupNs > 0 ? `${gc} Dashed: the end of the warm-up, from which on metrics count.` : gc;
}

function throughputTitle(view: RunView, rates: readonly { kind: string; windows: Windows }[]): string {
  const main = rates.find((rate) => rate.kind === 'write') ?? rates[0];
  const name = main.kind === 'write' ? 'Write throughput' : 'Read throughput';
  const gc = view.gcStartNs;
  const end = view.spanNs;
  if (gc !== null && gc > end * 0.05 && gc < end * 0.95) {
    const before = meanBetween(main.windows, 0, gc);
    const after = meanBetween(main.windows, gc, end);
    const fall = 1 - after / before;
    if (fall > 0.05) return `${name} falls by ${percent(fall)} once garbage collection has begun`;
    if (Math.abs(fall) <= 0.05) return `${name} does not change when garbage collection begins`;
  }
  const early = meanBetween(main.windows, 0, end / 2);
  const late = meanBetween(main.windows, end / 2, end);
  const drift = late / early - 1;
  if (Math.abs(drift) <= 0.05) return `${name} holds at ${megabytesPerSecond((early + late) / 2)} MB/s`;
  if (Number.isFinite(drift)) {
    return `${name} ${drift > 0 ? 'rises' : 'falls'} by ${percent(Math.abs(drift))} from the first half to the second`;
  }
  return 'When did it get slow?';
}

const TAIL_LINES: readonly { key: string; label: string; dash?: string; width: number }[] = [
  { key: 'p50', label: 'p50', width: 1.75 },
  { key: 'p99', label: 'p99', dash: '6 4', width: 1.75 },
  { key: 'p999', label: 'p99.9', dash: '1.5 4', width: 1.5 },
];

/** Latency percentiles of writes (or of reads, where nothing was written) over time. */
export function latencyOverTimeFigure(view: RunView): Figure {
  const kind = view.kinds.includes('write') ? 'write' : 'read';
  const { token } = kindStyles[kind];
  const told = TAIL_LINES.flatMap((line) => {
    const series = view.series(`host.${kind}.latencyNs.${line.key}`);
    return series === null ? [] : [{ ...line, windows: means(series) }];
  });
  const meanSeries = view.series(`host.${kind}.latencyNs`);
  const shown =
    told.length > 0 || meanSeries === null
      ? told
      : [
          { key: 'mean', label: 'mean', width: 1.75, windows: means(meanSeries) },
          {
            key: 'max',
            label: 'max',
            dash: '1.5 4',
            width: 1.5,
            windows: { intervalNs: meanSeries.intervalNs, values: meanSeries.max.map((value) => value ?? Number.NaN) },
          },
        ];
  if (shown.length === 0) {
    return missingFigure('latency-over-time', 6, 'Latency over time', 'No request was timed.');
  }
  const domain = decades(shown.flatMap((line) => [...line.windows.values]));
  const scale: Scale = { type: 'log', domain };
  const last = (windows: Windows): number => windows.values.filter(Number.isFinite).at(-1) ?? domain[0];
  const percentilesTold = told.length > 0;
  return {
    id: 'latency-over-time',
    title: latencyTitle(kind, shown),
    caption: `${kind === 'write' ? 'Write' : 'Read'} latency per window${percentilesTold ? '' : ', mean and largest'}, logarithmic axis.`,
    span: 6,
    content: timeDrawing(view, {
      lines: shown.map((line) => ({
        points: pointsOf(line.windows, false),
        token,
        width: line.width,
        ...(line.dash === undefined ? {} : { dash: line.dash }),
      })),
      scale,
      ticks: decadeTicks(domain[0], domain[1], 5),
      tickLabel: tickDuration,
      unit: 'latency',
      labels: [...shown].reverse().map((line) => ({ value: last(line.windows), text: line.label, token })),
      heights: [214, 200],
      left: 56,
    }),
    table: windowTable(
      shown.map((line) => ({ name: `${line.label}, µs`, windows: line.windows, text: (ns) => significant(ns / 1e3) })),
    ),
  };
}

/** A power of ten as a tick: 10 µs, not 10.0 µs. */
export function tickDuration(ns: number): string {
  return duration(ns).replace(/\.0+(?=\u00a0)/, '');
}

function latencyTitle(kind: string, shown: readonly { key: string; windows: Windows }[]): string {
  const grown = (key: string): number => {
    const values = shown.find((line) => line.key === key)?.windows.values.filter(Number.isFinite) ?? [];
    const quarter = Math.max(1, Math.floor(values.length / 4));
    const mean = (part: readonly number[]): number => part.reduce((sum, value) => sum + value, 0) / part.length;
    return values.length < 4 ? Number.NaN : mean(values.slice(-quarter)) / mean(values.slice(0, quarter));
  };
  const tail = grown('p99');
  const middle = grown('p50');
  const name = kind === 'write' ? 'write' : 'read';
  if (!Number.isFinite(tail) || !Number.isFinite(middle)) return `How bad is the ${name} tail, and when?`;
  if (tail > 1.5) return `The ${name} tail grows: p99 ends at ${significant(tail)} times where it began`;
  if (tail < 0.67) return `The ${name} tail shrinks: p99 ends at ${percent(tail)} of where it began`;
  return middle > 1.5 || middle < 0.67
    ? `The ${name} tail holds, the median changes ${significant(middle)} times`
    : `Median and tail of ${name}s hold over the run`;
}

/** Slots programmed per slot written, over time. */
export function amplificationOverTimeFigure(view: RunView): Figure {
  const title = 'Write amplification over time';
  const host = view.series('ftl.hostSlots');
  const programmed = view.series('ftl.programmedSlots');
  if (host === null || programmed === null || !(view.writeAmplification > 0)) {
    return missingFigure(
      'write-amplification',
      6,
      title,
      'The drive programmed nothing, so there is no amplification.',
    );
  }
  const received = joined(host, 100);
  const spent = joined(programmed, 100);
  const values = received.sums.map((slots, at) => (slots > 0 ? (spent.sums[at] ?? 0) / slots : Number.NaN));
  const windows: Windows = { intervalNs: received.intervalNs, values };
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  // A window in which the drive received hardly anything may show any ratio: the axis leaves the highest 2 % out.
  const usual = sorted[Math.floor(sorted.length * 0.98)] ?? view.writeAmplification;
  const closed = closedFormAmplification(view);
  const top = Math.max(2, closed ?? 0, Math.min(usual, view.writeAmplification * 4)) * 1.15;
  const clipped = sorted.some((value) => value > top);
  const scale: Scale = { type: 'linear', domain: [1, top] };
  const bounded = values.map((value) => (Number.isNaN(value) ? value : Math.min(top, Math.max(1, value))));
  const waf = view.writeAmplification;
  const theory = closed === null ? '' : ' Dashed: the closed form for uniformly random writes with these victims.';
  return {
    id: 'write-amplification',
    title:
      closed !== null && Math.abs(waf / closed - 1) <= 0.1
        ? `Write amplification is ${significant(waf)}, as theory says: ${significant(closed)}`
        : `Each slot that flash receives costs ${significant(waf)} programs`,
    caption: `Slots programmed per slot written to flash, windows of ${duration(windows.intervalNs)}; the axis begins at 1, its floor.${clipped ? ` Windows above ${significant(top)} are drawn at the edge.` : ''}${theory}`,
    span: 6,
    content: timeDrawing(view, {
      lines: [{ points: pointsOf({ intervalNs: windows.intervalNs, values: bounded }, true), token: 'gc' }],
      scale,
      ticks: [1, ...roundSteps(1, top, 3).filter((at) => at > 1 + (top - 1) * 0.15)],
      tickLabel: (value) => String(value),
      unit: 'write amplification',
      labels: [
        { value: waf, text: `mean ${significant(waf)}`, token: 'gc' },
        ...(closed === null ? [] : [{ value: closed, text: `theory ${significant(closed)}` }]),
      ],
      heights: [150, 150],
      extra: () => (closed === null ? [] : [reference('y', closed)]),
    }),
    table: windowTable([{ name: 'write amplification', windows, text: significant }]),
  };
}

/** Free blocks against where garbage collection begins. */
export function freeBlocksFigure(view: RunView): Figure {
  const series = view.series('ftl.freeShare');
  const { gc } = view.result.analysis;
  const gcSentence = withGroups(view.result.analysis.gcSentence);
  const ran = gc.startedNs !== null;
  const title = ran
    ? 'Why GC ran: free blocks had fallen to where it begins'
    : 'Why GC did not run: blocks stayed free';
  if (series === null)
    return missingFigure('free-blocks', 6, title, `${gcSentence} Free blocks over time were not sampled.`);
  const free = minima(series);
  const { scale, ticks } = fromZero(Math.max(largest(free), gc.freeShare), 3);
  // Results of earlier versions do not tell the threshold.
  const { threshold = Number.NaN, domainBlocks = Number.NaN }: Partial<typeof gc> = gc;
  const begins = threshold / domainBlocks;
  const limits = Number.isFinite(begins) ? [{ value: begins, text: `threshold ${percent(begins)}` }] : [];
  const where = Number.isFinite(begins)
    ? ` A victim is chosen when ${count(threshold)} of the ${count(domainBlocks)} blocks of a domain are free.`
    : '';
  return {
    id: 'free-blocks',
    title,
    caption: `Share of blocks that are free in the whole drive, least of each window. ${gcSentence}${where}`,
    span: 6,
    content: timeDrawing(view, {
      lines: [{ points: pointsOf(free, true), token: 'hostData' }],
      scale,
      ticks,
      tickLabel: (share) => percent(share).replace(/\.0(?=\u00a0)/, ''),
      unit: 'free blocks',
      labels: [{ value: gc.freeShare, text: `${ran ? 'GC at' : 'lowest'} ${percent(gc.freeShare)}` }, ...limits],
      heights: [150, 150],
      extra: () => [gc.freeShare, ...limits.map((limit) => limit.value)].map((share) => reference('y', share)),
    }),
    table: windowTable([{ name: 'free blocks', windows: free, text: percent }]),
  };
}

/** At most a dozen windows of each column, spread over the run. */
function windowTable(columns: readonly { name: string; windows: Windows; text: (value: number) => string }[]): Table {
  const { windows } = columns[0];
  const length = Math.max(...columns.map((column) => column.windows.values.length));
  const shown = Math.min(12, length);
  const rows = Array.from({ length: shown }, (_, i) => {
    const at = shown === 1 ? 0 : Math.round((i * (length - 1)) / (shown - 1));
    return [
      duration(at * windows.intervalNs),
      ...columns.map((column) => column.text(column.windows.values[at] ?? Number.NaN)),
    ];
  });
  return {
    head: ['window from', ...columns.map((column) => column.name)],
    rows,
    numeric: columns.map((_, i) => i + 1),
  };
}

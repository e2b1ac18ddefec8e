import type { Histogram } from '@flashstack/sim';
import { type Drawing, type Figure, missingFigure, type Table } from '../figure.js';
import { count, duration, latencyUnit, percent, significant } from '../numbers.js';
import { decades, decadeTicks, ninesTicks } from '../plot/axes.js';
import {
  axisTitle,
  axisX,
  endLabels,
  frame,
  type Line,
  labelRoom,
  lines,
  type Margins,
  type Scale,
  shortened,
} from '../plot/marks.js';
import { phaseSwatches, type Swatch } from '../tokens.js';
import { kindStyles, type Part, percentiles, type RunView } from '../view.js';
import { tickDuration } from './over-time.js';
import { type Row, rowsDrawing, type Segment } from './rows.js';

/** Points of a curve over the percentiles. */
const STEPS = 160;
/** Requests beyond the last percentile that is drawn. */
const LEAST_BEYOND = 10;

/** A named distribution of latencies, as one line of a figure over percentiles. */
export interface LatencyCurve {
  readonly name: string;
  readonly latencies: Histogram;
  readonly style: Pick<Line, 'token' | 'dash'>;
}

/** Latency over percentile, in nines: each step to the right is ten times rarer. */
export function percentileDrawing(curves: readonly LatencyCurve[], title: string): Drawing {
  const ends = curves.map((curve) => Math.log10(curve.latencies.count / LEAST_BEYOND));
  const end = Math.max(...ends);
  const drawn = curves.map((curve, i) => ({ curve, points: curvePoints(curve.latencies, ends[i]) }));
  const domain = decades(drawn.flatMap(({ points }) => points.map(([, y]) => y)));
  const scale: Scale = { type: 'log', domain };
  const marked = percentiles.map((percentile) => -Math.log10(percentile.beyond));
  return {
    heights: [300, 270],
    sketch: (size) => {
      const right = labelRoom(
        curves.map((curve) => curve.name),
        size,
      );
      const margins: Margins = { top: 28, right, bottom: 38, left: 56 };
      return {
        marginTop: margins.top,
        marginRight: margins.right,
        marginBottom: margins.bottom,
        marginLeft: margins.left,
        x: { domain: [0, end], axis: null },
        y: { type: 'log', domain: [...domain], axis: null },
        marks: [
          ...axisX(ninesTicks(end, size.narrow), size, 1).slice(0, 1),
          ...frame(
            ninesTicks(end, size.narrow),
            { at: decadeTicks(domain[0], domain[1], 6), label: tickDuration },
            size,
          ),
          axisTitle(title, margins),
          axisTitle('percentile of requests', margins, 'right'),
          ...lines(drawn.map(({ curve, points }) => ({ points, ...curve.style }))),
          ...drawn.flatMap(({ curve }, i) =>
            lines(
              marked
                .filter((x) => x <= ends[i])
                .map((x): Line => {
                  const y = at(curve.latencies, x);
                  // A line of no length with round ends is a dot.
                  return {
                    points: [
                      [x, y],
                      [x, y],
                    ],
                    token: curve.style.token,
                    width: 7,
                  };
                }),
            ),
          ),
          ...endLabels(
            drawn.map(({ curve, points }) => ({
              value: points[points.length - 1][1],
              text: shortened(curve.name, size),
              token: curve.style.token,
            })),
            scale,
            margins,
            size,
          ),
        ],
      };
    },
  };
}

function at(latencies: Histogram, x: number): number {
  return Math.max(1, latencies.percentile(100 * (1 - 10 ** -x)));
}

function curvePoints(latencies: Histogram, end: number): [number, number][] {
  return Array.from({ length: STEPS + 1 }, (_, i): [number, number] => [
    (i / STEPS) * end,
    at(latencies, (i / STEPS) * end),
  ]);
}

/** How latencies are distributed. */
export function percentileFigure(view: RunView): Figure {
  const curves = view.kinds.flatMap((kind): LatencyCurve[] => {
    const latencies = view.latencies(kind);
    if (latencies === null || latencies.count <= LEAST_BEYOND) return [];
    return [{ name: kind, latencies, style: kindStyles[kind] }];
  });
  if (curves.length === 0) {
    const most = Math.max(0, ...view.kinds.map((kind) => view.metric(`host.${kind}.requests`, 0)));
    const sentence = `A distribution needs more than ten requests of a kind; there were ${count(most)} at most.`;
    return missingFigure('percentiles', 7, 'How latencies are distributed', sentence);
  }
  return {
    id: 'percentiles',
    title: distributionTitle(curves),
    caption:
      'Latency by percentile, both axes logarithmic: each step to the right is ten times rarer. Dots mark the percentiles of the table; a line ends where ten requests remain.',
    span: 7,
    content: percentileDrawing(curves, 'latency'),
  };
}

function distributionTitle(curves: readonly LatencyCurve[]): string {
  const main = curves.find((curve) => curve.name === 'write') ?? curves[0];
  const median = main.latencies.percentile(50);
  const enough = main.latencies.count >= 1000;
  const [far, name] = enough ? [99, 'p99'] : [90, 'p90'];
  const tail = main.latencies.percentile(far);
  if (median === 0)
    return `The slowest ${enough ? 'hundredth' : 'tenth'} of ${main.name}s takes ${duration(tail)} or more`;
  const times = tail / median;
  if (times < 2)
    return `${capital(main.name)}s take about the same time: ${name} is ${significant(times)} times the median`;
  return `The ${name} of ${main.name}s is ${significant(times)} times their median`;
}

/** Percentiles of all kinds of request as numbers. */
export function percentileTable(view: RunView): Table {
  const { kinds } = view;
  const most = Math.max(...kinds.map((kind) => view.metric(`host.${kind}.latencyNs.max`, 0)));
  const { unit, ns } = latencyUnit(most);
  const told = kinds.map((kind) => ({ kind, latencies: view.latencies(kind) }));
  const text = (value: number): string => significant(value / ns);
  const rows = percentiles.map(({ label, beyond }) => [
    label,
    ...told.map(({ latencies }) =>
      latencies === null || latencies.count * beyond < LEAST_BEYOND
        ? significant(Number.NaN)
        : text(latencies.percentile(100 * (1 - beyond))),
    ),
  ]);
  return {
    head: ['', ...kinds.map((kind) => `${kind}, ${unit}`)],
    rows: [
      ...rows,
      ['max', ...kinds.map((kind) => text(view.metric(`host.${kind}.latencyNs.max`)))],
      ['mean', ...kinds.map((kind) => text(view.metric(`host.${kind}.latencyNs.mean`)))],
      ['requests', ...kinds.map((kind) => count(view.metric(`host.${kind}.requests`)))],
    ],
    numeric: kinds.map((_, i) => i + 1),
  };
}

const GROUPS: readonly { key: string; label: string; beyond: number }[] = [
  { key: '', label: 'mean', beyond: 0 },
  { key: 'p50', label: 'p50', beyond: 0.5 },
  { key: 'p99', label: 'p99', beyond: 0.01 },
  { key: 'p999', label: 'p99.9', beyond: 0.001 },
  { key: 'slowest', label: 'slowest 0.1 %', beyond: 0 },
];

/** One bar of the breakdown. */
export interface PhaseBar {
  readonly kind: string;
  readonly group: string;
  readonly label: string;
  readonly parts: readonly Part[];
  readonly totalNs: number;
}

/** The bars of the breakdown that the result tells, for each kind of request. */
export function phaseBars(view: RunView): PhaseBar[] {
  return view.kinds.flatMap((kind) => {
    const requests = view.metric(`ssd.${kind}.requests`, 0);
    return GROUPS.flatMap(({ key, label, beyond }): PhaseBar[] => {
      if (beyond > 0 && requests * beyond < LEAST_BEYOND) return [];
      const parts = view.phases(kind, key);
      if (parts === null) return [];
      const totalNs = parts.reduce((sum, part) => sum + part.value, 0);
      return [{ kind, group: key, label: `${kind} ${label}`, parts, totalNs }];
    });
  });
}

/** Parts of a bar end to end as shares of its total; the last one ends at 1 exactly. */
export function phaseSegments(bar: PhaseBar): (Segment & { readonly name: string })[] {
  const segments: (Segment & { name: string })[] = [];
  let before = 0;
  for (const part of bar.parts) {
    const after = before + part.value;
    const { token, hatched } = phaseSwatch(part.name);
    segments.push({ name: part.name, from: before / bar.totalNs, to: after / bar.totalNs, token, hatched });
    before = after;
  }
  return segments;
}

/** How a phase is drawn. */
export function phaseSwatch(name: string): Swatch {
  return phaseSwatches[name] ?? { token: 'skip', label: name, hatched: false };
}

/** What requests wait for. */
export function phasesFigure(view: RunView): Figure {
  const bars = phaseBars(view);
  if (bars.length === 0) {
    return missingFigure('phases', 7, 'What a request waits for', 'No request was divided into phases.');
  }
  const rows = bars.map(
    (bar): Row => ({ name: bar.label, value: duration(bar.totalNs), segments: phaseSegments(bar) }),
  );
  const used = bars[0].parts.map((part) => part.name).filter((name) => bars.some((bar) => partOf(bar, name) > 0));
  const largest = Math.max(...bars.map((bar) => bar.totalNs));
  const { unit, ns } = latencyUnit(largest);
  return {
    id: 'phases',
    title: phasesTitle(bars),
    caption:
      'Mean phases of all requests and of those around a percentile; parts sum to the total at the right. Solid: the drive works for the request. Hatched: the request waits.',
    span: 7,
    content: rowsDrawing(rows, { rowHeight: 25, barHeight: 20, names: [128, 132], values: 66, most: 1 }),
    legend: used.map(phaseSwatch),
    table: {
      head: [`mean, ${unit}`, ...used.map((name) => phaseSwatch(name).label), 'total'],
      rows: bars.map((bar) => [
        bar.label,
        ...used.map((name) => significant(partOf(bar, name) / ns)),
        significant(bar.totalNs / ns),
      ]),
      numeric: [...used.map((_, i) => i + 1), used.length + 1],
    },
  };
}

function partOf(bar: PhaseBar, name: string): number {
  return bar.parts.find((part) => part.name === name)?.value ?? 0;
}

function phasesTitle(bars: readonly PhaseBar[]): string {
  const kind = bars.some((bar) => bar.kind === 'write') ? 'write' : bars[0].kind;
  const tail = bars.find((bar) => bar.kind === kind && bar.group === 'slowest');
  if (tail === undefined) return 'What a request waits for';
  const worst = tail.parts.reduce((most, part) => (part.value > most.value ? part : most));
  const share = worst.value / tail.totalNs;
  const [verb, where] = phaseWords[worst.name] ?? ['spend', `in ${worst.name}`];
  return `The slowest 0.1\u00a0% of ${kind}s ${verb} ${percent(share)} of their time ${where}`;
}

const phaseWords: Readonly<Record<string, readonly [verb: string, where: string]>> = {
  queue: ['wait', 'to be begun'],
  link: ['spend', 'at the host link'],
  firmware: ['spend', 'in firmware'],
  buffer: ['wait', 'for the write buffer'],
  mapping: ['spend', 'reading the mapping'],
  bus: ['wait', 'for a channel'],
  die: ['wait', 'for a die'],
  array: ['spend', 'in the flash array'],
  transfer: ['spend', 'on a channel'],
  gc: ['wait', 'for garbage collection'],
};

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

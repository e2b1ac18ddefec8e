import * as Plot from '@observablehq/plot';
import { type Figure, missingFigure, NARROW, wideWidth } from '../figure.js';
import type { Size, Sketch } from '../plot/canvas.js';
import { axisTitle, type Box, boxes, type Margins, type Mark, reference } from '../plot/marks.js';
import { color, type Swatch } from '../tokens.js';
import { diamondMark } from './lines.js';
import { figureName } from './names.js';
import { type Axis, valueAxis } from './scales.js';
import { figureAround, finiteValues, publishedKey, type Series, seriesOf, tickText, valueText } from './series.js';
import type { Reproduction, ReproductionFigure } from './types.js';

/** Share of a group's place that stays free at each side. */
const PAD = 0.12;
/** Thinner bars than this lie down, px. */
const THIN = 9;
/** From this width on a bar has its value below it, px. */
const VALUED = 27;
const LETTER = 6.6;
/** Height of a bar that lies down, and between groups of them, px. */
const ROW = 17;
const GROUP_GAP = 12;
/** Letters of a group's name beside bars that lie down. */
const NAME_LETTERS = [24, 15] as const;
const VERTICAL_HEIGHTS = [260, 250] as const;

/** A chart of bars before it has a size. */
interface BarChart {
  readonly figure: ReproductionFigure;
  readonly series: readonly Series[];
  readonly groups: readonly string[];
  /** Bars, or places of published values alone, in each group. */
  readonly slots: number;
  readonly axis: Axis;
}

/**
 * A group per place of the axis with a bar per simulated series, published values as diamonds over them. Bars stand where
 * they and their names fit, and lie down elsewhere. A logarithmic axis has no zero: dots stand for the bars.
 */
export function barsFigure(figure: ReproductionFigure, reproduction: Reproduction): Figure {
  const id = figureName(reproduction.id, figure.id);
  const series = seriesOf(figure);
  const values = finiteValues(series);
  const slots = Math.max(0, ...series.map((one) => one.slot)) + 1;
  const groups = figure.x.values.map(tickText);
  const span = groups.length * slots > 14 ? 12 : 6;
  if (values.length === 0) return missingFigure(id, span, figure.title, 'It has no value.');
  const axis = valueAxis(figure.y.log === true ? values : [...values, 0], figure.y.log === true);
  const chart: BarChart = { figure, series, groups, slots, axis };
  const lying = 44 + groups.length * (slots * ROW + GROUP_GAP);
  const standing = (width: number): boolean => stands(chart, width - leftOf(axis) - 10);
  const content = {
    heights: [
      standing(wideWidth(span)) ? VERTICAL_HEIGHTS[0] : lying,
      standing(NARROW) ? VERTICAL_HEIGHTS[1] : lying,
    ] as const,
    sketch: (size: Size): Sketch => (standing(size.width) ? standingSketch(chart, size) : lyingSketch(chart, size)),
  };
  return figureAround({ figure, series }, reproduction, { id, span, content, legend: legendOf(chart) });
}

function legendOf({ series }: BarChart): Swatch[] {
  const simulated = series.filter((one) => !one.published);
  const alone = series.filter((one) => one.published && !simulated.some((other) => other.slot === one.slot));
  // One kind of bar needs no key: the title says what it is.
  if (series.length === 1) return [];
  return [
    ...simulated.map(({ token, name }): Swatch => ({ token, label: name, hatched: false })),
    ...alone.map(({ token, name }): Swatch => ({ token, label: name, hatched: false, outlined: true })),
    ...publishedKey(series.filter((one) => one.published && !alone.includes(one))),
  ];
}

function leftOf(axis: Axis): number {
  const letters = Math.max(...axis.ticks.map((tick) => tickText(tick).length));
  return Math.max(30, 14 + Math.ceil(letters * LETTER));
}

/** Whether bars are wide enough, and every name fits below its group in two lines. */
function stands({ groups, slots }: BarChart, inner: number): boolean {
  const place = inner / groups.length;
  return (place * (1 - 2 * PAD)) / slots >= THIN && groups.every((name) => wrapped(name, place) !== null);
}

/** A name in at most two lines of so many px, or null. */
function wrapped(name: string, px: number): string[] | null {
  const most = Math.floor((px - 6) / LETTER);
  if (name.length <= most) return [name];
  const words = name.split(' ');
  for (let at = words.length - 1; at > 0; at--) {
    const lines = [words.slice(0, at).join(' '), words.slice(at).join(' ')];
    if (lines.every((line) => line.length <= most)) return lines;
  }
  return null;
}

/** A value of a series at its place along the groups. */
interface Placed {
  readonly along: number;
  readonly from: number;
  readonly to: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

function placedOf({ values, low, high, slot }: Series, { groups, slots }: BarChart, inner: number): Placed[] {
  const width = (1 - 2 * PAD) / slots;
  // Two px of ground part neighbours.
  const gap = Math.min(width / 4, (2 * groups.length) / inner);
  return values.flatMap((value, group) => {
    if (!Number.isFinite(value)) return [];
    const start = group + PAD + slot * width;
    const end = { low: low?.[group] ?? value, high: high?.[group] ?? value };
    return [{ along: start + (width - gap) / 2, from: start, to: start + width - gap, value, ...end }];
  });
}

/** Bars (dots on a logarithmic axis), ranges and diamonds, standing or lying. */
function seriesMarks(chart: BarChart, inner: number, lying: boolean): Mark[] {
  const { series, axis } = chart;
  const simulated = series.filter((one) => !one.published);
  const log = axis.scale.type === 'log';
  const bars = simulated.flatMap((one) =>
    placedOf(one, chart, inner).map(({ from, to, value }): Box => {
      const { token } = one;
      return lying ? { x1: 0, x2: value, y1: from, y2: to, token } : { x1: from, x2: to, y1: 0, y2: value, token };
    }),
  );
  const point = ({ along, value }: Placed): { x: number; y: number } =>
    lying ? { x: value, y: along } : { x: along, y: value };
  const dots = simulated.map((one) =>
    Plot.dot(placedOf(one, chart, inner).map(point), { x: 'x', y: 'y', r: 4.5, fill: color(one.token) }),
  );
  const ranged = simulated.flatMap((one) => placedOf(one, chart, inner)).filter(({ low, high }) => low < high);
  const whisker = { stroke: color('ink'), strokeWidth: 2 };
  const ranges = lying
    ? Plot.ruleY(ranged, { y: 'along', x1: 'low', x2: 'high', ...whisker })
    : Plot.ruleX(ranged, { x: 'along', y1: 'low', y2: 'high', ...whisker });
  const published = series
    .filter((one) => one.published)
    .map((one): Mark => {
      const own = !simulated.some((other) => other.slot === one.slot);
      return diamondMark(placedOf(one, chart, inner).map(point), own ? one : { ...one, token: 'ink' });
    });
  const range = ranged.length === 0 ? [] : [ranges];
  // Bars hide what is behind them; a dot within a diamond shows that both agree.
  return log ? [...published, ...range, ...dots] : [...boxes(bars), ...range, ...published];
}

function standingSketch(chart: BarChart, size: Size): Sketch {
  const { figure, groups, slots, axis } = chart;
  const margins: Margins = { top: 28, right: 10, bottom: 54, left: leftOf(axis) };
  const inner = size.width - margins.left - margins.right;
  const place = inner / groups.length;
  const valued = (place * (1 - 2 * PAD)) / slots >= VALUED;
  const base = { y: axis.scale.domain[0], frameAnchor: 'bottom', lineAnchor: 'top' } as const;
  const values = chart.series.filter((one) => !one.published).flatMap((one) => placedOf(one, chart, inner));
  const names = groups.map((name, group) => ({ x: group + 0.5, text: (wrapped(name, place) ?? [name]).join('\n') }));
  const down = valued ? 19 : 7;
  return {
    marginTop: margins.top,
    marginRight: margins.right,
    marginBottom: margins.bottom,
    marginLeft: margins.left,
    x: { domain: [0, groups.length], axis: null },
    y: { type: axis.scale.type, domain: [...axis.scale.domain], axis: null },
    marks: [
      Plot.gridY([...axis.ticks], { stroke: color('grid'), strokeOpacity: 1 }),
      Plot.axisY([...axis.ticks], {
        tickSize: 0,
        tickPadding: 7,
        label: null,
        tickFormat: tickText,
        fill: color('muted'),
      }),
      axisTitle(figure.y.label, margins),
      ...seriesMarks(chart, inner, false),
      ...(axis.scale.type === 'log'
        ? [Plot.frame({ anchor: 'bottom', stroke: color('faint') })]
        : [Plot.ruleY([0], { stroke: color('faint') })]),
      ...(valued
        ? [
            Plot.text(values, {
              ...base,
              x: 'along',
              text: (one: Placed) => valueText(one.value),
              dy: 5,
              fill: color('ink'),
              fontSize: 11,
            }),
          ]
        : []),
      Plot.text(names, { ...base, x: 'x', text: 'text', dy: down, fill: color('muted') }),
    ],
  };
}

/** A name in so many letters, in two lines if they are needed. */
function besides(name: string, most: number): string {
  const lines = wrapped(name, (most + 1) * LETTER);
  return lines === null ? `${name.slice(0, most - 1)}…` : lines.join('\n');
}

function lyingSketch(chart: BarChart, size: Size): Sketch {
  const { figure, groups, axis, series } = chart;
  const most = NAME_LETTERS[size.narrow ? 1 : 0];
  const longest = Math.max(...groups.map((name) => Math.min(name.length, most)));
  const margins: Margins = { top: 20, right: 54, bottom: 24, left: 14 + Math.ceil(longest * LETTER) };
  const inner = size.height - margins.top - margins.bottom;
  const values = series.filter((one) => !one.published).flatMap((one) => placedOf(one, chart, inner));
  const names = groups.map((name, group) => ({
    y: group + 0.5,
    text: besides(name, most),
  }));
  const ticks = axis.ticks.filter((_, i) => !size.narrow || i % 2 === 0);
  return {
    marginTop: margins.top,
    marginRight: margins.right,
    marginBottom: margins.bottom,
    marginLeft: margins.left,
    x: { type: axis.scale.type, domain: [...axis.scale.domain], axis: null },
    y: { domain: [0, groups.length], reverse: true, axis: null },
    marks: [
      Plot.gridX([...ticks], { stroke: color('grid'), strokeOpacity: 1 }),
      Plot.text([...ticks], {
        x: (tick: number) => tick,
        text: tickText,
        frameAnchor: 'bottom',
        lineAnchor: 'top',
        dy: 6,
        fill: color('muted'),
      }),
      axisTitle(figure.y.label, margins),
      ...seriesMarks(chart, inner, true),
      ...(axis.scale.type === 'log' ? [] : [reference('x', 0)]),
      Plot.text(names, { y: 'y', text: 'text', frameAnchor: 'left', textAnchor: 'end', dx: -8, fill: color('ink') }),
      Plot.text(values, {
        y: 'along',
        text: (one: Placed) => valueText(one.value),
        frameAnchor: 'right',
        textAnchor: 'end',
        dx: 50,
        fill: color('ink'),
        fontSize: 11,
      }),
    ],
  };
}

import * as Plot from '@observablehq/plot';
import { type Figure, missingFigure, NARROW } from '../figure.js';
import type { Size } from '../plot/canvas.js';
import { axisTitle, endLabels, frame, labelRoom, lines, type Margins, type Mark, shortened } from '../plot/marks.js';
import { color, type Swatch } from '../tokens.js';
import { figureName } from './names.js';
import { type Axis, type Places, placesOf, valueAxis } from './scales.js';
import { figureAround, finiteValues, publishedKey, type Series, seriesOf, tickText } from './series.js';
import type { Reproduction, ReproductionFigure } from './types.js';

/** Up to so many points each has a dot and a bar for its range; more have a band behind the line. */
const DOTTED = 24;
/** Width of a letter of an axis, px. */
const LETTER = 6.6;
/** Write amplification is drawn from its floor, everything else from zero. */
const AMPLIFICATION = /\bWAF\b|write amplification/i;

/** Lines over numbers or over names, ranges of seeds, published values as diamonds. */
export function linesFigure(figure: ReproductionFigure, reproduction: Reproduction): Figure {
  const id = figureName(reproduction.id, figure.id);
  const series = seriesOf(figure);
  const values = finiteValues(series);
  if (values.length === 0) return missingFigure(id, 6, figure.title, 'It has no value.');
  const places = placesOf(figure.x.values, figure.x.log === true);
  const y = valueAxis(values, figure.y.log === true, AMPLIFICATION.test(figure.y.label) ? 1 : 0);
  const content = {
    heights: [270, 250] as const,
    sketch: (size: Size) => {
      const margins = marginsOf(series, y, size);
      const inner = size.width - margins.left - margins.right;
      return {
        marginTop: margins.top,
        marginRight: margins.right,
        marginBottom: margins.bottom,
        marginLeft: margins.left,
        x: { type: places.type, domain: [...places.domain], axis: null },
        y: { type: y.scale.type, domain: [...y.scale.domain], axis: null },
        marks: [
          ...frame(places.ticks(inner), { at: y.ticks, label: tickText }, size),
          axisTitle(figure.y.label, margins),
          axisTitle(figure.x.label, margins, 'right'),
          ...(y.scale.domain[0] < 0 ? [Plot.ruleY([0], { stroke: color('faint') })] : []),
          // What was simulated lies over what was published: values that agree are both seen.
          ...series.flatMap((one) => (one.published ? diamonds(one, places) : [])),
          ...series.flatMap((one) => (one.published ? [] : seriesMarks(one, places))),
          ...endLabels(labelsOf(series, size), y.scale, margins, size),
        ],
      };
    },
  };
  return figureAround({ figure, series }, reproduction, { id, span: 6, content, legend: legendOf(series) });
}

/** Names stand at the ends of lines; those that are cut there on a phone stand below in full. */
function legendOf(series: readonly Series[]): Swatch[] {
  const named = labelled(series);
  const cut = named.some(({ name }) => shortened(name, { width: NARROW, height: 0, narrow: true }) !== name);
  return [
    ...(cut
      ? named.map(({ token, name, published }) => ({ token, label: name, hatched: false, outlined: published }))
      : []),
    ...publishedKey(series.filter((one) => !cut || !named.includes(one))),
  ];
}

function marginsOf(series: readonly Series[], y: Axis, size: Size): Margins {
  const letters = Math.max(...y.ticks.map((tick) => tickText(tick).length));
  const names = labelled(series).map((one) => one.name);
  return { top: 28, right: labelRoom(names, size), bottom: 40, left: Math.max(30, 14 + Math.ceil(letters * LETTER)) };
}

/** Published values beside a simulated line are told by their shape; others have a name of their own. */
function labelled(series: readonly Series[]): Series[] {
  return series.filter((one) => !one.published || !series.some((other) => !other.published && other.slot === one.slot));
}

function labelsOf(series: readonly Series[], size: Size): Parameters<typeof endLabels>[0] {
  return labelled(series).flatMap((one) => {
    const value = one.values.findLast(Number.isFinite);
    return value === undefined ? [] : [{ value, text: shortened(one.name, size), token: one.token }];
  });
}

interface Point {
  readonly x: number;
  readonly y: number;
  readonly low: number;
  readonly high: number;
}

function pointsOf({ values, low, high }: Series, places: Places): Point[] {
  return values.map((y, i) => ({ x: places.at[i], y, low: low?.[i] ?? y, high: high?.[i] ?? y }));
}

function seriesMarks(series: Series, places: Places): Mark[] {
  const points = pointsOf(series, places);
  const few = points.length <= DOTTED;
  const known = points.filter((point) => Number.isFinite(point.y));
  const ranged = known.filter((point) => point.low < point.high);
  const stroke = color(series.token);
  const ends = { x: 'x', y1: 'low', y2: 'high' };
  const range =
    ranged.length === 0
      ? []
      : few
        ? [Plot.ruleX(ranged, { ...ends, stroke, strokeWidth: 3, strokeOpacity: 0.45 })]
        : [Plot.areaY(points, { ...ends, fill: stroke, fillOpacity: 0.16 })];
  // Of many points only those that no line reaches have a dot.
  const dots = few ? known : points.filter((point, i) => alone(points, i) && Number.isFinite(point.y));
  const dash = series.dash === undefined ? {} : { dash: series.dash };
  return [
    ...range,
    ...lines([{ points: points.map(({ x, y }) => [x, y] as const), token: series.token, ...dash }]),
    ...(dots.length === 0 ? [] : [Plot.dot(dots, { x: 'x', y: 'y', r: 3, fill: stroke })]),
  ];
}

function alone(points: readonly Point[], at: number): boolean {
  const gap = (i: number): boolean => !Number.isFinite(points[i]?.y ?? Number.NaN);
  return gap(at - 1) && gap(at + 1);
}

function diamonds(series: Series, places: Places): Mark[] {
  const points = pointsOf(series, places).filter((point) => Number.isFinite(point.y));
  return points.length === 0 ? [] : [diamondMark(points, series)];
}

/** Outlines of diamonds in the colour of a series, at `x` and `y`. */
export function diamondMark(points: readonly { readonly x: number; readonly y: number }[], series: Series): Mark {
  return Plot.dot([...points], {
    x: 'x',
    y: 'y',
    symbol: rhomb,
    r: 5,
    fill: color('page'),
    stroke: color(series.token),
    strokeWidth: 2,
  });
}

/** A square on its corner. */
const rhomb = {
  draw(context: { moveTo(x: number, y: number): void; lineTo(x: number, y: number): void; closePath(): void }): void {
    context.moveTo(0, -6);
    context.lineTo(6, 0);
    context.lineTo(0, 6);
    context.lineTo(-6, 0);
    context.closePath();
  },
};

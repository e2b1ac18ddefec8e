import * as Plot from '@observablehq/plot';
import { color, magnitudes, type Token } from '../tokens.js';
import { spreadLabels, type Ticks } from './axes.js';
import { HATCH, type Size } from './canvas.js';

/** What a plot is made of. */
export type Mark = Plot.Markish;

/** Space around the plot, px. */
export interface Margins {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
}

/** A vertical scale and its way back from a share of the height (0: bottom). */
export interface Scale {
  readonly type: 'linear' | 'log';
  readonly domain: readonly [low: number, high: number];
}

/** A line with points (x, y); NaN leaves a gap. */
export interface Line {
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly token: Token;
  /** Lengths of dash and gap; none: solid. */
  readonly dash?: string;
  readonly width?: number;
}

/** Where a value lies on a scale: 0 at the bottom, 1 at the top. */
export function position(scale: Scale, value: number): number {
  const [low, high] = scale.domain;
  if (scale.type === 'linear') return (value - low) / (high - low);
  return Math.log(Math.max(value, low) / low) / Math.log(high / low);
}

function valueAt(scale: Scale, share: number): number {
  const [low, high] = scale.domain;
  return scale.type === 'linear' ? low + share * (high - low) : low * (high / low) ** share;
}

/** Horizontal grid lines with their values, the base line, and what is written below it. */
export function frame(x: Ticks, y: Pick<Ticks, 'at' | 'label'>, size: Size): Mark[] {
  return [
    Plot.gridY([...y.at], { stroke: color('grid'), strokeOpacity: 1 }),
    Plot.axisY([...y.at], { tickSize: 0, tickPadding: 7, label: null, tickFormat: y.label, fill: color('muted') }),
    ...axisX(x, size),
    Plot.frame({ anchor: 'bottom', stroke: color('faint') }),
  ];
}

/** From here on a label would reach beyond the end of the axis. */
function edge(ticks: Ticks): number {
  return ticks.to - (ticks.to - ticks.from) * 0.03;
}

/** Labels below the plot; the outermost stay within it. */
export function axisX(ticks: Ticks, size: Size, gridFrom: number = Number.POSITIVE_INFINITY): Mark[] {
  const marks: Mark[] = [];
  const grid = ticks.at.filter((value) => value >= gridFrom);
  if (grid.length > 0) marks.push(Plot.gridX(grid, { stroke: color('grid'), strokeOpacity: 1 }));
  const inside = ticks.at.filter((value) => value > ticks.from && value < edge(ticks));
  for (const [anchor, chosen] of [
    ['start', ticks.at.filter((value) => value <= ticks.from)],
    ['middle', inside],
    ['end', ticks.at.filter((value) => value >= edge(ticks))],
  ] as const) {
    if (chosen.length === 0) continue;
    marks.push(
      Plot.text(
        chosen.map((value) => ({ value })),
        {
          x: 'value',
          text: (tick: { value: number }) => ticks.label(tick.value),
          frameAnchor: 'bottom',
          textAnchor: anchor,
          lineAnchor: 'top',
          dy: 6,
          fill: color('muted'),
          fontSize: size.narrow ? 11 : 11.5,
        },
      ),
    );
  }
  return marks;
}

/** Text that names an axis, above its upper left corner. */
export function axisTitle(text: string, margins: Margins, where: 'left' | 'right' = 'left'): Mark {
  const left = where === 'left';
  return Plot.text([text], {
    frameAnchor: left ? 'top-left' : 'bottom-right',
    textAnchor: left ? 'start' : 'end',
    lineAnchor: left ? 'bottom' : 'top',
    dx: left ? -margins.left : 0,
    dy: left ? -12 : 21,
    fill: color('muted'),
  });
}

/** Lines. */
export function lines(all: readonly Line[]): Mark[] {
  return all
    .filter((line) => line.points.length > 0)
    .map((line) =>
      Plot.line(line.points as [number, number][], {
        stroke: color(line.token),
        strokeWidth: line.width ?? 1.75,
        ...(line.dash === undefined ? {} : { strokeDasharray: line.dash }),
        clip: null,
      }),
    );
}

/** A name at the right end of a line. */
export interface EndLabel {
  readonly value: number;
  readonly text: string;
  /** None: a reference, which has no colour bar. */
  readonly token?: Token;
}

/** Longest names beside a plot, in letters. */
const LETTERS = [20, 13] as const;
const LETTER_PX = 7;

/** A name that fits beside a plot. */
export function shortened(name: string, size: Size): string {
  const most = LETTERS[size.narrow ? 1 : 0];
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}

/** Space to the right of a plot for the names of its lines, px. */
export function labelRoom(names: readonly string[], size: Size): number {
  return 26 + LETTER_PX * Math.max(6, ...names.map((name) => shortened(name, size).length));
}

/** Names to the right of the plot at the height of their values, moved apart where they would overlap. */
export function endLabels(labels: readonly EndLabel[], scale: Scale, margins: Margins, size: Size): Mark[] {
  const inner = size.height - margins.top - margins.bottom;
  const tops = labels.map((label) => inner * (1 - Math.min(1, Math.max(0, position(scale, label.value)))));
  const placed = spreadLabels(tops, 14, inner).map((top, i) => ({
    ...labels[i],
    y: valueAt(scale, 1 - top / inner),
  }));
  const named = placed.filter((label) => label.token !== undefined);
  return [
    Plot.dot(named, {
      y: 'y',
      frameAnchor: 'right',
      dx: 12,
      r: 3,
      symbol: bar,
      fill: (label: EndLabel) => color(label.token ?? 'ink'),
    }),
    Plot.text(placed, {
      y: 'y',
      text: 'text',
      frameAnchor: 'right',
      textAnchor: 'start',
      dx: named.length === 0 ? 7 : 20,
      fill: color('ink'),
      fontWeight: 560,
    }),
  ];
}

/** A short thick line, the key to a colour. */
const bar = {
  draw(context: { rect(x: number, y: number, width: number, height: number): void }): void {
    context.rect(-4.5, -1.5, 9, 3);
  },
};

/** A thin dashed line across the plot. */
export function reference(axis: 'x' | 'y', value: number): Mark {
  const style = { stroke: color('faint'), strokeDasharray: '3 3' };
  return axis === 'x' ? Plot.ruleX([value], style) : Plot.ruleY([value], style);
}

/** Words inside the plot, on a ground that hides the lines behind them. */
export function note(
  text: string,
  at: { readonly x: number; readonly y: number; readonly anchor?: 'start' | 'middle' | 'end'; readonly dy?: number },
): Mark {
  const anchor = at.anchor ?? 'start';
  return Plot.text([at], {
    x: 'x',
    y: 'y',
    text: () => text,
    textAnchor: anchor,
    dx: anchor === 'start' ? 5 : anchor === 'end' ? -5 : 0,
    dy: at.dy ?? 0,
    fill: color('ink'),
    stroke: color('page'),
    strokeWidth: 4,
  });
}

/** A span of time on which something went on. */
export function span(from: number, to: number, token: Token): Mark {
  return Plot.rectX([{ from, to }], { x1: 'from', x2: 'to', fill: color(token), fillOpacity: 0.07 });
}

/** A rectangle in the scales of the plot. */
export interface Box {
  readonly x1: number;
  readonly x2: number;
  readonly y1: number;
  readonly y2: number;
  readonly token: Token;
  readonly hatched?: boolean;
}

/** Rectangles, with the hatch over those that have it. */
export function boxes(all: readonly Box[]): Mark[] {
  const ends = { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2' };
  const hatched = all.filter((box) => box.hatched === true);
  const marks: Mark[] = [Plot.rect(all as Box[], { ...ends, fill: (box: Box) => color(box.token) })];
  if (hatched.length > 0) marks.push(Plot.rect(hatched, { ...ends, fill: HATCH }));
  return marks;
}

/** Cells of a magnitude, 0 … 1, row by row from the top: one path per step, equal neighbours of a row joined. */
export function heat(cells: readonly (readonly number[])[], margins: Margins, size: Size): Mark {
  const width = size.width - margins.left - margins.right;
  const height = size.height - margins.top - margins.bottom;
  const paths = heatPaths(cells, margins, width, height);
  return (_index, _scales, _values, _dimensions, context) => {
    const { document } = context as unknown as { document: { createElementNS(space: string, name: string): Element } };
    const svg = 'http://www.w3.org/2000/svg';
    const group = document.createElementNS(svg, 'g');
    group.setAttribute('shape-rendering', 'crispEdges');
    for (const [step, d] of paths.entries()) {
      if (d === '') continue;
      const path = document.createElementNS(svg, 'path');
      path.setAttribute('fill', color(magnitudes[step]));
      path.setAttribute('d', d);
      group.appendChild(path);
    }
    return group as never;
  };
}

/** A band that goes from one vertical extent to another, px. */
export interface Ribbon {
  readonly x1: number;
  readonly x2: number;
  readonly from: readonly [top: number, bottom: number];
  readonly to: readonly [top: number, bottom: number];
  readonly token: Token;
}

/** Bands in pale colours, for flows. */
export function ribbons(all: readonly Ribbon[]): Mark {
  return (_index, _scales, _values, _dimensions, context) => {
    const { document } = context as unknown as { document: { createElementNS(space: string, name: string): Element } };
    const svg = 'http://www.w3.org/2000/svg';
    const group = document.createElementNS(svg, 'g');
    group.setAttribute('fill-opacity', '0.28');
    for (const { x1, x2, from, to, token } of all) {
      const [left, right, middle] = [round(x1), round(x2), round((x1 + x2) / 2)];
      const [a, b, c, d] = [from[0], from[1], to[0], to[1]].map(round);
      const path = document.createElementNS(svg, 'path');
      path.setAttribute('fill', color(token));
      path.setAttribute(
        'd',
        `M${left} ${a}C${middle} ${a} ${middle} ${c} ${right} ${c}V${d}C${middle} ${d} ${middle} ${b} ${left} ${b}z`,
      );
      group.appendChild(path);
    }
    return group as never;
  };
}

/** What is used of an element of a drawing. */
interface Element {
  setAttribute(name: string, value: string): void;
  appendChild(child: Element): void;
}

/** Which of the steps a magnitude belongs to. */
function magnitudeStep(value: number): number {
  return Math.min(magnitudes.length - 1, Math.max(0, Math.floor(value * magnitudes.length)));
}

function heatPaths(cells: readonly (readonly number[])[], margins: Margins, width: number, height: number): string[] {
  const paths = magnitudes.map(() => '');
  const tall = height / cells.length;
  const gap = tall > 5 ? 1 : 0;
  for (const [row, values] of cells.entries()) {
    const top = round(margins.top + row * tall);
    const wide = width / values.length;
    for (let from = 0; from < values.length; ) {
      const step = magnitudeStep(values[from]);
      let to = from + 1;
      while (to < values.length && magnitudeStep(values[to]) === step) to++;
      const left = round(margins.left + from * wide);
      const right = round(margins.left + to * wide);
      paths[step] += `M${left} ${top}H${right}v${round(tall - gap)}H${left}z`;
      from = to;
    }
  }
  return paths;
}

function round(px: number): number {
  return Math.round(px * 10) / 10;
}

import * as Plot from '@observablehq/plot';
import type { Drawing } from '../figure.js';
import type { Size } from '../plot/canvas.js';
import { type Box, boxes, type Mark } from '../plot/marks.js';
import { color, type Token } from '../tokens.js';

/** A part of a bar, in the unit of the horizontal axis. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  readonly token: Token;
  readonly hatched?: boolean;
}

/** A bar with its name at the left and its value at the right. */
export interface Row {
  readonly name: string;
  readonly value: string;
  readonly segments: readonly Segment[];
  readonly strong?: boolean;
  /** Second line, below the name. */
  readonly remark?: string;
  /** Drawn over the row: the end of a sum. */
  readonly end?: number;
  /** Ground of the whole row. */
  readonly track?: boolean;
}

/** How a chart of rows is laid out, px. */
export interface RowLayout {
  readonly rowHeight: number;
  readonly barHeight: number;
  readonly names: readonly [wide: number, narrow: number];
  readonly values: number;
  /** Largest value of the axis. */
  readonly most: number;
  /** A line over all rows. */
  readonly mark?: number;
}

/** Bars from zero, one a row. Their parts are drawn in order, a pixel apart. */
export function rowsDrawing(rows: readonly Row[], layout: RowLayout): Drawing {
  const height = rows.length * layout.rowHeight + 6;
  return {
    heights: [height, height],
    sketch: (size) => {
      const left = layout.names[size.narrow ? 1 : 0];
      const inner = size.width - left - layout.values;
      return {
        marginTop: 2,
        marginBottom: 4,
        marginLeft: left,
        marginRight: layout.values,
        x: { domain: [0, layout.most], axis: null },
        y: { domain: [0, rows.length], reverse: true, axis: null },
        marks: [
          ...tracks(rows, layout),
          ...boxes(rows.flatMap((row, at) => boxesOf(row, at, layout, inner))),
          ...words(rows, layout, size),
          ...ends(rows, layout),
          ...(layout.mark === undefined ? [] : [Plot.ruleX([layout.mark], { stroke: color('ink'), strokeWidth: 2 })]),
        ],
      };
    },
  };
}

function boxesOf(row: Row, at: number, layout: RowLayout, inner: number): Box[] {
  const pad = (1 - layout.barHeight / layout.rowHeight) / 2;
  const pixel = layout.most / inner;
  return row.segments
    .filter((part) => part.to > part.from)
    .map((part) => ({
      x1: part.from,
      // A pixel of ground parts neighbours; what is narrower than two keeps half of itself.
      x2: part.to - Math.min(pixel, (part.to - part.from) / 2),
      y1: at + pad,
      y2: at + 1 - pad,
      token: part.token,
      ...(part.hatched === true ? { hatched: true } : {}),
    }));
}

function tracks(rows: readonly Row[], layout: RowLayout): Mark[] {
  const pad = (1 - layout.barHeight / layout.rowHeight) / 2;
  const all = rows.flatMap((row, at): Box[] =>
    row.track === true ? [{ x1: 0, x2: layout.most, y1: at + pad, y2: at + 1 - pad, token: 'sunken' }] : [],
  );
  return all.length === 0 ? [] : boxes(all);
}

interface Placed {
  readonly at: number;
  readonly text: string;
  readonly dy: number;
}

function words(rows: readonly Row[], layout: RowLayout, size: Size): Mark[] {
  const left = layout.names[size.narrow ? 1 : 0];
  const marks: Mark[] = [];
  for (const strong of [false, true]) {
    const chosen = rows.map((row, at) => ({ row, at })).filter(({ row }) => (row.strong === true) === strong);
    if (chosen.length === 0) continue;
    const style = { y: 'at', text: 'text', fill: color('ink'), fontWeight: strong ? 640 : 400, fontSize: 12.5 };
    for (const shift of [0, -7]) {
      const names = chosen
        .filter(({ row }) => (row.remark === undefined ? 0 : -7) === shift)
        .map(({ row, at }): Placed => ({ at: at + 0.5, text: row.name, dy: shift }));
      marks.push(Plot.text(names, { ...style, frameAnchor: 'left', textAnchor: 'start', dx: -left, dy: shift }));
    }
    const values = chosen.map(({ row, at }): Placed => ({ at: at + 0.5, text: row.value, dy: 0 }));
    marks.push(Plot.text(values, { ...style, frameAnchor: 'right', textAnchor: 'end', dx: layout.values }));
  }
  const remarks = rows.flatMap((row, at) => (row.remark === undefined ? [] : [{ at: at + 0.5, text: row.remark }]));
  if (remarks.length > 0) {
    const style = { y: 'at', text: 'text', fill: color('muted'), fontSize: 11 };
    marks.push(Plot.text(remarks, { ...style, frameAnchor: 'left', textAnchor: 'start', dx: -left, dy: 8 }));
  }
  return marks;
}

function ends(rows: readonly Row[], layout: RowLayout): Mark[] {
  const pad = (1 - layout.barHeight / layout.rowHeight) / 2;
  const sums = rows.flatMap((row, at) =>
    row.end === undefined ? [] : [{ x: row.end, zero: 0, top: at + pad, bottom: at + 1 - pad }],
  );
  if (sums.length === 0) return [];
  return [
    Plot.ruleX(sums, { x: 'x', y1: 'top', y2: 'bottom', stroke: color('ink'), strokeWidth: 2 }),
    Plot.ruleY(sums, { y: 'bottom', x1: 'zero', x2: 'x', stroke: color('ink') }),
  ];
}

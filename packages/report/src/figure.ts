import type { Insert, Markup } from './markup.js';
import type { Size, Sketch } from './plot/canvas.js';
import type { Swatch } from './tokens.js';

/** Numbers of a figure, or a table of its own. Cells of columns named in `numeric` are right-aligned. */
export interface Table {
  readonly head: readonly Insert[];
  readonly rows: readonly TableRow[];
  /** Columns of numbers. */
  readonly numeric: readonly number[];
}

/** Cells, or the heading of a group of rows. */
export type TableRow = readonly Insert[] | { readonly group: string };

/** Columns of the page, out of twelve, that a figure takes. */
export type Span = 4 | 5 | 6 | 7 | 8 | 12;

/** How a figure is drawn at a given size. */
export interface Drawing {
  /** px, in the wide and in the narrow form. */
  readonly heights: readonly [wide: number, narrow: number];
  readonly sketch: (size: Size) => Sketch;
  /** The horizontal axis is simulated time from the left to the right margin (px): it shares a cursor with the others. */
  readonly time?: (size: Size) => { readonly left: number; readonly right: number };
}

/** A figure of a report: its title is the finding, its caption the question and how to read it. */
export interface Figure {
  /** Unique in a page; also the file name. */
  readonly id: string;
  readonly title: string;
  readonly caption: Insert;
  readonly span: Span;
  /** A drawing, or the sentence that says why there is none. */
  readonly content: Drawing | { readonly missing: string };
  readonly legend?: readonly Swatch[];
  /** Shown above the drawing, at its right. */
  readonly scale?: Markup;
  readonly table?: Table;
}

const WIDTHS: Readonly<Record<Span, number>> = { 4: 340, 5: 435, 6: 530, 7: 625, 8: 720, 12: 1100 };
/** Width of the drawings for phones, px. */
export const NARROW = 340;

/** Width of a figure's wide drawing, px: what its columns have on the smallest page that has columns. */
export function wideWidth(span: Span): number {
  return WIDTHS[span];
}

/** Whether a figure has a drawing. */
export function isDrawn(figure: Figure): figure is Figure & { readonly content: Drawing } {
  return 'sketch' in figure.content;
}

/** A figure in whose place a sentence stands. */
export function missingFigure(id: string, span: Span, title: string, missing: string): Figure {
  return { id, title, caption: null, span, content: { missing } };
}

import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom/worker';
import { escapeHtml } from '../markup.js';
import { color, type Swatch } from '../tokens.js';

/** Size of a drawing, px. A narrow drawing is for phones: fewer ticks, shorter labels. */
export interface Size {
  readonly width: number;
  readonly height: number;
  readonly narrow: boolean;
}

/** Marks and scales of a drawing; the canvas adds size and document. */
export type Sketch = Omit<Plot.PlotOptions, 'width' | 'height' | 'document'>;

const FONT = 'Inter,ui-sans-serif,system-ui,&quot;Segoe UI&quot;,Roboto,&quot;Helvetica Neue&quot;,Arial,sans-serif';
const FONT_SIZE = 11.5;
/** Room around a drawing that stands alone, px. */
const EDGE = 14;
const LEGEND_LINE = 18;
/** Fill of the hatch; its pattern is defined once a page, or in each drawing that stands alone. */
export const HATCH = 'url(#hatch)';

/** The pattern that marks waiting. */
export function hatchPattern(): string {
  return (
    '<defs><pattern id="hatch" width="4.4" height="4.4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">' +
    `<rect width="2.2" height="4.4" fill="${color('hatch')}"/></pattern></defs>`
  );
}

/** Draws sketches as SVG text with Observable Plot, without a browser. */
export class Canvas {
  private readonly document: Plot.PlotOptions['document'];

  constructor() {
    this.document = parseHTML('<!doctype html><html><body></body></html>').document;
  }

  /** An `<svg>` element that has no colour of its own: it names tokens. */
  draw(sketch: Sketch, size: Size): string {
    const { width, height } = size;
    const drawn = Plot.plot({ ...sketch, width, height, document: this.document });
    const inner = drawn.outerHTML.replace(/^<svg[^>]*>/, '').replace(/<style>.*?<\/style>/s, '');
    return (
      `<svg viewBox="0 0 ${width} ${height}" text-anchor="middle" fill="${color('muted')}" aria-hidden="true">` +
      tidy(inner)
    );
  }

  /** The same as a file of its own, with the legend below. */
  drawAlone(sketch: Sketch, size: Size, label: string, legend: readonly Swatch[]): string {
    const { width } = size;
    const keys = legendBelow(legend, size);
    const height = size.height + 2 * EDGE + keys.height;
    const body = this.draw(sketch, size).replace(/^<svg[^>]*>/, '');
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-EDGE} ${-EDGE} ${width + 2 * EDGE} ${height}" ` +
      `width="${width + 2 * EDGE}" height="${height}" text-anchor="middle" fill="${color('muted')}" ` +
      `font-size="${FONT_SIZE}" font-family="${FONT}" role="img"><title>${escapeHtml(label)}</title>${hatchPattern()}` +
      `<rect x="${-EDGE}" y="${-EDGE}" width="${width + 2 * EDGE}" height="${height}" fill="${color('page')}"/>` +
      `${body.replace(/<\/svg>$/, '')}${keys.svg}</svg>\n`
    );
  }
}

/** Colours with their names, in as many lines as they need. */
function legendBelow(legend: readonly Swatch[], size: Size): { svg: string; height: number } {
  if (legend.length === 0) return { svg: '', height: 0 };
  let svg = '';
  let x = 0;
  let y = size.height + 10;
  for (const { token, label, hatched, outlined } of legend) {
    const wide = 34 + label.length * 6.6;
    if (x > 0 && x + wide > size.width) {
      x = 0;
      y += LEGEND_LINE;
    }
    const key = (fill: string): string => `<rect x="${x}" y="${y}" width="12" height="12" rx="2" fill="${fill}"/>`;
    const diamond = `<path d="M${x + 6} ${y + 0.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z" fill="${color('page')}" stroke="${color(token)}" stroke-width="2"/>`;
    svg += outlined === true ? diamond : key(color(token)) + (hatched ? key(HATCH) : '');
    svg += `<text x="${x + 18}" y="${y + 10}" text-anchor="start" fill="${color('ink')}">${escapeHtml(label)}</text>`;
    x += Math.round(wide);
  }
  return { svg, height: y + LEGEND_LINE - size.height };
}

/** Coordinates to a tenth of a pixel, and no attribute that only a screen reader of the drawing's parts would read. */
function tidy(svg: string): string {
  return svg
    .replace(/ (?:aria-label|aria-hidden|font-variant)="[^"]*"/g, '')
    .replace(/(\s(?:d|x|y|cx|cy|x1|x2|y1|y2|width|height|transform)=")([^"]*)/g, (_, name: string, value: string) => {
      return name + value.replace(/-?\d+\.\d+/g, shorten);
    })
    .replaceAll('&#160;', '\u00a0')
    .replace(/<(g|line)([^>]*?) transform="translate\((-?[\d.]+),(-?[\d.]+)\)"/g, wholeShift)
    .replace(/ \/>/g, '/>');
}

/**
 * The charting library moves marks by half a pixel in some environments (a screen of simple density, a test runner with
 * globals). All shifts asked for here are whole, so the half is taken off: a drawing is the same everywhere.
 */
function wholeShift(_: string, element: string, attributes: string, x: string, y: string): string {
  const start = `<${element}${attributes}`;
  const [right, down] = [Math.floor(Number(x)), Math.floor(Number(y))];
  return right === 0 && down === 0 ? start : `${start} transform="translate(${right},${down})"`;
}

function shorten(number: string): string {
  const rounded = Math.round(Number(number) * 10) / 10;
  return rounded === 0 ? '0' : String(rounded);
}

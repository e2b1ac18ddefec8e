import type { WriteLayer } from '@flashstack/experiment';
import * as Plot from '@observablehq/plot';
import { type Figure, missingFigure } from '../figure.js';
import { type Flow, type FlowColumn, type FlowEntry, flowOf } from '../flow/columns.js';
import { layoutOf, type PlacedEntry, type PlacedLink } from '../flow/layout.js';
import { baseBytes, isWide, placedBytes } from '../flow/table.js';
import { bytes, percent, significant } from '../numbers.js';
import { spreadLabels } from '../plot/axes.js';
import type { Size, Sketch } from '../plot/canvas.js';
import { type Box, boxes, type Mark, type Ribbon, ribbons } from '../plot/marks.js';
import { color } from '../tokens.js';
import type { RunView } from '../view.js';

const heads: Readonly<Partial<Record<WriteLayer, string>>> = {
  application: 'programs',
  fileSystem: 'file system',
  device: 'drive',
  flash: 'flash',
};
/** px: height of a head, width of bars, from a bar to its label, height of a label, width of a letter at most, at the bottom. */
const HEAD = 34;
const BAR = 13;
const LABEL_X = 18;
const LABEL_Y = 15;
const LETTER_PX = 6.5;
const BOTTOM = 6;
/** Labels take no more than this share of the width. */
const LABEL_SHARE = 0.42;
/** Heads of more columns stand at two heights where there is little room. */
const ABREAST = 3;

/** A figure of one run among several. */
export interface OneOf {
  readonly id: string;
  /** What the run is called. */
  readonly name: string;
}

/** The bytes written as a flow from layer to layer; of one run among several with its name. */
export function flowFigure(view: RunView, one: OneOf | null = null): Figure {
  const parts = view.writeFlow;
  const flow = flowOf(parts);
  if (flow === null) {
    const written = view.programs.some(({ value }) => value > 0);
    const why = written ? 'It was not recorded.' : 'Nothing was written.';
    return missingFigure('write-flow', 7, 'How do bytes grow through the layers?', why);
  }
  const height = (narrow: boolean): number =>
    headRoom(flow, narrow) + Math.max(210, endsOf(flow).length * LABEL_Y) + BOTTOM;
  const found = finding(view, flow);
  return {
    id: one?.id ?? 'write-flow',
    title: one === null ? found : `${one.name}: ${found.charAt(0).toLowerCase()}${found.slice(1)}`,
    caption:
      'The height is bytes. What a layer adds begins at its bars, what it keeps off ends in the grey one; a ribbon widens where parts are filled up to whole slots. Copies stand below what they are of. Below 1 % flows are drawn as one.',
    span: one !== null ? 6 : isWide(parts) ? 12 : 7,
    content: { heights: [height(false), height(true)], sketch: (size) => sketchOf(flow, size) },
  };
}

function endsOf({ columns }: Flow): readonly FlowEntry[] {
  return columns[columns.length - 1].entries;
}

function headRoom({ columns }: Flow, narrow: boolean): number {
  return narrow && columns.length > ABREAST ? 2 * HEAD : HEAD;
}

function finding(view: RunView, { columns }: Flow): string {
  const parts = view.writeFlow;
  const base = baseBytes(parts);
  const placed = placedBytes(parts);
  if (base === 0) return `The host wrote nothing; ${bytes(placed)} of flash was programmed all the same`;
  const ratio = placed / base;
  const [first] = columns;
  if (placed === 0) return 'Nothing of what was written reached flash';
  if (first.layer === 'application') {
    const drive = columns[columns.length - 2].bytes;
    const ways =
      drive === 0
        ? ''
        : `: ×\u00a0${significant(drive / base)} on the way to the drive, ×\u00a0${significant(placed / drive)} in it`;
    return `One byte that programs wrote cost ${significant(ratio)} bytes of flash${ways}`;
  }
  if (ratio < 0.995) return `The drive kept ${percent(1 - ratio)} of what it took off flash`;
  return ratio < 1.005
    ? 'The drive wrote every byte once'
    : `One byte written to the drive cost ${significant(ratio)} bytes of flash`;
}

/** Where things of a drawing stand. */
interface Frame {
  readonly size: Size;
  readonly top: number;
  readonly last: number;
  readonly x: (column: number) => number;
}

function sketchOf(flow: Flow, size: Size): Sketch {
  const letters = Math.max(...endsOf(flow).map((entry) => labelOf(entry, size).length));
  const room = Math.min(size.width * LABEL_SHARE, LABEL_X + LETTER_PX * letters);
  const last = flow.columns.length - 1;
  const frame: Frame = {
    size,
    top: headRoom(flow, size.narrow),
    last,
    x: (column) => (column * (size.width - room - BAR)) / last,
  };
  const { bars, ribbons: placed } = layoutOf(flow, size.height - frame.top - BOTTOM);
  return {
    marginTop: 0,
    marginRight: 0,
    marginBottom: 0,
    marginLeft: 0,
    x: { domain: [0, size.width], axis: null },
    y: { domain: [0, size.height], reverse: true, axis: null },
    marks: [
      ribbons(placed.map((one) => ribbonOf(one, bars, frame))),
      ...boxes(bars.map((bar) => boxOf(bar, frame))),
      ...flow.columns.flatMap((column, at) => headOf(column, at, frame)),
      ...endLabels(bars, frame),
      ...goneLabels(bars, frame),
    ],
  };
}

function boxOf({ entry, column, top, bottom }: PlacedEntry, frame: Frame): Box {
  const { token, hatched } = entry.swatch;
  const x1 = frame.x(column);
  // Nothing is too thin to be seen.
  return { x1, x2: x1 + BAR, y1: frame.top + top, y2: frame.top + Math.max(bottom, top + 1), token, hatched };
}

function ribbonOf({ link, from, to }: PlacedLink, bars: readonly PlacedEntry[], { x, top }: Frame): Ribbon {
  const bar = bars.find(({ column, entry }) => column === link.column && entry.key === link.from) as PlacedEntry;
  return {
    x1: x(link.column) + BAR,
    x2: x(link.column + 1),
    from: [top + from[0], top + from[1]],
    to: [top + to[0], top + to[1]],
    token: bar.entry.swatch.token,
  };
}

/** A narrow drawing has room for names only, and for short ones. */
function labelOf({ swatch, bytes: size, gone }: FlowEntry, { narrow }: Size): string {
  if (!narrow) return `${swatch.label} ${bytes(size)}`;
  return gone ? 'kept off' : swatch.label.replace('GC copies', 'GC');
}

/** Name and bytes of a layer, above its bars. */
function headOf({ layer, bytes: size }: FlowColumn, at: number, { x, top, last }: Frame): Mark[] {
  const y = top > HEAD && at % 2 === 0 ? 0 : top - HEAD;
  const [left, anchor] = at === 0 ? [x(at), 'start'] : at === last ? [x(at) + BAR, 'end'] : [x(at) + BAR / 2, 'middle'];
  const head = { x: left, name: heads[layer] ?? layer, nameY: y + 7, size: bytes(size), sizeY: y + 22 };
  const style = { x: 'x', textAnchor: anchor as 'start' | 'middle' | 'end' };
  return [
    Plot.text([head], { ...style, y: 'nameY', text: 'name', fill: color('muted'), fontSize: 11.5 }),
    Plot.text([head], { ...style, y: 'sizeY', text: 'size', fill: color('ink'), fontSize: 12, fontWeight: 640 }),
  ];
}

/** Names beside the bars of the last column, moved apart, each with a line to its bar. */
function endLabels(bars: readonly PlacedEntry[], { size, top, last, x }: Frame): Mark[] {
  const own = bars.filter(({ column }) => column === last);
  const middles = own.map((bar) => (bar.top + Math.max(bar.bottom, bar.top + 1)) / 2);
  const places = spreadLabels(middles, LABEL_Y, size.height - top - BOTTOM);
  const right = x(last) + BAR;
  const labels = own.map(({ entry }, i) => ({
    x1: right + 2,
    x2: right + LABEL_X - 3,
    y1: top + middles[i],
    y2: top + places[i],
    text: fitted(labelOf(entry, size), size.width - right - LABEL_X),
  }));
  const style = { x: 'x2', y: 'y2', text: 'text', textAnchor: 'start', dx: 3 } as const;
  return [
    Plot.link(labels, { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2', stroke: color('faint') }),
    Plot.text(labels, { ...style, fill: color('ink'), fontSize: 11.5 }),
  ];
}

/** What is gone before the last column is named beside its bar. */
function goneLabels(bars: readonly PlacedEntry[], { size, top, last, x }: Frame): Mark[] {
  const labels = bars
    .filter(({ column, entry }) => entry.gone && column < last)
    .map((bar) => ({
      x: x(bar.column) + BAR + 4,
      y: top + (bar.top + bar.bottom) / 2,
      text: fitted(labelOf(bar.entry, size), x(bar.column + 1) - x(bar.column) - BAR),
    }));
  const style = { x: 'x', y: 'y', text: 'text', textAnchor: 'start', fill: color('ink'), fontSize: 11.5 } as const;
  return labels.length === 0 ? [] : [Plot.text(labels, { ...style, stroke: color('page'), strokeWidth: 4 })];
}

/** Text that fits into so many px. */
function fitted(text: string, px: number): string {
  const most = Math.floor(px / LETTER_PX + 1e-9);
  return text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;
}

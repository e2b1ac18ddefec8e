import type { DistributionRecord, HeatmapRecord } from '@flashstack/experiment';
import * as Plot from '@observablehq/plot';
import { type Drawing, type Figure, missingFigure } from '../figure.js';
import { html, type Markup, trusted } from '../markup.js';
import { count, duration, percent, significant } from '../numbers.js';
import { roundSteps, timeTicks } from '../plot/axes.js';
import { axisTitle, axisX, type Box, boxes, frame, heat, type Margins, note, reference } from '../plot/marks.js';
import { color, magnitudes, type Token } from '../tokens.js';
import type { RunView } from '../view.js';
import { type Row, rowsDrawing } from './rows.js';

/** Rows of a heat map: beyond, neighbouring dies share one. */
const ROWS = 96;
/** Cells of a heat map, in the wide and in the narrow form: more would not be seen, and cost bytes. */
const CELLS = [4800, 2400] as const;

/** Are the dies evenly busy? */
export function dieHeatFigure(view: RunView): Figure {
  const map = view.heatmap('nand.busy');
  const mean = view.metric('nand.busyFraction.mean');
  const title = 'Are the dies evenly busy?';
  if (map === null) {
    const known = Number.isFinite(mean)
      ? `Dies were ${percent(mean)} busy on average, the busiest ${percent(view.metric('nand.busyFraction.max'))}; `
      : '';
    return missingFigure('die-activity', 8, title, `${known}their activity over time was not recorded.`);
  }
  const means = rowMeans(map, view.spanNs);
  const shown = joinedRows(map, ROWS);
  const each = map.rows.length / shown.rows.length;
  return {
    id: 'die-activity',
    title: evennessTitle('Dies', map.rows, means),
    caption: `Busy share of each die, windows of ${duration(map.widthNs)}. Rows are ${each > 1 ? `groups of ${count(each)} ` : ''}dies, by channel.`,
    span: 8,
    scale: ramp(),
    content: heatDrawing(shown),
    table: {
      head: ['die', 'busy'],
      rows: map.rows.map((name, row) => [name, percent(means[row])]),
      numeric: [1],
    },
  };
}

function evennessTitle(what: string, names: readonly string[], means: readonly number[]): string {
  const mean = means.reduce((sum, value) => sum + value, 0) / means.length;
  const most = Math.max(...means);
  const least = Math.min(...means);
  if (most - least <= Math.max(0.08, mean * 0.15)) return `${what} are ${percent(mean)} busy and evenly loaded`;
  const worst = names[means.indexOf(most)].replace(/^c(\d+) d(\d+)$/, 'die $2 of channel $1 is');
  return `${what} are ${percent(mean)} busy, but unevenly: ${worst} ${percent(most)}, the least busy ${percent(least)}`;
}

/** Joins neighbouring rows by their mean, by halves, as long as there are more than so many. */
export function joinedRows(map: HeatmapRecord, most: number): HeatmapRecord {
  const { rows, columns, permille } = map;
  if (rows.length <= most || rows.length % 2 !== 0) return map;
  const half = rows.filter((_, row) => row % 2 === 0);
  const joint = half.flatMap((_, row) =>
    Array.from({ length: columns }, (_, column) => {
      const at = 2 * row * columns + column;
      return (permille[at] + permille[at + columns]) / 2;
    }),
  );
  return joinedRows({ ...map, rows: half, permille: joint }, most);
}

/** Mean of each row over the run. The last window may be longer than what is left of the run. */
export function rowMeans(map: HeatmapRecord, elapsedNs: number): number[] {
  const { columns, widthNs, permille } = map;
  return map.rows.map((_, row) => {
    let busy = 0;
    let time = 0;
    for (let column = 0; column < columns; column++) {
      const covered = Math.min(widthNs, elapsedNs - column * widthNs);
      if (covered <= 0) break;
      busy += (permille[row * columns + column] / 1000) * covered;
      time += covered;
    }
    return time === 0 ? 0 : busy / time;
  });
}

function heatDrawing(map: HeatmapRecord): Drawing {
  const margins: Margins = { top: 18, right: 8, bottom: 24, left: 56 };
  const rows = map.rows.length;
  const tall = Math.max(120, Math.min(320, rows * 11));
  const end = map.columns * map.widthNs;
  const channels = channelGroups(map.rows);
  return {
    heights: [tall + 42, Math.min(tall, 260) + 42],
    time: () => margins,
    sketch: (size) => ({
      marginTop: margins.top,
      marginRight: margins.right,
      marginBottom: margins.bottom,
      marginLeft: margins.left,
      x: { domain: [0, end], axis: null },
      y: { domain: [0, rows], reverse: true, axis: null },
      marks: [
        heat(reduced(map, CELLS[size.narrow ? 1 : 0]), margins, size),
        Plot.ruleY(
          channels.slice(1).map((group) => group.from),
          { stroke: color('page'), strokeWidth: 2 },
        ),
        Plot.text(
          channels.filter((_, i) => i % Math.ceil((channels.length * 13) / tall) === 0),
          {
            y: (group: Group) => group.from + group.size / 2,
            text: 'name',
            frameAnchor: 'left',
            textAnchor: 'end',
            dx: -7,
            fill: color('muted'),
          },
        ),
        ...axisX(timeTicks(end, size.narrow ? 3 : 6), size),
      ],
    }),
  };
}

interface Group {
  readonly name: string;
  readonly from: number;
  readonly size: number;
}

/** Rows named `c0 d1` by their channel; other rows each by their own name. */
function channelGroups(names: readonly string[]): Group[] {
  const groups: { name: string; from: number; size: number }[] = [];
  for (const [row, name] of names.entries()) {
    const channel = /^c(\d+) /.exec(name);
    const title = channel === null ? name : `ch ${channel[1]}`;
    const last = groups[groups.length - 1];
    if (last !== undefined && last.name === title) last.size++;
    else groups.push({ name: title, from: row, size: 1 });
  }
  return groups;
}

/** Cells as shares, neighbouring columns joined by their mean so that at most so many cells remain. */
export function reduced(map: HeatmapRecord, most: number): number[][] {
  const rows = map.rows.length;
  const by = Math.max(1, Math.ceil((rows * map.columns) / most));
  return map.rows.map((_, row) => {
    const cells: number[] = [];
    for (let from = 0; from < map.columns; from += by) {
      const to = Math.min(from + by, map.columns);
      let sum = 0;
      for (let column = from; column < to; column++) sum += map.permille[row * map.columns + column];
      cells.push(sum / (to - from) / 1000);
    }
    return cells;
  });
}

/** The steps of a magnitude, as they are in the map. */
function ramp(): Markup {
  const steps = magnitudes.map((token) => trusted(`<i style="background:${color(token)}"></i>`));
  return html`<span class="ramp">0<span>${steps}</span>100 % busy</span>`;
}

/** Is a channel the limit? */
export function channelsFigure(view: RunView): Figure {
  const map = view.heatmap('channel.busy');
  const title = 'Is a channel the limit?';
  if (map === null) {
    const mean = view.metric('channel.busyFraction.mean');
    const known = Number.isFinite(mean)
      ? `Channels were ${percent(mean)} busy on average, the busiest ${percent(view.metric('channel.busyFraction.max'))}; `
      : '';
    return missingFigure('channels', 4, title, `${known}single channels were not recorded.`);
  }
  const means = rowMeans(map, view.spanNs);
  const most = Math.max(...means);
  const rows = means.map(
    (share, i): Row => ({
      name: map.rows[i].replace(/^c(\d+)$/, 'ch $1'),
      value: percent(share),
      segments: [{ from: 0, to: share, token: 'opProgram' }],
      track: true,
    }),
  );
  return {
    id: 'channels',
    title:
      most >= 0.85
        ? `A channel is the limit: ${percent(most)} busy`
        : `No channel is the limit: at most ${percent(most)} busy`,
    caption: 'Share of the time for which each channel carries commands and data.',
    span: 4,
    content: rowsDrawing(rows, { rowHeight: 24, barHeight: 15, names: [52, 52], values: 58, most: 1 }),
  };
}

/** Bars of a histogram. */
const BINS = 64;

/** Joins bins so that at most so many remain. */
export function joinedBins(distribution: DistributionRecord, most: number): DistributionRecord {
  const by = Math.max(1, Math.ceil(distribution.counts.length / most));
  if (by === 1) return distribution;
  const counts: number[] = [];
  for (const [at, value] of distribution.counts.entries()) {
    const bin = Math.floor(at / by);
    counts[bin] = (counts[bin] ?? 0) + value;
  }
  return { ...distribution, binWidth: distribution.binWidth * by, counts };
}

interface Facts {
  readonly total: number;
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

/** Number and mean (by the middle of bins) of a distribution, and its lowest and highest bin that holds anything. */
export function factsOf({ from, binWidth, counts }: DistributionRecord): Facts {
  let total = 0;
  let sum = 0;
  let low = Number.NaN;
  let high = Number.NaN;
  for (const [at, value] of counts.entries()) {
    if (value === 0) continue;
    const first = from + at * binWidth;
    total += value;
    sum += value * (first + (binWidth - 1) / 2);
    if (Number.isNaN(low)) low = first;
    high = first + binWidth - 1;
  }
  return { total, mean: sum / total, low, high };
}

/** How good are the victims? */
export function victimsFigure(view: RunView): Figure {
  const victims = view.distribution('ftl.victimValid');
  const title = 'How good are the victims?';
  if (victims === null) {
    const sentence =
      view.gcStartNs === null
        ? view.result.analysis.gcSentence
        : 'What the victims of garbage collection still held was not recorded.';
    return missingFigure('victims', 4, title, sentence);
  }
  const blocks = view.distribution('ftl.blockValid');
  const facts = factsOf(victims);
  // The last bin holds blocks that are wholly valid.
  const slots = victims.from + (victims.counts.length - 1) * victims.binWidth;
  const layers: Layer[] = [{ distribution: wholeInLast(victims), token: 'gc' }];
  if (blocks !== null) layers.unshift({ distribution: wholeInLast(blocks), token: 'h3' });
  return {
    id: 'victims',
    title: `GC victims are still ${percent(facts.mean / slots)} valid`,
    caption: `Valid slots of the blocks that GC chose${blocks === null ? '.' : ', over those of all closed blocks at the end.'} Each in shares of its own number.`,
    span: 4,
    content: histogramDrawing(
      layers,
      [0, slots],
      facts.mean,
      `mean ${significant(facts.mean)}`,
      `valid slots of ${count(slots)}`,
    ),
    legend: [
      { token: 'gc', label: `victims (${count(facts.total)})`, hatched: false },
      ...(blocks === null ? [] : [{ token: 'h3' as Token, label: 'all blocks', hatched: false }]),
    ],
    table: binTable(victims, 'valid slots', 'victims'),
  };
}

/** Wholly valid blocks, which have a bin of their own, drawn with those that are nearly so. */
function wholeInLast(distribution: DistributionRecord): DistributionRecord {
  const counts = distribution.counts.slice(0, -1);
  counts[counts.length - 1] += distribution.counts[counts.length];
  return { ...distribution, counts };
}

/** Is wear even? */
export function wearFigure(view: RunView): Figure {
  const wear = view.distribution('nand.eraseCount');
  const title = 'Is wear even?';
  if (wear === null) {
    return missingFigure(
      'wear',
      4,
      title,
      `${count(view.metric('nand.erases', 0))} erases; their number per block was not recorded.`,
    );
  }
  const facts = factsOf(wear);
  const spread = facts.high - facts.low;
  const even = spread <= Math.max(2, facts.mean * 0.2);
  return {
    id: 'wear',
    title: `Wear is ${even ? 'even' : 'uneven'}: ${count(facts.low)} to ${count(facts.high)} erases a block`,
    caption: 'Blocks by how often they have been erased, at the end of the run.',
    span: 4,
    content: histogramDrawing(
      [{ distribution: wear, token: 'hostData' }],
      [facts.low, facts.high + 1],
      facts.mean,
      `mean ${significant(facts.mean)}`,
      'erases of a block',
    ),
    table: binTable(wear, 'erases', 'blocks'),
  };
}

interface Layer {
  readonly distribution: DistributionRecord;
  readonly token: Token;
}

function histogramDrawing(
  layers: readonly Layer[],
  domain: readonly [number, number],
  mean: number,
  meanText: string,
  axis: string,
): Drawing {
  const margins: Margins = { top: 28, right: 8, bottom: 38, left: 46 };
  const drawn = layers.map(({ distribution, token }) => {
    const bins = joinedBins(distribution, BINS);
    const { total } = factsOf(distribution);
    return { token, bins, shares: bins.counts.map((value) => value / total) };
  });
  const top = Math.max(...drawn.flatMap((layer) => layer.shares)) * 1.12;
  const [low, high] = domain;
  return {
    heights: [210, 200],
    sketch: (size) => ({
      marginTop: margins.top,
      marginRight: margins.right,
      marginBottom: margins.bottom,
      marginLeft: margins.left,
      x: { domain: [low, high], axis: null },
      y: { domain: [0, top], axis: null },
      marks: [
        ...frame(
          {
            from: low,
            to: high,
            at: [...new Set([low, ...roundSteps(low, high, 4).filter((at) => inside(at, domain)), high])],
            label: count,
          },
          { at: roundSteps(0, top, 3), label: (share) => percent(share).replace(/\.0(?=\u00a0)/, '') },
          size,
        ),
        axisTitle('share', margins),
        axisTitle(axis, margins, 'right'),
        ...drawn.flatMap((layer) => boxes(barBoxes(layer.bins, layer.shares, layer.token, domain))),
        reference('x', mean),
        note(meanText, { x: mean, y: top, anchor: mean > (low + high) / 2 ? 'end' : 'start', dy: 7 }),
      ],
    }),
  };
}

/** Far enough from both ends for its label not to touch theirs. */
function inside(at: number, [low, high]: readonly [number, number]): boolean {
  const gap = (high - low) * 0.12;
  return at > low + gap && at < high - gap;
}

function barBoxes(
  bins: DistributionRecord,
  shares: readonly number[],
  token: Token,
  domain: readonly [number, number],
): Box[] {
  const [low, high] = domain;
  return shares.flatMap((share, at): Box[] => {
    const from = bins.from + at * bins.binWidth;
    const to = Math.min(high, from + bins.binWidth);
    if (share === 0 || to <= low || from >= high) return [];
    return [{ x1: Math.max(low, from), x2: to - (to - from) * 0.1, y1: 0, y2: share, token }];
  });
}

function binTable(distribution: DistributionRecord, unit: string, what: string): NonNullable<Figure['table']> {
  const bins = joinedBins(distribution, 16);
  const rows = bins.counts.flatMap((value, at) => {
    const from = bins.from + at * bins.binWidth;
    const to = from + bins.binWidth - 1;
    return value === 0 ? [] : [[from === to ? count(from) : `${count(from)} … ${count(to)}`, count(value)]];
  });
  return { head: [unit, what], rows, numeric: [0, 1] };
}

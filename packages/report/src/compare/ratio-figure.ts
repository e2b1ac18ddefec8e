import * as Plot from '@observablehq/plot';
import { type Figure, missingFigure } from '../figure.js';
import type { Size } from '../plot/canvas.js';
import { boxes, type Mark } from '../plot/marks.js';
import { color, type Token } from '../tokens.js';
import { type Comparison, groupOf, type System } from './groups.js';
import {
  judge,
  type Measure,
  measures,
  ratioText,
  type Spread,
  spreadOf,
  type Verdict,
  verdictMarks,
} from './measures.js';

const ROW = 24;
const HEAD = 22;
/** More systems than this are told by the table only. */
const COLUMNS = 3;
const COLUMN = 74;
const REACHES = [2, 4, 10, 30, 100, 1000] as const;
const verdictTokens: Readonly<Record<Verdict, Token>> = {
  better: 'pass',
  worse: 'miss',
  same: 'muted',
  equal: 'muted',
};

interface RatioPoint {
  readonly row: number;
  readonly system: System;
  readonly column: number;
  /** Turned so that more is better. */
  readonly goodness: number;
  readonly low: number;
  readonly high: number;
  readonly text: string;
  readonly verdict: Verdict;
}

interface RatioRow {
  readonly measure: Measure;
  readonly base: Spread;
}

/** Which change matters: every quantity of a workload as its ratio to the baseline, right is better. */
export function ratioFigure(comparison: Comparison, workload: number, title: string): Figure {
  const { systems, baseline } = comparison;
  const id = `ratios-${workload + 1}`;
  const rows = rowsOf(comparison, workload);
  const others = othersOf(comparison);
  const points = pointsOf(comparison, workload);
  if (points.length === 0) {
    return missingFigure(
      id,
      7,
      title,
      `No quantity was measured for both ${systems[baseline].name} and another system.`,
    );
  }
  const seeds = Math.max(...rows.map((row) => row.base.seeds));
  const reach = reachOf(comparison);
  const height = HEAD + rows.length * ROW + 6;
  const columns = others.length <= COLUMNS ? others : [];
  const spread =
    seeds > 1
      ? ` Whisker: ${seeds} seeds, lowest to highest. Grey: spread of the baseline; where ranges overlap no difference is claimed (≈).`
      : ' One seed each: the spread is not known.';
  return {
    id,
    title,
    caption: `Ratio to ${systems[baseline].name}, turned so that right is better, logarithmic.${spread}`,
    span: comparison.workloads.length > 1 ? 6 : 7,
    content: {
      heights: [height, height],
      sketch: (size) => ({
        marginTop: HEAD,
        marginBottom: 6,
        marginLeft: 132,
        marginRight: rightOf(size, columns.length),
        x: { type: 'log', domain: [1 / reach, reach], axis: null },
        y: { domain: [0, rows.length], reverse: true, axis: null },
        marks: [
          ...ground(rows, reach, systems[baseline].name, size),
          ...pointMarks(points, reach),
          ...(size.narrow && columns.length > 1
            ? []
            : columnMarks(
                points,
                columns.map((entry) => entry.system),
              )),
        ],
      }),
    },
    legend: others.map(({ system }) => ({ token: system.token, label: system.name, hatched: false })),
  };
}

/** Quantities that the baseline has. */
function rowsOf(comparison: Comparison, workload: number): RatioRow[] {
  return measures.flatMap((measure): RatioRow[] => {
    const base = spreadOf(groupOf(comparison, workload, comparison.baseline), measure);
    return base === null || base.mean <= 0 ? [] : [{ measure, base }];
  });
}

function othersOf({ systems, baseline }: Comparison): { system: System; at: number }[] {
  return systems.map((system, at) => ({ system, at })).filter(({ at }) => at !== baseline);
}

function pointsOf(comparison: Comparison, workload: number): RatioPoint[] {
  return rowsOf(comparison, workload).flatMap(({ measure, base }, row) =>
    othersOf(comparison).flatMap(({ system, at }, column): RatioPoint[] => {
      const spread = spreadOf(groupOf(comparison, workload, at), measure);
      return spread === null || spread.mean <= 0 ? [] : [pointOf(measure, base, spread, { row, system, column })];
    }),
  );
}

/** The axis is the same for all workloads: its smallest reach that holds every ratio. */
function reachOf(comparison: Comparison): number {
  const points = comparison.workloads.flatMap((_, workload) => pointsOf(comparison, workload));
  const most = Math.max(...points.map((point) => Math.abs(Math.log(point.goodness))));
  return REACHES.find((candidate) => Math.log(candidate) >= most * 1.02) ?? REACHES[REACHES.length - 1];
}

function rightOf(size: Size, columns: number): number {
  if (size.narrow && columns > 1) return 16;
  return columns === 0 ? 16 : columns * COLUMN + 12;
}

function pointOf(
  measure: Measure,
  base: Spread,
  spread: Spread,
  place: { readonly row: number; readonly system: System; readonly column: number },
): RatioPoint {
  const turn = (value: number): number => (measure.better === 'more' ? value / base.mean : base.mean / value);
  const verdict = judge(base, spread, measure);
  const { symbol } = verdictMarks[verdict];
  return {
    ...place,
    goodness: turn(spread.mean),
    low: Math.min(turn(spread.low), turn(spread.high)),
    high: Math.max(turn(spread.low), turn(spread.high)),
    text: verdict === 'equal' ? symbol : `${symbol} ${ratioText(spread.mean / base.mean)}`,
    verdict,
  };
}

function ground(rows: readonly RatioRow[], reach: number, baseline: string, size: Size): Mark[] {
  const noise = rows.flatMap(({ measure, base }, row) => {
    if (base.low === base.high) return [];
    const [x1, x2] =
      measure.better === 'more'
        ? [base.low / base.mean, base.high / base.mean]
        : [base.mean / base.high, base.mean / base.low];
    return [{ x1, x2, y1: row + 0.1, y2: row + 0.9, token: 'grid' as Token }];
  });
  const names = rows.map(({ measure }, row) => ({ row: row + 0.5, name: measure.name }));
  const heads = [
    { x: 1 / reach, text: size.narrow ? `${reach}×` : `${reach}× worse`, anchor: 'start' },
    { x: 1, text: baseline.length > 22 || size.narrow ? 'baseline' : baseline, anchor: 'middle' },
    { x: reach, text: size.narrow ? `${reach}×` : `${reach}× better`, anchor: 'end' },
  ] as const;
  return [
    Plot.ruleY(names, { y: 'row', stroke: color('grid') }),
    ...(noise.length === 0 ? [] : boxes(noise)),
    Plot.ruleX([1], { stroke: color('ext4'), strokeWidth: 1.5 }),
    Plot.text(names, {
      y: 'row',
      text: 'name',
      frameAnchor: 'left',
      textAnchor: 'start',
      dx: -132,
      fill: color('ink'),
      fontSize: 12.5,
    }),
    ...heads.map((head) =>
      Plot.text([head], {
        x: 'x',
        text: 'text',
        frameAnchor: 'top',
        lineAnchor: 'bottom',
        textAnchor: head.anchor,
        dy: -7,
        fill: color('muted'),
      }),
    ),
  ];
}

function pointMarks(points: readonly RatioPoint[], reach: number): Mark[] {
  const inside = (ratio: number): number => Math.min(reach, Math.max(1 / reach, ratio));
  const fill = (point: RatioPoint): string => color(point.system.token);
  const whiskers = points.filter((point) => point.high > point.low);
  const middle = (point: RatioPoint): number => point.row + 0.5;
  return [
    Plot.ruleY(whiskers, {
      y: middle,
      x1: (point: RatioPoint) => inside(point.low),
      x2: (point: RatioPoint) => inside(point.high),
      stroke: fill,
      strokeWidth: 2,
    }),
    ...(['circle', 'diamond', 'square', 'triangle'] as const).map((marker) =>
      Plot.dot(
        points.filter((point) => point.system.marker === marker),
        {
          x: (point: RatioPoint) => inside(point.goodness),
          y: middle,
          symbol: marker,
          r: 5.5,
          fill,
          stroke: color('page'),
          strokeWidth: 1.5,
        },
      ),
    ),
    Plot.text(
      points.filter((point) => point.goodness > reach || point.goodness < 1 / reach),
      {
        x: (point: RatioPoint) => inside(point.goodness),
        y: middle,
        text: (point: RatioPoint) => (point.goodness > 1 ? '›' : '‹'),
        dx: (point: RatioPoint) => (point.goodness > 1 ? 10 : -10),
        fill,
        fontWeight: 700,
      } as never,
    ),
  ];
}

function columnMarks(points: readonly RatioPoint[], systems: readonly System[]): Mark[] {
  const marks: Mark[] = [];
  for (const [column, system] of systems.entries()) {
    const dx = (column + 1) * COLUMN + 8;
    const style = { frameAnchor: 'right', textAnchor: 'end', dx } as const;
    const key = systems.length > 1 && system.name.length <= 11 ? system.name : '';
    marks.push(
      Plot.text([key], { ...style, frameAnchor: 'top-right', lineAnchor: 'bottom', dy: -7, fill: color('muted') }),
    );
    for (const verdict of ['better', 'worse', 'same', 'equal'] as const) {
      const told = points.filter((point) => point.column === column && point.verdict === verdict);
      if (told.length === 0) continue;
      const y = (point: RatioPoint): number => point.row + 0.5;
      marks.push(Plot.text(told, { ...style, y, text: 'text', fill: color(verdictTokens[verdict]), fontSize: 12.5 }));
    }
  }
  return marks;
}

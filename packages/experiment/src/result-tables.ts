import { Histogram } from '@flashstack/sim';
import type { ExperimentResult } from './result.js';

/** A cell: NaN stands for nothing in columns of numbers. */
export type Cell = string | number;

/** A column of a table. */
export interface Column {
  readonly name: string;
  readonly type: 'text' | 'number';
  readonly values: readonly Cell[];
}

/** A table of results, column by column; the columns `run`, `spec` and `seed` tell whose row it is. */
export interface ResultTable {
  readonly name: 'metrics' | 'series' | 'histograms' | 'heatmaps' | 'distributions' | 'writes';
  readonly columns: readonly Column[];
}

/** A result with the name that its rows carry. */
export interface NamedResult {
  readonly run: string;
  readonly result: ExperimentResult;
}

type Row = readonly Cell[];
type Rows = (result: ExperimentResult) => Iterable<Row>;

const layouts: readonly (readonly [ResultTable['name'], readonly (readonly [string, Column['type']])[], Rows])[] = [
  [
    'metrics',
    [
      ['metric', 'text'],
      ['value', 'number'],
    ],
    ({ metrics }) => Object.entries(metrics),
  ],
  [
    'series',
    [
      ['series', 'text'],
      ['fromNs', 'number'],
      ['count', 'number'],
      ['sum', 'number'],
      ['min', 'number'],
      ['max', 'number'],
    ],
    seriesRows,
  ],
  [
    'histograms',
    [
      ['histogram', 'text'],
      ['from', 'number'],
      ['to', 'number'],
      ['count', 'number'],
    ],
    histogramRows,
  ],
  [
    'heatmaps',
    [
      ['heatmap', 'text'],
      ['row', 'text'],
      ['fromNs', 'number'],
      ['permille', 'number'],
    ],
    heatmapRows,
  ],
  [
    'distributions',
    [
      ['distribution', 'text'],
      ['unit', 'text'],
      ['from', 'number'],
      ['width', 'number'],
      ['count', 'number'],
    ],
    distributionRows,
  ],
  [
    'writes',
    [
      ['layer', 'text'],
      ['cause', 'text'],
      ['origin', 'text'],
      ['bytes', 'number'],
    ],
    writeRows,
  ],
];

/** Results as six flat tables, for CSV, Parquet and databases. */
export function resultTables(results: readonly NamedResult[]): readonly ResultTable[] {
  return layouts.map(([name, layout, rows]) => {
    const values: Cell[][] = [[], [], [], ...layout.map((): Cell[] => [])];
    for (const { run, result } of results) {
      for (const row of rows(result)) {
        values[0].push(run);
        values[1].push(result.specHash);
        values[2].push(result.seed);
        for (const [at, cell] of row.entries()) values[3 + at].push(cell);
      }
    }
    const heads: readonly (readonly [string, Column['type']])[] = [
      ['run', 'text'],
      ['spec', 'text'],
      ['seed', 'number'],
      ...layout,
    ];
    return { name, columns: heads.map(([head, type], at) => ({ name: head, type, values: values[at] })) };
  });
}

function* seriesRows({ series }: ExperimentResult): Iterable<Row> {
  for (const [name, record] of Object.entries(series)) {
    for (const [at, count] of record.count.entries()) {
      const { intervalNs, sum, min, max } = record;
      yield [name, at * intervalNs, count, sum[at], min[at] ?? Number.NaN, max[at] ?? Number.NaN];
    }
  }
}

function* histogramRows({ histograms }: ExperimentResult): Iterable<Row> {
  for (const [name, record] of Object.entries(histograms)) {
    const rows: Row[] = [];
    Histogram.fromRecord(record).forEach((from, to, count) => {
      rows.push([name, from, to, count]);
    });
    yield* rows;
  }
}

function* heatmapRows({ heatmaps }: ExperimentResult): Iterable<Row> {
  for (const [name, { widthNs, columns, rows, permille }] of Object.entries(heatmaps)) {
    for (const [at, value] of permille.entries()) {
      yield [name, rows[Math.floor(at / columns)], (at % columns) * widthNs, value];
    }
  }
}

function* distributionRows({ distributions }: ExperimentResult): Iterable<Row> {
  for (const [name, { unit, from, binWidth, counts }] of Object.entries(distributions)) {
    for (const [at, count] of counts.entries()) yield [name, unit, from + at * binWidth, binWidth, count];
  }
}

function* writeRows({ writeFlow }: ExperimentResult): Iterable<Row> {
  for (const { layer, cause, origin, bytes } of writeFlow) yield [layer, cause, origin ?? 'none', bytes];
}

/** A table as CSV (RFC 4180): a line of names, then the rows; nothing stands for NaN. */
export function tableCsv({ columns }: ResultTable): string {
  const lines = [columns.map(({ name }) => name).join(',')];
  const rows = columns[0].values.length;
  for (let row = 0; row < rows; row++) lines.push(columns.map(({ values }) => csvCell(values[row])).join(','));
  return `${lines.join('\r\n')}\r\n`;
}

function csvCell(cell: Cell): string {
  if (typeof cell === 'number') return Number.isNaN(cell) ? '' : String(cell);
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

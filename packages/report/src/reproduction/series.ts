import type { Figure, Table, TableRow } from '../figure.js';
import { html, type Insert } from '../markup.js';
import { asGiven, measured, UNKNOWN } from '../numbers.js';
import { type LineStyle, lineStyles, type Swatch, type Token } from '../tokens.js';
import type { Reproduction, ReproductionFigure } from './types.js';

const UNITS: readonly (readonly [size: number, unit: string])[] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** A series of a figure as it is drawn. Gaps are NaN. */
export interface Series {
  readonly name: string;
  readonly token: Token;
  readonly dash: string | undefined;
  readonly values: readonly number[];
  /** Over the seeds; null where there is one seed, or nothing was said. */
  readonly low: readonly number[] | null;
  readonly high: readonly number[] | null;
  /** Values of the paper: outlines of diamonds, never lines or bars. */
  readonly published: boolean;
  /** Index of the simulated series that a published one belongs to, or its own place after all of those. */
  readonly slot: number;
}

/**
 * Series with their looks. A published series has the colour and the place of the simulated one of its name; a single
 * published series belongs to a single simulated one whatever their names are.
 */
export function seriesOf(figure: ReproductionFigure): Series[] {
  const simulated = figure.series.filter((series) => series.published !== true);
  const published = figure.series.filter((series) => series.published === true);
  const partner = (name: string): number => {
    const same = simulated.findIndex((series) => series.name === name);
    return same < 0 && simulated.length === 1 && published.length === 1 ? 0 : same;
  };
  const alone = published.filter((series) => partner(series.name) < 0);
  const styles = lineStyles([...simulated, ...alone].map((series) => series.name));
  return [
    ...simulated.map((series, slot) => drawn(series, slot, styles[slot])),
    ...published.map((series) => {
      const at = partner(series.name);
      const slot = at < 0 ? simulated.length + alone.indexOf(series) : at;
      return drawn(series, slot, styles[slot]);
    }),
  ];
}

function drawn(series: ReproductionFigure['series'][number], slot: number, style: LineStyle): Series {
  const { name, values, low, high, published = false } = series;
  return {
    ...style,
    name,
    values: values.map(orGap),
    low: low === undefined ? null : low.map(orGap),
    high: high === undefined ? null : high.map(orGap),
    published,
    slot,
  };
}

/** JSON has no NaN: there a gap is null. */
function orGap(value: number | null): number {
  return value ?? Number.NaN;
}

/** Every value that is drawn, ends of ranges included. */
export function finiteValues(series: readonly Series[]): number[] {
  return series
    .flatMap(({ values, low, high }) => [...values, ...(low ?? []), ...(high ?? [])])
    .filter(Number.isFinite);
}

/** What the caption adds about shapes. */
function shapesCaption(series: readonly Series[], seeds: number): string {
  const parts = series.some((one) => one.published) ? ['Diamonds: published.'] : [];
  const ranged = series.some(({ low, high }) => low?.some((value, at) => value < (high?.[at] ?? value)));
  if (ranged) parts.push(`${seeds > 1 ? `Mean of ${seeds} seeds` : 'Mean'}, with the range from lowest to highest.`);
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`;
}

/** The key to the diamonds, where there are any. */
export function publishedKey(series: readonly Series[]): Swatch[] {
  return series.some((one) => one.published)
    ? [{ token: 'ink', label: 'published', hatched: false, outlined: true }]
    : [];
}

/** The numbers of a figure, a row per place of its horizontal axis. */
function numbersTable({ x, y }: ReproductionFigure, series: readonly Series[]): Table {
  const rows = x.values.map((at, row): TableRow => [tickText(at), ...series.map((one) => cellText(one, row))]);
  return {
    head: [
      x.label,
      ...series.map(({ name, published }) => (published ? html`${name} <small>published</small>` : name)),
    ],
    rows: [{ group: y.label }, ...rows],
    numeric: [...(x.values.every((at) => typeof at === 'number') ? [0] : []), ...series.map((_, i) => i + 1)],
  };
}

function cellText({ values, low, high, published }: Series, row: number): Insert {
  const value = values[row];
  if (!Number.isFinite(value)) return UNKNOWN;
  const text = published ? asGiven(value) : measured(value);
  const [from, to] = [low?.[row] ?? value, high?.[row] ?? value];
  return from < to ? html`${text} <small>${measured(from)} … ${measured(to)}</small>` : text;
}

/** A place of an axis as text: in full below 100 000, in k, M, G from there on. */
export function tickText(place: number | string): string {
  if (typeof place === 'string') return place;
  const unit = UNITS.find(([size]) => Math.abs(place) >= Math.max(size, 1e5));
  return unit === undefined ? asGiven(place, 6) : `${asGiven(place / unit[0], 4)}\u00a0${unit[1]}`;
}

/** A value beside its bar: three digits. */
export function valueText(value: number): string {
  return Math.abs(value) >= 1e4 ? tickText(Number(value.toPrecision(3))) : measured(value);
}

/** What both kinds of figure are made from. */
export interface FigureParts {
  readonly figure: ReproductionFigure;
  readonly series: readonly Series[];
}

/** A figure around its drawing. */
export function figureAround(
  { figure, series }: FigureParts,
  reproduction: Reproduction,
  shape: Pick<Figure, 'id' | 'span' | 'content'> & { readonly legend: readonly Swatch[] },
): Figure {
  const { legend, ...rest } = shape;
  return {
    ...rest,
    title: figure.title,
    caption: `${figure.caption}${shapesCaption(series, reproduction.seeds.length)}`,
    ...(legend.length === 0 ? {} : { legend }),
    table: numbersTable(figure, series),
  };
}

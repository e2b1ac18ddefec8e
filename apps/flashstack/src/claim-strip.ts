import type { Claim, Strip } from '@flashstack/report';
import type { Style } from './terminal.js';

/** Cells of a strip. */
export const STRIP_CELLS = 32;

interface Signs {
  readonly outside: string;
  readonly inside: string;
  readonly from: string;
  readonly to: string;
  readonly range: string;
  readonly unchanged: string;
  readonly published: string;
  readonly simulated: string;
  readonly missed: string;
}

const unicode: Signs = {
  outside: '·',
  inside: '─',
  from: '├',
  to: '┤',
  range: '━',
  unchanged: '│',
  published: '◇',
  simulated: '●',
  missed: '■',
};
const ascii: Signs = {
  outside: '.',
  inside: '-',
  from: '[',
  to: ']',
  range: '=',
  unchanged: '|',
  published: 'o',
  simulated: '*',
  missed: 'X',
};

/** Where band, published and simulated value of a claim lie, as a line of `STRIP_CELLS`; empty if there is but one of them. */
export function stripText(strip: Strip, verdict: Claim['verdict'], style: Style): string {
  const { band, published, simulated, unchanged } = strip;
  if (simulated === null || (band === null && published === null && unchanged === null)) return '';
  const signs = style.ascii ? ascii : unicode;
  const cells: string[] = Array.from({ length: STRIP_CELLS }, () => style.tone('dim', signs.outside));
  const cellOf = (place: number): number => Math.round(place * (STRIP_CELLS - 1));
  const fill = (from: number, to: number, sign: string): void => {
    for (let at = cellOf(from); at <= cellOf(to); at++) cells[at] = sign;
  };
  if (band !== null) {
    fill(band.from, band.to, signs.inside);
    if (band.open !== 'left') cells[cellOf(band.from)] = signs.from;
    if (band.open !== 'right') cells[cellOf(band.to)] = signs.to;
  }
  if (unchanged !== null) cells[cellOf(unchanged)] = signs.unchanged;
  if (cellOf(simulated.high) > cellOf(simulated.low)) fill(simulated.low, simulated.high, signs.range);
  if (published !== null) cells[cellOf(published)] = signs.published;
  const [tone, sign] =
    verdict === 'miss'
      ? (['bad', signs.missed] as const)
      : ([verdict === 'pass' ? 'good' : 'attention', signs.simulated] as const);
  cells[cellOf(simulated.mean)] = style.tone(tone, sign);
  return cells.join('');
}

/** What the signs of strips mean. */
export function stripLegend(style: Style): string {
  const { published, simulated, from, to } = style.ascii ? ascii : unicode;
  return `${published} published  ${simulated} simulated  ${from}${to} band`;
}

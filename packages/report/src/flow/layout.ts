import type { Flow, FlowEntry, FlowLink } from './columns.js';

/** A bar: where it stands, px from the top. */
export interface PlacedEntry {
  readonly entry: FlowEntry;
  readonly column: number;
  readonly top: number;
  readonly bottom: number;
}

/** A ribbon between two bars: its ends, px from the top. */
export interface PlacedLink {
  readonly link: FlowLink;
  readonly from: readonly [top: number, bottom: number];
  readonly to: readonly [top: number, bottom: number];
}

/** px between bars of a column, and before what is gone. */
const GAP = 2;
const GONE_GAP = 10;

/** Stacks the bars of each column from the top, all on one scale that fits the highest into `height` px. */
export function layoutOf({ columns, links }: Flow, height: number): { bars: PlacedEntry[]; ribbons: PlacedLink[] } {
  const gapsOf = (entries: readonly FlowEntry[]): number =>
    entries.reduce((sum, { gone }, i) => sum + (i === 0 ? 0 : gone ? GONE_GAP : GAP), 0);
  const scale = Math.min(
    ...columns.map(({ entries }) => {
      const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
      return bytes === 0 ? Number.POSITIVE_INFINITY : Math.max(0, height - gapsOf(entries)) / bytes;
    }),
  );
  const bars: PlacedEntry[] = [];
  for (const [column, { entries }] of columns.entries()) {
    let at = 0;
    for (const [i, entry] of entries.entries()) {
      if (i > 0) at += entry.gone ? GONE_GAP : GAP;
      const bottom = at + entry.bytes * scale;
      bars.push({ entry, column, top: at, bottom });
      at = bottom;
    }
  }
  return { bars, ribbons: ribbonsOf(links, bars, scale) };
}

/** Ribbons leave a bar one below the other, and enter one so; where they widen, the bar's whole height is theirs. */
function ribbonsOf(links: readonly FlowLink[], bars: readonly PlacedEntry[], scale: number): PlacedLink[] {
  const taken = new Map<string, number>();
  const end = (column: number, key: string, side: string, bytes: number): readonly [number, number] => {
    const bar = bars.find((one) => one.column === column && one.entry.key === key);
    if (bar === undefined) throw new Error(`a ribbon without a bar: ${key} in column ${column}`);
    const name = `${column} ${key} ${side}`;
    const top = bar.top + (taken.get(name) ?? 0);
    taken.set(name, (taken.get(name) ?? 0) + bytes * scale);
    return [top, top + bytes * scale];
  };
  // In the order of the bars that they leave, so that they do not cross on their way to the same one.
  const rank = ({ column, from }: FlowLink): number =>
    bars.findIndex((one) => one.column === column && one.entry.key === from);
  return [...links]
    .sort((a, b) => rank(a) - rank(b) || Number(a.to === 'gone') - Number(b.to === 'gone'))
    .map((link) => ({
      link,
      from: end(link.column, link.from, 'right', link.fromBytes),
      to: end(link.column + 1, link.to, 'left', link.toBytes),
    }));
}

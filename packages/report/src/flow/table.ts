import type { WriteCause, WriteLayer, WritePart } from '@flashstack/experiment';
import type { Table, TableRow } from '../figure.js';
import { html, type Insert } from '../markup.js';
import { byteUnit, significant } from '../numbers.js';
import { copyCauses } from './columns.js';
import { causeSwatch, inOrder, originSwatch, ownerOf } from './origins.js';

interface Column {
  readonly head: string;
  readonly has: (part: WritePart) => boolean;
}

const at = (head: string, layer: WriteLayer, ...causes: readonly WriteCause[]): Column => ({
  head,
  has: (part) => part.layer === layer && (causes.length === 0 || causes.includes(part.cause)),
});
const copied = ({ layer, cause }: WritePart): boolean =>
  layer === 'flash' && (copyCauses as readonly string[]).includes(cause);
const placed = (part: WritePart): boolean => part.layer === 'flash' && !(part.cause in books);

/** What closes the books between what was placed and what was programmed. */
const books: Readonly<Partial<Record<WriteCause, string>>> = {
  carried: 'placed before counting began',
  pending: 'waits for its program unit',
  dropped: 'lost before it was programmed',
};

const columns: readonly Column[] = [
  at('programs wrote', 'application'),
  at('page cache', 'pageCache'),
  at('file system', 'fileSystem'),
  at('block layer', 'blockLayer'),
  at('drive', 'device'),
  at('absorbed', 'buffer', 'absorbed'),
  at('filled up', 'buffer', 'filled'),
  at('held', 'buffer', 'waiting'),
  { head: 'new in flash', has: (part) => placed(part) && !copied(part) },
  { head: 'copies', has: copied },
  { head: 'flash', has: placed },
];

/** Columns of bytes that fit into five of the page's twelve. */
const NARROW_COLUMNS = 5;

/**
 * Bytes by origin (rows) and layer (columns, those in which there is something); what has no origin has rows of its own.
 * The last column is a row's part of the write amplification: they add up to it.
 */
export function flowTable(parts: readonly WritePart[]): Table {
  const told = columns.filter(({ has }) => parts.some(has));
  const total = (has: (part: WritePart) => boolean): number => sum(parts.filter(has));
  const base = baseBytes(parts);
  const { unit, bytes: unitBytes } = byteUnit(Math.max(...told.map(({ has }) => total(has))));
  const row = (label: Insert, own: readonly WritePart[]): Insert[] => [
    label,
    ...told.map(({ has }) => {
      const wanted = own.filter(has);
      return wanted.length === 0 ? '' : significant(sum(wanted) / unitBytes);
    }),
    base === 0 ? '' : significant(sum(own.filter(placed)) / base),
  ];
  const owned = parts.filter((part) => ownerOf(part) !== null);
  const nobodys = parts.filter((part) => placed(part) && ownerOf(part) === null);
  const rows: TableRow[] = [
    ...inOrder(owned.map((part) => ownerOf(part) ?? '')).map((owner) =>
      row(
        originSwatch(owner).label,
        owned.filter((part) => ownerOf(part) === owner),
      ),
    ),
    ...nobodys.map((part) => row(causeSwatch(part.cause, null).label, [part])),
    row(html`<b>all</b>`, parts),
  ];
  const late = parts.filter(({ layer, cause }) => layer === 'flash' && cause in books);
  const last = (label: string, bytes: number): string[] => [
    label,
    ...told.map(({ has }) => (has === placed ? significant(bytes / unitBytes) : '')),
    '',
  ];
  for (const { cause, bytes } of late) rows.push(last(books[cause] ?? cause, bytes));
  const programmed = total(({ layer }) => layer === 'flash');
  if (late.length > 0) rows.push(last('programmed', programmed));
  return {
    head: [`in ${unit}`, ...told.map(({ head }) => head), '×'],
    rows,
    numeric: told.map((_, i) => i + 1).concat(told.length + 1),
  };
}

/** Whether the table has so many columns that it takes the width of the page. */
export function isWide(parts: readonly WritePart[]): boolean {
  return columns.filter(({ has }) => parts.some(has)).length > NARROW_COLUMNS;
}

/** What write amplification is told against: bytes of the programs' calls, or what the drive took. */
export function baseBytes(parts: readonly WritePart[]): number {
  const written = parts.filter(({ layer }) => layer === 'application');
  return sum(written.length > 0 ? written : parts.filter(({ layer }) => layer === 'device'));
}

/** Bytes placed in flash for any reason. */
export function placedBytes(parts: readonly WritePart[]): number {
  return sum(parts.filter(placed));
}

function sum(parts: readonly WritePart[]): number {
  return parts.reduce((total, { bytes }) => total + bytes, 0);
}

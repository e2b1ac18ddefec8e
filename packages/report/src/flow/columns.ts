import type { WriteLayer, WritePart } from '@flashstack/experiment';
import type { Swatch } from '../tokens.js';
import { causeSwatch, inOrder, originSwatch, ownerOf } from './origins.js';

/** What is drawn as one bar of a column. */
export interface FlowEntry {
  /** The same in all columns that it passes. */
  readonly key: string;
  readonly swatch: Swatch;
  readonly bytes: number;
  /** Came from the column before and went no further: not part of this one. */
  readonly gone: boolean;
}

/** The bytes of a layer. */
export interface FlowColumn {
  readonly layer: WriteLayer;
  /** Without what is gone. */
  readonly bytes: number;
  readonly entries: readonly FlowEntry[];
}

/** What goes on from a bar of a column to one of the next. It may widen: what is written in parts is filled up. */
export interface FlowLink {
  /** Index of the column that it leaves. */
  readonly column: number;
  readonly from: string;
  readonly to: string;
  readonly fromBytes: number;
  readonly toBytes: number;
}

/** Columns from the top of the stack to flash, and what goes on from each to the next. */
export interface Flow {
  readonly columns: readonly FlowColumn[];
  readonly links: readonly FlowLink[];
}

/** Causes of flash programs that come by origin, and those that do not. */
export const copyCauses = ['gc', 'wearLevelling', 'refresh', 'retirement', 'merge'] as const;
const ownCauses = ['backup', 'padding', 'reprogrammed'] as const;
const GONE = 'gone';
const OTHER = 'other';
/** What is less than this share of the largest column everywhere is drawn with others. */
const SMALL = 0.01;
const BETWEEN = { application: 'pageCache', fileSystem: 'blockLayer', device: 'buffer' } as const;
const ABSORBERS = { pageCache: 'page cache', blockLayer: 'block layer', buffer: 'write buffer' } as const;

/** Bytes by owner of parts that are wanted. */
function byOrigin(parts: readonly WritePart[], wanted: (part: WritePart) => boolean): Map<string, number> {
  const bytes = new Map<string, number>();
  for (const part of parts) {
    const origin = ownerOf(part);
    if (origin === null || !wanted(part)) continue;
    bytes.set(origin, (bytes.get(origin) ?? 0) + part.bytes);
  }
  return bytes;
}

/** The flow of a run, small parts with others; null if nothing was written. */
export function flowOf(parts: readonly WritePart[]): Flow | null {
  const layers = (['application', 'fileSystem', 'device'] as const).filter(
    (layer) => layer === 'device' || parts.some((part) => part.layer === layer),
  );
  const columns: FlowColumn[] = [];
  const links: FlowLink[] = [];
  const lost = new Map<string, number>();
  let absorber = '';
  for (const [at, layer] of layers.entries()) {
    const bytes = byOrigin(parts, (part) => part.layer === layer);
    columns.push(columnOf(layer, [...entriesOf(bytes), ...goneEntry(lost, absorber)]));
    const next = layers[at + 1] ?? 'flash';
    const between = BETWEEN[layer];
    const nextBytes = byOrigin(parts, (part) => part.layer === next && ['written', 'host'].includes(part.cause));
    const off = byOrigin(parts, (part) => part.layer === between && part.bytes < 0);
    absorber = ABSORBERS[between];
    lost.clear();
    for (const [origin, fromBytes] of bytes) {
      const taken = Math.min(fromBytes, -(off.get(origin) ?? 0));
      const toBytes = nextBytes.get(origin) ?? 0;
      if (toBytes > 0 && fromBytes > taken) {
        links.push({ column: at, from: origin, to: origin, fromBytes: fromBytes - taken, toBytes });
      }
      if (taken > 0) links.push({ column: at, from: origin, to: GONE, fromBytes: taken, toBytes: taken });
      lost.set(origin, taken);
    }
  }
  columns.push(columnOf('flash', [...flashEntries(parts), ...goneEntry(lost, absorber)]));
  return columns.every(({ bytes }) => bytes === 0) ? null : withOthers({ columns, links });
}

function columnOf(layer: WriteLayer, entries: readonly FlowEntry[]): FlowColumn {
  return { layer, bytes: sumOf(entries.filter(({ gone }) => !gone)), entries };
}

function entriesOf(bytes: ReadonlyMap<string, number>): FlowEntry[] {
  return inOrder(bytes.keys()).map((origin) => entry(origin, originSwatch(origin), bytes.get(origin) ?? 0));
}

function goneEntry(lost: ReadonlyMap<string, number>, absorber: string): FlowEntry[] {
  const bytes = [...lost.values()].reduce((sum, value) => sum + value, 0);
  const swatch: Swatch = { token: 'skip', label: `${absorber} kept off`, hatched: true };
  return bytes === 0 ? [] : [{ key: GONE, swatch, bytes, gone: true }];
}

/** Each origin's data with its copies below it, then what has no origin. */
function flashEntries(parts: readonly WritePart[]): FlowEntry[] {
  const flash = parts.filter(({ layer }) => layer === 'flash');
  const first = byOrigin(flash, ({ cause }) => ['host', 'mapping', 'trimMap'].includes(cause));
  const copies = copyCauses.map((cause) => [cause, byOrigin(flash, (part) => part.cause === cause)] as const);
  const entries: FlowEntry[] = [];
  for (const origin of inOrder([...first.keys(), ...copies.flatMap(([, bytes]) => [...bytes.keys()])])) {
    entries.push(entry(origin, originSwatch(origin), first.get(origin) ?? 0));
    for (const [cause, bytes] of copies) {
      const swatch = causeSwatch(cause, bytes.size > 1 ? origin : null);
      entries.push(entry(`${cause} ${origin}`, swatch, bytes.get(origin) ?? 0));
    }
  }
  for (const cause of ownCauses) {
    const bytes = sumOf(flash.filter((part) => part.cause === cause));
    entries.push(entry(cause, causeSwatch(cause, null), bytes));
  }
  return entries.filter(({ bytes }) => bytes > 0);
}

function entry(key: string, swatch: Swatch, bytes: number): FlowEntry {
  return { key, swatch, bytes, gone: false };
}

function sumOf(all: readonly { readonly bytes: number }[]): number {
  return all.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** The flow with what is small everywhere as one, and without what is gone where that is small. */
function withOthers({ columns, links }: Flow): Flow {
  const limit = SMALL * Math.max(...columns.map(({ bytes }) => bytes));
  const most = new Map<string, number>();
  const shown = columns.map(({ entries }) => entries.filter(({ gone, bytes }) => !gone || bytes >= limit));
  for (const { key, gone, bytes } of shown.flat()) if (!gone) most.set(key, Math.max(bytes, most.get(key) ?? 0));
  const small = new Set([...most].filter(([, bytes]) => bytes < limit).map(([key]) => key));
  // One alone keeps its name.
  if (small.size < 2) small.clear();
  const swatch: Swatch = { token: 'faint', label: `${small.size} others`, hatched: false };
  const joined = columns.map(({ layer, bytes }, at): FlowColumn => {
    const others = sumOf(shown[at].filter(({ key }) => small.has(key)));
    const kept = shown[at].filter(({ key, gone }) => !gone && !small.has(key));
    const rest = others === 0 ? [] : [entry(OTHER, swatch, others)];
    return { layer, bytes, entries: [...kept, ...rest, ...shown[at].filter(({ gone }) => gone)] };
  });
  const drawn = links.filter(({ column, to }) => to !== GONE || joined[column + 1].entries.some(({ gone }) => gone));
  return { columns: joined, links: joinedLinks(drawn, (key) => (small.has(key) ? OTHER : key)) };
}

/** Links by the names that their ends have now, those of the same ends as one. */
function joinedLinks(links: readonly FlowLink[], rename: (key: string) => string): FlowLink[] {
  const joined = new Map<string, FlowLink>();
  for (const link of links) {
    const [from, to] = [rename(link.from), rename(link.to)];
    const name = `${link.column} ${from} > ${to}`;
    const { fromBytes, toBytes } = joined.get(name) ?? { fromBytes: 0, toBytes: 0 };
    const sums = { fromBytes: fromBytes + link.fromBytes, toBytes: toBytes + link.toBytes };
    joined.set(name, { column: link.column, from, to, ...sums });
  }
  return [...joined.values()];
}

import type { WritePart } from '@flashstack/experiment';
import { causeSwatches, type Swatch, type Token } from '../tokens.js';

const known: Readonly<Record<string, readonly [token: Token, label: string, hatched?: boolean]>> = {
  fileData: ['hostData', 'file data'],
  rawDevice: ['hostData', 'host data'],
  unknown: ['hostData', 'host data'],
  applicationLog: ['hostData', 'logs of programs', true],
  swap: ['hostData', 'swap', true],
  directory: ['fsNode', 'directories'],
  inode: ['fsNode', 'inodes', true],
  node: ['fsNode', 'index blocks'],
  extendedAttribute: ['fsNode', 'extended attributes', true],
  symlink: ['fsNode', 'symbolic links', true],
  journal: ['journal', 'journal'],
  checkpoint: ['checkpoint', 'checkpoints'],
  allocationMap: ['checkpoint', 'allocation maps', true],
  summary: ['checkpoint', 'segment summaries', true],
  quota: ['checkpoint', 'quota', true],
  superblock: ['checkpoint', 'superblock', true],
  cleaning: ['cleaning', 'segment cleaning'],
  preconditioned: ['skip', 'earlier data'],
  zoneState: ['mapping', 'states of zones', true],
  translationPage: ['mapping', 'translation pages', true],
  trimMap: ['mapping', 'trim map'],
};
const order = Object.keys(known);

/** How an origin is drawn and called; one of a file system's own is called as it calls it. */
export function originSwatch(origin: string): Swatch {
  const [token, label, hatched = false] = known[origin] ?? (['skip', origin, true] as const);
  return { token, label, hatched };
}

/** What a drive writes of its own and collects later, by its origin then. */
const ownOrigins: Readonly<Partial<Record<WritePart['cause'], string>>> = {
  mapping: 'translationPage',
  trimMap: 'trimMap',
};

/** Whose bytes these are; null: nobody's, as of padding. */
export function ownerOf({ layer, cause, origin }: WritePart): string | null {
  if (origin !== null) return origin;
  // What programs wrote has no other name yet.
  return layer === 'flash' ? (ownOrigins[cause] ?? null) : 'fileData';
}

/** Origins in the order in which they are stacked: data, metadata of file systems, what file systems moved, the drive's own. */
export function inOrder(origins: Iterable<string>): string[] {
  const rank = (origin: string): number => {
    const at = order.indexOf(origin);
    // A file system's own come behind its metadata.
    return at >= 0 ? at : order.indexOf('cleaning') + 0.5;
  };
  return [...new Set(origins)].sort((a, b) => rank(a) - rank(b));
}

/** How what is written for a cause is called; of copies also whose they are, where there are several. */
export function causeSwatch(cause: string, origin: string | null): Swatch {
  const swatch = causeSwatches[cause] ?? { token: 'skip', label: cause, hatched: false };
  return origin === null ? swatch : { ...swatch, label: `${swatch.label}, ${originSwatch(origin).label}` };
}

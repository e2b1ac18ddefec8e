import { FileKind, FsError, type Inode } from '@flashstack/vfs';
import { BlockMap, MAP_WORDS, MOST_PAGES } from './block-map.js';
import type { Directory } from './directory.js';
import { BLOCK_BYTES, INODE_BYTES } from './layout.js';
import type { Metadata } from './metadata.js';

/** Offset of the map in the record of an inode. */
export const MAP_OFFSET = 96;

/** What is kept of an inode besides its attributes. */
export class Node {
  readonly map: BlockMap;
  /** Entries of a directory that has been read. */
  directory: Directory | null = null;
  /** Number of the directory that a directory is in. */
  parent = 0;
  /** Last transaction that changed anything of it. */
  tid = 0;
  /** Last transaction that changed what is needed to read its data. */
  dataTid = 0;

  constructor(metadata: Metadata, ino: number) {
    this.map = new BlockMap(metadata, ino);
  }
}

/** The node of an inode. */
export function nodeOf(inode: Inode): Node {
  return inode.state as Node;
}

/** Writes an inode's record; one without links and references may be written as gone. */
export function encodeInode(inode: Inode, record: Uint8Array): void {
  const node = nodeOf(inode);
  const view = new DataView(record.buffer, record.byteOffset, INODE_BYTES);
  view.setUint16(0, (inode.kind << 12) | inode.mode, true);
  view.setUint32(4, inode.links, true);
  view.setUint32(8, inode.uid, true);
  view.setUint32(12, inode.gid, true);
  view.setFloat64(16, inode.size, true);
  view.setUint32(24, inode.generation, true);
  view.setUint32(28, inode.device, true);
  view.setUint32(32, node.parent, true);
  const times = [inode.accessedSec, inode.modifiedSec, inode.changedSec, inode.bornSec];
  const parts = [inode.accessedNsec, inode.modifiedNsec, inode.changedNsec, inode.bornNsec];
  for (let at = 0; at < 4; at++) {
    view.setFloat64(40 + at * 8, times[at], true);
    view.setUint32(72 + at * 4, parts[at], true);
  }
  for (let at = 0; at < MAP_WORDS; at++) view.setUint32(MAP_OFFSET + at * 4, node.map.words[at], true);
}

/** Fills an inode in from its record. */
export function decodeInode(inode: Inode, record: Uint8Array): void {
  const node = nodeOf(inode);
  const view = new DataView(record.buffer, record.byteOffset, INODE_BYTES);
  inode.mode = view.getUint16(0, true) & 0o7777;
  inode.links = view.getUint32(4, true);
  inode.uid = view.getUint32(8, true);
  inode.gid = view.getUint32(12, true);
  inode.size = view.getFloat64(16, true);
  inode.generation = view.getUint32(24, true);
  inode.device = view.getUint32(28, true);
  node.parent = view.getUint32(32, true);
  inode.accessedSec = view.getFloat64(40, true);
  inode.modifiedSec = view.getFloat64(48, true);
  inode.changedSec = view.getFloat64(56, true);
  inode.bornSec = view.getFloat64(64, true);
  inode.accessedNsec = view.getUint32(72, true);
  inode.modifiedNsec = view.getUint32(76, true);
  inode.changedNsec = view.getUint32(80, true);
  inode.bornNsec = view.getUint32(84, true);
  for (let at = 0; at < MAP_WORDS; at++) node.map.words[at] = view.getUint32(MAP_OFFSET + at * 4, true);
}

/**
 * Throws unless what an inode says makes sense by itself; its map is loaded. `inodes`: numbers there are.
 * @throws FsError EUCLEAN
 */
export function checkInode(inode: Inode, inodes: number): void {
  const { ino, kind, size } = inode;
  const { map, parent } = nodeOf(inode);
  const wrong = (what: string): never => {
    throw new FsError('EUCLEAN', `inode ${ino}: ${what}`);
  };
  if (!(Number.isSafeInteger(size) && size >= 0 && size <= MOST_PAGES * BLOCK_BYTES)) wrong(`size ${size}`);
  const seconds = [inode.accessedSec, inode.modifiedSec, inode.changedSec, inode.bornSec];
  const parts = [inode.accessedNsec, inode.modifiedNsec, inode.changedNsec, inode.bornNsec];
  if (!seconds.every(Number.isSafeInteger) || parts.some((part) => part >= 1e9)) wrong('a time that is none');
  if (kind === FileKind.symlink && !(size >= 1 && size <= BLOCK_BYTES && map.get(0) !== 0)) {
    wrong(`a symbolic link of size ${size}${map.get(0) === 0 ? ' without a block' : ''}`);
  }
  if (map.end > Math.ceil(size / BLOCK_BYTES)) wrong(`page ${map.end - 1} is behind the end at ${size}`);
  if (kind !== FileKind.directory) return;
  if (map.end * BLOCK_BYTES !== size) wrong(`a directory of ${map.end} blocks and size ${size}`);
  if (!(parent >= 1 && parent < inodes)) wrong(`its directory is inode ${parent} of ${inodes}`);
}

/** Kind of the inode in a record; 0: it is free. */
export function kindIn(record: Uint8Array): number {
  return record[1] >> 4;
}

/** True for a kind that exists. */
export function isKind(kind: number): boolean {
  return Object.values(FileKind).includes(kind as 8);
}

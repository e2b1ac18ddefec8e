import { FileKind, type Inode } from '@flashstack/vfs';
import { BlockMap, MAP_WORDS } from './block-map.js';
import type { Directory } from './directory.js';
import { INODE_BYTES } from './layout.js';
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

  constructor(metadata: Metadata) {
    this.map = new BlockMap(metadata);
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

/** Kind of the inode in a record; 0: it is free. */
export function kindIn(record: Uint8Array): number {
  return record[1] >> 4;
}

/** True for a kind that exists. */
export function isKind(kind: number): boolean {
  return Object.values(FileKind).includes(kind as 8);
}

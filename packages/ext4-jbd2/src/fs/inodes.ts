import { Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FileKind, FsError, Inode, type NewInode, Stamp } from '@flashstack/vfs';
import { isZero, put16, putByteString } from '../format/bytes.js';
import { initNode, ROOT_ENTRIES } from '../format/extents.js';
import {
  deviceOf,
  GOOD_OLD_BYTES,
  InodeFlag,
  type InodeRecord,
  putDevice,
  readInode,
  writeInode,
} from '../format/inode-record.js';
import { BlockKind, type MetadataBuffer } from '../journal/buffer.js';
import type { Transaction } from '../journal/transaction.js';
import type { Core } from './core.js';
import { RunState } from './extent-map.js';
import { Node, nodeOf } from './node.js';

/** Bytes behind the first 128 that new inodes use. */
const EXTRA_BYTES = 32;
/** Above this many links, a directory says 1: it has too many to count. */
const MOST_DIRECTORY_LINKS = 64_999;

/** Inodes in memory, and their records in the tables. */
export class Inodes {
  private readonly core: Core;
  private readonly known: Map<number, Inode> = new Map();

  constructor(core: Core) {
    this.core = core;
  }

  /** An inode, read if need be. @throws FsError EUCLEAN, EIO */
  *get(ino: number): Task<Inode> {
    const known = this.known.get(ino);
    if (known !== undefined) return known;
    const table = yield* this.table(ino);
    const at = this.offset(ino);
    const { geometry, sums } = this.core;
    const bytes = table.bytes.slice(at, at + geometry.inodeBytes);
    if (!sums.inodeIsRight(ino, bytes, 0))
      throw new FsError('EUCLEAN', `inode ${ino} in block ${table.block}: i_checksum is wrong`);
    const record = readInode(geometry, bytes, 0);
    const kind = record.mode >>> 12;
    if (!Object.values(FileKind).includes(kind as 1))
      throw new FsError('EUCLEAN', `inode ${ino}: i_mode is 0o${record.mode.toString(8)}`);
    const inode = new Inode(this.core.simulator, ino, kind);
    this.fill(inode, bytes, record, table);
    yield* this.loadMap(inode);
    const meanwhile = this.known.get(ino);
    if (meanwhile !== undefined) return meanwhile;
    return this.remember(inode);
  }

  /** A new inode with a number that was just taken. */
  *make(transaction: Transaction, ino: number, what: NewInode): Task<Inode> {
    const { geometry, journal } = this.core;
    const table = yield* this.table(ino);
    const at = this.offset(ino);
    const bytes = new Uint8Array(geometry.inodeBytes);
    const old = readInode(geometry, table.bytes, at);
    const generation = isZero(table.bytes, at, at + geometry.inodeBytes) ? 0 : (old.generation + 1) >>> 0;
    journal.change(table, transaction);
    const extraBytes = geometry.inodeBytes > GOOD_OLD_BYTES ? EXTRA_BYTES : 0;
    const holdsExtents = what.kind === FileKind.regular || what.kind === FileKind.directory;
    const flags = holdsExtents ? InodeFlag.extents : 0;
    if (extraBytes > 0) put16(bytes, GOOD_OLD_BYTES, extraBytes);
    const record = { ...EMPTY, mode: (what.kind << 12) | what.mode, flags, generation, extraBytes };
    const inode = new Inode(this.core.simulator, ino, what.kind);
    inode.generation = generation;
    this.fill(inode, bytes, record, table);
    inode.mode = what.mode;
    inode.uid = what.uid;
    inode.gid = what.gid;
    inode.device = what.device ?? 0;
    if (holdsExtents) initNode(nodeOf(inode).root, 0, ROOT_ENTRIES, 0);
    else if (what.kind !== FileKind.symlink) putDevice(bytes, 0, inode.device);
    inode.stamp(Stamp.accessed | Stamp.modified | Stamp.changed | Stamp.born, this.core.environment.clock);
    this.core.touch(inode, transaction);
    return this.remember(inode);
  }

  /** Puts a short target of a symbolic link into the inode. */
  setFastLink(inode: Inode, target: string): void {
    const { root } = nodeOf(inode);
    root.fill(0);
    putByteString(root, 0, target);
    inode.size = target.length;
    nodeOf(inode).diskSize = target.length;
  }

  /** The record of an inode into its block of the table, which is part of the transaction. */
  store(inode: Inode, transaction: Transaction): void {
    const node = nodeOf(inode);
    const { geometry, sums, journal } = this.core;
    journal.change(node.table, transaction);
    const { bytes } = node;
    writeInode(geometry, this.recordOf(inode), bytes, 0);
    sums.sealInode(inode.ino, bytes, 0);
    node.table.bytes.set(bytes, this.offset(inode.ino));
  }

  /** Counts the blocks of an inode as `st_blocks` does, those that wait to be allocated included. */
  count(inode: Inode): void {
    const node = nodeOf(inode);
    inode.sectors = (node.storedBlocks + node.map.delayed) * (this.core.geometry.blockBytes / 512);
  }

  /** The inode leaves the memory. */
  forget(inode: Inode): void {
    if (this.known.get(inode.ino) !== inode) return;
    this.known.delete(inode.ino);
    nodeOf(inode).table.pins--;
  }

  all(): IterableIterator<Inode> {
    return this.known.values();
  }

  private remember(inode: Inode): Inode {
    this.known.set(inode.ino, inode);
    nodeOf(inode).table.pins++;
    return inode;
  }

  private fill(inode: Inode, bytes: Uint8Array, record: InodeRecord, table: MetadataBuffer): void {
    const seed = this.core.sums.inodeSeed(inode.ino, record.generation);
    inode.state = new Node(bytes, record, seed, table);
    inode.mode = record.mode & 0o7777;
    inode.uid = record.uid;
    inode.gid = record.gid;
    inode.links = record.links;
    inode.size = record.size;
    inode.sectors = record.sectors;
    inode.generation = record.generation;
    if (inode.kind !== FileKind.regular && inode.kind !== FileKind.directory && inode.kind !== FileKind.symlink) {
      inode.device = deviceOf(bytes, 0);
    }
    inode.accessedSec = record.accessedSec;
    inode.accessedNsec = record.accessedNsec;
    inode.modifiedSec = record.modifiedSec;
    inode.modifiedNsec = record.modifiedNsec;
    inode.changedSec = record.changedSec;
    inode.changedNsec = record.changedNsec;
    inode.bornSec = record.bornSec;
    inode.bornNsec = record.bornNsec;
  }

  private *loadMap(inode: Inode): Task<void> {
    const node = nodeOf(inode);
    const mapped =
      inode.kind === FileKind.regular || inode.kind === FileKind.directory || inode.kind === FileKind.symlink;
    if (!mapped || !node.extents) return;
    node.treeBlocks = yield* this.core.tree.read(
      this.core.files.ownerOf(inode),
      ({ logical, length, physical, unwritten }) => {
        node.map.set(logical, length, physical, unwritten ? RunState.unwritten : RunState.written);
        node.dataBlocks += length;
      },
    );
  }

  private recordOf(inode: Inode): InodeRecord {
    const node = nodeOf(inode);
    const many = inode.kind === FileKind.directory && inode.links > MOST_DIRECTORY_LINKS;
    return {
      mode: (inode.kind << 12) | inode.mode,
      uid: inode.uid,
      gid: inode.gid,
      size: node.diskSize,
      links: many ? 1 : inode.links,
      sectors: node.storedBlocks * (this.core.geometry.blockBytes / 512),
      flags: node.flags,
      generation: inode.generation,
      attributeBlock: node.attributeBlock,
      dtime: node.freed ? this.core.environment.clock.read().sec : Math.max(0, node.nextOrphan),
      extraBytes: node.extraBytes,
      accessedSec: inode.accessedSec,
      accessedNsec: inode.accessedNsec,
      changedSec: inode.changedSec,
      changedNsec: inode.changedNsec,
      modifiedSec: inode.modifiedSec,
      modifiedNsec: inode.modifiedNsec,
      bornSec: inode.bornSec,
      bornNsec: inode.bornNsec,
    };
  }

  /** The block of the table with a record. */
  private *table(ino: number): Task<MetadataBuffer> {
    const { geometry, groups, cache } = this.core;
    if (!(ino >= 1 && ino <= geometry.inodes)) throw new FsError('EUCLEAN', `inode ${ino} of ${geometry.inodes}`);
    const group = Math.floor((ino - 1) / geometry.inodesPerGroup);
    const index = (ino - 1) % geometry.inodesPerGroup;
    const block = groups.inodeTables[group] + Math.floor((index * geometry.inodeBytes) / geometry.blockBytes);
    return yield* cache.load(block, BlockKind.inodeTable, group, Origin.inode, `inode ${ino}`, null);
  }

  private offset(ino: number): number {
    const { inodesPerGroup, inodeBytes, blockBytes } = this.core.geometry;
    return (((ino - 1) % inodesPerGroup) * inodeBytes) % blockBytes;
  }
}

const EMPTY: InodeRecord = {
  mode: 0,
  uid: 0,
  gid: 0,
  size: 0,
  links: 0,
  sectors: 0,
  flags: 0,
  generation: 0,
  attributeBlock: 0,
  dtime: 0,
  extraBytes: 0,
  accessedSec: 0,
  accessedNsec: 0,
  changedSec: 0,
  changedNsec: 0,
  modifiedSec: 0,
  modifiedNsec: 0,
  bornSec: 0,
  bornNsec: 0,
};

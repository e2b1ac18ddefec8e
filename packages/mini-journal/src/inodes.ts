import type { Simulator, Task } from '@flashstack/sim';
import { FsError, Inode } from '@flashstack/vfs';
import { Directory } from './directory.js';
import type { Transaction } from './journal.js';
import { BLOCK_INODES, INODE_BYTES, type Layout } from './layout.js';
import type { Metadata } from './metadata.js';
import { checkInode, decodeInode, encodeInode, isKind, kindIn, Node, nodeOf } from './node.js';

/** Inodes in memory, and which numbers are taken. */
export class Inodes {
  free = 0;
  private readonly simulator: Simulator;
  private readonly layout: Layout;
  private readonly metadata: Metadata;
  private readonly known: Map<number, Inode> = new Map();
  private cursor = 1;

  constructor(simulator: Simulator, layout: Layout, metadata: Metadata) {
    this.simulator = simulator;
    this.layout = layout;
    this.metadata = metadata;
  }

  /** Counts free numbers; returns the inodes that have lost all names. The table is in memory. */
  scan(): number[] {
    const orphans: number[] = [];
    for (let ino = 1; ino < this.layout.inodes; ino++) {
      const record = this.record(ino);
      if (kindIn(record) === 0) this.free++;
      else if (new DataView(record.buffer, record.byteOffset).getUint32(4, true) === 0) orphans.push(ino);
    }
    return orphans;
  }

  /** An inode that exists. @throws FsError EIO, EUCLEAN */
  *get(ino: number): Task<Inode> {
    const known = this.known.get(ino);
    if (known !== undefined) return known;
    if (!(ino >= 1 && ino < this.layout.inodes)) throw new FsError('EUCLEAN', `inode ${ino} is out of range`);
    const record = this.record(ino);
    if (!isKind(kindIn(record))) throw new FsError('EUCLEAN', `inode ${ino} has kind ${kindIn(record)}`);
    const inode = new Inode(this.simulator, ino, kindIn(record));
    inode.state = new Node(this.metadata, ino);
    decodeInode(inode, record);
    yield* nodeOf(inode).map.load();
    checkInode(inode, this.layout.inodes);
    inode.sectors = nodeOf(inode).map.blocks * 8;
    const meanwhile = this.known.get(ino);
    if (meanwhile !== undefined) return meanwhile;
    this.known.set(ino, inode);
    return inode;
  }

  /** A new inode of a free number. @throws FsError ENOSPC */
  make(kind: number): Inode {
    if (this.free === 0) throw new FsError('ENOSPC', 'no inode is free');
    while (kindIn(this.record(this.cursor)) !== 0 || this.known.has(this.cursor)) {
      this.cursor = this.cursor + 1 === this.layout.inodes ? 1 : this.cursor + 1;
    }
    const inode = new Inode(this.simulator, this.cursor, kind);
    const record = this.record(inode.ino);
    inode.generation = new DataView(record.buffer, record.byteOffset).getUint32(24, true) + 1;
    inode.state = new Node(this.metadata, inode.ino);
    this.known.set(inode.ino, inode);
    this.free--;
    return inode;
  }

  /** Writes an inode into its block. */
  store(inode: Inode, transaction: Transaction): void {
    transaction.blocks.add(this.blockOf(inode.ino));
    encodeInode(inode, this.record(inode.ino));
  }

  /** Frees the number of an inode that is gone. */
  release(inode: Inode, transaction: Transaction): void {
    transaction.blocks.add(this.blockOf(inode.ino));
    const record = this.record(inode.ino);
    // The generation stays for the next one.
    record.fill(0, 0, 24);
    record.fill(0, 28);
    this.free++;
    this.known.delete(inode.ino);
  }

  /** Forgets an inode, whose record is stored. */
  forget(inode: Inode): void {
    this.known.delete(inode.ino);
  }

  /** The entries of a directory. @throws FsError EIO, EUCLEAN */
  *directory(inode: Inode): Task<Directory> {
    const node = nodeOf(inode);
    if (node.directory !== null) return node.directory;
    const directory = new Directory(inode, this.metadata);
    yield* directory.load();
    node.directory ??= directory;
    return node.directory;
  }

  private blockOf(ino: number): number {
    return this.layout.inodeStart + Math.floor(ino / BLOCK_INODES);
  }

  private record(ino: number): Uint8Array {
    const at = (ino % BLOCK_INODES) * INODE_BYTES;
    return this.metadata.get(this.blockOf(ino)).subarray(at, at + INODE_BYTES);
  }
}

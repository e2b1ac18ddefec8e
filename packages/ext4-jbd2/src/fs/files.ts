import { Origin } from '@flashstack/block-device';
import type { MaybeTask, Task } from '@flashstack/sim';
import { FileKind, FsError, type Inode, PAGE_BYTES, type PageIo, Stamp } from '@flashstack/vfs';
import { nodeCapacity } from '../format/extents.js';
import { groupStart } from '../format/superblock.js';
import type { Transaction } from '../journal/transaction.js';
import { type Core, FILE_BYTES } from './core.js';
import { RunState } from './extent-map.js';
import type { TreeOwner } from './extent-tree.js';
import { type Node, nodeOf } from './node.js';
import { wantedBlocks } from './preallocation.js';

/** Blocks that the change of one extent may touch: bitmap, descriptors, inode, and a path of the tree that is split. */
export const EXTENT_CREDITS = 12;
/** Extents that one call of write-back adds at most. */
const MOST_EXTENTS = 8;
const CHANGED = Stamp.modified | Stamp.changed;

/** Contents of files: which page is where, giving places to what was written, and taking them back. */
export class Files {
  private readonly core: Core;

  constructor(core: Core) {
    this.core = core;
  }

  /** What the extent tree needs to know of an inode. */
  ownerOf(inode: Inode): TreeOwner {
    const node = nodeOf(inode);
    return {
      ino: inode.ino,
      seed: node.seed,
      root: node.root,
      goal: this.goalOf(inode),
      nodesChanged: (change) => {
        node.treeBlocks += change;
      },
    };
  }

  /** A block at a place of a directory or symbolic link. */
  *allocateMetadata(transaction: Transaction, inode: Inode, logical: number): Task<number> {
    const { start } = yield* this.core.blocks.take(transaction, this.goalBefore(inode, logical), 1, 0);
    yield* this.enter(transaction, inode, logical, start, 1, false);
    return start;
  }

  /** Before bytes are written: their pages get a place or the promise of one. @throws FsError ENOSPC, EFBIG, EROFS */
  beginWrite(inode: Inode, offset: number, length: number): MaybeTask {
    const { journal } = this.core;
    journal.demandSound();
    if (offset + length > FILE_BYTES) throw new FsError('EFBIG');
    const first = Math.floor(offset / PAGE_BYTES);
    const end = Math.ceil((offset + length) / PAGE_BYTES);
    const grows = offset + length > inode.size && inode.size % PAGE_BYTES !== 0;
    const missing = this.missing(nodeOf(inode), first, end);
    if (grows || missing > this.core.blocks.available) return this.beginSlowly(inode, offset + length, first, end);
    const transaction = journal.tryOpen(1);
    if (transaction === null) return this.beginSlowly(inode, offset + length, first, end);
    if (missing > 0) this.promise(inode, first, end);
    journal.close(transaction, 1);
    return 0;
  }

  /** After bytes were changed: size and times. */
  endWrite(inode: Inode, offset: number, length: number): void {
    const node = nodeOf(inode);
    const end = offset + length;
    const transaction = this.core.journal.joinLate();
    if (end > inode.size) inode.size = end;
    // A block that has its place already shows its new end at once; others do when they get theirs.
    const placed = node.map.stateOf(Math.floor((end - 1) / PAGE_BYTES)) === RunState.written;
    const longer = placed && end > node.diskSize;
    if (longer) node.diskSize = end;
    inode.stamp(CHANGED, this.core.environment.clock);
    this.core.touch(inode, transaction, longer);
  }

  /** Says where pages are. */
  readPages(inode: Inode, first: number, count: number, io: PageIo): MaybeTask {
    const { map } = nodeOf(inode);
    const { units } = this.core.io;
    for (let page = first; page < first + count; ) {
      const run = map.lengthFrom(page, first + count - page);
      const state = map.stateOf(page);
      if (state === RunState.written) {
        io.read(page * PAGE_BYTES, run * PAGE_BYTES, map.blockOf(page) * units, Origin.fileData);
      } else io.readHole(page * PAGE_BYTES, run * PAGE_BYTES);
      page += run;
    }
    return 0;
  }

  /** Says where dirty pages go; those that have no place get one. */
  writePages(inode: Inode, pages: Int32Array, count: number, io: PageIo): MaybeTask {
    this.core.journal.demandSound();
    const { map } = nodeOf(inode);
    let placed = 0;
    while (placed < count) {
      const page = pages[placed];
      if (page * PAGE_BYTES >= inode.size) {
        io.done(page);
        placed++;
        continue;
      }
      if (map.stateOf(page) !== RunState.written) break;
      placed += this.writeRun(inode, pages, placed, count, io);
    }
    return placed > 0 ? placed : this.allocatePages(inode, pages, count, io);
  }

  /** Frees all blocks from a page on, delayed ones too. The pages have been settled and dropped. */
  *release(inode: Inode, first: number, end: number = Number.MAX_SAFE_INTEGER): Task<void> {
    const { core } = this;
    const node = nodeOf(inode);
    this.unpromise(inode, first, end);
    while (node.map.end > first) {
      const transaction = yield* core.journal.open(4 * EXTENT_CREDITS);
      const stop = yield* this.releaseSome(transaction, inode, first, end);
      core.touch(inode, transaction);
      core.journal.close(transaction, 4 * EXTENT_CREDITS);
      if (stop) return;
    }
  }

  /** Reserves room for pages that are written without a place. */
  promise(inode: Inode, first: number, end: number): void {
    const node = nodeOf(inode);
    const before = node.map.delayed;
    for (let page = first; page < end; ) {
      const run = node.map.lengthFrom(page, end - page);
      if (node.map.stateOf(page) === RunState.hole) node.map.set(page, run, 0, RunState.delayed);
      page += run;
    }
    this.core.blocks.reserved += node.map.delayed - before;
    this.reserveNodes(node);
    this.core.inodes.count(inode);
  }

  /** Adds a run of blocks to tree and map. */
  *enter(
    transaction: Transaction,
    inode: Inode,
    logical: number,
    physical: number,
    length: number,
    unwritten: boolean,
  ): Task<void> {
    const node = nodeOf(inode);
    yield* this.core.tree.insert(transaction, this.ownerOf(inode), { logical, length, physical, unwritten });
    const delayed = node.map.delayed;
    node.map.set(logical, length, physical, unwritten ? RunState.unwritten : RunState.written);
    this.core.blocks.reserved -= delayed - node.map.delayed;
    node.dataBlocks += length;
    this.reserveNodes(node);
    this.core.inodes.count(inode);
    this.core.touch(inode, transaction);
  }

  /** Blocks that these pages need. */
  missing(node: Node, first: number, end: number): number {
    let missing = 0;
    for (let page = first; page < end; ) {
      const run = node.map.lengthFrom(page, end - page);
      if (node.map.stateOf(page) === RunState.hole) missing += run;
      page += run;
    }
    return missing > 0 && node.map.delayed === 0 ? missing + 1 : missing;
  }

  /** Gives up what is kept for a file. */
  dropKept(node: Node): void {
    if (node.kept === null) return;
    this.core.blocks.unkeep(node.kept.start, node.kept.length);
    node.kept = null;
  }

  /** Where a block should lie: behind the one before it, or in the group of its inode. */
  goalBefore(inode: Inode, logical: number): number {
    const { map } = nodeOf(inode);
    const run = map.find(logical);
    const placed = run >= 0 && (map.stateAt(run) === RunState.written || map.stateAt(run) === RunState.unwritten);
    return placed ? map.physicalAt(run) + logical - map.logicalAt(run) : this.goalOf(inode);
  }

  private goalOf(inode: Inode): number {
    return groupStart(this.core.geometry, this.core.inodeNumbers.groupOf(inode.ino));
  }

  private *beginSlowly(inode: Inode, end: number, first: number, endPage: number): Task<number> {
    const { core } = this;
    if (end > inode.size) yield* this.zeroTail(inode);
    for (;;) {
      const missing = this.missing(nodeOf(inode), first, endPage);
      if (missing > 0 && missing > core.blocks.available) {
        yield* core.makeRoom(missing);
        continue;
      }
      if (missing > 0) this.promise(inode, first, endPage);
      const transaction = core.journal.tryOpen(1) ?? (yield* core.journal.open(1));
      core.journal.close(transaction, 1);
      return 0;
    }
  }

  /**
   * Before a file becomes longer: what its last page holds behind the end becomes zero, and reaches the device before the new
   * size is committed.
   */
  *zeroTail(inode: Inode): Task<void> {
    const at = inode.size % PAGE_BYTES;
    if (at === 0) return;
    const page = Math.floor(inode.size / PAGE_BYTES);
    const mapped = nodeOf(inode).map.stateOf(page) === RunState.written;
    const { cache } = this.core.environment;
    const mapping = cache.mapping(inode);
    while (mapped && !mapping.isCached(page)) {
      const loaded = cache.load(inode, page, 1);
      if (typeof loaded !== 'number') yield* loaded;
    }
    mapping.zero(page, at, PAGE_BYTES - at);
    if (!mapped) return;
    mapping.setDirty(page);
    this.core.journal.joinLate().zeroed.push([inode, page]);
  }

  private reserveNodes(node: Node): void {
    const needed = node.map.delayed === 0 ? 0 : 1 + Math.ceil(node.map.delayed / nodeCapacity(PAGE_BYTES));
    this.core.blocks.reserved += needed - node.reservedNodes;
    node.reservedNodes = needed;
  }

  private unpromise(inode: Inode, first: number, end: number): void {
    const node = nodeOf(inode);
    const before = node.map.delayed;
    for (let page = first; page < Math.min(end, node.map.end); ) {
      const run = node.map.lengthFrom(page, Math.min(end, node.map.end) - page);
      if (node.map.stateOf(page) === RunState.delayed) node.map.set(page, run, 0, RunState.hole);
      page += run;
    }
    this.core.blocks.reserved -= before - node.map.delayed;
    this.reserveNodes(node);
    this.core.inodes.count(inode);
  }

  /** Up to four runs, the last ones first; true: nothing is left. */
  private *releaseSome(transaction: Transaction, inode: Inode, first: number, end: number): Task<boolean> {
    const node = nodeOf(inode);
    for (let runs = 0; runs < 4; runs++) {
      const last = node.map.find(Math.min(end, node.map.end) - 1);
      if (last < 0 || node.map.logicalAt(last) + node.map.lengthAt(last) <= first) return true;
      const from = Math.max(first, node.map.logicalAt(last));
      const stop = Math.min(end, node.map.logicalAt(last) + node.map.lengthAt(last));
      const freed: [number, number][] = [];
      yield* this.core.tree.remove(transaction, this.ownerOf(inode), from, stop, (physical, length) => {
        freed.push([physical, length]);
      });
      node.map.set(from, stop - from, 0, RunState.hole);
      for (const [physical, length] of freed) {
        node.dataBlocks -= length;
        if (inode.kind !== FileKind.regular) this.forget(transaction, physical, length);
        yield* this.core.blocks.free(transaction, physical, length);
      }
      this.core.inodes.count(inode);
    }
    return false;
  }

  /** Blocks of directories and symbolic links are metadata: older copies of them must not be replayed. */
  private forget(transaction: Transaction, physical: number, length: number): void {
    const { cache, journal } = this.core;
    for (let block = physical; block < physical + length; block++) {
      const buffer = cache.get(block);
      if (buffer === undefined) transaction.revoked.add(block);
      else journal.forget(buffer, transaction);
      cache.remove(block);
    }
  }

  /** Pages from `at` on that lie one after the other; returns how many. */
  private writeRun(inode: Inode, pages: Int32Array, at: number, count: number, io: PageIo): number {
    const { map } = nodeOf(inode);
    const page = pages[at];
    const most = map.lengthFrom(page, count - at);
    let run = 1;
    while (run < most && pages[at + run] === page + run && (page + run) * PAGE_BYTES < inode.size) run++;
    io.write(page * PAGE_BYTES, run * PAGE_BYTES, map.blockOf(page) * this.core.io.units, Origin.fileData, 0, 0);
    return run;
  }

  private *allocatePages(inode: Inode, pages: Int32Array, count: number, io: PageIo): Task<number> {
    const { core } = this;
    const node = nodeOf(inode);
    const credits = MOST_EXTENTS * EXTENT_CREDITS;
    const transaction = core.journal.tryOpen(credits) ?? (yield* core.journal.open(credits));
    let placed = 0;
    try {
      for (let extents = 0; placed < count && extents < MOST_EXTENTS; extents++) {
        const page = pages[placed];
        if (page * PAGE_BYTES >= inode.size) {
          io.done(page);
          placed++;
          continue;
        }
        if (node.map.stateOf(page) !== RunState.written) {
          let run = 1;
          const most = node.map.lengthFrom(page, count - placed);
          while (run < most && pages[placed + run] === page + run) run++;
          yield* this.place(transaction, inode, page, run);
        }
        placed += this.writeRun(inode, pages, placed, count, io);
      }
    } finally {
      core.journal.close(transaction, credits);
    }
    return placed;
  }

  /** Gives pages a place, at least the first of them. */
  private *place(transaction: Transaction, inode: Inode, page: number, run: number): Task<void> {
    const node = nodeOf(inode);
    if (node.map.stateOf(page) === RunState.unwritten) yield* this.convert(transaction, inode, page, run);
    else {
      const [start, length] = yield* this.takeFor(transaction, inode, page, run);
      yield* this.enter(transaction, inode, page, start, length, false);
    }
    const end = Math.min(inode.size, (page + node.map.lengthFrom(page, run)) * PAGE_BYTES);
    node.diskSize = Math.max(node.diskSize, end);
    transaction.order(inode, page, page + run - 1);
    this.core.touch(inode, transaction);
  }

  /** Blocks for a run of pages: what is kept for them, or new ones, with more kept behind. */
  *takeFor(transaction: Transaction, inode: Inode, page: number, run: number): Task<[start: number, length: number]> {
    const { blocks } = this.core;
    const node = nodeOf(inode);
    const { kept } = node;
    if (kept !== null && page >= kept.logical && page < kept.logical + kept.length) {
      const skip = page - kept.logical;
      const length = Math.min(run, kept.length - skip);
      if (skip > 0) blocks.unkeep(kept.start, skip);
      const rest = kept.length - skip - length;
      node.kept = rest === 0 ? null : { logical: page + length, start: kept.start + skip + length, length: rest };
      yield* blocks.takeKept(transaction, kept.start + skip, length);
      return [kept.start + skip, length];
    }
    this.dropKept(node);
    const extra = wantedBlocks(page, run, inode.size) - run;
    const free = Math.max(0, Math.min(extra, node.map.lengthFrom(page + run, extra)));
    const keep = free > 0 && node.map.stateOf(page + run) === RunState.hole ? free : 0;
    const taken = yield* blocks.take(transaction, this.goalBefore(inode, page), run, keep);
    if (taken.kept > 0)
      node.kept = { logical: page + taken.length, start: taken.start + taken.length, length: taken.kept };
    return [taken.start, taken.length];
  }

  /** Unwritten blocks hold data from now on. */
  *convert(transaction: Transaction, inode: Inode, page: number, run: number): Task<void> {
    const { core } = this;
    const node = nodeOf(inode);
    const physical = node.map.blockOf(page);
    const owner = this.ownerOf(inode);
    yield* core.tree.remove(transaction, owner, page, page + run, () => {});
    yield* core.tree.insert(transaction, owner, { logical: page, length: run, physical, unwritten: false });
    node.map.set(page, run, physical, RunState.written);
  }
}

import type { Task } from '@flashstack/sim';
import { FallocateMode, FileKind, FsError, type Inode, PAGE_BYTES, Stamp, WritebackReason } from '@flashstack/vfs';
import type { Transaction } from '../journal/transaction.js';
import { type Core, FILE_BYTES } from './core.js';
import { RunState } from './extent-map.js';
import { EXTENT_CREDITS } from './files.js';
import { nodeOf } from './node.js';

const CHANGED = Stamp.modified | Stamp.changed;

/** Sizes and ranges of files: truncation, the modes of fallocate, holes. */
export class Ranges {
  private readonly core: Core;

  constructor(core: Core) {
    this.core = core;
  }

  /** Truncates or extends a file. @throws FsError EFBIG, EROFS, EIO */
  *resize(inode: Inode, size: number): Task<void> {
    const { core } = this;
    const node = nodeOf(inode);
    if (size > FILE_BYTES) throw new FsError('EFBIG');
    core.journal.demandSound();
    if (size >= inode.size) {
      if (size > inode.size) yield* core.files.zeroTail(inode);
      const transaction = yield* core.journal.open(1);
      inode.size = size;
      node.diskSize = size;
      core.touch(inode, transaction);
      core.journal.close(transaction, 1);
      return;
    }
    core.files.dropKept(node);
    const first = Math.ceil(size / PAGE_BYTES);
    yield* this.forget(inode, first, Math.max(first, Math.ceil(inode.size / PAGE_BYTES), node.map.end));
    // The end is zeroed and the size set together: no write can come in between.
    const transaction = yield* core.journal.open(2);
    inode.size = size;
    // Not the smaller of both: what is left may be a hole that nothing will ever be written to.
    node.diskSize = size;
    core.orphans.add(transaction, inode);
    core.touch(inode, transaction);
    yield* this.zeroPart(inode, size, first * PAGE_BYTES - size, transaction);
    core.journal.close(transaction, 2);
    yield* core.files.release(inode, first);
    const last = yield* core.journal.open(2);
    if (inode.links > 0) core.orphans.remove(last, inode);
    core.touch(inode, last);
    core.journal.close(last, 2);
  }

  /** @throws FsError EOPNOTSUPP, EINVAL, EFBIG, ENOSPC */
  *fallocate(inode: Inode, mode: number, offset: number, length: number): Task<void> {
    const { core } = this;
    if (inode.kind !== FileKind.regular) throw new FsError('EOPNOTSUPP');
    const end = offset + length;
    if (end > FILE_BYTES) throw new FsError('EFBIG');
    core.journal.demandSound();
    const keep = (mode & FallocateMode.keepSize) !== 0;
    if ((mode & FallocateMode.punchHole) !== 0) yield* this.clear(inode, offset, Math.min(end, inode.size), false);
    else if ((mode & FallocateMode.zeroRange) !== 0) yield* this.clear(inode, offset, end, true);
    else if ((mode & (FallocateMode.collapseRange | FallocateMode.insertRange)) !== 0) {
      return yield* this.shift(inode, mode, offset, length);
    } else yield* this.allocate(inode, offset, end);
    const grows = !keep && (mode & FallocateMode.punchHole) === 0 && end > inode.size;
    if (grows) yield* core.files.zeroTail(inode);
    const transaction = yield* core.journal.open(1);
    if (grows) inode.size = end;
    // What was to bring the size to the device may have been cleared.
    if (grows || ((mode & (FallocateMode.punchHole | FallocateMode.zeroRange)) !== 0 && end >= inode.size))
      nodeOf(inode).diskSize = inode.size;
    inode.stamp(CHANGED, core.environment.clock);
    core.touch(inode, transaction);
    core.journal.close(transaction, 1);
  }

  /** First data, or hole, at or behind a place. */
  seek(inode: Inode, offset: number, hole: boolean): number {
    const { map } = nodeOf(inode);
    const mapping = this.core.environment.cache.mapping(inode);
    const pages = Math.ceil(inode.size / PAGE_BYTES);
    for (let page = Math.floor(offset / PAGE_BYTES); page < pages; ) {
      const state = map.stateOf(page);
      const run = map.lengthFrom(page, pages - page);
      const unwritten = state === RunState.unwritten;
      // Allocated space without contents is data where it has been written in memory.
      const data = state === RunState.written || state === RunState.delayed || (unwritten && mapping.isDirty(page));
      if (data !== hole) return Math.min(inode.size, Math.max(offset, page * PAGE_BYTES));
      page += unwritten ? 1 : run;
    }
    return inode.size;
  }

  /** Waits for pages and drops them. */
  private *forget(inode: Inode, first: number, end: number): Task<void> {
    if (end <= first) return;
    const { cache } = this.core.environment;
    const settled = cache.settle(inode, first, end - first);
    if (typeof settled !== 'number') yield* settled;
    cache.mapping(inode).drop(first, end - first);
  }

  /** Zeroes part of a page, which is written before the transaction commits if it has a place. */
  private *zeroPart(inode: Inode, from: number, length: number, transaction: Transaction | null): Task<void> {
    if (length <= 0) return;
    const page = Math.floor(from / PAGE_BYTES);
    // Blocks that are kept behind the end have never been written: there is nothing to zero, and the cache loads nothing there.
    if (page * PAGE_BYTES >= inode.size) return;
    const state = nodeOf(inode).map.stateOf(page);
    if (state === RunState.hole) return;
    const { cache } = this.core.environment;
    const mapping = cache.mapping(inode);
    while (!mapping.isCached(page)) {
      const loaded = cache.load(inode, page, 1);
      if (typeof loaded !== 'number') yield* loaded;
    }
    mapping.zero(page, from % PAGE_BYTES, length);
    if (state === RunState.unwritten && !mapping.isDirty(page)) return;
    mapping.setDirty(page);
    if (state === RunState.written) (transaction ?? this.core.journal.joinLate()).zeroed.push([inode, page]);
  }

  /** Makes holes of a range; `allocated`: space without contents instead. */
  private *clear(inode: Inode, offset: number, end: number, allocated: boolean): Task<void> {
    if (end <= offset) return;
    const { core } = this;
    const first = Math.ceil(offset / PAGE_BYTES);
    // What lies behind the end of the file within its last page is zero already.
    const reaches = end >= inode.size ? Math.ceil(end / PAGE_BYTES) : Math.floor(end / PAGE_BYTES);
    if (first > reaches) return yield* this.zeroPart(inode, offset, end - offset, null);
    yield* this.zeroPart(inode, offset, first * PAGE_BYTES - offset, null);
    if (end < inode.size) yield* this.zeroPart(inode, reaches * PAGE_BYTES, end - reaches * PAGE_BYTES, null);
    if (reaches <= first) return allocated ? yield* this.allocate(inode, offset, end) : undefined;
    core.files.dropKept(nodeOf(inode));
    yield* this.forget(inode, first, reaches);
    yield* core.files.release(inode, first, reaches);
    if (allocated) yield* this.allocate(inode, offset, end);
  }

  /** Gives holes of a range space that reads as zero. */
  private *allocate(inode: Inode, offset: number, end: number): Task<void> {
    const { core } = this;
    const node = nodeOf(inode);
    const last = Math.ceil(end / PAGE_BYTES);
    yield* core.makeRoom(core.files.missing(node, Math.floor(offset / PAGE_BYTES), last));
    for (let page = Math.floor(offset / PAGE_BYTES); page < last; ) {
      const run = node.map.lengthFrom(page, last - page);
      if (node.map.stateOf(page) !== RunState.hole) {
        page += run;
        continue;
      }
      const transaction = yield* core.journal.open(EXTENT_CREDITS);
      try {
        const taken = yield* core.blocks.take(
          transaction,
          core.files.goalBefore(inode, page),
          Math.min(run, MOST_PIECE),
          0,
        );
        yield* core.files.enter(transaction, inode, page, taken.start, taken.length, true);
        page += taken.length;
      } finally {
        core.journal.close(transaction, EXTENT_CREDITS);
      }
    }
  }

  /** Takes a range out of a file, or makes room for one: what lies behind moves. */
  private *shift(inode: Inode, mode: number, offset: number, length: number): Task<void> {
    const { core } = this;
    const node = nodeOf(inode);
    const collapse = (mode & FallocateMode.collapseRange) !== 0;
    if (offset % PAGE_BYTES !== 0 || length % PAGE_BYTES !== 0) throw new FsError('EINVAL', 'not whole blocks');
    if (collapse ? offset + length >= inode.size : offset >= inode.size) throw new FsError('EINVAL', 'beyond the end');
    if (!collapse && inode.size + length > FILE_BYTES) throw new FsError('EFBIG');
    yield* core.environment.cache.writeBack(inode, WritebackReason.range, offset, Number.MAX_SAFE_INTEGER);
    const first = offset / PAGE_BYTES;
    const pages = length / PAGE_BYTES;
    yield* this.forget(inode, first, Math.max(node.map.end, Math.ceil(inode.size / PAGE_BYTES)));
    core.files.dropKept(node);
    if (collapse) yield* core.files.release(inode, first, first + pages);
    const credits = 6 * EXTENT_CREDITS;
    const runs: [logical: number, length: number, physical: number, state: number][] = [];
    for (let run = 0; run < node.map.runs; run++) {
      const end = node.map.logicalAt(run) + node.map.lengthAt(run);
      const from = Math.max(first, node.map.logicalAt(run));
      if (end <= from) continue;
      runs.push([from, end - from, node.map.physicalAt(run) + from - node.map.logicalAt(run), node.map.stateAt(run)]);
    }
    const transaction = yield* core.journal.open(credits + 4 * runs.length);
    const by = collapse ? -pages : pages;
    const owner = core.files.ownerOf(inode);
    for (const [logical, blocks] of runs) {
      yield* core.tree.remove(transaction, owner, logical, logical + blocks, () => {});
      node.map.set(logical, blocks, 0, RunState.hole);
    }
    for (const [logical, blocks, physical, state] of runs) {
      const unwritten = state === RunState.unwritten;
      yield* core.tree.insert(transaction, owner, { logical: logical + by, length: blocks, physical, unwritten });
      node.map.set(logical + by, blocks, physical, state);
    }
    inode.size += collapse ? -length : length;
    node.diskSize = inode.size;
    inode.stamp(CHANGED, core.environment.clock);
    core.touch(inode, transaction);
    core.journal.close(transaction, credits + 4 * runs.length);
  }
}

/** Blocks of one unwritten extent at most. */
const MOST_PIECE = 32_767;

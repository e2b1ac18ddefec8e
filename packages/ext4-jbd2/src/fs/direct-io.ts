import { BlockFlag, BlockOp, IoBatch, Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError, type Inode, PAGE_BYTES, Stamp } from '@flashstack/vfs';
import { type Core, FILE_BYTES } from './core.js';
import { RunState } from './extent-map.js';
import { EXTENT_CREDITS } from './files.js';
import { nodeOf } from './node.js';

const CHANGED = Stamp.modified | Stamp.changed;
/** Pages of an extent without contents at most. */
const MOST_PIECE = 32_767;

/** Contents of a direct write: bytes, or a tag for each page. */
interface Contents {
  readonly data: Uint8Array | null;
  readonly tags: Uint32Array | null;
}

/**
 * Reads and writes past the page cache, in whole blocks. A write into a hole or behind the end gets blocks marked as
 * unwritten first; they become data, and the file longer, when the device has answered. So a power cut never shows what lay
 * in those blocks before, and no commit waits for the data.
 */
export class DirectIo {
  private readonly core: Core;

  constructor(core: Core) {
    this.core = core;
  }

  /** Returns the bytes read; fewer where a page waits in the cache for its place. @throws FsError EIO */
  *read(inode: Inode, offset: number, length: number, data: Uint8Array | null): Task<number> {
    const { map } = nodeOf(inode);
    const { io } = this.core;
    const first = offset / PAGE_BYTES;
    const batch = new IoBatch(io.device);
    let page = first;
    for (const end = first + length / PAGE_BYTES; page < end; ) {
      const state = map.stateOf(page);
      if (state === RunState.delayed) break;
      const run = map.lengthFrom(page, end - page);
      const from = (page - first) * PAGE_BYTES;
      const part = data === null ? null : data.subarray(from, from + run * PAGE_BYTES);
      if (state === RunState.written) {
        const request = batch.add(BlockOp.read, map.blockOf(page) * io.units, run * io.units);
        request.data = part;
        request.origin = Origin.fileData;
        request.flags = BlockFlag.sync;
      } else part?.fill(0);
      page += run;
    }
    yield* this.send(batch, inode, 'read');
    return (page - first) * PAGE_BYTES;
  }

  /**
   * Returns the bytes written; fewer where a page waits in the cache for its place, or the space ends.
   * @throws FsError ENOSPC, EFBIG, EROFS, EIO
   */
  *write(inode: Inode, offset: number, length: number, contents: Contents): Task<number> {
    const { core } = this;
    core.journal.demandSound();
    if (offset + length > FILE_BYTES) throw new FsError('EFBIG');
    if (offset > inode.size) yield* core.files.zeroTail(inode);
    const first = offset / PAGE_BYTES;
    const end = yield* this.allocate(inode, first, first + length / PAGE_BYTES);
    if (end === first) return 0;
    yield* this.send(this.requests(inode, first, end, contents), inode, 'written');
    yield* this.finish(inode, first, end);
    return (end - first) * PAGE_BYTES;
  }

  /** Gives holes blocks without contents; returns the page up to which all have blocks. @throws FsError ENOSPC if the first gets none */
  private *allocate(inode: Inode, first: number, end: number): Task<number> {
    const { core } = this;
    const { map } = nodeOf(inode);
    for (let page = first; page < end; ) {
      const state = map.stateOf(page);
      if (state === RunState.delayed) return page;
      if (state !== RunState.hole) {
        page += map.lengthFrom(page, end - page);
        continue;
      }
      const wanted = yield* this.room(inode, page, Math.min(MOST_PIECE, map.lengthFrom(page, end - page)));
      if (wanted === 0 && page === first) throw new FsError('ENOSPC');
      if (wanted === 0) return page;
      const transaction = yield* core.journal.open(EXTENT_CREDITS);
      try {
        const [start, taken] = yield* core.files.takeFor(transaction, inode, page, wanted);
        yield* core.files.enter(transaction, inode, page, start, taken, true);
        page += taken;
      } finally {
        core.journal.close(transaction, EXTENT_CREDITS);
      }
    }
    return end;
  }

  /** Pages of a hole for which there is room, at most so many; 0: the space has ended. */
  private *room(inode: Inode, page: number, most: number): Task<number> {
    const { core } = this;
    for (let wanted = most; wanted > 0; wanted = Math.floor(wanted / 2)) {
      try {
        yield* core.makeRoom(core.files.missing(nodeOf(inode), page, page + wanted));
        return wanted;
      } catch (error) {
        if (!(error instanceof FsError) || error.code !== 'ENOSPC') throw error;
      }
    }
    return 0;
  }

  private requests(inode: Inode, first: number, end: number, { data, tags }: Contents): IoBatch {
    const { map } = nodeOf(inode);
    const { io } = this.core;
    const batch = new IoBatch(io.device);
    for (let page = first; page < end; ) {
      const run = map.lengthFrom(page, end - page);
      const at = page - first;
      const request = batch.add(BlockOp.write, map.blockOf(page) * io.units, run * io.units);
      request.data = data === null ? null : data.subarray(at * PAGE_BYTES, (at + run) * PAGE_BYTES);
      request.tags = tags === null ? null : repeated(tags.subarray(at, at + run), io.units);
      request.origin = Origin.fileData;
      request.flags = BlockFlag.sync;
      page += run;
    }
    return batch;
  }

  /** What the device has becomes data, the file as long as it is now. */
  private *finish(inode: Inode, first: number, end: number): Task<void> {
    const { core } = this;
    const node = nodeOf(inode);
    for (let page = first; page < end; ) {
      const run = node.map.lengthFrom(page, end - page);
      if (node.map.stateOf(page) === RunState.unwritten) {
        const transaction = yield* core.journal.open(EXTENT_CREDITS);
        try {
          yield* core.files.convert(transaction, inode, page, run);
          core.touch(inode, transaction);
        } finally {
          core.journal.close(transaction, EXTENT_CREDITS);
        }
      }
      page += run;
    }
    const transaction = yield* core.journal.open(1);
    const reached = end * PAGE_BYTES;
    const longer = reached > inode.size;
    if (longer) inode.size = reached;
    if (reached > node.diskSize) node.diskSize = Math.min(reached, inode.size);
    inode.stamp(CHANGED, core.environment.clock);
    core.touch(inode, transaction, longer);
    core.journal.close(transaction, 1);
  }

  private *send(batch: IoBatch, inode: Inode, what: string): Task<void> {
    yield batch;
    if (batch.status !== 0) throw new FsError('EIO', `inode ${inode.ino}: blocks cannot be ${what}`);
  }
}

/** Tags of the device's blocks, of which each page has so many. */
function repeated(tags: Uint32Array, units: number): Uint32Array {
  return units === 1
    ? tags
    : Uint32Array.from({ length: tags.length * units }, (_, at) => tags[Math.floor(at / units)]);
}

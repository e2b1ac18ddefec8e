import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { clearBit, setBit } from '../format/bytes.js';
import { groupBlocks, groupStart } from '../format/superblock.js';
import type { Journal } from '../journal/journal.js';
import type { FreedRun, Transaction } from '../journal/transaction.js';
import { type FoundRun, findRun, nextFree, runLength } from './free-runs.js';
import type { Groups } from './groups.js';

/** Blocks that one call has taken. */
export interface Taken {
  readonly start: number;
  readonly length: number;
}

/**
 * Which blocks can be taken: what the bitmaps say, less what is kept for a file, less what was freed by a transaction that
 * is not durable yet (it must not be used before that). Bitmaps are read when a group is first looked at.
 */
export class BlockAllocator {
  private readonly groups: Groups;
  private readonly journal: Journal;
  /** Per group: used, kept and waiting blocks. */
  private readonly busy: Map<number, Uint8Array> = new Map();
  private readonly found: FoundRun = { at: -1, length: 0 };
  /** Blocks that are free, but wait for the commit of what freed them. */
  waiting = 0;
  /** Blocks that writes have been promised. */
  reserved = 0;
  /** Blocks that are kept for files in memory. */
  kept = 0;
  /** Gives up all that is kept. */
  discardKept: () => void = () => {};

  constructor(groups: Groups, journal: Journal) {
    this.groups = groups;
    this.journal = journal;
  }

  /** Blocks that can be promised now. */
  get available(): number {
    return this.groups.totalFreeBlocks - this.waiting - this.reserved;
  }

  /**
   * Takes up to `want` consecutive blocks, near `goal`, and `keep` more behind them for later if they are free; what is
   * kept is busy, but not used. @throws FsError ENOSPC, EIO, EUCLEAN
   */
  *take(transaction: Transaction, goal: number, want: number, keep: number): Task<Taken & { readonly kept: number }> {
    let run = yield* this.find(goal, want + keep);
    if (run === null && this.kept > 0) {
      this.discardKept();
      run = yield* this.find(goal, want + keep);
    }
    if (run === null) throw new FsError('ENOSPC');
    const length = Math.min(want, run.length);
    const kept = run.length - length;
    // All of it at once: others look for blocks while the bitmap is read.
    this.setBusy(run.start, run.length, true);
    this.kept += kept;
    try {
      yield* this.use(transaction, run.start, length);
    } catch (error) {
      this.unkeep(run.start + length, kept);
      this.setBusy(run.start, length, false);
      throw error;
    }
    return { start: run.start, length, kept };
  }

  /** Takes blocks that were kept. */
  *takeKept(transaction: Transaction, start: number, length: number): Task<void> {
    this.kept -= length;
    yield* this.use(transaction, start, length);
  }

  /** Gives up blocks that were kept and are not needed. */
  unkeep(start: number, length: number): void {
    this.kept -= length;
    this.setBusy(start, length, false);
  }

  /** Frees blocks; they can be taken again when the transaction is durable. */
  *free(transaction: Transaction, start: number, length: number): Task<void> {
    const { geometry } = this.groups;
    for (let at = start; at < start + length; ) {
      const group = Math.floor((at - geometry.firstDataBlock) / geometry.blocksPerGroup);
      const from = at - groupStart(geometry, group);
      const count = Math.min(start + length - at, groupBlocks(geometry, group) - from);
      yield* this.busyBits(group);
      const bitmap = yield* this.groups.blockBitmap(group);
      this.journal.change(bitmap, transaction);
      this.journal.change(this.groups.descriptorBuffer(group), transaction);
      this.groups.markBlocks(bitmap, from, count, false);
      this.waiting += count;
      this.journal.free({ start: at, length: count }, transaction);
      at += count;
    }
  }

  /** What a durable transaction has freed can be taken again. */
  released({ start, length }: FreedRun): void {
    this.waiting -= length;
    this.setBusy(start, length, false);
  }

  /** Marks blocks that are busy already as used. */
  private *use(transaction: Transaction, start: number, length: number): Task<void> {
    const { geometry } = this.groups;
    const group = Math.floor((start - geometry.firstDataBlock) / geometry.blocksPerGroup);
    const bitmap = yield* this.groups.blockBitmap(group);
    this.journal.change(bitmap, transaction);
    this.journal.change(this.groups.descriptorBuffer(group), transaction);
    this.groups.markBlocks(bitmap, start - groupStart(geometry, group), length, true);
  }

  /** Free blocks near a goal; null: all is busy. */
  private *find(goal: number, want: number): Task<Taken | null> {
    for (;;) {
      const found = yield* this.search(goal, want);
      // Others may have taken it while the bitmap of a later group was read.
      if (found === null || this.isFree(found)) return found;
    }
  }

  private isFree({ start, length }: Taken): boolean {
    const { geometry } = this.groups;
    const group = Math.floor((start - geometry.firstDataBlock) / geometry.blocksPerGroup);
    const at = start - groupStart(geometry, group);
    const bits = this.busy.get(group);
    return bits !== undefined && runLength(bits, at, at + length, length) === length;
  }

  /** There, then behind it in its group, then the next groups in order. */
  private *search(goal: number, want: number): Task<Taken | null> {
    const { groups } = this;
    const { geometry } = groups;
    const valid = goal > geometry.firstDataBlock && goal < geometry.blocks ? goal : geometry.firstDataBlock + 1;
    const first = Math.floor((valid - geometry.firstDataBlock) / geometry.blocksPerGroup);
    const offset = valid - groupStart(geometry, first);
    const exact = yield* this.atGoal(first, offset, want);
    if (exact !== null) return exact;
    let best: Taken | null = null;
    for (const least of want > 1 ? [want, 1] : [1]) {
      for (let step = 0; step < groups.count; step++) {
        const group = (first + step) % groups.count;
        if (groups.freeBlocks[group] < least) continue;
        const bits = yield* this.busyBits(group);
        const end = groupBlocks(geometry, group);
        findRun(bits, step === 0 ? offset : 0, end, want, this.found);
        if (step === 0 && this.found.length < want) this.further(bits, end, want);
        if (this.found.length > (best?.length ?? 0)) {
          best = { start: groupStart(geometry, group) + this.found.at, length: this.found.length };
        }
        if (best !== null && best.length >= least) return best;
      }
    }
    return best;
  }

  /** A whole group; what was found in its part behind the goal stays if nothing is longer. */
  private further(bits: Uint8Array, end: number, want: number): void {
    const { at, length } = this.found;
    findRun(bits, 0, end, want, this.found);
    if (this.found.length >= length) return;
    this.found.at = at;
    this.found.length = length;
  }

  private *atGoal(group: number, offset: number, want: number): Task<Taken | null> {
    const { geometry, freeBlocks } = this.groups;
    if (freeBlocks[group] === 0) return null;
    const bits = yield* this.busyBits(group);
    const end = groupBlocks(geometry, group);
    if (nextFree(bits, offset, Math.min(end, offset + 1)) !== offset) return null;
    const length = runLength(bits, offset, end, want);
    return length < want && length < 8 ? null : { start: groupStart(geometry, group) + offset, length };
  }

  private *busyBits(group: number): Task<Uint8Array> {
    const known = this.busy.get(group);
    if (known !== undefined) return known;
    const { bytes } = yield* this.groups.blockBitmap(group);
    const meanwhile = this.busy.get(group);
    if (meanwhile !== undefined) return meanwhile;
    const bits = bytes.slice();
    this.busy.set(group, bits);
    return bits;
  }

  private setBusy(start: number, length: number, busy: boolean): void {
    const { geometry } = this.groups;
    for (let block = start; block < start + length; block++) {
      const group = Math.floor((block - geometry.firstDataBlock) / geometry.blocksPerGroup);
      const bits = this.busy.get(group);
      if (bits === undefined) throw new Error(`the blocks of group ${group} are not known`);
      const at = block - groupStart(geometry, group);
      if (busy) setBit(bits, at);
      else clearBit(bits, at);
    }
  }
}

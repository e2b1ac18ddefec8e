import { BlockFlag, IoBatch } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { putBe32 } from '../format/bytes.js';
import type { MetadataBuffer } from './buffer.js';
import { writeJournalSuperblock } from './commit.js';
import type { Journal } from './journal.js';
import { JSB } from './records.js';
import type { Transaction } from './transaction.js';

/** Home writes that a checkpoint submits together. */
const BATCH = 64;

/** Where a log begins. */
interface Tail {
  readonly block: number;
  readonly tid: number;
}

/** Brings committed blocks home, and gives the log before them up. */
export class Checkpointer {
  private readonly journal: Journal;
  /** Committed transactions of which the log is still needed, oldest first. */
  private readonly transactions: Transaction[] = [];

  constructor(journal: Journal) {
    this.journal = journal;
  }

  /** A transaction is durable: its blocks wait to be written home, and older ones need not keep the same blocks. */
  add(transaction: Transaction): void {
    for (const buffer of transaction.buffers) {
      buffer.checkpoint?.pending.delete(buffer);
      buffer.checkpoint = transaction;
      transaction.pending.add(buffer);
    }
    this.transactions.push(transaction);
  }

  /** A block need not be written home any more. */
  drop(buffer: MetadataBuffer): void {
    buffer.checkpoint?.pending.delete(buffer);
    buffer.checkpoint = null;
  }

  get hasWork(): boolean {
    return this.transactions.length > 0;
  }

  /** Where the log could begin, if so much of it would come free that it is worth a write of the journal's superblock. */
  tailToMove(): Tail | null {
    const tail = this.newTail();
    const { space, mostBlocks } = this.journal;
    return space.distance(space.tail, tail.block) >= mostBlocks ? tail : null;
  }

  /** Says durably that the log begins later, then uses the room. What was home when `tail` was decided is durable. */
  *moveTail({ block: tail, tid }: Tail): Task<void> {
    const { journal } = this;
    putBe32(journal.superblock, JSB.s_sequence, tid);
    putBe32(journal.superblock, JSB.s_start, tail);
    yield* writeJournalSuperblock(journal, BlockFlag.fua);
    journal.space.moveTail(tail, tid);
  }

  /** Brings the oldest transactions home until the log has room for another one. */
  *makeRoom(): Task<void> {
    const { journal } = this;
    const before = journal.space.free;
    journal.stats.checkpoints++;
    while (this.transactions.length > 0) {
      const [oldest] = this.transactions;
      yield* this.writeHome([...oldest.pending]);
      if (oldest.pending.size > 0) {
        // A newer transaction has changed a block: that has to be committed first.
        const { running } = journal;
        if (running !== null) yield* journal.commitAndWait(running.tid);
        continue;
      }
      this.prune();
      if (journal.space.distance(journal.space.tail, this.newTail().block) + before > journal.mostBlocks) break;
    }
    yield* this.flushAndMove();
  }

  /** Writes everything home and marks the log empty. */
  *empty(): Task<void> {
    const { journal } = this;
    for (const transaction of [...this.transactions]) yield* this.writeHome([...transaction.pending]);
    this.prune();
    yield* journal.io.flush();
    putBe32(journal.superblock, JSB.s_start, 0);
    putBe32(journal.superblock, JSB.s_sequence, journal.currentTid);
    putBe32(journal.superblock, JSB.s_head, journal.space.head);
    yield* writeJournalSuperblock(journal, BlockFlag.fua);
    const { space } = journal;
    space.moveTail(space.head, journal.currentTid);
    space.free = space.size;
  }

  /** Writes these blocks home, those that can be, and waits. @throws FsError EIO */
  *writeHome(buffers: readonly MetadataBuffer[]): Task<void> {
    const { io, stats } = this.journal;
    for (let from = 0; from < buffers.length; from += BATCH) {
      const batch = new IoBatch(io.device);
      const written: [MetadataBuffer, number][] = [];
      for (const buffer of buffers.slice(from, from + BATCH)) {
        if (!isWritable(buffer)) continue;
        buffer.writing = true;
        written.push([buffer, buffer.version]);
        io.add(batch, buffer.block, buffer.bytes, buffer.origin, 0);
      }
      if (written.length === 0) continue;
      yield batch;
      for (const [buffer] of written) buffer.writing = false;
      if (batch.status !== 0) throw new FsError('EIO', `${written.length} blocks of metadata cannot be written`);
      stats.homeWrites += written.length;
      for (const [buffer, version] of written) this.isHome(buffer, version);
    }
  }

  /** Drops transactions that have nothing left to bring home from the front. */
  prune(): void {
    while (this.transactions.length > 0 && this.transactions[0].pending.size === 0) this.transactions.shift();
  }

  private isHome(buffer: MetadataBuffer, version: number): void {
    if (buffer.version !== version) return;
    buffer.dirty = false;
    this.drop(buffer);
  }

  /** Where the log could begin: the oldest transaction that is not home, or what comes after all of them. */
  private newTail(): Tail {
    const { space, committing, currentTid } = this.journal;
    this.prune();
    const oldest = this.transactions.at(0) ?? committing;
    if (oldest !== null && oldest !== undefined) return { block: oldest.logStart, tid: oldest.tid };
    return { block: space.head, tid: currentTid };
  }

  private *flushAndMove(): Task<void> {
    const tail = this.newTail();
    if (tail.block === this.journal.space.tail) return;
    if (this.journal.options.barrier) yield* this.journal.io.flush();
    yield* this.moveTail(tail);
  }
}

/** The bytes are what was committed last: nothing newer is in them. */
function isWritable(buffer: MetadataBuffer): boolean {
  return buffer.dirty && !buffer.writing && buffer.running === null && buffer.committing === null;
}

import { Condition, type Simulator, type Task } from '@flashstack/sim';
import { FsError, type Inode } from '@flashstack/vfs';
import type { DeviceBlocks } from '../volume/device-blocks.js';
import type { MetadataBuffer } from './buffer.js';
import { Checkpointer } from './checkpoint.js';
import { Committer } from './commit.js';
import type { LogFile } from './log-file.js';
import type { LogSpace } from './log-space.js';
import { type JournalFormat, tidBefore } from './records.js';
import { type FreedRun, Transaction, TransactionState } from './transaction.js';

/** Default time between commits that nobody asks for: `commit=5`. */
export const COMMIT_INTERVAL_NS = 5_000_000_000;

/** What the journal asks of the file system. */
export interface JournalClient {
  /** Writes the records of changed inodes into their blocks and makes checksums right. */
  seal(transaction: Transaction): void;
  /** Makes the checksum of a block right that is written home without a journal. */
  sealBlock(buffer: MetadataBuffer): void;
  /** Writes the pages that must be in place and waits for them. */
  writeOrdered(transaction: Transaction): Task<void>;
  /** A transaction is durable: what it freed may be used again. */
  committed(transaction: Transaction): Task<void> | null;
  /** The present, for commit blocks. */
  clock(): { readonly sec: number; readonly nsec: number };
}

/** What a journal has done since mount. */
export interface JournalStats {
  commits: number;
  /** Blocks written to the log, control blocks included. */
  logBlocks: number;
  /** Callers that a commit has made wait. */
  waiters: number;
  checkpoints: number;
  /** Writes of the journal's superblock. */
  superblockWrites: number;
  /** Blocks written home. */
  homeWrites: number;
}

/** How a journal runs. */
export interface JournalOptions {
  readonly commitIntervalNs: number;
  /** Flushes and FUA are used. */
  readonly barrier: boolean;
}

/**
 * The journal (JBD2): handles of operations join the running transaction, the commit thread makes transactions durable one
 * after the other, and the log is reused once blocks have reached their homes.
 */
export class Journal {
  readonly simulator: Simulator;
  readonly io: DeviceBlocks;
  readonly file: LogFile;
  readonly format: JournalFormat;
  readonly space: LogSpace;
  readonly client: JournalClient;
  readonly options: JournalOptions;
  /** The journal's superblock, as it is on the device. */
  readonly superblock: Uint8Array;
  readonly checkpointer: Checkpointer;
  readonly stats: JournalStats = {
    commits: 0,
    logBlocks: 0,
    waiters: 0,
    checkpoints: 0,
    superblockWrites: 0,
    homeWrites: 0,
  };
  /** Accepts handles; null: none has been opened since the last one began to commit. */
  running: Transaction | null = null;
  committing: Transaction | null = null;
  /** The last durable transaction. */
  committedTid: number;
  /** Why nothing can be changed any more. */
  failure: FsError | null = null;
  private nextTid: number;
  private readonly committer: Committer;
  private readonly wake: Condition;
  private readonly done: Condition;
  private readonly ended: Condition;
  private active = false;
  private stopping = false;

  constructor(
    simulator: Simulator,
    io: DeviceBlocks,
    file: LogFile,
    format: JournalFormat,
    superblock: Uint8Array,
    space: LogSpace,
    client: JournalClient,
    options: JournalOptions,
  ) {
    this.simulator = simulator;
    this.io = io;
    this.file = file;
    this.format = format;
    this.superblock = superblock;
    this.space = space;
    this.client = client;
    this.options = options;
    this.nextTid = space.tailTid;
    this.committedTid = (space.tailTid - 1) >>> 0;
    this.wake = new Condition(simulator, 'the next commit');
    this.done = new Condition(simulator, 'the end of a commit');
    this.ended = new Condition(simulator, 'the end of the commit thread');
    this.checkpointer = new Checkpointer(this);
    this.committer = new Committer(this);
  }

  /** Most blocks of a transaction, its control blocks included. */
  get mostBlocks(): number {
    return Math.floor(this.space.size / 3);
  }

  /** Throws if the journal has failed. @throws FsError EROFS */
  demandSound(): void {
    if (this.failure !== null) throw new FsError('EROFS', `the journal was aborted: ${this.failure.message}`);
  }

  /** Joins the running transaction with at most so many blocks. Returns it, or null: then `open` has to wait. */
  tryOpen(credits: number): Transaction | null {
    if (this.failure !== null) return null;
    const transaction = this.running;
    if (transaction === null) {
      if (!this.hasRoomFor(credits)) return null;
      this.running = new Transaction(this.simulator, this.nextTid);
      this.nextTid = (this.nextTid + 1) >>> 0;
      this.wake.notifyAll();
      return this.join(this.running, credits);
    }
    if (transaction.state !== TransactionState.running) return null;
    const size = this.sizeOf(transaction);
    if (size + credits > this.mostBlocks || !this.hasRoomFor(size + credits)) return null;
    return this.join(transaction, credits);
  }

  /** Joins the running transaction, waiting for room as long as there is none. @throws FsError EROFS, ENOSPC */
  *open(credits: number): Task<Transaction> {
    if (credits > this.mostBlocks) throw new FsError('ENOSPC', `${credits} blocks in one transaction`);
    for (;;) {
      this.demandSound();
      const joined = this.tryOpen(credits);
      if (joined !== null) return joined;
      const transaction = this.running;
      if (transaction === null) yield* this.makeRoom(credits);
      else if (transaction.state !== TransactionState.running) yield this.done;
      else if (this.sizeOf(transaction) + credits > this.mostBlocks) yield* this.commitAndWait(transaction.tid);
      else yield* this.makeRoom(this.sizeOf(transaction) + credits);
    }
  }

  /**
   * The transaction for a small change that cannot wait, such as the end of a write whose beginning had room: the running
   * one, though it may be about to commit.
   */
  joinLate(): Transaction {
    if (this.running === null) {
      this.running = new Transaction(this.simulator, this.nextTid);
      this.nextTid = (this.nextTid + 1) >>> 0;
      this.wake.notifyAll();
    }
    return this.running;
  }

  /** Ends a handle. */
  close(transaction: Transaction, credits: number): void {
    transaction.handles--;
    transaction.credits -= credits;
    if (transaction.handles === 0 && transaction.state === TransactionState.locked) transaction.idle.notifyAll();
  }

  /** Before a block is changed: it becomes part of a transaction, and the one that is committing keeps what it has. */
  change(buffer: MetadataBuffer, transaction: Transaction): void {
    if (buffer.running === transaction) return;
    if (buffer.committing !== null && buffer.frozen === null && this.committer.needsCopy) {
      buffer.frozen = buffer.bytes.slice();
    }
    buffer.running = transaction;
    transaction.buffers.add(buffer);
    transaction.revoked.delete(buffer.block);
  }

  /** A metadata block is freed: no older copy of it may be replayed over what takes its place. */
  forget(buffer: MetadataBuffer, transaction: Transaction): void {
    if (buffer.running !== null) {
      buffer.running.buffers.delete(buffer);
      buffer.running = null;
    }
    transaction.forgotten.push(buffer);
    transaction.revoked.add(buffer.block);
  }

  /** Blocks that were freed become usable when the transaction is durable. */
  free(run: FreedRun, transaction: Transaction): void {
    transaction.freed.push(run);
  }

  /** An inode's record is written when the transaction commits. */
  touch(inode: Inode, transaction: Transaction): void {
    transaction.inodes.add(inode);
  }

  /** The number that what is changed now will be committed with. */
  get currentTid(): number {
    return this.running?.tid ?? this.nextTid;
  }

  isCommitted(tid: number): boolean {
    return !tidBefore(this.committedTid, tid);
  }

  /** Asks for the commit of a transaction. */
  request(tid: number): void {
    const { running } = this;
    if (running === null || running.tid !== tid) return;
    running.wanted = true;
    this.wake.notifyAll();
  }

  /** Waits until a transaction is durable. @throws FsError EROFS, EIO */
  *commitAndWait(tid: number): Task<void> {
    if (!this.isCommitted(tid)) this.stats.waiters++;
    while (!this.isCommitted(tid)) {
      this.demandSound();
      if (tidBefore(this.currentTid, tid) || (this.running === null && this.committing === null)) return;
      this.request(tid);
      yield this.done;
    }
    if (this.failure !== null) throw this.failure;
  }

  /** Commits what there is, and waits. */
  *commitAll(): Task<void> {
    const last = this.running ?? this.committing;
    if (last !== null) yield* this.commitAndWait(last.tid);
  }

  /** The commit thread: on request, and when a transaction has run for long enough. */
  *run(): Task<void> {
    this.active = true;
    const { commitIntervalNs } = this.options;
    while (!this.stopping) {
      const { running } = this;
      if (running === null) {
        yield this.wake;
        continue;
      }
      const left = running.startedNs + commitIntervalNs - this.simulator.now;
      if (!running.wanted && left > 0) {
        yield this.wake.within(left);
        continue;
      }
      yield* this.commitRunning(running);
    }
    this.active = false;
    this.ended.notifyAll();
  }

  /** Ends the commit thread, makes everything durable and empties the log. @throws FsError EIO */
  *stop(): Task<void> {
    this.stopping = true;
    this.wake.notifyAll();
    while (this.active) yield this.ended;
    if (this.running !== null && this.failure === null) yield* this.commitRunning(this.running);
    if (this.failure === null) yield* this.checkpointer.empty();
  }

  /** Nothing is changed on the device from now on. */
  abort(failure: FsError): void {
    this.failure ??= failure;
    this.done.notifyAll();
  }

  private *commitRunning(transaction: Transaction): Task<void> {
    try {
      yield* this.committer.commit(transaction);
    } catch (error) {
      if (!(error instanceof FsError)) throw error;
      this.abort(error);
    }
    this.done.notifyAll();
  }

  private join(transaction: Transaction, credits: number): Transaction {
    transaction.handles++;
    transaction.credits += credits;
    return transaction;
  }

  /** Blocks that a transaction may need: what it has, what its handles may add, control blocks. */
  private sizeOf(transaction: Transaction): number {
    const logged = transaction.buffers.size + transaction.inodes.size + transaction.credits;
    return logged + Math.ceil(logged / 128) + Math.ceil(transaction.revoked.size / 400) + 2;
  }

  private hasRoomFor(blocks: number): boolean {
    const committing = this.committing === null ? 0 : this.committing.logBlocks;
    return this.space.free > blocks + committing + 4;
  }

  private *makeRoom(blocks: number): Task<void> {
    if (this.committing !== null) {
      yield this.done;
      return;
    }
    if (!this.checkpointer.hasWork) {
      // Only the running transaction is in the way.
      if (this.running !== null) return yield* this.commitAndWait(this.running.tid);
      throw new FsError('ENOSPC', `the log has no room for ${blocks} blocks`);
    }
    yield* this.checkpointer.makeRoom();
  }
}

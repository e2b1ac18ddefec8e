import { type BlockDevice, BlockFlag, Origin } from '@flashstack/block-device';
import { Condition, Mutex, type Simulator, type Task } from '@flashstack/sim';
import { FsError, type Inode } from '@flashstack/vfs';
import { BARRIER, readBlocks, writeBlocks, writeDurably } from './device-io.js';
import { decodeHeader, encodeHeader, encodeTransaction, type JournalHeader } from './journal-records.js';
import { BLOCK_BYTES, type Layout } from './layout.js';
import { type Planted, SOUND } from './planted.js';
import { replay } from './replay.js';

/** What changed since the last commit: all of it becomes durable together. */
export class Transaction {
  readonly tid: number;
  /** Metadata blocks. */
  readonly blocks: Set<number> = new Set();
  /** Inodes that are written into the inode table at commit. */
  readonly inodes: Set<Inode> = new Set();
  /** Pages that must be on the device before the commit: first and last of each file. */
  readonly ordered: Map<Inode, [number, number]> = new Map();

  constructor(tid: number) {
    this.tid = tid;
  }

  get empty(): boolean {
    return this.blocks.size === 0 && this.inodes.size === 0;
  }

  /** Metadata blocks it is going to have, at most. */
  get size(): number {
    return this.blocks.size + this.inodes.size;
  }

  order(inode: Inode, first: number, last: number): void {
    const range = this.ordered.get(inode);
    if (range === undefined) this.ordered.set(inode, [first, last]);
    else this.ordered.set(inode, [Math.min(range[0], first), Math.max(range[1], last)]);
  }
}

/** What a journal needs from its file system. */
export interface JournalClient {
  /** Writes the inodes of a transaction into their blocks. */
  store(transaction: Transaction): void;
  /** Present contents of a metadata block. */
  contents(block: number): Uint8Array;
  /** Waits until the ordered pages of a transaction are on the device. */
  settle(transaction: Transaction): Task<void>;
  /** Nothing of transactions up to this one is read from the journal any more. */
  checkpointed(tid: number): void;
}

/** What a journal counts. */
export interface JournalStats {
  commits: number;
  /** Calls that waited for a commit. */
  waits: number;
  checkpoints: number;
  /** Blocks written to the journal. */
  logged: number;
  /** Transactions replayed at mount. */
  recovered: number;
}

/**
 * A circular redo journal: block 0 says where recovery begins, transactions follow each other in the rest. A commit takes
 * all that changed, freezes copies between two yields, and lets the next transaction run while it writes.
 */
export class Journal {
  readonly stats: JournalStats = { commits: 0, waits: 0, checkpoints: 0, logged: 0, recovered: 0 };
  running: Transaction = new Transaction(1);
  committedTid = 0;
  /** Why nothing can be committed any more. */
  failure: FsError | null = null;
  private readonly device: BlockDevice;
  private readonly layout: Layout;
  private readonly client: JournalClient;
  private readonly planted: Planted;
  private readonly mutex: Mutex;
  private readonly committed: Condition;
  /** Committed blocks that are not in their places yet. */
  private readonly waiting: Map<number, Uint8Array> = new Map();
  private readonly checkpointBlocks: number;
  private head = 1;
  private used = 0;

  /** @param checkpointBlocks blocks of the journal in use from which on each commit is followed by a checkpoint. */
  constructor(
    simulator: Simulator,
    device: BlockDevice,
    layout: Layout,
    client: JournalClient,
    checkpointBlocks: number = Number.POSITIVE_INFINITY,
    planted: Planted = SOUND,
  ) {
    this.checkpointBlocks = checkpointBlocks;
    this.planted = planted;
    this.device = device;
    this.layout = layout;
    this.client = client;
    this.mutex = new Mutex(simulator, 'commit');
    this.committed = new Condition(simulator, 'a commit');
  }

  /** Metadata blocks that the running transaction may have before operations wait for its commit. */
  get roomy(): boolean {
    return this.running.size < this.layout.journalBlocks / 4;
  }

  /** @throws FsError EROFS after a failure */
  demandSound(): void {
    if (this.failure !== null) throw new FsError('EROFS', this.failure.message);
  }

  /** Returns when a transaction is durable. Whoever finds nobody committing commits, for all that wait. @throws FsError */
  *wait(tid: number): Task<void> {
    this.stats.waits++;
    while (this.committedTid < tid) {
      if (this.failure !== null) throw this.failure;
      // What it was to make durable may have been removed again.
      if (tid === this.running.tid && this.running.empty) return;
      if (!this.mutex.tryLock()) yield this.committed;
      else yield* this.commitLocked(false);
    }
  }

  /** Commits what is running and puts everything in its place: the journal is empty then. @throws FsError */
  *checkpoint(): Task<void> {
    if (!this.mutex.tryLock()) yield this.mutex;
    yield* this.commitLocked(true);
  }

  /** Replays what a power cut left. @throws FsError EIO, EUCLEAN */
  *recover(): Task<void> {
    const { device, layout } = this;
    const header = decodeHeader(yield* readBlocks(device, layout.journalStart, 1, Origin.journal));
    if (header === null) throw new FsError('EUCLEAN', 'journal: block 0 is no header');
    const bytes = yield* readBlocks(device, layout.journalStart, layout.journalBlocks, Origin.journal);
    const log = Array.from({ length: layout.journalBlocks }, (_, at) =>
      bytes.subarray(at * BLOCK_BYTES, (at + 1) * BLOCK_BYTES),
    );
    if (!(header.position >= 1 && header.position < layout.journalBlocks)) {
      throw new FsError('EUCLEAN', 'journal: header position');
    }
    const { places, transactions, next } = replay(log, layout, header, this.planted);
    this.stats.recovered = transactions;
    yield* writeBlocks(device, [...places], Origin.journal);
    if (transactions > 0) yield* this.putHeader(next, this.planted.has('replay-unflushed'));
    this.head = next.position;
    this.committedTid = next.tid - 1;
    this.running = new Transaction(next.tid);
  }

  /** The mutex is held, and given up. */
  private *commitLocked(everything: boolean): Task<void> {
    try {
      if (this.failure === null && !this.running.empty) yield* this.commit();
      if (this.failure === null && everything) yield* this.empty();
    } catch (error) {
      if (!(error instanceof FsError)) throw error;
      this.failure = error;
      throw error;
    } finally {
      this.mutex.unlock();
      this.committed.notifyAll();
    }
  }

  private *commit(): Task<void> {
    const { client, device, layout } = this;
    const transaction = this.running;
    client.store(transaction);
    const blocks = [...transaction.blocks].sort((a, b) => a - b);
    const copies = blocks.map((block) => client.contents(block).slice());
    this.running = new Transaction(transaction.tid + 1);
    // From here on others go on. Data first, so that no metadata leads to blocks that were never written.
    yield* client.settle(transaction);
    const records = encodeTransaction(transaction.tid, blocks, copies);
    const room = layout.journalBlocks - 1;
    if (records.length > room)
      throw new FsError('EIO', `transaction of ${records.length} blocks in a journal of ${room}`);
    if (records.length > room - this.used) yield* this.empty();
    const commit = records.pop() as Uint8Array;
    const writes = records.map((bytes) => [this.takePosition(), bytes] as const);
    if (this.planted.has('commit-first')) {
      yield* writeDurably(device, this.takePosition(), commit, Origin.journal);
      yield* writeBlocks(device, writes, Origin.journal);
    } else {
      yield* writeBlocks(device, writes, Origin.journal);
      yield* writeDurably(device, this.takePosition(), commit, Origin.journal, this.commitFlags());
    }
    this.stats.commits++;
    this.stats.logged += records.length + 1;
    for (const [at, block] of blocks.entries()) this.waiting.set(block, copies[at]);
    this.committedTid = transaction.tid;
    if (this.planted.has('reused-before-checkpoint')) client.checkpointed(transaction.tid);
    if (this.used >= this.checkpointBlocks) yield* this.empty();
  }

  /** Writes committed blocks to their places; recovery begins behind them then. */
  private *empty(): Task<void> {
    if (this.used === 0) return;
    yield* writeBlocks(this.device, [...this.waiting], Origin.checkpoint);
    const header = { tid: this.committedTid + 1, position: this.head };
    yield* this.putHeader(header, this.planted.has('tail-first'));
    this.waiting.clear();
    this.used = 0;
    this.stats.checkpoints++;
    this.client.checkpointed(this.committedTid);
  }

  /** Recovery begins there from now on. */
  private *putHeader(header: JournalHeader, unflushed: boolean): Task<void> {
    const flags = unflushed ? BlockFlag.fua : BARRIER;
    yield* writeDurably(this.device, this.layout.journalStart, encodeHeader(header), Origin.journal, flags);
  }

  private commitFlags(): number {
    const { planted } = this;
    if (planted.has('commit-without-fua')) return BlockFlag.preflush;
    return planted.has('commit-without-preflush') || planted.has('checksum-ignored') ? BlockFlag.fua : BARRIER;
  }

  private takePosition(): number {
    const position = this.head;
    this.head = position + 1 === this.layout.journalBlocks ? 1 : position + 1;
    this.used++;
    return this.layout.journalStart + position;
  }
}

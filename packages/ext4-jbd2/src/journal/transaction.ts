import { Condition, type Simulator } from '@flashstack/sim';
import type { Inode } from '@flashstack/vfs';
import type { MetadataBuffer } from './buffer.js';

/** Where a transaction stands (jbd2's `t_state`). */
export const TransactionState = { running: 0, locked: 1, flush: 2, commit: 3, finished: 4 } as const;

/** Blocks of data that were freed and may be used again once their transaction is committed. */
export interface FreedRun {
  readonly start: number;
  readonly length: number;
}

/** Changes that become durable together. */
export class Transaction {
  readonly tid: number;
  state: number = TransactionState.running;
  /** Blocks that are logged, in the order in which they joined. */
  readonly buffers: Set<MetadataBuffer> = new Set();
  /** Inodes whose records are written into their blocks when it commits. */
  readonly inodes: Set<Inode> = new Set();
  /** Pages that got their places in it and are on their way there (`data=ordered`): the first and the last one. */
  readonly ordered: Map<Inode, [first: number, last: number]> = new Map();
  /** Pages that were zeroed behind the end of a file and have to be written before its new size is committed. */
  readonly zeroed: [inode: Inode, page: number][] = [];
  /** Blocks of which older log copies must not be replayed. */
  readonly revoked: Set<number> = new Set();
  readonly freed: FreedRun[] = [];
  /** Blocks that are no metadata any more once it is durable: older contents need not go home then. */
  readonly forgotten: MetadataBuffer[] = [];
  /** Blocks that its open handles may still add. */
  credits = 0;
  /** Open handles. */
  handles = 0;
  /** Someone has asked for its commit. */
  wanted = false;
  readonly startedNs: number;
  /** Blocks of the journal from its first one to behind its commit block. */
  logStart = 0;
  logEnd = 0;
  logBlocks = 0;
  /** Logged blocks that have not reached their homes. */
  readonly pending: Set<MetadataBuffer> = new Set();
  /** The last handle has been closed while it was locked. */
  readonly idle: Condition;

  constructor(simulator: Simulator, tid: number) {
    this.tid = tid;
    this.startedNs = simulator.now;
    this.idle = new Condition(simulator, `handles of transaction ${tid}`);
  }

  /** Nothing of it has to be written. */
  get empty(): boolean {
    return this.buffers.size === 0 && this.inodes.size === 0 && this.revoked.size === 0 && this.freed.length === 0;
  }

  /** Pages that have to be written before it commits. */
  order(inode: Inode, first: number, last: number): void {
    const range = this.ordered.get(inode);
    if (range === undefined) this.ordered.set(inode, [first, last]);
    else {
      range[0] = Math.min(range[0], first);
      range[1] = Math.max(range[1], last);
    }
  }
}

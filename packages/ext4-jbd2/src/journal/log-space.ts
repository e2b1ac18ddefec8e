import { type JournalFormat, nextBlock } from './records.js';

/** The ring of log blocks: what is in use lies from `tail` to before `head`. */
export class LogSpace {
  readonly format: JournalFormat;
  /** Next block to be written. */
  head: number;
  /** First block of the oldest transaction that recovery would need. */
  tail: number;
  /** Its transaction. */
  tailTid: number;
  free: number;

  constructor(format: JournalFormat, head: number, tid: number) {
    this.format = format;
    this.head = head;
    this.tail = head;
    this.tailTid = tid;
    this.free = format.last - format.first;
  }

  /** Blocks of the ring. */
  get size(): number {
    return this.format.last - this.format.first;
  }

  /** Takes the next block. */
  take(): number {
    if (this.free < 2) throw new Error('the log is full');
    const block = this.head;
    this.head = nextBlock(this.format, block);
    this.free--;
    return block;
  }

  /** Blocks from one to another, round the ring. */
  distance(from: number, to: number): number {
    return (to - from + this.size) % this.size;
  }

  /** Gives up what lies before a new tail. */
  moveTail(tail: number, tid: number): void {
    this.free += this.distance(this.tail, tail);
    this.tail = tail;
    this.tailTid = tid;
  }
}

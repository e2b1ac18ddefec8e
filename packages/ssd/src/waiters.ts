import { bytes, ints } from './columns.js';
import type { WriteBuffer } from './write-buffer.js';

const NONE = -1;

/** Links between buffer entries and the requests that wait for them; chains start at `buffer.waiters`. */
export class Waiters {
  request: Int32Array = new Int32Array(0);
  /** 1: the request waits until the entry has gone to the FTL; 0: until it is programmed. */
  untilIssue: Uint8Array = new Uint8Array(0);
  private next: Int32Array = new Int32Array(0);
  private freeHead = NONE;

  constructor() {
    this.grow(64);
  }

  /** A new link in front of `chain`. */
  link(h: number, untilIssue: boolean, chain: number): number {
    if (this.freeHead === NONE) this.grow(this.next.length * 2);
    const link = this.freeHead;
    this.freeHead = this.next[link];
    this.request[link] = h;
    this.untilIssue[link] = untilIssue ? 1 : 0;
    this.next[link] = chain;
    return link;
  }

  /** Frees a link; returns the one behind it. */
  release(link: number): number {
    const after = this.next[link];
    this.next[link] = this.freeHead;
    this.freeHead = link;
    return after;
  }

  /** Splits off the links of an entry that wait for its issue; they come as a chain of their own. */
  takeIssueWaiters(buffer: WriteBuffer, entry: number): number {
    let taken = NONE;
    let kept = NONE;
    let link = buffer.waiters[entry];
    while (link !== NONE) {
      const after = this.next[link];
      if (this.untilIssue[link] !== 0) {
        this.next[link] = taken;
        taken = link;
      } else {
        this.next[link] = kept;
        kept = link;
      }
      link = after;
    }
    buffer.waiters[entry] = kept;
    return taken;
  }

  private grow(capacity: number): void {
    const old = this.next.length;
    this.request = ints(this.request, capacity);
    this.untilIssue = bytes(this.untilIssue, capacity);
    this.next = ints(this.next, capacity);
    for (let link = capacity - 1; link >= old; link--) {
      this.next[link] = this.freeHead;
      this.freeHead = link;
    }
  }
}

import { grown } from './grown.js';

/** What a parked operation is. */
export const ParkedKind = { write: 0, trim: 1, flush: 2, finish: 3, reset: 4 } as const;

/** Host operations that wait for a free block, first in, first out, as a ring of columns. */
export class ParkedQueue {
  length = 0;
  kind: Uint8Array = new Uint8Array(16);
  job: Int32Array = new Int32Array(16);
  lpn: Int32Array = new Int32Array(16);
  count: Int32Array = new Int32Array(16);
  origin: Uint8Array = new Uint8Array(16);
  stream: Int32Array = new Int32Array(16);
  /** Index of the first entry. */
  head = 0;

  push(kind: number, lpn: number, count: number, origin: number, stream: number, job: number): void {
    if (this.length === this.job.length) this.grow();
    const at = (this.head + this.length++) & (this.job.length - 1);
    this.kind[at] = kind;
    this.lpn[at] = lpn;
    this.count[at] = count;
    this.origin[at] = origin;
    this.stream[at] = stream;
    this.job[at] = job;
  }

  shift(): void {
    this.head = (this.head + 1) & (this.job.length - 1);
    this.length--;
  }

  clear(): void {
    this.length = 0;
    this.head = 0;
  }

  /** Doubles the ring; entries that had wrapped around follow those before them again. */
  private grow(): void {
    const size = this.job.length;
    const { head } = this;
    this.kind = grown(this.kind);
    this.job = grown(this.job);
    this.lpn = grown(this.lpn);
    this.count = grown(this.count);
    this.origin = grown(this.origin);
    this.stream = grown(this.stream);
    for (const column of [this.kind, this.job, this.lpn, this.count, this.origin, this.stream]) {
      column.copyWithin(size, 0, head);
    }
  }
}

import { grown } from './grown.js';

/** The jobs that wait for one program unit, as pooled records: a program has one completion, its slots many jobs. */
export class UnitRecords {
  /** Jobs of record r from `r * width` on. */
  jobs: Int32Array;
  count: Int32Array;
  readonly width: number;
  private next: Int32Array;
  private free = -1;
  private used = 0;

  constructor(width: number) {
    this.width = width;
    this.jobs = new Int32Array(64 * width);
    this.count = new Int32Array(64);
    this.next = new Int32Array(64);
  }

  /** Makes a record of the entries ≥ 0 of `from[at … at + count)`; −1 if there are none. */
  collect(from: Int32Array, at: number, count: number): number {
    let record = -1;
    let jobs = 0;
    for (let i = at; i < at + count; i++) {
      if (from[i] < 0) continue;
      if (record < 0) record = this.take();
      this.jobs[record * this.width + jobs++] = from[i];
    }
    if (record >= 0) this.count[record] = jobs;
    return record;
  }

  release(record: number): void {
    this.next[record] = this.free;
    this.free = record;
  }

  clear(): void {
    this.free = -1;
    this.used = 0;
  }

  private take(): number {
    const record = this.free;
    if (record >= 0) {
      this.free = this.next[record];
      return record;
    }
    if (this.used === this.count.length) {
      this.jobs = grown(this.jobs);
      this.count = grown(this.count);
      this.next = grown(this.next);
    }
    return this.used++;
  }
}

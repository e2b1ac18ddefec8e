import { PAGE_BYTES } from '@flashstack/vfs';

/** What the device allows read-ahead, pages. */
export interface ReadaheadLimits {
  /** Window limit of a file opened on it: `read_ahead_kb` / 4. */
  readonly raPages: number;
  /** Largest request of the device: `max_sectors_kb` / 4. Of the current rules only. */
  readonly ioPages: number;
}

/** Read-ahead state of one open file description. Numbers of pages, unless said otherwise. */
export class ReadaheadState {
  /** First page of the most recent window. */
  start = 0;
  /** Pages of that window. */
  size = 0;
  /** Pages at its tail: page `start + size - asyncSize` carries the marker. */
  asyncSize = 0;
  /** log2 of the folio size used last; current rules only. */
  order = 0;
  /** Faults that missed less those that hit, 0 to 1000. */
  mmapMiss = 0;
  /** Byte position that the last read left, as `ReadaheadPolicy.positionAfter` puts it; -1 at first. */
  prevPos = -1;
  /** Limit of a window. */
  raPages: number;
  /** FADV_RANDOM: nothing is read but what is asked for. */
  random = false;
  readonly limits: ReadaheadLimits;

  constructor(limits: ReadaheadLimits) {
    this.limits = limits;
    this.raPages = limits.raPages;
  }

  /** FADV_NORMAL. */
  adviseNormal(): void {
    this.raPages = this.limits.raPages;
    this.random = false;
  }

  /** FADV_SEQUENTIAL: the window limit doubles. */
  adviseSequential(): void {
    this.raPages = 2 * this.limits.raPages;
    this.random = false;
  }

  /** FADV_RANDOM. */
  adviseRandom(): void {
    this.random = true;
  }

  /** Whether `page` is the page of `prevPos` or the one after: the read goes on where the last one ended. */
  follows(page: number): boolean {
    const distance = page - Math.floor(this.prevPos / PAGE_BYTES);
    return this.prevPos >= 0 && distance >= 0 && distance <= 1;
  }
}

import { LogMap } from './log-map.js';

/** The last writes of each domain: a slot that is among them is hot. */
export class HotWindow {
  private readonly width: number;
  /** Logical slots as a ring per domain, −1: none yet. */
  private readonly ring: Int32Array;
  private readonly next: Int32Array;
  /** How often each slot is in the window. */
  private readonly count: LogMap;

  constructor(domains: number, width: number) {
    this.width = width;
    this.ring = new Int32Array(domains * width).fill(-1);
    this.next = new Int32Array(domains);
    this.count = new LogMap(domains * width);
  }

  has(lpn: number): boolean {
    return this.count.get(lpn) > 0;
  }

  /** `lpn` is written; the oldest write leaves the window. */
  add(domain: number, lpn: number): void {
    const { ring, count } = this;
    const at = domain * this.width + this.next[domain];
    this.next[domain] = this.next[domain] + 1 === this.width ? 0 : this.next[domain] + 1;
    const oldest = ring[at];
    if (oldest >= 0) {
      const left = count.get(oldest) - 1;
      if (left === 0) count.delete(oldest);
      else count.set(oldest, left);
    }
    ring[at] = lpn;
    count.set(lpn, Math.max(0, count.get(lpn)) + 1);
  }

  clear(): void {
    this.ring.fill(-1);
    this.next.fill(0);
    this.count.clear();
  }
}

import type { LogBlocks } from './log-blocks.js';

/** Partitions of the log area of LAST. */
export const Kind = { sequential: 0, hot: 1, cold: 2 } as const;

/** Reclaims of sequential, and of hot log blocks, after which their number is looked at. */
const RECLAIMS = 16;

/** How many log blocks of each kind a domain may have: their sum is constant, their shares follow the load. */
export class Partitions {
  private readonly logs: LogBlocks;
  /** Limits from `domain * 3` on, by kind. */
  private readonly limits: Int32Array;
  private readonly first: Int32Array;
  /** Per domain: merges of sequential log blocks since the last look, and those that were switches. */
  private readonly merges: Int32Array;
  private readonly switches: Int32Array;
  /** The same of hot log blocks, and those that were dead. */
  private readonly reclaims: Int32Array;
  private readonly dead: Int32Array;

  /** `sequential`: log blocks for sequential writes to begin with; 0: a quarter. */
  constructor(logs: LogBlocks, domains: number, sequential: number) {
    this.logs = logs;
    const total = logs.perDomain;
    const quarter = Math.max(1, Math.floor(total / 4));
    const ordered = sequential === 0 ? Math.min(quarter, total - 2) : sequential;
    const hot = Math.max(1, Math.floor((total - ordered) / 2));
    this.first = Int32Array.of(ordered, hot, total - ordered - hot);
    this.limits = new Int32Array(domains * 3);
    this.merges = new Int32Array(domains);
    this.switches = new Int32Array(domains);
    this.reclaims = new Int32Array(domains);
    this.dead = new Int32Array(domains);
    this.reset();
  }

  limit(domain: number, kind: number): number {
    return this.limits[domain * 3 + kind];
  }

  /** True if one more of the kind may be opened. */
  hasRoom(domain: number, kind: number): boolean {
    return this.count(domain, kind) < this.limit(domain, kind);
  }

  /** True if one more hot or cold block may be opened: they may have each other's share while it is not in use. */
  hasRandomRoom(domain: number): boolean {
    const random = this.count(domain, Kind.hot) + this.count(domain, Kind.cold);
    return random < this.limit(domain, Kind.hot) + this.limit(domain, Kind.cold);
  }

  /** True if there are no more of the kind than there should be. */
  isWithin(domain: number, kind: number): boolean {
    return this.count(domain, kind) <= this.limit(domain, kind);
  }

  /** A hot block is reclaimed: their partition grows if a large share of them was dead by then, and shrinks if few were. */
  adaptHot(domain: number, isDead: boolean, hi: number, lo: number): void {
    if (isDead) this.dead[domain]++;
    if (++this.reclaims[domain] < RECLAIMS) return;
    const share = this.dead[domain] / RECLAIMS;
    if (share > hi) this.move(domain, Kind.cold, Kind.hot);
    else if (share < lo) this.move(domain, Kind.hot, Kind.cold);
    this.reclaims[domain] = 0;
    this.dead[domain] = 0;
  }

  /** The sequential partition grows while most of its merges are switches, and shrinks otherwise. */
  adaptSequential(domain: number, isSwitch: boolean): void {
    if (isSwitch) this.switches[domain]++;
    if (++this.merges[domain] < RECLAIMS) return;
    if (2 * this.switches[domain] > RECLAIMS) this.move(domain, Kind.cold, Kind.sequential);
    else this.move(domain, Kind.sequential, Kind.cold);
    this.merges[domain] = 0;
    this.switches[domain] = 0;
  }

  broken(): string | null {
    for (let domain = 0; domain < this.merges.length; domain++) {
      const sum = this.limit(domain, 0) + this.limit(domain, 1) + this.limit(domain, 2);
      if (sum !== this.logs.perDomain) return `the partitions of domain ${domain} have ${sum} log blocks`;
    }
    return null;
  }

  reset(): void {
    for (let at = 0; at < this.limits.length; at++) this.limits[at] = this.first[at % 3];
    this.merges.fill(0);
    this.switches.fill(0);
    this.reclaims.fill(0);
    this.dead.fill(0);
  }

  /** Every partition keeps one block. */
  private move(domain: number, from: number, to: number): void {
    if (this.limits[domain * 3 + from] <= 1) return;
    this.limits[domain * 3 + from]--;
    this.limits[domain * 3 + to]++;
  }

  private count(domain: number, kind: number): number {
    const { logs } = this;
    const first = logs.first(domain);
    let count = 0;
    for (let log = first; log < first + logs.perDomain; log++) {
      if (logs.block[log] >= 0 && logs.kind[log] === kind) count++;
    }
    return count;
  }
}

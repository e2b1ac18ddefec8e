/** What merges cost, and how many there were. */
export interface Costs {
  copies: number;
  erases: number;
  switches: number;
  partials: number;
  fulls: number;
}

/** A log block: the logical slots written to it, in order. */
export interface Log {
  readonly slots: number[];
  /** Whose it is: a logical block, a group of them; −1: nobody's. */
  owner: number;
  readonly kind: 'random' | 'sequential' | 'hot' | 'cold';
  readonly opened: number;
  written: number;
  /** Reclaims that it was spared. */
  spared: number;
  /** False if its slots are not offset 0, 1, … of one logical block. */
  inOrder: boolean;
}

/** Sizes of a drive of one domain whose slots all hold data, so that nothing is written in place. */
export interface Sizes {
  /** Slots of a block, logical blocks, log blocks. */
  readonly n: number;
  readonly blocks: number;
  readonly logs: number;
}

/**
 * A hybrid mapping as a plain model: lists of slots, no flash. The costs of merges follow from sections 11 to 14 of the
 * specification; full merges of a drive full of data copy whole blocks.
 */
export abstract class HybridModel {
  readonly costs: Costs = { copies: 0, erases: 0, switches: 0, partials: 0, fulls: 0 };
  protected readonly sizes: Sizes;
  /** Log blocks by number, null: not in use. */
  protected readonly logs: (Log | null)[];
  protected clock = 0;
  /** Log block and position of each slot that is not in its data block. */
  private readonly at: Map<number, { readonly log: Log; readonly position: number }> = new Map();

  constructor(sizes: Sizes) {
    this.sizes = sizes;
    this.logs = new Array<Log | null>(sizes.logs).fill(null);
  }

  /** A request of the host. */
  write(lpn: number, count: number): void {
    for (let slot = lpn; slot < lpn + count; slot++) this.place(slot);
  }

  mergeAll(): void {
    for (let victim = this.nextVictim(); victim !== undefined; victim = this.nextVictim()) this.reclaim(victim);
  }

  protected abstract place(lpn: number): void;
  /** Makes a log block free. */
  protected abstract reclaim(log: Log): void;
  /** What is merged next when all are. */
  protected abstract nextVictim(): Log | undefined;
  /** A full merge has emptied this log block of `lbn` alone; it is erased unless the scheme keeps it. */
  protected abstract ownedBy(lbn: number): Log | undefined;

  protected lbnOf(lpn: number): number {
    return Math.floor(lpn / this.sizes.n);
  }

  protected get inUse(): Log[] {
    return this.logs.filter((log) => log !== null);
  }

  protected isFull(log: Log): boolean {
    return log.slots.length === this.sizes.n;
  }

  protected valid(log: Log): number[] {
    return log.slots.filter((lpn, position) => this.isAt(lpn, log, position));
  }

  /** Logical blocks with a valid slot in the log block. */
  protected associativity(log: Log): number {
    return new Set(this.valid(log).map((lpn) => this.lbnOf(lpn))).size;
  }

  /** Takes number `from` or the next one that is free, if there is one. */
  protected open(owner: number, kind: Log['kind'], from = 0): Log | undefined {
    const number = this.logs.indexOf(null, from);
    if (number < 0) return undefined;
    const opened = ++this.clock;
    const log: Log = { slots: [], owner, kind, opened, written: opened, spared: 0, inOrder: true };
    this.logs[number] = log;
    return log;
  }

  protected append(log: Log, lpn: number): void {
    const position = log.slots.length;
    const first = position === 0 ? lpn : log.slots[0];
    log.inOrder &&= lpn % this.sizes.n === position && this.lbnOf(lpn) === this.lbnOf(first);
    log.slots.push(lpn);
    log.written = ++this.clock;
    this.at.set(lpn, { log, position });
  }

  /** Switch or partial merge; false if a full one is needed. */
  protected install(log: Log): boolean {
    const ordered = log.slots.length;
    if (ordered === 0 || !log.inOrder || this.valid(log).length < ordered) return false;
    const { n } = this.sizes;
    this.costs.copies += n - ordered;
    this.costs.erases++;
    if (ordered === n) this.costs.switches++;
    else this.costs.partials++;
    this.allInData(this.lbnOf(log.slots[0]));
    this.logs[this.logs.indexOf(log)] = null;
    return true;
  }

  protected full(lbn: number): void {
    this.costs.copies += this.sizes.n;
    this.costs.erases++;
    this.costs.fulls++;
    this.allInData(lbn);
    const owned = this.ownedBy(lbn);
    if (owned !== undefined && this.valid(owned).length === 0) this.release(owned);
  }

  /** Merges of everything that is valid in a log block, and its erase. */
  protected evacuate(log: Log): void {
    for (const [position, lpn] of log.slots.entries()) if (this.isAt(lpn, log, position)) this.full(this.lbnOf(lpn));
    if (this.logs.includes(log)) this.release(log);
  }

  /** A log block without a valid slot is erased. */
  protected release(log: Log): void {
    this.costs.erases++;
    this.logs[this.logs.indexOf(log)] = null;
  }

  protected least(among: readonly Log[], by: (log: Log) => readonly number[]): Log | undefined {
    let best: Log | undefined;
    for (const log of among) if (best === undefined || isLess(by(log), by(best))) best = log;
    return best;
  }

  private isAt(lpn: number, log: Log, position: number): boolean {
    const at = this.at.get(lpn);
    return at !== undefined && at.log === log && at.position === position;
  }

  private allInData(lbn: number): void {
    const { n } = this.sizes;
    for (let lpn = lbn * n; lpn < (lbn + 1) * n; lpn++) this.at.delete(lpn);
  }
}

function isLess(a: readonly number[], b: readonly number[]): boolean {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at >= 0 && a[at] < b[at];
}

import { HybridModel, type Log, type Sizes } from './hybrid-model.js';

/** A log block per logical block (section 11), the one written longest ago makes room. */
export class BastModel extends HybridModel {
  protected place(lpn: number): void {
    const lbn = this.lbnOf(lpn);
    const own = this.ownedBy(lbn);
    if (own !== undefined && this.isFull(own)) this.reclaim(own);
    const log = this.ownedBy(lbn) ?? this.openFor(lbn);
    this.append(log, lpn);
  }

  private openFor(lbn: number): Log {
    for (;;) {
      const log = this.open(lbn, 'random');
      if (log !== undefined) return log;
      this.reclaim(this.nextVictim() as Log);
    }
  }

  protected reclaim(log: Log): void {
    if (this.valid(log).length === 0) this.release(log);
    else if (!this.install(log)) this.full(log.owner);
  }

  protected nextVictim(): Log | undefined {
    return this.least(this.inUse, (log) => [log.written]);
  }

  protected ownedBy(lbn: number): Log | undefined {
    return this.inUse.find((log) => log.owner === lbn);
  }
}

/** One sequential log block and random ones in the order of their opening (section 12). */
export class FastModel extends HybridModel {
  private readonly lazySwitch: boolean;

  constructor(sizes: Sizes, lazySwitch: boolean) {
    super(sizes);
    this.lazySwitch = lazySwitch;
  }

  protected place(lpn: number): void {
    const lbn = this.lbnOf(lpn);
    const offset = lpn % this.sizes.n;
    for (let sequential = this.logs[0]; sequential !== null; sequential = this.logs[0]) {
      if (offset > 0 && sequential.owner !== lbn) break;
      const isNext = sequential.inOrder && sequential.slots.length === offset && !this.isFull(sequential);
      if (offset > 0 && isNext) {
        this.appendInOrder(sequential, lpn);
        return;
      }
      this.reclaim(sequential);
    }
    if (offset === 0) this.appendInOrder(this.open(lbn, 'sequential') as Log, lpn);
    else this.append(this.random(), lpn);
  }

  private appendInOrder(log: Log, lpn: number): void {
    this.append(log, lpn);
    if (this.isFull(log) && !this.lazySwitch) this.reclaim(log);
  }

  private random(): Log {
    const current = this.inUse.find((log) => log.kind === 'random' && !this.isFull(log));
    if (current !== undefined) return current;
    for (;;) {
      const log = this.open(-1, 'random', 1);
      if (log !== undefined) return log;
      this.reclaim(this.oldestRandom() as Log);
    }
  }

  private oldestRandom(): Log | undefined {
    return this.least(
      this.inUse.filter((log) => log.kind === 'random'),
      (log) => [log.opened],
    );
  }

  protected reclaim(log: Log): void {
    if (log.kind === 'random') this.evacuate(log);
    else if (this.valid(log).length === 0) this.release(log);
    else if (!this.install(log)) this.full(log.owner);
  }

  protected nextVictim(): Log | undefined {
    return this.logs[0] ?? this.oldestRandom();
  }

  protected ownedBy(lbn: number): Log | undefined {
    return this.inUse.find((log) => log.owner === lbn);
  }
}

/** What groups of SAST are. */
export interface Groups {
  readonly dataBlocks: number;
  readonly logBlocksPerGroup: number;
}

/** Groups of logical blocks that share log blocks, with `cap` logical blocks in each at most (section 13). */
export class SastModel extends HybridModel {
  private groups: Groups;
  private readonly cap: number;
  private readonly lastWrite: Map<number, number> = new Map();
  private readonly newest: Map<number, Log> = new Map();
  /** Logical blocks that were let into a log block. */
  private readonly members: Map<Log, Set<number>> = new Map();

  constructor(sizes: Sizes, groups: Groups, cap: number) {
    super(sizes);
    this.groups = groups;
    this.cap = cap;
  }

  reconfigure(groups: Groups): void {
    this.groups = groups;
    for (const log of this.inUse) log.owner = -1;
    this.lastWrite.clear();
    this.newest.clear();
  }

  protected place(lpn: number): void {
    const lbn = this.lbnOf(lpn);
    const group = Math.floor(lbn / this.groups.dataBlocks);
    for (;;) {
      const own = this.inUse.filter((log) => log.owner === group);
      // The one opened last as long as it is in use, then by number.
      const newest = this.newest.get(group);
      const open = own
        .sort((a, b) => Number(b === newest) - Number(a === newest))
        .find((log) => !this.isFull(log) && this.lets(log, lbn));
      if (open !== undefined) {
        this.members.get(open)?.add(lbn);
        this.append(open, lpn);
        this.lastWrite.set(group, this.clock);
        return;
      }
      if (own.length >= this.groups.logBlocksPerGroup) this.reclaim(this.emptiest(own) as Log);
      else if (this.inUse.length === this.logs.length) this.reclaim(this.nextVictim() as Log);
      else {
        const log = this.open(group, 'random') as Log;
        this.members.set(log, new Set());
        this.newest.set(group, log);
      }
    }
  }

  private lets(log: Log, lbn: number): boolean {
    const members = this.members.get(log) as Set<number>;
    return this.cap === 0 || members.has(lbn) || members.size < this.cap;
  }

  private emptiest(among: readonly Log[]): Log | undefined {
    return this.least(among, (log) => [this.valid(log).length, log.opened]);
  }

  protected reclaim(log: Log): void {
    if (!this.install(log)) this.evacuate(log);
  }

  /** Of former groups first, then of the group written longest ago. */
  protected nextVictim(): Log | undefined {
    const lastWrite = (log: Log): number => (log.owner < 0 ? -1 : (this.lastWrite.get(log.owner) ?? 0));
    return this.least(this.inUse, (log) => [lastWrite(log), this.valid(log).length, log.opened]);
  }

  protected ownedBy(): undefined {
    return undefined;
  }
}

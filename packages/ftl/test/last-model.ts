import { HybridModel, type Log, type Sizes } from './hybrid-model.js';

/** Parameters of the model; sizes in slots. */
export interface LastParameters {
  readonly seqThreshold: number;
  readonly sequentialBlocks: number;
  readonly hotWindow: number;
  readonly deadWait: number;
  readonly hi: number;
  readonly lo: number;
}

type Part = 'sequential' | 'hot' | 'cold';

/** Reclaims after which the size of a partition is looked at. */
const RECLAIMS = 16;

/** Sequential, hot and cold log blocks (section 14), and partitions that follow the load. */
export class LastModel extends HybridModel {
  readonly limits: Record<Part, number>;
  private readonly parameters: LastParameters;
  private readonly window: number[] = [];
  private readonly width: number;
  /** Whether each of the last sequential merges was a switch, and each of the last hot blocks dead. */
  private switched: boolean[] = [];
  private died: boolean[] = [];
  private behind = -1;
  private isSequential = false;

  constructor(sizes: Sizes, parameters: LastParameters) {
    super(sizes);
    this.parameters = parameters;
    const quarter = Math.min(Math.max(1, Math.floor(sizes.logs / 4)), sizes.logs - 2);
    const sequential = parameters.sequentialBlocks === 0 ? quarter : parameters.sequentialBlocks;
    const hot = Math.max(1, Math.floor((sizes.logs - sequential) / 2));
    this.limits = { sequential, hot, cold: sizes.logs - sequential - hot };
    this.width = parameters.hotWindow === 0 ? hot * sizes.n : parameters.hotWindow;
  }

  override write(lpn: number, count: number): void {
    this.isSequential = lpn === this.behind || count >= this.parameters.seqThreshold;
    this.behind = lpn + count;
    super.write(lpn, count);
  }

  protected place(lpn: number): void {
    if (this.isSequential) this.placeInOrder(lpn);
    else {
      const log = this.random(this.window.includes(lpn) ? 'hot' : 'cold');
      this.window.push(lpn);
      if (this.window.length > this.width) this.window.shift();
      this.append(log, lpn);
    }
  }

  private placeInOrder(lpn: number): void {
    const lbn = this.lbnOf(lpn);
    const present = this.ownedBy(lbn);
    let log = present;
    if (present === undefined || this.isFull(present) || present.slots.at(-1) !== lpn - 1) {
      if (present !== undefined) this.reclaim(present);
      while (!this.hasSpare || this.of('sequential').length >= this.limits.sequential) this.makeRoom('sequential');
      log = this.open(lbn, 'sequential') as Log;
    }
    this.append(log as Log, lpn);
    if (this.isFull(log as Log) && (log as Log).inOrder) this.reclaim(log as Log);
  }

  private random(part: 'hot' | 'cold'): Log {
    const current = this.of(part).find((log) => !this.isFull(log));
    if (current !== undefined) return current;
    const most = (): boolean => this.of('hot').length + this.of('cold').length >= this.limits.hot + this.limits.cold;
    while (!this.hasSpare || most()) this.makeRoom(part);
    return this.open(-1, part) as Log;
  }

  private of(part: Part): Log[] {
    return this.inUse.filter((log) => log.kind === part);
  }

  private get hasSpare(): boolean {
    return this.logs.includes(null);
  }

  private makeRoom(part: Part): void {
    const sequential = this.of('sequential');
    if (sequential.length > 0 && (part === 'sequential' || sequential.length > this.limits.sequential)) {
      this.reclaim(this.least(sequential, (log) => [log.written]) as Log);
    } else this.reclaim(this.randomVictim(part) as Log);
  }

  private randomVictim(part: Part): Log | undefined {
    const full = this.inUse.filter((log) => log.kind !== 'sequential' && this.isFull(log));
    const dead = full.find((log) => this.valid(log).length === 0);
    if (dead !== undefined) return dead;
    const hot = this.least(
      full.filter((log) => log.kind === 'hot'),
      (log) => [log.opened],
    );
    const cold = this.least(
      full.filter((log) => log.kind === 'cold'),
      (log) => [this.associativity(log), log.opened],
    );
    if (hot === undefined || cold === undefined) return hot ?? cold;
    if (this.of('hot').length > this.limits.hot) return hot;
    if (part === 'cold' || this.of('cold').length > this.limits.cold) return cold;
    if (hot.spared >= this.parameters.deadWait) return hot;
    hot.spared++;
    return cold;
  }

  protected reclaim(log: Log): void {
    const isDead = this.valid(log).length === 0;
    if (log.kind === 'sequential') {
      const isSwitch = log.inOrder && this.isFull(log);
      if (isDead) this.release(log);
      else if (!this.install(log)) this.full(log.owner);
      this.switched.push(isSwitch);
      this.adaptSequential();
      return;
    }
    this.evacuate(log);
    if (log.kind === 'hot') this.died.push(isDead);
    this.adaptHot();
  }

  private adaptSequential(): void {
    if (this.switched.length < RECLAIMS) return;
    const switches = this.switched.filter((each) => each).length;
    if (2 * switches > RECLAIMS) this.move('cold', 'sequential');
    else this.move('sequential', 'cold');
    this.switched = [];
  }

  private adaptHot(): void {
    if (this.died.length < RECLAIMS) return;
    const share = this.died.filter((each) => each).length / RECLAIMS;
    if (share > this.parameters.hi) this.move('cold', 'hot');
    else if (share < this.parameters.lo) this.move('hot', 'cold');
    this.died = [];
  }

  private move(from: Part, to: Part): void {
    if (this.limits[from] <= 1) return;
    this.limits[from]--;
    this.limits[to]++;
  }

  protected nextVictim(): Log | undefined {
    return this.least(this.inUse, (log) => [log.opened]);
  }

  protected ownedBy(lbn: number): Log | undefined {
    return this.inUse.find((log) => log.owner === lbn);
  }
}

import { InputError } from '@flashstack/sim';
import { Place } from './data-blocks.js';
import { HotWindow } from './hot-window.js';
import { Kind, Partitions } from './partitions.js';
import { type LogScheme, type SchemeParts, soleOwner, WAIT } from './scheme.js';

/** Parameters of `Last`. */
export interface LastOptions {
  /** Sequential log blocks to begin with; 0: a quarter. */
  readonly sequentialBlocks: number;
  /** Random writes among which a slot is hot; 0: slots of the hot partition. */
  readonly hotWindow: number;
  /** Reclaims that a hot block is spared, so that it may become dead. */
  readonly deadWait: number;
  /** Share of dead blocks in the hot partition above which it grows, and below which it shrinks. */
  readonly hi: number;
  readonly lo: number;
}

/**
 * LAST (specification section 14): sequential requests go to log blocks of their logical block, random slots to a hot or a
 * cold partition, whose blocks are reclaimed best when they are dead.
 */
export class Last implements LogScheme {
  private readonly parts: SchemeParts;
  private readonly options: LastOptions;
  private readonly partitions: Partitions;
  private readonly window: HotWindow;
  /** Per domain and kind: the random log block that is written, or −1. */
  private readonly current: Int32Array;
  /** Per log block: last offset written (sequential), reclaims it was spared (hot). */
  private readonly last: Int32Array;
  private readonly spared: Int32Array;
  /** Stamps of the logical blocks that the count of an associativity has seen. */
  private readonly seen: Float64Array;
  private counts = 0;

  constructor(parts: SchemeParts, options: LastOptions) {
    const { logs, layout } = parts;
    checkSizes(parts, options);
    this.parts = parts;
    this.options = options;
    this.partitions = new Partitions(logs, layout.domains, options.sequentialBlocks);
    const hot = this.partitions.limit(0, Kind.hot) * layout.slotsPerBlock;
    this.window = new HotWindow(layout.domains, options.hotWindow === 0 ? hot : options.hotWindow);
    this.current = new Int32Array(layout.domains * 3).fill(-1);
    this.last = new Int32Array(logs.block.length);
    this.spared = new Int32Array(logs.block.length);
    this.seen = new Float64Array(layout.logicalBlocks * layout.domains);
  }

  frontier(domain: number, lbn: number, offset: number, lpn: number, sequential: boolean): number {
    const { data, logs } = this.parts;
    for (;;) {
      const inPlace = data.frontier(domain, lbn, offset);
      if (inPlace >= 0) return inPlace;
      if (inPlace === Place.wait) return WAIT;
      if (sequential) {
        const log = logs.ofOwner[lbn];
        if (log >= 0 && !logs.isFull(log) && this.last[log] + 1 === offset) {
          this.last[log] = offset;
          return logs.claim(log, lbn, offset);
        }
        if (!this.beginSequential(domain, lbn, offset, log)) return WAIT;
        continue;
      }
      const log = this.random(domain, this.window.has(lpn) ? Kind.hot : Kind.cold);
      if (log < 0) return WAIT;
      this.window.add(domain, lpn);
      return logs.claim(log, lbn, offset);
    }
  }

  wrote(f: number): void {
    const { logs, frontiers } = this.parts;
    const log = logs.atFrontier(f);
    if (log < 0 || frontiers.block[f] >= 0 || logs.kind[log] !== Kind.sequential) return;
    // Full and in order: nothing is to be copied.
    if (logs.isInOrder(log)) this.mergeSequential(log);
  }

  settling(): void {
    // Padding does no harm but that a merge may need copies.
  }

  adopt(domain: number, block: number): boolean {
    const { logs } = this.parts;
    const log = logs.spare(domain);
    if (log < 0) return false;
    const lbn = soleOwner(this.parts, block);
    const owned = lbn >= 0 && logs.ofOwner[lbn] < 0 && this.partitions.hasRoom(domain, Kind.sequential);
    logs.adopt(log, block, owned ? lbn : -1, owned ? Kind.sequential : Kind.cold);
    this.spared[log] = 0;
    this.last[log] = -2;
    return true;
  }

  mergeAhead(domain: number): boolean {
    return this.parts.logs.spare(domain) < 0 && this.makeRoom(domain, Kind.cold);
  }

  mergeAll(domain: number): boolean {
    const { logs } = this.parts;
    while (logs.used[domain] > 0) if (!this.merge(logs.firstOpened(domain, -1))) return false;
    return true;
  }

  broken(): string | null {
    const { logs } = this.parts;
    for (let log = 0; log < logs.block.length; log++) {
      if (logs.block[log] < 0 || logs.kind[log] !== Kind.sequential) continue;
      if (logs.ofOwner[logs.owner[log]] !== log) return `log block ${logs.block[log]} is not that of its logical block`;
    }
    return this.partitions.broken();
  }

  reset(): void {
    this.current.fill(-1);
    this.window.clear();
    this.partitions.reset();
  }

  /** A sequential log block for `lbn`, whose present one (−1: none) is not continued; false if it must wait. */
  private beginSequential(domain: number, lbn: number, offset: number, present: number): boolean {
    const { logs } = this.parts;
    if (present >= 0) return this.mergeSequential(present);
    const spare = logs.spare(domain);
    if (spare < 0 || !this.partitions.hasRoom(domain, Kind.sequential)) return this.makeRoom(domain, Kind.sequential);
    if (!logs.open(spare, domain, lbn, Kind.sequential)) return false;
    this.last[spare] = offset - 1;
    return true;
  }

  /** The log block of a kind with room; −1 if it must wait. */
  private random(domain: number, kind: number): number {
    const { logs } = this.parts;
    for (;;) {
      const log = this.current[domain * 3 + kind];
      if (log >= 0 && logs.block[log] >= 0 && logs.kind[log] === kind && !logs.isFull(log)) return log;
      const spare = logs.spare(domain);
      if (spare < 0 || !this.partitions.hasRandomRoom(domain)) {
        if (!this.makeRoom(domain, kind)) return -1;
        continue;
      }
      if (!logs.open(spare, domain, -1, kind)) return -1;
      this.spared[spare] = 0;
      this.current[domain * 3 + kind] = spare;
    }
  }

  /** Reclaims a log block, so that one of the kind can be opened; false if it must wait. */
  private makeRoom(domain: number, kind: number): boolean {
    const { logs } = this.parts;
    const { partitions } = this;
    // Whoever has more than its share gives way: of random ones, one of the other partition may be dead.
    if (kind === Kind.sequential || !partitions.isWithin(domain, Kind.sequential)) {
      const oldest = logs.leastRecent(domain, Kind.sequential);
      if (oldest >= 0) return this.mergeSequential(oldest);
    }
    return this.merge(this.randomVictim(domain, kind));
  }

  private randomVictim(domain: number, kind: number): number {
    const dead = this.deadBlock(domain);
    if (dead >= 0) return dead;
    const { partitions } = this;
    const hot = this.oldestHot(domain);
    const cold = this.leastAssociative(domain);
    if (hot < 0 || cold < 0) return hot < 0 ? cold : hot;
    if (!partitions.isWithin(domain, Kind.hot)) return hot;
    if (kind === Kind.cold || !partitions.isWithin(domain, Kind.cold)) return cold;
    if (this.spared[hot] >= this.options.deadWait) return hot;
    // The hot partition has one more than its share until the next cold block is opened.
    this.spared[hot]++;
    return cold;
  }

  /** A random log block without a valid slot, −1: none. */
  private deadBlock(domain: number): number {
    const { logs } = this.parts;
    const first = logs.first(domain);
    for (let log = first; log < first + logs.perDomain; log++) {
      if (logs.block[log] >= 0 && logs.kind[log] !== Kind.sequential && logs.isFull(log) && logs.valid(log) === 0)
        return log;
    }
    return -1;
  }

  /** The full hot block that was opened first. */
  private oldestHot(domain: number): number {
    const { logs } = this.parts;
    const first = logs.first(domain);
    let best = -1;
    for (let log = first; log < first + logs.perDomain; log++) {
      if (logs.block[log] < 0 || logs.kind[log] !== Kind.hot || !logs.isFull(log)) continue;
      if (best < 0 || logs.opened[log] < logs.opened[best]) best = log;
    }
    return best;
  }

  /** The full cold block whose valid slots are of the fewest logical blocks. */
  private leastAssociative(domain: number): number {
    const { logs } = this.parts;
    const first = logs.first(domain);
    let best = -1;
    let least = Infinity;
    for (let log = first; log < first + logs.perDomain; log++) {
      if (logs.block[log] < 0 || logs.kind[log] !== Kind.cold || !logs.isFull(log)) continue;
      const lbns = this.associativity(log, least);
      if (lbns > least || (lbns === least && logs.opened[log] > logs.opened[best])) continue;
      best = log;
      least = lbns;
    }
    return best;
  }

  /** Logical blocks with a valid slot in a log block; counted up to one more than `limit`. */
  private associativity(log: number, limit: number): number {
    const { logs, layout, frontiers } = this.parts;
    const { l2p, array } = frontiers;
    const block = logs.block[log];
    this.counts++;
    let lbns = 0;
    for (let at = 0; at < layout.slotsPerBlock && lbns <= limit; at++) {
      const psn = layout.psnAt(block, at);
      const lpn = array.lpn[psn];
      if (lpn >= layout.logicalSlots || l2p[lpn] !== psn) continue;
      layout.locate(lpn);
      if (this.seen[layout.lbn] === this.counts) continue;
      this.seen[layout.lbn] = this.counts;
      lbns++;
    }
    return lbns;
  }

  private merge(log: number): boolean {
    const { logs, merger } = this.parts;
    if (logs.kind[log] === Kind.sequential) return this.mergeSequential(log);
    const block = logs.block[log];
    const isHot = logs.kind[log] === Kind.hot;
    const isDead = logs.valid(log) === 0;
    if (!merger.evacuate(block)) return false;
    // Failed programs may have made a stray of it, or cut a merge short.
    if (logs.block[log] === block && logs.valid(log) === 0) merger.release(log);
    const { hi, lo } = this.options;
    if (isHot) this.partitions.adaptHot(Math.floor(log / logs.perDomain), isDead, hi, lo);
    return true;
  }

  private mergeSequential(log: number): boolean {
    const { logs, merger } = this.parts;
    const owner = logs.owner[log];
    const domain = Math.floor(log / logs.perDomain);
    const whole = logs.isInOrder(log) && logs.ordered[log] === this.parts.layout.slotsPerBlock;
    if (logs.valid(log) === 0) merger.release(log);
    else if (!merger.install(log) && !merger.full(owner)) return false;
    this.partitions.adaptSequential(domain, whole);
    return true;
  }
}

/** @throws InputError `ERR_FTL_OPTION` for more sequential log blocks than there can be, or a window beyond the domain. */
function checkSizes({ logs, layout }: SchemeParts, { sequentialBlocks, hotWindow }: LastOptions): void {
  const wrong = (name: string, found: number, expected: string): InputError => {
    const key = `ftl.mapping.parameters.${name}`;
    return new InputError('ERR_FTL_OPTION', `${key}: found ${found}, expected ${expected}`, key);
  };
  const most = logs.perDomain - 2;
  if (sequentialBlocks > most) {
    throw wrong(
      'sequentialBlocks',
      sequentialBlocks,
      `at most ${most}: of the ${logs.perDomain} log blocks of a domain, one must stay hot and one cold`,
    );
  }
  const slots = layout.logicalBlocks * layout.slotsPerBlock;
  if (hotWindow > slots) {
    throw wrong(
      'hotWindow',
      hotWindow,
      `at most ${slots}, the logical slots of a domain: beyond that every slot is hot`,
    );
  }
}

import { Place } from './data-blocks.js';
import { type LogScheme, type SchemeParts, soleOwner, WAIT } from './scheme.js';

/** Kinds of log blocks. */
const Kind = { random: 0, sequential: 1 } as const;

/**
 * FAST (specification section 12): one sequential log block, which belongs to a logical block, and random ones for all of
 * them, reclaimed in the order in which they were opened. The sequential one has the first log number of its domain.
 */
export class Fast implements LogScheme {
  private readonly parts: SchemeParts;
  private readonly lazySwitch: boolean;
  /** Per domain: the random log block that is written, or −1. */
  private readonly current: Int32Array;

  /** `lazySwitch`: a full sequential log block is merged when the next one begins, not at once. */
  constructor(parts: SchemeParts, lazySwitch: boolean) {
    this.parts = parts;
    this.lazySwitch = lazySwitch;
    this.current = new Int32Array(parts.layout.domains).fill(-1);
  }

  frontier(domain: number, lbn: number, offset: number): number {
    const { data, logs } = this.parts;
    const sequential = logs.first(domain);
    for (;;) {
      const inPlace = data.frontier(domain, lbn, offset);
      if (inPlace >= 0) return inPlace;
      if (inPlace === Place.wait) return WAIT;
      const inUse = logs.block[sequential] >= 0;
      if (offset === 0 && !inUse) {
        return logs.open(sequential, domain, lbn, Kind.sequential) ? logs.claim(sequential, lbn, offset) : WAIT;
      }
      if (inUse && (offset === 0 || logs.owner[sequential] === lbn)) {
        if (offset > 0 && !logs.isFull(sequential) && logs.isNext(sequential, offset)) {
          return logs.claim(sequential, lbn, offset);
        }
        if (!this.mergeSequential(sequential)) return WAIT;
        continue;
      }
      const random = this.random(domain);
      return random < 0 ? WAIT : logs.claim(random, lbn, offset);
    }
  }

  wrote(f: number): void {
    const { logs, frontiers } = this.parts;
    const log = logs.atFrontier(f);
    if (this.lazySwitch || log < 0 || frontiers.block[f] >= 0 || logs.kind[log] !== Kind.sequential) return;
    this.mergeSequential(log);
  }

  settling(): void {
    // Padding does no harm but that a merge may need copies.
  }

  adopt(domain: number, block: number): boolean {
    const { logs } = this.parts;
    const log = this.spare(domain);
    if (log >= 0) {
      logs.adopt(log, block, -1, Kind.random);
      return true;
    }
    const lbn = soleOwner(this.parts, block);
    if (lbn < 0 || logs.block[logs.first(domain)] >= 0) return false;
    logs.adopt(logs.first(domain), block, lbn, Kind.sequential);
    return true;
  }

  mergeAhead(domain: number): boolean {
    return this.spare(domain) < 0 && this.reclaim(this.oldest(domain));
  }

  mergeAll(domain: number): boolean {
    const { logs } = this.parts;
    const sequential = logs.first(domain);
    if (logs.block[sequential] >= 0 && !this.mergeSequential(sequential)) return false;
    while (logs.used[domain] > 0) if (!this.reclaim(this.oldest(domain))) return false;
    return true;
  }

  broken(): string | null {
    const { logs } = this.parts;
    for (let log = 0; log < logs.block.length; log++) {
      const first = log % logs.perDomain === 0;
      if (logs.block[log] >= 0 && (logs.kind[log] === Kind.sequential) !== first) {
        return `log block ${logs.block[log]} is ${first ? 'not ' : ''}a sequential one in place ${log % logs.perDomain}`;
      }
    }
    return null;
  }

  reset(): void {
    this.current.fill(-1);
  }

  /** The random log block with room, opened if need be; −1 if it must wait. */
  private random(domain: number): number {
    const { logs } = this.parts;
    for (;;) {
      const log = this.current[domain];
      if (log >= 0 && logs.block[log] >= 0 && !logs.isFull(log)) return log;
      this.current[domain] = -1;
      const spare = this.spare(domain);
      if (spare >= 0) {
        if (!logs.open(spare, domain, -1, Kind.random)) return -1;
        this.current[domain] = spare;
      } else if (!this.reclaim(this.oldest(domain))) return -1;
    }
  }

  /** A number of a random log block that is not in use, −1: none. */
  private spare(domain: number): number {
    const { logs } = this.parts;
    const first = logs.first(domain);
    for (let log = first + 1; log < first + logs.perDomain; log++) if (logs.block[log] < 0) return log;
    return -1;
  }

  private oldest(domain: number): number {
    return this.parts.logs.firstOpened(domain, Kind.random);
  }

  private reclaim(log: number): boolean {
    const { logs, merger } = this.parts;
    const block = logs.block[log];
    if (!merger.evacuate(block)) return false;
    // Failed programs may have made a stray of it, or cut a merge short.
    if (logs.block[log] === block && logs.valid(log) === 0) merger.release(log);
    return true;
  }

  private mergeSequential(log: number): boolean {
    const { logs, merger } = this.parts;
    const owner = logs.owner[log];
    if (logs.valid(log) === 0) merger.release(log);
    else if (!merger.install(log)) return merger.full(owner);
    return true;
  }
}

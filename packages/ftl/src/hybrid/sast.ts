import { Place } from './data-blocks.js';
import type { SastChange } from './sast-schedule.js';
import { type LogScheme, type SchemeParts, WAIT } from './scheme.js';

/** What can be changed while the drive is in use. */
export interface SastShape {
  /** Consecutive logical blocks of a group (N), and log blocks that a group may own (K). */
  readonly dataBlocks: number;
  readonly logBlocksPerGroup: number;
}

/**
 * SAST (specification section 13): groups of logical blocks share up to K log blocks each, out of a pool. With `cap` it is
 * KAST: a log block holds slots of so many logical blocks at most.
 */
export class Sast implements LogScheme {
  private readonly parts: SchemeParts;
  private readonly cap: number;
  private shape: SastShape;
  /** When a group was written last; the group with number 0 of a domain is the logical block 0 of it, and so on. */
  private readonly written: Float64Array;
  private clock = 0;
  /** With a cap: logical blocks in each log block, −1: room for another. */
  private readonly members: Int32Array;
  private readonly schedule: readonly SastChange[];
  /** The next entry of the schedule, and the slots after which it is due. */
  private next = 0;
  private due: number;

  /** `schedule`: changes to come, in order. */
  constructor(parts: SchemeParts, shape: SastShape, cap: number, schedule: readonly SastChange[]) {
    this.parts = parts;
    this.schedule = schedule;
    this.due = schedule[0]?.after ?? Number.POSITIVE_INFINITY;
    this.shape = shape;
    this.cap = cap;
    this.written = new Float64Array(parts.logs.ofOwner.length);
    this.members = new Int32Array(parts.logs.block.length * cap).fill(-1);
  }

  frontier(domain: number, lbn: number, offset: number): number {
    const { data, logs } = this.parts;
    const group = this.groupOf(domain, lbn);
    for (;;) {
      const inPlace = data.frontier(domain, lbn, offset);
      if (inPlace >= 0) return inPlace;
      if (inPlace === Place.wait) return WAIT;
      const log = this.open(domain, group, lbn);
      if (log >= 0) {
        this.written[group] = ++this.clock;
        return logs.claim(log, lbn, offset);
      }
      const spare = logs.spare(domain);
      if (this.owned(domain, group) >= this.shape.logBlocksPerGroup) {
        if (!this.reclaim(this.leastLive(domain, group))) return WAIT;
      } else if (spare < 0) {
        if (!this.reclaim(this.leastWritten(domain))) return WAIT;
      } else {
        if (!logs.open(spare, domain, group, 0)) return WAIT;
        this.members.fill(-1, spare * this.cap, (spare + 1) * this.cap);
      }
    }
  }

  wrote(): void {
    // A full log block is reclaimed when its group, or another one, needs room.
    if (this.parts.table.clock >= this.due) this.followSchedule();
  }

  settling(): void {
    // Padding does no harm but that a merge may need copies.
  }

  /** Other groups from now on; log blocks of the present ones are reclaimed when the pool is empty. */
  reconfigure(shape: SastShape): void {
    const { logs } = this.parts;
    this.shape = shape;
    logs.ofOwner.fill(-1);
    logs.owner.fill(-1);
    this.written.fill(0);
  }

  /** Takes the last change that is due. Groups outlive a power cut; log blocks that are found again belong to none. */
  private followSchedule(): void {
    const { clock } = this.parts.table;
    while (this.due <= clock) this.due = this.schedule[++this.next]?.after ?? Number.POSITIVE_INFINITY;
    this.reconfigure(this.schedule[this.next - 1].shape);
  }

  adopt(domain: number, block: number): boolean {
    const { logs } = this.parts;
    const log = logs.spare(domain);
    if (log < 0) return false;
    logs.adopt(log, block, -1, 0);
    return true;
  }

  mergeAhead(domain: number): boolean {
    return this.parts.logs.spare(domain) < 0 && this.reclaim(this.leastWritten(domain));
  }

  mergeAll(domain: number): boolean {
    while (this.parts.logs.used[domain] > 0) if (!this.reclaim(this.leastWritten(domain))) return false;
    return true;
  }

  broken(): string | null {
    const { logs, layout, frontiers } = this.parts;
    for (let log = 0; log < logs.block.length; log++) {
      const block = logs.block[log];
      const group = logs.owner[log];
      if (block < 0 || group < 0) continue;
      const domain = Math.floor(log / logs.perDomain);
      const owned = this.owned(domain, group);
      if (owned > this.shape.logBlocksPerGroup) return `group ${group} owns ${owned} log blocks`;
      const lbns = new Set<number>();
      for (let at = 0; at < layout.slotsPerBlock; at++) {
        const psn = layout.psnAt(block, at);
        const lpn = frontiers.array.lpn[psn];
        if (lpn >= layout.logicalSlots || frontiers.l2p[lpn] !== psn) continue;
        layout.locate(lpn);
        lbns.add(layout.lbn);
        if (this.groupOf(domain, layout.lbn) !== group) return `log block ${block} holds slots of another group`;
      }
      if (this.cap > 0 && lbns.size > this.cap) return `log block ${block} holds ${lbns.size} logical blocks`;
    }
    return null;
  }

  reset(): void {
    this.written.fill(0);
  }

  private groupOf(domain: number, lbn: number): number {
    const first = domain * this.parts.layout.logicalBlocks;
    return first + Math.floor((lbn - first) / this.shape.dataBlocks);
  }

  /** An open log block of the group that takes `lbn`, −1: none. */
  private open(domain: number, group: number, lbn: number): number {
    const { logs } = this.parts;
    const newest = logs.ofOwner[group];
    if (newest >= 0 && !logs.isFull(newest) && this.takes(newest, lbn)) return newest;
    if (this.cap === 0) return -1;
    const first = logs.first(domain);
    for (let log = first; log < first + logs.perDomain; log++) {
      if (log === newest || logs.block[log] < 0 || logs.owner[log] !== group) continue;
      if (!logs.isFull(log) && this.takes(log, lbn)) return log;
    }
    return -1;
  }

  /** True if the log block may hold slots of `lbn`, which is noted. */
  private takes(log: number, lbn: number): boolean {
    const { cap, members } = this;
    if (cap === 0) return true;
    for (let at = log * cap; at < (log + 1) * cap; at++) {
      if (members[at] === lbn) return true;
      if (members[at] >= 0) continue;
      members[at] = lbn;
      return true;
    }
    return false;
  }

  private owned(domain: number, group: number): number {
    const { logs } = this.parts;
    const first = logs.first(domain);
    let owned = 0;
    for (let log = first; log < first + logs.perDomain; log++) {
      if (logs.block[log] >= 0 && logs.owner[log] === group) owned++;
    }
    return owned;
  }

  /** The log block of the group with the fewest valid slots; of several the one opened first. */
  private leastLive(domain: number, group: number): number {
    const { logs } = this.parts;
    const first = logs.first(domain);
    let best = -1;
    for (let log = first; log < first + logs.perDomain; log++) {
      if (logs.block[log] < 0 || logs.owner[log] !== group) continue;
      if (best < 0 || this.isEmptier(log, best)) best = log;
    }
    return best;
  }

  /** A log block of the group that was written longest ago; those of former groups come first. */
  private leastWritten(domain: number): number {
    const { logs } = this.parts;
    const first = logs.first(domain);
    let best = -1;
    let least = 0;
    for (let log = first; log < first + logs.perDomain; log++) {
      if (logs.block[log] < 0) continue;
      const written = logs.owner[log] < 0 ? -1 : this.written[logs.owner[log]];
      if (best >= 0 && (written > least || (written === least && !this.isEmptier(log, best)))) continue;
      best = log;
      least = written;
    }
    return best;
  }

  private isEmptier(log: number, than: number): boolean {
    const { logs } = this.parts;
    const difference = logs.valid(log) - logs.valid(than);
    return difference < 0 || (difference === 0 && logs.opened[log] < logs.opened[than]);
  }

  private reclaim(log: number): boolean {
    const { logs, merger } = this.parts;
    const block = logs.block[log];
    if (logs.valid(log) > 0 && merger.install(log)) return true;
    if (!merger.evacuate(block)) return false;
    // Failed programs may have made a stray of it, or cut a merge short.
    if (logs.block[log] === block && logs.valid(log) === 0) merger.release(log);
    return true;
  }
}

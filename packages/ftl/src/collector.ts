import { NandClass, type NandScheduler, NandStatus, type Token } from '@flashstack/nand-device';
import { BlockState } from './block-table.js';
import type { CollectorParts } from './collector-parts.js';
import type { FtlProbe } from './probe.js';
import { SlotMover } from './slot-mover.js';
import { MoveReason, VALIDITY_BUCKETS } from './stats.js';
import { VictimChoice } from './victim-choice.js';
import { VictimCursor } from './victim-cursor.js';

/**
 * Empties blocks: one victim per domain at a time, page by page, for garbage collection, wear levelling, refresh or
 * retirement. What happens to an emptied block is the eraser's business.
 */
export class Collector {
  /** Victim per domain, −1: none. */
  readonly victim: Int32Array;
  scheduler: NandScheduler;
  probe: FtlProbe | null = null;
  private readonly reason: Uint8Array;
  private readonly cursor: VictimCursor;
  /** Host writes of the domain turned into slots to move: each is worth `cost`, moving a slot takes `gain`. */
  private readonly credit: Float64Array;
  private readonly cost: Int32Array;
  private readonly gain: Int32Array;
  /** Blocks to be emptied for another reason than garbage collection, with that reason. */
  private readonly urgent: number[] = [];
  private readonly urgentReason: number[] = [];
  private readonly choice: VictimChoice;
  private readonly mover: SlotMover;
  private readonly parts: CollectorParts;

  constructor(parts: CollectorParts, scheduler: NandScheduler) {
    const { domains } = parts.table;
    this.parts = parts;
    this.scheduler = scheduler;
    this.victim = new Int32Array(domains).fill(-1);
    this.reason = new Uint8Array(domains);
    this.cursor = new VictimCursor(parts.array, parts.table, parts.frontiers, parts.owner.perSlot);
    this.credit = new Float64Array(domains);
    this.cost = new Int32Array(domains);
    this.gain = new Int32Array(domains);
    this.choice = new VictimChoice(parts);
    this.mover = new SlotMover(parts);
  }

  /** A host slot went to `domain`: collect as the mode says. */
  afterHostWrite(domain: number): void {
    const { table, options, eraser } = this.parts;
    if (this.victim[domain] < 0) {
      if (table.freeCount[domain] + eraser.erasing[domain] > options.gcLow || options.gcMode === 'background') return;
      if (!this.start(domain)) return;
    }
    if (options.gcMode === 'token') this.pay(domain);
    else this.collectUntil(domain, options.gcHigh);
  }

  /** Collects whole victims until `target` blocks of the domain are free or being erased. */
  collectUntil(domain: number, target: number): void {
    const { table, eraser } = this.parts;
    do {
      if (this.victim[domain] < 0 && !this.start(domain)) return;
      if (!this.run(domain)) return;
    } while (table.freeCount[domain] + eraser.erasing[domain] < target);
  }

  /** The host needs a block of the domain and may not take the last ones: finish what is under way, or start. */
  makeRoom(domain: number): void {
    const { table, options, eraser } = this.parts;
    while (table.freeCount[domain] <= options.gcHard) {
      if (this.victim[domain] < 0) {
        if (eraser.inFlight(domain)) return;
        // The copies of another victim complete the units that emptied blocks wait for; padding them instead costs
        // the space that was gained, all of it if blocks are small.
        if (!this.start(domain)) {
          eraser.releaseWaiting(domain);
          return;
        }
      }
      if (!this.run(domain)) {
        if (!eraser.inFlight(domain)) eraser.releaseWaiting(domain);
        return;
      }
    }
  }

  /** True if nothing is under way in the domain and no block of it could be collected with gain. */
  isStuck(domain: number): boolean {
    const { table, eraser } = this.parts;
    return this.victim[domain] < 0 && eraser.erasing[domain] === 0 && !table.reclaimable(domain);
  }

  /** Empties `block` for another reason than garbage collection, as soon as its domain has no other victim. */
  require(block: number, reason: number): void {
    if (this.urgent.includes(block)) return;
    this.urgent.push(block);
    this.urgentReason.push(reason);
  }

  get hasUrgent(): boolean {
    return this.urgent.length > 0;
  }

  /** Works on the blocks given to `require`. Stops where there is no room to move to. */
  serveUrgent(): void {
    for (let i = 0; i < this.urgent.length; i++) {
      const domain = this.parts.table.domainOf(this.urgent[i]);
      if (this.victim[domain] >= 0 && !this.run(domain)) continue;
      if (!this.startUrgent(domain)) continue;
      this.run(domain);
      i = -1;
    }
  }

  /** Moves up to `pages` pages of the domain, towards `target` free blocks; false if there is nothing (more) to do. */
  background(domain: number, pages: number, target: number): boolean {
    const { table, eraser, options } = this.parts;
    for (let i = 0; i < pages; i++) {
      if (this.victim[domain] < 0) {
        if (table.freeCount[domain] + eraser.erasing[domain] >= target || !this.start(domain)) return false;
        if (this.victim[domain] < 0) continue;
      }
      if (this.movePage(domain) < 0) return false;
      if (table.freeCount[domain] < options.gcHard && !this.run(domain)) return false;
    }
    return true;
  }

  /** Writes the valid slots of one page again, because it is hard to read. Pages without room now are left alone. */
  refresh(ppn: number): void {
    const { array, table } = this.parts;
    const { geometry } = array;
    const physical = geometry.blockOf(ppn);
    const block = table.blockOfPhysical[physical];
    const count = this.cursor.gather(physical, geometry.pageOf(ppn));
    if (count > 0 && table.state[block] === BlockState.closed) {
      this.moveSlots(table.domainOf(block), block, count, MoveReason.refresh);
      this.parts.owner.relocated(block);
    }
  }

  /** Forgets all victims: power loss. */
  reset(): void {
    this.victim.fill(-1);
    this.urgent.length = 0;
    this.urgentReason.length = 0;
  }

  private pay(domain: number): void {
    const { table, options } = this.parts;
    const gain = this.gain[domain];
    if (gain <= 0) {
      this.run(domain);
      return;
    }
    this.credit[domain] += this.cost[domain];
    while (this.victim[domain] >= 0 && this.credit[domain] >= gain) {
      const moved = this.movePage(domain);
      if (moved < 0) return;
      this.credit[domain] -= moved * gain;
      // Space that only collection may take is in use: finish, before host writes fill it.
      if (table.freeCount[domain] < options.gcHard && !this.run(domain)) return;
    }
  }

  /** Moves all that is left of the victim; false if there is no room for it now. */
  private run(domain: number): boolean {
    while (this.victim[domain] >= 0) {
      if (this.movePage(domain) < 0) return false;
    }
    return true;
  }

  /** Chooses a victim; false if none would gain anything, or none fits into the space there is. */
  private start(domain: number): boolean {
    if (this.urgent.length > 0 && this.startUrgent(domain)) return true;
    const { table, stats } = this.parts;
    const block = this.choice.next(domain);
    if (block < 0) return false;
    if (stats.gcStartHost < 0) {
      stats.gcStartHost = stats.host;
      stats.gcStartDomain = domain;
      stats.gcStartFree = table.freeCount[domain];
    }
    const share = Math.floor((table.valid[block] / table.capacity[block]) * (VALIDITY_BUCKETS - 1));
    stats.victimValidity[share]++;
    this.begin(domain, block, MoveReason.gc);
    return true;
  }

  private startUrgent(domain: number): boolean {
    const { table, options } = this.parts;
    for (let i = 0; i < this.urgent.length; i++) {
      const block = this.urgent[i];
      if (table.domainOf(block) !== domain) continue;
      const reason = this.urgentReason[i];
      // It may have been collected meanwhile.
      const gone = table.state[block] !== BlockState.closed;
      // Each move that fits gives its block back, so it may begin with the space that is kept for collection.
      const spare = reason === MoveReason.retirement || table.freeCount[domain] >= options.gcHard;
      if (!gone && (!spare || !this.choice.fits(domain, block, reason))) continue;
      this.urgent.splice(i, 1);
      this.urgentReason.splice(i, 1);
      i--;
      if (gone) continue;
      this.begin(domain, block, reason);
      return true;
    }
    return false;
  }

  private begin(domain: number, block: number, reason: number): void {
    const { table, policy, stats } = this.parts;
    policy.removed(block);
    table.state[block] = BlockState.victim;
    this.victim[domain] = block;
    this.reason[domain] = reason;
    this.cursor.start(domain);
    this.credit[domain] = 0;
    this.cost[domain] = table.valid[block];
    this.gain[domain] = table.capacity[block] - table.valid[block];
    stats.runs[reason]++;
    if (this.probe !== null) this.probe.victim(block, table.valid[block], reason);
    this.parts.owner.reclaiming(block);
    // While there is room for it: when the block is empty there may be none.
    this.parts.owner.beforeErase(block, domain);
    if (table.valid[block] === 0) this.finish(domain);
  }

  private finish(domain: number): void {
    const block = this.victim[domain];
    this.victim[domain] = -1;
    this.parts.owner.relocated(block);
    this.parts.eraser.emptied(block, domain);
  }

  /** Moves the next page with valid slots. @returns slots moved, 0 at the end of the victim, −1 without room. */
  private movePage(domain: number): number {
    const { table } = this.parts;
    const { cursor, mover } = this;
    const block = this.victim[domain];
    if (table.valid[block] === 0) {
      this.finish(domain);
      return 0;
    }
    const count = cursor.find(domain, block);
    const from = cursor.slots[0];
    const moved = mover.takes(from, this.scheduler)
      ? mover.move(domain, block, from, this.reason[domain], this.probe)
      : this.moveSlots(domain, block, count, this.reason[domain]);
    if (moved < count) return -1;
    cursor.advance(domain);
    if (table.valid[block] === 0) this.finish(domain);
    return moved;
  }

  /** Reads the gathered slots of one page and appends them to the frontier; returns how many found room. */
  private moveSlots(domain: number, block: number, count: number, reason: number): number {
    const { array, frontiers, stats, owner, options, slotsPerPage } = this.parts;
    const { slots } = this.cursor;
    let after: Token = 0;
    let inRam = false;
    let unreadable = false;
    let read = false;
    let previous = -1;
    for (let i = 0; i < count; i++) {
      const from = slots[i];
      const lpn = array.lpn[from];
      const f = owner.moveFrontier(domain, block, reason, lpn);
      if (f < 0) {
        if (after !== 0) this.scheduler.drop(after);
        return i;
      }
      // A slot that goes elsewhere does not share the unit that waits for the read.
      if (f !== previous && after === 0) read = false;
      previous = f;
      if (!read) {
        if (this.copyBack(f, from, count, reason)) return 1;
        const ppn = Math.floor(from / slotsPerPage);
        read = true;
        inRam = this.scheduler.isProgramming(ppn);
        if (!inRam) {
          after = this.scheduler.read(ppn, this.maskFrom(i, count), NandClass.gcRead, 0);
          unreadable = this.scheduler.status[after] === NandStatus.uncorrectable;
          stats.moveReads++;
        }
      }
      const origin = array.origin[from];
      if (unreadable) owner.slotLost(lpn, from);
      // A page of the trim map waits for what it speaks of, and so must a copy that overtakes it.
      if (inRam && lpn >= options.logicalSlots) after = this.scheduler.join(after, this.scheduler.fence());
      frontiers.keepToken = i + 1 < count;
      frontiers.append(f, lpn, origin, from, -1, after);
      frontiers.keepToken = false;
      stats.moved[reason]++;
      stats.movedByOrigin[(reason << 8) | origin]++;
      if (this.probe !== null) this.probe.moved(lpn, from, frontiers.l2p[lpn]);
      // The read's token is spent. If its program went out, the rest of the page goes after that one, or is read again.
      after = frontiers.keptToken;
      frontiers.keptToken = 0;
      if (after === 0 && i + 1 < count && frontiers.collected(f) === 0) read = false;
    }
    if (after !== 0) this.scheduler.drop(after);
    return count;
  }

  private copyBack(f: number, from: number, count: number, reason: number): boolean {
    const { array, frontiers, stats, options } = this.parts;
    if (!options.copyback || !frontiers.simple || count !== 1) return false;
    const { features } = array.config;
    const copies = array.copybacks as Uint8Array;
    if (copies[from] >= features.maxCopybacks || this.scheduler.isProgramming(from)) return false;
    if (features.copybackParity && ((from ^ frontiers.nextSlot(f)) & 1) !== 0) return false;
    const lpn = array.lpn[from];
    const origin = array.origin[from];
    const lost = !array.isReadable(from);
    if (lost) this.parts.owner.slotLost(lpn, from);
    frontiers.copyBack(f, lpn, origin, from);
    stats.copybacks++;
    stats.moved[reason]++;
    stats.movedByOrigin[(reason << 8) | origin]++;
    if (this.probe !== null) this.probe.moved(lpn, from, frontiers.l2p[lpn]);
    return true;
  }

  private maskFrom(first: number, count: number): number {
    let mask = 0;
    for (let i = first; i < count; i++) mask |= 1 << (this.cursor.slots[i] % this.parts.slotsPerPage);
    return mask;
  }
}

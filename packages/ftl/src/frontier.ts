import {
  type NandArray,
  NandClass,
  type NandScheduler,
  NandStatus,
  PADDING_LPN,
  type Token,
} from '@flashstack/nand-device';
import { BlockState, type BlockTable, type FreeOrder } from './block-table.js';
import { Done, type FrontierParts, type MapListener, programClass } from './frontier-parts.js';
import { mostPadding, PairedPageRisks } from './paired-risk.js';
import { PendingUnits } from './pending-units.js';
import type { FtlProbe } from './probe.js';
import { reprogram } from './reprogram.js';
import { FROM_HOST, SlotContents, UNMAPPED } from './slot-contents.js';
import type { FtlStats } from './stats.js';
import { UnitRecords } from './unit-records.js';
import type { VictimPolicy } from './victims/policy.js';

/** Value of `Frontiers.supersedes`. */
export const BY_MAP = -2;

/**
 * Write frontiers and the mapping itself: a frontier takes slots in the order of program units of its open block, maps
 * each at once, and issues a program as soon as a unit (slots × planes × pages of a word line) is full.
 */
export class Frontiers {
  /** Physical slot per logical slot, `UNMAPPED` if none; a slot is valid exactly if this points at it. */
  readonly l2p: Int32Array;
  /** Block per frontier, −1: none open. Frontier k of domain d is `d * perDomain + k`. */
  readonly block: Int32Array;
  /** Slots collected for a program unit that has not been issued (simple layout: slots of the block used). */
  readonly fill: Int32Array;
  /** Slots of the frontier's current program unit. */
  readonly unitSlots: Int32Array;
  /** Per block: slots whose newer version could still vanish; the block must not be erased before that is settled. */
  readonly heldBy: Int32Array;
  /** Program unit of one slot, one member per block and no pages at risk: slots follow each other. */
  readonly simple: boolean;
  readonly perDomain: number;
  /** Null if the array keeps nothing. */
  readonly contents: SlotContents | null;
  /** Number of the last block opening. */
  openings = 0;
  /** Psn of the version that the next `append` supersedes, instead of the one that the map names; `BY_MAP`: that one. */
  supersedes: number = BY_MAP;
  /** With `keepToken` set, the token of the last program without a client is kept here instead of being dropped. */
  keepToken = false;
  keptToken: Token = 0;
  scheduler: NandScheduler;
  probe: FtlProbe | null = null;
  /** Told of every slot that is mapped anew, or null. */
  listener: MapListener | null = null;

  private readonly parts: FrontierParts;
  protected readonly table: BlockTable;
  readonly array: NandArray;
  private readonly policy: VictimPolicy;
  protected readonly stats: FtlStats;
  private readonly valid: Int32Array;
  private readonly state: Uint8Array;
  protected readonly lpnOf: Uint32Array;
  protected readonly originOf: Uint8Array;
  private readonly faulty: boolean;
  private readonly slotsPerPage: number;
  private readonly pagesPerBlock: number;
  private readonly programPages: number;
  private readonly direct: boolean;
  /** log2 of the slots of a physical block, or −1. */
  private readonly blockShift: number;
  /** Slots of a program unit of a block without bad members. */
  readonly fullUnit: number;
  /** Slots that settling a frontier may cost at most. */
  readonly mostPadding: number;
  protected readonly base: Int32Array;
  protected readonly row: Int32Array;
  protected readonly unitStart: Int32Array;
  private readonly unitPlanes: Int32Array;
  private readonly after: Int32Array;
  private readonly units: PendingUnits;
  private readonly ppns: Int32Array;
  private readonly risks: PairedPageRisks | null;
  readonly records: UnitRecords;

  constructor(parts: FrontierParts) {
    const { array, table } = parts;
    const g = array.geometry;
    this.parts = parts;
    this.array = array;
    this.table = table;
    this.policy = parts.policy;
    this.stats = parts.stats;
    this.scheduler = parts.scheduler;
    this.valid = table.valid;
    this.state = table.state;
    this.lpnOf = array.lpn;
    this.originOf = array.origin;
    this.contents = SlotContents.of(array, parts.client, parts.owner);
    this.faulty = array.reliability !== null;
    this.slotsPerPage = g.slotsPerPage;
    this.pagesPerBlock = g.pagesPerBlock;
    this.programPages = g.programPages;
    this.direct = table.direct;
    const spb = table.slotsPerMember;
    this.blockShift = (spb & (spb - 1)) === 0 ? 31 - Math.clz32(spb) : -1;
    const planes = parts.multiPlane ? Math.min(table.members, g.planes) : 1;
    this.fullUnit = planes * g.programPages * g.slotsPerPage;
    this.perDomain = parts.perDomain;
    const count = table.domains * parts.perDomain;
    this.risks = PairedPageRisks.of(array, count, table.members);
    this.mostPadding = mostPadding(array, table.members, this.fullUnit);
    this.simple = table.members === 1 && this.fullUnit === 1 && this.risks === null;
    this.l2p = new Int32Array(parts.mappedSlots).fill(UNMAPPED);
    this.heldBy = new Int32Array(this.simple ? 0 : table.blocks);
    this.block = new Int32Array(count).fill(-1);
    this.fill = new Int32Array(count);
    this.base = new Int32Array(count);
    this.row = new Int32Array(count);
    this.unitStart = new Int32Array(count);
    this.unitPlanes = new Int32Array(count);
    this.unitSlots = new Int32Array(count).fill(1);
    this.after = new Int32Array(count);
    this.units = new PendingUnits(this.simple ? 0 : count, this.fullUnit);
    this.ppns = new Int32Array(g.planes);
    this.records = new UnitRecords(this.fullUnit);
  }

  /** Block that holds a physical slot. */
  blockOf(psn: number): number {
    const physical = this.physicalOf(psn);
    return this.direct ? physical : this.table.blockOfPhysical[physical];
  }

  protected physicalOf(psn: number): number {
    return this.blockShift >= 0 ? psn >> this.blockShift : Math.floor(psn / this.table.slotsPerMember);
  }

  /** Takes a free block of the domain for frontier `f`; the pool must not be empty. */
  open(f: number, domain: number, order: FreeOrder): void {
    const { table } = this;
    const k = f - domain * this.perDomain;
    const block = table.open(domain, order, k);
    this.openings++;
    const from = block * table.members;
    for (let i = 0; i < table.width[block]; i++) this.array.openSeq[table.memberBlock[from + i]] = this.openings;
    this.resume(f, block, 0);
    if (this.probe !== null) this.probe.opened(block, k);
  }

  /** Frontier `f` goes on in an open block behind `rows` complete rows of pages. */
  resume(f: number, block: number, rows: number): void {
    this.block[f] = block;
    this.fill[f] = this.simple ? rows : 0;
    this.base[f] = this.table.memberBlock[block * this.table.members] * this.table.slotsPerMember;
    this.row[f] = rows;
    this.unitStart[f] = 0;
    if (!this.simple) this.beginUnit(f, block);
  }

  /** Slots that fit into the frontier's program unit before it is issued. */
  unitRoom(f: number): number {
    return this.simple ? 1 : this.unitSlots[f] - this.fill[f];
  }

  /**
   * Maps `lpn` to the next slot of the open frontier `f` and programs it when its unit is full, after `after`.
   * `from`: the slot it is copied from, or what `FROM_HOST` and its like say. `job` is told when it is durable (−1: nobody).
   */
  append(f: number, lpn: number, origin: number, from: number, job: number, after: Token): void {
    const old = this.l2p[lpn];
    const psn = this.mapNext(f, lpn, origin, from, job);
    const older = this.supersedes === BY_MAP ? old : this.supersedes;
    if (this.simple) this.programSlot(f, psn, from, job, after, older);
    else this.collect(f, psn, from, job, after, older);
  }

  /** What `append` does before it programs. @returns the slot; in the simple layout, `advance` follows its program. */
  mapNext(f: number, lpn: number, origin: number, from: number, job: number): number {
    const psn = this.simple ? this.base[f] + this.fill[f] : this.nextPsn(f);
    if (this.contents !== null) this.contents.fill(psn, lpn, from, job);
    this.mapTo(f, lpn, psn, this.l2p[lpn], origin);
    if (this.listener !== null) this.listener.mapped(lpn, from);
    return psn;
  }

  /** The next slot of frontier `f` has been programmed (simple layout only). */
  advance(f: number): void {
    this.stats.programmed++;
    if (++this.fill[f] === this.table.slotsPerMember) this.close(f);
  }

  private mapTo(f: number, lpn: number, psn: number, old: number, origin: number): void {
    if (old >= 0) this.invalidate(old);
    this.l2p[lpn] = psn;
    this.valid[this.block[f]]++;
    this.lpnOf[psn] = lpn;
    this.originOf[psn] = origin;
  }

  /** A slot is no longer the newest version of its logical slot. */
  invalidate(psn: number): void {
    const block = this.blockOf(psn);
    this.valid[block]--;
    this.table.lastInvalid[block] = this.table.clock;
    if (this.state[block] === BlockState.closed) this.policy.invalidated(block);
  }

  /** Fills the current unit with padding and issues it; with an empty unit, a whole unit of padding. */
  pad(f: number): void {
    const block = this.block[f];
    do {
      const psn = this.nextPsn(f);
      this.lpnOf[psn] = PADDING_LPN;
      this.originOf[psn] = 0;
      this.contents?.pad(psn);
      this.stats.padding++;
      this.collect(f, psn, FROM_HOST, -1, 0, -1);
    } while (this.block[f] === block && this.fill[f] > 0);
  }

  /** Moves `lpn` by copyback to the next slot of the open frontier `f` (simple layout only). */
  copyBack(f: number, lpn: number, origin: number, from: number): void {
    const psn = this.nextSlot(f);
    if (this.contents !== null) this.contents.fill(psn, lpn, from, -1);
    this.mapTo(f, lpn, psn, from, origin);
    if (this.listener !== null) this.listener.copiedBack(lpn);
    this.finishSlot(f, psn, -1, this.scheduler.copyback(from, psn, NandClass.gcWrite, 0), from);
  }

  /** Physical slot that the open frontier `f` takes next (simple layout only). */
  nextSlot(f: number): number {
    return this.base[f] + this.fill[f];
  }

  /** Slots left in the block of frontier `f`; 0 if none is open. */
  roomLeft(f: number): number {
    const block = this.block[f];
    if (block < 0) return 0;
    if (this.simple) return this.table.slotsPerMember - this.fill[f];
    const perMember = this.programPages * this.slotsPerPage;
    const used = (this.row[f] * this.table.width[block] + this.unitStart[f]) * perMember + this.fill[f];
    return this.table.capacity[block] - used;
  }

  /** Slots collected for the current program unit. */
  collected(f: number): number {
    return this.simple ? 0 : this.fill[f];
  }

  /** Goes on with another scheduler. What pending units wait for has been read on the old one, so it is there. */
  attach(scheduler: NandScheduler): void {
    for (let f = 0; f < this.after.length; f++) {
      this.scheduler.drop(this.after[f]);
      this.after[f] = 0;
    }
    this.scheduler = scheduler;
  }

  /** Forgets all open frontiers and pending slots: power loss. */
  reset(): void {
    this.block.fill(-1);
    this.fill.fill(0);
    this.after.fill(0);
    this.heldBy.fill(0);
    this.stats.pending = 0;
    this.keptToken = 0;
    this.records.clear();
    this.risks?.clear();
  }

  /** One slot that supersedes data of `block` is settled. */
  unhold(block: number): void {
    if (--this.heldBy[block] === 0 && this.state[block] === BlockState.erasing) this.parts.owner.eraseReady(block);
  }

  protected programSlot(f: number, psn: number, from: number, job: number, after: Token, older: number): void {
    this.finishSlot(f, psn, job, this.scheduler.program(psn, programClass(from), after), older);
  }

  private finishSlot(f: number, psn: number, job: number, token: Token, older: number): void {
    const { scheduler } = this;
    if (this.faulty && scheduler.status[token] === NandStatus.programFailed) {
      this.stats.programmed++;
      const unit = { psns: Int32Array.of(psn), jobs: Int32Array.of(job), older: Int32Array.of(older) };
      reprogram(this, this.parts, f, token, unit, unit.psns);
      return;
    }
    if (older >= 0) this.guard(older, token);
    if (job >= 0) scheduler.then(token, this.parts.owner.completions, (job << 3) | Done.job);
    else scheduler.drop(token);
    this.advance(f);
  }

  protected collect(f: number, psn: number, from: number, job: number, after: Token, older: number): void {
    if (older >= 0) this.heldBy[this.blockOf(older)]++;
    this.units.add(f, this.fill[f], psn, job, older, programClass(from));
    if (after !== 0) this.after[f] = this.after[f] === 0 ? after : this.scheduler.join(this.after[f], after);
    this.stats.pending++;
    if (++this.fill[f] === this.unitSlots[f]) this.issue(f);
  }

  private issue(f: number): void {
    const { scheduler, ppns, table } = this;
    const count = this.fill[f];
    const planes = this.unitPlanes[f];
    const from = this.block[f] * table.members + this.unitStart[f];
    const page = this.row[f] * this.programPages;
    for (let i = 0; i < planes; i++) ppns[i] = table.memberBlock[from + i] * this.pagesPerBlock + page;
    const after = this.after[f];
    this.after[f] = 0;
    this.fill[f] = 0;
    this.stats.pending -= count;
    this.stats.programmed += count;
    const token =
      planes === 1
        ? scheduler.program(ppns[0], this.units.cls[f], after)
        : scheduler.programPlanes(ppns, planes, this.units.cls[f], after);
    if (this.risks !== null) this.risks.programmed(f, this.unitStart[f], page, token, this);
    if (this.faulty && scheduler.status[token] === NandStatus.programFailed) {
      reprogram(this, this.parts, f, token, this.units.failed(f, count), ppns.slice(0, planes));
      return;
    }
    this.guardUnit(f, count, token);
    const record = this.records.collect(this.units.job, f * this.fullUnit, count);
    if (record >= 0) scheduler.then(token, this.parts.owner.completions, (record << 3) | Done.unit);
    else if (this.keepToken && this.keptToken === 0) this.keptToken = token;
    else scheduler.drop(token);
    this.settleUnit(f, count, page);
    this.nextUnit(f);
  }

  /** Blocks with older versions of the unit must not be erased before it is durable. */
  private guardUnit(f: number, count: number, token: Token): void {
    const from = f * this.fullUnit;
    for (let i = from; i < from + count; i++) if (this.units.older[i] >= 0) this.guard(this.units.older[i], token);
  }

  /** The block of slot `older` must not be erased before program `token` is durable. */
  guard(older: number, token: Token): void {
    this.scheduler.guard(this.physicalOf(older), token);
  }

  /** The unit is on its way: what it supersedes needs it no longer, unless a later upper page could destroy it. */
  private settleUnit(f: number, count: number, page: number): void {
    const from = f * this.fullUnit;
    for (let i = 0; i < count; i++) {
      const older = this.units.older[from + i];
      if (this.risks !== null && this.lpnOf[this.units.psn[from + i]] !== PADDING_LPN)
        this.risks.add(f, this.unitStart[f], page, older, this);
      else if (older >= 0) this.unhold(this.blockOf(older));
    }
  }

  private nextUnit(f: number): void {
    const block = this.block[f];
    this.unitStart[f] += this.unitPlanes[f];
    if (this.unitStart[f] >= this.table.width[block]) {
      this.unitStart[f] = 0;
      if (++this.row[f] * this.programPages >= this.pagesPerBlock) this.close(f);
    }
    if (this.block[f] === block) this.beginUnit(f, block);
  }

  /** Frontier `f` takes no more slots, though its block may have room left; the block is closed. */
  close(f: number): void {
    const block = this.block[f];
    if (this.risks !== null) this.risks.leave(f, this);
    this.block[f] = -1;
    this.table.close(block);
    this.policy.closed(block);
    if (this.probe !== null) this.probe.closed(block);
  }

  /** The members from `unitStart` on that share a die form the next unit. */
  protected beginUnit(f: number, block: number): void {
    const { table } = this;
    const from = block * table.members + this.unitStart[f];
    let planes = 1;
    if (this.parts.multiPlane) {
      const dies = this.array.geometry.dieOfBlock;
      const left = table.width[block] - this.unitStart[f];
      while (planes < left && dies[table.memberBlock[from + planes]] === dies[table.memberBlock[from]]) planes++;
    }
    this.unitPlanes[f] = planes;
    this.unitSlots[f] = planes * this.programPages * this.slotsPerPage;
  }

  protected nextPsn(f: number): number {
    const fill = this.fill[f];
    const { slotsPerPage, table } = this;
    const slot = fill % slotsPerPage;
    const index = (fill - slot) / slotsPerPage;
    const planes = this.unitPlanes[f];
    const plane = index % planes;
    const page = this.row[f] * this.programPages + (index - plane) / planes;
    const physical = table.memberBlock[this.block[f] * table.members + this.unitStart[f] + plane];
    return (physical * this.pagesPerBlock + page) * slotsPerPage + slot;
  }

  /** True if pages of this part can be lost to a later program. */
  get hasPairedPages(): boolean {
    return this.risks !== null;
  }

  /** True if a power cut in a later program of the block could destroy data of it. */
  isExposed(f: number): boolean {
    return this.risks?.exposed(f, this.row[f]) ?? false;
  }

  /** True if a slot of frontier `f` that could still vanish supersedes data of `block`. */
  holds(f: number, block: number): boolean {
    const from = f * this.fullUnit;
    for (let i = 0; i < this.fill[f]; i++) {
      const older = this.units.older[from + i];
      if (older >= 0 && this.blockOf(older) === block) return true;
    }
    return this.risks?.holds(f, block, this) ?? false;
  }
}

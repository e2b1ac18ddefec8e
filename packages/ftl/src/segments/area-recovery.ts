import { PADDING_LPN } from '@flashstack/nand-device';
import { BlockState } from '../block-table.js';
import type { RecoveryReport } from '../oob-scan.js';
import type { PageMapFtl } from '../page-map.js';
import { SlotFlag, UNMAPPED } from '../slot-contents.js';
import type { Backups } from './backups.js';
import { type FoundBlocks, Reassembly } from './reassembly.js';
import { type SegmentArea, SegmentFlag } from './segment-area.js';

/**
 * Rebuilds the segments from the OOB areas of their blocks and from the page map, which has been recovered before. A
 * segment holds the longest run of slots from its start that were written one after the other and can be read, each in
 * its place or in a backup.
 */
export class AreaRecovery {
  private readonly area: SegmentArea;
  private readonly store: PageMapFtl;
  private readonly backups: Backups;
  private readonly report: RecoveryReport;
  private readonly seq: Float64Array;
  /** Per segment: where its members were found. */
  private readonly found: Map<number, FoundBlocks> = new Map();
  /** Pages of a block that can be read, and the last of them. */
  private readonly sound: Int32Array;
  private readonly reach: Int32Array;
  /** Sequence numbers of the first and the last slot of a block that can be read. */
  private readonly oldest: Float64Array;
  private readonly newest: Float64Array;
  /** Per segment: the largest sequence number found, −1: none. */
  private readonly latest: Float64Array;
  /** Per segment: the slots that hold its data now. */
  private readonly slots: Map<number, number[]> = new Map();

  constructor(area: SegmentArea, store: PageMapFtl, backups: Backups, report: RecoveryReport) {
    this.area = area;
    this.store = store;
    this.backups = backups;
    this.report = report;
    this.seq = area.parts.array.seq as Float64Array;
    this.sound = new Int32Array(area.parts.array.geometry.blocks);
    this.reach = new Int32Array(area.parts.array.geometry.blocks).fill(-1);
    this.oldest = new Float64Array(area.parts.array.geometry.blocks).fill(Number.POSITIVE_INFINITY);
    this.newest = new Float64Array(area.parts.array.geometry.blocks);
    this.latest = new Float64Array(area.layout.segments).fill(-1);
  }

  run(): void {
    this.scan();
    this.findRuns();
    this.dropUseless();
    const groups = new Reassembly(this.area.parts.array, this.area.blocks, this.found);
    for (const [segment, slots] of this.slots) this.restore(segment, slots, groups);
    for (let segment = 0; segment < this.area.layout.segments; segment++) {
      if (this.slots.has(segment)) continue;
      if (this.wasFinished(segment, undefined)) this.area.flags[segment] |= SegmentFlag.finished;
      else this.dropNote(segment);
    }
    this.eraseRest(groups);
  }

  /** Finds the blocks of each segment. */
  private scan(): void {
    const { area } = this;
    const { array } = area.parts;
    const { slotsPerMember } = area.table;
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      if (!area.blocks.owns(physical)) continue;
      const written = array.garbage[physical] !== 0 ? 0 : array.nextPage[physical];
      const first = physical * slotsPerMember;
      area.eraser.forgetSlots(first + written * area.layout.slotsPerPage, first + slotsPerMember);
      if (array.bad[physical] !== 0 || written === 0) continue;
      area.blocks.openings = Math.max(area.blocks.openings, array.openSeq[physical]);
      this.identify(physical, written);
    }
  }

  private identify(physical: number, written: number): void {
    const { array } = this.area.parts;
    const { layout } = this.area;
    let segment = -1;
    let member = -1;
    for (let page = 0; page < written; page++) {
      const ppn = array.geometry.ppn(physical, page);
      this.report.pages++;
      // What was being programmed when the power failed had not been acknowledged.
      if (!array.isReadable(ppn) || array.isWeak(ppn)) {
        this.report.unreadable++;
        continue;
      }
      for (let slot = 0; slot < layout.slotsPerPage; slot++) {
        const psn = array.geometry.psn(ppn, slot);
        const lpn = array.lpn[psn];
        if (lpn === PADDING_LPN) continue;
        this.oldest[physical] = Math.min(this.oldest[physical], this.seq[psn]);
        this.newest[physical] = Math.max(this.newest[physical], this.seq[psn]);
        segment = layout.segmentOf(lpn);
        member = layout.memberOf(lpn - layout.start(segment));
      }
      this.sound[physical]++;
      this.reach[physical] = page;
    }
    if (segment >= 0 && this.newest[physical] >= this.area.resetSeq[segment]) this.consider(segment, member, physical);
  }

  private consider(segment: number, member: number, physical: number): void {
    const members = this.found.get(segment) ?? new Map<number, number>();
    this.found.set(segment, members);
    this.latest[segment] = Math.max(this.latest[segment], this.newest[physical]);
    const other = members.get(member);
    if (other === undefined) {
      members.set(member, physical);
      return;
    }
    if (this.isOfEarlierLife(physical, other)) this.endLife(segment, this.newest[physical]);
    else if (this.isOfEarlierLife(other, physical)) this.endLife(segment, this.newest[other]);
    if (this.isBetter(physical, other)) members.set(member, physical);
  }

  /** True if the segment was released after block `a` and before block `b` was written. Copies were opened after their original. */
  private isOfEarlierLife(a: number, b: number): boolean {
    const { openSeq } = this.area.parts.array;
    return this.newest[a] < this.oldest[b] && openSeq[a] < openSeq[b];
  }

  /**
   * What is not later than `seq` is not the segment's any more. Recorded, because the blocks that showed it may be erased
   * before others of the earlier life are: a second power cut must not bring those back.
   */
  private endLife(segment: number, seq: number): void {
    const { resetSeq } = this.area;
    resetSeq[segment] = Math.max(resetSeq[segment], seq + 1);
  }

  /** A block of a later life of its segment counts; of a block and its copy, the one that goes further, or holds more. */
  private isBetter(physical: number, other: number): boolean {
    if (this.isOfEarlierLife(physical, other)) return false;
    if (this.isOfEarlierLife(other, physical)) return true;
    const { openSeq } = this.area.parts.array;
    // A copy that was cut short is dense, and its original may have holes: what counts is how far it goes.
    const further = this.reach[physical] - this.reach[other];
    if (further !== 0) return further > 0;
    const more = this.sound[physical] - this.sound[other];
    return more > 0 || (more === 0 && openSeq[physical] > openSeq[other]);
  }

  /** The run of each segment, and which blocks and backups it needs. */
  private findRuns(): void {
    const { layout, resetSeq } = this.area;
    const { l2p } = this.store.frontiers;
    const candidates = new Set(this.found.keys());
    for (let lpn = layout.plan.first; lpn < layout.plan.end; lpn++) {
      if (l2p[lpn] === UNMAPPED) continue;
      const segment = layout.segmentOf(lpn);
      const seq = this.seq[l2p[lpn]];
      this.backups.markUsed(segment);
      if (seq >= resetSeq[segment]) candidates.add(segment);
      else this.dropBackup(lpn);
      this.latest[segment] = Math.max(this.latest[segment], seq);
    }
    for (const segment of [...candidates].sort((a, b) => a - b)) {
      const slots = this.runOf(segment);
      if (slots.length > 0) this.slots.set(segment, slots);
      // Nothing counts without what is missing at the start, whichever part of it is erased first.
      else this.endLife(segment, this.latest[segment]);
    }
  }

  private runOf(segment: number): number[] {
    const { layout } = this.area;
    const slots: number[] = [];
    let inPlace = -1;
    for (let offset = 0; offset < layout.capacityOf(segment); offset++) {
      const own = this.placeOf(segment, offset);
      if (own >= 0 && this.seq[own] >= inPlace) {
        inPlace = this.seq[own];
        slots.push(own);
        continue;
      }
      const lpn = layout.start(segment) + offset;
      const backup = this.store.lost.has(lpn) ? UNMAPPED : this.store.frontiers.l2p[lpn];
      // A backup is newer than what was written before it; an older one is left from an earlier life of the segment.
      if (backup === UNMAPPED || this.seq[backup] <= inPlace) break;
      this.area.seqInPlace.set(lpn, Math.max(this.area.resetSeq[segment], inPlace));
      slots.push(backup);
    }
    return slots;
  }

  /** The physical slot in the place of a slot of the segment, if it holds it; −1 otherwise. */
  private placeOf(segment: number, offset: number): number {
    const { layout, parts } = this.area;
    const physical = this.found.get(segment)?.get(layout.memberOf(offset));
    if (physical === undefined) return -1;
    const page = layout.pageOf(offset);
    const { array } = parts;
    const ppn = array.geometry.ppn(physical, page);
    if (page >= array.nextPage[physical] || !array.isReadable(ppn) || array.isWeak(ppn)) return -1;
    const psn = array.geometry.psn(ppn, offset % layout.slotsPerPage);
    const counts = this.seq[psn] >= this.area.resetSeq[segment];
    return counts && array.lpn[psn] === layout.start(segment) + offset ? psn : -1;
  }

  /** Blocks and backups that no run needs. */
  private dropUseless(): void {
    const { layout, parts } = this.area;
    const { geometry } = parts.array;
    for (const [segment, members] of this.found) {
      const needed = new Set((this.slots.get(segment) ?? []).map((psn) => geometry.blockOf(geometry.ppnOfPsn(psn))));
      for (const [member, physical] of members) if (!needed.has(physical)) members.delete(member);
      if (!this.slots.has(segment)) this.found.delete(segment);
    }
    for (const segment of this.slots.keys()) if (!this.found.has(segment)) this.found.set(segment, new Map());
    for (let lpn = layout.plan.first; lpn < layout.plan.end; lpn++) {
      if (this.store.frontiers.l2p[lpn] !== UNMAPPED) this.judgeBackup(lpn);
    }
  }

  /** A backup that is not used is of another life of its segment, or is written again: it must not come back. */
  private judgeBackup(lpn: number): void {
    const { layout } = this.area;
    const segment = layout.segmentOf(lpn);
    if (this.slots.get(segment)?.[lpn - layout.start(segment)] === this.store.frontiers.l2p[lpn]) return;
    this.dropBackup(lpn);
  }

  private dropBackup(lpn: number): void {
    this.backups.forget(lpn);
    this.store.trimMap.trimmedStranded(lpn);
  }

  private restore(segment: number, slots: readonly number[], groups: Reassembly): void {
    const { area } = this;
    const { table, blocks } = area;
    const { array } = area.parts;
    const group = groups.groupOf.get(segment) as number;
    area.group[segment] = group;
    area.pointer[segment] = slots.length;
    table.state[group] = BlockState.open;
    table.valid[group] = slots.length;
    table.openedAt[group] = table.clock;
    blocks.openings++;
    for (let member = 0; member < table.members; member++) {
      const physical = blocks.physical(group, member);
      if (blocks.isErased(physical)) array.openSeq[physical] = blocks.openings;
    }
    this.report.mapped += slots.length;
    for (const psn of slots) {
      if (((array.flags as Uint8Array)[psn] & SlotFlag.lost) !== 0) area.lost.add(array.lpn[psn]);
    }
    this.flag(segment, slots, groups.incomplete.has(segment));
    this.restorePending(segment, slots);
    area.backedFrom[segment] = 0;
    this.backups.touch(segment);
    if (area.isFull(segment)) table.close(group);
  }

  /** Finds out whether a segment can go on as it is, and whether it had been finished. */
  private flag(segment: number, slots: readonly number[], incomplete: boolean): void {
    const { area } = this;
    const { layout, blocks } = area;
    const { array } = area.parts;
    const finished = this.wasFinished(segment, slots[0]);
    const issued = finished ? slots.length : layout.issued(segment, slots.length);
    let damaged = slots.some((psn, offset) => offset < issued && psn !== area.psnOf(segment, offset));
    // Nothing follows in a finished segment; a block that held nothing but its padding may have been replaced.
    for (let member = 0; member < layout.members && !finished; member++) {
      const physical = blocks.physical(area.group[segment], member);
      damaged ||= array.garbage[physical] !== 0 || array.nextPage[physical] !== layout.pagesWritten(member, issued);
    }
    if (finished && !damaged) area.flags[segment] |= SegmentFlag.finished;
    else this.dropNote(segment);
    if (damaged) area.flags[segment] |= SegmentFlag.damaged;
    if (incomplete) area.flags[segment] |= SegmentFlag.frozen;
  }

  /** The note of a finished segment speaks of the present life if nothing of it was written later. */
  private wasFinished(segment: number, first: number | undefined): boolean {
    const { layout } = this.area;
    const at = layout.plan.end + segment;
    // Only zones have notes; behind them comes the trim map.
    const note = at < this.store.logicalSlots ? this.store.frontiers.l2p[at] : UNMAPPED;
    if (note === UNMAPPED) return false;
    const word = (this.area.parts.array.word as Uint32Array)[note];
    const since = first === undefined ? this.area.resetSeq[segment] : this.seq[first];
    return ((word - since) | 0) >= 0;
  }

  /** The segment is not finished, and must not be found finished later. */
  private dropNote(segment: number): void {
    const at = this.area.layout.plan.end + segment;
    if (at >= this.store.logicalSlots || this.store.frontiers.l2p[at] === UNMAPPED) return;
    this.backups.forget(at);
    this.store.trimMap.trimmedStranded(at);
  }

  /** Slots of a program unit that has not been issued are in RAM again. */
  private restorePending(segment: number, slots: readonly number[]): void {
    const { area } = this;
    const { array, stats } = area.parts;
    const issued = area.issuedOf(segment);
    const { geometry } = array;
    stats.pending += slots.length - issued;
    stats.reprogrammed += slots.length - issued;
    for (let offset = issued; offset < slots.length; offset++) {
      const psn = area.psnOf(segment, offset);
      const ppn = geometry.ppnOfPsn(psn);
      const physical = geometry.blockOf(ppn);
      const member = area.layout.memberOf(offset);
      const expected = area.layout.pagesWritten(member, issued);
      // Otherwise the block is replaced, and the slot moves then.
      if (array.garbage[physical] !== 0 || array.nextPage[physical] !== expected) continue;
      area.copySlot(psn, array.lpn[slots[offset]], slots[offset]);
      area.seqInPlace.delete(array.lpn[psn]);
    }
  }

  private eraseRest(groups: Reassembly): void {
    const { area } = this;
    for (const group of groups.empty()) {
      let erased = true;
      for (let member = 0; member < area.table.members; member++) {
        erased &&= area.blocks.isErased(area.blocks.physical(group, member));
      }
      if (erased) {
        area.table.release(group);
        continue;
      }
      this.report.erased++;
      area.eraser.eraseGroup(group);
    }
    for (const physical of groups.unclean()) area.eraser.discard(physical, false);
  }
}

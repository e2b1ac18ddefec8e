import { NandClass, NandStatus, PADDING_LPN, type Token } from '@flashstack/nand-device';
import { FtlStatus } from '../contract.js';
import type { Jobs } from '../jobs.js';
import { SlotFlag } from '../slot-contents.js';
import { MoveReason } from '../stats.js';
import type { Mender } from './area-parts.js';
import { type SegmentArea, SegmentFlag } from './segment-area.js';

/** Which pages are copied, and how. */
interface Copy {
  readonly segment: number;
  readonly member: number;
  /** The block they are in, and the one they go to. */
  readonly old: number;
  readonly spare: number;
  readonly pages: number;
  /** Pages from here on are in controller RAM: their program has just failed. */
  readonly inRam: number;
  readonly reason: number;
}

/**
 * Puts spare blocks in the place of members of groups that failed, that a power cut left with garbage where data must go,
 * or that are hard to read: what is valid in the block is copied first, and the block is erased or retired after that.
 */
export class BlockMender implements Mender {
  private area!: SegmentArea;
  private jobs!: Jobs;

  /** Once, before anything happens. */
  attach(area: SegmentArea, jobs: Jobs): void {
    this.area = area;
    this.jobs = jobs;
  }

  programFailed(segment: number, start: number, failed: number): Token {
    const { area } = this;
    const { layout } = area;
    const page = layout.pageOf(start);
    const first = layout.memberOf(start);
    let token = area.scheduler.fence();
    for (let plane = 0; plane < layout.planes; plane++) {
      if ((failed & (1 << plane)) === 0) continue;
      const written = this.replace(
        segment,
        first + plane,
        page + layout.programPages,
        page,
        MoveReason.retirement,
        true,
      );
      if (written < 0) {
        if (token !== 0) area.scheduler.drop(token);
        this.strand(segment, start);
        return -1;
      }
      token = token === 0 ? written : area.scheduler.join(token, written);
    }
    return token;
  }

  mend(segment: number): boolean {
    const { area } = this;
    const { layout, blocks } = area;
    const { array } = area.parts;
    const issued = area.issuedOf(segment);
    for (let member = 0; member < layout.members; member++) {
      const physical = blocks.physical(area.group[segment], member);
      const expected = layout.pagesWritten(member, issued);
      const sound = array.garbage[physical] === 0 && array.nextPage[physical] === expected;
      if (sound && this.isWhole(segment, member, expected)) continue;
      const token = this.replace(segment, member, expected, expected, MoveReason.refresh, false);
      if (token < 0) return false;
      if (token > 0) area.scheduler.drop(token);
    }
    area.flags[segment] = (area.flags[segment] & ~SegmentFlag.damaged) | SegmentFlag.settling;
    return true;
  }

  /** Replaces a block that is hard to read. False if it cannot be done now. */
  refresh(physical: number): boolean {
    const { area } = this;
    const group = area.table.blockOfPhysical[physical];
    const segment = group < 0 ? -1 : area.group.indexOf(group);
    // Erased meanwhile, or about to be replaced anyhow.
    if (segment < 0 || area.flags[segment] !== 0) return true;
    const { members } = area.layout;
    const member = area.table.memberBlock.subarray(group * members, (group + 1) * members).indexOf(physical);
    const pages = area.layout.pagesWritten(member, area.issuedOf(segment));
    const token = this.replace(segment, member, pages, pages, MoveReason.refresh, false);
    if (token > 0) area.scheduler.drop(token);
    return token >= 0;
  }

  /** True if no slot of the first pages of a member is in its backup only. */
  private isWhole(segment: number, member: number, pages: number): boolean {
    const { seqInPlace, layout } = this.area;
    for (let page = 0; page < pages; page++) {
      for (let slot = 0; slot < layout.slotsPerPage; slot++) {
        const offset = layout.offsetOf(member, page, slot);
        if (offset < this.area.pointer[segment] && seqInPlace.has(layout.start(segment) + offset)) return false;
      }
    }
    return true;
  }

  /** The slots of a member are in their place now. */
  private forgetBackups(segment: number, member: number): void {
    const { seqInPlace, layout } = this.area;
    for (let page = 0; page < layout.pagesPerBlock; page++) {
      for (let slot = 0; slot < layout.slotsPerPage; slot++) {
        const offset = layout.offsetOf(member, page, slot);
        if (offset < this.area.pointer[segment]) seqInPlace.delete(layout.start(segment) + offset);
      }
    }
  }

  /**
   * Replaces a member, of which `pages` pages are valid. @returns the token of the last program, which the caller uses up
   * (0: none was needed); −1 if there is no spare block.
   */
  private replace(
    segment: number,
    member: number,
    pages: number,
    inRam: number,
    reason: number,
    failed: boolean,
  ): Token {
    const { area } = this;
    const { blocks, layout } = area;
    const group = area.group[segment];
    const set = layout.setOf(segment);
    const old = blocks.physical(group, member);
    for (let spare = blocks.takeSpare(set, member); spare >= 0; spare = blocks.takeSpare(set, member)) {
      area.parts.array.openSeq[spare] = ++blocks.openings;
      const token = this.copyPages({ segment, member, old, spare, pages, inRam, reason });
      if (token < 0) {
        area.eraser.discard(spare, true);
        continue;
      }
      this.movePending(segment, member, old, spare);
      if (area.seqInPlace.size > 0) this.forgetBackups(segment, member);
      area.table.exchange(group, member, spare);
      if (area.parts.array.bad[old] === 0) area.eraser.discard(old, failed || area.eraser.failing.has(old));
      return token;
    }
    return -1;
  }

  /** @returns the token of the last program, 0 if there are no pages, −1 if a program failed. */
  private copyPages(copy: Copy): Token {
    const { scheduler, layout } = this.area;
    const { array, stats } = this.area.parts;
    let last: Token = 0;
    for (let page = 0; page < copy.pages; page += layout.programPages) {
      if (last > 0) scheduler.drop(last);
      const after = this.fillUnit(copy, page);
      stats.programmed += layout.programPages * layout.slotsPerPage;
      last = scheduler.program(array.geometry.ppn(copy.spare, page), NandClass.gcWrite, after);
      if (scheduler.status[last] !== NandStatus.programFailed) continue;
      stats.programFailures++;
      scheduler.drop(last);
      return -1;
    }
    return last;
  }

  /** Fills the columns of one program unit of the new block. @returns a token of the reads it took. */
  private fillUnit(copy: Copy, page: number): Token {
    const { layout, scheduler } = this.area;
    const { array } = this.area.parts;
    let after: Token = 0;
    for (let each = page; each < page + layout.programPages; each++) {
      const ppn = array.geometry.ppn(copy.old, each);
      let read = false;
      for (let slot = 0; slot < layout.slotsPerPage; slot++) {
        const source = this.sourceOf(copy, each, slot);
        const inPlace = array.geometry.ppnOfPsn(source) === ppn;
        const inRam = each >= copy.inRam || scheduler.isProgramming(array.geometry.ppnOfPsn(source));
        if (!inRam && !(inPlace && read)) after = this.join(after, this.read(copy, source, inPlace));
        read ||= inPlace;
        this.fillSlot(copy, each, slot, source);
      }
    }
    return after;
  }

  private join(a: Token, b: Token): Token {
    return a === 0 ? b : this.area.scheduler.join(a, b);
  }

  /** Reads all slots of a page of the old block, or the backup of one slot. */
  private read(copy: Copy, source: number, inPlace: boolean): Token {
    const { scheduler, layout } = this.area;
    const { array, stats } = this.area.parts;
    const { geometry } = array;
    const mask = inPlace ? 2 ** layout.slotsPerPage - 1 : 1 << geometry.slotOfPsn(source);
    const ppn = geometry.ppnOfPsn(source);
    const token = scheduler.read(ppn, mask, NandClass.gcRead, 0);
    stats.moveReads++;
    if (scheduler.status[token] !== NandStatus.uncorrectable) return token;
    for (let slot = 0; slot < layout.slotsPerPage; slot++) {
      if ((mask & (1 << slot)) !== 0) this.lose(copy, geometry.psn(ppn, slot));
    }
    return token;
  }

  /** The data of a physical slot cannot be read: what is copied stands for lost data. */
  private lose(copy: Copy, psn: number): void {
    const { array, stats } = this.area.parts;
    const lpn = array.lpn[psn];
    if (lpn === PADDING_LPN || this.area.layout.segmentOf(lpn) !== copy.segment) return;
    if (array.flags !== null) array.flags[psn] |= SlotFlag.lost;
    if (this.area.lost.has(lpn)) return;
    this.area.lost.add(lpn);
    stats.lost++;
    if (this.area.probe !== null) this.area.probe.lost(lpn);
  }

  /** Where a slot of the old block is taken from: its backup, if it is only there. */
  private sourceOf(copy: Copy, page: number, slot: number): number {
    const { area } = this;
    const own = (copy.old * area.layout.pagesPerBlock + page) * area.layout.slotsPerPage + slot;
    if (page >= copy.inRam) return own;
    const offset = area.layout.offsetOf(copy.member, page, slot);
    const lpn = area.layout.start(copy.segment) + offset;
    const onlyThere = offset < area.pointer[copy.segment] && area.seqInPlace.has(lpn);
    return onlyThere ? area.parts.backups.l2p[lpn] : own;
  }

  private fillSlot(copy: Copy, page: number, slot: number, source: number): void {
    const { layout } = this.area;
    const { array, contents, stats } = this.area.parts;
    const psn = (copy.spare * layout.pagesPerBlock + page) * layout.slotsPerPage + slot;
    const offset = layout.offsetOf(copy.member, page, slot);
    array.origin[psn] = array.origin[source];
    if (offset >= this.area.pointer[copy.segment]) {
      array.lpn[psn] = PADDING_LPN;
      contents?.pad(psn);
      stats.padding++;
      return;
    }
    const lpn = layout.start(copy.segment) + offset;
    this.area.copySlot(psn, lpn, source);
    if (page >= copy.inRam) {
      stats.reprogrammed++;
      return;
    }
    stats.moved[copy.reason]++;
    stats.movedByOrigin[(copy.reason << 8) | array.origin[psn]]++;
    if (this.area.probe !== null) this.area.probe.moved(lpn, source, psn);
  }

  /** Slots of the member that wait for their program unit move along; in a damaged segment they may be anywhere. */
  private movePending(segment: number, member: number, old: number, spare: number): void {
    const { area } = this;
    const { layout } = area;
    const { array } = area.parts;
    const damaged = (area.flags[segment] & SegmentFlag.damaged) !== 0;
    for (let offset = area.issuedOf(segment); offset < area.pointer[segment]; offset++) {
      if (layout.memberOf(offset) !== member) continue;
      const source = area.contentOf(segment, offset);
      const from = area.psnOf(segment, offset);
      const psn = from + (spare - old) * area.table.slotsPerMember;
      area.copySlot(psn, array.lpn[source], source);
      // What was filled in there will not be programmed.
      if (!damaged) area.eraser.forgetSlots(from, from + 1);
    }
  }

  /** No block is left for a unit whose program failed: its jobs fail, and of its slots only those with a backup stay. */
  private strand(segment: number, start: number): void {
    const { area } = this;
    const { scheduler, layout } = area;
    const { stats, completions } = area.parts;
    const at = segment * layout.unitSlots;
    for (let i = at; i < at + layout.unitSlots; i++) {
      if (area.jobs[i] < 0) continue;
      this.jobs.fail(area.jobs[i], FtlStatus.readOnly);
      scheduler.then(scheduler.fence(), completions, area.jobs[i] << 3);
    }
    area.jobs.fill(-1, at, at + layout.unitSlots);
    const end = Math.min(area.pointer[segment], Math.max(start, area.backedTo[segment]));
    area.table.valid[area.group[segment]] -= area.pointer[segment] - end;
    area.pointer[segment] = end;
    // They are kept in RAM, for good.
    stats.pending += end - start;
    stats.reprogrammed += end - start;
    area.flags[segment] |= SegmentFlag.frozen;
  }
}

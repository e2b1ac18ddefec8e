import { NandClass, NandStatus } from '@flashstack/nand-device';
import { BlockState } from '../block-table.js';
import { Done } from '../frontier-parts.js';
import { SlotFlag } from '../slot-contents.js';
import type { SegmentArea } from './segment-area.js';

/** What an argument of `nandDone` refers to, besides those of `Done`: a block that becomes a spare, or is retired. */
export const BlockDone = { spare: 3, retired: 4 } as const;

/** Erases groups that have been released and blocks that have been replaced; retires those that failed. */
export class GroupEraser {
  /** Physical blocks that failed and are not erased again. */
  readonly failing: Set<number> = new Set();
  /** Groups, and spare blocks, whose erase is in flight. */
  erasingGroups = 0;
  erasingBlocks = 0;
  /** Number of the last erase of a group or spare block; and of each that is in flight, by group and by block. */
  erases = 0;
  private readonly eraseOrder: Float64Array;
  /** Per group: the segment that was released and whose erase is in flight, −1: none; per segment: how many there are. */
  private readonly releasedBy: Int32Array;
  private readonly releasing: Int32Array;
  /** Groups whose erase is in flight and that were no segment's: a recovery found blocks of anyone in them. */
  private erasingUnowned = 0;
  private readonly discardOrder: Map<number, number> = new Map();
  private readonly area: SegmentArea;

  constructor(area: SegmentArea) {
    this.area = area;
    this.eraseOrder = new Float64Array(area.table.blocks);
    this.releasedBy = new Int32Array(area.table.blocks).fill(-1);
    this.releasing = new Int32Array(area.layout.segments);
  }

  /** Number of the oldest erase that is not done; Infinity if there is none. */
  oldestErase(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const order of this.discardOrder.values()) oldest = Math.min(oldest, order);
    if (this.erasingGroups === 0) return oldest;
    for (let group = 0; group < this.area.table.blocks; group++) {
      if (this.area.table.state[group] === BlockState.erasing) oldest = Math.min(oldest, this.eraseOrder[group]);
    }
    return oldest;
  }

  /** A segment is released: its group is erased. */
  eraseReleased(segment: number, group: number): void {
    this.eraseGroup(group);
    this.erasingUnowned--;
    this.releasing[segment]++;
    this.releasedBy[group] = segment;
  }

  /** The last of the erases without which a power cut could bring back what the segment held before; 0: there is none. */
  eraseNeededBy(segment: number): number {
    return this.releasing[segment] + this.erasingUnowned + this.erasingBlocks > 0 ? this.erases : 0;
  }

  /** Erases what is programmed of a group that holds nothing valid. */
  eraseGroup(group: number): void {
    const { table, blocks, scheduler } = this.area;
    const { stats, completions } = this.area.parts;
    table.state[group] = BlockState.erasing;
    table.valid[group] = 0;
    table.eraseCount[group]++;
    this.erasingGroups++;
    this.erasingUnowned++;
    this.eraseOrder[group] = ++this.erases;
    if (this.area.probe !== null) this.area.probe.erasing(group);
    let all = 0;
    for (let member = 0; member < table.members; member++) {
      const physical = blocks.physical(group, member);
      if (blocks.isErased(physical)) continue;
      if (this.failing.has(physical)) {
        // Nobody reads what is retired: like an erase, that is not undone.
        all = scheduler.join(all, scheduler.fence());
        continue;
      }
      const token = this.eraseBlock(physical, 0);
      all = all === 0 ? token : scheduler.join(all, token);
      stats.erases++;
    }
    scheduler.then(all, completions, (group << 3) | Done.erase);
  }

  private eraseBlock(physical: number, after: number): number {
    const { array, stats } = this.area.parts;
    const token = this.area.scheduler.erase(physical, NandClass.gcErase, after);
    if (array.reliability !== null && this.area.scheduler.status[token] === NandStatus.eraseFailed) {
      stats.eraseFailures++;
      this.failing.add(physical);
    }
    return token;
  }

  /** The erase of a group is done. */
  groupErased(group: number): void {
    const { table, blocks } = this.area;
    this.erasingGroups--;
    if (this.releasedBy[group] < 0) this.erasingUnowned--;
    else this.releasing[this.releasedBy[group]]--;
    this.releasedBy[group] = -1;
    for (let member = 0; member < table.members; member++) this.blockErased(blocks.physical(group, member));
    if (blocks.complete(group)) table.release(group);
    if (this.area.probe !== null) this.area.probe.erased(group);
  }

  /** A block that belongs to no group is erased after everything issued so far, or retired if it has failed. */
  discard(physical: number, failed: boolean): void {
    const { scheduler } = this.area;
    const { completions, stats } = this.area.parts;
    this.erasingBlocks++;
    this.discardOrder.set(physical, ++this.erases);
    const after = scheduler.fence();
    if (failed) {
      this.failing.add(physical);
      scheduler.then(after, completions, (physical << 3) | BlockDone.retired);
      return;
    }
    stats.erases++;
    scheduler.then(this.eraseBlock(physical, after), completions, (physical << 3) | BlockDone.spare);
  }

  /** The discarding of a block is done. */
  discarded(physical: number): void {
    this.erasingBlocks--;
    this.discardOrder.delete(physical);
    this.blockErased(physical);
    if (this.area.parts.array.bad[physical] === 0) this.area.blocks.addSpare(physical);
  }

  /** Its slots give up their content words; a block that failed is retired. */
  private blockErased(physical: number): void {
    const { array, stats } = this.area.parts;
    const slots = this.area.table.slotsPerMember;
    this.forgetSlots(physical * slots, (physical + 1) * slots);
    if (!this.failing.delete(physical)) return;
    array.markBad(physical);
    stats.retired++;
    if (this.area.probe !== null) this.area.probe.retired(physical);
  }

  /** Slots from `first` up to `end` give up their content words. */
  forgetSlots(first: number, end: number): void {
    const { flags, word } = this.area.parts.array;
    if (flags === null || word === null) return;
    for (let psn = first; psn < end; psn++) {
      if ((flags[psn] & SlotFlag.handle) !== 0) this.area.parts.client.wordDead(word[psn]);
      flags[psn] = 0;
    }
  }

  /** Nothing is in flight any more: power loss. */
  reset(): void {
    this.failing.clear();
    this.erasingGroups = 0;
    this.erasingBlocks = 0;
    this.erases = 0;
    this.releasedBy.fill(-1);
    this.releasing.fill(0);
    this.erasingUnowned = 0;
    this.discardOrder.clear();
  }
}

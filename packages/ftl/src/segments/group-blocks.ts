import type { NandArray } from '@flashstack/nand-device';
import { BlockState, BlockTable } from '../block-table.js';
import type { SegmentLayout } from './layout.js';

/**
 * The groups of erase blocks behind segments, and the spare blocks of each unit. Group j of a set has the blocks with
 * indices `j · depth …` of the set's units, unless spares of the same units have taken their places: the exception list of
 * a drive. The groups are the allocation blocks of `table`, the sets its domains.
 */
export class GroupBlocks {
  readonly table: BlockTable;
  readonly layout: SegmentLayout;
  /** Per unit: spare blocks that are erased. */
  readonly spares: readonly number[][];
  /** Number of the last opening of a block. */
  openings = 0;
  private readonly array: NandArray;

  constructor(array: NandArray, layout: SegmentLayout) {
    this.array = array;
    this.layout = layout;
    const { plan, sets, depth, members } = layout;
    const perSet = Math.max(0, Math.floor((plan.range.count - plan.spareBlocks) / depth));
    this.spares = Array.from({ length: array.geometry.units }, () => []);
    const memberBlock = new Int32Array(sets * perSet * members);
    const groups = { domains: sets, blocksPerDomain: perSet, members, memberBlock };
    for (let at = 0; at < memberBlock.length; at++) {
      memberBlock[at] = this.nominal(Math.floor(at / members), at % members, perSet);
    }
    this.table = new BlockTable(array, groups, new Int32Array(0), true, false, plan.range);
    this.collectSpares();
    for (let group = 0; group < this.table.blocks; group++) this.complete(group);
  }

  /** Groups of a set that hold data or could. */
  usable(set: number): number {
    const { state, blocksPerDomain } = this.table;
    let count = 0;
    for (let group = set * blocksPerDomain; group < (set + 1) * blocksPerDomain; group++) {
      if (state[group] !== BlockState.bad) count++;
    }
    return count;
  }

  /** The physical block that a member of a group has if no exception has been made. */
  nominal(group: number, member: number, perSet: number = this.table.blocksPerDomain): number {
    const { layout } = this;
    const { plan, units, depth } = layout;
    const set = Math.floor(group / perSet);
    const index = plan.range.first + (group - set * perSet) * depth + Math.floor(member / units);
    return layout.unitOf(set, member) * this.array.geometry.blocksPerPlane + index;
  }

  /** True if the physical block belongs to the area, as a member or a spare. */
  owns(physical: number): boolean {
    const { first, count } = this.layout.plan.range;
    const index = physical % this.array.geometry.blocksPerPlane;
    return index >= first && index < first + count;
  }

  physical(group: number, member: number): number {
    return this.table.memberBlock[group * this.table.members + member];
  }

  /** An erased spare block of the unit of a member; a free group of the set is given up for it if need be. −1: none. */
  takeSpare(set: number, member: number): number {
    const spares = this.spares[this.layout.unitOf(set, member)];
    if (spares.length === 0 && this.table.freeCount[set] > 0) this.giveUp(this.table.peekFree(set, 'oldest'));
    return spares.pop() ?? -1;
  }

  /** A good, erased block belongs to no group any more. */
  addSpare(physical: number): void {
    this.spares[this.array.geometry.unitOfBlock(physical)].push(physical);
  }

  /** Replaces the bad members of an erased group by spares, or gives the group up. @returns true if it is complete. */
  complete(group: number): boolean {
    const { table, array } = this;
    const set = table.domainOf(group);
    for (let member = 0; member < table.members; member++) {
      if (array.bad[this.physical(group, member)] === 0) continue;
      const spare = this.spares[this.layout.unitOf(set, member)].pop();
      if (spare === undefined) {
        this.giveUp(group);
        return false;
      }
      table.exchange(group, member, spare);
    }
    table.width[group] = table.members;
    table.capacity[group] = table.slotsPerBlock;
    return true;
  }

  /** True if nothing has been programmed in the block since its erase. */
  isErased(physical: number): boolean {
    return this.array.nextPage[physical] === 0 && this.array.garbage[physical] === 0;
  }

  /** The good members of a group become spares. */
  giveUp(group: number): void {
    const { table, array } = this;
    if (table.state[group] === BlockState.free) table.retire(group);
    table.state[group] = BlockState.bad;
    table.capacity[group] = 0;
    for (let member = 0; member < table.members; member++) {
      const physical = this.physical(group, member);
      table.blockOfPhysical[physical] = -1;
      if (array.bad[physical] === 0) this.addSpare(physical);
    }
    table.width[group] = 0;
  }

  /** All good blocks behind those of the groups. */
  private collectSpares(): void {
    const { array, table } = this;
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      if (this.owns(physical) && !table.covers(physical) && array.bad[physical] === 0) this.addSpare(physical);
    }
  }
}

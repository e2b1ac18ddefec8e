import type { NandArray } from '@flashstack/nand-device';
import { BlockState } from '../block-table.js';
import type { GroupBlocks } from './group-blocks.js';

/** The blocks that a segment's data was found in, by member of its group. */
export type FoundBlocks = Map<number, number>;

/**
 * Puts groups together again after a power cut: blocks with data that counts keep their place, the others go where they
 * belong, and spares fill the gaps.
 */
export class Reassembly {
  /** Per segment with data: its group. */
  readonly groupOf: Map<number, number> = new Map();
  /** Segments with a member for which there is no good block. */
  readonly incomplete: Set<number> = new Set();
  private readonly blocks: GroupBlocks;
  private readonly array: NandArray;
  private readonly taken: Uint8Array;
  private readonly segmentOf: Int32Array;
  /** Groups that have been given up. */
  private readonly gone: Uint8Array;
  /** Per unit: good blocks without a place. */
  private readonly pool: number[][];

  constructor(array: NandArray, blocks: GroupBlocks, found: ReadonlyMap<number, FoundBlocks>) {
    this.array = array;
    this.blocks = blocks;
    this.taken = new Uint8Array(array.geometry.blocks);
    this.segmentOf = new Int32Array(blocks.table.blocks).fill(-1);
    this.gone = new Uint8Array(blocks.table.blocks);
    this.pool = blocks.spares.map(() => []);
    for (const members of found.values()) for (const physical of members.values()) this.taken[physical] = 1;
    this.chooseGroups(found);
    this.placeMembers(found);
    for (let physical = 0; physical < array.geometry.blocks; physical++) {
      if (blocks.owns(physical) && this.taken[physical] === 0 && array.bad[physical] === 0) this.free(physical);
    }
    for (const group of this.groupOf.values()) this.fill(group);
    for (let group = 0; group < blocks.table.blocks; group++) if (this.segmentOf[group] < 0) this.fill(group);
    this.adopt();
  }

  /** A segment goes on in a group of which it has a block in the proper place, or in any other. */
  private chooseGroups(found: ReadonlyMap<number, FoundBlocks>): void {
    for (const [segment, members] of found) {
      for (const [member, physical] of members) {
        const home = this.homeOf(segment, member, physical);
        if (home < 0 || this.segmentOf[home] >= 0) continue;
        this.assign(segment, home);
        break;
      }
    }
    for (const segment of found.keys()) {
      if (this.groupOf.has(segment)) continue;
      const { blocksPerDomain } = this.blocks.table;
      let group = this.blocks.layout.setOf(segment) * blocksPerDomain;
      while (this.segmentOf[group] >= 0) group++;
      this.assign(segment, group);
    }
  }

  private homeOf(segment: number, member: number, physical: number): number {
    const { layout, table } = this.blocks;
    const index = (physical % this.array.geometry.blocksPerPlane) - layout.plan.range.first;
    const inSet = Math.floor(index / layout.depth);
    const group = layout.setOf(segment) * table.blocksPerDomain + inSet;
    return inSet < table.blocksPerDomain && this.blocks.nominal(group, member) === physical ? group : -1;
  }

  private assign(segment: number, group: number): void {
    this.groupOf.set(segment, group);
    this.segmentOf[group] = segment;
  }

  private placeMembers(found: ReadonlyMap<number, FoundBlocks>): void {
    const { table } = this.blocks;
    for (let group = 0; group < table.blocks; group++) {
      const own = found.get(this.segmentOf[group]);
      for (let member = 0; member < table.members; member++) {
        const nominal = this.blocks.nominal(group, member);
        const kept = own?.get(member);
        const usable = this.taken[nominal] === 0 && this.array.bad[nominal] === 0;
        table.memberBlock[group * table.members + member] = kept ?? (usable ? nominal : -1);
        if (kept === undefined && usable) this.taken[nominal] = 1;
      }
    }
  }

  private free(physical: number): void {
    this.pool[this.array.geometry.unitOfBlock(physical)].push(physical);
  }

  /** Gives each missing member of a group a block of its unit; without one, a group without data is given up. */
  private fill(group: number): void {
    const { table, layout } = this.blocks;
    const set = table.domainOf(group);
    for (let at = group * table.members; at < (group + 1) * table.members; at++) {
      if (this.gone[group] !== 0) return;
      if (table.memberBlock[at] >= 0) continue;
      const member = at - group * table.members;
      const pool = this.pool[layout.unitOf(set, member)];
      if (pool.length === 0) this.giveUp(this.segmentOf[group] < 0 ? group : this.spareGroup(set, member));
      if (this.gone[group] === 0) table.memberBlock[at] = this.fromPool(pool, group, member);
    }
  }

  private fromPool(pool: number[], group: number, member: number): number {
    const erased = pool.findIndex((physical) => this.blocks.isErased(physical));
    const [physical] = pool.splice(erased < 0 ? pool.length - 1 : erased, 1);
    if (physical !== undefined) return physical;
    // There is no good block in the unit: the segment keeps what it has.
    this.incomplete.add(this.segmentOf[group]);
    return this.blocks.nominal(group, member);
  }

  /** The last group of a set that holds nothing and has a block for a member; −1 if there is none. */
  private spareGroup(set: number, member: number): number {
    const { table } = this.blocks;
    for (let group = (set + 1) * table.blocksPerDomain - 1; group >= set * table.blocksPerDomain; group--) {
      const has = table.memberBlock[group * table.members + member] >= 0;
      if (has && this.segmentOf[group] < 0 && this.gone[group] === 0) return group;
    }
    return -1;
  }

  private giveUp(group: number): void {
    if (group < 0) return;
    const { table } = this.blocks;
    this.gone[group] = 1;
    for (let member = 0; member < table.members; member++) {
      const physical = table.memberBlock[group * table.members + member];
      if (physical >= 0) this.free(physical);
    }
  }

  /** Hands the result to the table: groups with data are open, the others given up, free, or still to be erased. */
  private adopt(): void {
    const { array, blocks } = this;
    const { table } = blocks;
    table.load(array);
    table.blockOfPhysical.fill(-1);
    blocks.spares.forEach((spares, unit) => {
      spares.length = 0;
      for (const physical of this.pool[unit]) if (blocks.isErased(physical)) spares.push(physical);
    });
    for (let group = 0; group < table.blocks; group++) {
      if (this.gone[group] !== 0) {
        table.state[group] = BlockState.bad;
        table.capacity[group] = 0;
        table.width[group] = 0;
        continue;
      }
      for (let member = 0; member < table.members; member++) {
        table.blockOfPhysical[blocks.physical(group, member)] = group;
      }
    }
  }

  /** Blocks without a place that must be erased before they are spares. */
  unclean(): number[] {
    return this.pool.flatMap((pool) => pool.filter((physical) => !this.blocks.isErased(physical)));
  }

  /** Groups that hold nothing. */
  empty(): number[] {
    const groups: number[] = [];
    for (let group = 0; group < this.gone.length; group++) {
      if (this.gone[group] === 0 && this.segmentOf[group] < 0) groups.push(group);
    }
    return groups;
  }
}

import type { Geometry } from '@flashstack/nand-device';
import type { BlockTable } from '../block-table.js';

/**
 * Where logical slots belong. They are striped over the domains by program units; inside a domain, N consecutive ones (N:
 * slots of an allocation block) form a logical block. Logical blocks are numbered by domain, `logicalBlocks` each.
 */
export class HybridLayout {
  readonly domains: number;
  /** Slots of an allocation block. */
  readonly slotsPerBlock: number;
  /** Slots of a program unit. */
  readonly unit: number;
  /** Logical blocks of a domain. */
  readonly logicalBlocks: number;
  readonly logicalSlots: number;
  /** Of the slot that `locate` was asked for. */
  domain = 0;
  lbn = 0;
  offset = 0;
  private readonly table: BlockTable;
  /** log2 of the slots of a block, of a unit, and of the domains; −1 unless all are powers of two. */
  private readonly blockShift: number;
  private readonly unitShift: number;
  private readonly domainShift: number;
  /** Domain of each stripe, and stripe of each domain. */
  private readonly order: Int32Array;
  private readonly stripeOf: Int32Array;
  /** Slot position in a block → member, and slot in that member. */
  private readonly member: Int32Array;
  private readonly slot: Int32Array;

  constructor(table: BlockTable, geometry: Geometry, unit: number, order: Int32Array, logicalSlots: number) {
    this.table = table;
    this.domains = table.domains;
    this.slotsPerBlock = table.slotsPerBlock;
    this.unit = unit;
    this.logicalSlots = logicalSlots;
    this.order = order;
    this.stripeOf = new Int32Array(order.length);
    for (let stripe = 0; stripe < order.length; stripe++) this.stripeOf[order[stripe]] = stripe;
    const stripes = Math.ceil(Math.ceil(logicalSlots / unit) / table.domains);
    this.logicalBlocks = Math.ceil((stripes * unit) / table.slotsPerBlock);
    this.member = new Int32Array(table.slotsPerBlock);
    this.slot = new Int32Array(table.slotsPerBlock);
    const sizes = [table.slotsPerBlock, unit, table.domains];
    const shifts = sizes.map((size) => ((size & (size - 1)) === 0 ? 31 - Math.clz32(size) : -1));
    [this.blockShift, this.unitShift, this.domainShift] = shifts.includes(-1) ? [-1, -1, -1] : shifts;
    this.fillPositions(geometry);
  }

  /** Leaves domain, logical block and offset of a slot in the fields of these names. */
  locate(lpn: number): void {
    const { unit, domains, slotsPerBlock, blockShift } = this;
    if (blockShift >= 0) {
      const row = lpn >> (this.unitShift + this.domainShift);
      const stripe = (lpn >> this.unitShift) & (domains - 1);
      const local = (row << this.unitShift) | (lpn & (unit - 1));
      this.domain = this.order[stripe];
      this.lbn = this.domain * this.logicalBlocks + (local >> blockShift);
      this.offset = local & (slotsPerBlock - 1);
      return;
    }
    const chunk = unit === 1 ? lpn : (lpn / unit) | 0;
    const row = domains === 1 ? chunk : (chunk / domains) | 0;
    const local = row * unit + lpn - chunk * unit;
    const block = (local / slotsPerBlock) | 0;
    this.domain = domains === 1 ? 0 : this.order[chunk - row * domains];
    this.lbn = this.domain * this.logicalBlocks + block;
    this.offset = local - block * slotsPerBlock;
  }

  /** Number of a slot in the order of logical blocks: those of a logical block follow each other. */
  keyOf(lpn: number): number {
    this.locate(lpn);
    return this.lbn * this.slotsPerBlock + this.offset;
  }

  /** Domain of a logical block. */
  domainOf(lbn: number): number {
    return this.domains === 1 ? 0 : (lbn / this.logicalBlocks) | 0;
  }

  /** The slot at an offset of a logical block; −1 if it is beyond the logical size. */
  lpnAt(lbn: number, offset: number): number {
    const { unit, domains } = this;
    const domain = this.domainOf(lbn);
    const local = (lbn - domain * this.logicalBlocks) * this.slotsPerBlock + offset;
    const row = unit === 1 ? local : (local / unit) | 0;
    const stripe = domains === 1 ? 0 : this.stripeOf[domain];
    const lpn = (row * domains + stripe) * unit + local - row * unit;
    return lpn < this.logicalSlots ? lpn : -1;
  }

  /** Physical slot at a position of an allocation block, in the order in which a frontier fills it. */
  psnAt(block: number, position: number): number {
    const { members, memberBlock, slotsPerMember } = this.table;
    if (members === 1) return memberBlock[block] * slotsPerMember + position;
    return memberBlock[block * members + this.member[position]] * slotsPerMember + this.slot[position];
  }

  private fillPositions(geometry: Geometry): void {
    const { table, unit } = this;
    const { slotsPerPage, programPages } = geometry;
    const planes = unit / (programPages * slotsPerPage);
    const perRow = table.members / planes;
    for (let at = 0; at < table.slotsPerBlock; at++) {
      const inUnit = at % unit;
      const index = Math.floor(inUnit / slotsPerPage);
      const units = (at - inUnit) / unit;
      const row = Math.floor(units / perRow);
      const page = row * programPages + Math.floor(index / planes);
      this.member[at] = (units - row * perRow) * planes + (index % planes);
      this.slot[at] = page * slotsPerPage + (inUnit % slotsPerPage);
    }
  }
}

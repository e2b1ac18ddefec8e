import type { NandArray } from '@flashstack/nand-device';
import { diesInOrder } from '../allocation.js';
import type { BlockRange } from '../block-table.js';
import { pairingDistance, safePages } from '../paired-risk.js';

/** On which units the erase blocks of a segment lie (specification section 17). */
export type SegmentPlacement = 'striped' | 'rotating' | 'channel';

/** A data area in numbers: the slots that are mapped by segments, and the flash blocks behind them. */
export interface SegmentPlan {
  /** First slot of the data area. */
  readonly first: number;
  /** End of the data area: slots of the whole drive. */
  readonly end: number;
  /** Slots from the start of a segment to that of the next. */
  readonly stride: number;
  /** Slots of a segment that can be written, at most `stride`. */
  readonly capacity: number;
  /** Parallel units that a segment is striped over. */
  readonly units: number;
  readonly placement: SegmentPlacement;
  /** Block indices of every plane. */
  readonly range: BlockRange;
  /** Block indices of every plane that replace bad blocks and those that a power cut spoilt. */
  readonly spareBlocks: number;
  /** The first write at offset 0 of a segment that has been written releases it. */
  readonly overwrite: boolean;
}

/**
 * Where the slots of a segment lie in its group of erase blocks. The group has `depth` levels of one block on each of
 * the segment's units; a level is filled before the next one is begun, row by row: a row is one program unit (planes ×
 * pages of a word line × slots of a page) on each lane, a lane being the units that are programmed together.
 */
export class SegmentLayout {
  readonly plan: SegmentPlan;
  readonly segments: number;
  /** Units in order: those of set i from `i * units` on. A group lies on the units of one set. */
  readonly unitsInOrder: Int32Array;
  readonly sets: number;
  readonly units: number;
  readonly depth: number;
  /** Erase blocks of a group, by level, then by unit of the set. */
  readonly members: number;
  readonly planes: number;
  readonly lanes: number;
  readonly unitSlots: number;
  readonly rowSlots: number;
  readonly rows: number;
  readonly levelSlots: number;
  readonly slotsPerPage: number;
  readonly pagesPerBlock: number;
  readonly programPages: number;
  /** Per page of a block: the page whose program makes it safe from a torn upper page. */
  readonly safeAfter: Int32Array;
  /** Pages that one may lie before the page that makes it safe; 0: none is ever at risk. */
  readonly riskPages: number;

  constructor(array: NandArray, plan: SegmentPlan, multiPlane: boolean) {
    const g = array.geometry;
    this.plan = plan;
    this.segments = Math.ceil((plan.end - plan.first) / plan.stride);
    this.units = plan.units;
    this.sets = g.units / plan.units;
    // Channels first, so that a segment gets as many as it can; or one channel after the other.
    const dies = diesInOrder(g, plan.placement === 'channel' ? 'WDCP' : 'CWDP');
    this.unitsInOrder = Int32Array.from({ length: g.units }, (_, i) => {
      return dies[Math.floor(i / g.planes)] * g.planes + (i % g.planes);
    });
    this.planes = multiPlane && plan.units % g.planes === 0 ? g.planes : 1;
    this.lanes = plan.units / this.planes;
    this.slotsPerPage = g.slotsPerPage;
    this.pagesPerBlock = g.pagesPerBlock;
    this.programPages = g.programPages;
    this.unitSlots = this.planes * g.programPages * g.slotsPerPage;
    this.rowSlots = this.lanes * this.unitSlots;
    this.rows = g.pagesPerBlock / g.programPages;
    this.levelSlots = this.rowSlots * this.rows;
    this.depth = Math.ceil(plan.capacity / this.levelSlots);
    this.members = this.depth * this.units;
    this.safeAfter = safePages(array);
    this.riskPages = pairingDistance(this.safeAfter);
  }

  /** Segment that holds slot `lpn` of the data area. */
  segmentOf(lpn: number): number {
    return Math.floor((lpn - this.plan.first) / this.plan.stride);
  }

  /** First slot of a segment. */
  start(segment: number): number {
    return this.plan.first + segment * this.plan.stride;
  }

  /** Slots of a segment that can be written: fewer at the end of the drive. */
  capacityOf(segment: number): number {
    return Math.min(this.plan.capacity, this.plan.end - this.start(segment));
  }

  /** Set of units on which the group of a segment lies. */
  setOf(segment: number): number {
    return segment % this.sets;
  }

  /** Segments whose groups lie on a set. */
  segmentsOf(set: number): number {
    return Math.ceil((this.segments - set) / this.sets);
  }

  /** Unit of a member of the groups of a set. */
  unitOf(set: number, member: number): number {
    return this.unitsInOrder[set * this.units + (member % this.units)];
  }

  /** Slots that are programmed or on their way when the first `pointer` are written and full units have been issued. */
  issued(segment: number, pointer: number): number {
    return pointer === this.capacityOf(segment) ? pointer : pointer - (pointer % this.unitSlots);
  }

  /** Member of a group that holds a slot of the segment. */
  memberOf(offset: number): number {
    const level = Math.floor(offset / this.levelSlots);
    const inRow = offset % this.rowSlots;
    const lane = Math.floor(inRow / this.unitSlots);
    const plane = Math.floor((inRow % this.unitSlots) / this.slotsPerPage) % this.planes;
    return level * this.units + lane * this.planes + plane;
  }

  /** Page, within its block, of a slot of the segment. */
  pageOf(offset: number): number {
    const row = Math.floor((offset % this.levelSlots) / this.rowSlots);
    const index = Math.floor((offset % this.unitSlots) / this.slotsPerPage);
    return row * this.programPages + Math.floor(index / this.planes);
  }

  /** The slot of the segment that a slot of a member is: the inverse of the two above. */
  offsetOf(member: number, page: number, slot: number): number {
    const level = Math.floor(member / this.units);
    const inSet = member % this.units;
    const plane = inSet % this.planes;
    const row = Math.floor(page / this.programPages);
    return (
      level * this.levelSlots +
      row * this.rowSlots +
      ((inSet - plane) / this.planes) * this.unitSlots +
      ((page % this.programPages) * this.planes + plane) * this.slotsPerPage +
      slot
    );
  }

  /** Pages of a member that are programmed when the first `issued` slots of its segment are. */
  pagesWritten(member: number, issued: number): number {
    const rest = issued - Math.floor(member / this.units) * this.levelSlots;
    if (rest <= 0) return 0;
    if (rest >= this.levelSlots) return this.pagesPerBlock;
    const lane = Math.floor((member % this.units) / this.planes);
    const row = Math.floor(rest / this.rowSlots);
    const further = Math.ceil((rest % this.rowSlots) / this.unitSlots) > lane ? 1 : 0;
    return (row + further) * this.programPages;
  }

  /**
   * True if a slot that has been issued could still be destroyed by a later program of the segment, the first `issued` slots
   * of which have been issued.
   */
  isExposed(offset: number, issued: number): boolean {
    if (this.riskPages === 0) return false;
    const last = this.pagesWritten(this.memberOf(offset), issued) - 1;
    return this.safeAfter[this.pageOf(offset)] > last;
  }

  /** The first slot that is not safe in its place: pending, or exposed. `issued` as above. */
  firstUnsafe(issued: number): number {
    if (this.riskPages === 0) return issued;
    const levelStart = issued - (issued % this.levelSlots);
    const from = Math.max(levelStart, issued - (issued % this.rowSlots) - this.riskPages * this.rowSlots);
    for (let offset = from; offset < issued; offset++) if (this.isExposed(offset, issued)) return offset;
    return issued;
  }

  /** Slots of a segment that may be unsafe at a time. */
  get mostUnsafe(): number {
    return this.unitSlots - 1 + this.riskPages * this.units * this.slotsPerPage;
  }
}

import { NandClass, type NandScheduler, NandStatus, PADDING_LPN } from '@flashstack/nand-device';
import type { BlockTable } from '../block-table.js';
import { Done } from '../frontier-parts.js';
import type { FtlProbe } from '../probe.js';
import { UnitRecords } from '../unit-records.js';
import type { AreaParts } from './area-parts.js';
import { GroupBlocks } from './group-blocks.js';
import { GroupEraser } from './group-eraser.js';
import type { SegmentLayout } from './layout.js';

/** Bits of `SegmentArea.flags`. */
export const SegmentFlag = {
  /** A power cut left garbage where the next slots belong, or destroyed pages: blocks must be replaced first. */
  damaged: 1,
  /** No spare block is left for one that failed: the segment takes no more writes before it is released. */
  frozen: 2,
  /** Takes no more writes because the host said so. */
  finished: 4,
  /** Blocks have been replaced after a power cut; no slot is added before the old ones are erased. */
  settling: 8,
} as const;

/** What `SegmentArea.prepare` found. */
export const Readiness = { ready: 0, wait: 1, refused: 2 } as const;

/**
 * The data area of an append-only FTL: segments written in order into groups of erase blocks and erased as a whole. The
 * map has one entry per segment; where a slot lies in its group follows from its offset.
 */
export class SegmentArea {
  readonly layout: SegmentLayout;
  readonly blocks: GroupBlocks;
  readonly table: BlockTable;
  /** Per segment: its group (−1: none), slots written, `SegmentFlag` bits, number of releases. */
  readonly group: Int32Array;
  readonly pointer: Int32Array;
  readonly flags: Uint8Array;
  readonly life: Int32Array;
  /** Per segment: the slots from `backedFrom` up to `backedTo` that are not safe in their place have a backup. */
  readonly backedFrom: Int32Array;
  readonly backedTo: Int32Array;
  /**
   * After a power cut, for slots that are in a backup only: the sequence number that keeps those of a segment in
   * order when they are written to their place. A backup has a later one than its slot had.
   */
  readonly seqInPlace: Map<number, number> = new Map();
  /**
   * Per segment: sequence number of its last reset, or of the last release that a recovery found; what is older is not its any
   * more. A record that outlives power cuts, as drives keep one of their zones: without it an erase that is cut short would
   * leave a part of what was reset.
   */
  readonly resetSeq: Float64Array;
  /** Slots whose data was lost when they were moved. */
  readonly lost: Set<number> = new Set();
  /** Jobs of the slots that wait for their program unit, `unitSlots` per segment. */
  readonly jobs: Int32Array;
  readonly records: UnitRecords;
  readonly eraser: GroupEraser;
  /** What a recovery found is being made safe: nothing is written or released before. */
  isHeld = false;
  /** A segment could not be opened, because too many blocks have failed. */
  exhausted = false;
  scheduler: NandScheduler;
  probe: FtlProbe | null = null;
  readonly parts: AreaParts;
  private readonly ppns: Int32Array;

  constructor(parts: AreaParts) {
    const { array, layout } = parts;
    this.parts = parts;
    this.layout = layout;
    this.scheduler = parts.scheduler;
    this.blocks = new GroupBlocks(array, layout);
    this.table = this.blocks.table;
    this.group = new Int32Array(layout.segments).fill(-1);
    this.pointer = new Int32Array(layout.segments);
    this.flags = new Uint8Array(layout.segments);
    this.life = new Int32Array(layout.segments);
    this.resetSeq = new Float64Array(layout.segments);
    this.backedFrom = new Int32Array(layout.segments);
    this.backedTo = new Int32Array(layout.segments);
    this.jobs = new Int32Array(layout.segments * layout.unitSlots).fill(-1);
    this.records = new UnitRecords(layout.unitSlots);
    this.eraser = new GroupEraser(this);
    this.ppns = new Int32Array(array.geometry.planes);
  }

  /** Physical slot of a slot of a segment that has a group. */
  psnOf(segment: number, offset: number): number {
    const { layout } = this;
    const { units, planes, slotsPerPage, unitSlots, levelSlots, rowSlots } = layout;
    const level = Math.floor(offset / levelSlots);
    const inLevel = offset - level * levelSlots;
    const row = Math.floor(inLevel / rowSlots);
    const inRow = inLevel - row * rowSlots;
    const lane = Math.floor(inRow / unitSlots);
    const inUnit = inRow - lane * unitSlots;
    const index = Math.floor(inUnit / slotsPerPage);
    const plane = index % planes;
    const member = level * units + lane * planes + plane;
    const physical = this.table.memberBlock[this.group[segment] * layout.members + member];
    const page = row * layout.programPages + Math.floor(index / planes);
    return (physical * layout.pagesPerBlock + page) * slotsPerPage + (inUnit - index * slotsPerPage);
  }

  /** Slots of a segment that have been issued, the padding behind its end not counted. */
  issuedOf(segment: number): number {
    const pointer = this.pointer[segment];
    return (this.flags[segment] & SegmentFlag.finished) !== 0 ? pointer : this.layout.issued(segment, pointer);
  }

  /** True if no slot can be added. */
  isFull(segment: number): boolean {
    return (
      this.pointer[segment] === this.layout.capacityOf(segment) || (this.flags[segment] & SegmentFlag.finished) !== 0
    );
  }

  /** True if slots can be added to a segment that holds some. */
  isPartlyWritten(segment: number): boolean {
    return this.pointer[segment] > 0 && !this.isFull(segment) && (this.flags[segment] & SegmentFlag.frozen) === 0;
  }

  /** The physical slot that holds a slot below the pointer now. */
  contentOf(segment: number, offset: number): number {
    const damaged = (this.flags[segment] & SegmentFlag.damaged) !== 0;
    const lpn = this.layout.start(segment) + offset;
    return damaged && this.seqInPlace.has(lpn) ? this.parts.backups.l2p[lpn] : this.psnOf(segment, offset);
  }

  /** Fills slot `psn` with the content of slot `source`, a copy of `lpn` that may be its backup. */
  copySlot(psn: number, lpn: number, source: number): void {
    const { array, contents } = this.parts;
    array.lpn[psn] = lpn;
    array.origin[psn] = array.origin[source];
    if (contents === null || array.seq === null) return;
    contents.fill(psn, lpn, source, -1);
    if (source !== this.parts.backups.l2p[lpn]) return;
    array.seq[psn] = this.seqInPlace.get(lpn) ?? array.seq[psn];
  }

  /** Makes the segment ready for its next slot: opens a group, mends what a power cut left. A `Readiness`. */
  prepare(segment: number): number {
    const flags = this.flags[segment];
    if (this.group[segment] >= 0 && flags === 0) return Readiness.ready;
    if ((flags & SegmentFlag.frozen) !== 0) return Readiness.refused;
    if (this.group[segment] < 0) return this.open(segment);
    if ((flags & SegmentFlag.damaged) !== 0 && this.parts.mender.mend(segment)) return this.prepare(segment);
    if ((flags & SegmentFlag.damaged) === 0 && this.eraser.erasingBlocks === 0) {
      this.flags[segment] = 0;
      return Readiness.ready;
    }
    if (this.eraser.erasingGroups + this.eraser.erasingBlocks > 0) return Readiness.wait;
    this.flags[segment] |= SegmentFlag.frozen;
    return Readiness.refused;
  }

  private open(segment: number): number {
    const { table, layout, blocks } = this;
    const set = layout.setOf(segment);
    if (table.freeCount[set] === 0) {
      if (this.eraser.erasingGroups > 0) return Readiness.wait;
      this.exhausted = true;
      return Readiness.refused;
    }
    const group = table.open(set, 'youngest', 0);
    this.group[segment] = group;
    blocks.openings++;
    const { openSeq } = this.parts.array;
    for (let member = 0; member < layout.members; member++) openSeq[blocks.physical(group, member)] = blocks.openings;
    if (this.probe !== null) this.probe.opened(group, 0);
    return Readiness.ready;
  }

  /**
   * Adds up to `count` slots, which fit, to a segment that is ready. `from` and `job` as for `Frontiers.append`. @returns how
   * many: fewer if a program fails for good.
   */
  append(segment: number, count: number, origin: number, from: number, job: number): number {
    const { unitSlots } = this.layout;
    const first = this.pointer[segment];
    const end = first + count;
    let unit = first - (first % unitSlots);
    while (this.pointer[segment] < end) {
      const offset = this.pointer[segment];
      const stop = Math.min(end, unit + unitSlots);
      this.fill(segment, offset, stop, unit, origin, from, job);
      this.table.valid[this.group[segment]] += stop - offset;
      this.table.clock += stop - offset;
      this.parts.stats.pending += stop - offset;
      this.pointer[segment] = stop;
      unit += unitSlots;
      if (stop === unit) this.issue(segment, unit);
      else if (stop === this.layout.capacityOf(segment)) this.close(segment);
      if (stop === this.layout.capacityOf(segment)) this.closeGroup(segment);
      if (this.pointer[segment] !== stop) return stop - first;
    }
    return count;
  }

  /** Fills the columns of the slots from `offset` to `stop`, all of the program unit that begins at `unit`. */
  private fill(
    segment: number,
    offset: number,
    stop: number,
    unit: number,
    origin: number,
    from: number,
    job: number,
  ): void {
    const { array, contents } = this.parts;
    const { layout, jobs } = this;
    const { planes, slotsPerPage, pagesPerBlock } = layout;
    const start = layout.start(segment);
    const waiting = segment * layout.unitSlots - unit;
    const { memberBlock } = this.table;
    const member = this.group[segment] * layout.members + layout.memberOf(unit);
    const page = layout.pageOf(unit);
    // Pages of the unit, plane by plane within each page index.
    let index = slotsPerPage === 1 ? offset - unit : Math.floor((offset - unit) / slotsPerPage);
    let slot = offset - unit - index * slotsPerPage;
    let row = Math.floor(index / planes);
    index -= row * planes;
    for (let each = offset; each < stop; each++) {
      const psn = (memberBlock[member + index] * pagesPerBlock + page + row) * slotsPerPage + slot;
      const lpn = start + each;
      // Jobs of the data area are told from those of the page map, with which it shares the clock, by their sign.
      if (contents !== null) contents.fill(psn, lpn, from, ~job);
      array.lpn[psn] = lpn;
      array.origin[psn] = origin;
      jobs[waiting + each] = job;
      if (++slot < slotsPerPage) continue;
      slot = 0;
      if (++index < planes) continue;
      index = 0;
      row++;
    }
  }

  /** No slot follows: what waits is padded and programmed. */
  finish(segment: number): void {
    if (this.pointer[segment] === this.layout.capacityOf(segment)) return;
    this.flags[segment] |= SegmentFlag.finished;
    if (this.group[segment] < 0) return;
    this.close(segment);
    this.closeGroup(segment);
  }

  private closeGroup(segment: number): void {
    const group = this.group[segment];
    if (group < 0) return;
    this.table.close(group);
    if (this.probe !== null) this.probe.closed(group);
  }

  private close(segment: number): void {
    const { array, contents, stats } = this.parts;
    const { unitSlots } = this.layout;
    const pointer = this.pointer[segment];
    const end = Math.ceil(pointer / unitSlots) * unitSlots;
    for (let offset = pointer; offset < end; offset++) {
      const psn = this.psnOf(segment, offset);
      array.lpn[psn] = PADDING_LPN;
      array.origin[psn] = 0;
      contents?.pad(psn);
      stats.padding++;
      stats.pending++;
    }
    if (end > pointer) this.issue(segment, end);
  }

  /** Programs the unit that ends at `end`. */
  private issue(segment: number, end: number): void {
    const { stats, array, completions, mender } = this.parts;
    const { unitSlots, planes, pagesPerBlock } = this.layout;
    const start = end - unitSlots;
    const first = this.group[segment] * this.layout.members + this.layout.memberOf(start);
    const page = this.layout.pageOf(start);
    for (let i = 0; i < planes; i++) this.ppns[i] = this.table.memberBlock[first + i] * pagesPerBlock + page;
    stats.pending -= unitSlots;
    stats.programmed += unitSlots;
    let token = this.programUnit(planes);
    if (array.reliability !== null && this.failedPlanes !== 0) {
      this.scheduler.drop(token);
      stats.programFailures++;
      token = mender.programFailed(segment, start, this.failedPlanes);
      if (token < 0) return;
    }
    const at = segment * unitSlots;
    const record = this.records.collect(this.jobs, at, unitSlots);
    // A unit of some planes is too small for `fill`.
    for (let i = at; i < at + unitSlots; i++) this.jobs[i] = -1;
    if (record >= 0) this.scheduler.then(token, completions, (record << 3) | Done.unit);
    else this.scheduler.drop(token);
  }

  /** Planes of the last program unit that failed, a bit each. */
  private failedPlanes = 0;

  /** Programs `ppns`, together where the part allows it. */
  private programUnit(planes: number): number {
    const { scheduler, ppns } = this;
    const { array } = this.parts;
    this.failedPlanes = 0;
    if (planes > 1 && this.mayJoin(planes)) {
      const token = scheduler.programPlanes(ppns, planes, NandClass.userWrite, 0);
      if (scheduler.status[token] === NandStatus.programFailed) {
        for (let i = 0; i < planes; i++) if (array.planeStatus[i] !== NandStatus.ok) this.failedPlanes |= 1 << i;
      }
      return token;
    }
    let all = 0;
    for (let i = 0; i < planes; i++) {
      const token = scheduler.program(ppns[i], NandClass.userWrite, 0);
      if (scheduler.status[token] === NandStatus.programFailed) this.failedPlanes |= 1 << i;
      all = all === 0 ? token : scheduler.join(all, token);
    }
    return all;
  }

  /** Replaced blocks may have another index, which some parts do not program together. */
  private mayJoin(planes: number): boolean {
    const { features, geometry } = this.parts.array.config;
    if (!features.mpSameBlock) return true;
    const perPlane = geometry.blocksPerPlane * this.layout.pagesPerBlock;
    for (let i = 1; i < planes; i++) if (this.ppns[i] % perPlane !== this.ppns[0] % perPlane) return false;
    return true;
  }

  /** The segment holds nothing any more; its group is erased. Jobs that waited for its slots are given to `ended`. */
  release(segment: number, ended: (job: number) => void): void {
    const { stats } = this.parts;
    const group = this.group[segment];
    const pointer = this.pointer[segment];
    if (group >= 0) {
      const issued = this.issuedOf(segment);
      this.dropPending(segment, issued, pointer, ended);
      stats.pending -= pointer - issued;
      stats.dropped += pointer - issued;
      this.eraser.eraseReleased(segment, group);
    }
    if (this.lost.size > 0) {
      for (let offset = 0; offset < pointer; offset++) this.lost.delete(this.layout.start(segment) + offset);
    }
    stats.trimmed += pointer;
    this.life[segment]++;
    this.group[segment] = -1;
    this.pointer[segment] = 0;
    this.flags[segment] = 0;
    this.backedFrom[segment] = 0;
    this.backedTo[segment] = 0;
  }

  private dropPending(segment: number, from: number, to: number, ended: (job: number) => void): void {
    const { array } = this.parts;
    const { unitSlots } = this.layout;
    for (let offset = from; offset < to; offset++) {
      const psn = this.psnOf(segment, offset);
      const ppn = array.geometry.ppnOfPsn(psn);
      // In a damaged segment the page may have been programmed: then its slots die with the block.
      if (array.geometry.pageOf(ppn) >= array.nextPage[array.geometry.blockOf(ppn)])
        this.eraser.forgetSlots(psn, psn + 1);
      const job = this.jobs[segment * unitSlots + (offset % unitSlots)];
      if (job >= 0) ended(job);
    }
    this.jobs.fill(-1, segment * unitSlots, (segment + 1) * unitSlots);
  }

  /** Nothing is known any more: power loss. */
  reset(): void {
    this.group.fill(-1);
    this.pointer.fill(0);
    this.flags.fill(0);
    this.backedFrom.fill(0);
    this.backedTo.fill(0);
    this.exhausted = false;
    this.isHeld = false;
    this.lost.clear();
    this.seqInPlace.clear();
    this.jobs.fill(-1);
    this.records.clear();
    this.eraser.reset();
  }
}

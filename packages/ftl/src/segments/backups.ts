import type { PageMapFtl } from '../page-map.js';
import { UNMAPPED } from '../slot-contents.js';
import type { SegmentArea } from './segment-area.js';

/** Issues jobs for the page map that nobody but this package waits for. */
export interface InnerJobSource {
  /** A job that is given back silently. */
  silent(): number;
  /** The same for a backup, whose contents the page map may ask for later. */
  backup(): number;
}

/**
 * Makes data of segments durable before its program unit is full, or while a later page of its word line could still
 * destroy it: such slots are written to the page map beside the segments as well, under their own logical numbers, and
 * forgotten there when they are safe in their place.
 */
export class Backups {
  private readonly area: SegmentArea;
  private readonly store: PageMapFtl;
  private readonly jobs: InnerJobSource;
  /** Segments written to since the last flush. */
  private readonly touched: number[] = [];
  private readonly isTouched: Uint8Array;
  /** Per segment: a version of a slot of its present life may be in the page map's blocks, mapped or not. */
  private readonly used: Uint8Array;
  /** Segments were released of which there may be versions in the page map's blocks, and that is not durable. */
  hasDropped = false;
  /** What can be forgotten when the flush under way is done: segment, its life, and the first slot that is not safe. */
  private readonly due: number[] = [];
  /** Jobs of slots that were pending when the flush under way began: it ends them. */
  private covered: number[] = [];

  constructor(area: SegmentArea, store: PageMapFtl, jobs: InnerJobSource) {
    this.area = area;
    this.store = store;
    this.jobs = jobs;
    this.isTouched = new Uint8Array(area.layout.segments);
    this.used = new Uint8Array(area.layout.segments);
  }

  /** Slots have been added to a segment. */
  touch(segment: number): void {
    if (this.isTouched[segment] !== 0) return;
    this.isTouched[segment] = 1;
    this.touched.push(segment);
  }

  /** A flush begins: writes the backups that it needs. */
  save(): void {
    for (const segment of this.touched) {
      this.isTouched[segment] = 0;
      if (this.area.group[segment] >= 0) this.saveSegment(segment);
    }
    this.touched.length = 0;
  }

  private saveSegment(segment: number): void {
    const { area } = this;
    const { layout } = area;
    const issued = area.issuedOf(segment);
    const pointer = area.pointer[segment];
    const unsafe = area.isFull(segment) ? pointer : layout.firstUnsafe(issued);
    for (let offset = Math.max(unsafe, area.backedTo[segment]); offset < pointer; offset++) {
      if (offset >= issued || layout.isExposed(offset, issued)) this.write(segment, offset);
    }
    for (let offset = issued; offset < pointer; offset++) this.takeJob(segment * layout.unitSlots + (offset - issued));
    area.backedTo[segment] = pointer;
    if (area.backedFrom[segment] < unsafe) this.due.push(segment, area.life[segment], unsafe);
  }

  private takeJob(at: number): void {
    const { jobs } = this.area;
    if (jobs[at] >= 0) this.covered.push(jobs[at]);
    jobs[at] = -1;
  }

  /** Jobs whose slots are durable when the flush under way is. */
  get coveredJobs(): readonly number[] {
    return this.covered;
  }

  /** The flush is done, and they with it. */
  takeCovered(): readonly number[] {
    const { covered } = this;
    this.covered = [];
    return covered;
  }

  private write(segment: number, offset: number): void {
    const { area } = this;
    const origin = area.parts.array.origin[area.contentOf(segment, offset)];
    this.used[segment] = 1;
    this.store.write(area.layout.start(segment) + offset, 1, origin, 0, this.jobs.backup());
  }

  /** The flush is done: what has become safe in its place needs no backup any more. */
  settle(): void {
    const { area, due } = this;
    // As long as a block that was replaced may be found again, so may the gaps in it.
    if (area.eraser.erasingBlocks > 0) return;
    for (let i = 0; i < due.length; i += 3) {
      const segment = due[i];
      if (area.life[segment] !== due[i + 1]) continue;
      const first = area.layout.start(segment);
      if (this.used[segment] !== 0) {
        for (let offset = area.backedFrom[segment]; offset < due[i + 2]; offset++) {
          if (!area.seqInPlace.has(first + offset)) this.forget(first + offset);
        }
      }
      area.backedFrom[segment] = due[i + 2];
    }
    due.length = 0;
  }

  /** A backup, or a version from an earlier life, is not needed. It may be back after a power cut. */
  forget(lpn: number): void {
    const { frontiers } = this.store;
    const psn = frontiers.l2p[lpn];
    if (psn < 0) return;
    frontiers.invalidate(psn);
    frontiers.l2p[lpn] = UNMAPPED;
  }

  /** The segment is released: from the next flush on no backup of it may come back. */
  drop(segment: number): void {
    if (this.used[segment] === 0) return;
    this.used[segment] = 0;
    this.hasDropped = true;
    const { layout } = this.area;
    const { trimMap } = this.store;
    const first = layout.start(segment);
    const count = layout.capacityOf(segment);
    this.store.trim(first, count, this.jobs.silent());
    for (let lpn = first; lpn < first + count; lpn += trimMap.range) trimMap.trimmedStranded(lpn);
    trimMap.trimmedStranded(first + count - 1);
  }

  /** After a recovery: versions of slots of the segment are in the page map's blocks. */
  markUsed(segment: number): void {
    this.used[segment] = 1;
  }

  /** Nothing is known any more: power loss. */
  reset(): void {
    this.touched.length = 0;
    this.isTouched.fill(0);
    this.used.fill(0);
    this.hasDropped = false;
    this.due.length = 0;
    this.covered.length = 0;
  }
}

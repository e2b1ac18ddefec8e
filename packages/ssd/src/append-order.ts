import { BlockOp, BlockStatus } from '@flashstack/block-device';
import type { SegmentView } from '@flashstack/ftl';
import { type DriveZones, needsFlash } from './drive-zones.js';
import type { RequestTable } from './request-table.js';

/**
 * Write pointers of an append-only drive as the host sees them, and the order of its writes. A write is checked when it is
 * submitted; from then on writes to the append-only range keep their order, whatever core, queue or link they take.
 */
export class AppendOrder {
  readonly view: SegmentView;
  /** Null: the host does not see the segments as zones. */
  readonly zones: DriveZones | null;
  private readonly table: RequestTable;
  private readonly slotBlocks: number;
  /** Per segment: blocks that have been accepted. */
  private readonly front: Float64Array;
  /** Accepted and not yet with the controller; and, by handle, which of them nothing earlier that overlaps holds up. */
  private readonly submitted: number[] = [];
  private runnable: Uint8Array = new Uint8Array(64);
  /** With the controller, and not yet handed on to buffer or FTL. */
  private readonly placing: number[] = [];

  constructor(view: SegmentView, zones: DriveZones | null, table: RequestTable, slotBlocks: number) {
    this.view = view;
    this.zones = zones;
    this.table = table;
    this.slotBlocks = slotBlocks;
    this.front = new Float64Array(view.count);
    for (let segment = 0; segment < view.count; segment++) {
      const slots = view.isFinished(segment) ? view.capacityOf(segment) : view.pointerOf(segment);
      this.front[segment] = slots * slotBlocks;
    }
  }

  /** Checks a request that changes data, and moves the pointers. @returns a `BlockStatus`. */
  accept(op: number, block: number, count: number): number {
    if (op === BlockOp.discard) {
      this.release(block, block + count);
      return BlockStatus.ok;
    }
    const status = this.check(block, block + count);
    if (status !== BlockStatus.ok) return status;
    this.eachPart(block, block + count, (segment, _from, to) => {
      this.front[segment] = to;
      return true;
    });
    return BlockStatus.ok;
  }

  /** First of the whole slots from `first` to `last` that a discard may unmap, and their number: segments stay whole. */
  shrink(first: number, last: number): readonly [first: number, count: number] {
    const { view } = this;
    const segmentFrom = Math.max(0, Math.ceil((first - view.first) / view.stride));
    const from = first < view.first ? first : view.first + segmentFrom * view.stride;
    if (last < view.first) return [from, last - from + 1];
    const end = last + 1;
    const whole = Math.floor((end - view.first) / view.stride);
    const rest = view.first + whole * view.stride;
    // A segment may be shorter than the distance to the next one.
    const covers = whole < view.count && end - rest >= view.capacityOf(whole);
    return [from, (covers ? end : rest) - from];
  }

  /** True if a request writes to the append-only range, or resets or finishes zones. */
  isOrdered(h: number): boolean {
    const { op, lpn, slots } = this.table;
    return (op[h] === BlockOp.write && lpn[h] + slots[h] > this.view.first) || needsFlash(op[h]);
  }

  /** A write has been submitted; `free`: nothing earlier overlaps it. */
  submit(h: number, free: boolean): void {
    if (h >= this.runnable.length) {
      const wide = new Uint8Array(Math.max(2 * this.runnable.length, h + 1));
      wide.set(this.runnable);
      this.runnable = wide;
    }
    this.runnable[h] = free ? 1 : 0;
    this.submitted.push(h);
  }

  /** Nothing earlier overlaps the write any more. */
  unblock(h: number): void {
    this.runnable[h] = 1;
  }

  /** The next write in order that may begin; −1: it has to wait. */
  next(): number {
    if (this.submitted.length === 0 || this.runnable[this.submitted[0]] === 0) return -1;
    return this.submitted.shift() as number;
  }

  /** The controller has begun with a write. */
  begin(h: number): void {
    this.placing.push(h);
  }

  /** True if all earlier writes have been handed on. */
  mayPlace(h: number): boolean {
    return this.placing[0] === h;
  }

  /** A write has been handed on whole. @returns the one that follows, if it has begun; −1 otherwise. */
  placed(h: number): number {
    if (this.placing[0] === h) this.placing.shift();
    return this.placing.length === 0 ? -1 : this.placing[0];
  }

  private check(block: number, end: number): number {
    const { view, slotBlocks } = this;
    let status: number = BlockStatus.ok;
    this.eachPart(block, end, (segment, from, to) => {
      const capacity = view.capacityOf(segment) * slotBlocks;
      const anew = view.overwrite && from === 0;
      if (view.isReadOnly(segment) && !anew) status = BlockStatus.zoneReadOnly;
      else if (this.front[segment] === capacity && !anew) status = BlockStatus.zoneFull;
      else if (!anew && from !== this.front[segment]) status = BlockStatus.zoneInvalidWrite;
      else if (to > capacity) status = BlockStatus.zoneBoundary;
      else if (from % slotBlocks !== 0 || to % slotBlocks !== 0) status = BlockStatus.zoneInvalidWrite;
      return status === BlockStatus.ok;
    });
    return status;
  }

  private release(block: number, end: number): void {
    const { view, slotBlocks } = this;
    this.eachPart(block, end, (segment, from, to) => {
      if (from === 0 && to >= view.capacityOf(segment) * slotBlocks) this.front[segment] = 0;
      return true;
    });
  }

  /** Visits the segments of a range of blocks: `from` and `to` are blocks of the segment. Ends when `visit` is false. */
  private eachPart(block: number, end: number, visit: (segment: number, from: number, to: number) => boolean): void {
    const { view, slotBlocks } = this;
    const first = view.first * slotBlocks;
    const stride = view.stride * slotBlocks;
    for (let at = Math.max(block, first); at < end; ) {
      const segment = Math.floor((at - first) / stride);
      const start = first + segment * stride;
      const to = Math.min(end, start + stride);
      if (!visit(segment, at - start, to - start)) return;
      at = to;
    }
  }
}

import { BlockOp, type BlockRequest, BlockStatus, ZoneOp, ZoneState, ZoneTable } from '@flashstack/block-device';
import type { SegmentView, ZoneLimits } from '@flashstack/ftl';

/**
 * Zones of a drive as its host sees them: requests are checked against the rules of zones when they are submitted, and
 * what they ask for is carried out later, in that order. Outlives power cuts: then states and pointers are those that the
 * FTL has found.
 */
export class DriveZones {
  readonly table: ZoneTable;
  private view: SegmentView;
  private readonly slotBlocks: number;
  /** Per request with a command: the zones that it changes. */
  private readonly changed: (readonly number[])[] = [];
  private admitted: number[] = [];

  /** `limits`: those of the view, which has zones. */
  constructor(view: SegmentView, limits: ZoneLimits, slotBlocks: number) {
    this.view = view;
    this.slotBlocks = slotBlocks;
    const { maxOpen, maxActive, appendSlots } = limits;
    this.table = new ZoneTable({
      zoneCount: view.count,
      zoneBlocks: view.stride * slotBlocks,
      zoneCapacityBlocks: view.capacityOf(0) * slotBlocks,
      maxOpen,
      maxActive,
      maxAppendBlocks: appendSlots * slotBlocks,
    });
  }

  /** Applies the rules to a request. @returns a `BlockStatus`; unless it is `ok`, nothing has changed. */
  admit(request: BlockRequest): number {
    const { op, block, count } = request;
    if (op === BlockOp.discard) return BlockStatus.notSupported;
    if (isZoneCommand(op)) return this.admitCommand(request);
    if (isWrite(op)) {
      // Flash is mapped by slots, so the pointer stays at the start of one.
      if (count % this.slotBlocks !== 0) return BlockStatus.zoneInvalidWrite;
      this.noticeFailure(Math.floor(block / this.table.zoneBlocks));
    }
    return this.table.admit(request);
  }

  private admitCommand(request: BlockRequest): number {
    const { table } = this;
    const first = request.block / table.zoneBlocks;
    const count = request.count / table.zoneBlocks;
    const before: number[] = [];
    for (let zone = first; zone < first + count; zone++) {
      this.noticeFailure(zone);
      before.push(table.stateOf(zone));
    }
    const status = table.admit(request);
    const isReset = request.op === ZoneOp.reset;
    const target = isReset ? ZoneState.empty : ZoneState.full;
    this.admitted = [];
    if (status !== BlockStatus.ok || !needsFlash(request.op)) return status;
    for (let i = 0; i < count; i++) {
      // What is in that state already may still be on the way to being durable; of several, full ones are left alone.
      const changes = table.stateOf(first + i) === target && (isReset || count === 1 || before[i] !== target);
      if (changes) this.admitted.push(first + i);
    }
    return status;
  }

  /** The command that was admitted last has become a request. */
  enter(h: number): void {
    this.changed[h] = this.admitted;
  }

  /** Zones that a command changes. */
  changedBy(h: number): readonly number[] {
    return this.changed[h];
  }

  /** A write to the slot could not be carried out: the zone takes no more. */
  failed(lpn: number): void {
    this.giveUp(Math.floor(lpn / this.view.stride));
  }

  /** A drive that is protected has lost power: nothing that was written is lost. */
  powerCut(): void {
    this.table.powerCut();
  }

  /**
   * States and pointers are those of the FTL. A drive keeps a record of zones that have failed; `asNew`: this is another
   * drive, whose zones have not.
   */
  follow(view: SegmentView, asNew: boolean): void {
    const { table } = this;
    this.view = view;
    const partly: number[] = [];
    for (let zone = 0; zone < table.zoneCount; zone++) {
      const state = table.stateOf(zone);
      const pointer = view.pointerOf(zone);
      const hasFailed = state === ZoneState.readOnly || state === ZoneState.offline;
      if (hasFailed && !asNew) table.set(zone, state, pointer * this.slotBlocks);
      else if (view.isReadOnly(zone)) table.set(zone, ZoneState.readOnly, pointer * this.slotBlocks);
      else if (view.isFinished(zone) || pointer === view.capacityOf(zone)) {
        table.set(zone, ZoneState.full, table.zoneCapacityBlocks);
      } else {
        table.set(zone, ZoneState.empty, 0);
        if (pointer > 0) partly.push(zone);
      }
    }
    for (const zone of partly) table.set(zone, ZoneState.closed, view.pointerOf(zone) * this.slotBlocks);
  }

  /** Blocks may have failed since the last request to a zone. */
  private noticeFailure(zone: number): void {
    if (this.view.isReadOnly(zone)) this.giveUp(zone);
  }

  private giveUp(zone: number): void {
    const state = this.table.stateOf(zone);
    if (state === ZoneState.readOnly || state === ZoneState.offline) return;
    this.table.set(zone, ZoneState.readOnly, this.view.pointerOf(zone) * this.slotBlocks);
  }
}

/** True for commands to zones. */
export function isZoneCommand(op: number): boolean {
  return op >= ZoneOp.open;
}

/** True for commands to zones that change what is in flash: they keep their place among writes. */
export function needsFlash(op: number): boolean {
  return op === ZoneOp.reset || op === ZoneOp.finish;
}

function isWrite(op: number): boolean {
  return op === BlockOp.write || op === BlockOp.writeZeroes || op === ZoneOp.append;
}

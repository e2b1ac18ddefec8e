import type { RandomStream } from '@flashstack/sim';
import { BlockFlag, BlockOp, type BlockRequest, BlockStatus } from './contract.js';
import { MemoryDevice, type MemoryDeviceOptions } from './memory-device.js';
import { ZoneTable, type ZoneTableOptions } from './zone-table.js';
import { ZoneOp, ZoneState } from './zones.js';

/** Shape, limits and features of a zoned device in memory; it has no discard unless `features` says so. */
export interface ZonedMemoryDeviceOptions extends ZoneTableOptions, Omit<MemoryDeviceOptions, 'blockCount'> {}

/**
 * A zoned device in memory that takes no time: the reference for others. With a volatile cache, a power cut takes back
 * what had not been made durable, from the write pointers downwards; a full zone is durable.
 */
export class ZonedMemoryDevice extends MemoryDevice {
  readonly zones: ZoneTable;
  /** Blocks of each zone that a power cut leaves. */
  private readonly durable: Float64Array;

  /** @throws RangeError if the size of a block is unusable; InputError `ERR_ZONES` for impossible zones. */
  constructor(options: ZonedMemoryDeviceOptions) {
    const zones = new ZoneTable(options);
    const { blockBytes, features } = options;
    super({
      ...(blockBytes === undefined ? {} : { blockBytes }),
      blockCount: zones.zoneCount * zones.zoneBlocks,
      features: { discard: false, ...features },
    });
    this.zones = zones;
    this.durable = new Float64Array(zones.zoneCount);
  }

  /** A part of the device fails: this zone is read only or offline from now on. */
  failZone(zone: number, state: typeof ZoneState.readOnly | typeof ZoneState.offline): void {
    const written = this.zones.writePointerOf(zone) - zone * this.zones.zoneBlocks;
    this.zones.set(zone, state, written);
  }

  /** Power is lost and comes back. How many of the blocks that are not durable survive is drawn for each zone. */
  powerCut(random: RandomStream): void {
    const { zones } = this;
    zones.powerCut();
    for (let zone = 0; zone < zones.zoneCount; zone++) {
      if (!this.features.volatileCache || zones.stateOf(zone) !== ZoneState.closed) continue;
      const start = zone * zones.zoneBlocks;
      const written = zones.writePointerOf(zone) - start;
      const kept = this.durable[zone] + random.below(written - this.durable[zone] + 1);
      zones.set(zone, kept === 0 ? ZoneState.empty : ZoneState.closed, kept);
      this.durable[zone] = kept;
      this.clear(start + kept, written - kept);
    }
  }

  protected override perform(request: BlockRequest): number {
    const status = this.zones.admit(request);
    if (status !== BlockStatus.ok) return status;
    switch (request.op) {
      case BlockOp.read:
      case BlockOp.discard:
        return super.perform(request);
      case BlockOp.flush:
        this.settleAll();
        return BlockStatus.ok;
      case BlockOp.write:
      case BlockOp.writeZeroes:
        this.settle(request, request.block);
        return super.perform(request);
      case ZoneOp.append:
        this.settle(request, request.placed);
        if (this.features.keeps === 'contents') this.write(request, request.placed);
        return BlockStatus.ok;
      default:
        this.settleCommanded(request);
        return BlockStatus.ok;
    }
  }

  /** After a write or append of these blocks. */
  private settle({ count, flags }: BlockRequest, block: number): void {
    const { zones, durable } = this;
    const zone = Math.floor(block / zones.zoneBlocks);
    if ((flags & BlockFlag.preflush) !== 0) {
      this.settleAll();
      // But not what it writes itself.
      durable[zone] = block - zone * zones.zoneBlocks;
    }
    if ((flags & BlockFlag.fua) !== 0 || zones.stateOf(zone) === ZoneState.full) {
      durable[zone] = block - zone * zones.zoneBlocks + count;
    }
  }

  private settleAll(): void {
    const { zones, durable } = this;
    for (let zone = 0; zone < zones.zoneCount; zone++) {
      durable[zone] = zones.writePointerOf(zone) - zone * zones.zoneBlocks;
    }
  }

  private settleCommanded({ op, block, count }: BlockRequest): void {
    const { zones, durable } = this;
    const { zoneBlocks } = zones;
    for (let start = block; start < block + count; start += zoneBlocks) {
      const state = zones.stateOf(start / zoneBlocks);
      if (state === ZoneState.full) durable[start / zoneBlocks] = zones.zoneCapacityBlocks;
      if (op !== ZoneOp.reset || state !== ZoneState.empty) continue;
      durable[start / zoneBlocks] = 0;
      this.clear(start, zoneBlocks);
    }
  }

  private clear(block: number, count: number): void {
    if (this.features.keeps === 'contents') this.zero(block, count);
  }
}

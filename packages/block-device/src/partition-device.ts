import type { BlockDevice, BlockRequest } from './contract.js';
import { WrapperDevice } from './wrapper-device.js';
import type { ZoneCapability } from './zones.js';

/**
 * A range of another device's blocks as a device of its own; of a device with zones, whole ones. Its limits of open and
 * active zones are those of the whole device, so other partitions count too.
 */
export class PartitionDevice extends WrapperDevice {
  /** First block of the partition on the whole device. */
  readonly firstBlock: number;

  /** @throws RangeError if the range is empty, not within the device, or cuts a zone. */
  constructor(device: BlockDevice, firstBlock: number, blockCount: number) {
    if (!Number.isSafeInteger(firstBlock) || !Number.isSafeInteger(blockCount) || firstBlock < 0 || blockCount < 1) {
      throw new RangeError(
        `partition of ${blockCount} blocks from block ${firstBlock}: expected integers, 0 and 1 at least`,
      );
    }
    if (firstBlock + blockCount > device.blockCount) {
      throw new RangeError(
        `partition of blocks ${firstBlock}–${firstBlock + blockCount - 1} is beyond the device of ${device.blockCount} blocks`,
      );
    }
    const zones = device.zones ?? null;
    super(device, blockCount, zones === null ? null : zonesOfRange(zones, firstBlock, blockCount));
    this.firstBlock = firstBlock;
  }

  protected accept(request: BlockRequest): void {
    this.forward(request, this.hold(request), this.firstBlock);
  }
}

function zonesOfRange(whole: ZoneCapability, firstBlock: number, blockCount: number): ZoneCapability {
  const { zoneBlocks } = whole;
  if (firstBlock % zoneBlocks !== 0 || blockCount % zoneBlocks !== 0) {
    throw new RangeError(
      `partition of ${blockCount} blocks from block ${firstBlock}: expected whole zones, multiples of ${zoneBlocks}`,
    );
  }
  return new PartitionZones(whole, firstBlock / zoneBlocks, blockCount / zoneBlocks);
}

/** Zones of another device, counted from one of them. */
class PartitionZones implements ZoneCapability {
  readonly zoneCount: number;
  readonly zoneBlocks: number;
  readonly zoneCapacityBlocks: number;
  readonly maxOpen: number;
  readonly maxActive: number;
  readonly maxAppendBlocks: number;
  private readonly whole: ZoneCapability;
  private readonly firstZone: number;

  constructor(whole: ZoneCapability, firstZone: number, zoneCount: number) {
    this.whole = whole;
    this.firstZone = firstZone;
    this.zoneCount = zoneCount;
    this.zoneBlocks = whole.zoneBlocks;
    this.zoneCapacityBlocks = whole.zoneCapacityBlocks;
    this.maxAppendBlocks = whole.maxAppendBlocks ?? 0;
    this.maxOpen = whole.maxOpen;
    this.maxActive = whole.maxActive;
  }

  stateOf(zone: number): number {
    return this.whole.stateOf(this.zoneOnWhole(zone));
  }

  writePointerOf(zone: number): number {
    return this.whole.writePointerOf(this.zoneOnWhole(zone)) - this.firstZone * this.zoneBlocks;
  }

  private zoneOnWhole(zone: number): number {
    if (!(zone >= 0 && zone < this.zoneCount)) {
      throw new RangeError(`zone ${zone} does not exist: the partition has ${this.zoneCount} zones, from 0`);
    }
    return this.firstZone + zone;
  }
}

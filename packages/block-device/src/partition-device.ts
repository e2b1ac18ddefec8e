import type { BlockDevice, BlockRequest } from './contract.js';
import { WrapperDevice } from './wrapper-device.js';

/** A range of another device's blocks as a device of its own. */
export class PartitionDevice extends WrapperDevice {
  /** First block of the partition on the whole device. */
  readonly firstBlock: number;

  /** @throws RangeError if the range is empty or not within the device. */
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
    super(device, blockCount);
    this.firstBlock = firstBlock;
  }

  protected accept(request: BlockRequest): void {
    this.forward(request, this.hold(request), this.firstBlock);
  }
}

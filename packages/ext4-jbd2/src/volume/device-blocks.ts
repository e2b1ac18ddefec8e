import { type BlockDevice, BlockFlag, BlockOp, IoBatch, Origin } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';

/** Reads and writes a device in blocks of a file system, which are whole blocks of the device. */
export class DeviceBlocks {
  readonly device: BlockDevice;
  /** Bytes of a block of the file system. */
  readonly blockBytes: number;
  /** Blocks of the device that make one of the file system. */
  readonly units: number;

  /** @throws FsError EINVAL if the device's blocks are larger. */
  constructor(device: BlockDevice, blockBytes: number) {
    if (blockBytes % device.blockBytes !== 0) {
      throw new FsError('EINVAL', `blocks of ${blockBytes} bytes on a device with blocks of ${device.blockBytes}`);
    }
    this.device = device;
    this.blockBytes = blockBytes;
    this.units = blockBytes / device.blockBytes;
  }

  /** Blocks that fit on the device. */
  get count(): number {
    return Math.floor(this.device.blockCount / this.units);
  }

  /** Reads consecutive blocks. @throws FsError EIO that names `where`. */
  *read(block: number, count: number, origin: number, where: string): Task<Uint8Array> {
    const batch = new IoBatch(this.device);
    const request = batch.add(BlockOp.read, block * this.units, count * this.units);
    const data = new Uint8Array(count * this.blockBytes);
    request.data = data;
    request.origin = origin;
    request.flags = BlockFlag.sync;
    yield batch;
    if (batch.status !== 0) throw new FsError('EIO', `${where}: block ${block} cannot be read`);
    return data;
  }

  /** Adds the write of one block to a batch. */
  add(batch: IoBatch, block: number, bytes: Uint8Array, origin: number, flags: number): void {
    const request = batch.add(BlockOp.write, block * this.units, this.units);
    request.data = bytes;
    request.origin = origin;
    request.flags = flags;
  }

  /** Writes consecutive blocks. @throws FsError EIO that names `where`. */
  *write(block: number, bytes: Uint8Array, origin: number, where: string, flags: number = 0): Task<void> {
    const batch = new IoBatch(this.device);
    const request = batch.add(BlockOp.write, block * this.units, bytes.length / this.device.blockBytes);
    request.data = bytes;
    request.origin = origin;
    request.flags = flags;
    yield batch;
    if (batch.status !== 0) throw new FsError('EIO', `${where}: block ${block} cannot be written`);
  }

  /** Makes what has completed durable; nothing to do where the cache is not volatile. @throws FsError EIO */
  *flush(): Task<void> {
    if (!this.device.features.volatileCache) return;
    const batch = new IoBatch(this.device);
    batch.add(BlockOp.flush, 0, 0).origin = Origin.unknown;
    yield batch;
    if (batch.status !== 0) throw new FsError('EIO', 'the device cannot be flushed');
  }
}

/** Reads bytes that need not begin or end with a block of the device. @throws FsError EIO, EINVAL beyond its end */
export function* readBytes(device: BlockDevice, from: number, length: number, where: string): Task<Uint8Array> {
  const first = Math.floor(from / device.blockBytes);
  const last = Math.floor((from + length - 1) / device.blockBytes);
  if (last >= device.blockCount) throw new FsError('EINVAL', `${where}: the device ends before byte ${from + length}`);
  const blocks = new DeviceBlocks(device, device.blockBytes);
  const data = yield* blocks.read(first, last - first + 1, Origin.superblock, where);
  return data.subarray(from - first * device.blockBytes, from - first * device.blockBytes + length);
}

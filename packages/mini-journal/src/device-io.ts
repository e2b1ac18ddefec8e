import { type BlockDevice, BlockFlag, BlockOp, IoBatch } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import { BLOCK_BYTES } from './layout.js';

/** Device blocks of one block; 0 for a device whose blocks do not fit. */
export function unitsOf(device: BlockDevice): number {
  return BLOCK_BYTES % device.blockBytes === 0 ? BLOCK_BYTES / device.blockBytes : 0;
}

/** Reads consecutive blocks. @throws FsError EIO */
export function* readBlocks(device: BlockDevice, block: number, count: number, origin: number): Task<Uint8Array> {
  const batch = new IoBatch(device);
  const request = batch.add(BlockOp.read, block * unitsOf(device), count * unitsOf(device));
  const data = new Uint8Array(count * BLOCK_BYTES);
  request.data = data;
  request.origin = origin;
  yield batch;
  if (batch.status !== 0) throw new FsError('EIO', `read of block ${block}`);
  return data;
}

/** Blocks that are written together. */
export type BlockWrites = readonly (readonly [block: number, bytes: Uint8Array])[];

/** Writes blocks and waits for them. @throws FsError EIO */
export function* writeBlocks(device: BlockDevice, writes: BlockWrites, origin: number): Task<void> {
  if (writes.length === 0) return;
  const batch = new IoBatch(device);
  for (const [block, bytes] of writes) {
    const request = batch.add(BlockOp.write, block * unitsOf(device), unitsOf(device));
    request.data = bytes;
    request.origin = origin;
  }
  yield batch;
  if (batch.status !== 0) throw new FsError('EIO', `write of ${writes.length} blocks`);
}

/** Makes what has completed durable. @throws FsError EIO */
export function* flush(device: BlockDevice): Task<void> {
  if (!device.features.volatileCache) return;
  const batch = new IoBatch(device);
  batch.add(BlockOp.flush, 0, 0);
  yield batch;
  if (batch.status !== 0) throw new FsError('EIO', 'flush');
}

/** Flags of a write that is durable when it completes, and behind all that completed before it. */
export const BARRIER: number = BlockFlag.preflush | BlockFlag.fua;

/** Makes what has completed durable, and then this block; `flags`: only a part of that. @throws FsError EIO */
export function* writeDurably(
  device: BlockDevice,
  block: number,
  bytes: Uint8Array,
  origin: number,
  flags: number = BARRIER,
): Task<void> {
  if (!device.features.fua) {
    if ((flags & BlockFlag.preflush) !== 0) yield* flush(device);
    yield* writeBlocks(device, [[block, bytes]], origin);
    if ((flags & BlockFlag.fua) !== 0) yield* flush(device);
    return;
  }
  const batch = new IoBatch(device);
  const request = batch.add(BlockOp.write, block * unitsOf(device), unitsOf(device));
  request.data = bytes;
  request.origin = origin;
  request.flags = flags | BlockFlag.sync;
  yield batch;
  if (batch.status !== 0) throw new FsError('EIO', `durable write of block ${block}`);
}

import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { type BlockDevice, BlockOp, IoBatch } from '@flashstack/block-device';
import type { Task } from '@flashstack/sim';

/** Blocks that are read at a time. */
const CHUNK = 64;

/**
 * Writes what a device holds to a file, for programs that check or mount images. Blocks of zeroes become holes.
 * @throws Error for blocks that cannot be read, and as the file system says.
 */
export function* writeImage(device: BlockDevice, path: string): Task<void> {
  const { blockBytes, blockCount } = device;
  const data = Buffer.alloc(CHUNK * blockBytes);
  const zeroes = Buffer.alloc(blockBytes);
  const batch = new IoBatch(device);
  const file = openSync(path, 'w');
  try {
    ftruncateSync(file, blockBytes * blockCount);
    for (let first = 0; first < blockCount; first += CHUNK) {
      const count = Math.min(CHUNK, blockCount - first);
      batch.add(BlockOp.read, first, count).data = data.subarray(0, count * blockBytes);
      yield batch;
      if (batch.status !== 0) throw new Error(`blocks ${first}–${first + count - 1} cannot be read`);
      for (let at = 0; at < count; at++) {
        const block = data.subarray(at * blockBytes, (at + 1) * blockBytes);
        if (!block.equals(zeroes)) writeSync(file, block, 0, blockBytes, (first + at) * blockBytes);
      }
    }
  } finally {
    closeSync(file);
  }
}

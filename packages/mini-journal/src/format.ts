import { type BlockDevice, Origin } from '@flashstack/block-device';
import { InputError, type Task } from '@flashstack/sim';
import { unitsOf, writeBlocks, writeDurably } from './device-io.js';
import { encodeHeader } from './journal-records.js';
import { BLOCK_BYTES, encodeSuperblock, type FormatOptions, INODE_BYTES, layoutOf } from './layout.js';

/** Number of the root directory. */
export const ROOT = 1;

/**
 * Makes an empty file system; the superblock comes last, so that a power cut leaves none.
 * @throws InputError `ERR_MINI_JOURNAL` for a device or options that do not fit, FsError EIO
 */
export function* formatMiniJournal(device: BlockDevice, options: FormatOptions = {}): Task<void> {
  if (unitsOf(device) === 0) {
    const message = `blockBytes is ${device.blockBytes}, expected ${BLOCK_BYTES} or a part of it.`;
    throw new InputError('ERR_MINI_JOURNAL', message, 'blockBytes');
  }
  const layout = layoutOf(Math.floor(device.blockCount / unitsOf(device)), options);
  const { journalStart, journalBlocks, bitmapStart, bitmapBlocks, inodeStart, inodeBlocks, dataStart } = layout;
  const zeroes = new Uint8Array(BLOCK_BYTES);
  // Durably: otherwise what follows could be there under the superblock of an older file system.
  yield* writeDurably(device, 0, zeroes, Origin.superblock);
  // An earlier journal in the same place must not be taken for a part of this one.
  const journal = Array.from({ length: journalBlocks }, (_, at) => [journalStart + at, zeroes] as const);
  yield* writeBlocks(device, journal, Origin.journal);
  const maps: [number, Uint8Array][] = [];
  for (let at = 0; at < bitmapBlocks + inodeBlocks; at++) maps.push([bitmapStart + at, new Uint8Array(BLOCK_BYTES)]);
  // The root directory has its first block, which stays when all entries go.
  for (let block = 0; block <= dataStart; block++)
    maps[block >> 15][1][(block >> 3) & (BLOCK_BYTES - 1)] |= 1 << (block & 7);
  const root = new DataView(maps[inodeStart - bitmapStart][1].buffer, ROOT * INODE_BYTES);
  root.setUint16(0, 0o40755, true);
  root.setUint32(4, 2, true);
  root.setFloat64(16, BLOCK_BYTES, true);
  root.setUint32(32, ROOT, true);
  root.setUint32(96, dataStart, true);
  yield* writeBlocks(device, [...maps, [dataStart, zeroes]], Origin.allocationMap);
  yield* writeDurably(device, journalStart, encodeHeader({ tid: 1, position: 1 }), Origin.journal);
  yield* writeDurably(device, 0, encodeSuperblock(layout), Origin.superblock);
}

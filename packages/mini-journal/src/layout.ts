import { InputError, unknownName } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';

/** Bytes of a block. */
export const BLOCK_BYTES = 4096;
/** Bytes of an inode in the inode table. */
export const INODE_BYTES = 256;
/** Inodes in a block. */
export const BLOCK_INODES: number = BLOCK_BYTES / INODE_BYTES;
/** Bits of a bitmap block. */
const BLOCK_BITS = BLOCK_BYTES * 8;
const MAGIC = 0x6d69_6e69;

/** Where everything is, in blocks: superblock, journal, bitmap, inode table, data. */
export interface Layout {
  readonly blocks: number;
  readonly inodes: number;
  readonly journalStart: number;
  readonly journalBlocks: number;
  readonly bitmapStart: number;
  readonly bitmapBlocks: number;
  readonly inodeStart: number;
  readonly inodeBlocks: number;
  readonly dataStart: number;
}

/** What `formatMiniJournal` can be told. */
export interface FormatOptions {
  /** Inodes; default one for two blocks. Rounded up to whole blocks. */
  readonly inodes?: number;
  /** Blocks of the journal; default what holds two transactions that touch all maps and inodes, and 128 more. */
  readonly journalBlocks?: number;
}

/** The layout of a device of so many blocks. @throws InputError for unknown or unusable options and too small a device. */
export function layoutOf(blocks: number, options: FormatOptions = {}): Layout {
  for (const name of Object.keys(options)) {
    if (name !== 'inodes' && name !== 'journalBlocks') throw unknownName('option', name, ['inodes', 'journalBlocks']);
  }
  const bitmapBlocks = Math.ceil(blocks / BLOCK_BITS);
  const inodeBlocks = Math.ceil((options.inodes ?? Math.floor(blocks / 2)) / BLOCK_INODES);
  const least = 2 * (bitmapBlocks + inodeBlocks) + 64;
  const journalBlocks = options.journalBlocks ?? least + 64;
  const wrong = (key: string, found: number, expected: string): InputError =>
    new InputError('ERR_MINI_JOURNAL', `${key} is ${found}, expected ${expected}.`, key);
  if (!Number.isSafeInteger(inodeBlocks) || inodeBlocks < 1)
    throw wrong('inodes', options.inodes ?? 0, 'an integer ≥ 1');
  if (!Number.isSafeInteger(journalBlocks) || journalBlocks < least) {
    throw wrong('journalBlocks', journalBlocks, `an integer of at least ${least}`);
  }
  const bitmapStart = 1 + journalBlocks;
  const inodeStart = bitmapStart + bitmapBlocks;
  const dataStart = inodeStart + inodeBlocks;
  if (blocks < dataStart + 8) throw wrong('blocks of the device', blocks, `at least ${dataStart + 8}`);
  return {
    blocks,
    inodes: inodeBlocks * BLOCK_INODES,
    journalStart: 1,
    journalBlocks,
    bitmapStart,
    bitmapBlocks,
    inodeStart,
    inodeBlocks,
    dataStart,
  };
}

/** The superblock of a layout. */
export function encodeSuperblock(layout: Layout): Uint8Array {
  const bytes = new Uint8Array(BLOCK_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, layout.blocks, true);
  view.setUint32(8, layout.inodes, true);
  view.setUint32(12, layout.journalBlocks, true);
  return bytes;
}

/** The layout that a superblock tells. @throws FsError EINVAL for another format, EUCLEAN for one that does not fit. */
export function decodeSuperblock(bytes: Uint8Array, blocks: number): Layout {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  if (view.getUint32(0, true) !== MAGIC) throw new FsError('EINVAL', 'superblock: no mini-journal file system');
  const said = view.getUint32(4, true);
  if (said > blocks) throw new FsError('EUCLEAN', `superblock: ${said} blocks on a device of ${blocks}`);
  try {
    return layoutOf(said, { inodes: view.getUint32(8, true), journalBlocks: view.getUint32(12, true) });
  } catch (error) {
    if (error instanceof InputError) throw new FsError('EUCLEAN', `superblock: ${error.message}`);
    throw error;
  }
}

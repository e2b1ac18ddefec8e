import { InputError, unknownName } from '@flashstack/sim';

/** How a file system is made. */
export interface MkfsOptions {
  /** Blocks of 4 KiB; default: all of the device. */
  readonly blocks?: number;
  /** Bytes of space for which an inode is made; default that of mke2fs: 4,096 below 512 MiB, then 16,384. */
  readonly bytesPerInode?: number;
  /** Blocks of the journal; default by size, as mke2fs has it. 0: no journal. */
  readonly journalBlocks?: number;
  /** Share of blocks that only root may use, %; default 5. */
  readonly reservedPercent?: number;
  /** 16 bytes; default: drawn from the seed of the run by whoever calls. */
  readonly uuid: Uint8Array;
  /** 16 bytes: seed of the directory hash. */
  readonly hashSeed: Uint8Array;
  /** Seconds since 1970: when it is made. */
  readonly timeSec: number;
  /** At most 16 bytes. */
  readonly label?: string;
}

const NAMES: readonly string[] = [
  'blocks',
  'bytesPerInode',
  'journalBlocks',
  'reservedPercent',
  'uuid',
  'hashSeed',
  'timeSec',
  'label',
];

/** Throws unless options make sense by themselves. @throws InputError `ERR_EXT4_MKFS` */
export function checkMkfsOptions(options: MkfsOptions): void {
  for (const name of Object.keys(options)) if (!NAMES.includes(name)) throw unknownName('option', name, NAMES);
  const {
    bytesPerInode = 16_384,
    reservedPercent = 5,
    journalBlocks = 1024,
    uuid,
    hashSeed,
    label = '',
    timeSec,
  } = options;
  const wrong = (key: string, found: unknown, expected: string): InputError =>
    new InputError('ERR_EXT4_MKFS', `${key} is ${found}, expected ${expected}.`, key);
  if (!Number.isSafeInteger(bytesPerInode) || bytesPerInode < 1024 || bytesPerInode > 4_194_304) {
    throw wrong('bytesPerInode', bytesPerInode, 'an integer from 1,024 to 4,194,304');
  }
  if (!(reservedPercent >= 0 && reservedPercent <= 50)) throw wrong('reservedPercent', reservedPercent, '0 to 50');
  if (
    !Number.isSafeInteger(journalBlocks) ||
    (journalBlocks !== 0 && (journalBlocks < 1024 || journalBlocks > 10_240_000))
  ) {
    throw wrong('journalBlocks', journalBlocks, '0 or an integer from 1,024 to 10,240,000');
  }
  if (uuid.length !== 16 || uuid.every((byte) => byte === 0))
    throw wrong('uuid', uuid.join(), '16 bytes, not all zero');
  if (hashSeed.length !== 16) throw wrong('hashSeed', hashSeed.join(), '16 bytes');
  if (label.length > 16) throw wrong('label', label, 'at most 16 bytes');
  if (!Number.isSafeInteger(timeSec) || timeSec < 0 || timeSec >= 2 ** 40) {
    throw wrong('timeSec', timeSec, 'seconds since 1970, an integer from 0 to 2^40');
  }
}

import { InputError, unknownName } from '@flashstack/sim';
import { FallocateMode, type FsCapabilities, PAGE_BYTES } from '@flashstack/vfs';
import { NAME_BYTES } from '../format/dir-block.js';
import { COMMIT_INTERVAL_NS, type JournalOptions } from '../journal/journal.js';
import { FILE_BYTES } from './core.js';

/** Most hard links of a file. */
export const MOST_LINKS = 65_000;

/** How ext4 is mounted; names are those of its mount options. */
export interface Ext4Options {
  /** Seconds between commits that nobody asks for. Default 5. */
  readonly commit?: number;
  /** Flushes make the journal durable. Default true; false: `nobarrier`. */
  readonly barrier?: boolean;
}

const OPTIONS: readonly string[] = ['commit', 'barrier'];

/** What the journal is told of the mount options. @throws InputError for an unknown option or a bad value. */
export function resolveExt4Options(options: Ext4Options): JournalOptions {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) throw unknownName('mount option', name, OPTIONS);
  }
  const { commit = COMMIT_INTERVAL_NS / 1e9, barrier = true } = options;
  if (!(commit > 0 && commit <= 900)) {
    throw new InputError('ERR_EXT4_OPTION', `commit is ${commit}, expected seconds above 0, at most 900.`, 'commit');
  }
  return { commitIntervalNs: Math.round(commit * 1e9), barrier };
}

export const capabilities: FsCapabilities = {
  name: 'ext4',
  nameBytes: NAME_BYTES,
  fileBytes: FILE_BYTES,
  links: MOST_LINKS,
  symlinks: true,
  specialFiles: true,
  unnamedFiles: true,
  sparse: true,
  seeksHoles: true,
  fallocate: [
    FallocateMode.allocate,
    FallocateMode.keepSize,
    FallocateMode.keepSize | FallocateMode.punchHole,
    FallocateMode.collapseRange,
    FallocateMode.zeroRange,
    FallocateMode.zeroRange | FallocateMode.keepSize,
    FallocateMode.insertRange,
  ],
  attributeBytes: 4040,
  directBytes: PAGE_BYTES,
  renameExchange: true,
  timeNs: 1,
  durable: true,
};

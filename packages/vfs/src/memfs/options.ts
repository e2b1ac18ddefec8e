import { type ParameterTable, resolveParameters } from '@flashstack/sim';
import { PAGE_BYTES } from '../page-cache.js';

/** Limits of a `MemFs`; all may be left out. */
export interface MemFsOptions {
  /** Space for file contents, bytes; whole pages count. Default 8 TiB. */
  readonly bytes?: number;
  /** Most inodes, the root included. Default 2^31. */
  readonly inodes?: number;
  /** Most hard links of a file. Default 65,000. */
  readonly links?: number;
  /** Longest name, bytes. Default 255. */
  readonly nameBytes?: number;
}

/** The options of a `MemFs` with their defaults and ranges. */
export const MEMFS_PARAMETERS: ParameterTable = [
  {
    name: 'bytes',
    type: 'integer',
    unit: 'bytes',
    default: 2 ** 43,
    min: PAGE_BYTES,
    help: 'Space for file contents; whole pages count.',
  },
  { name: 'inodes', type: 'integer', default: 2 ** 31, min: 1, max: 2 ** 31, help: 'Most inodes, the root included.' },
  { name: 'links', type: 'integer', default: 65_000, min: 1, max: 2 ** 31, help: 'Most hard links of a file.' },
  { name: 'nameBytes', type: 'integer', unit: 'bytes', default: 255, min: 1, max: 4095, help: 'Longest name.' },
];

/** Options with their defaults. @throws InputError naming the option and what it may be. */
export function resolveMemFsOptions(options: MemFsOptions): Required<MemFsOptions> {
  const values = resolveParameters({ name: 'memfs', parameters: MEMFS_PARAMETERS }, { ...options });
  return values as unknown as Required<MemFsOptions>;
}

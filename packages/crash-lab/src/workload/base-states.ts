import type { Step } from './workload.js';

const twoFiles: readonly Step[] = [
  ['mkdir', 'A'],
  ['mkdir', 'B'],
  ['create', 'foo'],
  ['create', 'A/foo'],
  ['write', 'foo', 0, 8192],
  ['write', 'A/foo', 0, 8192],
  ['sync'],
  ['write', 'foo', 0, 8192],
  ['write', 'A/foo', 0, 8192],
];

/** States that workloads begin with, by name: the steps that make them, after which all is synced. */
export const BASE_STATES: Readonly<Record<string, readonly Step[]>> = {
  empty: [],
  /** Directories A and B, files `foo` and `A/foo` of 8 KiB that have been overwritten once. */
  'two files': twoFiles,
  /** The same files with an extended attribute each. */
  'two files with attributes': [
    ...twoFiles,
    ['setxattr', 'foo', 'user.one', 'first'],
    ['setxattr', 'A/foo', 'user.one', 'first'],
  ],
};

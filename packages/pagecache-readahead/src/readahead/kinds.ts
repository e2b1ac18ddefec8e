import type { StrategyKind } from '@flashstack/sim';
import { Linux2637Readahead } from './linux-2-6-37.js';
import { Linux6Readahead } from './linux-6.js';
import { NoReadahead } from './none.js';
import type { ReadaheadPolicy } from './policy.js';

/** The read-ahead policies that come with the package. Append your own and pass the table to what looks names up. */
export const readaheadKinds: readonly StrategyKind<ReadaheadPolicy>[] = [
  {
    name: 'linux-6',
    summary: 'Linux 6.18: sync and async windows, history longer than the request, aligned window ends.',
    parameters: [],
    create: () => new Linux6Readahead(),
  },
  {
    name: 'linux-2.6.37',
    summary: 'Linux 2.6.31 to 3.9: on-demand windows, one cached page before a miss starts one.',
    parameters: [],
    create: () => new Linux2637Readahead(),
  },
  {
    name: 'none',
    summary: 'Only what is asked for, one page an I/O.',
    parameters: [],
    create: () => new NoReadahead(),
  },
];

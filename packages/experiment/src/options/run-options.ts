import { addressPolicies, traceFormats } from '@flashstack/workloads';
import { choice, count, flag, real, share, size } from './builders.js';
import type { Option } from './option.js';

/** How drive and workload are brought together: the keys at the top of a spec. */
export const runOptions: ReadonlyMap<string, Option> = new Map<string, Option>([
  ['seed', { ...count(0, Number.MAX_SAFE_INTEGER, 'Seed of everything random.'), default: '1' }],
  [
    'precondition',
    choice(
      ['none', 'fill', 'steady'],
      'State of the drive at the start: new, every block written once, steady.',
      'none',
    ),
  ],
  [
    'loop',
    {
      type: 'loop',
      default: 'closed:32',
      help: 'Keep N requests in flight, follow the recorded times, or only the think time between them.',
    },
  ],
  [
    'timeScale',
    { ...real(1e-9, 1e9, 'Open and think-time loops: multiplies recorded times; 0.5 is twice as fast.'), default: '1' },
  ],
  [
    'maxInFlight',
    {
      ...count(
        1,
        2 ** 24,
        'Open and think-time loops: most requests in flight; what arrives beyond them is issued late.',
        {
          of: 'requests',
        },
      ),
      default: '65536',
    },
  ],
  ['address', choice(addressPolicies, 'What happens to addresses beyond the drive.', 'fail')],
  ['repeat', { ...count(1, 1e9, 'Passes over the workload.', { of: 'passes' }), default: '1' }],
  [
    'warmup',
    { type: 'warmup', nullable: true, default: 'null', help: 'Left out of the metrics at the start of the run.' },
  ],
  ['verify', flag('Compare what is read with what was written; needs keeps: contents.', false)],
  [
    'modules',
    {
      type: 'string',
      list: true,
      default: 'none',
      help: 'JavaScript or TypeScript files with strategies, workloads, file systems or presets of your own.',
    },
  ],
]);

/** The drive: the keys of `device`, if it is more than a name. */
export const deviceOptions: ReadonlyMap<string, Option> = new Map<string, Option>([
  ['preset', { type: 'string', default: 'needed', help: 'Name of the drive; see "flashstack devices".' }],
  ['capacity', size(1, 2 ** 50, 'Scale the drive; its parallelism stays.')],
  ['overProvisioning', { ...share('Spare flash as a share of the capacity.'), max: 100 }],
]);

/** A recorded workload: the keys of `workload` with a trace. */
export const traceOptions: ReadonlyMap<string, Option> = new Map<string, Option>([
  ['trace', { type: 'string', default: 'needed', help: 'Trace file, plain, gzip or zstd, relative to the spec.' }],
  [
    'format',
    choice(
      ['auto', ...traceFormats.map(({ name }) => name), 'pattern'],
      'Its format; auto: recognised if that is certain; pattern: lines of your own.',
      'auto',
    ),
  ],
  ['badLines', choice(['fail', 'skip'], 'Lines that cannot be read end the run, or are counted and skipped.', 'fail')],
  ['volumes', { type: 'string', list: true, default: 'all', help: 'Only requests to these volumes.' }],
  ['limit', { ...count(1, Number.MAX_SAFE_INTEGER, 'Only the first requests (of those selected).'), default: 'all' }],
  ['action', choice(['D', 'Q'], 'Kernel block traces: requests as issued to the drive, or as queued.', 'D')],
  ['waitUnit', choice(['us', 'ms'], 'fio iolog version 2: the unit of its waits, needed if it has any.', 'not said')],
  [
    'pattern',
    {
      type: 'string',
      default: 'none',
      help: 'format: pattern: a regular expression with the groups op, offset, length, and perhaps time and volume.',
    },
  ],
  ['ignore', { type: 'string', default: 'none', help: 'format: pattern: lines that match this are no requests.' }],
  ['timeUnit', choice(['s', 'ms', 'us', '100ns', 'ns'], 'format: pattern: unit of time.', 'ns')],
  ['offsetUnitBytes', { ...size(1, 2 ** 30, 'format: pattern: unit of offset; 512 for sectors.'), default: '1' }],
  ['lengthUnitBytes', { ...size(1, 2 ** 30, 'format: pattern: unit of length.'), default: '1' }],
  ['readWords', { type: 'string', list: true, default: 'r, read', help: 'format: pattern: words of op that read.' }],
  ['writeWords', { type: 'string', list: true, default: 'w, write', help: 'format: pattern: words of op that write.' }],
  [
    'flushWords',
    { type: 'string', list: true, default: 'f, flush, sync', help: 'format: pattern: words of op that flush.' },
  ],
  [
    'discardWords',
    { type: 'string', list: true, default: 'd, discard, trim', help: 'format: pattern: words of op that discard.' },
  ],
]);

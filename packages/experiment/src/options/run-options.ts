import { addressPolicies } from '@flashstack/workloads';
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
  ['loop', { type: 'loop', default: 'closed:32', help: 'Keep N requests in flight, or follow the recorded times.' }],
  ['timeScale', { ...real(1e-9, 1e9, 'Open loop: multiplies recorded times; 0.5 is twice as fast.'), default: '1' }],
  [
    'maxInFlight',
    {
      ...count(1, 2 ** 24, 'Open loop: most requests in flight; what arrives beyond them is issued late.', {
        of: 'requests',
      }),
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
      help: 'JavaScript or TypeScript files with strategies, workloads or presets of your own.',
    },
  ],
]);

/** The drive: the keys of `device`, if it is more than a name. */
export const deviceOptions: ReadonlyMap<string, Option> = new Map<string, Option>([
  ['preset', { type: 'string', default: 'needed', help: 'Name of the drive; see "flashstack devices".' }],
  ['capacity', size(1, 2 ** 53 - 1, 'Scale the drive; its parallelism stays.')],
  ['overProvisioning', { ...share('Spare flash as a share of the capacity.'), max: 100 }],
]);

/** A recorded workload: the keys of `workload` with a trace. */
export const traceOptions: ReadonlyMap<string, Option> = new Map<string, Option>([
  ['trace', { type: 'string', default: 'needed', help: 'Trace file, relative to the spec.' }],
  ['format', { type: 'string', default: 'auto', help: 'Its format, or auto: recognised if that is certain.' }],
  ['badLines', choice(['fail', 'skip'], 'Lines that cannot be read end the run, or are counted and skipped.', 'fail')],
]);

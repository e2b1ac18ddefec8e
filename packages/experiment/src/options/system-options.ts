import { BLOCK_LAYER_PARAMETERS, COST_PARAMETERS, HOST_PARAMETERS } from '@flashstack/host';
import { pageCacheParameters } from '@flashstack/pagecache-readahead';
import type { ParameterTable } from '@flashstack/sim';
import type { Extensions } from '../extensions.js';
import { flag, size, strategyOf } from './builders.js';
import type { Option, OptionTable } from './option.js';
import { parameterOption } from './parameter-option.js';

/** The seed is that of the spec, and a system that cannot write could not lay out files. */
export const kernelParameters: ParameterTable = HOST_PARAMETERS.filter(
  ({ name }) => name !== 'seed' && name !== 'readOnly',
);

/** Without the memory, which stands one level higher. */
export const cacheParameters: ParameterTable = pageCacheParameters.filter(({ name }) => name !== 'memoryBytes');

/** The options of a system by their paths below `system`, in the order in which they are shown. */
export function systemOptions({ fileSystems, readaheads }: Extensions): OptionTable {
  const [memory] = pageCacheParameters.filter(({ name }) => name === 'memoryBytes').map(parameterOption);
  return new Map<string, Option>([
    ['fileSystem', strategyOf(fileSystems, 'File system of the drive, made anew before the run.', 'needed')],
    ['memory', { ...memory, default: '256MiB', help: 'Memory for pages of files.' }],
    ['readahead', strategyOf(readaheads, 'How the page cache reads ahead.', 'linux-6')],
    [
      'readaheadWindow',
      size(0, 2 ** 30, 'Most that is read ahead at a time; whole pages count. 0: nothing is read ahead.', {
        default: '128KiB',
      }),
    ],
    ...below('', kernelParameters),
    [
      'finalSync',
      flag(
        'Everything is written back at the end and counts; without it the run ends with the last call of the workload.',
        true,
      ),
    ],
    ...below('pageCache.', cacheParameters),
    ...below('blockLayer.', BLOCK_LAYER_PARAMETERS),
    ...below('costs.', COST_PARAMETERS),
  ]);
}

function below(prefix: string, table: ParameterTable): (readonly [string, Option])[] {
  return table.map((parameter) => [`${prefix}${parameter.name}`, parameterOption(parameter)]);
}

/** A trace of system calls: the keys of `workload` with a trace, in a stack with an operating system. */
export const callTraceOptions: OptionTable = new Map<string, Option>([
  ['trace', { type: 'string', default: 'needed', help: 'Text of strace, plain, gzip or zstd, relative to the spec.' }],
  ['root', { type: 'string', default: 'needed', help: 'Directory of the traced machine whose files are replayed.' }],
  ['directory', { type: 'string', default: 'root', help: 'Working directory in the trace where it began.' }],
  [
    'listing',
    {
      type: 'string',
      default: 'none',
      help: "What was there before: a file with the output of find ROOT -printf '%y %s %P\\n'.",
    },
  ],
  [
    'missing',
    {
      type: 'enum',
      values: ['report', 'make'],
      default: 'make',
      help: 'Files that should have been there: made when they are first used, or each call on them is different.',
    },
  ],
  [
    'order',
    {
      type: 'enum',
      values: ['trace', 'threads'],
      default: 'trace',
      help: 'Calls wait for all that had ended before them in the trace, or only for those of other threads on what they share.',
    },
  ],
  [
    'pace',
    {
      type: 'enum',
      values: ['closed', 'think', 'open'],
      default: 'closed',
      help: 'Calls as soon as those before have ended, with the recorded pauses, or at the recorded times.',
    },
  ],
  [
    'timeScale',
    {
      type: 'amount',
      unit: 'count',
      min: 1e-9,
      max: 1e9,
      default: '1',
      help: 'think and open: multiplies recorded times.',
    },
  ],
  ['mappedReads', flag('A mapping of a file for reading reads all of it.', true)],
  [
    'mappedWrites',
    {
      type: 'enum',
      values: ['ignore', 'sync', 'all'],
      default: 'sync',
      help: 'When a shared writable mapping counts as written: never, where msync or munmap name it, or when it is made.',
    },
  ],
  [
    'badLines',
    {
      type: 'enum',
      values: ['fail', 'skip'],
      default: 'fail',
      help: 'Lines that cannot be read end the run, or are counted and skipped.',
    },
  ],
]);

import { type ParameterTable, resolveParameters } from '@flashstack/sim';
import type { SchedulerName } from './dispatch-queue.js';

/** How a block layer is set up; all of it has defaults, see `BLOCK_LAYER_PARAMETERS`. */
export interface BlockLayerOptions {
  /** Requests that the device is given at a time. */
  readonly queueDepth?: number;
  /** A larger request is split; merging stops there. Bytes. */
  readonly maxRequestBytes?: number;
  /** Requests that are merged into one at most. */
  readonly maxSegments?: number;
  /** Order of what waits for the device. */
  readonly scheduler?: SchedulerName;
  /** Batches of requests that somebody waits for before one of the others. */
  readonly starvedBatches?: number;
  /** Requests that one bracket of plug and unplug holds back. */
  readonly plugRequests?: number;
  /** A bracket does not hold back behind a request of so many bytes. */
  readonly plugBytes?: number;
}

/** Options with defaults and limits. */
export const BLOCK_LAYER_PARAMETERS: ParameterTable = [
  {
    name: 'queueDepth',
    type: 'integer',
    default: 128,
    min: 1,
    max: 65_536,
    help: 'Requests that the device is given at a time; the others wait here and may be merged.',
  },
  {
    name: 'maxRequestBytes',
    type: 'integer',
    unit: 'bytes',
    default: 524_288,
    min: 4096,
    max: 16_777_216,
    help: 'A larger request is split, and merging stops there.',
  },
  {
    name: 'maxSegments',
    type: 'integer',
    default: 127,
    min: 1,
    max: 65_536,
    help: 'Requests that are merged into one at most.',
  },
  {
    name: 'scheduler',
    type: 'enum',
    default: 'none',
    values: ['none', 'deadline'],
    help: 'Order of what waits: none of arrival, deadline of place in sweeps of 16 from the oldest upwards.',
  },
  {
    name: 'starvedBatches',
    type: 'integer',
    default: 2,
    min: 1,
    max: 1000,
    help: 'Batches of 16 requests that somebody waits for, before a batch of the others.',
  },
  {
    name: 'plugRequests',
    type: 'integer',
    default: 32,
    min: 1,
    max: 65_536,
    help: 'Requests that one bracket of plug and unplug holds back.',
  },
  {
    name: 'plugBytes',
    type: 'integer',
    unit: 'bytes',
    default: 131_072,
    min: 4096,
    max: 16_777_216,
    help: 'A bracket sends what it holds before it adds a request behind one of so many bytes.',
  },
];

/** @throws InputError `ERR_UNKNOWN_NAME`, `ERR_PARAMETER_TYPE` or `ERR_PARAMETER_RANGE`, naming the option. */
export function resolveBlockLayerOptions(options: BlockLayerOptions): Required<BlockLayerOptions> {
  const kind = { name: 'blockLayer', parameters: BLOCK_LAYER_PARAMETERS };
  return resolveParameters(kind, { ...options }) as unknown as Required<BlockLayerOptions>;
}

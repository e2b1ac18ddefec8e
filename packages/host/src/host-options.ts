import { InputError, type ParameterTable, type ParameterValues, resolveParameters } from '@flashstack/sim';
import { type CallCosts, COST_PARAMETERS } from './costs.js';

/** What a host can be told; all of it has defaults, see `HOST_PARAMETERS`. */
export interface HostOptions {
  /** Processors. */
  readonly cpus?: number;
  /** Longest time on a processor while others wait for one, ns. */
  readonly sliceNs?: number;
  /** Names that are remembered, present and absent. */
  readonly dentries?: number;
  /** Open files of a process. */
  readonly openFiles?: number;
  /** When reading sets the access time. */
  readonly accessTimes?: 'relatime' | 'strict' | 'none';
  /** Nothing can be changed: EROFS. */
  readonly readOnly?: boolean;
  /** For the tags of what is written without a buffer, and the file system's random choices. */
  readonly seed?: number;
  /** Calendar time at simulated time 0, seconds since 1970. */
  readonly epochSec?: number;
  /** CPU time of system calls where it differs from `DEFAULT_COSTS`, ns. */
  readonly costs?: Partial<CallCosts>;
  /** Hears messages of the file system. */
  readonly log?: (message: string) => void;
}

/** Options with defaults and limits, for tables of options and checks. */
export const HOST_PARAMETERS: ParameterTable = [
  { name: 'cpus', type: 'integer', default: 4, min: 1, max: 4096, help: 'Processors; threads queue for them.' },
  {
    name: 'sliceNs',
    type: 'integer',
    unit: 'ns',
    default: 3_000_000,
    min: 1000,
    max: 1_000_000_000,
    help: 'Longest time on a processor while others wait for one.',
  },
  {
    name: 'dentries',
    type: 'integer',
    default: 65_536,
    min: 16,
    max: 16_777_216,
    help: 'Names that are remembered, present and absent.',
  },
  { name: 'openFiles', type: 'integer', default: 1024, min: 3, max: 1_048_576, help: 'Open files of a process.' },
  {
    name: 'accessTimes',
    type: 'enum',
    default: 'relatime',
    values: ['relatime', 'strict', 'none'],
    help: 'When reading sets the access time: relatime once after a change and once a day, strict always, none never.',
  },
  { name: 'readOnly', type: 'boolean', default: false, help: 'Nothing can be changed: EROFS.' },
  {
    name: 'seed',
    type: 'integer',
    default: 1,
    min: 0,
    help: 'For the tags of what is written without a buffer, and for random choices of the file system.',
  },
  {
    name: 'epochSec',
    type: 'integer',
    unit: 's',
    default: 1_700_000_000,
    min: 0,
    help: 'Calendar time at simulated time 0, seconds since 1970.',
  },
];

/** Options with their defaults. */
export interface ResolvedHostOptions {
  readonly cpus: number;
  readonly sliceNs: number;
  readonly dentries: number;
  readonly openFiles: number;
  readonly accessTimes: 'relatime' | 'strict' | 'none';
  readonly readOnly: boolean;
  readonly seed: number;
  readonly epochSec: number;
}

/**
 * The options, checked, with defaults. @throws InputError `ERR_UNKNOWN_NAME`, `ERR_PARAMETER_TYPE` or
 * `ERR_PARAMETER_RANGE`, naming the option.
 */
export function resolveHostOptions(options: HostOptions): ResolvedHostOptions {
  const { costs: _costs, log: _log, ...plain } = options;
  const values: ParameterValues = resolveParameters({ name: 'host', parameters: HOST_PARAMETERS }, plain);
  return values as unknown as ResolvedHostOptions;
}

/** The table of costs with these changes. @throws InputError for an unknown name or a time that is no integer ≥ 0. */
export function resolveCosts(changes: Partial<CallCosts> = {}): CallCosts {
  return resolveParameters({ name: 'host.costs', parameters: COST_PARAMETERS }, changes) as unknown as CallCosts;
}

/** @throws InputError `ERR_HOST_STATE` */
export function refuse(expected: string, found: string): never {
  throw new InputError('ERR_HOST_STATE', `the host is ${found}, expected ${expected}`);
}

import { readFileSync } from 'node:fs';
import {
  baseFor,
  boundedWorkloads,
  checkWorkload,
  countBounded,
  randomWorkload,
  type Workload,
} from '@flashstack/crash-lab';
import { HostError, readYaml, reasonOf } from '@flashstack/experiment/node';
import { InputError, mix32 } from '@flashstack/sim';
import type { FsCapabilities } from '@flashstack/vfs';
import { parseWhole } from './option-flags.js';
import { UsageError } from './report-error.js';

/** Flags that say what programs do. */
export interface WorkloadFlags {
  readonly seq?: string;
  readonly persistence?: string;
  readonly random?: string;
  readonly programs?: string;
  readonly workload?: string;
}

/** Part of the workloads: numbers `index`, `index + of` and so on. */
export interface Shard {
  readonly index: number;
  readonly of: number;
}

/** Numbered workloads. */
export interface WorkloadSource {
  /** For results: what they are. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** 0: without end. */
  readonly total: number;
  list(shard: Shard): Iterable<Workload>;
}

/**
 * The workloads that flags ask for.
 * @param most so many of them; 0: all, or without end.
 * @throws UsageError, InputError
 */
export function workloadsOf(
  flags: WorkloadFlags,
  capabilities: FsCapabilities,
  seed: number,
  most: number,
): WorkloadSource {
  const asked = (['seq', 'random', 'workload'] as const).filter((name) => flags[name] !== undefined);
  if (asked.length > 1) throw new UsageError(`--${asked[0]} and --${asked[1]} both say what programs do.`, ['Choose.']);
  if (flags.programs !== undefined && flags.random === undefined)
    throw new UsageError('--programs goes with --random.');
  if (flags.persistence !== undefined && asked[0] !== 'seq' && asked.length > 0) {
    throw new UsageError('--persistence goes with --seq.');
  }
  if (flags.workload !== undefined) return fromFile(flags.workload, capabilities, most);
  if (flags.random !== undefined) return atRandom(flags, capabilities, seed, most);
  return bounded(flags, capabilities, seed, most);
}

function bounded(
  { seq = '1', persistence = 'anywhere' }: WorkloadFlags,
  capabilities: FsCapabilities,
  seed: number,
  most: number,
): WorkloadSource {
  const length = parseWhole('--seq', seq, 1, 3);
  if (persistence !== 'anywhere' && persistence !== 'last') {
    throw new UsageError(`--persistence is "${persistence}", expected anywhere or last.`);
  }
  const bounds = { length, persistence, capabilities } as const;
  const all = countBounded(bounds).workloads;
  const drawn = most > 0 && most < all;
  const sample = drawn ? { sample: { count: most, seed } } : {};
  return {
    settings: { seq: length, persistence, of: all },
    total: drawn ? most : all,
    list: (shard) => boundedWorkloads(bounds, { shard, ...sample }),
  };
}

function atRandom(
  { random = '', programs = '1' }: WorkloadFlags,
  capabilities: FsCapabilities,
  seed: number,
  most: number,
): WorkloadSource {
  const steps = parseWhole('--random', random, 1, 10_000);
  const processes = parseWhole('--programs', programs, 1, 16);
  return {
    settings: { random: steps, programs: processes },
    total: most,
    *list({ index, of }) {
      for (let number = index; most === 0 || number < most; number += of) {
        yield randomWorkload({ steps, processes, capabilities, seed: mix32(seed ^ mix32(number + 1)) >>> 0 });
      }
    },
  };
}

function fromFile(path: string, capabilities: FsCapabilities, most: number): WorkloadSource {
  const data = readYaml(textOf(path), path).data;
  const all = (Array.isArray(data) ? data : [data]).map((one: unknown, at) => checked(one, path, at, capabilities));
  const workloads = most > 0 ? all.slice(0, most) : all;
  return {
    settings: { workload: path, workloads },
    total: workloads.length,
    list: ({ index, of }) => workloads.filter((_, at) => at % of === index),
  };
}

/** A workload of a file, on the usual base state if it names none. @throws UsageError */
function checked(value: unknown, path: string, at: number, capabilities: FsCapabilities): Workload {
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  try {
    return checkWorkload(isMap ? { base: baseFor(capabilities), ...value } : value);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new UsageError(`workload ${at + 1} of ${path}: ${error.message}`, [
      'Such as "- processes: [[[rename, A/foo, bar], [fsync, bar]]]".',
    ]);
  }
}

/** @throws UsageError, HostError */
export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new UsageError(`${path}: there is no such file.`);
    throw new HostError(`${path}: ${reasonOf(error, 0)}.`);
  }
}

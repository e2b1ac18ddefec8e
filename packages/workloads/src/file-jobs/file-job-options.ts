import {
  HotColdRanks,
  ParetoRanks,
  type RankDistribution,
  UniformRanks,
  unknownName,
  ZipfRanks,
} from '@flashstack/sim';
import { wrongOption } from '../replay-error.js';

/** What a file job does, by fio's names; `rw` and `readwrite` are one. */
export type FileJobMode = 'read' | 'write' | 'randread' | 'randwrite' | 'rw' | 'readwrite' | 'randrw';

/** A job on files, as plain data; options are those of a fio job file, with its meanings and defaults where not said otherwise. */
export interface FileJobOptions {
  /** Default `job`. Files are called `name.clone.0`. */
  readonly name?: string;
  readonly rw: FileJobMode;
  /** Bytes of each read and write. Default 4096. */
  readonly bs?: number;
  /** Bytes of the file of each clone. What is left at its end below `bs` is not used. */
  readonly size: number;
  /**
   * Bytes to transfer, of reads and writes together. Default `size`. The file is gone over again as long as at least `bs`
   * are left.
   */
  readonly ioSize?: number;
  /** Directory of the files, made if it is not there. Default `/`. */
  readonly directory?: string;
  /** Requests in flight of each clone, as asynchronous engines have them. Default 1. */
  readonly iodepth?: number;
  /** Clones, each a process with a file of its own. Default 1. */
  readonly numjobs?: number;
  /** O_DIRECT. Default false. */
  readonly direct?: boolean;
  /** O_SYNC or O_DSYNC. Default `none`. */
  readonly sync?: 'none' | 'sync' | 'dsync';
  /** `fsync` after every so many writes; reads are not counted. None after the last write. Default 0: never. */
  readonly fsync?: number;
  /** `fdatasync` likewise; where both are due there is one `fsync`. Default 0. */
  readonly fdatasync?: number;
  /** `fsync` at the end of the job. Default false. */
  readonly endFsync?: boolean;
  /** `rw` and `randrw`: per cent of the requests that read. Default 50. */
  readonly rwmixread?: number;
  /**
   * Random modes: `random` (default), `zipf:theta`, `pareto:h` or `hot-cold:percent of accesses/percent of blocks`.
   * Popular blocks are spread by a true permutation, unlike fio's.
   */
  readonly randomDistribution?: string;
  /** Uniform draws without a map of what has been hit; with the map (default) each block comes once in a pass. */
  readonly norandommap?: boolean;
  /** Goes over the file again until `runtimeNs` is over. Default false. */
  readonly timeBased?: boolean;
  /** Begins no request after this simulated time, ns. Default 0: no limit. */
  readonly runtimeNs?: number;
  /** What space a new file gets before the first write: `fallocate` to its size (fio's `native`, default), or none. */
  readonly fallocate?: 'native' | 'none';
  /** Writers find a file filled beforehand, as readers always do. Default false. */
  readonly overwrite?: boolean;
  /** Drop the file's cached pages before the job. Default true. */
  readonly invalidate?: boolean;
  /** Begin when all jobs before have ended. Default false. */
  readonly stonewall?: boolean;
}

/** Options of a job with defaults, checked. */
export type FileJob = Required<FileJobOptions>;

const modes: readonly FileJobMode[] = ['read', 'write', 'randread', 'randwrite', 'rw', 'readwrite', 'randrw'];
const defaults: Omit<FileJob, 'rw' | 'size' | 'ioSize'> = {
  name: 'job',
  bs: 4096,
  directory: '/',
  iodepth: 1,
  numjobs: 1,
  direct: false,
  sync: 'none',
  fsync: 0,
  fdatasync: 0,
  endFsync: false,
  rwmixread: 50,
  randomDistribution: 'random',
  norandommap: false,
  timeBased: false,
  runtimeNs: 0,
  fallocate: 'native',
  overwrite: false,
  invalidate: true,
  stonewall: false,
};
const least: Readonly<Record<string, number>> = {
  bs: 1,
  size: 1,
  ioSize: 1,
  iodepth: 1,
  numjobs: 1,
  fsync: 0,
  fdatasync: 0,
  runtimeNs: 0,
};
/** Clones of a job, and requests in flight of each: their processes and threads are all there from its start. */
export const MOST_AT_A_TIME = 65_536;
const most: Readonly<Record<string, number>> = { iodepth: MOST_AT_A_TIME, numjobs: MOST_AT_A_TIME };
const choices: Readonly<Record<string, readonly string[]>> = {
  rw: modes,
  sync: ['none', 'sync', 'dsync'],
  fallocate: ['native', 'none'],
};

/** The options of a job, checked, with defaults. @throws InputError, ReplayError naming the option. */
export function fileJob(options: FileJobOptions): FileJob {
  const names = [...Object.keys(defaults), 'rw', 'size', 'ioSize'];
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw unknownName('option of a file job', name, names);
  }
  const job: FileJob = { ...defaults, ioSize: options.size, ...options };
  for (const [name, value] of Object.entries(job)) checkOption(name, value);
  if (job.bs > job.size) throw wrongOption('size', `at least bs (${job.bs})`, job.size);
  if (job.bs > job.ioSize) throw wrongOption('ioSize', `at least bs (${job.bs})`, job.ioSize);
  if (!(job.rwmixread >= 0 && job.rwmixread <= 100))
    throw wrongOption('rwmixread', 'per cent, from 0 to 100', job.rwmixread);
  if (job.timeBased && job.runtimeNs === 0) throw wrongOption('runtimeNs', 'greater than 0 with timeBased', 0);
  if (!job.directory.startsWith('/')) throw wrongOption('directory', 'an absolute path', job.directory);
  if (job.name === '' || job.name.includes('/'))
    throw wrongOption('name', 'a name without /, used for files', job.name);
  if (isRandom(job)) distributionOf(job, Math.floor(job.size / job.bs));
  return job;
}

function checkOption(name: string, value: unknown): void {
  if (choices[name] !== undefined) {
    if (typeof value !== 'string' || !choices[name].includes(value)) {
      throw unknownName(`value of ${name}`, String(value), choices[name]);
    }
  } else if (least[name] !== undefined) {
    if (!Number.isSafeInteger(value) || (value as number) < least[name]) {
      throw wrongOption(name, `a whole number of at least ${least[name]}`, value);
    }
    if ((value as number) > most[name]) throw wrongOption(name, `at most ${most[name]}`, value);
  } else if (typeof value !== typeof defaults[name as keyof typeof defaults]) {
    throw wrongOption(name, `a ${typeof defaults[name as keyof typeof defaults]}`, value);
  }
}

/** True if the job goes through the file in random order. */
export function isRandom(job: FileJob): boolean {
  return job.rw.startsWith('rand');
}

/** Which kinds of request a job has. */
export function kindsOf(job: FileJob): { readonly reads: boolean; readonly writes: boolean } {
  const mixed = job.rw === 'rw' || job.rw === 'readwrite' || job.rw === 'randrw';
  return { reads: mixed || job.rw.endsWith('read'), writes: mixed || job.rw.endsWith('write') };
}

/**
 * Popularity of `blocks` blocks, or null for the uniform distribution, which a map of what has been hit may go with.
 * @throws ReplayError if it cannot be read.
 */
export function distributionOf(job: FileJob, blocks: number): RankDistribution | null {
  const [name, ...rest] = job.randomDistribution.split(':');
  const value = Number(rest[0]);
  try {
    if (name === 'random' && rest.length === 0) return job.norandommap ? new UniformRanks(blocks) : null;
    if (name === 'zipf' && rest.length === 1 && rest[0] !== '') return new ZipfRanks(blocks, value);
    if (name === 'pareto' && rest.length === 1 && rest[0] !== '') return new ParetoRanks(blocks, value);
    const shares = name === 'hot-cold' && rest.length === 1 ? /^([\d.]+)\/([\d.]+)$/.exec(rest[0]) : null;
    if (shares !== null) return new HotColdRanks(blocks, Number(shares[2]) / 100, Number(shares[1]) / 100);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw wrongOption('randomDistribution', `possible (${error.message})`, job.randomDistribution);
  }
  throw wrongOption(
    'randomDistribution',
    'random, zipf:theta, pareto:h or hot-cold:accesses%/blocks%',
    job.randomDistribution,
  );
}

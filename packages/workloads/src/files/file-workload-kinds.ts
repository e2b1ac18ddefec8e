import type { Parameter, ParameterValues, StrategyKind } from '@flashstack/sim';
import { type FileJobOptions, fileJob, MOST_AT_A_TIME } from '../file-jobs/file-job-options.js';
import { FileJobs } from '../file-jobs/file-jobs.js';
import { Iozone, type IozoneOptions, iozoneOptions } from '../iozone.js';
import { bytes, choice, count, flag, whole } from '../parameters.js';
import type { FileWorkloadFactory } from './file-workload.js';

/** The options of a file job as parameters; the names are those of `FileJobOptions`. */
const jobParameters: readonly Parameter[] = [
  { name: 'name', type: 'string', default: 'job', help: 'Name of the job and of its files.' },
  choice(
    'rw',
    ['read', 'write', 'randread', 'randwrite', 'rw', 'readwrite', 'randrw'],
    'read',
    'What it does, in order or at random; rw and readwrite are one.',
  ),
  bytes('bs', 4096, 1, 'Bytes of each read and write.'),
  bytes('size', 67_108_864, 1, 'Bytes of the file of each clone.'),
  bytes('ioSize', 0, 0, 'Bytes to transfer, reads and writes together; 0: size.'),
  { name: 'directory', type: 'string', default: '/', help: 'Directory of the files, made if it is not there.' },
  { ...count('iodepth', 1, 1, 'Requests in flight of each clone.'), max: MOST_AT_A_TIME },
  { ...count('numjobs', 1, 1, 'Clones, each a process with a file of its own.'), max: MOST_AT_A_TIME },
  flag('direct', false, 'O_DIRECT.'),
  choice('sync', ['none', 'sync', 'dsync'], 'none', 'O_SYNC or O_DSYNC.'),
  count('fsync', 0, 0, 'An fsync after every so many writes, none after the last; 0: never.'),
  count('fdatasync', 0, 0, 'An fdatasync likewise.'),
  flag('endFsync', false, 'An fsync at the end of the job.'),
  {
    name: 'rwmixread',
    type: 'number',
    unit: '%',
    default: 50,
    min: 0,
    max: 100,
    help: 'rw and randrw: share of the requests that read.',
  },
  {
    name: 'randomDistribution',
    type: 'string',
    default: 'random',
    help: 'random, zipf:theta, pareto:h or hot-cold:accesses%/blocks%.',
  },
  flag('norandommap', false, 'Draws blocks freely; with the map each comes once in a pass.'),
  flag('timeBased', false, 'Goes on until runtimeNs is over.'),
  whole('runtimeNs', 0, 0, 'ns', 'Begins nothing after this simulated time; 0: no limit.'),
  choice('fallocate', ['native', 'none'], 'native', 'Space that a new file gets before the first write.'),
  flag('overwrite', false, 'Writers find a file written whole, as readers always do.'),
  flag('invalidate', true, "Drops the file's cached pages before the job."),
  flag('stonewall', false, 'Begins when all jobs before have ended.'),
];

const iozoneParameters: readonly Parameter[] = [
  bytes('size', 67_108_864, 1, 'Size of the file (-s).'),
  bytes('record', 4096, 1, 'Size of a record (-r); divides size.'),
  flag('write', true, 'Write and rewrite (-i 0). Without it the read phases find a file that was written beforehand.'),
  flag('read', true, 'Read and reread (-i 1).'),
  flag('random', true, 'Random read and write (-i 2).'),
  { name: 'path', type: 'string', default: '/iozone.tmp', help: 'The file (-f); directories on its way are made.' },
  flag('includeFlush', false, 'The fsync counts in the time of phases that write (-e).'),
  flag('includeClose', false, 'The close counts in the time (-c).'),
  flag('direct', false, 'O_DIRECT (-I).'),
  flag('sync', false, 'O_SYNC in phases that write (-o).'),
  flag('noRetest', false, 'Without rewrite and reread (-+n).'),
  flag('keep', false, 'Keeps the file (-w).'),
];

/** Several jobs at once, each from resolved parameters of the kind `file-jobs`. @throws InputError naming the option. */
export function fileJobsOf(jobs: readonly ParameterValues[]): FileWorkloadFactory {
  const options = jobs.map((values): FileJobOptions => {
    const { ioSize, ...rest } = values as unknown as Required<FileJobOptions>;
    return ioSize === 0 ? rest : { ...rest, ioSize };
  });
  FileJobs.check(options.map(fileJob));
  return (simulator, host, random) => new FileJobs(simulator, host, options, random);
}

/** Workloads on files by name. Append your own and pass the table to what looks names up. */
export const fileWorkloadKinds: readonly StrategyKind<FileWorkloadFactory>[] = [
  {
    name: 'file-jobs',
    summary:
      'Jobs on files as fio runs them. `jobs`, a list of maps with these keys, makes several; what stands beside it holds for all.',
    parameters: jobParameters,
    create: (values) => fileJobsOf([values]),
  },
  {
    name: 'iozone',
    summary: 'The phases of iozone on one file by one thread.',
    parameters: iozoneParameters,
    create: (values) => {
      const {
        write,
        read,
        random: shuffled,
        ...rest
      } = values as unknown as Required<IozoneOptions> & {
        readonly write: boolean;
        readonly read: boolean;
        readonly random: boolean;
      };
      const wanted = [write, read, shuffled];
      const tests = ([0, 1, 2] as const).filter((test) => wanted[test]);
      const options = iozoneOptions({ ...rest, tests });
      return (simulator, host, random) => new Iozone(simulator, host, options, random);
    },
  },
];

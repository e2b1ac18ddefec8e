import { Host } from '@flashstack/host';
import { RandomSource, Simulator } from '@flashstack/sim';
import { MemFs, SimplePageCache } from '@flashstack/vfs';
import { type FileJobOptions, FileJobs, StraceReader, SystemReplay, type SystemTrace } from '../src/index.js';
import type { Benchmark } from './workloads.bench.js';

const SIZE = 1 << 24;
const BLOCKS = SIZE / 4096;

function memoryHost(): Host {
  const simulator = new Simulator();
  const cache = new SimplePageCache(simulator);
  const host = new Host({ simulator, cache, fileSystem: (environment) => new MemFs(environment) }, { cpus: 16 });
  host.run(host.mount());
  return host;
}

/** `n` requests of a job; its file is laid out in the warm-up and stays. */
function job(name: string, options: Omit<FileJobOptions, 'size' | 'ioSize'>, bar?: number): Benchmark {
  const host = memoryHost();
  const clones = options.numjobs ?? 1;
  const run = (n: number): void => {
    const bytes = (n / clones) * 4096;
    const jobs = new FileJobs(host.simulator, host, [{ size: SIZE, ioSize: bytes, ...options }], new RandomSource(1));
    jobs.run();
    const [{ read, write }] = jobs.stats;
    if (read.completed + write.completed !== n) throw new Error(`${name}: ${read.completed + write.completed} of ${n}`);
  };
  return { name, run, n: 50 * BLOCKS, ...(bar === undefined ? {} : { bar }) };
}

/** Open, append, sync, close, one after the other: `calls` of them. */
function trace(calls: number): SystemTrace {
  const reader = new StraceReader('bench');
  let text = '';
  for (let i = 0; i < calls / 4; i++) {
    text += `1 1700000000.000000 openat(AT_FDCWD, "/mnt/f${i % 64}", O_WRONLY|O_CREAT|O_APPEND, 0644) = 3 <0.000001>\n`;
    text += '1 1700000000.000000 write(3, ""..., 100) = 100 <0.000001>\n';
    text += '1 1700000000.000000 fsync(3) = 0 <0.000001>\n1 1700000000.000000 close(3) = 0 <0.000001>\n';
  }
  reader.push(new TextEncoder().encode(text));
  return reader.end();
}

const CALLS = 40_000;
let recorded: SystemTrace | null = null;

export const benchmarks: readonly Benchmark[] = [
  job('file job: random reads of cached pages', { rw: 'randread', invalidate: false }, 1e6),
  job('file job: sequential overwrites', { rw: 'write', overwrite: true, invalidate: false }, 1e6),
  job('file job: zipf mix, 4 clones of depth 4', {
    rw: 'randrw',
    randomDistribution: 'zipf:0.99',
    numjobs: 4,
    iodepth: 4,
    invalidate: false,
  }),
  { name: 'lines of strace read', run: (n) => void trace(n), n: CALLS },
  {
    name: 'calls of strace replayed',
    n: CALLS,
    run: (n) => {
      const host = memoryHost();
      recorded ??= trace(n);
      const replay = new SystemReplay(host.simulator, host, recorded, { root: '/mnt' });
      replay.run();
      if (replay.stats.replayed !== n || replay.stats.different > 0) throw new Error('not as recorded');
    },
  },
];

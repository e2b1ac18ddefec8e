import { BlockOp, IoBatch, MemoryDevice } from '@flashstack/block-device';
import { Simulator, type Task } from '@flashstack/sim';
import { MemFs, OpenFlag, Seek, SimplePageCache, type Thread } from '@flashstack/vfs';
import { BlockLayer, Host } from '../src/index.js';

/** What the runner of the project times: `run` does `n` operations. */
export interface Benchmark {
  readonly name: string;
  run(n: number): void;
  readonly n: number;
  readonly bar?: number;
}

const PAGES = 4096;

function mounted(cpus: number): Host {
  const simulator = new Simulator();
  const cache = new SimplePageCache(simulator);
  const host = new Host({ simulator, cache, fileSystem: (environment) => new MemFs(environment) }, { cpus });
  host.run(host.mount());
  return host;
}

function* openFile(thread: Thread): Task<number> {
  const fd = thread.open('/file', OpenFlag.create | OpenFlag.readWrite);
  return typeof fd === 'number' ? fd : yield* fd;
}

/** Threads of one process that each call `n / threads` times. */
function calls(
  name: string,
  threads: number,
  call: (thread: Thread, fd: number, buffer: Uint8Array | null, at: number, next: number) => number | Task<number>,
  withBytes = false,
): Benchmark {
  const host = mounted(4);
  const process = host.process();
  function* fill(): Task<number> {
    const thread = process.thread();
    const fd = yield* openFile(thread);
    for (let page = 0; page < PAGES; page++) {
      const done = thread.pwrite(fd, null, 4096, page * 4096);
      if (typeof done !== 'number') yield* done;
    }
    return fd;
  }
  const fd = host.run(fill());
  function* body(n: number, first: number): Task<void> {
    const thread = process.thread();
    const buffer = withBytes ? new Uint8Array(4096).fill(7) : null;
    let at = 1;
    for (let i = 0; i < n; i++) {
      at = (Math.imul(at, 1103515245) + 12345) >>> 0;
      const done = call(thread, fd, buffer, at, (first + i) % PAGES);
      if (typeof done !== 'number') yield* done;
    }
  }
  return {
    name,
    n: 1_600_000,
    bar: 1_000_000,
    run(n) {
      for (let i = 0; i < threads; i++) {
        host.simulator.spawn(`thread ${i}`, body(n / threads, (i * PAGES) / threads), { group: host.group });
      }
      host.simulator.run();
    },
  };
}

const readRandom = (thread: Thread, fd: number, buffer: Uint8Array | null, at: number): number | Task<number> =>
  thread.pread(fd, buffer, 4096, (at % PAGES) * 4096);
const writeRandom = (thread: Thread, fd: number, buffer: Uint8Array | null, at: number): number | Task<number> =>
  thread.pwrite(fd, buffer, 4096, (at % PAGES) * 4096);
/** Each thread goes on from a place of its own. */
const writeOwn = (
  thread: Thread,
  fd: number,
  buffer: Uint8Array | null,
  _at: number,
  next: number,
): number | Task<number> => thread.pwrite(fd, buffer, 4096, next * 4096);
function writeNext(thread: Thread, fd: number, buffer: Uint8Array | null): number | Task<number> {
  const at = thread.lseek(fd, 0, Seek.current);
  // Half of the calls are seeks; with one thread none of them has to wait.
  if (at === PAGES * 4096) thread.lseek(fd, 0, Seek.set);
  return thread.write(fd, buffer, 4096);
}

/** Writes of a block in brackets of sixteen that become one request, or sixteen. */
function requests(name: string, stride: number): Benchmark {
  return {
    name,
    n: 256_000,
    run(n) {
      const simulator = new Simulator();
      const batch = new IoBatch(new BlockLayer(simulator, new MemoryDevice({ blockCount: 65_536 })));
      function* body(): Task<void> {
        for (let i = 0; i < n; i += 16) {
          for (let at = 0; at < 16; at++) batch.add(BlockOp.write, ((i + at) * stride) % 65_536, 1);
          yield batch;
        }
      }
      simulator.spawn('submitter', body());
      simulator.run();
    },
  };
}

/** Buffered calls of 4 KiB on the file system in memory: CPU time of host, page cache and file system. */
export const benchmarks: Benchmark[] = [
  calls('sequential write and seek, 1 thread', 1, writeNext),
  calls('sequential write, 1 thread', 1, writeOwn),
  calls('sequential write, 16 threads', 16, writeOwn),
  calls('random write, 1 thread', 1, writeRandom),
  calls('random write, 16 threads', 16, writeRandom),
  calls('random write of bytes, 1 thread', 1, writeRandom, true),
  calls('cached read, 1 thread', 1, readRandom),
  calls('cached read, 16 threads', 16, readRandom),
  calls('cached read into a buffer, 1 thread', 1, readRandom, true),
  requests('block layer, sixteen requests merged, per request', 1),
  requests('block layer, sixteen requests apart, per request', 3),
];

import { RandomSource, runTask, Simulator, type Task } from '@flashstack/sim';
import { type FsEnvironment, type Inode, MemFs, type MemFsOptions, SimplePageCache, WallClock } from '../src/index.js';

export const full: boolean = process.env.CI !== undefined;
export const long: boolean = process.env.FLASHSTACK_LONG !== undefined;

/** Seconds since 1970 at simulated time 0. */
const EPOCH = 1_700_000_000;

export interface Mounted {
  readonly simulator: Simulator;
  readonly cache: SimplePageCache;
  readonly fs: MemFs;
  readonly environment: FsEnvironment;
  run<T>(task: Task<T>): T;
}

/** A mounted memfs under a simple page cache. */
export function mountMemFs(options: MemFsOptions = {}): Mounted {
  const simulator = new Simulator();
  const cache = new SimplePageCache(simulator);
  const environment: FsEnvironment = {
    simulator,
    cache,
    random: new RandomSource(1).stream('fs'),
    clock: new WallClock(simulator, EPOCH),
    log() {},
  };
  const fs = new MemFs(environment, options);
  cache.attach(fs);
  const run = <T>(task: Task<T>): T => runTask(simulator, task);
  run(fs.mount());
  return { simulator, cache, fs, environment, run };
}

/** What a host does to write to a file. Returns the bytes written. */
export function* writeFile(
  { fs, cache }: Pick<Mounted, 'fs' | 'cache'>,
  inode: Inode,
  offset: number,
  bytes: Uint8Array | null,
  length: number = bytes?.length ?? 0,
  seed = 1,
): Task<number> {
  if (!inode.lock.tryWrite()) yield inode.lock.write;
  try {
    const begun = fs.beginWrite(inode, offset, length);
    if (typeof begun !== 'number') yield* begun;
    const written = cache.write(inode, offset, length, bytes, seed);
    const done = typeof written === 'number' ? written : yield* written;
    fs.endWrite(inode, offset, done);
    return done;
  } finally {
    inode.lock.unlockWrite();
  }
}

/** What a host does to read bytes inside a file. */
export function* readFile({ cache }: Pick<Mounted, 'cache'>, inode: Inode, offset: number, length: number) {
  const into = new Uint8Array(length).fill(0xa5);
  if (length === 0) return into;
  const read = cache.read(inode, cache.reader(inode), offset, length, into);
  const done: number = typeof read === 'number' ? read : yield* read;
  return into.subarray(0, done);
}

/** Code of the error that an action throws. */
export function errorCode(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
  return 'none';
}

import type { MaybeTask, Task } from '@flashstack/sim';
import { FsError } from '@flashstack/vfs';
import type { FileMapping } from './file-mapping.js';
import type { LinuxPageCache } from './linux-page-cache.js';
import { ReadIo } from './read-io.js';

/** Fetches of pages: wanted first, by whoever has given the pages frames, then sent together. */
export class Fetches {
  private readonly cache: LinuxPageCache;
  private readonly ios: ReadIo[] = [];
  private readonly free: ReadIo[] = [];
  private wanted: ReadIo[] = [];

  constructor(cache: LinuxPageCache) {
    this.cache = cache;
  }

  /** A fetch of pages that have just got frames, by requests with these `BlockFlag` bits. */
  want(file: FileMapping, first: number, count: number, flags: number): void {
    let io = this.free.pop();
    if (io === undefined) {
      io = new ReadIo(this.cache, this.ios.length);
      this.ios.push(io);
    }
    io.begin(file, first, count, flags);
    this.wanted.push(io);
    const { stats } = this.cache.memory;
    stats.fetches++;
    stats.fetched += count;
  }

  /** The fetch that a frame waits for. */
  ioOf(frame: number): ReadIo {
    return this.ios[this.cache.memory.frames.dirtyNext[frame]];
  }

  /** Takes a fetch back that is done. */
  give(io: ReadIo): void {
    this.free.push(io);
  }

  /** Asks the file system about what is wanted, and sends it; 0, or the rest as a task. It does not wait for the pages. */
  start(): MaybeTask {
    const { wanted } = this;
    for (let at = 0; at < wanted.length; at++) {
      const asked = this.askFor(wanted[at]);
      if (typeof asked === 'number') continue;
      this.wanted = [];
      return this.startRest(wanted, at, asked);
    }
    wanted.length = 0;
    return 0;
  }

  private *startRest(wanted: readonly ReadIo[], from: number, first: Task<number>): Task<number> {
    yield* first;
    for (let at = from + 1; at < wanted.length; at++) {
      const asked = this.askFor(wanted[at]);
      if (typeof asked !== 'number') yield* asked;
    }
    return 0;
  }

  private askFor(io: ReadIo): MaybeTask {
    let asked: MaybeTask;
    try {
      asked = this.cache.backend.readPages(io.inode, io.first, io.count, io);
    } catch (error) {
      failed(io, error);
      return 0;
    }
    if (typeof asked !== 'number') return this.finishAsking(io, asked);
    io.submit();
    return 0;
  }

  private *finishAsking(io: ReadIo, asked: Task<number>): Task<number> {
    try {
      yield* asked;
    } catch (error) {
      failed(io, error);
      return 0;
    }
    io.submit();
    return 0;
  }
}

/** The pages are gone. Whoever needs one of them reads it alone, and gets the error if it comes again. */
function failed(io: ReadIo, error: unknown): void {
  io.fail();
  if (!(error instanceof FsError)) throw error;
}

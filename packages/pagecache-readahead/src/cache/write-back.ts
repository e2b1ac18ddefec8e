import type { Task } from '@flashstack/sim';
import { FsError, WritebackReason } from '@flashstack/vfs';
import type { FileMapping } from './file-mapping.js';
import { PageFlag } from './frames.js';
import type { LinuxPageCache } from './linux-page-cache.js';
import { WriteIo } from './write-io.js';

/** Longest pause of a writer that is held back, ns. */
const LONGEST_PAUSE_NS = 200_000_000;
const SHORTEST_PAUSE_NS = 1_000_000;

/** Writes the pages of a file that are dirty now, from `first` to before `end`; waits for them if it should. */
export function* writeRange(
  cache: LinuxPageCache,
  file: FileMapping,
  reason: number,
  first: number,
  end: number,
  wait: boolean,
): Task<number> {
  const { frames, options } = cache.memory;
  const pages = file.dirtyIn(first, end);
  // A page that is being written and has changed since is written after that.
  if (pages.some((page) => file.isUnderWriteback(page))) yield* cache.written(file, first, end);
  let written = 0;
  for (let at = 0; at < pages.length; ) {
    const chunk: number[] = [];
    for (; at < pages.length && chunk.length < options.writebackChunkPages; at++) {
      const flags = frames.flags[file.find(pages[at])];
      if ((flags & (PageFlag.dirty | PageFlag.writeback)) === PageFlag.dirty) chunk.push(pages[at]);
    }
    written += yield* writeChunk(cache, file, Int32Array.from(chunk), reason);
  }
  if (wait) yield* cache.written(file, first, end);
  return written;
}

/** Gives dirty pages to the file system until it has taken all; does not wait for them. */
export function* writeChunk(cache: LinuxPageCache, file: FileMapping, pages: Int32Array, reason: number): Task<number> {
  let at = 0;
  while (at < pages.length) {
    const part = pages.subarray(at);
    const io = new WriteIo(cache);
    io.begin(file, part, reason);
    let taken = part.length;
    try {
      const asked = cache.backend.writePages(file.inode, part, part.length, reason, io);
      taken = typeof asked === 'number' ? asked : yield* asked;
      if (!(taken > 0 && taken <= part.length)) {
        throw new Error(`writePages took ${taken} of ${part.length} pages, expected at least one and at most all`);
      }
    } catch (error) {
      io.fail(!(error instanceof FsError));
      if (!(error instanceof FsError)) throw error;
      file.failed(error.errno);
      return at;
    }
    io.submit(taken);
    at += taken;
  }
  return at;
}

/**
 * Holds a writer back that is about to make `pages` pages dirty: until they fit under the limit, and by a pause from where
 * pacing begins.
 */
export function* throttle(cache: LinuxPageCache, pages: number): Task<void> {
  const { memory } = cache;
  const { simulator } = memory;
  const started = simulator.now;
  // Only a write of more than the limit exceeds it, and waits until nothing else is dirty.
  const need = Math.min(pages, memory.dirtyLimitPages);
  memory.stats.throttles++;
  memory.throttled++;
  for (let paused = false; ; ) {
    const used = memory.unwrittenPages + need;
    if (used <= memory.pacedPages) break;
    memory.wakeFlushers();
    const file = cache.dirtyFiles.first;
    if (!cache.flushed && file !== null) {
      const written = yield* writeRange(cache, file, WritebackReason.throttle, 0, Number.POSITIVE_INFINITY, true);
      cache.dirtyFiles.rotate();
      if (written === 0) break;
    } else if (used > memory.dirtyLimitPages) {
      memory.overLimit++;
      yield memory.progress.within(LONGEST_PAUSE_NS);
      memory.overLimit--;
    } else if (paused || !cache.flushed) {
      break;
    } else {
      yield cache.pause.for(pauseNs(cache, pages));
      paused = true;
    }
  }
  memory.throttled--;
  memory.stats.throttledNs += simulator.now - started;
}

/**
 * How long a writer pauses so that dirty pages settle half-way between where pacing begins and the limit: pages over speed,
 * the speed being that of the device, shared by the writers, and changed by the third power of the distance from there.
 */
function pauseNs({ memory, bandwidth }: LinuxPageCache, pages: number): number {
  const goal = (memory.pacedPages + memory.dirtyLimitPages) / 2;
  const distance = (goal - memory.unwrittenPages) / Math.max(1, memory.dirtyLimitPages - goal);
  const position = Math.max(0.01, 1 + distance * distance * distance);
  const speed = (bandwidth.pagesPerSecond * position) / memory.throttled;
  return Math.min(LONGEST_PAUSE_NS, Math.max(SHORTEST_PAUSE_NS, Math.round((pages / speed) * 1e9)));
}

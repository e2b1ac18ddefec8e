import type { MaybeTask, Task } from '@flashstack/sim';
import { copyFromPage, PAGE_BYTES } from '@flashstack/vfs';
import type { FileMapping } from './file-mapping.js';
import type { FileReader } from './file-reader.js';
import { PageFlag, type PageFrames } from './frames.js';
import type { LinuxPageCache } from './linux-page-cache.js';

/** Reads bytes inside the file: a number if all was cached. See `FileCache.read`. */
export function readRange(
  cache: LinuxPageCache,
  file: FileMapping,
  reader: FileReader,
  offset: number,
  length: number,
  into: Uint8Array | null,
): MaybeTask {
  const end = Math.min(offset + length, file.inode.size);
  if (end <= offset) return 0;
  const { frames, lru, stats } = cache.memory;
  for (let at = offset; at < end; ) {
    const page = Math.floor(at / PAGE_BYTES);
    const frame = file.find(page);
    if ((frames.flags[frame] & (PageFlag.upToDate | PageFlag.marker)) !== PageFlag.upToDate) {
      return readRest(cache, file, reader, offset, at, offset + length, into);
    }
    const next = Math.min(end, (page + 1) * PAGE_BYTES);
    stats.hits++;
    if (page !== reader.lastPage && !reader.noReuse) lru.touch(frame);
    reader.lastPage = page;
    if (into !== null) copyOut(frames, frame, at - page * PAGE_BYTES, next - at, into, at - offset);
    at = next;
  }
  reader.state.prevPos = cache.policy.positionAfter(end);
  return end - offset;
}

function* readRest(
  cache: LinuxPageCache,
  file: FileMapping,
  reader: FileReader,
  offset: number,
  from: number,
  wantedEnd: number,
  into: Uint8Array | null,
): Task<number> {
  const { frames, lru } = cache.memory;
  const last = Math.ceil(wantedEnd / PAGE_BYTES);
  let at = from;
  while (at < Math.min(wantedEnd, file.inode.size)) {
    const page = Math.floor(at / PAGE_BYTES);
    yield* bringIn(cache, file, reader, page, last - page);
    // The file may have been truncated meanwhile.
    const next = Math.min(wantedEnd, file.inode.size, (page + 1) * PAGE_BYTES);
    if (next <= at) break;
    const frame = file.find(page);
    if (page !== reader.lastPage && !reader.noReuse) lru.touch(frame);
    reader.lastPage = page;
    if (into !== null) copyOut(frames, frame, at - page * PAGE_BYTES, next - at, into, at - offset);
    at = next;
  }
  reader.state.prevPos = cache.policy.positionAfter(at);
  return at - offset;
}

/** Makes a page of the file up to date, with read-ahead. @throws FsError EIO */
function* bringIn(
  cache: LinuxPageCache,
  file: FileMapping,
  { state }: FileReader,
  page: number,
  wanted: number,
): Task<void> {
  const { frames, stats } = cache.memory;
  if (file.find(page) === 0) {
    stats.misses++;
    cache.policy.miss(state, file, page, wanted);
    const started = cache.fetches.start();
    if (typeof started !== 'number') yield* started;
    if (file.find(page) === 0) yield* cache.readAlone(file, page);
  } else {
    stats.hits++;
  }
  const frame = file.find(page);
  if ((frames.flags[frame] & PageFlag.marker) !== 0) {
    frames.flags[frame] &= ~PageFlag.marker;
    cache.policy.marker(state, file, page, wanted);
    const started = cache.fetches.start();
    if (typeof started !== 'number') yield* started;
  }
  yield* cache.awaitPage(file, page);
  if (!file.isCached(page)) yield* cache.readAlone(file, page);
}

function copyOut(
  frames: PageFrames,
  frame: number,
  inPage: number,
  length: number,
  into: Uint8Array,
  to: number,
): void {
  // As an integer with a sign the word crosses the call without being boxed.
  copyFromPage(frames.bytesOf(frame), frames.word[frame] | 0, inPage, length, into, to);
}

import type { MaybeTask, Task } from '@flashstack/sim';
import { PAGE_BYTES, tagOfPage, tagOfPart } from '@flashstack/vfs';
import type { FileMapping } from './file-mapping.js';
import { PageFlag, type PageFrames } from './frames.js';
import type { LinuxPageCache } from './linux-page-cache.js';
import { throttle } from './write-back.js';

/**
 * Changes bytes of a file and makes their pages dirty. See `FileCache.write`. A writer waits before it changes anything:
 * the size of the file is set only afterwards, and pages behind it are not written.
 */
export function writeInto(
  cache: LinuxPageCache,
  file: FileMapping,
  offset: number,
  length: number,
  from: Uint8Array | null,
  seed: number,
): MaybeTask {
  if (length <= 0) return 0;
  const { memory } = cache;
  const end = offset + length;
  const held = memory.unwrittenPages + pagesOf(offset, end) > memory.pacedPages;
  if (held || !isReady(cache, file, offset, end)) return writeLater(cache, file, offset, end, from, seed);
  change(cache, file, offset, end, from, seed);
  return length;
}

function* writeLater(
  cache: LinuxPageCache,
  file: FileMapping,
  offset: number,
  end: number,
  from: Uint8Array | null,
  seed: number,
): Task<number> {
  const { memory } = cache;
  const pages = pagesOf(offset, end);
  if (memory.unwrittenPages + pages > memory.pacedPages) yield* throttle(cache, pages);
  memory.reservedPages += pages;
  try {
    while (!isReady(cache, file, offset, end)) yield* prepare(cache, file, offset, end);
  } finally {
    memory.reservedPages -= pages;
  }
  change(cache, file, offset, end, from, seed);
  return end - offset;
}

function pagesOf(at: number, end: number): number {
  return Math.ceil(end / PAGE_BYTES) - Math.floor(at / PAGE_BYTES);
}

/** True if nothing has to be read or waited for. */
function isReady(cache: LinuxPageCache, file: FileMapping, offset: number, end: number): boolean {
  const { flags } = cache.memory.frames;
  let absent = 0;
  for (let page = Math.floor(offset / PAGE_BYTES); page * PAGE_BYTES < end; page++) {
    const frame = file.find(page);
    if (frame === 0) {
      if (isPartial(file, page, offset, end)) return false;
      absent++;
    } else if ((flags[frame] & PageFlag.upToDate) === 0) {
      return false;
    }
  }
  if (absent === 0) return true;
  // Making room may take a page that is changed in part.
  return cache.memory.makeRoom(roomFor(cache, absent)) && !lostPart(file, offset, end);
}

/** A write that is large for the memory takes more than there is, rather than wait for ever. */
function roomFor({ memory }: LinuxPageCache, pages: number): number {
  return Math.min(pages, memory.limitPages >>> 3);
}

function lostPart(file: FileMapping, offset: number, end: number): boolean {
  const first = Math.floor(offset / PAGE_BYTES);
  const last = Math.ceil(end / PAGE_BYTES) - 1;
  return (
    (isPartial(file, first, offset, end) && !file.isCached(first)) ||
    (isPartial(file, last, offset, end) && !file.isCached(last))
  );
}

/** The page holds bytes of the file that the write leaves as they are. */
function isPartial(file: FileMapping, page: number, offset: number, end: number): boolean {
  const start = page * PAGE_BYTES;
  const { size } = file.inode;
  return start < size && (offset > start || end < Math.min(start + PAGE_BYTES, size));
}

function* prepare(cache: LinuxPageCache, file: FileMapping, offset: number, end: number): Task<void> {
  let absent = 0;
  for (let page = Math.floor(offset / PAGE_BYTES); page * PAGE_BYTES < end; page++) {
    if (file.find(page) !== 0) {
      yield* cache.awaitPage(file, page);
    } else if (isPartial(file, page, offset, end)) {
      cache.memory.stats.misses++;
      yield* cache.readAlone(file, page);
    } else {
      absent++;
    }
  }
  yield* cache.waitForRoom(roomFor(cache, absent));
}

/** Changes the pages; nothing waits here. */
function change(
  cache: LinuxPageCache,
  file: FileMapping,
  offset: number,
  end: number,
  from: Uint8Array | null,
  seed: number,
): void {
  const { frames, lru, stats } = cache.memory;
  for (let at = offset; at < end; ) {
    const page = Math.floor(at / PAGE_BYTES);
    const next = Math.min(end, (page + 1) * PAGE_BYTES);
    let frame = file.find(page);
    if (frame === 0) frame = file.allocate(page);
    frames.flags[frame] |= PageFlag.upToDate;
    const inPage = at - page * PAGE_BYTES;
    if (from === null) putTag(frames, frame, page, inPage, next - at, seed);
    else putBytes(file, frame, inPage, next - at, from, at - offset, frames);
    file.dirty(frame);
    lru.touch(frame);
    stats.written++;
    at = next;
  }
  if (cache.memory.dirtyPages > cache.memory.backgroundPages) cache.memory.wakeFlushers();
}

function putTag(frames: PageFrames, frame: number, page: number, inPage: number, length: number, seed: number): void {
  const fresh = tagOfPage(seed, page);
  const old = (frames.flags[frame] & PageFlag.bytes) === 0 ? frames.word[frame] : 0;
  frames.setTag(frame, length === PAGE_BYTES ? fresh : tagOfPart(old, fresh, inPage, length));
}

function putBytes(
  file: FileMapping,
  frame: number,
  inPage: number,
  length: number,
  from: Uint8Array,
  at: number,
  frames: PageFrames,
): void {
  const bytes = length === PAGE_BYTES ? frames.giveBytes(frame) : file.bytesToChange(frame);
  bytes.set(length === from.length ? from : from.subarray(at, at + length), inPage);
}

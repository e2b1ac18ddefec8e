import type { ReadaheadPages } from './policy.js';

/** Pages of one chunk of a forced read: 2 MiB. */
const CHUNK_PAGES = 512;

/** The least power of two that is not below `pages`. */
function roundUpToPower(pages: number): number {
  let power = 1;
  while (power < pages) power *= 2;
  return power;
}

/** First window of a stream whose first request has `pages` pages. */
export function firstWindow(pages: number, max: number): number {
  const rounded = roundUpToPower(pages);
  if (rounded <= Math.floor(max / 32)) return 4 * rounded;
  if (rounded <= Math.floor(max / 4)) return 2 * rounded;
  return max;
}

/** Cached pages in a row that end before `page`, counted up to `limit`. */
export function cachedBefore(pages: ReadaheadPages, page: number, limit: number): number {
  const least = Math.max(0, page - limit);
  let first = page;
  while (first > least && pages.isPresent(first - 1)) first--;
  return page - first;
}

/** First absent page at or after `page`, or `page + limit` if none of so many is. */
export function firstAbsent(pages: ReadaheadPages, page: number, limit: number): number {
  const end = page + limit;
  let next = page;
  while (next < end && pages.isPresent(next)) next++;
  return next;
}

/** Fetches pages that were asked for, in chunks, without a marker. */
export function fetchInChunks(pages: ReadaheadPages, first: number, count: number): void {
  const end = Math.min(first + count, pages.pageCount);
  for (let chunk = first; chunk < end; chunk += CHUNK_PAGES) {
    pages.fetch(chunk, Math.min(CHUNK_PAGES, end - chunk), -1);
  }
}

/** Counters of a page cache, in pages unless the name says otherwise. */
export class PageCacheStats {
  /** Pages that reads, faults and partial writes found cached, and that they did not. */
  hits = 0;
  misses = 0;
  /** Pages fetched from the file system, and requests to it. */
  fetched = 0;
  fetches = 0;
  /** Pages whose fetch failed. */
  fetchErrors = 0;
  /** Reads sent again because a page holds bytes for which no tag stands. */
  bytesReread = 0;
  /** Pages written by programs. */
  written = 0;
  /** Pages given to the file system to be written, and those that failed. */
  writtenBack = 0;
  writebackErrors = 0;
  evicted = 0;
  /** Pages fetched again after eviction, and those that became active at once for it. */
  refaults = 0;
  refaultsActivated = 0;
  activated = 0;
  deactivated = 0;
  /** Times that a writer was held back, and for how long in all, ns. */
  throttles = 0;
  throttledNs = 0;
  /** Times that somebody had to wait for memory. */
  memoryWaits = 0;
}

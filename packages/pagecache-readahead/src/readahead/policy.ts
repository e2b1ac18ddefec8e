import type { ReadaheadState } from './state.js';

/**
 * The cached pages of one file, as a read-ahead policy sees them and has them fetched. Pages of 4096 bytes, numbered
 * inside the file.
 */
export interface ReadaheadPages {
  /** Pages of the file. Nothing at or past it may be fetched. */
  readonly pageCount: number;
  /** Most pages that the kernel of 2.6.37 lets read-ahead fill: half of the inactive and free memory. */
  readonly roomPages: number;
  /** Whether folios of more than one page may be used. */
  readonly largeFolios: boolean;
  /** Whether the page is cached, up to date or on its way. */
  isPresent(page: number): boolean;
  /** log2 of the pages in the folio that holds a cached page. */
  orderOf(page: number): number;
  /**
   * Fetches the pages of `[first, first + count)` that are absent, as single pages: every run of them is a request of its
   * own. Page `marker` gets the read-ahead marker if this fetches it; -1: none does.
   */
  fetch(first: number, count: number, marker: number): void;
  /** Fetches one folio of 2^`order` pages as a part of a growing request, or false if any of its pages is cached. */
  fetchFolio(first: number, order: number, marked: boolean): boolean;
}

/** Decides what is read before it is asked for. One object may serve any number of files: all memory is in the state. */
export interface ReadaheadPolicy {
  /** True: requests do not say that they are read-ahead (RA in block traces). Default false, as of Linux 4.19. */
  readonly unmarked?: boolean;
  /**
   * Page `page` is absent, and `wanted` pages from it on belong to the request, whether or not the file has them.
   * If the page is absent still when this returns, it is read alone.
   */
  miss(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number): void;
  /** The folio that starts at `page` carried the marker, which has been taken off; `wanted` as for a miss. */
  marker(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number): void;
  /** Pages asked for outright: FADV_WILLNEED and readahead(2). */
  force(state: ReadaheadState, pages: ReadaheadPages, first: number, count: number): void;
  /** What `prevPos` becomes when a read has returned the bytes before `end`. */
  positionAfter(end: number): number;
}

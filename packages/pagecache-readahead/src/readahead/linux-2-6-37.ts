import { PAGE_BYTES } from '@flashstack/vfs';
import type { ReadaheadPages, ReadaheadPolicy } from './policy.js';
import type { ReadaheadState } from './state.js';
import { cachedBefore, fetchInChunks, firstAbsent, firstWindow } from './windows.js';

/**
 * On-demand read-ahead of Linux 2.6.31 to 3.9, thus also 2.6.37: a miss behind a single cached page starts a window.
 * Single pages only.
 */
export class Linux2637Readahead implements ReadaheadPolicy {
  readonly unmarked: boolean = true;

  miss(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number): void {
    if (state.raPages === 0) return;
    if (state.random) fetchInChunks(pages, page, wanted);
    else onDemand(state, pages, page, wanted, false);
  }

  marker(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number): void {
    if (state.raPages > 0) onDemand(state, pages, page, wanted, true);
  }

  force(_state: ReadaheadState, pages: ReadaheadPages, first: number, count: number): void {
    fetchInChunks(pages, first, count);
  }

  /** On the last page read, so that the next page of an aligned reader is the one after it. */
  positionAfter(end: number): number {
    return Math.floor((end - 1) / PAGE_BYTES) * PAGE_BYTES + (end % PAGE_BYTES);
  }
}

function onDemand(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number, marked: boolean): void {
  const max = Math.min(state.raPages, pages.roomPages);
  const end = state.start + state.size;
  if (page === 0) {
    startStream(state, pages, page, wanted, max);
  } else if (page === end - state.asyncSize || page === end) {
    state.start = end;
    state.size = nextWindow(state.size, max);
    state.asyncSize = state.size;
    submit(state, pages, page, max);
  } else if (marked) {
    const hole = firstAbsent(pages, page + 1, max);
    if (hole === page + 1 + max) return;
    state.start = hole;
    state.size = nextWindow(hole - page + wanted, max);
    state.asyncSize = state.size;
    submit(state, pages, page, max);
  } else if (wanted > max || state.follows(page)) {
    startStream(state, pages, page, wanted, max);
  } else if (!joinHistory(state, pages, page, wanted, max)) {
    fill(pages, page, wanted, 0);
  }
}

function startStream(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number, max: number): void {
  state.start = page;
  state.size = firstWindow(wanted, max);
  state.asyncSize = state.size > wanted ? state.size - wanted : state.size;
  submit(state, pages, page, max);
}

/** Cached pages just before the miss count as the past of a stream, be it one page. */
function joinHistory(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number, max: number): boolean {
  let history = cachedBefore(pages, page, max);
  if (history === 0) return false;
  // A run from the beginning of the file is a strong sign of a long stream.
  if (history >= page) history *= 2;
  state.start = page;
  state.size = firstWindow(history + wanted, max);
  state.asyncSize = state.size;
  submit(state, pages, page, max);
  return true;
}

function submit(state: ReadaheadState, pages: ReadaheadPages, page: number, max: number): void {
  // The request itself would meet the marker of its window at once: the next window is merged into this one.
  if (page === state.start && state.size === state.asyncSize) {
    state.asyncSize = nextWindow(state.size, max);
    state.size += state.asyncSize;
  }
  fill(pages, state.start, state.size, state.asyncSize);
}

function fill(pages: ReadaheadPages, start: number, size: number, asyncSize: number): void {
  const count = Math.min(size, pages.pageCount - start);
  if (count > 0) pages.fetch(start, count, asyncSize > 0 ? start + size - asyncSize : -1);
}

/** Window after one of `size` pages. */
function nextWindow(size: number, max: number): number {
  return Math.min(size < Math.floor(max / 16) ? 4 * size : 2 * size, max);
}

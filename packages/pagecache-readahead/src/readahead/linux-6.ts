import type { ReadaheadPages, ReadaheadPolicy } from './policy.js';
import { firstAbsentAfter, historyBefore } from './searches.js';
import type { ReadaheadState } from './state.js';
import { fetchInChunks, firstWindow } from './windows.js';

/** log2 of the pages of the largest folio. */
const MAX_ORDER = 9;

/** Read-ahead of Linux 6.18: windows end on multiples of the folio size, and history counts only if longer than the request. */
export class Linux6Readahead implements ReadaheadPolicy {
  miss(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number): void {
    if (state.raPages === 0) this.force(state, pages, page, 1);
    else if (state.random) this.force(state, pages, page, wanted);
    else missed(state, pages, page, wanted);
  }

  marker(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number): void {
    if (state.raPages === 0) return;
    const max = windowLimit(state, wanted);
    const end = state.start + state.size;
    const folioPages = 2 ** pages.orderOf(page);
    if (page === floorTo(end - state.asyncSize, folioPages)) {
      state.start = end;
      state.size = Math.max(state.size, nextWindow(state.size, max));
    } else {
      const hole = firstAbsentAfter(pages, page, max);
      if (hole - page > max) return;
      state.start = hole;
      state.size = nextWindow(hole - page + wanted, max);
    }
    state.order += 2;
    alignEnd(state, max);
    state.asyncSize = state.size;
    submit(state, pages);
  }

  force(state: ReadaheadState, pages: ReadaheadPages, first: number, count: number): void {
    fetchInChunks(pages, first, Math.min(count, Math.max(state.limits.ioPages, state.raPages)));
  }

  /** Just behind the last byte read: after an aligned read that is the next page. */
  positionAfter(end: number): number {
    return end;
  }
}

function missed(state: ReadaheadState, pages: ReadaheadPages, page: number, wanted: number): void {
  const max = windowLimit(state, wanted);
  if (page === 0 || wanted > max || state.follows(page)) {
    state.start = page;
    state.size = firstWindow(wanted, max);
    state.asyncSize = state.size > wanted ? state.size - wanted : Math.floor(state.size / 2);
  } else {
    let history = historyBefore(pages, page, max);
    if (history <= wanted) {
      fill(pages, page, wanted, 0);
      return;
    }
    // A run from the beginning of the file is a strong sign of a long stream.
    if (history >= page) history *= 2;
    state.start = page;
    state.size = Math.min(history + wanted, max);
    state.asyncSize = 1;
  }
  state.order = 0;
  submit(state, pages);
}

/** A request beyond the window limit may use the request size of the device. */
function windowLimit(state: ReadaheadState, wanted: number): number {
  const { ioPages } = state.limits;
  return wanted > state.raPages && ioPages > state.raPages ? Math.min(wanted, ioPages) : state.raPages;
}

/** Window after one of `size` pages. */
function nextWindow(size: number, max: number): number {
  if (size < Math.floor(max / 16)) return 4 * size;
  return size <= Math.floor(max / 2) ? 2 * size : max;
}

/** Takes from the window what lies behind the last multiple of the folio size. */
function alignEnd(state: ReadaheadState, max: number): void {
  let align = 1;
  for (let order = 0; order < state.order && max % (2 * align) === 0; order++) align *= 2;
  const end = state.start + state.size;
  const aligned = floorTo(end, align);
  if (aligned > state.start) state.size -= end - aligned;
}

function submit(state: ReadaheadState, pages: ReadaheadPages): void {
  if (!pages.largeFolios) {
    state.order = 0;
    fill(pages, state.start, state.size, state.asyncSize);
    return;
  }
  state.order = Math.min(state.order, MAX_ORDER, 31 - Math.clz32(state.size));
  const end = Math.min(state.start + state.size, pages.pageCount);
  const marker = state.start + state.size - state.asyncSize;
  let page = state.start;
  while (page < end) {
    const order = folioOrder(page, state.order, end);
    if (!pages.fetchFolio(page, order, page === floorTo(marker, 2 ** order))) {
      fill(pages, page, state.size - (page - state.start), state.asyncSize);
      return;
    }
    page += 2 ** order;
  }
}

/** The largest order up to `most` to which `page` is aligned, and with which the folio ends by `end`. */
function folioOrder(page: number, most: number, end: number): number {
  let order = 0;
  while (order < most && page % 2 ** (order + 1) === 0 && page + 2 ** (order + 1) <= end) order++;
  return order;
}

function fill(pages: ReadaheadPages, start: number, size: number, asyncSize: number): void {
  const count = Math.min(size, pages.pageCount - start);
  if (count <= 0) return;
  const marked = asyncSize > 0 && asyncSize <= count;
  pages.fetch(start, count, marked ? start + count - asyncSize : -1);
}

function floorTo(page: number, multiple: number): number {
  return page - (page % multiple);
}

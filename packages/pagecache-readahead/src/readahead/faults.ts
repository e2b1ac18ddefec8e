import { MemoryAdvice } from '@flashstack/vfs';
import type { ReadaheadPages, ReadaheadPolicy } from './policy.js';
import type { ReadaheadState } from './state.js';

/** Missed faults beyond which a mapping is read page by page. */
const LOTS_OF_MISSES = 100;
const MOST_MISSES = 1000;

/** A fault on an absent page. If it is absent still afterwards, it is read alone. `advice`: a `MemoryAdvice`. */
export function faultMissed(
  policy: ReadaheadPolicy,
  state: ReadaheadState,
  pages: ReadaheadPages,
  page: number,
  advice: number,
): void {
  const { raPages } = state;
  if (advice === MemoryAdvice.random || raPages === 0) return;
  if (advice === MemoryAdvice.sequential) {
    policy.miss(state, pages, page, raPages);
    return;
  }
  state.mmapMiss = Math.min(state.mmapMiss + 1, MOST_MISSES);
  if (state.mmapMiss > LOTS_OF_MISSES) return;
  // Read-around: the window lies about the page.
  state.start = Math.max(0, page - Math.floor(raPages / 2));
  state.size = raPages;
  state.asyncSize = Math.floor(raPages / 4);
  state.order = 0;
  const count = Math.min(state.size, pages.pageCount - state.start);
  const marker = state.start + count - state.asyncSize;
  pages.fetch(state.start, count, state.asyncSize > 0 && state.asyncSize <= count ? marker : -1);
}

/** A fault on a cached page, or a page that a fault nearby mapped along. */
export function faultHit(state: ReadaheadState): void {
  if (state.mmapMiss > 0) state.mmapMiss--;
}

import type { ReadaheadPages } from './policy.js';
import { cachedBefore, firstAbsent } from './windows.js';

// How Linux 6.18 looks for gaps. With single pages that is the plain search. In a mapping with large folios the search is
// off when it starts inside a folio: its slot in the index stays behind the page number, by the distance to the first page
// of the folio, until the search leaves the node of the index.

/** Slots in a node of the index. */
const NODE_SLOTS = 64;

/** First absent page after `page`, which starts a cached folio; beyond `page + max` if there is none up to there. */
export function firstAbsentAfter(pages: ReadaheadPages, page: number, max: number): number {
  if (pages.orderOf(page) === 0) return firstAbsent(pages, page + 1, max);
  const end = page + 1 + max;
  let slot = page;
  for (let at = page + 1; at < end; at++) {
    if (!pages.isPresent(slot)) return at;
    slot = slot % NODE_SLOTS === NODE_SLOTS - 1 ? at + 1 : slot + 1;
  }
  return end;
}

/** Cached pages in a row that end before `page`, counted up to `max`. */
export function historyBefore(pages: ReadaheadPages, page: number, max: number): number {
  if (!pages.isPresent(page - 1)) return 0;
  const folioPages = 2 ** pages.orderOf(page - 1);
  if (folioPages === 1) return cachedBefore(pages, page, max);
  let at = page - 1;
  let slot = at - (at % folioPages);
  while (page - 1 - at < max && slot >= 0 && pages.isPresent(slot)) {
    at--;
    if (slot % NODE_SLOTS !== 0) slot--;
    else if (at !== slot) slot += (at % NODE_SLOTS) - NODE_SLOTS;
  }
  return page - 1 - at;
}

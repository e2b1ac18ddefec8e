import type { HistoryEvent } from './history.js';

/**
 * Calls `visit` with orders in which operations may have taken effect: one that ended before another began comes before it.
 * The first is that of their ends. `visit` returns the position (1 and up) up to which an order is impossible, so that no
 * other that begins in the same way is tried; 0 to go on; −1 to stop.
 */
export function searchOrders(events: readonly HistoryEvent[], visit: (order: readonly HistoryEvent[]) => number): void {
  const left = [...events].sort((a, b) => (a.end === b.end ? a.begin - b.begin : a.end < b.end ? -1 : 1));
  extend(left, [], visit);
}

/** What `visit` has returned last, as far as it concerns orders that begin like this one. */
function extend(
  left: readonly HistoryEvent[],
  order: readonly HistoryEvent[],
  visit: (order: readonly HistoryEvent[]) => number,
): number {
  if (left.length === 0) return visit(order);
  // Sorted by end: whoever begins after the first has ended cannot be next.
  const firstEnd = left[0].end;
  for (const event of left) {
    if (event.begin > firstEnd) continue;
    const rest = left.filter((other) => other !== event);
    const verdict = extend(rest, [...order, event], visit);
    if (verdict < 0 || (verdict > 0 && verdict <= order.length)) return verdict;
  }
  return 0;
}

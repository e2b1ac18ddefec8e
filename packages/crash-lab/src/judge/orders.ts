import type { HistoryEvent } from './history.js';

/**
 * All orders in which operations may have taken effect: one that ended before another began comes before it. The first is
 * that of their ends.
 */
export function* orders(events: readonly HistoryEvent[]): Generator<readonly HistoryEvent[], void> {
  const left = [...events].sort((a, b) => (a.end === b.end ? a.begin - b.begin : a.end < b.end ? -1 : 1));
  yield* extend(left, []);
}

function* extend(
  left: readonly HistoryEvent[],
  order: readonly HistoryEvent[],
): Generator<readonly HistoryEvent[], void> {
  if (left.length === 0) {
    yield order;
    return;
  }
  // Sorted by end: whoever begins after the first has ended cannot be next.
  const firstEnd = left[0].end;
  for (const event of left) {
    if (event.begin > firstEnd) continue;
    yield* extend(
      left.filter((other) => other !== event),
      [...order, event],
    );
  }
}

import type { Task } from '@flashstack/sim';

/** A task that has nothing to wait for. */
// biome-ignore lint/correctness/useYield: that is its point.
export function* finished<T>(value: T): Task<T> {
  return value;
}

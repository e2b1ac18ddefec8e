import type { MaybeTask, Task } from '@flashstack/sim';

/** The result of a call that may block: for callers who may wait anyway. */
export function* done(result: MaybeTask): Task<number> {
  return typeof result === 'number' ? result : yield* result;
}

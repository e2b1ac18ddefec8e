import type { ReadaheadPolicy } from './policy.js';

/** Reads what is asked for, a page an I/O, and nothing else. */
export class NoReadahead implements ReadaheadPolicy {
  miss(): void {}

  marker(): void {}

  force(): void {}

  positionAfter(end: number): number {
    return end;
  }
}

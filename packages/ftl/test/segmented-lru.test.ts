import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EntryMarks } from '../src/map-cache/entry-marks.js';
import { SegmentedLru } from '../src/map-cache/segmented-lru.js';

/** Two arrays, most recently used first, as the policy is defined. */
class NaiveLru {
  probationary: number[] = [];
  protected: number[] = [];
  private readonly capacity: number;
  private readonly room: number;

  constructor(capacity: number, share: number) {
    this.capacity = capacity;
    this.room = Math.floor(share * capacity);
  }

  /** @returns true for a hit. */
  use(key: number): boolean {
    if (this.protected.includes(key)) {
      this.protected = [key, ...this.protected.filter((other) => other !== key)];
      return true;
    }
    if (this.probationary.includes(key)) {
      this.probationary = this.probationary.filter((other) => other !== key);
      this.protected = [key, ...this.protected];
      if (this.protected.length > this.room) this.probationary = [this.protected.pop() as number, ...this.probationary];
      return true;
    }
    if (this.probationary.length + this.protected.length === this.capacity) {
      if (this.probationary.length > 0) this.probationary.pop();
      else this.protected.pop();
    }
    this.probationary = [key, ...this.probationary];
    return false;
  }
}

describe('segmented LRU', () => {
  test('is what its definition says, whatever is used in whatever order', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.constantFrom(0, 0.25, 0.5, 0.8, 1),
        fc.array(fc.integer({ min: 0, max: 19 }), { maxLength: 120 }),
        (capacity, share, keys) => {
          const lru = new SegmentedLru(new EntryMarks(20), capacity, share);
          const naive = new NaiveLru(capacity, share);
          for (const key of keys) {
            const entry = lru.find(key);
            expect(entry >= 0).toBe(naive.use(key));
            if (entry >= 0) lru.touch(entry);
            else lru.insert(key);
            expect(lru.keysOf('probationary')).toEqual(naive.probationary);
            expect(lru.keysOf('protected')).toEqual(naive.protected);
          }
        },
      ),
    );
  });
});

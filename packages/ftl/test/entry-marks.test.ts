import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EntryMarks } from '../src/map-cache/entry-marks.js';

const SIZE = 150;

function check(marks: EntryMarks, cached: ReadonlySet<number>, owed: ReadonlySet<number>): void {
  for (let each = 0; each < SIZE; each++) {
    expect(marks.isCached(each)).toBe(cached.has(each));
    expect(marks.isOwed(each)).toBe(owed.has(each));
  }
}

test('marks are two sets of small integers that leave each other alone', () => {
  const member = fc.integer({ min: 0, max: SIZE - 1 });
  const kind = fc.constantFrom('cache', 'uncache', 'owe', 'settle', 'settleRange', 'settleRange');
  const operation = fc.record({ kind, a: member, b: member });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const marks = new EntryMarks(SIZE);
      const cached = new Set<number>();
      const owed = new Set<number>();
      for (let each = 0; each < SIZE; each += 1 + (each % 3)) {
        marks.owe(each);
        owed.add(each);
        if (each % 2 === 0) continue;
        marks.cache(each);
        cached.add(each);
      }
      for (const { kind: what, a, b } of operations) {
        if (what === 'settleRange') {
          marks.settleRange(a, b);
          for (let each = a; each < b; each++) owed.delete(each);
        } else {
          marks[what](a);
          if (what === 'cache') cached.add(a);
          else if (what === 'uncache') cached.delete(a);
          else if (what === 'owe') owed.add(a);
          else owed.delete(a);
        }
        check(marks, cached, owed);
      }
      marks.clear();
      check(marks, new Set(), new Set());
    }),
    { numRuns: 30 },
  );
});

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Bits } from '../src/map-cache/bits.js';

test('bits are a set of small integers', () => {
  const member = fc.integer({ min: 0, max: 149 });
  const operation = fc.record({ kind: fc.constantFrom('add', 'delete', 'range', 'range'), a: member, b: member });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 60 }), (operations) => {
      const bits = new Bits(150);
      const set = new Set<number>();
      for (const { kind, a, b } of [{ kind: 'fill', a: 0, b: 0 }, ...operations]) {
        if (kind === 'fill') {
          for (let each = 0; each < 150; each += 1 + (each % 3)) {
            bits.add(each);
            set.add(each);
          }
        } else if (kind === 'add') {
          bits.add(a);
          set.add(a);
        } else if (kind === 'delete') {
          bits.delete(a);
          set.delete(a);
        } else {
          bits.deleteRange(a, b);
          for (let each = a; each < b; each++) set.delete(each);
        }
        for (let each = 0; each < 150; each++) expect(bits.has(each)).toBe(set.has(each));
      }
      bits.clear();
      for (let each = 0; each < 150; each++) expect(bits.has(each)).toBe(false);
    }),
    { numRuns: 30 },
  );
});

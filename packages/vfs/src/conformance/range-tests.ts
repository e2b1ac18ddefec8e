import { FallocateMode, OpenFlag } from '../index.js';
import { type ConformanceTest, equal, fails, go } from './harness.js';
import { rangesOf } from './offers.js';

const { create, readOnly, readWrite } = OpenFlag;
const { allocate, collapseRange, insertRange, keepSize, punchHole, zeroRange } = FallocateMode;
const UNIT = 65_536;

export const rangeTests: readonly ConformanceTest[] = [
  {
    name: 'fallocate: modes that are not offered are EOPNOTSUPP, and so are unknown ones',
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'x'.repeat(4 * UNIT));
      for (const mode of [0, 1, 3, 8, 16, 17, 32]) {
        if (t.capabilities.fallocate.includes(mode)) continue;
        yield* fails('EOPNOTSUPP', `mode ${mode}`, () => t.root.fallocate(fd, mode, UNIT, UNIT));
      }
      for (const mode of [punchHole, collapseRange | keepSize, 0x1000]) {
        yield* fails('EOPNOTSUPP EINVAL', `mode ${mode}`, () => t.root.fallocate(fd, mode, UNIT, UNIT));
      }
      equal(yield* t.get(fd, 5 * UNIT, 0), 'x'.repeat(4 * UNIT), 'contents');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'fallocate: it reserves space, extends the file with zeroes and leaves contents alone',
    needs: rangesOf(allocate),
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'text');
      yield* go(t.root.fallocate(fd, allocate, 0, 10 * UNIT));
      equal((yield* t.fstat(fd)).size, 10 * UNIT, 'size');
      equal((yield* t.fstat(fd)).sectors * 512 >= 10 * UNIT, true, 'space');
      equal(yield* t.get(fd, 8, 0), 'text\0\0\0\0', 'start');
      equal(yield* t.get(fd, UNIT, 9 * UNIT), '\0'.repeat(UNIT), 'end');
      yield* fails('EINVAL', 'no length', () => t.root.fallocate(fd, allocate, 0, 0));
      yield* fails('EINVAL', 'a negative position', () => t.root.fallocate(fd, allocate, -1, 10));
      yield* fails('EFBIG', 'too large', () => t.root.fallocate(fd, allocate, t.capabilities.fileBytes - 1, 4096));
      const reader = yield* go(t.root.open('/f', readOnly));
      yield* fails('EBADF', 'a descriptor to read', () => t.root.fallocate(reader, allocate, 0, 1));
      for (const open of [fd, reader]) yield* go(t.root.close(open));
      yield* t.remount();
      equal((yield* t.contents('/f')).length, 10 * UNIT, 'length after a remount');
    },
  },
  {
    name: 'fallocate: space that is reserved is there when the file system is full',
    needs: rangesOf(keepSize),
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* go(t.root.fallocate(fd, keepSize, 0, 16 * UNIT));
      equal((yield* t.fstat(fd)).size, 0, 'size');
      const filler = yield* go(t.root.open('/filler', create | readWrite, 0o644));
      const chunk = new Uint8Array(16 * UNIT).fill(7);
      yield* fails('ENOSPC', 'filling it up', function* () {
        for (;;) if ((yield* go(t.root.write(filler, chunk, chunk.length))) < chunk.length) chunk.fill(8);
      });
      yield* t.put(fd, 'x'.repeat(16 * UNIT));
      yield* go(t.root.fsync(fd));
      for (const open of [fd, filler]) yield* go(t.root.close(open));
    },
  },
  {
    name: 'fallocate: a punched hole reads as zero, gives its space back and keeps the size',
    needs: rangesOf(punchHole | keepSize),
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'x'.repeat(8 * UNIT));
      yield* go(t.root.fsync(fd));
      const before = yield* t.fstat(fd);
      yield* go(t.root.fallocate(fd, punchHole | keepSize, UNIT - 5, 4 * UNIT + 10));
      const hole = `${'x'.repeat(5)}${'\0'.repeat(4 * UNIT + 10)}${'x'.repeat(5)}`;
      equal(yield* t.get(fd, hole.length, UNIT - 10), hole, 'contents around the hole');
      const after = yield* t.fstat(fd);
      equal(after.size, 8 * UNIT, 'size');
      equal((before.sectors - after.sectors) * 512 >= 4 * UNIT, true, 'space that came back');
      yield* go(t.root.fallocate(fd, punchHole | keepSize, 7 * UNIT, 100 * UNIT));
      equal((yield* t.fstat(fd)).size, 8 * UNIT, 'size after a hole across the end');
      yield* go(t.root.close(fd));
      yield* t.remount();
      const again = yield* go(t.root.open('/f', readOnly));
      equal(yield* t.get(again, hole.length, UNIT - 10), hole, 'contents after a remount');
      yield* go(t.root.close(again));
    },
  },
  {
    name: 'fallocate: a zeroed range reads as zero and keeps its space',
    needs: rangesOf(zeroRange),
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'x'.repeat(4 * UNIT));
      yield* go(t.root.fallocate(fd, zeroRange, UNIT + 1, UNIT));
      equal(yield* t.get(fd, UNIT + 2, UNIT), `x${'\0'.repeat(UNIT)}x`, 'contents');
      yield* go(t.root.fallocate(fd, zeroRange, 3 * UNIT, 2 * UNIT));
      equal((yield* t.fstat(fd)).size, 5 * UNIT, 'size');
      equal((yield* t.fstat(fd)).sectors * 512 >= 5 * UNIT, true, 'space');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'fallocate: what is kept behind the end is zero, also where odd bytes of it are zeroed or punched out',
    needs: rangesOf(keepSize, zeroRange, zeroRange | keepSize, punchHole | keepSize),
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'xyz');
      yield* go(t.root.fallocate(fd, keepSize, 0, 8 * UNIT));
      yield* go(t.root.fallocate(fd, zeroRange | keepSize, 2 * UNIT + 7, 100));
      yield* go(t.root.fallocate(fd, zeroRange | keepSize, 3 * UNIT + 7, 2 * UNIT));
      yield* go(t.root.fallocate(fd, punchHole | keepSize, 5 * UNIT + 7, UNIT));
      equal((yield* t.fstat(fd)).size, 3, 'size with the space kept');
      yield* go(t.root.fallocate(fd, zeroRange, 6 * UNIT + 1, 9));
      equal(yield* t.get(fd, 7 * UNIT, 0), `xyz${'\0'.repeat(6 * UNIT + 7)}`, 'contents');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'fallocate: collapsing takes a range out, inserting makes room',
    needs: rangesOf(collapseRange, insertRange),
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      const piece = (letter: string): string => letter.repeat(UNIT);
      yield* t.put(fd, piece('a') + piece('b') + piece('c') + piece('d'));
      yield* go(t.root.fallocate(fd, collapseRange, UNIT, UNIT));
      equal(yield* t.get(fd, 5 * UNIT, 0), piece('a') + piece('c') + piece('d'), 'contents after collapsing');
      yield* go(t.root.fallocate(fd, insertRange, 2 * UNIT, UNIT));
      const expected = piece('a') + piece('c') + piece('\0') + piece('d');
      equal(yield* t.get(fd, 5 * UNIT, 0), expected, 'contents after inserting');
      yield* fails('EINVAL', 'collapse to the end', () => t.root.fallocate(fd, collapseRange, 3 * UNIT, UNIT));
      yield* fails('EINVAL', 'insert at the end', () => t.root.fallocate(fd, insertRange, 4 * UNIT, UNIT));
      yield* fails('EINVAL', 'collapse of odd bytes', () => t.root.fallocate(fd, collapseRange, 1, UNIT));
      yield* fails('EINVAL', 'insert of odd bytes', () => t.root.fallocate(fd, insertRange, UNIT, 1));
      yield* go(t.root.close(fd));
      yield* t.remount();
      equal(yield* t.contents('/f'), expected, 'contents after a remount');
    },
  },
];

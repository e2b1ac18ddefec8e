import { FileAdvice, OpenFlag, Seek, SyncRange } from '../index.js';
import { bytesOf, type ConformanceTest, equal, fails, go } from './harness.js';
import { holes } from './offers.js';

const { append, create, dataSync, direct, readOnly, readWrite, sync, writeOnly } = OpenFlag;

export const contentTests: readonly ConformanceTest[] = [
  {
    name: 'read and write: the cursor moves by what was done; at the end nothing is read',
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'abcdef');
      equal(yield* t.get(fd, 4), '', 'read at the end');
      equal(yield* go(t.root.lseek(fd, 1, Seek.set)), 1, 'new position');
      equal(yield* t.get(fd, 2), 'bc', 'two bytes');
      yield* t.put(fd, 'DE');
      equal(yield* t.get(fd, 9), 'f', 'the rest');
      equal(yield* t.get(fd, 9, 0), 'abcDEf', 'contents');
      equal(yield* go(t.root.lseek(fd, 0, Seek.current)), 6, 'position, which pread leaves alone');
      equal(yield* t.get(fd, 9, 100), '', 'read behind the end');
      yield* fails('EINVAL', 'pread from a negative position', () => t.root.pread(fd, null, 1, -1));
      yield* fails('EINVAL', 'pwrite to a negative position', () => t.root.pwrite(fd, null, 1, -1));
      equal(yield* go(t.root.read(fd, null, 0)), 0, 'read of nothing');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'read and write: a descriptor does only what it was opened for',
    *body(t) {
      yield* t.file('/f', 'text');
      const [reader, writer] = [yield* go(t.root.open('/f', readOnly)), yield* go(t.root.open('/f', writeOnly))];
      yield* fails('EBADF', 'write', () => t.root.write(reader, bytesOf('x'), 1));
      yield* fails('EBADF', 'pwrite', () => t.root.pwrite(reader, bytesOf('x'), 1, 0));
      yield* fails('EBADF', 'read', () => t.root.read(writer, new Uint8Array(1), 1));
      yield* fails('EBADF', 'pread', () => t.root.pread(writer, new Uint8Array(1), 1, 0));
      equal(yield* t.contents('/f'), 'text', 'contents');
      for (const fd of [reader, writer]) yield* go(t.root.close(fd));
    },
  },
  {
    name: 'cursors: duplicates and children share one, another open has its own',
    *body(t) {
      yield* t.file('/f', '0123456789');
      const fd = yield* go(t.root.open('/f', readOnly));
      const copy = t.root.dup(fd);
      const other = yield* go(t.root.open('/f', readOnly));
      const child = t.root.process.fork();
      const inChild = child.thread();
      equal(yield* t.get(fd, 2), '01', 'first read');
      equal(yield* t.get(copy, 2), '23', 'read of the duplicate');
      equal(yield* t.get(fd, 2, -1, inChild), '45', 'read of the child');
      equal(yield* t.get(other, 2), '01', 'read of the other');
      yield* go(t.root.close(fd));
      equal(yield* t.get(copy, 2), '67', 'read of the duplicate after the first was closed');
      equal(yield* t.get(fd, 2, -1, inChild), '89', 'read of the child after the parent closed it');
      yield* go(t.root.dup2(other, copy));
      equal(yield* t.get(copy, 2), '23', 'read after dup2');
      yield* go(child.exit());
      for (const left of [copy, other]) yield* go(t.root.close(left));
    },
  },
  {
    name: 'lseek: from the start, the cursor and the end; not before the start',
    *body(t) {
      yield* t.file('/f', 'x'.repeat(100));
      const fd = yield* go(t.root.open('/f', readWrite));
      equal(yield* go(t.root.lseek(fd, -10, Seek.end)), 90, 'from the end');
      equal(yield* go(t.root.lseek(fd, -20, Seek.current)), 70, 'from the cursor');
      yield* fails('EINVAL', 'before the start', () => t.root.lseek(fd, -71, Seek.current));
      yield* fails('EINVAL', 'from nowhere', () => t.root.lseek(fd, 0, 9));
      equal(yield* go(t.root.lseek(fd, 0, Seek.current)), 70, 'position after refusals');
      equal(yield* go(t.root.lseek(fd, 1000, Seek.end)), 1100, 'behind the end');
      equal((yield* t.fstat(fd)).size, 100, 'size after seeking');
      yield* t.put(fd, 'y');
      equal((yield* t.fstat(fd)).size, 1101, 'size after writing there');
      equal(yield* t.get(fd, 3, 1098), '\0\0y', 'the gap is zero');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'O_APPEND: every write goes to the end, wherever the cursor is',
    *body(t) {
      yield* t.file('/f', 'ab');
      const one = yield* go(t.root.open('/f', append | readWrite));
      const two = yield* go(t.root.open('/f', append | writeOnly));
      yield* t.put(one, 'c');
      yield* t.put(two, 'd');
      yield* go(t.root.lseek(one, 0, Seek.set));
      yield* t.put(one, 'e');
      equal(yield* go(t.root.lseek(one, 0, Seek.current)), 5, 'cursor after the write');
      yield* t.put(one, 'f', t.root, 0);
      equal(yield* t.contents('/f'), 'abcdef', 'contents');
      for (const fd of [one, two]) yield* go(t.root.close(fd));
    },
  },
  {
    name: 'holes: what was never written is zero and takes no space',
    needs: holes,
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'end', t.root, 1_000_000);
      yield* t.put(fd, 'begin', t.root, 0);
      yield* go(t.root.fsync(fd));
      equal((yield* t.fstat(fd)).sectors * 512 < 200_000, true, 'space of a file with a hole');
      equal(yield* t.get(fd, 20, 0), `begin${'\0'.repeat(15)}`, 'start');
      equal(yield* t.get(fd, 20, 999_990), `${'\0'.repeat(10)}end`, 'end');
      yield* t.put(fd, 'middle', t.root, 500_000);
      equal(yield* t.get(fd, 10, 499_998), '\0\0middle\0\0', 'middle');
      yield* go(t.root.close(fd));
      yield* t.remount();
      const again = yield* go(t.root.open('/f', readOnly));
      equal(yield* t.get(again, 10, 499_998), '\0\0middle\0\0', 'middle after a remount');
      equal(yield* t.get(again, 1, 300_000), '\0', 'hole after a remount');
      yield* go(t.root.close(again));
    },
  },
  {
    name: 'SEEK_DATA and SEEK_HOLE: they find what was written; behind the end is ENXIO',
    *body(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      const block = 65_536;
      yield* t.put(fd, 'x'.repeat(block), t.root, 4 * block);
      yield* t.put(fd, 'x'.repeat(block), t.root, 8 * block);
      yield* go(t.root.ftruncate(fd, 12 * block));
      for (const synced of [false, true]) {
        if (synced) yield* go(t.root.fsync(fd));
        const knows = t.capabilities.seeksHoles;
        for (const [offset, whence, found] of [
          [0, Seek.data, knows ? 4 : 0],
          [4, Seek.data, 4],
          [0, Seek.hole, knows ? 0 : 12],
          [4, Seek.hole, knows ? 5 : 12],
          [6, Seek.data, knows ? 8 : 6],
          [8, Seek.hole, knows ? 9 : 12],
        ] as const) {
          const at = yield* go(t.root.lseek(fd, offset * block, whence));
          equal(at, found * block, `whence ${whence} from block ${offset}`);
        }
        if (knows) yield* fails('ENXIO', 'data behind the last', () => t.root.lseek(fd, 9 * block, Seek.data));
        yield* fails('ENXIO', 'data at the end', () => t.root.lseek(fd, 12 * block, Seek.data));
        yield* fails('ENXIO', 'a hole at the end', () => t.root.lseek(fd, 12 * block, Seek.hole));
        yield* fails('ENXIO', 'a negative position', () => t.root.lseek(fd, -1, Seek.data));
      }
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'O_DIRECT: it sees what was written through the cache, and the other way round',
    *body(t) {
      const unit = Math.max(t.capabilities.directBytes, 4096);
      yield* t.file('/f', 'a'.repeat(3 * unit));
      const fd = yield* go(t.root.open('/f', readWrite | direct));
      const bytes = new Uint8Array(unit);
      equal(yield* go(t.root.pread(fd, bytes, unit, unit)), unit, 'bytes read');
      equal(String.fromCharCode(bytes[0], bytes[unit - 1]), 'aa', 'what was written through the cache');
      equal(yield* go(t.root.pwrite(fd, bytesOf('b'.repeat(unit)), unit, unit)), unit, 'bytes written');
      const cached = yield* t.contents('/f');
      equal(cached, `${'a'.repeat(unit)}${'b'.repeat(unit)}${'a'.repeat(unit)}`, 'what was written past the cache');
      equal(yield* go(t.root.pwrite(fd, bytesOf('c'.repeat(unit)), unit, 3 * unit)), unit, 'bytes appended');
      equal((yield* t.fstat(fd)).size, 4 * unit, 'size');
      if (t.capabilities.directBytes > 1) {
        yield* fails('EINVAL', 'a position between', () => t.root.pwrite(fd, bytes, unit, 1));
        yield* fails('EINVAL', 'a length between', () => t.root.pwrite(fd, bytes, unit - 1, 0));
      }
      yield* go(t.root.fsync(fd));
      yield* go(t.root.close(fd));
      yield* t.remount();
      equal((yield* t.contents('/f')).slice(-1), 'c', 'last byte after a remount');
    },
  },
  {
    name: 'O_SYNC, O_DSYNC, fsync, fdatasync, sync_file_range, sync: contents are what they were',
    *body(t) {
      let text = '';
      for (const flags of [sync, dataSync, 0]) {
        const fd = yield* go(t.root.open('/f', create | append | readWrite | flags, 0o644));
        for (let at = 0; at < 20; at++) {
          yield* t.put(fd, `${at},`.repeat(at * 31));
          text += `${at},`.repeat(at * 31);
          if (flags === 0) {
            const ways = [
              () => t.root.fsync(fd),
              () => t.root.fdatasync(fd),
              () => t.root.syncFileRange(fd, 0, 0, SyncRange.waitBefore | SyncRange.write | SyncRange.waitAfter),
              () => t.root.sync(),
              () => t.root.syncFs(fd),
            ];
            yield* go(ways[at % ways.length]());
          }
        }
        yield* go(t.root.close(fd));
      }
      equal(yield* t.contents('/f'), text, 'contents');
      yield* t.remount();
      equal(yield* t.contents('/f'), text, 'contents after a remount');
      const fd = yield* go(t.root.open('/', readOnly));
      yield* go(t.root.fsync(fd));
      yield* fails('EINVAL', 'sync_file_range with a flag it has not', () => t.root.syncFileRange(fd, 0, 0, 8));
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'mappings: what is stored through one is read by calls, and the other way round',
    *body(t) {
      yield* t.file('/f', 'x'.repeat(10_000));
      const fd = yield* go(t.root.open('/f', readWrite));
      yield* go(t.root.touch(fd, 4090, 10, true, bytesOf('0123456789')));
      equal(yield* t.get(fd, 12, 4089), 'x0123456789x', 'what was stored');
      yield* go(t.root.msync(fd, 0, 10_000));
      yield* go(t.root.touch(fd, 0, 10_000, false));
      yield* go(t.root.close(fd));
      yield* t.remount();
      equal((yield* t.contents('/f')).slice(4089, 4101), 'x0123456789x', 'what was stored, after a remount');
    },
  },
  {
    name: 'advice and read-ahead: they change nothing that is read',
    *body(t) {
      yield* t.file('/f', 'abc'.repeat(40_000));
      const fd = yield* go(t.root.open('/f', readOnly));
      for (const advice of Object.values(FileAdvice)) yield* go(t.root.fadvise(fd, 0, 0, advice));
      yield* fails('EINVAL', 'unknown advice', () => t.root.fadvise(fd, 0, 0, 99));
      yield* go(t.root.readahead(fd, 0, 60_000));
      equal(yield* t.get(fd, 200_000, 0), 'abc'.repeat(40_000), 'contents');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'copies inside the kernel: between files, from positions and cursors',
    *body(t) {
      yield* t.file('/from', '0123456789'.repeat(2000));
      yield* t.file('/to', 'abcdef');
      const [from, to] = [yield* go(t.root.open('/from', readOnly)), yield* go(t.root.open('/to', readWrite))];
      equal(yield* go(t.root.copyRange(from, 5, to, 2, 3)), 3, 'bytes copied');
      equal(yield* t.get(to, 9, 0), 'ab567f', 'contents');
      yield* go(t.root.lseek(from, 19_990, Seek.set));
      equal(yield* go(t.root.copyRange(from, -1, to, -1, 100)), 10, 'bytes copied from the cursor to the end');
      equal(yield* go(t.root.lseek(from, 0, Seek.current)), 20_000, 'cursor of the source');
      equal(yield* t.contents('/to'), '0123456789', 'contents in the end');
      equal(yield* go(t.root.copyRange(from, 0, to, 0, 20_000)), 20_000, 'bytes of the whole file');
      equal(yield* t.contents('/to'), '0123456789'.repeat(2000), 'contents of the whole file');
      yield* fails('EBADF', 'to a file that is read only', () => t.root.copyRange(to, 0, from, 0, 1));
      for (const fd of [from, to]) yield* go(t.root.close(fd));
    },
  },
];

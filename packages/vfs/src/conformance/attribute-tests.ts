import type { MaybeTask, Task } from '@flashstack/sim';
import { AT_WORKING_DIRECTORY, FallocateMode, type FileStatus, OpenFlag } from '../index.js';
import { type ConformanceTest, equal, fails, go, type Tester } from './harness.js';
import { holes, symbolicLinks } from './offers.js';

const { readOnly, readWrite, writeOnly } = OpenFlag;

/** Which of a file's times moved on between two looks at it, as letters. */
function moved(before: FileStatus, after: FileStatus): string {
  let letters = '';
  if (later(before.accessedSec, before.accessedNsec, after.accessedSec, after.accessedNsec)) letters += 'a';
  if (later(before.modifiedSec, before.modifiedNsec, after.modifiedSec, after.modifiedNsec)) letters += 'm';
  if (later(before.changedSec, before.changedNsec, after.changedSec, after.changedNsec)) letters += 'c';
  return letters;
}

function later(sec: number, nsec: number, thenSec: number, thenNsec: number): boolean {
  return thenSec > sec || (thenSec === sec && thenNsec > nsec);
}

/** Checks which times of a file a call moves on; the access time only if it is asked for. */
function* moves(t: Tester, path: string, letters: string, what: string, call: () => MaybeTask): Task<void> {
  yield* t.later();
  const before = yield* t.lstat(path);
  yield* go(call());
  const after = yield* t.lstat(path);
  equal(moved(before, after).replace('a', ''), letters, `times of ${path} that ${what} moves on`);
}

export const attributeTests: readonly ConformanceTest[] = [
  {
    name: 'times: each call moves on those that it should',
    *body(t) {
      yield* t.file('/f', 'some text', 0o666);
      const fd = yield* go(t.root.open('/f', readWrite));
      const bytes = new Uint8Array(2);
      yield* moves(t, '/f', 'mc', 'write', () => t.root.write(fd, bytes, 2));
      yield* moves(t, '/f', '', 'write of nothing', () => t.root.write(fd, bytes, 0));
      yield* moves(t, '/f', '', 'read', () => t.root.read(fd, bytes, 2));
      yield* moves(t, '/f', 'mc', 'ftruncate', () => t.root.ftruncate(fd, 3));
      yield* moves(t, '/f', 'mc', 'truncate', () => t.root.truncate('/f', 9));
      yield* moves(t, '/f', 'c', 'chmod', () => t.root.chmod('/f', 0o600));
      yield* moves(t, '/f', 'c', 'fchmod', () => t.root.fchmod(fd, 0o600));
      yield* moves(t, '/f', 'c', 'chown', () => t.root.chown('/f', 1, 1));
      yield* moves(t, '/f', '', 'fsync', () => t.root.fsync(fd));
      yield* moves(t, '/f', '', 'access', () => t.root.access('/f', 4));
      yield* moves(t, '/f', 'mc', 'utimens to the present', () => t.root.utimens('/f', null, null));
      yield* moves(t, '/f', 'mc', 'a store to its mapping', () => t.root.touch(fd, 0, 2, true, bytes));
      yield* moves(t, '/', '', 'opening an entry', () => t.root.open('/f', readOnly));
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'times: a directory is modified by every change of its entries and by nothing else',
    *body(t) {
      yield* t.file('/f');
      yield* t.mkdir('/d');
      yield* t.mkdir('/e');
      yield* moves(t, '/d', 'mc', 'mkdir', () => t.root.mkdir('/d/a', 0o755));
      yield* moves(t, '/d', 'mc', 'rmdir', () => t.root.rmdir('/d/a'));
      yield* moves(t, '/d', 'mc', 'rename to it', () => t.root.rename('/f', '/d/f'));
      yield* moves(t, '/d', 'mc', 'rename within it', () => t.root.rename('/d/f', '/d/g'));
      yield* moves(t, '/d', '', 'chmod of an entry', () => t.root.chmod('/d/g', 0o600));
      yield* moves(t, '/d', '', 'truncate of an entry', () => t.root.truncate('/d/g', 100));
      yield* moves(t, '/d', 'mc', 'rename from it', () => t.root.rename('/d/g', '/e/g'));
      yield* moves(t, '/e', 'mc', 'unlink', () => t.root.unlink('/e/g'));
      if (t.capabilities.symlinks) yield* moves(t, '/e', 'mc', 'symlink', () => t.root.symlink('x', '/e/s'));
    },
  },
  {
    name: 'times: reading moves the access time on once after a change',
    *body(t) {
      yield* t.file('/f', 'text');
      const fd = yield* go(t.root.open('/f', readOnly));
      yield* t.later();
      const first = yield* t.lstat('/f');
      yield* t.get(fd, 4);
      const second = yield* t.lstat('/f');
      equal(moved(first, second), 'a', 'times that the first read moves on');
      yield* t.later();
      yield* t.get(fd, 4, 0);
      equal(moved(second, yield* t.lstat('/f')), '', 'times that the second read moves on');
      yield* go(t.root.close(fd));
      const quiet = yield* go(t.root.open('/f', readOnly | OpenFlag.noAccessTime));
      yield* go(t.root.truncate('/f', 3));
      yield* t.later();
      const before = yield* t.lstat('/f');
      yield* t.get(quiet, 3, 0);
      equal(moved(before, yield* t.lstat('/f')), '', 'times that a read with O_NOATIME moves on');
      yield* go(t.root.close(quiet));
    },
  },
  {
    name: 'utimens: given times are kept to the resolution that the file system has, also over a remount',
    *body(t) {
      yield* t.file('/f');
      const { timeNs } = t.capabilities;
      yield* go(t.root.utimens('/f', [1_111_111_111, 123_456_789], [1_222_222_222, 987_654_321]));
      const expected = (nsec: number): number => nsec - (nsec % Math.min(timeNs, 1e9));
      for (const again of [false, true]) {
        if (again) yield* t.remount();
        const found = yield* t.lstat('/f');
        const when = again ? 'after a remount' : 'at once';
        equal(Math.abs(found.accessedSec - 1_111_111_111) <= timeNs / 1e9, true, `access time ${when}`);
        equal(
          found.modifiedSec - (found.modifiedSec % Math.ceil(timeNs / 1e9)),
          1_222_222_222,
          `modification time ${when}`,
        );
        if (again || timeNs === 1) equal(found.modifiedNsec, expected(987_654_321), `its nanoseconds ${when}`);
      }
    },
  },
  {
    name: 'utimens: of a symbolic link itself, or of what it leads to',
    needs: symbolicLinks,
    *body(t) {
      yield* t.file('/f');
      yield* go(t.root.symlink('f', '/s'));
      yield* go(t.root.utimens('/s', [1_111_111_110, 0], [1_222_222_222, 0], AT_WORKING_DIRECTORY, false));
      yield* go(t.root.utimens('/s', [1_333_333_334, 0], [1_444_444_444, 0]));
      equal((yield* t.lstat('/s')).modifiedSec, 1_222_222_222, 'modification time of the link');
      equal((yield* t.lstat('/f')).modifiedSec, 1_444_444_444, 'modification time of the file');
    },
  },
  {
    name: 'utimens: the owner sets any time, a writer the present, others nothing',
    *body(t) {
      yield* t.file('/f', '', 0o666);
      yield* go(t.root.chmod('/f', 0o666));
      yield* go(t.root.chown('/f', 1000, 1000));
      const [owner, writer] = [t.as(1000, 1000), t.as(1001, 1001)];
      yield* go(owner.utimens('/f', [1, 0], [2, 0]));
      yield* go(writer.utimens('/f', null, null));
      yield* fails('EPERM', 'a given time by a writer', () => writer.utimens('/f', [1, 0], [2, 0]));
      yield* go(t.root.chmod('/f', 0o444));
      yield* fails('EACCES', 'the present by a reader', () => writer.utimens('/f', null, null));
      yield* fails('none', 'the present by the owner', () => owner.utimens('/f', null, null));
    },
  },
  {
    name: 'truncate: it cuts, and extends with zeroes; what was cut does not come back',
    *body(t) {
      yield* t.file('/f', 'x'.repeat(10_000));
      yield* go(t.root.truncate('/f', 5000));
      equal(yield* t.contents('/f'), 'x'.repeat(5000), 'contents after cutting');
      yield* go(t.root.truncate('/f', 9000));
      equal(yield* t.contents('/f'), 'x'.repeat(5000) + '\0'.repeat(4000), 'contents after extending');
      yield* go(t.root.truncate('/f', 0));
      yield* go(t.root.truncate('/f', 100));
      equal(yield* t.contents('/f'), '\0'.repeat(100), 'contents in the end');
      yield* t.remount();
      equal(yield* t.contents('/f'), '\0'.repeat(100), 'contents after a remount');
    },
  },
  {
    name: 'truncate: directories, negative and too large sizes, read-only files and descriptors are refused',
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.file('/f', 'text', 0o444);
      yield* fails('EISDIR', 'a directory', () => t.root.truncate('/d', 0));
      yield* fails('EINVAL', 'a negative size', () => t.root.truncate('/f', -1));
      yield* fails('EFBIG EINVAL', 'a size too large', () => t.root.truncate('/f', t.capabilities.fileBytes + 1));
      yield* fails('EACCES', 'a file that may not be written', () => t.as(1, 1).truncate('/f', 0));
      const fd = yield* go(t.root.open('/f', readOnly));
      yield* fails('EINVAL EBADF', 'a descriptor to read', () => t.root.ftruncate(fd, 0));
      yield* go(t.root.close(fd));
      const writable = yield* go(t.root.open('/f', writeOnly));
      yield* fails('EINVAL', 'a negative size by descriptor', () => t.root.ftruncate(writable, -1));
      yield* go(t.root.close(writable));
      equal(yield* t.contents('/f'), 'text', 'contents in the end');
    },
  },
  {
    name: 'truncate: the largest size is taken, and one byte at its end is read back',
    needs: holes,
    *body(t) {
      yield* t.file('/f');
      const most = t.capabilities.fileBytes;
      yield* go(t.root.truncate('/f', most));
      equal((yield* t.lstat('/f')).size, most, 'size');
      const fd = yield* go(t.root.open('/f', readWrite));
      yield* t.put(fd, 'z', t.root, most - 1);
      yield* fails('EFBIG', 'a write behind the largest size', () => t.root.pwrite(fd, new Uint8Array(1), 1, most));
      equal(yield* t.get(fd, 10, most - 2), '\0z', 'last bytes');
      yield* go(t.root.ftruncate(fd, 0));
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'space: blocks of a file grow as it is written and go with it',
    *body(t) {
      const fd = yield* go(t.root.open('/f', OpenFlag.create | readWrite, 0o644));
      const free = (yield* t.status()).free;
      yield* t.put(fd, 'x'.repeat(200_000));
      yield* go(t.root.fsync(fd));
      const full = yield* t.fstat(fd);
      equal(full.sectors * 512 >= 200_000, true, `${full.sectors} sectors for 200,000 bytes`);
      equal(full.sectors * 512 < 300_000, true, `no more than ${full.sectors} sectors`);
      const used = yield* t.status();
      equal((free - used.free) * used.blockBytes >= 200_000, true, 'space that is in use');
      yield* go(t.root.ftruncate(fd, 0));
      yield* go(t.root.fsync(fd));
      equal((yield* t.fstat(fd)).sectors * 512 < 100_000, true, 'blocks after truncation');
      if (t.capabilities.fallocate.includes(FallocateMode.allocate)) {
        yield* go(t.root.fallocate(fd, FallocateMode.keepSize, 0, 100_000));
        const reserved = yield* t.fstat(fd);
        equal(reserved.size, 0, 'size after fallocate that keeps it');
        equal(reserved.sectors * 512 >= 100_000, true, 'blocks after fallocate');
      }
      yield* go(t.root.close(fd));
    },
  },
];

import { FileKind, FileStatus, OpenFlag } from '../index.js';
import { type ConformanceTest, equal, fails, go } from './harness.js';
import { hardLinks } from './offers.js';

const { create, readOnly, readWrite, writeOnly } = OpenFlag;

export const linkTests: readonly ConformanceTest[] = [
  {
    name: 'link: both names are the same file, its change time and those of the directory move on',
    needs: hardLinks,
    *body(t) {
      yield* t.file('/a', 'text', 0o640);
      yield* t.mkdir('/d');
      const before = yield* t.lstat('/a');
      const parent = yield* t.lstat('/d');
      yield* t.later();
      yield* go(t.root.link('/a', '/d/b'));
      const [a, b, after] = [yield* t.lstat('/a'), yield* t.lstat('/d/b'), yield* t.lstat('/d')];
      equal(JSON.stringify(a), JSON.stringify(b), 'attributes under both names');
      equal(a.links, 2, 'links');
      equal(a.changedSec > before.changedSec, true, 'the change time moved on');
      equal(a.modifiedSec, before.modifiedSec, 'modification time');
      equal(after.modifiedSec > parent.modifiedSec, true, 'the directory has been modified');
      yield* go(t.root.truncate('/d/b', 2));
      equal(yield* t.contents('/a'), 'te', 'contents under the other name');
      yield* go(t.root.unlink('/a'));
      equal((yield* t.lstat('/d/b')).links, 1, 'links after one name is gone');
      equal(yield* t.contents('/d/b'), 'te', 'contents after one name is gone');
    },
  },
  {
    name: 'link: directories are EPERM, existing names EEXIST, a symbolic link is linked itself',
    needs: hardLinks,
    *body(t) {
      yield* t.file('/a');
      yield* t.mkdir('/d');
      yield* fails('EPERM', 'a directory', () => t.root.link('/d', '/e'));
      yield* fails('EEXIST', 'over a file', () => t.root.link('/a', '/a'));
      yield* fails('EEXIST', 'over a directory', () => t.root.link('/a', '/d'));
      equal((yield* t.lstat('/a')).links, 1, 'links');
      if (!t.capabilities.symlinks) return;
      yield* go(t.root.symlink('a', '/s'));
      yield* go(t.root.link('/s', '/t'));
      equal((yield* t.lstat('/t')).mode >> 12, FileKind.symlink, 'kind of what was linked');
      equal((yield* t.lstat('/a')).links, 1, 'links of what the symbolic link leads to');
      equal(yield* go(t.root.readlink('/t')), 'a', 'target');
    },
  },
  {
    name: 'link: one link more than a file can have is EMLINK',
    needs: hardLinks,
    *body(t) {
      yield* t.file('/f');
      const { links } = t.capabilities;
      // Of those that never come to an end some will do.
      const most = links <= 70_000 ? links : 2000;
      for (let at = 0; at < most - 1; at++) {
        if (at % 4096 === 0) yield* t.mkdir(`/d${at >> 12}`);
        yield* go(t.root.link('/f', `/d${at >> 12}/${at}`));
      }
      equal((yield* t.lstat('/f')).links, most, 'links');
      if (most === links) yield* fails('EMLINK', 'one more', () => t.root.link('/f', '/more'));
      yield* go(t.root.unlink('/f'));
      yield* go(t.root.link('/d0/1', '/again'));
      equal((yield* t.lstat('/again')).links, most, 'links in the end');
    },
  },
  {
    name: 'unlink: the name goes, the file stays while it has another; directories are EISDIR',
    *body(t) {
      yield* t.file('/a', 'text');
      yield* t.mkdir('/d');
      yield* t.later();
      const before = yield* t.lstat('/');
      yield* go(t.root.unlink('/a'));
      const after = yield* t.lstat('/');
      equal(
        after.modifiedSec > before.modifiedSec && after.changedSec > before.changedSec,
        true,
        'times of the directory',
      );
      yield* fails('ENOENT', 'the name', () => t.root.stat('/a', new FileStatus()));
      yield* fails('EISDIR', 'a directory', () => t.root.unlink('/d'));
      yield* fails('EISDIR', 'the root', () => t.root.unlink('/'));
    },
  },
  {
    name: 'unlink: an open file goes on without a name; its space returns when it is closed',
    *body(t) {
      const free = (yield* t.status()).free;
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'x'.repeat(300_000));
      yield* go(t.root.fsync(fd));
      yield* t.later();
      const before = yield* t.fstat(fd);
      yield* go(t.root.unlink('/f'));
      const after = yield* t.fstat(fd);
      equal(after.links, 0, 'links');
      equal(after.changedSec > before.changedSec, true, 'the change time moved on');
      equal(yield* t.get(fd, 4, 299_998), 'xx', 'contents');
      yield* t.put(fd, 'more', t.root, 400_000);
      equal(yield* t.get(fd, 9, 399_998), '\0\0more', 'contents written without a name');
      yield* go(t.root.ftruncate(fd, 2));
      equal((yield* t.fstat(fd)).size, 2, 'size after truncation');
      yield* go(t.root.fsync(fd));
      yield* t.file('/f', 'another');
      equal(yield* t.get(fd, 9, 0), 'xx', 'contents beside a new file of the name');
      yield* go(t.root.close(fd));
      yield* go(t.root.unlink('/f'));
      yield* go(t.root.sync());
      equal((yield* t.status()).free, free, 'free blocks in the end');
    },
  },
  {
    name: 'unlink: a file that another program has open stays for it',
    *body(t) {
      yield* t.file('/f', 'text');
      const other = t.as(0, 0);
      const fd = yield* go(other.open('/f', readOnly));
      yield* go(t.root.unlink('/f'));
      yield* fails('ENOENT', 'open by name', () => t.root.open('/f', readOnly));
      equal(yield* t.get(fd, 9, 0, other), 'text', 'contents');
      yield* go(other.close(fd));
    },
  },
  {
    name: 'rmdir: only empty directories, and not the root, a dot or a file',
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.mkdir('/d/e');
      yield* t.file('/d/e/f');
      const { links } = yield* t.lstat('/d');
      yield* fails('ENOTEMPTY EEXIST', 'with a directory', () => t.root.rmdir('/d'));
      yield* fails('ENOTEMPTY EEXIST', 'with a file', () => t.root.rmdir('/d/e'));
      yield* fails('ENOTDIR', 'a file', () => t.root.rmdir('/d/e/f'));
      yield* fails('EINVAL', 'a dot', () => t.root.rmdir('/d/e/.'));
      yield* fails('ENOTEMPTY EEXIST', 'two dots', () => t.root.rmdir('/d/e/..'));
      yield* fails('EBUSY', 'the root', () => t.root.rmdir('/'));
      yield* go(t.root.unlink('/d/e/f'));
      yield* t.later();
      const before = yield* t.lstat('/d');
      yield* go(t.root.rmdir('/d/e'));
      const after = yield* t.lstat('/d');
      equal(after.links, links - 1, 'links of the parent');
      equal(
        after.modifiedSec > before.modifiedSec && after.changedSec > before.changedSec,
        true,
        'times of the parent',
      );
      yield* fails('ENOENT', 'a second time', () => t.root.rmdir('/d/e'));
      if (!t.capabilities.symlinks) return;
      yield* go(t.root.symlink('d', '/s'));
      yield* fails('ENOTDIR', 'a link to a directory', () => t.root.rmdir('/s'));
    },
  },
  {
    name: 'rmdir: an open directory that was removed is empty and takes nothing',
    *body(t) {
      yield* t.mkdir('/d');
      const fd = yield* go(t.root.open('/d', readOnly));
      yield* go(t.root.rmdir('/d'));
      equal((yield* t.fstat(fd)).links, 0, 'links');
      yield* fails('ENOENT', 'to list it', () => t.root.readdir(fd, []));
      yield* fails('ENOENT', 'to create in it', () => t.root.open('f', create | writeOnly, 0o644, fd));
      yield* go(t.root.close(fd));
    },
  },
];

import type { Task } from '@flashstack/sim';
import { FileStatus, OpenFlag, RenameFlag } from '../index.js';
import { type ConformanceTest, equal, fails, go, type Tester } from './harness.js';
import { exchanges, hardLinks, symbolicLinks } from './offers.js';

const { readOnly } = OpenFlag;
const { exchange, noReplace } = RenameFlag;

function* numbers(t: Tester, ...paths: string[]): Task<number[]> {
  const found: number[] = [];
  for (const path of paths) found.push((yield* t.lstat(path)).ino);
  return found;
}

export const renameTests: readonly ConformanceTest[] = [
  {
    name: 'rename: the file keeps everything but its name, and its change time moves on',
    *body(t) {
      yield* t.file('/a', 'text', 0o640);
      yield* t.mkdir('/d');
      const before = yield* t.lstat('/a');
      const parents = [yield* t.lstat('/'), yield* t.lstat('/d')];
      yield* t.later();
      yield* go(t.root.rename('/a', '/d/b'));
      const after = yield* t.lstat('/d/b');
      equal(`${after.ino} ${after.mode} ${after.links} ${after.size}`, `${before.ino} ${before.mode} 1 4`, 'the file');
      equal(after.modifiedSec, before.modifiedSec, 'modification time');
      equal(after.changedSec > before.changedSec, true, 'the change time moved on');
      equal((yield* t.lstat('/')).modifiedSec > parents[0].modifiedSec, true, 'the old directory has been modified');
      equal((yield* t.lstat('/d')).modifiedSec > parents[1].modifiedSec, true, 'the new directory has been modified');
      equal(yield* t.contents('/d/b'), 'text', 'contents');
      equal((yield* t.names('/')).join(), 'd', 'names of the old directory');
    },
  },
  {
    name: 'rename: over a file the old one loses its name; who has it open keeps it',
    *body(t) {
      yield* t.file('/a', 'new');
      yield* t.file('/b', 'old');
      const fd = yield* go(t.root.open('/b', readOnly));
      yield* go(t.root.rename('/a', '/b'));
      equal(yield* t.contents('/b'), 'new', 'contents of the name');
      equal(yield* t.get(fd, 9), 'old', 'contents of what was open');
      equal((yield* t.fstat(fd)).links, 0, 'links of what was open');
      equal((yield* t.names('/')).join(), 'b', 'names');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'rename: between two names of one file nothing happens',
    needs: hardLinks,
    *body(t) {
      yield* t.file('/a', 'text');
      yield* go(t.root.link('/a', '/b'));
      yield* go(t.root.rename('/a', '/b'));
      equal((yield* t.names('/')).join(), 'a,b', 'names');
      equal((yield* t.lstat('/a')).links, 2, 'links');
      yield* go(t.root.rename('/a', '/a'));
      equal((yield* t.names('/')).join(), 'a,b', 'names after a rename to itself');
    },
  },
  {
    name: 'rename: over one of two names of a file the other one stays',
    needs: hardLinks,
    *body(t) {
      yield* t.file('/a', 'a');
      yield* t.file('/b', 'b');
      yield* go(t.root.link('/b', '/c'));
      yield* go(t.root.rename('/a', '/b'));
      equal(yield* t.contents('/c'), 'b', 'contents of the other name');
      equal((yield* t.lstat('/c')).links, 1, 'links of the other name');
    },
  },
  {
    name: 'rename: a directory takes its tree along, and its two dots lead to the new parent',
    *body(t) {
      for (const path of ['/a', '/b', '/a/d', '/a/d/e']) yield* t.mkdir(path);
      yield* t.file('/a/d/e/f', 'text');
      const [a, b] = [yield* t.lstat('/a'), yield* t.lstat('/b')];
      yield* go(t.root.rename('/a/d', '/b/d'));
      equal(yield* t.contents('/b/d/e/f'), 'text', 'contents');
      equal((yield* t.lstat('/a')).links, a.links - 1, 'links of the old parent');
      equal((yield* t.lstat('/b')).links, b.links + 1, 'links of the new parent');
      const up = (yield* t.entries('/b/d')).find((entry) => entry.name === '..');
      equal(up?.ino, b.ino, 'number of the two dots');
      equal((yield* numbers(t, '/b/d/..'))[0], b.ino, 'where the two dots lead');
    },
  },
  {
    name: 'rename: over an empty directory it is replaced, over one with entries ENOTEMPTY',
    *body(t) {
      for (const path of ['/p', '/p/a', '/p/b', '/p/c']) yield* t.mkdir(path);
      yield* t.file('/p/a/f', 'text');
      yield* t.file('/p/c/g');
      const { links } = yield* t.lstat('/p');
      yield* fails('ENOTEMPTY EEXIST', 'over a full one', () => t.root.rename('/p/a', '/p/c'));
      yield* go(t.root.rename('/p/a', '/p/b'));
      equal(yield* t.contents('/p/b/f'), 'text', 'contents');
      equal((yield* t.lstat('/p')).links, links - 1, 'links of the parent');
      equal((yield* t.names('/p')).join(), 'b,c', 'names');
    },
  },
  {
    name: 'rename: kinds must agree: a directory over a file is ENOTDIR, a file over a directory EISDIR',
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.file('/f');
      yield* fails('ENOTDIR', 'a directory over a file', () => t.root.rename('/d', '/f'));
      yield* fails('EISDIR', 'a file over a directory', () => t.root.rename('/f', '/d'));
      yield* fails('ENOTDIR', 'a file to a name with a slash', () => t.root.rename('/f', '/g/'));
      equal((yield* t.names('/')).join(), 'd,f', 'names');
    },
  },
  {
    name: 'rename: a directory cannot be moved into itself, nor can dots and the root be moved',
    *body(t) {
      for (const path of ['/a', '/a/b', '/a/b/c']) yield* t.mkdir(path);
      yield* t.file('/f');
      yield* fails('EINVAL', 'into itself', () => t.root.rename('/a', '/a/x'));
      yield* fails('EINVAL', 'deep into itself', () => t.root.rename('/a', '/a/b/c/x'));
      yield* fails('EINVAL', 'onto its child', () => t.root.rename('/a', '/a/b'));
      yield* fails('ENOTEMPTY EEXIST', 'onto its parent', () => t.root.rename('/a/b', '/a'));
      yield* fails('EBUSY EINVAL', 'a dot', () => t.root.rename('/a/.', '/x'));
      yield* fails('EBUSY EINVAL', 'two dots', () => t.root.rename('/a/b/..', '/x'));
      yield* fails('EBUSY EINVAL', 'to a dot', () => t.root.rename('/a/b', '/a/b/.'));
      yield* fails('EBUSY', 'the root', () => t.root.rename('/', '/a/x'));
      yield* fails('EBUSY ENOTEMPTY', 'to the root', () => t.root.rename('/a', '/'));
      equal((yield* t.names('/a')).join(), 'b', 'names');
    },
  },
  {
    name: 'rename: symbolic links are moved themselves and replaced themselves',
    needs: symbolicLinks,
    *body(t) {
      yield* t.file('/f', 'text');
      yield* go(t.root.symlink('f', '/s'));
      yield* go(t.root.rename('/s', '/t'));
      equal(yield* go(t.root.readlink('/t')), 'f', 'target of what was moved');
      yield* t.file('/g', 'other');
      yield* go(t.root.rename('/g', '/t'));
      equal(yield* t.contents('/t'), 'other', 'contents of what replaced it');
      equal(yield* t.contents('/f'), 'text', 'contents of what it led to');
    },
  },
  {
    name: 'rename: without replacing, an existing name is EEXIST',
    *body(t) {
      yield* t.file('/a', 'a');
      yield* t.file('/b', 'b');
      yield* fails('EEXIST', 'over a file', () => t.root.rename('/a', '/b', noReplace));
      yield* fails('EEXIST', 'over itself', () => t.root.rename('/a', '/a', noReplace));
      yield* go(t.root.rename('/a', '/c', noReplace));
      equal((yield* t.names('/')).join(), 'b,c', 'names');
      yield* fails('EINVAL', 'with exchange', () => t.root.rename('/b', '/c', noReplace | exchange));
    },
  },
  {
    name: 'rename: an exchange swaps two files of any kind, also between directories',
    needs: exchanges,
    *body(t) {
      for (const path of ['/p', '/q', '/q/d', '/q/d/e']) yield* t.mkdir(path);
      yield* t.file('/p/f', 'file');
      const before = yield* numbers(t, '/p/f', '/q/d', '/p', '/q');
      const links = [(yield* t.lstat('/p')).links, (yield* t.lstat('/q')).links];
      yield* go(t.root.rename('/p/f', '/q/d', exchange));
      const after = yield* numbers(t, '/q/d', '/p/f', '/p/f/..', '/q');
      equal(after.join(), before.join(), 'numbers of the swapped');
      equal(yield* t.contents('/q/d'), 'file', 'contents of the file');
      equal((yield* t.lstat('/p')).links, links[0] + 1, 'links of the directory that got a directory');
      equal((yield* t.lstat('/q')).links, links[1] - 1, 'links of the directory that lost one');
      yield* fails('ENOENT', 'with nothing', () => t.root.rename('/q/d', '/q/x', exchange));
      yield* fails('EINVAL', 'with what is below', () => t.root.rename('/p/f', '/p/f/e', exchange));
      yield* fails('EINVAL', 'with what is above', () => t.root.rename('/p/f/e', '/p/f', exchange));
    },
  },
  {
    name: 'rename: what is open, and working directories, move along',
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.file('/d/f', 'text');
      const thread = t.as(0, 0, { directory: '/d' });
      const fd = yield* go(t.root.open('/d/f', readOnly));
      yield* go(t.root.rename('/d', '/e'));
      yield* go(t.root.rename('/e/f', '/e/g'));
      equal(yield* t.get(fd, 9), 'text', 'contents of what was open');
      equal(yield* t.contents('g', thread), 'text', 'contents from the working directory');
      yield* fails('ENOENT', 'the old path', () => t.root.stat('/d/g', new FileStatus()));
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'rename: a thousand times over one name, one file is left',
    *body(t) {
      const free = (yield* t.status()).free;
      for (let at = 0; at < 1000; at++) {
        yield* t.file('/new', `${at}`);
        yield* go(t.root.rename('/new', '/name'));
      }
      equal(yield* t.contents('/name'), '999', 'contents');
      yield* go(t.root.unlink('/name'));
      yield* go(t.root.sync());
      equal((yield* t.status()).free, free, 'free blocks in the end');
    },
  },
];

import type { MaybeTask, Task } from '@flashstack/sim';
import { FileKind, FileStatus, type FsStatus, OpenFlag, type Thread } from '../index.js';
import { type ConformanceTest, equal, fails, go, type Offer, type Tester } from './harness.js';
import { extendedAttributes, hardLinks, specialFiles, symbolicLinks } from './offers.js';

/** Longest path, with its NUL. */
const PATH_BYTES = 4096;

/** A call that takes a path, in a tree where `file`, `directory` and `spare` exist. */
interface PathCall {
  readonly name: string;
  /** Makes the last component, which is absent then. */
  readonly creates: boolean;
  readonly call: (thread: Thread, path: string) => MaybeTask | Task<unknown>;
  readonly needs?: Offer;
}

const { create, exclusive, readOnly, truncate, writeOnly, directory } = OpenFlag;
const noStatus = (): FsStatus => ({ blockBytes: 0, blocks: 0, free: 0, available: 0, inodes: 0, freeInodes: 0 });

const calls: readonly PathCall[] = [
  { name: 'open to read', creates: false, call: (th, path) => th.open(path, readOnly) },
  { name: 'open to truncate', creates: false, call: (th, path) => th.open(path, writeOnly | truncate) },
  { name: 'open to list', creates: false, call: (th, path) => th.open(path, readOnly | directory) },
  { name: 'open to create', creates: true, call: (th, path) => th.open(path, writeOnly | create, 0o644) },
  { name: 'open exclusively', creates: true, call: (th, path) => th.open(path, writeOnly | create | exclusive, 0o644) },
  { name: 'stat', creates: false, call: (th, path) => th.stat(path, new FileStatus()) },
  { name: 'lstat', creates: false, call: (th, path) => th.lstat(path, new FileStatus()) },
  { name: 'access', creates: false, call: (th, path) => th.access(path, 0) },
  { name: 'mkdir', creates: true, call: (th, path) => th.mkdir(path, 0o755) },
  { name: 'rmdir', creates: false, call: (th, path) => th.rmdir(path) },
  { name: 'mknod', creates: true, needs: specialFiles, call: (th, path) => th.mknod(path, FileKind.fifo << 12, 0) },
  { name: 'unlink', creates: false, call: (th, path) => th.unlink(path) },
  { name: 'rename from', creates: false, call: (th, path) => th.rename(path, 'renamed') },
  { name: 'rename to', creates: true, call: (th, path) => th.rename('spare', path) },
  { name: 'link from', creates: false, needs: hardLinks, call: (th, path) => th.link(path, 'linked') },
  { name: 'link to', creates: true, needs: hardLinks, call: (th, path) => th.link('spare', path) },
  { name: 'symlink', creates: true, needs: symbolicLinks, call: (th, path) => th.symlink('spare', path) },
  { name: 'readlink', creates: false, call: (th, path) => th.readlink(path) },
  { name: 'chmod', creates: false, call: (th, path) => th.chmod(path, 0o600) },
  { name: 'chown', creates: false, call: (th, path) => th.chown(path, -1, -1) },
  { name: 'lchown', creates: false, call: (th, path) => th.lchown(path, -1, -1) },
  { name: 'utimens', creates: false, call: (th, path) => th.utimens(path, null, null) },
  { name: 'truncate', creates: false, call: (th, path) => th.truncate(path, 0) },
  { name: 'chdir', creates: false, call: (th, path) => th.chdir(path) },
  { name: 'statfs', creates: false, call: (th, path) => th.statfs(path, noStatus()) },
  { name: 'getxattr', creates: false, needs: extendedAttributes, call: (th, path) => th.getAttribute(path, 'user.a') },
  {
    name: 'setxattr',
    creates: false,
    needs: extendedAttributes,
    call: (th, path) => th.setAttribute(path, 'user.a', new Uint8Array(1)),
  },
  { name: 'listxattr', creates: false, needs: extendedAttributes, call: (th, path) => th.listAttributes(path) },
];

/** Each call that is offered, in a tree of its own below a directory named after it. */
function* each(t: Tester, body: (call: PathCall, thread: Thread) => Task<void>): Task<void> {
  for (const call of calls) {
    if (call.needs !== undefined && !call.needs.has(t.capabilities)) continue;
    const place = `/${call.name.replaceAll(' ', '-')}`;
    yield* t.mkdir(place, 0o777);
    yield* t.file(`${place}/file`, 'contents', 0o666);
    yield* t.file(`${place}/spare`, 'spare', 0o666);
    yield* t.mkdir(`${place}/directory`, 0o777);
    yield* body(call, t.as(0, 0, { directory: place }));
  }
}

const longName = (t: Tester, more: number): string => 'n'.repeat(t.capabilities.nameBytes + more);

export const pathTests: readonly ConformanceTest[] = [
  {
    name: 'paths: a missing directory on the way is ENOENT, a file on the way ENOTDIR',
    *body(t) {
      yield* each(t, function* ({ name, call }, thread) {
        yield* fails('ENOENT', `${name} in no directory`, () => call(thread, 'absent/x'));
        yield* fails('ENOTDIR', `${name} below a file`, () => call(thread, 'file/x'));
        yield* fails('ENOTDIR', `${name} below a file below a directory`, () => call(thread, 'spare/../x'));
      });
    },
  },
  {
    name: 'paths: a missing last component is ENOENT where nothing is created; an empty path always',
    *body(t) {
      yield* each(t, function* ({ name, creates, call }, thread) {
        yield* fails('ENOENT', `${name} of an empty path`, () => call(thread, ''));
        if (!creates) yield* fails('ENOENT', `${name} of nothing`, () => call(thread, 'absent'));
      });
    },
  },
  {
    name: 'paths: names and paths that are too long are ENAMETOOLONG, the longest are taken',
    *body(t) {
      const path = './'.repeat(PATH_BYTES / 2);
      const room = PATH_BYTES - 1 - t.capabilities.nameBytes;
      const longest = `${'./'.repeat(room / 2)}${room % 2 === 0 ? '' : '/'}${longName(t, 0)}`;
      yield* each(t, function* ({ name, creates, call }, thread) {
        yield* fails('ENAMETOOLONG', `${name} of a name too long`, () => call(thread, longName(t, 1)));
        yield* fails('ENAMETOOLONG', `${name} below a name too long`, () => call(thread, `${longName(t, 1)}/x`));
        yield* fails('ENAMETOOLONG', `${name} of a path too long`, () => call(thread, `${path}x`));
        yield* fails(creates ? 'none' : 'ENOENT', `${name} of the longest path`, () => call(thread, longest));
      });
    },
  },
  {
    name: 'paths: a directory that may not be searched is EACCES',
    *body(t) {
      yield* each(t, function* ({ name, creates, call }, root) {
        const user = t.as(1000, 1000);
        const place = `/${name.replaceAll(' ', '-')}`;
        yield* go(user.chdir(place));
        yield* t.mkdir(`${place}/closed`, 0o777);
        yield* t.file(`${place}/closed/x`, '', 0o666);
        yield* go(root.chmod('closed', 0o666));
        yield* fails('EACCES', `${name} in a closed directory`, () => call(user, 'closed/x'));
        yield* fails('EACCES', `${name} below a closed directory`, () => call(user, `closed/${creates ? 'y' : 'x'}/z`));
      });
    },
  },
  {
    name: 'paths: symbolic links lead on, loops are ELOOP',
    needs: symbolicLinks,
    *body(t) {
      yield* each(t, function* ({ name, creates, call }, thread) {
        yield* go(thread.symlink('loop', 'loop'));
        yield* go(thread.symlink('second', 'first'));
        yield* go(thread.symlink('first', 'second'));
        yield* go(thread.symlink('directory', 'way'));
        yield* fails('ELOOP', `${name} below a loop`, () => call(thread, 'loop/x'));
        yield* fails('ELOOP', `${name} below two links to each other`, () => call(thread, 'first/x'));
        if (creates) yield* fails('none', `${name} through a link to a directory`, () => call(thread, 'way/x'));
        else yield* fails('ENOENT', `${name} of nothing through a link`, () => call(thread, 'way/x'));
      });
    },
  },
  {
    name: 'paths: forty links on the way are followed, one more is ELOOP',
    needs: symbolicLinks,
    *body(t) {
      yield* t.mkdir('/0');
      yield* t.file('/0/x', 'found');
      for (let at = 1; at <= 41; at++) yield* go(t.root.symlink(`${at - 1}`, `/${at}`));
      equal(yield* t.contents('/40/x'), 'found', 'through forty links');
      yield* fails('ELOOP', 'through forty-one links', () => t.root.stat('/41/x', new FileStatus()));
    },
  },
  {
    name: 'paths: a slash behind a file is ENOTDIR where nothing is created, behind a directory it may stand',
    *body(t) {
      yield* each(t, function* ({ name, creates, call }, thread) {
        if (creates) return;
        yield* fails('ENOTDIR', `${name} of a file with a slash`, () => call(thread, 'file/'));
      });
      const status = new FileStatus();
      yield* t.mkdir('/d/');
      yield* go(t.root.stat('/d/', status));
      yield* go(t.root.stat('//d///.//', status));
      equal(status.mode >> 12, FileKind.directory, 'kind of /d/');
      yield* go(t.root.rename('/d/', '/e/'));
      yield* fails('ENOENT', 'link to a name with a slash', () => t.root.link('/spare/', '/x'));
      yield* fails('EISDIR', 'open to create with a slash', () => t.root.open('/new/', create | writeOnly, 0o644));
      yield* go(t.root.rmdir('/e/'));
      equal((yield* t.names('/')).includes('e'), false, 'the directory is there');
    },
  },
  {
    name: 'paths: dots lead where they should, also above the root and behind a rename',
    *body(t) {
      yield* t.mkdir('/a');
      yield* t.mkdir('/a/b');
      yield* t.mkdir('/c');
      yield* t.file('/x', 'root');
      yield* t.file('/c/x', 'c');
      const thread = t.as(0, 0, { directory: '/a/b' });
      equal(yield* t.contents('../../x', thread), 'root', 'two up');
      equal(yield* t.contents('../../../../x', thread), 'root', 'above the root');
      yield* go(t.root.rename('/a/b', '/c/moved'));
      equal(yield* t.contents('../x', thread), 'c', 'up after the directory has moved');
      equal(yield* t.contents('./../x', thread), 'c', 'here and up');
    },
  },
  {
    name: 'paths: in a directory that was removed nothing can be made, and only it itself is found',
    *body(t) {
      yield* t.mkdir('/gone');
      const thread = t.as(0, 0, { directory: '/gone' });
      yield* t.file('/spare');
      yield* go(t.root.rmdir('/gone'));
      yield* fails('ENOENT', 'open to create', () => thread.open('x', create | writeOnly, 0o644));
      yield* fails('ENOENT', 'mkdir', () => thread.mkdir('x', 0o755));
      yield* fails('ENOENT', 'rename to', () => thread.rename('/spare', 'x'));
      yield* fails('ENOENT', 'stat', () => thread.stat('x', new FileStatus()));
      const status = new FileStatus();
      yield* go(thread.stat('.', status));
      equal(status.links, 0, 'links of the removed directory');
    },
  },
  {
    name: 'paths: calls with a descriptor start there, absolute paths do not',
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.file('/d/x', 'below');
      yield* t.file('/x', 'root');
      const fd = yield* go(t.root.open('/d', readOnly | directory));
      const status = new FileStatus();
      yield* go(t.root.stat('x', status, fd));
      equal(status.size, 5, 'size of x in the directory');
      yield* go(t.root.stat('/x', status, fd));
      equal(status.size, 4, 'size of /x');
      yield* go(t.root.mkdir('new', 0o755, fd));
      yield* go(t.root.rename('x', 'y', 0, fd, fd));
      equal((yield* t.names('/d')).join(), 'new,y', 'names of the directory');
      const file = yield* go(t.root.open('/x', readOnly));
      yield* fails('ENOTDIR', 'a descriptor of a file', () => t.root.stat('x', status, file));
      yield* fails('EBADF', 'no descriptor', () => t.root.stat('x', status, 999));
      yield* go(t.root.close(fd));
      yield* go(t.root.close(file));
    },
  },
];

import { FileKind, FileStatus, OpenFlag } from '../index.js';
import { type ConformanceTest, equal, fails, go } from './harness.js';
import { specialFiles, symbolicLinks, unnamedFiles } from './offers.js';

const { append, create, exclusive, noFollow, path, readOnly, readWrite, temporary, truncate, writeOnly } = OpenFlag;
const { directory } = OpenFlag;

export const openTests: readonly ConformanceTest[] = [
  {
    name: 'open: a new file is empty, has the mode less the umask, the owner and the present time',
    *body(t) {
      const thread = t.as(1000, 2000, { umask: 0o027 });
      yield* go(t.root.chmod('/', 0o777));
      yield* t.later();
      const before = yield* t.lstat('/');
      yield* go(thread.close(yield* go(thread.open('/f', create | writeOnly, 0o666))));
      const found = yield* t.lstat('/f');
      equal(found.mode, (FileKind.regular << 12) | 0o640, 'mode');
      equal(`${found.uid}:${found.gid}`, '1000:2000', 'owner');
      equal(`${found.size} ${found.links}`, '0 1', 'size and links');
      equal(found.modifiedSec, found.changedSec, 'times of a new file');
      const after = yield* t.lstat('/');
      equal(after.modifiedSec > before.modifiedSec, true, 'the directory has been modified');
      equal(after.changedSec > before.changedSec, true, 'the directory has been changed');
      equal(after.links, before.links, 'links of the directory');
    },
  },
  {
    name: 'open: exclusive creation refuses what exists, a symbolic link to nothing too',
    *body(t) {
      yield* t.file('/f');
      yield* t.mkdir('/d');
      for (const name of ['/f', '/d', '/']) {
        yield* fails('EEXIST', name, () => t.root.open(name, create | exclusive | writeOnly, 0o644));
      }
      if (!t.capabilities.symlinks) return;
      yield* go(t.root.symlink('absent', '/s'));
      yield* fails('EEXIST', 'a link', () => t.root.open('/s', create | exclusive | writeOnly, 0o644));
      equal((yield* t.names('/')).includes('absent'), false, 'nothing was made');
      yield* go(t.root.close(yield* go(t.root.open('/s', create | writeOnly, 0o644))));
      equal((yield* t.lstat('/absent')).size, 0, 'a link leads to what is created');
    },
  },
  {
    name: 'open: creation of what exists opens it and leaves mode and contents alone',
    *body(t) {
      yield* t.file('/f', 'text', 0o600);
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o777));
      equal(yield* t.get(fd, 10), 'text', 'contents');
      equal((yield* t.fstat(fd)).mode & 0o7777, 0o600, 'mode');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'open: O_TRUNC empties a file and sets its times',
    *body(t) {
      yield* t.file('/f', 'text');
      yield* t.later();
      const before = yield* t.lstat('/f');
      yield* go(t.root.close(yield* go(t.root.open('/f', writeOnly | truncate))));
      const after = yield* t.lstat('/f');
      equal(after.size, 0, 'size');
      equal(after.modifiedSec > before.modifiedSec && after.changedSec > before.changedSec, true, 'times moved on');
      equal(yield* t.contents('/f'), '', 'contents');
    },
  },
  {
    name: 'open: directories are read only, and O_DIRECTORY takes nothing else',
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.file('/f');
      yield* fails('EISDIR', 'to write', () => t.root.open('/d', writeOnly));
      yield* fails('EISDIR', 'to read and write', () => t.root.open('/d', readWrite));
      yield* fails('EISDIR', 'to create', () => t.root.open('/d', readOnly | create, 0o755));
      yield* fails('EISDIR', 'to truncate', () => t.root.open('/d', writeOnly | truncate));
      yield* fails('ENOTDIR', 'a file', () => t.root.open('/f', readOnly | directory));
      const fd = yield* go(t.root.open('/d', readOnly));
      yield* fails('EISDIR', 'read of a directory', () => t.root.read(fd, new Uint8Array(1), 1));
      yield* fails('EBADF', 'write to a directory', () => t.root.write(fd, new Uint8Array(1), 1));
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'open: O_NOFOLLOW refuses a symbolic link at the end with ELOOP, and follows those on the way',
    needs: symbolicLinks,
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.file('/d/f', 'text');
      yield* go(t.root.symlink('d', '/way'));
      yield* go(t.root.symlink('d/f', '/end'));
      yield* fails('ELOOP', 'a link at the end', () => t.root.open('/end', readOnly | noFollow));
      yield* go(t.root.close(yield* go(t.root.open('/way/f', readOnly | noFollow))));
    },
  },
  {
    name: 'open: permission bits decide, those of the owner before the others',
    *body(t) {
      yield* go(t.root.chmod('/', 0o755));
      yield* t.file('/f', 'text', 0o000);
      yield* go(t.root.chown('/f', 1000, 2000));
      const [owner, member, also, other] = [
        t.as(1000, 2000),
        t.as(1001, 2000),
        t.as(1002, 3000, { groups: [1, 2000] }),
        t.as(1003, 3000),
      ];
      for (const [mode, allowed] of [
        [0o400, [true, false, false, false]],
        [0o040, [false, true, true, false]],
        [0o004, [false, false, false, true]],
        [0o044, [false, true, true, true]],
        [0o404, [true, false, false, true]],
      ] as const) {
        yield* go(t.root.chmod('/f', mode));
        for (const [at, thread] of [owner, member, also, other].entries()) {
          const what = `user ${at} of a file of mode ${mode.toString(8)}`;
          yield* fails(allowed[at] ? 'none' : 'EACCES', `${what} to read`, () => thread.open('/f', readOnly));
          yield* fails('EACCES', `${what} to write`, () => thread.open('/f', writeOnly));
          yield* fails('EACCES', `${what} to truncate`, () => thread.open('/f', readOnly | truncate));
        }
      }
      yield* go(t.root.chmod('/f', 0o200));
      yield* fails('none', 'the owner to write', () => owner.open('/f', writeOnly | append));
      yield* fails('EACCES', 'the owner to read and write', () => owner.open('/f', readWrite));
    },
  },
  {
    name: 'open: creation needs a directory that may be written and searched',
    *body(t) {
      const user = t.as(1000, 1000);
      for (const mode of [0o555, 0o222, 0o666, 0o444]) {
        const place = `/d${mode.toString(8)}`;
        yield* t.mkdir(place, mode);
        yield* go(t.root.chmod(place, mode));
        yield* fails('EACCES', `create in mode ${mode.toString(8)}`, () =>
          user.open(`${place}/f`, create | writeOnly, 0o644),
        );
      }
      yield* t.mkdir('/open');
      yield* go(t.root.chmod('/open', 0o333));
      yield* fails('none', 'create in mode 333', () => user.open('/open/f', create | writeOnly, 0o644));
      yield* fails('EACCES', 'list mode 333', () => user.open('/open', readOnly | directory));
    },
  },
  {
    name: 'open: a file whose mode forbids it is written through the descriptor that made it',
    *body(t) {
      yield* go(t.root.chmod('/', 0o777));
      const user = t.as(1000, 1000);
      const fd = yield* go(user.open('/f', create | readWrite, 0o000));
      yield* t.put(fd, 'text', user);
      equal(yield* t.get(fd, 9, 0, user), 'text', 'contents');
      yield* fails('EACCES', 'a second time', () => user.open('/f', readOnly));
    },
  },
  {
    name: 'open: descriptors are the lowest free ones; closed ones are EBADF',
    *body(t) {
      yield* t.file('/f', 'text');
      const [a, b] = [yield* go(t.root.open('/f', readOnly)), yield* go(t.root.open('/f', readOnly))];
      yield* go(t.root.close(a));
      equal(yield* go(t.root.open('/f', readOnly)), a, 'the lowest free descriptor');
      yield* go(t.root.close(b));
      for (const [name, call] of [
        ['read', () => t.root.read(b, null, 1)],
        ['write', () => t.root.write(b, null, 1)],
        ['close', () => t.root.close(b)],
        ['fstat', () => t.root.fstat(b, new FileStatus())],
        ['fsync', () => t.root.fsync(b)],
        ['ftruncate', () => t.root.ftruncate(b, 0)],
        ['lseek', () => t.root.lseek(b, 0, 0)],
        ['fchmod', () => t.root.fchmod(b, 0)],
        ['readdir', () => t.root.readdir(b, [])],
      ] as const) {
        yield* fails('EBADF', name, call);
      }
      yield* go(t.root.close(a));
    },
  },
  {
    name: 'open: O_PATH names a file without access to its contents',
    *body(t) {
      yield* t.file('/f', 'text', 0o000);
      yield* go(t.root.chmod('/', 0o755));
      const user = t.as(1000, 1000);
      const fd = yield* go(user.open('/f', path));
      equal((yield* t.fstat(fd, user)).size, 4, 'size');
      yield* fails('EBADF', 'read', () => user.read(fd, new Uint8Array(4), 4));
      yield* fails('EBADF', 'ftruncate', () => user.ftruncate(fd, 0));
      yield* fails('EBADF', 'fchmod', () => user.fchmod(fd, 0o777));
      yield* go(user.close(fd));
    },
  },
  {
    name: 'open: O_TMPFILE makes a file without a name, whose space returns when it is closed',
    needs: unnamedFiles,
    *body(t) {
      const before = yield* t.status();
      const fd = yield* go(t.root.open('/', temporary | readWrite, 0o600));
      yield* t.put(fd, 'x'.repeat(100_000));
      equal((yield* t.fstat(fd)).links, 0, 'links');
      equal((yield* t.names('/')).length, 0, 'names in the directory');
      equal(yield* t.get(fd, 3, 99_997), 'xxx', 'contents');
      yield* go(t.root.close(fd));
      yield* go(t.root.sync());
      equal((yield* t.status()).free >= before.free, true, 'its space is free again');
      yield* fails('EINVAL', 'only to read', () => t.root.open('/', temporary | readOnly, 0o600));
    },
  },
  {
    name: 'open: a file of O_TMPFILE gets its first name by link, and with O_EXCL never',
    needs: unnamedFiles,
    *body(t) {
      const fd = yield* go(t.root.open('/', temporary | readWrite, 0o600));
      yield* t.put(fd, 'contents');
      yield* go(t.root.link('', '/named', fd));
      equal((yield* t.fstat(fd)).links, 1, 'links');
      yield* go(t.root.unlink('/named'));
      yield* fails('ENOENT', 'a second first name', () => t.root.link('', '/named', fd));
      yield* go(t.root.close(fd));
      const other = yield* go(t.root.open('/', temporary | readWrite, 0o600));
      yield* t.put(other, 'kept');
      yield* go(t.root.link('', '/kept', other));
      yield* go(t.root.close(other));
      const private_ = yield* go(t.root.open('/', temporary | exclusive | readWrite, 0o600));
      yield* fails('ENOENT', 'with O_EXCL', () => t.root.link('', '/private', private_));
      yield* go(t.root.close(private_));
      yield* t.remount();
      equal((yield* t.names('/')).join(), 'kept', 'names after a remount');
      equal(yield* t.contents('/kept'), 'kept', 'contents after a remount');
    },
  },
  {
    name: 'open: sockets and device nodes without a driver are ENXIO',
    needs: specialFiles,
    *body(t) {
      yield* go(t.root.mknod('/socket', (FileKind.socket << 12) | 0o666, 0));
      yield* go(t.root.mknod('/device', (FileKind.characterDevice << 12) | 0o666, 0xf000));
      yield* fails('ENXIO', 'a socket', () => t.root.open('/socket', readWrite));
      yield* fails('ENXIO', 'a device', () => t.root.open('/device', readWrite));
    },
  },
];

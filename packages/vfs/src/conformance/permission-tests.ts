import type { MaybeTask, Task } from '@flashstack/sim';
import { FileStatus, OpenFlag, RenameFlag, type Thread } from '../index.js';
import { type ConformanceTest, equal, fails, go, type Tester } from './harness.js';
import { symbolicLinks } from './offers.js';

const { readOnly, readWrite, writeOnly } = OpenFlag;

/** A sticky directory of user 1 that everyone may write to, with a file and a directory of user 2. */
function* sticky(t: Tester): Task<readonly Thread[]> {
  const root = t.root;
  const threads = [1, 2, 3].map((uid) => t.as(uid, uid));
  yield* t.mkdir('/s');
  yield* go(root.chown('/s', 1, 1));
  yield* go(root.chmod('/s', 0o1777));
  yield* t.file('/s/f', 'text', 0o666, threads[1]);
  yield* t.mkdir('/s/d', 0o777, threads[1]);
  return threads;
}

function* mode(t: Tester, path: string): Task<string> {
  return ((yield* t.lstat(path)).mode & 0o7777).toString(8);
}

export const permissionTests: readonly ConformanceTest[] = [
  {
    name: 'sticky: entries are removed and renamed by their owner, that of the directory and root alone',
    *body(t) {
      const [owner, maker, other] = yield* sticky(t);
      yield* t.file('/s/own', '', 0o666, other);
      yield* fails('EPERM EACCES', 'unlink', () => other.unlink('/s/f'));
      yield* fails('EPERM EACCES', 'rmdir', () => other.rmdir('/s/d'));
      yield* fails('EPERM EACCES', 'rename from', () => other.rename('/s/f', '/s/g'));
      yield* fails('EPERM EACCES', 'rename over', () => other.rename('/s/own', '/s/f'));
      if (t.capabilities.renameExchange) {
        yield* fails('EPERM EACCES', 'exchange', () => other.rename('/s/own', '/s/f', RenameFlag.exchange));
      }
      yield* go(maker.rename('/s/f', '/s/g'));
      yield* go(maker.rmdir('/s/d'));
      yield* go(owner.unlink('/s/g'));
      yield* go(t.root.unlink('/s/own'));
      equal((yield* t.names('/s')).join(), '', 'names in the end');
    },
  },
  {
    name: 'permissions: removal needs a directory that may be written and searched, whatever the file is',
    *body(t) {
      yield* t.mkdir('/d', 0o755);
      const user = t.as(1000, 1000);
      yield* t.file('/d/f', '', 0o777);
      yield* t.mkdir('/d/e', 0o777);
      yield* go(t.root.chown('/d/f', 1000, 1000));
      yield* fails('EACCES', 'unlink', () => user.unlink('/d/f'));
      yield* fails('EACCES', 'rmdir', () => user.rmdir('/d/e'));
      yield* fails('EACCES', 'rename', () => user.rename('/d/f', '/d/g'));
      yield* go(t.root.chmod('/d', 0o777));
      yield* go(t.root.chown('/d/f', 0, 0));
      yield* go(t.root.chmod('/d/f', 0o000));
      yield* fails('none', "unlink of somebody else's file", () => user.unlink('/d/f'));
    },
  },
  {
    name: 'permissions: a directory that changes its parent must be writable itself',
    *body(t) {
      yield* go(t.root.chmod('/', 0o777));
      const user = t.as(1000, 1000);
      yield* t.mkdir('/to', 0o777);
      yield* t.mkdir('/d', 0o755);
      yield* fails('EACCES', 'to another parent', () => user.rename('/d', '/to/d'));
      yield* fails('none', 'within its parent', () => user.rename('/d', '/e'));
    },
  },
  {
    name: 'permissions: access asks for what the bits allow; root may search only what somebody may',
    *body(t) {
      yield* t.file('/f', '', 0o640);
      yield* go(t.root.chown('/f', 1000, 2000));
      const [owner, member, other] = [t.as(1000, 1), t.as(1, 2000), t.as(1, 1)];
      for (const [thread, allowed] of [
        [owner, 6],
        [member, 4],
        [other, 0],
        [t.root, 6],
      ] as const) {
        for (const asked of [0, 4, 2, 1, 6, 7]) {
          const expected = (asked & ~allowed) === 0 ? 'none' : 'EACCES';
          yield* fails(expected, `access ${asked} where ${allowed} is allowed`, () => thread.access('/f', asked));
        }
      }
      yield* go(t.root.chmod('/f', 0o641));
      yield* fails('none', 'root may execute if anyone may', () => t.root.access('/f', 1));
    },
  },
  {
    name: 'chmod: the owner and root may, others are EPERM; the change time moves on',
    *body(t) {
      yield* t.file('/f');
      yield* go(t.root.chown('/f', 1000, 1000));
      yield* t.later();
      const before = yield* t.lstat('/f');
      const [owner, other] = [t.as(1000, 1000), t.as(1001, 1000)];
      yield* go(owner.chmod('/f', 0o4751));
      const after = yield* t.lstat('/f');
      equal(yield* mode(t, '/f'), '4751', 'mode');
      equal(after.changedSec > before.changedSec, true, 'the change time moved on');
      equal(after.modifiedSec, before.modifiedSec, 'modification time');
      yield* fails('EPERM', "of somebody else's file", () => other.chmod('/f', 0o777));
      equal(yield* mode(t, '/f'), '4751', 'mode after a refusal');
      const fd = yield* go(t.root.open('/f', readOnly));
      yield* go(t.root.fchmod(fd, 0o600));
      equal(yield* mode(t, '/f'), '600', 'mode after fchmod');
      yield* go(t.root.close(fd));
    },
  },
  {
    name: 'chmod: set-group-ID is dropped if the owner is not of the group; links are followed',
    *body(t) {
      yield* t.file('/f');
      yield* go(t.root.chown('/f', 1000, 2000));
      yield* go(t.as(1000, 1000).chmod('/f', 0o2755));
      equal(yield* mode(t, '/f'), '755', 'mode given by one who is not of the group');
      yield* go(t.as(1000, 1000, { groups: [2000] }).chmod('/f', 0o2755));
      equal(yield* mode(t, '/f'), '2755', 'mode given by one of the group');
      if (!t.capabilities.symlinks) return;
      yield* go(t.root.symlink('f', '/s'));
      yield* go(t.root.chmod('/s', 0o700));
      equal(yield* mode(t, '/f'), '700', 'mode given through a link');
      equal(yield* mode(t, '/s'), '777', 'mode of the link');
    },
  },
  {
    name: 'chown: root may do all, an owner may give the file to one of its groups, others are EPERM',
    *body(t) {
      yield* t.file('/f');
      const owner = t.as(1000, 2000, { groups: [3000] });
      yield* go(t.root.chown('/f', 1000, 9));
      yield* go(owner.chown('/f', -1, 2000));
      yield* go(owner.chown('/f', 1000, 3000));
      equal((yield* t.lstat('/f')).gid, 3000, 'group');
      yield* fails('EPERM', 'to a group of others', () => owner.chown('/f', -1, 4000));
      yield* fails('EPERM', 'to another user', () => owner.chown('/f', 1001, -1));
      yield* fails('EPERM', "somebody else's file", () => t.as(1001, 3000).chown('/f', -1, 3000));
      yield* t.later();
      const before = yield* t.lstat('/f');
      yield* go(t.root.chown('/f', 5, -1));
      const after = yield* t.lstat('/f');
      equal(`${after.uid}:${after.gid}`, '5:3000', 'owner');
      equal(after.changedSec > before.changedSec, true, 'the change time moved on');
      equal(after.modifiedSec, before.modifiedSec, 'modification time');
    },
  },
  {
    name: 'chown: lchown changes a symbolic link, chown what it leads to',
    needs: symbolicLinks,
    *body(t) {
      yield* t.file('/f');
      yield* go(t.root.symlink('f', '/s'));
      yield* go(t.root.lchown('/s', 7, 8));
      yield* go(t.root.chown('/s', 9, 10));
      const [link, file] = [yield* t.lstat('/s'), yield* t.lstat('/f')];
      equal(`${link.uid}:${link.gid} ${file.uid}:${file.gid}`, '7:8 9:10', 'owners of link and file');
    },
  },
  {
    name: 'set-user-ID and set-group-ID are cleared by a write, a truncation and a change of the owner',
    *body(t) {
      const user = t.as(1000, 1000);
      const cases: readonly [string, (path: string, fd: number) => MaybeTask][] = [
        ['write', (_, fd) => user.write(fd, new Uint8Array(1), 1)],
        ['ftruncate', (_, fd) => user.ftruncate(fd, 2)],
        ['truncate', (path) => user.truncate(path, 2)],
        ['chown', (path) => user.chown(path, 1000, 1000)],
      ];
      for (const [name, call] of cases) {
        const path = `/${name}`;
        yield* t.file(path, 'text', 0o777);
        yield* go(t.root.chown(path, 1000, 1000));
        yield* go(t.root.chmod(path, 0o6777));
        const fd = yield* go(user.open(path, readWrite));
        yield* go(call(path, fd));
        equal(yield* mode(t, path), '777', `mode after ${name}`);
        yield* go(t.root.chmod(path, 0o6767));
        yield* go(call(path, fd));
        equal(((yield* t.lstat(path)).mode & 0o4000) === 0, true, `set-user-ID after ${name}`);
      }
      yield* t.mkdir('/d');
      yield* go(t.root.chmod('/d', 0o6777));
      yield* go(t.root.chown('/d', 1000, 1000));
      equal(yield* mode(t, '/d'), '6777', 'mode of a directory after chown');
    },
  },
  {
    name: 'set-user-ID stays when root writes, and when a write fails',
    *body(t) {
      yield* t.file('/f', 'text', 0o4755);
      yield* go(t.root.chmod('/f', 0o4755));
      const fd = yield* go(t.root.open('/f', writeOnly));
      yield* t.put(fd, 'x');
      equal(yield* mode(t, '/f'), '4755', 'mode after a write by root');
      const user = t.as(1000, 1000);
      yield* fails('EACCES', 'open', () => user.open('/f', writeOnly));
      yield* fails('EACCES', 'truncate', () => user.truncate('/f', 0));
      equal(yield* mode(t, '/f'), '4755', 'mode after refusals');
      yield* go(t.root.close(fd));
      yield* fails('ENOENT', 'nothing', () => user.stat('/g', new FileStatus()));
    },
  },
];

import { type DirectoryEntry, FileKind, OpenFlag, Seek } from '../index.js';
import { type ConformanceTest, equal, fails, go } from './harness.js';
import { treeOf } from './tree.js';

const { readOnly } = OpenFlag;

export const directoryTests: readonly ConformanceTest[] = [
  {
    name: 'readdir: dots and entries with their numbers and kinds, each once',
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.mkdir('/d/sub');
      yield* t.file('/d/file');
      if (t.capabilities.symlinks) yield* go(t.root.symlink('x', '/d/link'));
      if (t.capabilities.specialFiles) yield* go(t.root.mknod('/d/fifo', (FileKind.fifo << 12) | 0o644, 0));
      const entries = yield* t.entries('/d');
      for (const { name, ino, kind } of entries) {
        const status = yield* t.lstat(name === '..' ? '/' : `/d/${name}`);
        equal(`${ino} ${kind}`, `${status.ino} ${status.mode >> 12}`, `number and kind of ${name}`);
      }
      const names = entries.map((entry) => entry.name).sort();
      equal(new Set(names).size, names.length, 'different names');
      equal(names.slice(0, 2).join(), '.,..', 'dots');
      equal(
        (yield* t.entries('/')).find((entry) => entry.name === '..')?.ino,
        (yield* t.lstat('/')).ino,
        'above the root',
      );
    },
  },
  {
    name: 'readdir: two thousand entries with long and short names are all there, also after a remount',
    *body(t) {
      yield* t.mkdir('/d');
      const most = t.capabilities.nameBytes;
      const names: string[] = [];
      for (let at = 0; at < 2000; at++) {
        const name = `${at}-`.padEnd(at % 10 === 0 ? most - (at % 7) : (at % 23) + 5, 'abcdefg');
        names.push(name);
        yield* t.file(`/d/${name}`);
      }
      names.sort();
      equal((yield* t.names('/d')).join(), names.join(), 'names');
      yield* t.remount();
      equal((yield* t.names('/d')).join(), names.join(), 'names after a remount');
      for (const name of names) yield* go(t.root.unlink(`/d/${name}`));
      equal((yield* t.names('/d')).length, 0, 'names in the end');
      yield* go(t.root.rmdir('/d'));
    },
  },
  {
    name: 'readdir: names of any bytes but slash and NUL',
    *body(t) {
      const names: string[] = [];
      for (let byte = 1; byte < 256; byte++) {
        const character = String.fromCharCode(byte);
        if (character === '/') continue;
        names.push(`${character}x`, `.${character}y${character}`);
        yield* t.file(`/${character}x`);
        yield* t.mkdir(`/.${character}y${character}`);
      }
      equal((yield* t.names('/')).join('/'), names.sort().join('/'), 'names');
      yield* t.remount();
      equal((yield* t.names('/')).join('/'), names.sort().join('/'), 'names after a remount');
    },
  },
  {
    name: 'readdir: entries that stay are listed once while others come and go',
    *body(t) {
      yield* t.mkdir('/d');
      const stay: string[] = [];
      for (let at = 0; at < 600; at++) {
        yield* t.file(`/d/${at % 3 === 0 ? 'stays' : 'goes'}-${at}`);
        if (at % 3 === 0) stay.push(`stays-${at}`);
      }
      const fd = yield* go(t.root.open('/d', readOnly));
      const seen: DirectoryEntry[] = [];
      for (let round = 0; (yield* go(t.root.readdir(fd, seen))) > 0; round++) {
        for (let at = round; at < 600; at += 7) {
          if (at % 3 !== 0 && (yield* t.names('/d')).includes(`goes-${at}`)) yield* go(t.root.unlink(`/d/goes-${at}`));
        }
        yield* t.file(`/d/new-${round}`);
        equal(round < 2000, true, 'the listing ends');
      }
      yield* go(t.root.close(fd));
      const names = seen.map((entry) => entry.name);
      equal(new Set(names).size, names.length, 'no entry twice');
      equal(
        names
          .filter((name) => name.startsWith('stays'))
          .sort()
          .join(),
        stay.sort().join(),
        'entries that stayed',
      );
    },
  },
  {
    name: 'readdir: removing each entry as it is listed empties a directory',
    *body(t) {
      yield* t.mkdir('/d');
      for (let at = 0; at < 500; at++) yield* t.file(`/d/${at}`);
      const fd = yield* go(t.root.open('/d', readOnly));
      for (;;) {
        const entries: DirectoryEntry[] = [];
        if ((yield* go(t.root.readdir(fd, entries))) === 0) break;
        for (const { name } of entries) if (!name.startsWith('.')) yield* go(t.root.unlink(`/d/${name}`));
      }
      yield* go(t.root.close(fd));
      yield* go(t.root.rmdir('/d'));
    },
  },
  {
    name: 'readdir: a listing begins again at position 0 and goes on from where an entry ended',
    *body(t) {
      yield* t.mkdir('/d');
      for (let at = 0; at < 50; at++) yield* t.file(`/d/${at}`);
      const all = yield* t.entries('/d');
      const fd = yield* go(t.root.open('/d', readOnly));
      for (const from of [0, 1, 25, all.length - 1]) {
        yield* go(t.root.lseek(fd, all[from].next, Seek.set));
        const rest: DirectoryEntry[] = [];
        while ((yield* go(t.root.readdir(fd, rest))) > 0) equal(rest.length < 1000, true, 'the listing ends');
        const names = rest.map((entry) => entry.name).join();
        equal(
          names,
          all
            .slice(from + 1)
            .map((entry) => entry.name)
            .join(),
          `entries after number ${from}`,
        );
      }
      yield* go(t.root.lseek(fd, 0, Seek.set));
      const again: DirectoryEntry[] = [];
      while ((yield* go(t.root.readdir(fd, again))) > 0) equal(again.length < 1000, true, 'the listing ends');
      equal(again.length, all.length, 'entries from the start');
      yield* go(t.root.close(fd));
      yield* t.file('/f');
      const file = yield* go(t.root.open('/f', readOnly));
      yield* fails('ENOTDIR', 'a file', () => t.root.readdir(file, []));
      yield* go(t.root.close(file));
    },
  },
  {
    name: 'statfs: sizes are sound, and full agree with empty once everything is removed',
    *body(t) {
      const before = yield* t.status();
      equal(before.free <= before.blocks && before.available <= before.free, true, 'free blocks are among all');
      equal(before.blockBytes >= 512, true, 'bytes of a block');
      yield* t.mkdir('/d');
      for (let at = 0; at < 30; at++) yield* t.file(`/d/${at}`, 'x'.repeat(at * 1000));
      yield* go(t.root.sync());
      const used = yield* t.status();
      equal((before.free - used.free) * used.blockBytes >= 400_000, true, 'blocks in use');
      if (before.inodes > 0) equal(before.freeInodes - used.freeInodes, 31, 'inodes in use');
      for (let at = 0; at < 30; at++) yield* go(t.root.unlink(`/d/${at}`));
      yield* go(t.root.rmdir('/d'));
      yield* go(t.root.sync());
      const after = yield* t.status();
      equal(`${after.free} ${after.freeInodes}`, `${before.free} ${before.freeInodes}`, 'free blocks and inodes');
    },
  },
  {
    name: 'remount: a tree of everything is what it was, times and attributes too',
    *body(t) {
      for (const path of ['/a', '/a/b', '/a/b/c', '/d']) yield* t.mkdir(path, 0o750);
      for (let at = 0; at < 40; at++) {
        yield* t.file(`/a/b/${at}`, `${at}`.repeat(at * at * 3), 0o600 + at);
        yield* t.later(123_456_789);
      }
      yield* go(t.root.chown('/a/b/7', 7, 77));
      yield* go(t.root.utimens('/a/b/8', [1000, 1], [2_000_000_000, 999_999_999]));
      if (t.capabilities.links > 1) yield* go(t.root.link('/a/b/9', '/d/nine'));
      if (t.capabilities.symlinks) yield* go(t.root.symlink('../a/b/10', '/d/ten'));
      if (t.capabilities.specialFiles) yield* go(t.root.mknod('/d/fifo', (FileKind.fifo << 12) | 0o600, 0));
      if (t.capabilities.attributeBytes > 0) yield* go(t.root.setAttribute('/a', 'user.x', new Uint8Array([1, 2, 3])));
      const options = { times: true, attributes: t.capabilities.attributeBytes > 0 };
      const before = yield* treeOf(t, options);
      for (let again = 0; again < 2; again++) {
        yield* t.remount();
        equal((yield* treeOf(t, options)).join('\n'), before.join('\n'), 'tree');
      }
    },
  },
];

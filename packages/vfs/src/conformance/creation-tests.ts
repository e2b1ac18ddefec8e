import { FileKind } from '../index.js';
import { type ConformanceTest, equal, fails, go } from './harness.js';
import { specialFiles, symbolicLinks } from './offers.js';

export const creationTests: readonly ConformanceTest[] = [
  {
    name: 'mkdir: a new directory is empty, has two links, and adds one to its parent',
    *body(t) {
      yield* go(t.root.chmod('/', 0o777));
      const thread = t.as(1000, 2000, { umask: 0o022 });
      const before = yield* t.lstat('/');
      yield* t.later();
      yield* go(thread.mkdir('/d', 0o777));
      const found = yield* t.lstat('/d');
      equal(found.mode, (FileKind.directory << 12) | 0o755, 'mode');
      equal(`${found.uid}:${found.gid} ${found.links}`, '1000:2000 2', 'owner and links');
      const after = yield* t.lstat('/');
      equal(after.links, before.links + 1, 'links of the parent');
      equal(
        after.modifiedSec > before.modifiedSec && after.changedSec > before.changedSec,
        true,
        'times of the parent',
      );
      equal((yield* t.entries('/d')).map((entry) => entry.name).join(), '.,..', 'entries');
    },
  },
  {
    name: 'mkdir: what exists is EEXIST, whatever it is',
    *body(t) {
      yield* t.mkdir('/d');
      yield* t.file('/f');
      if (t.capabilities.symlinks) yield* go(t.root.symlink('absent', '/s'));
      for (const path of ['/d', '/f', '/', '/d/.', '/d/..', ...(t.capabilities.symlinks ? ['/s'] : [])]) {
        yield* fails('EEXIST', path, () => t.root.mkdir(path, 0o755));
      }
    },
  },
  {
    name: 'mkdir: in a directory with set-group-ID its group and the bit are inherited, by files only the group',
    *body(t) {
      yield* t.mkdir('/d');
      yield* go(t.root.chown('/d', 0, 4000));
      yield* go(t.root.chmod('/d', 0o2777));
      const user = t.as(1000, 1000);
      yield* go(user.mkdir('/d/below', 0o755));
      yield* t.file('/d/f', '', 0o644, user);
      const [directory, file] = [yield* t.lstat('/d/below'), yield* t.lstat('/d/f')];
      equal(
        `${directory.gid} ${(directory.mode & 0o7777).toString(8)}`,
        '4000 2755',
        'group and mode of the directory',
      );
      equal(`${file.gid} ${(file.mode & 0o7777).toString(8)}`, '4000 644', 'group and mode of the file');
    },
  },
  {
    name: 'mkdir: the sticky bit may be given, set-user-ID and set-group-ID are not',
    *body(t) {
      yield* go(t.root.mkdir('/d', 0o7777));
      equal(((yield* t.lstat('/d')).mode & 0o7777).toString(8), '1777', 'mode');
    },
  },
  {
    name: 'mkdir: a thousand directories in one add a thousand links, and take them away again',
    *body(t) {
      const before = (yield* t.lstat('/')).links;
      for (let at = 0; at < 1000; at++) yield* t.mkdir(`/d${at}`);
      const { links } = yield* t.lstat('/');
      equal(links === before + 1000 || links === 1, true, `links of the parent are ${links}`);
      for (let at = 0; at < 1000; at++) yield* go(t.root.rmdir(`/d${at}`));
      equal((yield* t.lstat('/')).links, links === 1 ? 1 : before, 'links in the end');
    },
  },
  {
    name: 'mknod: fifos, sockets, devices and regular files are what they were made',
    needs: specialFiles,
    *body(t) {
      const kinds = { fifo: 1, socket: 12, characterDevice: 2, blockDevice: 6, regular: 8 } as const;
      for (const [name, kind] of Object.entries(kinds)) {
        const device = kind === 2 || kind === 6 ? 0x0812_0034 : 0;
        yield* go(t.root.mknod(`/${name}`, (kind << 12) | 0o640, device));
        const found = yield* t.lstat(`/${name}`);
        equal(found.mode, (kind << 12) | 0o640, `mode of ${name}`);
        equal(found.device, device, `device number of ${name}`);
        equal(`${found.links} ${found.size}`, '1 0', `links and size of ${name}`);
        yield* fails('EEXIST', name, () => t.root.mknod(`/${name}`, (kind << 12) | 0o640, 0));
      }
      yield* t.remount();
      for (const [name, kind] of Object.entries(kinds)) {
        const found = yield* t.lstat(`/${name}`);
        equal(found.mode, (kind << 12) | 0o640, `mode of ${name} after a remount`);
        equal(found.device, kind === 2 || kind === 6 ? 0x0812_0034 : 0, `device of ${name} after a remount`);
      }
    },
  },
  {
    name: 'mknod: device nodes are for root, directories for mkdir',
    needs: specialFiles,
    *body(t) {
      yield* go(t.root.chmod('/', 0o777));
      const user = t.as(1000, 1000);
      yield* fails('EPERM', 'a device', () => user.mknod('/c', (FileKind.characterDevice << 12) | 0o666, 1));
      yield* fails('EPERM', 'a disk', () => user.mknod('/b', (FileKind.blockDevice << 12) | 0o666, 1));
      yield* fails('EPERM', 'a directory', () => t.root.mknod('/d', (FileKind.directory << 12) | 0o755, 0));
      yield* fails('none', 'a fifo', () => user.mknod('/f', (FileKind.fifo << 12) | 0o666, 0));
      equal((yield* t.names('/')).join(), 'f', 'names');
    },
  },
  {
    name: 'symlink: it keeps any text, is as long as that, and everyone may do anything with it',
    needs: symbolicLinks,
    *body(t) {
      const targets = ['a', 'absent/and more', '/', 'x'.repeat(59), 'x'.repeat(60), 'x'.repeat(61), 'y'.repeat(4095)];
      for (const [at, target] of targets.entries()) {
        const code = yield* (function* () {
          try {
            yield* go(t.root.symlink(target, `/s${at}`));
          } catch (error) {
            return (error as { code: string }).code;
          }
          return 'none';
        })();
        if (code === 'ENAMETOOLONG' && target.length > 1000) continue;
        equal(code, 'none', `a target of ${target.length} bytes`);
        equal(yield* go(t.root.readlink(`/s${at}`)), target, 'target');
        const found = yield* t.lstat(`/s${at}`);
        equal(found.mode, (FileKind.symlink << 12) | 0o777, 'mode');
        equal(`${found.size} ${found.links}`, `${target.length} 1`, 'size and links');
      }
      const before = yield* t.entries('/');
      yield* t.remount();
      equal((yield* t.entries('/')).length, before.length, 'entries after a remount');
      equal(yield* go(t.root.readlink('/s5')), targets[5], 'target after a remount');
    },
  },
  {
    name: 'symlink: empty and over-long targets and existing names are refused',
    needs: symbolicLinks,
    *body(t) {
      yield* t.file('/f');
      yield* fails('ENOENT', 'an empty target', () => t.root.symlink('', '/s'));
      yield* fails('ENAMETOOLONG', 'a target of 4,096 bytes', () => t.root.symlink('x'.repeat(4096), '/s'));
      yield* fails('EEXIST', 'a file', () => t.root.symlink('a', '/f'));
      yield* go(t.root.symlink('absent', '/s'));
      yield* fails('EEXIST', 'a link to nothing', () => t.root.symlink('a', '/s'));
      yield* fails('EINVAL', 'readlink of a file', () => t.root.readlink('/f'));
      yield* fails('EINVAL', 'readlink of a directory', () => t.root.readlink('/'));
    },
  },
];

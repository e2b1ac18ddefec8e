import { FileKind } from '../index.js';
import { bytesOf, type ConformanceTest, equal, fails, go, textOf } from './harness.js';
import { extendedAttributes } from './offers.js';

export const extendedAttributeTests: readonly ConformanceTest[] = [
  {
    name: 'attributes: they are set, replaced, listed and removed, and kept over a remount',
    needs: extendedAttributes,
    *body(t) {
      yield* t.file('/f');
      yield* t.mkdir('/d');
      for (const path of ['/f', '/d']) {
        yield* go(t.root.setAttribute(path, 'user.one', bytesOf('1')));
        yield* go(t.root.setAttribute(path, 'user.two', bytesOf('two')));
        yield* go(t.root.setAttribute(path, 'user.empty', new Uint8Array(0)));
        yield* go(t.root.setAttribute(path, 'trusted.root', bytesOf('secret')));
        yield* go(t.root.setAttribute(path, 'user.one', bytesOf('another one')));
        yield* go(t.root.removeAttribute(path, 'user.two'));
      }
      for (const again of [false, true]) {
        if (again) yield* t.remount();
        for (const path of ['/f', '/d']) {
          const names = (yield* go(t.root.listAttributes(path))).sort().join();
          equal(names, 'trusted.root,user.empty,user.one', `names of ${path}`);
          equal(textOf(yield* go(t.root.getAttribute(path, 'user.one'))), 'another one', 'value');
          equal((yield* go(t.root.getAttribute(path, 'user.empty'))).length, 0, 'length of an empty value');
          yield* fails('ENODATA', 'an absent one', () => t.root.getAttribute(path, 'user.two'));
          yield* fails('ENODATA', 'removal of an absent one', () => t.root.removeAttribute(path, 'user.two'));
        }
      }
    },
  },
  {
    name: 'attributes: the longest value is kept, a longer one refused without effect',
    needs: extendedAttributes,
    *body(t) {
      yield* t.file('/f');
      const most = t.capabilities.attributeBytes;
      const value = Uint8Array.from({ length: most }, (_, at) => at & 255);
      yield* go(t.root.setAttribute('/f', 'user.a', value));
      equal(textOf(yield* go(t.root.getAttribute('/f', 'user.a'))), textOf(value), 'the longest value');
      yield* fails('ENOSPC ERANGE', 'one byte more', () =>
        t.root.setAttribute('/f', 'user.a', new Uint8Array(most + 1)),
      );
      equal((yield* go(t.root.getAttribute('/f', 'user.a'))).length, most, 'length after a refusal');
      yield* fails('ERANGE', 'a name too long', () => t.root.setAttribute('/f', `user.${'n'.repeat(251)}`, value));
      yield* go(t.root.removeAttribute('/f', 'user.a'));
      yield* go(t.root.setAttribute('/f', `user.${'n'.repeat(250)}`, bytesOf('x')));
    },
  },
  {
    name: 'attributes: names need a known prefix, user attributes a file or directory that may be written',
    needs: extendedAttributes,
    *body(t) {
      yield* t.file('/f', '', 0o644);
      const user = t.as(1000, 1000);
      const value = bytesOf('x');
      yield* fails('EOPNOTSUPP', 'a name without a prefix', () => t.root.setAttribute('/f', 'name', value));
      yield* fails('EOPNOTSUPP', 'an unknown prefix', () => t.root.setAttribute('/f', 'other.name', value));
      yield* fails('EINVAL EOPNOTSUPP', 'nothing behind the prefix', () => t.root.setAttribute('/f', 'user.', value));
      yield* fails('EACCES', 'of a file that may not be written', () => user.setAttribute('/f', 'user.a', value));
      yield* fails('EPERM', 'trusted by a user', () => user.setAttribute('/f', 'trusted.a', value));
      yield* go(t.root.setAttribute('/f', 'user.a', value));
      yield* go(t.root.setAttribute('/f', 'trusted.a', value));
      equal(textOf(yield* go(user.getAttribute('/f', 'user.a'))), 'x', 'value read by a user');
      equal((yield* go(user.listAttributes('/f'))).join(), 'user.a', 'names that a user is told');
      yield* go(t.root.chmod('/f', 0o600));
      yield* fails('EACCES', 'of a file that may not be read', () => user.getAttribute('/f', 'user.a'));
      if (!t.capabilities.specialFiles) return;
      yield* go(t.root.mknod('/fifo', (FileKind.fifo << 12) | 0o666, 0));
      yield* fails('EPERM', 'of a fifo', () => t.root.setAttribute('/fifo', 'user.a', value));
    },
  },
  {
    name: 'attributes: a change moves the change time on, and goes with the file',
    needs: extendedAttributes,
    *body(t) {
      yield* t.file('/f');
      yield* t.later();
      const before = yield* t.lstat('/f');
      yield* go(t.root.setAttribute('/f', 'user.a', bytesOf('x')));
      const after = yield* t.lstat('/f');
      equal(after.changedSec > before.changedSec, true, 'the change time moved on');
      equal(after.modifiedSec, before.modifiedSec, 'modification time');
      yield* go(t.root.rename('/f', '/g'));
      equal(textOf(yield* go(t.root.getAttribute('/g', 'user.a'))), 'x', 'value after a rename');
      yield* go(t.root.unlink('/g'));
      yield* t.file('/g');
      equal((yield* go(t.root.listAttributes('/g'))).length, 0, 'names of a new file');
    },
  },
];

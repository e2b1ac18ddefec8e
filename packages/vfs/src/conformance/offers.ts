import { FileKind, OpenFlag, RenameFlag } from '../index.js';
import { equal, fails, go, type Offer } from './harness.js';

const { create, readWrite, temporary } = OpenFlag;

export const hardLinks: Offer = {
  has: ({ links }) => links > 1,
  *lacking(t) {
    yield* t.file('/a');
    yield* fails('EMLINK EPERM EOPNOTSUPP', 'a second name', () => t.root.link('/a', '/b'));
    equal((yield* t.lstat('/a')).links, 1, 'links');
    yield* fails('ENOENT', 'the second name', () => t.lstat('/b'));
  },
};

export const symbolicLinks: Offer = {
  has: ({ symlinks }) => symlinks,
  *lacking(t) {
    yield* fails('EOPNOTSUPP EPERM', 'a symbolic link', () => t.root.symlink('a', '/s'));
    yield* fails('ENOENT', 'the symbolic link', () => t.lstat('/s'));
  },
};

export const specialFiles: Offer = {
  has: (capabilities) => capabilities.specialFiles,
  *lacking(t) {
    for (const kind of [FileKind.fifo, FileKind.socket, FileKind.characterDevice, FileKind.blockDevice]) {
      yield* fails('EOPNOTSUPP EPERM', `a node of kind ${kind}`, () => t.root.mknod('/node', (kind << 12) | 0o644, 0));
    }
    yield* fails('ENOENT', 'the node', () => t.lstat('/node'));
  },
};

export const unnamedFiles: Offer = {
  has: (capabilities) => capabilities.unnamedFiles,
  *lacking(t) {
    yield* fails('EOPNOTSUPP', 'O_TMPFILE', () => t.root.open('/', temporary | readWrite, 0o600));
  },
};

export const extendedAttributes: Offer = {
  has: ({ attributeBytes }) => attributeBytes > 0,
  *lacking(t) {
    yield* t.file('/f');
    yield* fails('EOPNOTSUPP', 'set', () => t.root.setAttribute('/f', 'user.a', new Uint8Array(1)));
    yield* fails('EOPNOTSUPP ENODATA', 'get', () => t.root.getAttribute('/f', 'user.a'));
    yield* fails('EOPNOTSUPP ENODATA', 'remove', () => t.root.removeAttribute('/f', 'user.a'));
  },
};

export const exchanges: Offer = {
  has: ({ renameExchange }) => renameExchange,
  *lacking(t) {
    yield* t.file('/a', 'a');
    yield* t.file('/b', 'b');
    yield* fails('EINVAL EOPNOTSUPP', 'an exchange', () => t.root.rename('/a', '/b', RenameFlag.exchange));
    equal((yield* t.contents('/a')) + (yield* t.contents('/b')), 'ab', 'contents');
  },
};

/** Without holes, what was not written is zero all the same, and takes space. */
export const holes: Offer = {
  has: ({ sparse }) => sparse,
  *lacking(t) {
    const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
    yield* t.put(fd, 'end', t.root, 1_000_000);
    yield* go(t.root.fsync(fd));
    equal(yield* t.get(fd, 13, 999_990), `${'\0'.repeat(10)}end`, 'end');
    equal(yield* t.get(fd, 4, 500_000), '\0\0\0\0', 'middle');
    equal((yield* t.fstat(fd)).sectors * 512 >= 1_000_000, true, 'space of a file without holes');
    yield* go(t.root.close(fd));
  },
};

/** A mode of `fallocate`, or several. */
export function rangesOf(...modes: readonly number[]): Offer {
  return {
    has: ({ fallocate }) => modes.every((mode) => fallocate.includes(mode)),
    *lacking(t) {
      const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
      yield* t.put(fd, 'x'.repeat(262_144));
      for (const mode of modes) {
        if (t.capabilities.fallocate.includes(mode)) continue;
        yield* fails('EOPNOTSUPP', `mode ${mode}`, () => t.root.fallocate(fd, mode, 65_536, 65_536));
      }
      equal(yield* t.get(fd, 300_000, 0), 'x'.repeat(262_144), 'contents');
      yield* go(t.root.close(fd));
    },
  };
}

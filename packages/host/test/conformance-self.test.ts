import { type FileSystem, type Inode, RenameFlag } from '@flashstack/vfs';
import { fileSystemConformance } from '@flashstack/vfs/conformance';
import { expect, it } from 'vitest';
import { memFsUnderTest, plain, waiting } from './memfs-subject.js';

/** Changes one thing of a file system that is right otherwise. */
type Defect = (inner: FileSystem) => Partial<FileSystem>;

/** How many of the tests whose names start so a memfs with a defect passes and fails; none of them may hang. */
function judge(start: string, defect: Defect): { passed: number; failed: number } {
  const found = { passed: 0, failed: 0 };
  const subject = memFsUnderTest((memfs, simulator, seed) => {
    const inner = waiting(memfs, simulator, seed);
    return Object.assign(Object.create(inner), defect(inner));
  });
  const test = (name: string, body: () => void): void => {
    if (!name.startsWith(start)) return;
    try {
      body();
      found.passed++;
    } catch {
      found.failed++;
    }
  };
  fileSystemConformance({ test, subject });
  return found;
}

/** For each defect the start of the tests that are about it, of which one must fail. */
const defects: Record<string, readonly [string, Defect]> = {
  'times are not set': [
    'times: each call moves on',
    () => ({
      endWrite(inode, offset, length) {
        inode.size = Math.max(inode.size, offset + length);
      },
    }),
  ],
  'rename makes a second name': [
    'interleaved programs',
    (inner) => ({
      *rename(from, name, inode, to, newName, target, flags) {
        if ((flags & RenameFlag.exchange) !== 0 || inode.kind === 4 || target !== null) {
          return yield* inner.rename(from, name, inode, to, newName, target, flags);
        }
        yield* inner.link(inode, to, newName);
      },
    }),
  ],
  'a directory that moves does not change the links of its parents': [
    'nested directories: some order',
    (inner) => ({
      *rename(from, name, inode, to, newName, target, flags) {
        const before = [from.links, to.links];
        yield* inner.rename(from, name, inode, to, newName, target, flags);
        if (inode.kind === 4 && target === null && from !== to) [from.links, to.links] = before;
      },
    }),
  ],
  'a directory that is renamed over stays behind': [
    'nested directories: of many programs',
    (inner) => ({
      *rename(from, name, inode, to, newName, target, flags) {
        yield* inner.rename(from, name, inode, to, newName, target, flags);
        if (target !== null && inode.kind === 4 && target.kind === 4 && target.links === 0) target.links = 1;
      },
    }),
  ],
  'links are counted one too many': [
    'unlink',
    (inner) => ({
      *unlink(directory, name, inode) {
        yield* inner.unlink(directory, name, inode);
        inode.links++;
      },
    }),
  ],
  'an empty directory is not asked for': [
    'rmdir: only empty directories',
    (inner) => ({
      *rmdir(directory, name, inode: Inode) {
        yield* inner.unlink(directory, name, inode);
        inode.links = 0;
        directory.links--;
      },
    }),
  ],
  'truncation leaves what was cut': [
    'truncate: it cuts, and extends',
    (inner) => ({
      *setAttributes(inode, change) {
        if (change.size === undefined || change.size >= inode.size) return yield* inner.setAttributes(inode, change);
        const { size, ...others } = change;
        yield* inner.setAttributes(inode, others);
        inode.size = size;
      },
    }),
  ],
  'a full file system takes more': [
    'space: one file',
    (inner) => ({
      beginWrite: (inode, offset, length) => (offset > 1_500_000 ? 0 : inner.beginWrite(inode, offset, length)),
    }),
  ],
  'listings begin again': [
    'readdir: a listing begins again',
    (inner) => ({
      *readdir(directory, position, limit, out) {
        if (position > 2) yield* inner.readdir(directory, position - 1, limit, out);
        else yield* inner.readdir(directory, position, limit, out);
      },
    }),
  ],
};

it.each(Object.keys(defects))('a file system fails the suite if %s', (name) => {
  const [expected, defect] = defects[name];
  expect(judge(expected, () => ({})).failed).toBe(0);
  expect(judge(expected, defect).failed).toBeGreaterThan(0);
});

it.each([
  { links: 1 },
  { symlinks: false },
  { specialFiles: false },
  { unnamedFiles: false },
  { sparse: false },
  { fallocate: [] },
  { attributeBytes: 0 },
  { renameExchange: false },
])('a file system that does what it says it does not offer fails: %j', (less) => {
  const subject = memFsUnderTest(plain);
  const ended: string[] = [];
  const test = (name: string, body: () => void): void => {
    if (!name.includes('(not offered, so refused)')) return;
    try {
      body();
      ended.push(`${name} passed`);
    } catch {
      ended.push('failed');
    }
  };
  fileSystemConformance({ test, subject: { ...subject, capabilities: { ...subject.capabilities, ...less } } });
  expect(ended.length).toBeGreaterThan(0);
  expect(ended.filter((end) => end !== 'failed')).toEqual([]);
});

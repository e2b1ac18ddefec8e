import type { MaybeTask, Task } from '@flashstack/sim';
import { FallocateMode, OpenFlag } from '../index.js';
import { check, codeOf, equal, go, type Tester } from './harness.js';
import { treeOf } from './tree.js';

const { append, create, readOnly, readWrite, writeOnly } = OpenFlag;

/** Fills the file system with one file to the last byte, and finds everything that was acknowledged. */
export function* fillWithOneFile(t: Tester): Task<void> {
  const before = yield* t.status();
  const fd = yield* go(t.root.open('/f', create | readWrite, 0o644));
  const chunk = Uint8Array.from({ length: 70_000 }, (_, at) => at + (at >> 8));
  let size = 0;
  for (;;) {
    const [code, written] = yield* attempt(() => t.root.write(fd, chunk, chunk.length));
    if (code === 'ENOSPC') break;
    equal(code, 'none', 'write');
    size += written;
    check(size <= before.blocks * before.blockBytes, `${size} bytes fit into ${before.blocks} blocks`);
  }
  check(size > before.free * before.blockBytes * 0.8, `only ${size} bytes fitted into ${before.free} free blocks`);
  equal((yield* t.fstat(fd)).size, size, 'size is what was acknowledged');
  equal(yield* codeOf(() => t.root.fsync(fd)), 'none', 'fsync on a full file system');
  yield* go(t.root.close(fd));
  yield* t.remount();
  const again = yield* go(t.root.open('/f', readOnly));
  const found = new Uint8Array(chunk.length);
  for (let offset = 0; offset < size; offset += chunk.length) {
    const read = yield* go(t.root.pread(again, found, chunk.length, offset));
    equal(read, Math.min(chunk.length, size - offset), `bytes read at ${offset}`);
    for (let at = 0; at < read; at++) if (found[at] !== chunk[at]) equal(found[at], chunk[at], `byte ${offset + at}`);
  }
  yield* go(t.root.close(again));
  yield* go(t.root.unlink('/f'));
  yield* go(t.root.sync());
  const after = yield* t.status();
  equal(`${after.free} ${after.freeInodes}`, `${before.free} ${before.freeInodes}`, 'free space in the end');
}

/** Creates files until nothing fits, and finds exactly those that were acknowledged. */
export function* fillWithFiles(t: Tester): Task<void> {
  const before = yield* t.status();
  yield* t.mkdir('/d');
  const made: string[] = [];
  let refused = 0;
  for (let at = 0; refused < 20 && at < 100_000; at++) {
    const name = `${at}`.padStart(40, '-');
    const code = yield* codeOf(() =>
      at % 5 === 4 ? t.root.mkdir(`/d/${name}`, 0o755) : createFile(t, `/d/${name}`, at % 3),
    );
    if (code === 'none') made.push(name);
    else {
      equal(code, 'ENOSPC', `creation of file ${at}`);
      refused++;
      if ((yield* t.names('/d')).includes(name)) made.push(name);
    }
  }
  equal(refused, 20, 'refusals');
  made.sort();
  equal((yield* t.names('/d')).join(), made.join(), 'names');
  equal(yield* codeOf(() => t.root.sync()), 'none', 'sync on a full file system');
  yield* t.remount();
  equal((yield* t.names('/d')).join(), made.join(), 'names after a remount');
  for (const { name, kind } of yield* t.entries('/d')) {
    if (name !== '.' && name !== '..') yield* go(kind === 4 ? t.root.rmdir(`/d/${name}`) : t.root.unlink(`/d/${name}`));
  }
  yield* go(t.root.rmdir('/d'));
  yield* go(t.root.sync());
  const after = yield* t.status();
  equal(`${after.free} ${after.freeInodes}`, `${before.free} ${before.freeInodes}`, 'free space in the end');
}

function* createFile(t: Tester, path: string, blocks: number): Task<number> {
  const fd = yield* go(t.root.open(path, create | writeOnly, 0o644));
  try {
    const bytes = new Uint8Array(4096 * blocks).fill(path.length);
    if (blocks > 0) yield* go(t.root.write(fd, bytes, bytes.length));
  } finally {
    yield* go(t.root.close(fd));
  }
  return 0;
}

function* attempt(call: () => MaybeTask): Task<[string, number]> {
  let result = 0;
  const code = yield* codeOf(function* () {
    result = yield* go(call());
  });
  return [code, result];
}

/** Operations that may need space, each with an effect of its own; all of them undo what they open. */
const steps: readonly (readonly [string, (t: Tester) => MaybeTask | Task<unknown>])[] = [
  ['mkdir', (t) => t.root.mkdir('/d', 0o755)],
  ['create', (t) => createFile(t, '/a', 0)],
  ['create in a directory', (t) => createFile(t, '/d/b', 0)],
  ['write', (t) => writeAt(t, '/a', 0, 9000)],
  ['write behind a hole', (t) => writeAt(t, '/a', 100_000, 5000)],
  ['write over what is there', (t) => writeAt(t, '/a', 100, 3000)],
  ['append', (t) => writeAt(t, '/a', -1, 9000)],
  ['long symbolic link', (t) => (t.capabilities.symlinks ? t.root.symlink('x'.repeat(900), '/s') : 0)],
  ['link', (t) => (t.capabilities.links > 1 ? t.root.link('/a', '/d/a') : 0)],
  ['rename to a directory', (t) => t.root.rename('/a', '/d/c')],
  [
    'attribute',
    (t) => (t.capabilities.attributeBytes > 0 ? t.root.setAttribute('/d', 'user.a', new Uint8Array(900)) : 0),
  ],
  ['extension', (t) => t.root.truncate('/d/c', 2_000_000)],
  ['reservation', (t) => reserve(t, '/d/c')],
  ['names that make a directory grow', (t) => manyNames(t)],
  ['removal', (t) => t.root.unlink('/d/b')],
  ['sync', (t) => t.root.sync()],
];

function* writeAt(t: Tester, path: string, offset: number, length: number): Task<number> {
  const fd = yield* go(t.root.open(path, readWrite | (offset < 0 ? append : 0)));
  try {
    const bytes = new Uint8Array(length).fill(length);
    return yield* go(t.root.pwrite(fd, bytes, length, Math.max(offset, 0)));
  } finally {
    yield* go(t.root.close(fd));
  }
}

function* reserve(t: Tester, path: string): Task<number> {
  if (!t.capabilities.fallocate.includes(FallocateMode.keepSize)) return 0;
  const fd = yield* go(t.root.open(path, readWrite));
  try {
    return yield* go(t.root.fallocate(fd, FallocateMode.keepSize, 0, 40_000));
  } finally {
    yield* go(t.root.close(fd));
  }
}

function* manyNames(t: Tester): Task<number> {
  for (let at = 0; at < 60; at++) yield* createFile(t, `/d/${`${at}`.padStart(100, 'n')}`, 0);
  return 0;
}

/**
 * Runs a series of operations with so many free blocks at the start; each succeeds or ends with ENOSPC, and then leaves
 * the tree as it was but for a prefix of a write. True if none was refused.
 */
export function* withFreeBlocks(t: Tester, blocks: number): Task<boolean> {
  yield* leave(t, blocks);
  let refused = 0;
  for (const [name, step] of steps) {
    const before = yield* treeOf(t);
    const code = yield* codeOf(() => step(t));
    if (code === 'none') continue;
    const what = `${name} with ${blocks} free blocks`;
    // What an earlier refusal has kept from being made is missing.
    if (code === 'ENOENT' && refused > 0) continue;
    equal(code, 'ENOSPC', what);
    refused++;
    if (name.startsWith('names')) continue;
    const after = yield* treeOf(t);
    if (name.startsWith('write') || name === 'append') continue;
    equal(after.join('\n'), before.join('\n'), `tree after ${what} was refused`);
  }
  const before = yield* treeOf(t);
  yield* t.remount();
  equal((yield* treeOf(t)).join('\n'), before.join('\n'), `tree after a remount, ${blocks} free blocks`);
  yield* removeAll(t);
  return refused === 0;
}

/** Fills the file system up but for so many blocks. */
function* leave(t: Tester, blocks: number): Task<void> {
  const fd = yield* go(t.root.open('/filler', create | append | readWrite, 0o644));
  for (;;) {
    yield* go(t.root.fsync(fd));
    const { available, blockBytes } = yield* t.status();
    const bytes = new Uint8Array(Math.min(available - blocks, 64) * blockBytes).fill(1);
    if (bytes.length === 0) break;
    const [code, written] = yield* attempt(() => t.root.write(fd, bytes, bytes.length));
    if (code === 'ENOSPC' || written === 0) break;
  }
  yield* go(t.root.close(fd));
}

/** Removes everything; it must be possible on a full file system. */
export function* removeAll(t: Tester, path: string = '/'): Task<void> {
  for (const { name, kind } of yield* t.entries(path)) {
    if (name === '.' || name === '..') continue;
    const below = path === '/' ? `/${name}` : `${path}/${name}`;
    if (kind === 4) {
      yield* removeAll(t, below);
      yield* go(t.root.rmdir(below));
    } else {
      yield* go(t.root.unlink(below));
    }
  }
}

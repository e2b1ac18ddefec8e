import type { Task } from '@flashstack/sim';
import { type DirectoryEntry, FileKind, FileStatus, OpenFlag, type Thread } from '@flashstack/vfs';
import { ReplayError, ReplayErrorCode } from '../replay-error.js';
import { done } from './done.js';

/** Kinds of a listing, as `ls` and `find -printf %y` letter them. */
export type TreeKind = 'f' | 'd' | 'l' | 'p' | 's' | 'c' | 'b';

/** One object of a tree. */
export interface TreeEntry {
  readonly kind: TreeKind;
  /** Bytes; of directories 0, since every file system counts them otherwise. */
  readonly size: number;
  /** Below the root of the tree, without a slash at its start; empty: the root itself. */
  readonly path: string;
}

const kinds: Readonly<Record<TreeKind, number>> = {
  f: FileKind.regular,
  d: FileKind.directory,
  l: FileKind.symlink,
  p: FileKind.fifo,
  s: FileKind.socket,
  c: FileKind.characterDevice,
  b: FileKind.blockDevice,
};
const PIECE_BYTES = 1 << 20;

/**
 * Reads a listing: a line `kind size path` for each object, as `find ROOT -printf '%y %s %P\n'` prints it. Entries come
 * in the order of their paths. @throws ReplayError naming the line.
 */
export function parseListing(text: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    const found = /^([fdlpscb]) (\d+) (.*)$/.exec(line);
    if (found === null) {
      const message = `line ${index + 1} of the listing must be "kind size path", such as "f 4096 dir/file", found "${line.slice(0, 80)}"`;
      throw new ReplayError(ReplayErrorCode.option, message, 'listing');
    }
    const kind = found[1] as TreeKind;
    entries.push({ kind, size: kind === 'd' ? 0 : Number(found[2]), path: found[3] });
  }
  return sorted(entries);
}

/**
 * Makes the objects of a listing in a directory, those that are there already excepted. Files get contents of their size
 * (`written`, default) or are left as holes; links point to a name of their length. Their pages are not synced.
 */
export function* makeTree(
  thread: Thread,
  entries: readonly TreeEntry[],
  target = '/',
  contents: 'written' | 'holes' = 'written',
): Task<void> {
  const there = new Set((yield* listTree(thread, target)).map((entry) => entry.path));
  for (const { kind, size, path } of sorted(entries)) {
    if (there.has(path)) continue;
    const full = below(target, path);
    if (kind === 'd') yield* done(thread.mkdir(full, 0o755));
    else if (kind === 'l') yield* done(thread.symlink('x'.repeat(size), full));
    else if (kind !== 'f') yield* done(thread.mknod(full, (kinds[kind] << 12) | 0o644, 0));
    else yield* makeFile(thread, full, size, contents);
  }
}

function* makeFile(thread: Thread, path: string, size: number, contents: 'written' | 'holes'): Task<void> {
  const fd = yield* done(thread.open(path, OpenFlag.writeOnly | OpenFlag.create | OpenFlag.exclusive, 0o644));
  if (contents === 'holes') {
    yield* done(thread.ftruncate(fd, size));
  } else {
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const length = Math.min(PIECE_BYTES, size - at);
      const written = yield* done(thread.pwrite(fd, null, length, at));
      if (written !== length) throw new Error(`${path}: ${written} of ${length} bytes at ${at} were written`);
    }
  }
  yield* done(thread.close(fd));
}

/** Lists a directory and all below it, in the order of the paths. */
export function* listTree(thread: Thread, target = '/'): Task<TreeEntry[]> {
  const found: TreeEntry[] = [{ kind: 'd', size: 0, path: '' }];
  const status = new FileStatus();
  const open = [''];
  for (let directory = open.pop(); directory !== undefined; directory = open.pop()) {
    for (const { name } of yield* entriesOf(thread, below(target, directory))) {
      const path = directory === '' ? name : `${directory}/${name}`;
      yield* done(thread.lstat(below(target, path), status));
      const kind = kindOf(status.mode >> 12, path);
      found.push({ kind, size: kind === 'd' ? 0 : status.size, path });
      if (kind === 'd') open.push(path);
    }
  }
  return sorted(found);
}

function* entriesOf(thread: Thread, path: string): Task<DirectoryEntry[]> {
  const fd = yield* done(thread.open(path, OpenFlag.readOnly | OpenFlag.directory));
  const entries: DirectoryEntry[] = [];
  while ((yield* done(thread.readdir(fd, entries))) > 0);
  yield* done(thread.close(fd));
  return entries.filter((entry) => entry.name !== '.' && entry.name !== '..');
}

function kindOf(kind: number, path: string): TreeKind {
  for (const [letter, value] of Object.entries(kinds)) if (value === kind) return letter as TreeKind;
  throw new Error(`${path}: unknown kind of file ${kind}`);
}

/** What differs between two trees: one line for each object that is missing, unexpected, or of another kind or size. */
export function treeDifferences(expected: readonly TreeEntry[], found: readonly TreeEntry[]): string[] {
  const text = ({ kind, size, path }: TreeEntry): string => `${kind} ${size} ${path}`;
  const before = new Set(expected.map(text));
  const after = new Set(found.map(text));
  return [
    ...[...before].filter((line) => !after.has(line)).map((line) => `missing: ${line}`),
    ...[...after].filter((line) => !before.has(line)).map((line) => `unexpected: ${line}`),
  ];
}

function sorted(entries: readonly TreeEntry[]): TreeEntry[] {
  return [...entries].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

function below(target: string, path: string): string {
  if (path === '') return target;
  return target === '/' ? `/${path}` : `${target}/${path}`;
}

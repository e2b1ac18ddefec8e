import type { Task } from '@flashstack/sim';
import { FileKind, FsError } from '@flashstack/vfs';
import { textOf } from './byte-text.js';

/** Seconds since 1970 and nanoseconds. */
export type Time = readonly [sec: number, nsec: number];

/** What `stat` tells of a file. */
export interface NodeStatus {
  readonly ino: number;
  /** A `FileKind`. */
  readonly kind: number;
  /** Permission bits, 0–0o7777. */
  readonly mode: number;
  readonly links: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  /** Space taken, in units of 512 bytes. */
  readonly sectors: number;
  /** Number of a device node, as Linux has it. */
  readonly device: number;
  readonly accessed: Time;
  readonly modified: Time;
  readonly changed: Time;
  /** Null where a file system does not keep it. */
  readonly born: Time | null;
}

/** A name in a directory. */
export interface Entry {
  readonly name: string;
  readonly ino: number;
}

/** Contents piece by piece, holes left out. The bytes of a piece are good until the next one is asked for. */
export interface Pieces {
  next(): Task<{ readonly offset: number; readonly bytes: Uint8Array } | null>;
}

/** A file system as it can be read without changing anything, by inode numbers. All throw FsError EUCLEAN and EIO. */
export interface Tree {
  readonly root: number;
  status(ino: number): Task<NodeStatus>;
  /** Without `.` and `..`. */
  entries(ino: number): Task<Entry[]>;
  target(ino: number): Task<string>;
  attributes(ino: number): Task<ReadonlyMap<string, Uint8Array>>;
  pieces(ino: number): Task<Pieces>;
}

/** Symbolic links that one path may lead through, as in Linux. */
const MOST_LINKS = 40;

/** The inode that a path leads to; `follow`: also through a link at its end. @throws FsError ENOENT, ENOTDIR, ELOOP */
export function* resolvePath(tree: Tree, path: string, follow: boolean): Task<number> {
  const todo = path.split('/').reverse();
  const trail = [tree.root];
  let links = 0;
  while (todo.length > 0) {
    const name = todo.pop() as string;
    const here = trail[trail.length - 1];
    if (name === '' || name === '.') continue;
    if ((yield* tree.status(here)).kind !== FileKind.directory) throw new FsError('ENOTDIR', textOf(path));
    if (name === '..') {
      if (trail.length > 1) trail.pop();
      continue;
    }
    const entry = (yield* tree.entries(here)).find((found) => found.name === name);
    if (entry === undefined) throw new FsError('ENOENT', textOf(path));
    const last = !todo.some((rest) => rest !== '' && rest !== '.');
    const { kind } = yield* tree.status(entry.ino);
    if (kind !== FileKind.symlink || (last && !follow && !path.endsWith('/'))) {
      trail.push(entry.ino);
      continue;
    }
    if (++links > MOST_LINKS) throw new FsError('ELOOP', textOf(path));
    const target = yield* tree.target(entry.ino);
    if (target.startsWith('/')) trail.length = 1;
    todo.push(...target.split('/').reverse());
  }
  const end = trail[trail.length - 1];
  if (path.endsWith('/') && (yield* tree.status(end)).kind !== FileKind.directory)
    throw new FsError('ENOTDIR', textOf(path));
  return end;
}

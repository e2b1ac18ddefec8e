import type { Task } from '@flashstack/sim';
import { FileKind, FsError, type Inode } from '@flashstack/vfs';
import type { CallFrame } from './call-frame.js';
import type { Dentry } from './dentry-cache.js';
import { demand, May, may } from './permissions.js';

/** Longest path, with its NUL. */
const PATH_BYTES = 4096;
/** Symbolic links that one path may lead through. */
const MOST_LINKS = 40;

/** Where a path leads, but for its last component: the directory (pinned) and the last name. */
export interface Place {
  readonly directory: Dentry;
  /** May be `.` or `..`; empty if the path is the root. */
  readonly name: string;
  /** The path ends in a slash, so its end must be a directory. */
  readonly slash: boolean;
  /** As the caller wrote it, for errors. */
  readonly path: string;
  /** Symbolic links followed so far. */
  readonly links: number;
}

/** True for a last component that is no entry of its own: `.`, `..` or the root. */
export function isDots(name: string): boolean {
  return name === '' || name === '.' || name === '..';
}

/**
 * The dentry of a path whose components are all cached, with nothing in the way: no link to follow, no refused
 * permission, no missing entry. Otherwise null: `find` takes the long way and knows the error.
 */
export function tryFind(thread: CallFrame, path: string, at: number, follow: boolean): Dentry | null {
  const { host, process } = thread;
  const start = process.start(path, at);
  if (start === null || path.length === 0 || path.length >= PATH_BYTES) return null;
  let here = start;
  let steps = 0;
  for (let from = 0; from < path.length; ) {
    const slash = path.indexOf('/', from);
    const end = slash < 0 ? path.length : slash;
    if (end > from) {
      const { inode } = here;
      if (inode === null || inode.kind !== FileKind.directory || !may(process, inode, May.execute)) return null;
      const next = step(thread, here, path.slice(from, end));
      if (next === null || next.inode === null) return null;
      const last = end >= path.length;
      if (next.inode.kind === FileKind.symlink && (follow || !last)) return null;
      here = next;
      steps++;
    }
    from = end + 1;
  }
  if (path.charCodeAt(path.length - 1) === 47 && here.inode?.kind !== FileKind.directory) return null;
  host.dentries.stats.hits += steps;
  thread.debtNs += steps * host.costs.component;
  return here;
}

function step(thread: CallFrame, here: Dentry, name: string): Dentry | null {
  if (name === '.') return here;
  if (name === '..') return here.parent ?? here;
  return thread.host.dentries.get(here, name);
}

/** The dentry of an existing file, pinned. `follow`: through symbolic links at the end. @throws FsError */
export function* find(thread: CallFrame, path: string, at: number, follow: boolean): Task<Dentry> {
  let place = yield* parentOf(thread, path, at);
  for (;;) {
    const { directory } = place;
    let next: Place;
    try {
      const dentry = yield* entryOf(thread, place);
      const { inode } = dentry;
      if (inode === null) throw new FsError('ENOENT', path);
      if (inode.kind !== FileKind.symlink || !(follow || place.slash)) {
        if (place.slash && inode.kind !== FileKind.directory) throw new FsError('ENOTDIR', path);
        return thread.host.dentries.pin(dentry);
      }
      next = yield* throughLink(thread, place, dentry);
    } finally {
      thread.host.dentries.unpin(directory);
    }
    place = next;
  }
}

/** Where the symbolic link at a place leads. */
export function* throughLink(thread: CallFrame, place: Place, link: Dentry): Task<Place> {
  const target = yield* targetOf(thread, link, place.path, place.links);
  return yield* walk(thread, place.directory, place.slash ? `${target}/` : target, place.path, place.links + 1);
}

/** The place of a path. @throws FsError ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG */
export function* parentOf(thread: CallFrame, path: string, at: number): Task<Place> {
  if (path.length === 0) throw new FsError('ENOENT', 'the path is empty');
  if (path.length >= PATH_BYTES) throw new FsError('ENAMETOOLONG', `a path of ${path.length} bytes`);
  let start = thread.process.start(path, at);
  if (start === null) {
    yield* thread.process.enterDirectory(thread);
    start = thread.process.start(path, at) as Dentry;
  }
  return yield* walk(thread, start, path, path, 0);
}

/** The dentry at a place, which may be negative; good until the next yield. */
export function* entryOf(thread: CallFrame, place: Place): Task<Dentry> {
  const { directory, name } = place;
  if (name === '' || name === '.') return directory;
  if (name === '..') return directory.parent ?? directory;
  return yield* child(thread, directory, name);
}

/** As `entryOf` while the caller holds the lock of the directory. */
export function* entryLocked(thread: CallFrame, place: Place): Task<Dentry> {
  const { dentries, inodes } = thread.host;
  const { directory, name } = place;
  for (;;) {
    const known = dentries.get(directory, name);
    if (known !== null) return known;
    const inode = yield* look(thread, directory, name);
    if (inode === null || !inodes.isLeaving(inode)) return remember(thread, directory, name, inode);
    yield* inodes.settled(inode);
  }
}

function* walk(thread: CallFrame, start: Dentry, text: string, path: string, followed: number): Task<Place> {
  const { dentries } = thread.host;
  let links = followed;
  let rest = text;
  let here = dentries.pin(rest.charCodeAt(0) === 47 ? dentries.root : start);
  try {
    for (let from = afterSlashes(rest, 0); ; ) {
      const slash = rest.indexOf('/', from);
      const end = slash < 0 ? rest.length : slash;
      const name = rest.slice(from, end);
      const inode = here.inode as Inode;
      if (inode.kind !== FileKind.directory) throw new FsError('ENOTDIR', path);
      demand(thread.process, inode, May.execute, path);
      if (name.length > thread.host.fileSystem.capabilities.nameBytes) throw new FsError('ENAMETOOLONG', path);
      const next = afterSlashes(rest, end);
      if (next >= rest.length) {
        const place = { directory: here, name, slash: end < rest.length, path, links };
        dentries.pin(here);
        return place;
      }
      const dentry = yield* entryOf(thread, { directory: here, name, slash: false, path, links });
      if (dentry.inode === null) throw new FsError('ENOENT', path);
      if (dentry.inode.kind === FileKind.symlink) {
        const target = yield* targetOf(thread, dentry, path, links++);
        rest = target + rest.slice(end);
        from = afterSlashes(rest, 0);
        if (target.charCodeAt(0) === 47) here = exchangePin(thread, here, dentries.root);
      } else {
        from = next;
        here = exchangePin(thread, here, dentry);
      }
    }
  } finally {
    dentries.unpin(here);
  }
}

function exchangePin(thread: CallFrame, from: Dentry, to: Dentry): Dentry {
  thread.host.dentries.pin(to);
  thread.host.dentries.unpin(from);
  return to;
}

function afterSlashes(path: string, from: number): number {
  let at = from;
  while (at < path.length && path.charCodeAt(at) === 47) at++;
  return at;
}

/** A name in a directory, from the cache or the file system; may be negative. */
function* child(thread: CallFrame, directory: Dentry, name: string): Task<Dentry> {
  const { dentries, inodes, costs } = thread.host;
  for (;;) {
    const known = dentries.get(directory, name);
    if (known !== null) {
      dentries.stats.hits++;
      thread.debtNs += costs.component;
      return known;
    }
    const { lock } = directory.inode as Inode;
    if (!lock.tryRead()) yield lock.read;
    let inode: Inode | null;
    try {
      inode = yield* look(thread, directory, name);
      if (inode === null || !inodes.isLeaving(inode)) return remember(thread, directory, name, inode);
    } finally {
      lock.unlockRead();
    }
    yield* inodes.settled(inode);
  }
}

function* look(thread: CallFrame, directory: Dentry, name: string): Task<Inode | null> {
  const { dentries, fileSystem, costs } = thread.host;
  if (directory.dead) throw new FsError('ENOENT', name);
  dentries.stats.misses++;
  thread.debtNs += costs.lookup;
  return yield* fileSystem.lookup(directory.inode as Inode, name);
}

/** Another process may have looked the name up meanwhile. */
function remember(thread: CallFrame, directory: Dentry, name: string, inode: Inode | null): Dentry {
  const { dentries } = thread.host;
  return dentries.get(directory, name) ?? dentries.add(directory, name, inode);
}

/** What a symbolic link points to. */
function* targetOf(thread: CallFrame, link: Dentry, path: string, links: number): Task<string> {
  if (links >= MOST_LINKS) throw new FsError('ELOOP', path);
  if (link.target === null) {
    const { dentries, fileSystem } = thread.host;
    dentries.pin(link);
    try {
      link.target = yield* fileSystem.readlink(link.inode as Inode);
    } finally {
      dentries.unpin(link);
    }
  }
  if (link.target === '') throw new FsError('ENOENT', path);
  return link.target;
}

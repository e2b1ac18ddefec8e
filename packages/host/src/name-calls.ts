import type { Task } from '@flashstack/sim';
import {
  AT_WORKING_DIRECTORY,
  FileKind,
  FsError,
  type Inode,
  lockTwo,
  type NewInode,
  RenameFlag,
  unlockTwo,
} from '@flashstack/vfs';
import type { CallFrame } from './call-frame.js';
import type { Dentry } from './dentry-cache.js';
import { entryLocked, find, isDots, type Place, parentOf } from './paths.js';
import { demand, demandRemoval, inGroup, May, ModeBit } from './permissions.js';

/** How a new inode begins in a directory: umask applied, group and set-group-ID inherited from such a directory. */
export function newInode(
  { process }: CallFrame,
  directory: Inode,
  kind: number,
  permissions: number,
  more: Partial<NewInode> = {},
): NewInode {
  let mode = kind === FileKind.symlink ? 0o777 : permissions & 0o7777 & ~process.umask;
  let { gid } = process;
  if ((directory.mode & ModeBit.setGid) !== 0) {
    gid = directory.gid;
    if (kind === FileKind.directory) mode |= ModeBit.setGid;
    else if ((mode & 0o010) !== 0 && process.uid !== 0 && !inGroup(process, gid)) mode &= ~ModeBit.setGid;
  }
  return { kind, mode, uid: process.uid, gid, ...more };
}

/** Makes an inode at a place whose directory is locked and has no such entry. */
export function* makeAt(thread: CallFrame, place: Place, what: NewInode): Task<Dentry> {
  const { host, process } = thread;
  const directory = place.directory.inode as Inode;
  host.demandWritable();
  demand(process, directory, May.write | May.execute, place.path);
  const inode = yield* host.fileSystem.create(directory, place.name, what);
  return host.dentries.made(place.directory, place.name, inode);
}

/** What is done with an entry, which may be absent, while the lock of its directory is held. */
type EntryAction<T> = (thread: CallFrame, place: Place, entry: Dentry, what: T) => Task<unknown>;

/** Looks an entry up under the lock of its directory and acts on it. `refuseDots` throws for what is no entry of its own. */
function* atEntry<T>(
  thread: CallFrame,
  path: string,
  at: number,
  refuseDots: (place: Place) => void,
  act: EntryAction<T>,
  what: T,
): Task<number> {
  const place = yield* parentOf(thread, path, at);
  const directory = place.directory.inode as Inode;
  try {
    refuseDots(place);
    if (!directory.lock.tryWrite()) yield directory.lock.write;
    try {
      demandAlive(place);
      yield* act(thread, place, yield* entryLocked(thread, place), what);
      return 0;
    } finally {
      directory.lock.unlockWrite();
    }
  } finally {
    thread.host.dentries.unpin(place.directory);
  }
}

/** @throws FsError ENOENT if the directory has been removed. */
export function demandAlive(place: Place): void {
  if (place.directory.dead) throw new FsError('ENOENT', place.path);
}

function dotsExist({ name, path }: Place): void {
  if (isDots(name)) throw new FsError('EEXIST', path);
}

/** mkdir, mknod and symlink. */
export function make(
  thread: CallFrame,
  path: string,
  at: number,
  kind: number,
  mode: number,
  more: Partial<NewInode> = {},
): Task<number> {
  return atEntry(thread, path, at, dotsExist, makeEntry, { kind, mode, more });
}

interface Made {
  readonly kind: number;
  readonly mode: number;
  readonly more: Partial<NewInode>;
}

function* makeEntry(thread: CallFrame, place: Place, entry: Dentry, { kind, mode, more }: Made): Task<void> {
  if (entry.inode !== null) throw new FsError('EEXIST', place.path);
  if (place.slash && kind !== FileKind.directory) throw new FsError('ENOENT', place.path);
  yield* makeAt(thread, place, newInode(thread, place.directory.inode as Inode, kind, mode, more));
}

export function unlink(thread: CallFrame, path: string, at: number): Task<number> {
  return atEntry(thread, path, at, dotsAreDirectories, removeEntry, false);
}

function dotsAreDirectories({ name, path }: Place): void {
  if (isDots(name)) throw new FsError('EISDIR', path);
}

export function rmdir(thread: CallFrame, path: string, at: number): Task<number> {
  return atEntry(thread, path, at, dotsStay, removeEntry, true);
}

function dotsStay({ name, path }: Place): void {
  if (name === '.') throw new FsError('EINVAL', path);
  if (name === '..') throw new FsError('ENOTEMPTY', path);
  if (name === '') throw new FsError('EBUSY', path);
}

/** `directory`: of `rmdir`, otherwise of `unlink`. */
function* removeEntry(thread: CallFrame, place: Place, entry: Dentry, directory: boolean): Task<void> {
  const { host } = thread;
  const { inode } = entry;
  const parent = place.directory.inode as Inode;
  if (inode === null) throw new FsError('ENOENT', place.path);
  const isDirectory = inode.kind === FileKind.directory;
  if (place.slash && !directory) throw new FsError(isDirectory ? 'EISDIR' : 'ENOTDIR', place.path);
  host.demandWritable();
  demandRemoval(thread.process, parent, inode, place.path);
  if (isDirectory !== directory) throw new FsError(directory ? 'ENOTDIR' : 'EISDIR', place.path);
  host.dentries.pin(entry);
  try {
    if (!inode.lock.tryWrite()) yield inode.lock.write;
    try {
      if (directory) yield* host.fileSystem.rmdir(parent, place.name, inode);
      else yield* host.fileSystem.unlink(parent, place.name, inode);
      host.dentries.remove(entry);
    } finally {
      inode.lock.unlockWrite();
    }
  } finally {
    host.dentries.unpin(entry);
  }
}

export function* link(thread: CallFrame, from: string, to: string, fromAt: number, toAt: number): Task<number> {
  const { host } = thread;
  if (from === '' && fromAt !== AT_WORKING_DIRECTORY) return yield* linkOpen(thread, fromAt, to, toAt);
  const source = yield* find(thread, from, fromAt, false);
  const inode = source.inode as Inode;
  // The dentry may be renamed over meanwhile, the inode is meant all the same.
  host.inodes.take(inode);
  host.dentries.unpin(source);
  try {
    return yield* atEntry(thread, to, toAt, dotsExist, linkEntry, { inode, from, unnamed: false });
  } finally {
    host.inodes.drop(inode);
  }
}

/** As `linkat` with AT_EMPTY_PATH: the file of a descriptor. One made by O_TMPFILE without O_EXCL gets its first name. */
function* linkOpen(thread: CallFrame, fd: number, to: string, toAt: number): Task<number> {
  const file = thread.process.files.get(fd);
  const { inode } = file;
  thread.host.inodes.take(inode);
  try {
    const linked: Linked = { inode, from: `descriptor ${fd}`, unnamed: file.linkable };
    const done = yield* atEntry(thread, to, toAt, dotsExist, linkEntry, linked);
    file.linkable = false;
    return done;
  } finally {
    thread.host.inodes.drop(inode);
  }
}

interface Linked {
  readonly inode: Inode;
  readonly from: string;
  /** It may get a first name. */
  readonly unnamed: boolean;
}

function* linkEntry(thread: CallFrame, place: Place, entry: Dentry, { inode, from, unnamed }: Linked): Task<void> {
  const { host } = thread;
  const directory = place.directory.inode as Inode;
  if (entry.inode !== null) throw new FsError('EEXIST', place.path);
  if (place.slash) throw new FsError('ENOENT', place.path);
  host.demandWritable();
  demand(thread.process, directory, May.write | May.execute, place.path);
  if (inode.kind === FileKind.directory) throw new FsError('EPERM', from);
  if (!inode.lock.tryWrite()) yield inode.lock.write;
  try {
    if (inode.links === 0 && !unnamed) throw new FsError('ENOENT', from);
    yield* host.fileSystem.link(inode, directory, place.name);
  } finally {
    inode.lock.unlockWrite();
  }
  host.dentries.made(place.directory, place.name, inode);
}

export function* rename(
  thread: CallFrame,
  from: string,
  to: string,
  flags: number,
  fromAt: number,
  toAt: number,
): Task<number> {
  const { host } = thread;
  checkFlags(flags);
  const old = yield* parentOf(thread, from, fromAt);
  try {
    const place = yield* parentOf(thread, to, toAt);
    try {
      return yield* renameBetween(thread, old, place, flags);
    } finally {
      host.dentries.unpin(place.directory);
    }
  } finally {
    host.dentries.unpin(old.directory);
  }
}

function checkFlags(flags: number): void {
  if ((flags & ~(RenameFlag.noReplace | RenameFlag.exchange)) !== 0 || flags === 3) {
    throw new FsError('EINVAL', `rename flags ${flags}`);
  }
}

function* renameBetween(thread: CallFrame, old: Place, place: Place, flags: number): Task<number> {
  const { host } = thread;
  if (isDots(old.name)) throw new FsError('EBUSY', old.path);
  if (isDots(place.name)) throw new FsError((flags & RenameFlag.noReplace) !== 0 ? 'EEXIST' : 'EBUSY', place.path);
  const crossing = old.directory !== place.directory;
  // Only one rename at a time may change who is above whom.
  if (crossing && !host.renames.tryLock()) yield host.renames;
  try {
    const fromFirst = inOrder(old.directory, place.directory);
    const first = (fromFirst ? old : place).directory.inode as Inode;
    const second = (fromFirst ? place : old).directory.inode as Inode;
    yield* lockTwo(first, second);
    try {
      return yield* renameLocked(thread, old, place, flags);
    } finally {
      unlockTwo(first, second);
    }
  } finally {
    if (crossing) host.renames.unlock();
  }
}

/** Ancestors first; of others the one with the smaller number. */
function inOrder(one: Dentry, other: Dentry): boolean {
  if (one.isAbove(other)) return true;
  if (other.isAbove(one)) return false;
  return (one.inode as Inode).ino < (other.inode as Inode).ino;
}

function* renameLocked(thread: CallFrame, old: Place, place: Place, flags: number): Task<number> {
  const { host } = thread;
  const { dentries } = host;
  demandAlive(old);
  demandAlive(place);
  const moving = dentries.pin(yield* entryLocked(thread, old));
  try {
    const replaced = dentries.pin(yield* entryLocked(thread, place));
    try {
      if (!mayRename(thread, old, place, moving, replaced, flags)) return 0;
      const exchange = (flags & RenameFlag.exchange) !== 0;
      const target = replaced.inode;
      const locked = exchange ? null : target;
      if (locked !== null && !locked.lock.tryWrite()) yield locked.lock.write;
      try {
        yield* host.fileSystem.rename(
          old.directory.inode as Inode,
          old.name,
          moving.inode as Inode,
          place.directory.inode as Inode,
          place.name,
          target,
          flags,
        );
        if (exchange) dentries.exchange(moving, replaced);
        else
          dentries.move(
            moving,
            dentries.get(place.directory, place.name) ?? dentries.add(place.directory, place.name, null),
          );
      } finally {
        locked?.lock.unlockWrite();
      }
      return 0;
    } finally {
      dentries.unpin(replaced);
    }
  } finally {
    dentries.unpin(moving);
  }
}

/** Checks all that the file system does not; false: nothing is to be done. */
function mayRename(
  thread: CallFrame,
  old: Place,
  place: Place,
  moving: Dentry,
  replaced: Dentry,
  flags: number,
): boolean {
  const { host, process } = thread;
  const inode = moving.inode;
  const target = replaced.inode;
  if (inode === null) throw new FsError('ENOENT', old.path);
  if (target !== null && (flags & RenameFlag.noReplace) !== 0) throw new FsError('EEXIST', place.path);
  if (target === null && (flags & RenameFlag.exchange) !== 0) throw new FsError('ENOENT', place.path);
  const directory = inode.kind === FileKind.directory;
  if (!directory && (old.slash || (place.slash && (flags & RenameFlag.exchange) === 0))) {
    throw new FsError('ENOTDIR', old.slash ? old.path : place.path);
  }
  if (target !== null && place.slash && target.kind !== FileKind.directory) throw new FsError('ENOTDIR', place.path);
  if (moving.isAbove(place.directory)) throw new FsError('EINVAL', `${old.path} is above ${place.path}`);
  if (replaced.inode !== null && replaced.isAbove(old.directory)) {
    throw new FsError((flags & RenameFlag.exchange) !== 0 ? 'EINVAL' : 'ENOTEMPTY', place.path);
  }
  if (inode === target) return false;
  host.demandWritable();
  const from = old.directory.inode as Inode;
  const to = place.directory.inode as Inode;
  demandRemoval(process, from, inode, old.path);
  if (target === null) demand(process, to, May.write | May.execute, place.path);
  else demandRemoval(process, to, target, place.path);
  if (target !== null && (flags & RenameFlag.exchange) === 0) checkKinds(inode, target, place.path);
  if (from !== to) {
    // Its `..` changes.
    if (directory) demand(process, inode, May.write, old.path);
    if (target?.kind === FileKind.directory && (flags & RenameFlag.exchange) !== 0) {
      demand(process, target, May.write, place.path);
    }
  }
  return true;
}

function checkKinds(inode: Inode, target: Inode, path: string): void {
  if (inode.kind === FileKind.directory && target.kind !== FileKind.directory) throw new FsError('ENOTDIR', path);
  if (inode.kind !== FileKind.directory && target.kind === FileKind.directory) throw new FsError('EISDIR', path);
}

import type { Task } from '@flashstack/sim';
import { type AttributeChange, FileKind, type FileStatus, FsError, type Inode, OpenFlag } from '@flashstack/vfs';
import type { CallFrame } from './call-frame.js';
import { find } from './paths.js';
import { demand, demandOwner, inGroup, May, ModeBit, may, modeAfterChown, modeAfterWrite } from './permissions.js';

/** A part of a call that is done with an inode while nobody can take it away. */
type WithInode<T> = (thread: CallFrame, inode: Inode) => Task<T>;

/** Finds a file and does something with it. */
export function* withPath<T>(
  thread: CallFrame,
  path: string,
  at: number,
  follow: boolean,
  body: WithInode<T>,
): Task<T> {
  const dentry = yield* find(thread, path, at, follow);
  const inode = dentry.inode as Inode;
  const { inodes, dentries } = thread.host;
  inodes.take(inode);
  dentries.unpin(dentry);
  try {
    return yield* body(thread, inode);
  } finally {
    inodes.drop(inode);
  }
}

/** Fills in what the `stat` family returns. */
export function fillStatus(out: FileStatus, inode: Inode, blockBytes: number): void {
  out.ino = inode.ino;
  out.mode = (inode.kind << 12) | inode.mode;
  out.links = inode.links;
  out.uid = inode.uid;
  out.gid = inode.gid;
  out.device = inode.device;
  out.size = inode.size;
  out.blockBytes = blockBytes;
  out.sectors = inode.sectors;
  out.accessedSec = inode.accessedSec;
  out.accessedNsec = inode.accessedNsec;
  out.modifiedSec = inode.modifiedSec;
  out.modifiedNsec = inode.modifiedNsec;
  out.changedSec = inode.changedSec;
  out.changedNsec = inode.changedNsec;
}

/** @throws FsError EACCES unless the caller may do all of `mode`. */
export function checkAccess(thread: CallFrame, inode: Inode, mode: number, path: string): void {
  if ((mode & ~7) !== 0) throw new FsError('EINVAL', `access mode ${mode}`);
  if ((mode & May.write) !== 0 && inode.kind <= FileKind.symlink && inode.kind !== FileKind.characterDevice) {
    thread.host.demandWritable();
  }
  if (!may(thread.process, inode, mode)) throw new FsError('EACCES', path);
}

/** Changes attributes under the lock of the file. `change` is asked once the lock is held. */
function* change(thread: CallFrame, inode: Inode, changeOf: () => AttributeChange): Task<number> {
  const { host } = thread;
  host.demandWritable();
  if (!inode.lock.tryWrite()) yield inode.lock.write;
  try {
    yield* host.fileSystem.setAttributes(inode, changeOf());
    return 0;
  } finally {
    inode.lock.unlockWrite();
  }
}

export function* chmod(thread: CallFrame, inode: Inode, mode: number, path: string): Task<number> {
  const { process } = thread;
  return yield* change(thread, inode, () => {
    demandOwner(process, inode, path);
    const stranger = process.uid !== 0 && !inGroup(process, inode.gid);
    return { mode: mode & 0o7777 & ~(stranger ? ModeBit.setGid : 0) };
  });
}

export function* chown(thread: CallFrame, inode: Inode, uid: number, gid: number, path: string): Task<number> {
  const { process } = thread;
  return yield* change(thread, inode, () => {
    if (process.uid !== 0) {
      const keepsOwner = uid === -1 || (uid === inode.uid && process.uid === inode.uid);
      const ownGroup = gid === -1 || (process.uid === inode.uid && (gid === inode.gid || inGroup(process, gid)));
      if (!keepsOwner || !ownGroup) throw new FsError('EPERM', path);
    }
    return {
      ...(uid === -1 ? {} : { uid }),
      ...(gid === -1 ? {} : { gid }),
      mode: modeAfterChown(inode),
    };
  });
}

/** Time of a `utimens` argument; null: the present. */
type Time = readonly [number, number] | null;

export function* utimens(thread: CallFrame, inode: Inode, accessed: Time, modified: Time, path: string): Task<number> {
  const { process, host } = thread;
  for (const time of [accessed, modified]) {
    if (time !== null && !(time[1] >= 0 && time[1] < 1e9)) throw new FsError('EINVAL', `nanoseconds ${time[1]}`);
  }
  return yield* change(thread, inode, () => {
    if (accessed !== null || modified !== null) demandOwner(process, inode, path);
    else if (process.uid !== 0 && process.uid !== inode.uid) demand(process, inode, May.write, path);
    const { sec, nsec } = host.clock.read();
    return { accessed: accessed ?? [sec, nsec], modified: modified ?? [sec, nsec] };
  });
}

/** Truncation by path. */
export function* truncate(thread: CallFrame, inode: Inode, length: number, path: string): Task<number> {
  if (inode.kind === FileKind.directory) throw new FsError('EISDIR', path);
  if (inode.kind !== FileKind.regular) throw new FsError('EINVAL', path);
  demand(thread.process, inode, May.write, path);
  return yield* resize(thread, inode, length);
}

/** @throws FsError EINVAL, EFBIG */
export function checkLength(thread: CallFrame, length: number): void {
  if (!Number.isSafeInteger(length) || length < 0) throw new FsError('EINVAL', `a length of ${length}`);
  if (length > thread.host.fileSystem.capabilities.fileBytes) throw new FsError('EFBIG', `a length of ${length}`);
}

export function* resize(thread: CallFrame, inode: Inode, length: number): Task<number> {
  checkLength(thread, length);
  return yield* change(thread, inode, () => {
    const mode = modeAfterWrite(thread.process, inode);
    return mode === inode.mode ? { size: length } : { size: length, mode };
  });
}

/**
 * What a name of an extended attribute demands: `user.` the permission of contents, on files and directories only;
 * `trusted.` root, to anybody else it does not exist; `security.` root to change.
 */
function checkAttribute(thread: CallFrame, inode: Inode, name: string, write: boolean, path: string): void {
  const { process } = thread;
  const dot = name.indexOf('.');
  if (dot <= 0 || dot === name.length - 1) throw new FsError(dot < 0 ? 'EOPNOTSUPP' : 'EINVAL', `attribute ${name}`);
  if (name.length > 255) throw new FsError('ERANGE', `an attribute's name of ${name.length} bytes`);
  switch (name.slice(0, dot)) {
    case 'user': {
      if (inode.kind !== FileKind.regular && inode.kind !== FileKind.directory) {
        throw new FsError(write ? 'EPERM' : 'ENODATA', path);
      }
      const sticky = inode.kind === FileKind.directory && (inode.mode & ModeBit.sticky) !== 0;
      if (write && sticky) demandOwner(process, inode, path);
      demand(process, inode, write ? May.write : May.read, path);
      return;
    }
    case 'trusted':
      if (process.uid !== 0) throw new FsError(write ? 'EPERM' : 'ENODATA', path);
      return;
    case 'security':
      if (write && process.uid !== 0) throw new FsError('EPERM', path);
      return;
    default:
      throw new FsError('EOPNOTSUPP', `attribute ${name}`);
  }
}

export function* setAttribute(
  thread: CallFrame,
  inode: Inode,
  name: string,
  value: Uint8Array | null,
  path: string,
): Task<number> {
  const { host } = thread;
  host.demandWritable();
  checkAttribute(thread, inode, name, true, path);
  if (!inode.lock.tryWrite()) yield inode.lock.write;
  try {
    if (value === null && (yield* host.fileSystem.getAttribute(inode, name)) === null)
      throw new FsError('ENODATA', name);
    yield* host.fileSystem.setAttribute(inode, name, value);
    return 0;
  } finally {
    inode.lock.unlockWrite();
  }
}

/** Access time of an inode that has just been read, as the mount option says. */
export function touchAccessTime(thread: CallFrame, inode: Inode, flags: number): void {
  const { host } = thread;
  if (!host.keepsAccessTimes || (flags & OpenFlag.noAccessTime) !== 0) return;
  if (host.relativeAccessTimes) {
    const { accessedSec, accessedNsec, modifiedSec, modifiedNsec, changedSec, changedNsec } = inode;
    const fresh =
      isLater(accessedSec, accessedNsec, modifiedSec, modifiedNsec) &&
      isLater(accessedSec, accessedNsec, changedSec, changedNsec);
    if (fresh && host.clock.read().sec - accessedSec < 86_400) return;
  }
  host.fileSystem.accessed(inode);
}

function isLater(sec: number, nsec: number, thanSec: number, thanNsec: number): boolean {
  return sec > thanSec || (sec === thanSec && nsec > thanNsec);
}

export function* readlink(thread: CallFrame, inode: Inode, path: string): Task<string> {
  if (inode.kind !== FileKind.symlink) throw new FsError('EINVAL', path);
  const target = yield* thread.host.fileSystem.readlink(inode);
  touchAccessTime(thread, inode, 0);
  return target;
}

export function* getAttribute(thread: CallFrame, inode: Inode, name: string, path: string): Task<Uint8Array> {
  checkAttribute(thread, inode, name, false, path);
  const value = yield* thread.host.fileSystem.getAttribute(inode, name);
  if (value === null) throw new FsError('ENODATA', name);
  return value;
}

/** Names of the attributes that the caller may know of. */
export function* listAttributes(thread: CallFrame, inode: Inode): Task<string[]> {
  const names = yield* thread.host.fileSystem.listAttributes(inode);
  return thread.process.uid === 0 ? names : names.filter((name) => !name.startsWith('trusted.'));
}

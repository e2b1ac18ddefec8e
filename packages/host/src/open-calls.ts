import type { Task } from '@flashstack/sim';
import { FileKind, FsError, type Inode, OpenFlag } from '@flashstack/vfs';
import type { CallFrame } from './call-frame.js';
import type { Dentry } from './dentry-cache.js';
import { demandAlive, makeAt, newInode } from './name-calls.js';
import { OpenFile } from './open-file.js';
import { entryLocked, entryOf, find, isDots, type Place, parentOf, throughLink, tryFind } from './paths.js';
import { demand, demandOwner, May, modeAfterWrite } from './permissions.js';

const CREATES = OpenFlag.create | (OpenFlag.temporary & ~OpenFlag.directory);

/** Opens what is cached and need not be changed; −1: `openSlowly` does it. */
export function tryOpen(thread: CallFrame, path: string, flags: number, at: number): number {
  if ((flags & (CREATES | OpenFlag.truncate)) !== 0) return -1;
  const dentry = tryFind(thread, path, at, (flags & OpenFlag.noFollow) === 0);
  if (dentry === null) return -1;
  admit(thread, dentry.inode as Inode, flags, path);
  return install(thread, dentry, flags);
}

/** `open` with whatever has to be waited for. */
export function* openSlowly(thread: CallFrame, path: string, flags: number, mode: number, at: number): Task<number> {
  thread.process.files.reserve();
  if ((flags & OpenFlag.temporary) === OpenFlag.temporary) return yield* openTemporary(thread, path, flags, mode, at);
  if ((flags & OpenFlag.create) !== 0 && (flags & OpenFlag.path) === 0) {
    return yield* openOrCreate(thread, path, flags, mode, at);
  }
  const dentry = yield* find(thread, path, at, (flags & OpenFlag.noFollow) === 0);
  try {
    return yield* openFound(thread, dentry, flags, path);
  } finally {
    thread.host.dentries.unpin(dentry);
  }
}

function* openOrCreate(thread: CallFrame, path: string, flags: number, mode: number, at: number): Task<number> {
  if ((flags & OpenFlag.directory) !== 0) throw new FsError('EINVAL', 'O_CREAT with O_DIRECTORY');
  let place = yield* parentOf(thread, path, at);
  for (;;) {
    const { directory } = place;
    let next: Place;
    try {
      if (place.slash || isDots(place.name)) {
        const there = isDots(place.name) && (flags & OpenFlag.exclusive) !== 0;
        throw new FsError(there ? 'EEXIST' : 'EISDIR', path);
      }
      const dentry = yield* entryOf(thread, place);
      const { inode } = dentry;
      if (inode === null) {
        const fd = yield* createAndOpen(thread, place, flags, mode);
        if (fd >= 0) return fd;
        // Somebody else was faster: the entry is there now.
        continue;
      }
      if ((flags & OpenFlag.exclusive) !== 0) throw new FsError('EEXIST', path);
      if (inode.kind !== FileKind.symlink || (flags & OpenFlag.noFollow) !== 0) {
        return yield* openFound(thread, dentry, flags, path);
      }
      next = yield* throughLink(thread, place, dentry);
    } finally {
      // A repeated turn has the same directory, which is pinned for it.
      thread.host.dentries.unpin(directory);
    }
    place = next;
  }
}

/** Makes the file and opens it; −1 if there is one by now. */
function* createAndOpen(thread: CallFrame, place: Place, flags: number, mode: number): Task<number> {
  const { host } = thread;
  const directory = place.directory.inode as Inode;
  if (!directory.lock.tryWrite()) yield directory.lock.write;
  try {
    demandAlive(place);
    const there = yield* entryLocked(thread, place);
    if (there.inode !== null) {
      host.dentries.pin(place.directory);
      return -1;
    }
    const dentry = yield* makeAt(thread, place, newInode(thread, directory, FileKind.regular, mode));
    return install(thread, dentry, flags);
  } finally {
    directory.lock.unlockWrite();
  }
}

/** A file without a name. */
function* openTemporary(thread: CallFrame, path: string, flags: number, mode: number, at: number): Task<number> {
  const { host } = thread;
  if ((flags & OpenFlag.accessMode) === OpenFlag.readOnly) {
    throw new FsError('EINVAL', 'O_TMPFILE needs O_WRONLY or O_RDWR');
  }
  const dentry = yield* find(thread, path, at, (flags & OpenFlag.noFollow) === 0);
  try {
    const directory = dentry.inode as Inode;
    if (directory.kind !== FileKind.directory) throw new FsError('ENOTDIR', path);
    const { name, unnamedFiles } = host.fileSystem.capabilities;
    if (!unnamedFiles) throw new FsError('EOPNOTSUPP', `${name} makes no files without a name`);
    if (!directory.lock.tryWrite()) yield directory.lock.write;
    try {
      if (dentry.dead) throw new FsError('ENOENT', path);
      host.demandWritable();
      demand(thread.process, directory, May.write | May.execute, path);
      const what = newInode(thread, directory, FileKind.regular, mode);
      const inode = yield* host.fileSystem.create(directory, null, what);
      host.inodes.take(inode);
      try {
        return thread.process.files.add(fileOf(thread, inode, flags, null));
      } finally {
        host.inodes.drop(inode);
      }
    } finally {
      directory.lock.unlockWrite();
    }
  } finally {
    host.dentries.unpin(dentry);
  }
}

function* openFound(thread: CallFrame, dentry: Dentry, flags: number, path: string): Task<number> {
  const { host, process } = thread;
  const inode = dentry.inode as Inode;
  admit(thread, inode, flags, path);
  const truncates = (flags & (OpenFlag.truncate | OpenFlag.path)) === OpenFlag.truncate;
  if (!truncates || inode.kind !== FileKind.regular) return install(thread, dentry, flags);
  const file = describe(thread, dentry, flags);
  try {
    if (!inode.lock.tryWrite()) yield inode.lock.write;
    try {
      yield* host.fileSystem.setAttributes(inode, { size: 0, mode: modeAfterWrite(process, inode) });
    } finally {
      inode.lock.unlockWrite();
    }
    const fd = process.files.add(file);
    file.descriptors++;
    return fd;
  } finally {
    host.release(file);
  }
}

/** Checks that the file may be opened like that. */
function admit({ host, process }: CallFrame, inode: Inode, flags: number, path: string): void {
  const { kind } = inode;
  if ((flags & OpenFlag.directory) !== 0 && kind !== FileKind.directory) throw new FsError('ENOTDIR', path);
  if ((flags & OpenFlag.path) !== 0) return;
  if (kind === FileKind.symlink) throw new FsError('ELOOP', path);
  const access = flags & OpenFlag.accessMode;
  const truncates = (flags & OpenFlag.truncate) !== 0;
  const writes = access !== OpenFlag.readOnly;
  if (kind === FileKind.directory && (writes || truncates || (flags & OpenFlag.create) !== 0)) {
    throw new FsError('EISDIR', path);
  }
  let wanted = writes || truncates ? May.write : 0;
  if (access !== OpenFlag.writeOnly) wanted |= May.read;
  demand(process, inode, wanted, path);
  if (kind !== FileKind.regular && kind !== FileKind.directory) {
    throw new FsError(
      'ENXIO',
      `${path} is a fifo, socket or device node: only regular files and directories are opened`,
    );
  }
  if (writes || truncates) host.demandWritable();
  if ((flags & OpenFlag.noAccessTime) !== 0) demandOwner(process, inode, path);
}

function install(thread: CallFrame, dentry: Dentry, flags: number): number {
  const { files } = thread.process;
  files.reserve();
  return files.add(describe(thread, dentry, flags));
}

function describe(thread: CallFrame, dentry: Dentry, flags: number): OpenFile {
  const inode = dentry.inode as Inode;
  const keepsPlace = inode.kind === FileKind.directory || (flags & OpenFlag.path) !== 0;
  return fileOf(thread, inode, flags, keepsPlace ? thread.host.dentries.pin(dentry) : null);
}

function fileOf({ host }: CallFrame, inode: Inode, flags: number, dentry: Dentry | null): OpenFile {
  host.inodes.take(inode);
  return new OpenFile(host.simulator, host.cache, inode, flags, dentry);
}

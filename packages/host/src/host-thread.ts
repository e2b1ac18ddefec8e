import type { MaybeTask, Task } from '@flashstack/sim';
import {
  AT_WORKING_DIRECTORY,
  FileKind,
  type FileStatus,
  FsError,
  type FsStatus,
  type Inode,
  type Thread,
} from '@flashstack/vfs';
import * as attributes from './attribute-calls.js';
import type { CallFrame } from './call-frame.js';
import { DescriptorThread } from './descriptor-thread.js';
import { link, make, rename, rmdir, unlink } from './name-calls.js';
import { openSlowly, tryOpen } from './open-calls.js';
import { find, tryFind } from './paths.js';

/** One thread's system calls: those of `DescriptorThread`, and those that name files by path. */
export class HostThread extends DescriptorThread implements Thread {
  open(path: string, flags: number, mode = 0o666, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { open } = this.begin();
    const fd = tryOpen(this, path, flags, at);
    return fd >= 0 ? this.finish(fd, open) : this.wait(openSlowly(this, path, flags, mode, at), open);
  }

  truncate(path: string, length: number): MaybeTask {
    const { attributes: cost } = this.begin();
    attributes.checkLength(this, length);
    return this.withPath(path, AT_WORKING_DIRECTORY, true, cost, (thread, inode) =>
      attributes.truncate(thread, inode, length, path),
    );
  }

  stat(path: string, out: FileStatus, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    return this.status(path, out, at, true);
  }

  lstat(path: string, out: FileStatus, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    return this.status(path, out, at, false);
  }

  access(path: string, mode: number, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { attributes: cost } = this.begin();
    const dentry = tryFind(this, path, at, true);
    if (dentry !== null) {
      attributes.checkAccess(this, dentry.inode as Inode, mode, path);
      return this.finish(0, cost);
    }
    return this.withPath(path, at, true, cost, (thread, inode) => {
      attributes.checkAccess(thread, inode, mode, path);
      return 0;
    });
  }

  mkdir(path: string, mode: number, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { entry } = this.begin();
    return this.wait(make(this, path, at, FileKind.directory, mode & 0o1777), entry);
  }

  rmdir(path: string, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { entry } = this.begin();
    return this.wait(rmdir(this, path, at), entry);
  }

  mknod(path: string, mode: number, device: number, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { entry } = this.begin();
    const kind = mode >> 12 === 0 ? FileKind.regular : mode >> 12;
    this.checkNode(kind);
    return this.wait(make(this, path, at, kind, mode, { device }), entry);
  }

  unlink(path: string, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { entry } = this.begin();
    return this.wait(unlink(this, path, at), entry);
  }

  rename(
    from: string,
    to: string,
    flags = 0,
    fromAt: number = AT_WORKING_DIRECTORY,
    toAt: number = AT_WORKING_DIRECTORY,
  ): MaybeTask {
    const { entry } = this.begin();
    return this.wait(rename(this, from, to, flags, fromAt, toAt), entry);
  }

  link(
    from: string,
    to: string,
    fromAt: number = AT_WORKING_DIRECTORY,
    toAt: number = AT_WORKING_DIRECTORY,
  ): MaybeTask {
    const { entry } = this.begin();
    return this.wait(link(this, from, to, fromAt, toAt), entry);
  }

  symlink(target: string, path: string, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { entry } = this.begin();
    if (target === '') throw new FsError('ENOENT', 'the target is empty');
    if (target.length >= 4096) throw new FsError('ENAMETOOLONG', `a target of ${target.length} bytes`);
    return this.wait(make(this, path, at, FileKind.symlink, 0o777, { target }), entry);
  }

  *readlink(path: string, at: number = AT_WORKING_DIRECTORY): Task<string> {
    const { attributes: cost } = this.begin();
    return yield* this.wait(
      attributes.withPath(this, path, at, false, (thread, inode) => attributes.readlink(thread, inode, path)),
      cost,
    );
  }

  chmod(path: string, mode: number, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.withPath(path, at, true, cost, (thread, inode) => attributes.chmod(thread, inode, mode, path));
  }

  chown(path: string, uid: number, gid: number, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.withPath(path, at, true, cost, (thread, inode) => attributes.chown(thread, inode, uid, gid, path));
  }

  lchown(path: string, uid: number, gid: number, at: number = AT_WORKING_DIRECTORY): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.withPath(path, at, false, cost, (thread, inode) => attributes.chown(thread, inode, uid, gid, path));
  }

  utimens(
    path: string,
    accessed: readonly [number, number] | null,
    modified: readonly [number, number] | null,
    at: number = AT_WORKING_DIRECTORY,
    follow: boolean = true,
  ): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.withPath(path, at, follow, cost, (thread, inode) =>
      attributes.utimens(thread, inode, accessed, modified, path),
    );
  }

  *getAttribute(path: string, name: string): Task<Uint8Array> {
    const { attributes: cost } = this.begin();
    return yield* this.wait(
      attributes.withPath(this, path, AT_WORKING_DIRECTORY, true, (thread, inode) =>
        attributes.getAttribute(thread, inode, name, path),
      ),
      cost,
    );
  }

  setAttribute(path: string, name: string, value: Uint8Array): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.withPath(path, AT_WORKING_DIRECTORY, true, cost, (thread, inode) =>
      attributes.setAttribute(thread, inode, name, value, path),
    );
  }

  removeAttribute(path: string, name: string): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.withPath(path, AT_WORKING_DIRECTORY, true, cost, (thread, inode) =>
      attributes.setAttribute(thread, inode, name, null, path),
    );
  }

  *listAttributes(path: string): Task<string[]> {
    const { attributes: cost } = this.begin();
    return yield* this.wait(
      attributes.withPath(this, path, AT_WORKING_DIRECTORY, true, attributes.listAttributes),
      cost,
    );
  }

  statfs(path: string, out: FsStatus): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.withPath(path, AT_WORKING_DIRECTORY, true, cost, (thread) => {
      Object.assign(out, thread.host.fileSystem.status());
      return 0;
    });
  }

  chdir(path: string): MaybeTask {
    const { attributes: cost } = this.begin();
    return this.wait(this.changeDirectory(path), cost);
  }

  private status(path: string, out: FileStatus, at: number, follow: boolean): MaybeTask {
    const { attributes: cost } = this.begin();
    const { blockBytes } = this.host;
    const dentry = tryFind(this, path, at, follow);
    if (dentry !== null) {
      attributes.fillStatus(out, dentry.inode as Inode, blockBytes);
      return this.finish(0, cost);
    }
    return this.withPath(path, at, follow, cost, (_thread, inode) => {
      attributes.fillStatus(out, inode, blockBytes);
      return 0;
    });
  }

  private withPath(
    path: string,
    at: number,
    follow: boolean,
    cost: number,
    body: (thread: CallFrame, inode: Inode) => MaybeTask,
  ): Task<number> {
    return this.wait(
      attributes.withPath(this, path, at, follow, function* (thread, inode) {
        const done = body(thread, inode);
        return typeof done === 'number' ? done : yield* done;
      }),
      cost,
    );
  }

  private checkNode(kind: number): void {
    const special = kind === FileKind.fifo || kind === FileKind.socket;
    const device = kind === FileKind.characterDevice || kind === FileKind.blockDevice;
    if (kind === FileKind.directory) throw new FsError('EPERM', 'mknod of a directory');
    if (!special && !device && kind !== FileKind.regular) throw new FsError('EINVAL', `mknod of kind ${kind}`);
    if (device && this.process.uid !== 0) throw new FsError('EPERM', 'mknod of a device node');
    if (kind !== FileKind.regular && !this.host.fileSystem.capabilities.specialFiles) {
      throw new FsError('EOPNOTSUPP', `${this.host.fileSystem.capabilities.name} keeps no special files`);
    }
  }

  private *changeDirectory(path: string): Task<number> {
    const { dentries } = this.host;
    const dentry = yield* find(this, path, AT_WORKING_DIRECTORY, true);
    try {
      this.process.enter(dentry, path);
      return 0;
    } finally {
      dentries.unpin(dentry);
    }
  }
}

import type { Task } from '@flashstack/sim';
import {
  AT_WORKING_DIRECTORY,
  FileKind,
  FsError,
  type Inode,
  type ProcessOptions,
  type Thread,
  type UserProcess,
} from '@flashstack/vfs';
import type { CallFrame } from './call-frame.js';
import type { Dentry } from './dentry-cache.js';
import type { Host } from './host.js';
import { HostThread } from './host-thread.js';
import { DescriptorTable } from './open-file.js';
import { find, tryFind } from './paths.js';
import { type Credentials, demand, May } from './permissions.js';

/** A process of a host. Made by `Host.process` and `fork`. */
export class HostProcess implements UserProcess, Credentials {
  readonly pid: number;
  readonly name: string;
  readonly host: Host;
  uid: number;
  gid: number;
  groups: readonly number[];
  umask: number;
  files: DescriptorTable;
  /** Working directory, pinned; null until the first call that needs it, if its path was not cached. */
  private directory: Dentry | null = null;
  private directoryPath: string;
  private threads = 0;

  constructor(host: Host, pid: number, options: ProcessOptions) {
    const { name = `process ${pid}`, uid = 0, gid = 0, groups = [], umask = 0o022, directory = '/' } = options;
    this.host = host;
    this.pid = pid;
    this.name = name;
    this.uid = uid;
    this.gid = gid;
    this.groups = groups;
    this.umask = umask;
    this.files = new DescriptorTable(host.options.openFiles);
    this.directoryPath = directory;
    const { dentries } = host;
    if (directory === '/') {
      this.directory = dentries.pin(dentries.root);
      return;
    }
    const found = tryFind(new HostThread(this, 'start'), directory, AT_WORKING_DIRECTORY, true);
    if (found !== null) this.enter(found, directory);
  }

  thread(name: string = `${this.name}.${this.threads}`): Thread {
    this.threads++;
    return new HostThread(this, name);
  }

  fork(name: string = this.name): UserProcess {
    const { uid, gid, groups, umask, directoryPath } = this;
    const child = this.host.process({ name, uid, gid, groups, umask, directory: '/' });
    child.files = this.files.fork();
    child.directoryPath = directoryPath;
    if (child.directory !== null) this.host.dentries.unpin(child.directory);
    child.directory = this.directory === null ? null : this.host.dentries.pin(this.directory);
    return child;
  }

  *exit(): Task<void> {
    const { host } = this;
    for (const fd of this.files.open()) host.release(this.files.take(fd));
    if (this.directory !== null) host.dentries.unpin(this.directory);
    this.directory = null;
    yield* host.tidy();
  }

  /**
   * Where a walk of this path starts; null: at a working directory that must be looked up first.
   * @throws FsError EBADF, ENOTDIR
   */
  start(path: string, at: number): Dentry | null {
    const { root } = this.host.dentries;
    if (path.charCodeAt(0) === 47) return root;
    if (at === AT_WORKING_DIRECTORY) return this.directory;
    const { dentry } = this.files.get(at);
    if (dentry === null) throw new FsError('ENOTDIR', `descriptor ${at}`);
    return dentry;
  }

  /** Looks the working directory up that the process was given. */
  *enterDirectory(thread: CallFrame): Task<void> {
    const { dentries } = this.host;
    const path = this.directoryPath;
    const dentry = yield* find(thread, path.charCodeAt(0) === 47 ? path : `/${path}`, AT_WORKING_DIRECTORY, true);
    try {
      this.enter(dentry, path);
    } finally {
      dentries.unpin(dentry);
    }
  }

  /** Makes a directory the working directory. @throws FsError ENOTDIR, EACCES */
  enter(dentry: Dentry, path: string): void {
    const inode = dentry.inode as Inode;
    if (inode.kind !== FileKind.directory) throw new FsError('ENOTDIR', path);
    demand(this, inode, May.execute, path);
    const { dentries } = this.host;
    dentries.pin(dentry);
    if (this.directory !== null) dentries.unpin(this.directory);
    this.directory = dentry;
  }
}

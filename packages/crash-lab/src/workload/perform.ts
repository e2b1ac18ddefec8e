import type { MaybeTask, Task } from '@flashstack/sim';
import { FileStatus, FsError, OpenFlag, RenameFlag, SyncRange, type Thread } from '@flashstack/vfs';
import { fileNumber, fillContents } from './contents.js';
import { ALLOCATIONS } from './operations.js';
import type { Step } from './workload.js';

const { create, directory, exclusive, readOnly, readWrite, temporary, writeOnly } = OpenFlag;
const WRITES: Readonly<Record<string, number>> = {
  write: 0,
  'write-sync': OpenFlag.sync,
  'write-dsync': OpenFlag.dataSync,
  'write-direct': OpenFlag.direct,
  append: OpenFlag.append,
  'append-sync': OpenFlag.append | OpenFlag.sync,
  'append-dsync': OpenFlag.append | OpenFlag.dataSync,
};

/** A program that performs steps: its thread and its open handles. */
export class Performer {
  private readonly thread: Thread;
  private readonly status: FileStatus = new FileStatus();
  private readonly handles: Map<string, { readonly fd: number; readonly path: string }> = new Map();

  constructor(thread: Thread) {
    this.thread = thread;
  }

  /** One step; bytes written by a write, otherwise 0. `version`: what contents carry. @throws FsError as its calls do. */
  *perform(step: Step, version: number): Task<number> {
    const { thread } = this;
    const [name] = step;
    const [a, b] = [String(step[1]) || '.', String(step[2])];
    switch (name) {
      case 'create':
        return yield* this.closed(thread.open(a, create | exclusive | writeOnly, 0o644));
      case 'mkdir':
        return yield* wait(thread.mkdir(a, 0o755));
      case 'symlink':
        return yield* wait(thread.symlink(a, b));
      case 'unlink':
        return yield* wait(thread.unlink(a));
      case 'rmdir':
        return yield* wait(thread.rmdir(a));
      case 'link':
        return yield* wait(a.startsWith('#') ? thread.link('', b, this.handle(a).fd) : thread.link(a, b));
      case 'rename':
        return yield* wait(thread.rename(a, b));
      case 'rename-noreplace':
        return yield* wait(thread.rename(a, b, RenameFlag.noReplace));
      case 'exchange':
        return yield* wait(thread.rename(a, b, RenameFlag.exchange));
      case 'chmod':
        return yield* wait(thread.chmod(a, Number(step[2])));
      case 'chown':
        return yield* wait(thread.chown(a, Number(step[2]), Number(step[3])));
      case 'setxattr':
        return yield* wait(thread.setAttribute(a, b, bytesOf(String(step[3]))));
      case 'removexattr':
        return yield* wait(thread.removeAttribute(a, b));
      case 'sync':
        return yield* wait(thread.sync());
      default:
        return yield* this.onFile(step, version);
    }
  }

  private *onFile(step: Step, version: number): Task<number> {
    const { thread } = this;
    const [name] = step;
    const [a, b] = [String(step[1]), String(step[2])];
    switch (name) {
      case 'open':
        return yield* this.keep(a, b, thread.open(b, readWrite));
      case 'tmpfile':
        return yield* this.keep(a, a, thread.open(b === '' ? '.' : b, temporary | readWrite, 0o644));
      case 'close': {
        const { fd } = this.handle(a);
        this.handles.delete(a);
        return yield* wait(thread.close(fd));
      }
      case 'truncate':
        return yield* wait(
          a.startsWith('#')
            ? thread.ftruncate(this.handle(a).fd, Number(step[2]))
            : thread.truncate(a, Number(step[2])),
        );
      case 'syncfs':
        return yield* this.opened('', readOnly | directory, (fd) => thread.syncFs(fd));
      case 'fsync':
        return yield* this.opened(a, readOnly, (fd) => thread.fsync(fd));
      case 'fdatasync':
        return yield* this.opened(a, readOnly, (fd) => thread.fdatasync(fd));
      case 'fallocate':
        return yield* this.opened(a, readWrite, (fd) =>
          thread.fallocate(fd, ALLOCATIONS[b], Number(step[3]), Number(step[4])),
        );
      case 'store':
        return yield* this.opened(a, readWrite, (fd) => this.store(fd, a, version, Number(step[2]), Number(step[3])));
      case 'msync':
        return yield* this.opened(a, readWrite, (fd) => this.msync(fd, Number(step[2]), Number(step[3])));
      case 'sync-range': {
        const all = SyncRange.waitBefore | SyncRange.write | SyncRange.waitAfter;
        return yield* this.opened(a, readWrite, (fd) =>
          thread.syncFileRange(fd, Number(step[2]), Number(step[3]), all),
        );
      }
      default:
        return yield* this.write(step, version);
    }
  }

  private write(step: Step, version: number): Task<number> {
    const [name, file] = step;
    const flags = WRITES[name];
    if (flags === undefined) throw new RangeError(`no operation ${name}`);
    const appends = (flags & OpenFlag.append) !== 0;
    const offset = appends ? 0 : Number(step[2]);
    const bytes = contents(this.pathOf(String(file)), version, offset, Number(step[appends ? 2 : 3]));
    if (appends && String(file).startsWith('#')) return this.appendTo(this.handle(String(file)).fd, bytes);
    return this.opened(String(file), flags | readWrite, (fd) =>
      appends ? this.thread.write(fd, bytes, bytes.length) : this.thread.pwrite(fd, bytes, bytes.length, offset),
    );
  }

  /** Writes behind the end of a file whose handle stands elsewhere. */
  private *appendTo(fd: number, bytes: Uint8Array): Task<number> {
    yield* wait(this.thread.fstat(fd, this.status));
    return yield* wait(this.thread.pwrite(fd, bytes, bytes.length, this.status.size));
  }

  /** Stores as far as the file reaches: behind its last page there is nothing to store to. */
  private *store(fd: number, file: string, version: number, offset: number, length: number): Task<number> {
    yield* wait(this.thread.fstat(fd, this.status));
    const stored = Math.min(length, this.status.size - offset);
    if (stored <= 0) return 0;
    const bytes = contents(this.pathOf(file), version, offset, stored);
    return yield* wait(this.thread.touch(fd, offset, stored, true, bytes));
  }

  private *msync(fd: number, offset: number, length: number): Task<number> {
    yield* wait(this.thread.fstat(fd, this.status));
    const mapped = Math.min(length, this.status.size - offset);
    return mapped <= 0 ? 0 : yield* wait(this.thread.msync(fd, offset, mapped));
  }

  private pathOf(file: string): string {
    return file.startsWith('#') ? this.handle(file).path : file;
  }

  private handle(name: string): { readonly fd: number; readonly path: string } {
    const handle = this.handles.get(name);
    if (handle === undefined) throw new FsError('EBADF', `handle ${name} is not open`);
    return handle;
  }

  private *keep(name: string, path: string, opening: MaybeTask): Task<number> {
    this.handles.set(name, { fd: yield* wait(opening), path });
    return 0;
  }

  /** Does something with an open file: that of a handle, or one that is opened for it and closed again. */
  private *opened(file: string, flags: number, use: (fd: number) => MaybeTask): Task<number> {
    if (file.startsWith('#')) return yield* wait(use(this.handle(file).fd));
    const fd = yield* wait(this.thread.open(file === '' ? '.' : file, flags));
    try {
      return yield* wait(use(fd));
    } finally {
      yield* wait(this.thread.close(fd));
    }
  }

  private *closed(opening: MaybeTask): Task<number> {
    return yield* wait(this.thread.close(yield* wait(opening)));
  }
}

function* wait(call: MaybeTask): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

function contents(path: string, version: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  fillContents(bytes, fileNumber(path), version, offset);
  return bytes;
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

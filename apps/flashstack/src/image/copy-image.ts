import type { MaybeTask, Task } from '@flashstack/sim';
import {
  AT_WORKING_DIRECTORY,
  FileAdvice,
  FileKind,
  FileStatus,
  FsError,
  OpenFlag,
  SyncRange,
  type Thread,
} from '@flashstack/vfs';
import type { Sink, SourceNode } from './copy.js';
import type { ReadImage } from './open-image.js';
import { type NodeStatus, type Pieces, resolvePath, type Tree } from './tree.js';

/** Bytes of a file that are in memory at most. */
const WINDOW_BYTES = 8 << 20;
/** After so many bytes everything is made durable, so that not all is lost if the copy is killed. */
const SYNC_BYTES = 64 << 20;
const WRITE_BACK = SyncRange.waitBefore | SyncRange.write | SyncRange.waitAfter;

/** A file of an image that is copied. @throws UsageError, HostError that name the image */
export function* imageNode(image: ReadImage, tree: Tree, path: string): Task<SourceNode> {
  return yield* nodeOf(image, tree, yield* image.named(resolvePath(tree, path, false)));
}

function* nodeOf(image: ReadImage, tree: Tree, ino: number): Task<SourceNode> {
  return new ImageNode(image, tree, yield* image.named(tree.status(ino)));
}

class ImageNode implements SourceNode {
  readonly status: NodeStatus;
  readonly key: string;
  private readonly image: ReadImage;
  private readonly tree: Tree;
  private readonly inodes: Map<string, number> = new Map();

  constructor(image: ReadImage, tree: Tree, status: NodeStatus) {
    this.image = image;
    this.tree = tree;
    this.status = status;
    this.key = `${image.path}:${status.ino}`;
  }

  *names(): Task<string[]> {
    const entries = yield* this.image.named(this.tree.entries(this.status.ino));
    for (const { name, ino } of entries) this.inodes.set(name, ino);
    return [...this.inodes.keys()].sort((a, b) => (a < b ? -1 : 1));
  }

  *child(name: string): Task<SourceNode> {
    return yield* nodeOf(this.image, this.tree, this.inodes.get(name) as number);
  }

  target(): Task<string> {
    return this.image.named(this.tree.target(this.status.ino));
  }

  attributes(): Task<ReadonlyMap<string, Uint8Array>> {
    return this.image.named(this.tree.attributes(this.status.ino));
  }

  *pieces(): Task<Pieces> {
    const { image } = this;
    const pieces = yield* image.named(this.tree.pieces(this.status.ino));
    return { next: () => image.named(pieces.next()) };
  }
}

/** Puts copies into a mounted image, by system calls. */
export class ImageSink implements Sink {
  private readonly thread: Thread;
  private unsynced = 0;

  constructor(thread: Thread) {
    this.thread = thread;
  }

  *kindAt(path: string, follow: boolean): Task<number | null> {
    const status = new FileStatus();
    try {
      yield* done(follow ? this.thread.stat(path, status) : this.thread.lstat(path, status));
    } catch (error) {
      if (error instanceof FsError && error.code === 'ENOENT') return null;
      throw error;
    }
    return status.mode >>> 12;
  }

  *makeDirectory(path: string): Task<void> {
    yield* done(this.thread.mkdir(path, 0o700));
  }

  *makeFile(path: string, size: number, pieces: Pieces): Task<void> {
    const { thread } = this;
    const fd = yield* done(thread.open(path, OpenFlag.create | OpenFlag.truncate | OpenFlag.writeOnly, 0o600));
    let window = 0;
    for (let piece = yield* pieces.next(); piece !== null; piece = yield* pieces.next()) {
      const { bytes, offset } = piece;
      for (let at = 0; at < bytes.length; ) {
        at += yield* done(thread.pwrite(fd, bytes.subarray(at), bytes.length - at, offset + at));
      }
      window += bytes.length;
      if (window < WINDOW_BYTES) continue;
      yield* this.letGo(fd);
      window = 0;
    }
    yield* done(thread.ftruncate(fd, size));
    yield* this.letGo(fd);
    yield* done(thread.close(fd));
    this.unsynced += size;
    if (this.unsynced < SYNC_BYTES) return;
    yield* done(thread.sync());
    this.unsynced = 0;
  }

  *makeSymlink(path: string, target: string): Task<void> {
    yield* done(this.thread.symlink(target, path));
  }

  *makeSpecial(path: string, { kind, device }: NodeStatus): Task<boolean> {
    yield* done(this.thread.mknod(path, (kind << 12) | 0o600, device));
    return true;
  }

  *link(existing: string, path: string): Task<void> {
    yield* done(this.thread.link(existing, path));
  }

  *remove(path: string): Task<void> {
    yield* done(this.thread.unlink(path));
  }

  *finish(path: string, status: NodeStatus, attributes: ReadonlyMap<string, Uint8Array>): Task<number> {
    const { thread } = this;
    const isLink = status.kind === FileKind.symlink;
    yield* done(thread.lchown(path, status.uid, status.gid));
    if (!isLink) yield* done(thread.chmod(path, status.mode));
    let lost = 0;
    for (const [name, value] of attributes) {
      // There are no system calls for those of links, nor for access-control lists.
      if (isLink || name.startsWith('system.')) lost++;
      else yield* done(thread.setAttribute(path, name, value));
    }
    yield* done(thread.utimens(path, status.accessed, status.modified, AT_WORKING_DIRECTORY, false));
    return lost;
  }

  /** Writes what is dirty of a file and drops it from memory. */
  private *letGo(fd: number): Task<void> {
    yield* done(this.thread.syncFileRange(fd, 0, 0, WRITE_BACK));
    yield* done(this.thread.fadvise(fd, 0, 0, FileAdvice.dontNeed));
  }
}

/** The result of a system call. */
function* done(call: MaybeTask): Task<number> {
  return typeof call === 'number' ? call : yield* call;
}

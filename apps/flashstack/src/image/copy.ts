import type { Task } from '@flashstack/sim';
import { FileKind } from '@flashstack/vfs';
import { UsageError } from '../report-error.js';
import { joined, textOf } from './byte-text.js';
import type { NodeStatus, Pieces } from './tree.js';

/** A file that is copied. */
export interface SourceNode {
  readonly status: NodeStatus;
  /** The same for two names of one inode. */
  readonly key: string;
  /** Names of a directory, ascending. */
  names(): Task<string[]>;
  child(name: string): Task<SourceNode>;
  target(): Task<string>;
  attributes(): Task<ReadonlyMap<string, Uint8Array>>;
  pieces(): Task<Pieces>;
}

/** Where copies go. Paths are byte strings. */
export interface Sink {
  /** Kind of what is there, or null; `follow`: where a link leads. */
  kindAt(path: string, follow: boolean): Task<number | null>;
  makeDirectory(path: string): Task<void>;
  /** Makes a file, or empties the one that is there, and fills it; what is no piece is a hole. */
  makeFile(path: string, size: number, pieces: Pieces): Task<void>;
  makeSymlink(path: string, target: string): Task<void>;
  /** A fifo, socket or device node. False: cannot be made there. */
  makeSpecial(path: string, status: NodeStatus): Task<boolean>;
  link(existing: string, path: string): Task<void>;
  remove(path: string): Task<void>;
  /** Owner, permissions, extended attributes, times. Returns how many attributes cannot be kept. */
  finish(path: string, status: NodeStatus, attributes: ReadonlyMap<string, Uint8Array>): Task<number>;
}

/** What has been copied. */
export interface CopyCounts {
  directories: number;
  files: number;
  /** Further names of files that have been copied. */
  hardLinks: number;
  symlinks: number;
  special: number;
  /** Sizes of the files, holes included. */
  bytes: number;
  /** Extended attributes that the destination does not take. */
  lostAttributes: number;
  /** Special files that could not be made there. */
  skipped: string[];
}

/** Copies trees as `cp -a` does: permissions, owners, times, links, holes and extended attributes are kept. */
export class Copier {
  readonly counts: CopyCounts = {
    directories: 0,
    files: 0,
    hardLinks: 0,
    symlinks: 0,
    special: 0,
    bytes: 0,
    lostAttributes: 0,
    skipped: [],
  };
  private readonly sink: Sink;
  /** First copy of each file with several names. */
  private readonly copied: Map<string, string> = new Map();

  constructor(sink: Sink) {
    this.sink = sink;
  }

  /** @throws UsageError where a directory would replace something else, or something else a directory; FsError */
  *copy(node: SourceNode, path: string): Task<void> {
    const { sink, counts } = this;
    const { status } = node;
    const there = yield* sink.kindAt(path, false);
    if (status.kind === FileKind.directory) {
      yield* this.copyDirectory(node, path, there);
      return;
    }
    if (there === FileKind.directory)
      throw new UsageError(`${textOf(path)}: is a directory, which a file would replace.`);
    const first = status.links > 1 ? this.copied.get(node.key) : undefined;
    if (first === path) return;
    if (there !== null && (first !== undefined || there !== FileKind.regular || status.kind !== FileKind.regular)) {
      yield* sink.remove(path);
    }
    if (first !== undefined) {
      yield* sink.link(first, path);
      counts.hardLinks++;
      return;
    }
    if (status.kind === FileKind.regular) {
      yield* sink.makeFile(path, status.size, yield* node.pieces());
      counts.files++;
      counts.bytes += status.size;
    } else if (status.kind === FileKind.symlink) {
      yield* sink.makeSymlink(path, yield* node.target());
      counts.symlinks++;
    } else if (yield* sink.makeSpecial(path, status)) counts.special++;
    else {
      counts.skipped.push(path);
      return;
    }
    if (status.links > 1) this.copied.set(node.key, path);
    counts.lostAttributes += yield* sink.finish(path, status, yield* node.attributes());
  }

  /** The contents first: they change the times of the directory, and it may be closed to its owner. */
  private *copyDirectory(node: SourceNode, path: string, there: number | null): Task<void> {
    const { sink, counts } = this;
    if (there !== null && there !== FileKind.directory) {
      // A link to a directory may stand for it where it is the destination itself.
      const leads = there === FileKind.symlink ? yield* sink.kindAt(path, true) : there;
      if (leads !== FileKind.directory)
        throw new UsageError(`${textOf(path)}: is no directory, which a directory would replace.`);
    }
    if (there === null) yield* sink.makeDirectory(path);
    for (const name of yield* node.names()) yield* this.copy(yield* node.child(name), joined(path, name));
    counts.directories++;
    counts.lostAttributes += yield* sink.finish(path, node.status, yield* node.attributes());
  }
}

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  ftruncateSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import type { Task } from '@flashstack/sim';
import { FileKind } from '@flashstack/vfs';
import { joined, textOf } from './byte-text.js';
import type { Sink, SourceNode } from './copy.js';
import { fileError } from './open-image.js';
import { deviceNumbers } from './show.js';
import type { NodeStatus, Pieces, Time } from './tree.js';

// Files of this machine. Node has no calls for extended attributes: they are neither read nor written here. Its calls
// do not wait for anything that a simulator could run, hence tasks that never yield.

const CHUNK_BYTES = 1 << 18;
/** Zeroes are looked for in blocks of this size. */
const HOLE_BYTES = 4096;
const ZEROES = Buffer.alloc(HOLE_BYTES);
const NOTHING: ReadonlyMap<string, Uint8Array> = new Map();

const raw = (path: string): Buffer => Buffer.from(path, 'latin1');

/** Runs calls on a path. @throws UsageError, HostError that name it */
function on<T>(path: string, work: (path: Buffer) => T): T {
  try {
    return work(raw(path));
  } catch (error) {
    throw fileError(textOf(path), error);
  }
}

/** A file of this machine that is copied. @throws UsageError, HostError */
export function hostNode(path: string): SourceNode {
  return new HostNode(
    path,
    on(path, (at) => statusOf(at)),
  );
}

function statusOf(path: Buffer): NodeStatus & { readonly volume: bigint } {
  const found = lstatSync(path, { bigint: true });
  const time = (ns: bigint): Time => [Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n)];
  const mode = Number(found.mode);
  return {
    volume: found.dev,
    ino: Number(found.ino),
    kind: mode >>> 12,
    mode: mode & 0o7777,
    links: Number(found.nlink),
    uid: Number(found.uid),
    gid: Number(found.gid),
    size: Number(found.size),
    sectors: Number(found.blocks),
    device: Number(found.rdev),
    accessed: time(found.atimeNs),
    modified: time(found.mtimeNs),
    changed: time(found.ctimeNs),
    born: null,
  };
}

class HostNode implements SourceNode {
  readonly status: NodeStatus;
  readonly key: string;
  private readonly path: string;

  constructor(path: string, status: ReturnType<typeof statusOf>) {
    this.path = path;
    this.status = status;
    this.key = `${status.volume}:${status.ino}`;
  }

  *names(): Task<string[]> {
    const names = on(this.path, (at) => readdirSync(at, { encoding: 'buffer' }));
    return names.map((name) => name.toString('latin1')).sort((a, b) => (a < b ? -1 : 1));
  }

  // biome-ignore lint/correctness/useYield: Node's calls wait by themselves.
  *child(name: string): Task<SourceNode> {
    return hostNode(joined(this.path, name));
  }

  *target(): Task<string> {
    return on(this.path, (at) => readlinkSync(at, { encoding: 'buffer' })).toString('latin1');
  }

  // biome-ignore lint/correctness/useYield: Node's calls wait by themselves.
  *attributes(): Task<ReadonlyMap<string, Uint8Array>> {
    return NOTHING;
  }

  // biome-ignore lint/correctness/useYield: Node's calls wait by themselves.
  *pieces(): Task<Pieces> {
    // As cp does where holes cannot be asked for: a file that takes less than its size has some.
    const sparse = this.status.sectors * 512 < this.status.size;
    return new HostPieces(this.path, sparse);
  }
}

/** Contents of a file of this machine; blocks of zeroes of a sparse file are holes. */
class HostPieces implements Pieces {
  private readonly path: string;
  private readonly sparse: boolean;
  private readonly chunk = Buffer.alloc(CHUNK_BYTES);
  private descriptor: number;
  private position = 0;
  private length = 0;
  private at = 0;

  constructor(path: string, sparse: boolean) {
    this.path = path;
    this.sparse = sparse;
    this.descriptor = on(path, (at) => openSync(at, 'r'));
  }

  // biome-ignore lint/correctness/useYield: Node's calls wait by themselves.
  *next(): Task<{ readonly offset: number; readonly bytes: Uint8Array } | null> {
    while (this.descriptor >= 0) {
      if (this.at >= this.length && !this.fill()) break;
      const start = this.skipZeroes(this.at);
      const end = this.sparse ? this.skipData(start) : this.length;
      this.at = end;
      if (end > start) return { offset: this.position + start, bytes: this.chunk.subarray(start, end) };
    }
    return null;
  }

  /** The next chunk; false at the end of the file. */
  private fill(): boolean {
    this.position += this.length;
    this.at = 0;
    this.length = on(this.path, () => readSync(this.descriptor, this.chunk, 0, CHUNK_BYTES, this.position));
    if (this.length > 0) return true;
    closeSync(this.descriptor);
    this.descriptor = -1;
    return false;
  }

  private isZero(at: number): boolean {
    const end = Math.min(at + HOLE_BYTES, this.length);
    return this.chunk.compare(ZEROES, 0, end - at, at, end) === 0;
  }

  private skipZeroes(from: number): number {
    let at = from;
    while (this.sparse && at < this.length && this.isZero(at)) at += HOLE_BYTES;
    return Math.min(at, this.length);
  }

  private skipData(from: number): number {
    let at = from;
    while (at < this.length && !this.isZero(at)) at += HOLE_BYTES;
    return Math.min(at, this.length);
  }
}

/** Puts copies on this machine. */
export class HostSink implements Sink {
  /** Only root gives files away; other users own what they copy, as with cp. */
  private readonly mayChown: boolean = process.getuid?.() === 0;

  *kindAt(path: string, follow: boolean): Task<number | null> {
    const found = on(path, (at) => (follow ? statSync : lstatSync)(at, { throwIfNoEntry: false }));
    return found === undefined ? null : found.mode >>> 12;
  }

  *makeDirectory(path: string): Task<void> {
    on(path, (at) => mkdirSync(at, { mode: 0o700 }));
  }

  *makeFile(path: string, size: number, pieces: Pieces): Task<void> {
    const descriptor = on(path, (at) => openSync(at, 'w', 0o600));
    try {
      for (let piece = yield* pieces.next(); piece !== null; piece = yield* pieces.next()) {
        const { bytes, offset } = piece;
        for (let done = 0; done < bytes.length; ) {
          done += on(path, () => writeSync(descriptor, bytes, done, bytes.length - done, offset + done));
        }
      }
      on(path, () => ftruncateSync(descriptor, size));
    } finally {
      closeSync(descriptor);
    }
  }

  *makeSymlink(path: string, target: string): Task<void> {
    on(path, (at) => symlinkSync(raw(target), at));
  }

  // biome-ignore lint/correctness/useYield: Node's calls wait by themselves.
  *makeSpecial(path: string, { kind, device }: NodeStatus): Task<boolean> {
    const letters: Readonly<Record<number, string>> = {
      [FileKind.fifo]: 'p',
      [FileKind.characterDevice]: 'c',
      [FileKind.blockDevice]: 'b',
    };
    const letter = letters[kind];
    // Sockets are made by who listens at them, and `mknod` takes text.
    if (letter === undefined || raw(path).toString('utf8') !== textOf(path)) return false;
    const numbers = letter === 'p' ? [] : deviceNumbers(device).map(String);
    try {
      execFileSync('mknod', ['--', textOf(path), letter, ...numbers], { stdio: 'ignore' });
      return true;
    } catch (error) {
      // Without the right to make it, or the program: the caller names what is missing.
      if ('status' in (error as object) || (error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  *link(existing: string, path: string): Task<void> {
    on(path, (at) => linkSync(raw(existing), at));
  }

  *remove(path: string): Task<void> {
    on(path, (at) => unlinkSync(at));
  }

  *finish(path: string, status: NodeStatus, attributes: ReadonlyMap<string, Uint8Array>): Task<number> {
    on(path, (at) => {
      if (this.mayChown) lchownSync(at, status.uid, status.gid);
      if (status.kind !== FileKind.symlink) chmodSync(at, status.mode);
      lutimesSync(at, seconds(status.accessed), seconds(status.modified));
    });
    return attributes.size;
  }
}

/** As Node takes times: to the microsecond, cut off; the half keeps the sum from falling below it. */
function seconds([sec, nsec]: Time): number {
  return sec + (Math.floor(nsec / 1000) + 0.5) / 1e6;
}

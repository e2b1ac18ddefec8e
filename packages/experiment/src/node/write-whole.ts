import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { HostError, reasonOf } from './host-error.js';

/**
 * Writes a whole file or nothing: under a temporary name in the same folder, made durable, then renamed. The folder is
 * made if it is missing. What is there and is no file, such as a pipe or `/dev/stdout`, is written to as it is.
 * @throws HostError naming the file; nothing is left behind then.
 */
export function writeWhole(path: string, contents: string | Uint8Array): void {
  const file = new WholeFile(path);
  file.write(typeof contents === 'string' ? new TextEncoder().encode(contents) : contents);
  file.end();
}

/** A file that is written in pieces and appears under its name when it is whole, as by {@link writeWhole}. */
export class WholeFile {
  private readonly path: string;
  /** The name it has while it is written. */
  private part: string;
  private file: number | null = null;
  private bytes = 0;

  /** @throws HostError if nothing can be written there. */
  constructor(path: string) {
    this.path = path;
    this.part = `${path}.${process.pid}.tmp`;
    this.trying(() => {
      // A rename would put a file in the place of the device.
      if (isNoFile(path)) this.part = path;
      if (this.part !== path) makeFolder(dirname(resolve(path)));
      this.file = openSync(this.part, 'w');
    });
  }

  /** Writes the next piece. @throws HostError; nothing is left behind then. */
  write(piece: Uint8Array): void {
    this.bytes += piece.length;
    this.trying((file) => {
      for (let at = 0; at < piece.length; ) at += writeSync(file, piece, at);
    });
  }

  /** The file is whole. @throws HostError; nothing is left behind then. */
  end(): void {
    this.trying((file) => {
      if (this.part !== this.path) fsyncSync(file);
      this.close();
      if (this.part !== this.path) renameSync(this.part, this.path);
    });
  }

  /** It will not become whole: nothing is left behind. Nothing happens after a failure or the end. */
  drop(): void {
    if (this.file === null) return;
    this.close();
    if (this.part !== this.path) remove(this.part);
  }

  private trying(step: (file: number) => void): void {
    try {
      step(this.file as number);
    } catch (error) {
      this.close();
      if (this.part !== this.path) remove(this.part);
      throw failure(this.path, this.bytes, error);
    }
  }

  private close(): void {
    if (this.file === null) return;
    const { file } = this;
    this.file = null;
    closeSync(file);
  }
}

function isNoFile(path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined || there.isDirectory()) return false;
  // `/dev/stdout` may lead to a file, and has to go on leading there.
  return !there.isFile() || /^\/(?:dev|proc)\//.test(resolve(path));
}

/** Makes a folder and those above it. Not Node's recursive way, which never ends where nothing can be made (`/proc`). */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Somebody else made it in between.
    if (!existsSync(path)) throw error;
  }
}

/** Whatever stands in the way of removing it, the failure to report is the one before. */
function remove(temporary: string): void {
  try {
    rmSync(temporary, { force: true });
  } catch {
    // Not even the folder exists, then.
  }
}

function failure(path: string, bytes: number, error: unknown): HostError {
  return new HostError(`${path}: ${reasonOf(error, bytes)}. Nothing was written under that name.`, [
    'Choose another folder with --out.',
  ]);
}

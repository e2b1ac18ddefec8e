import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
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
  const temporary = `${path}.${process.pid}.tmp`;
  const bytes = typeof contents === 'string' ? new TextEncoder().encode(contents) : contents;
  try {
    // A rename would put a file in the place of the device.
    if (isNoFile(path)) {
      writeFileSync(path, bytes);
      return;
    }
    makeFolder(dirname(resolve(path)));
    const file = openSync(temporary, 'w');
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    remove(temporary);
    throw failure(path, bytes.length, error);
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

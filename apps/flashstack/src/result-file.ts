import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { HostError } from './report-error.js';

/**
 * Writes a whole file or nothing: under a temporary name in the same folder, made durable, then renamed. The folder is
 * made if it is missing. @throws HostError naming the file; nothing is left behind then.
 */
export function writeWhole(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const bytes = new TextEncoder().encode(text);
  try {
    mkdirSync(dirname(path), { recursive: true });
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

/** Whatever stands in the way of removing it, the failure to report is the one before. */
function remove(temporary: string): void {
  try {
    rmSync(temporary, { force: true });
  } catch {
    // Not even the folder exists, then.
  }
}

function failure(path: string, bytes: number, error: unknown): HostError {
  const code = (error as NodeJS.ErrnoException).code;
  const needed = `${Math.ceil(bytes / 1024)} KiB needed`;
  const known: Readonly<Record<string, string>> = {
    ENOSPC: `no space left on device (${needed})`,
    EDQUOT: `disk quota exceeded (${needed})`,
    EACCES: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOTDIR: 'a part of the path is a file, not a folder',
    EEXIST: 'a part of the path is a file, not a folder',
    EISDIR: 'there is a folder of that name',
  };
  const what = (code && known[code]) ?? code ?? String(error);
  return new HostError(`${path}: ${what}. Nothing was written under that name.`, ['Choose another folder with --out.']);
}

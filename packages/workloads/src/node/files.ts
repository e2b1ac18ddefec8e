import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { TraceError, TraceErrorCode } from '../trace-error.js';

const CHUNK_BYTES = 256 * 1024;
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'this is a folder, not a file',
  EACCES: 'permission denied',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};

/** The bytes of a file. Throws TraceError if it cannot be read. */
export async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) yield chunk as Uint8Array;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Bytes of a file, 0 for a pipe. Throws TraceError if there is none. */
export async function sizeOf(path: string): Promise<number> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  return size;
}

/** Why the system refuses a file, in words. */
export function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  return reasons[code] ?? code;
}

function unreadable(path: string, error: unknown): TraceError {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    ENOTDIR: 'a part of the path is a file, not a folder',
    EISDIR: 'this is a folder, not a trace file',
    EACCES: 'the file may not be read (permission denied)',
  };
  const hints = code === 'ENOENT' ? ['Check the path; it is taken relative to the current folder.'] : [];
  // A path that leads to no file is the user's to put right; whatever else fails is the machine's.
  const wrongPath = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG', 'ELOOP'].includes(code);
  const kind = wrongPath ? TraceErrorCode.unreadable : TraceErrorCode.denied;
  return new TraceError(kind, `${path}: ${known[code] ?? `cannot be read (${code})`}`, hints);
}

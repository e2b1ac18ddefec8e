import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type ReadTraceOptions, type ReadTraceResult, readTrace } from '../read-trace.js';
import { TraceError, TraceErrorCode } from '../trace-error.js';

const CHUNK_BYTES = 256 * 1024;

/** Reads a trace file, plain or gzip, into compact columns. Throws {@link TraceError}. */
export async function openTrace(path: string | URL, options: ReadTraceOptions = {}): Promise<ReadTraceResult> {
  const file = typeof path === 'string' ? path : fileURLToPath(path);
  return await readTrace(fileChunks(file), file, options);
}

async function* fileChunks(path: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) yield chunk as Uint8Array;
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): TraceError {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EISDIR: 'this is a folder, not a trace file',
    EACCES: 'the file may not be read (permission denied)',
  };
  const hints = code === 'ENOENT' ? ['Check the path; it is taken relative to the current folder.'] : [];
  const kind = code === 'ENOENT' || code === 'EISDIR' ? TraceErrorCode.unreadable : TraceErrorCode.denied;
  return new TraceError(kind, `${path}: ${known[code] ?? `cannot be read (${code})`}`, hints);
}

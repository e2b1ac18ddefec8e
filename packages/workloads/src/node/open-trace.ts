import { fileURLToPath } from 'node:url';
import { type Packing, unpacked } from '../compression.js';
import { parseListing, type TreeEntry } from '../files/tree.js';
import {
  type ReadTraceOptions,
  type ReadTraceResult,
  readMergedTrace,
  readTrace,
  type StreamTraceOptions,
  type StreamTraceResult,
  streamTrace,
} from '../read-trace.js';
import { ReplayError } from '../replay-error.js';
import { readStrace } from '../strace/read-strace.js';
import type { StraceOptions } from '../strace/strace-reader.js';
import type { SystemTrace } from '../strace/system-trace.js';
import { type TraceInfo, TraceSummary } from '../trace-info.js';
import { fileChunks, sizeOf } from './files.js';

/**
 * Reads a trace file, plain, gzip or zstd, into compact columns; or several that blktrace wrote, one for each CPU.
 * Throws TraceError.
 */
export async function openTrace(
  path: string | URL | readonly string[],
  options: ReadTraceOptions = {},
): Promise<ReadTraceResult> {
  if (typeof path === 'string') {
    return await readTrace(fileChunks(path), path, { sizeBytes: await sizeOf(path), ...options });
  }
  if (path instanceof URL) return await openTrace(fileURLToPath(path), options);
  return await readMergedTrace(
    path.map((file) => ({ chunks: fileChunks(file), file })),
    options,
  );
}

/** What a trace file is and what it holds, in one pass and without keeping its operations. Throws TraceError. */
export async function fileInfo(
  path: string | URL,
  options: StreamTraceOptions = {},
): Promise<{ readonly source: StreamTraceResult; readonly info: TraceInfo }> {
  const file = typeof path === 'string' ? path : fileURLToPath(path);
  const summary = new TraceSummary();
  const source = await streamTrace(fileChunks(file), file, summary, options);
  return { source, info: summary.result((flow) => source.volumeName(flow)) };
}

/** Reads a file that strace wrote, plain, gzip or zstd. Throws TraceError. */
export async function openStrace(path: string | URL, options: StraceOptions = {}): Promise<SystemTrace> {
  const file = typeof path === 'string' ? path : fileURLToPath(path);
  return await readStrace(fileChunks(file), file, options);
}

/** Reads a listing of files, plain, gzip or zstd: see `parseListing`. Throws TraceError, and ReplayError naming file and line. */
export async function openListing(path: string | URL): Promise<TreeEntry[]> {
  const file = typeof path === 'string' ? path : fileURLToPath(path);
  const packing: Packing = { compression: 'none' };
  // Names are byte strings.
  const decoder = new TextDecoder('latin1');
  let text = '';
  for await (const chunk of unpacked(fileChunks(file), file, packing)) text += decoder.decode(chunk, { stream: true });
  try {
    return parseListing(text);
  } catch (error) {
    if (!(error instanceof ReplayError)) throw error;
    throw new ReplayError(error.code, `${file}: ${error.message}`, error.key);
  }
}

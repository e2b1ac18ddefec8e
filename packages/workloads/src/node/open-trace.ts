import { fileURLToPath } from 'node:url';
import {
  type ReadTraceOptions,
  type ReadTraceResult,
  readMergedTrace,
  readTrace,
  type StreamTraceOptions,
  type StreamTraceResult,
  streamTrace,
} from '../read-trace.js';
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

import { fileURLToPath } from 'node:url';
import {
  type ReadTraceOptions,
  type ReadTraceResult,
  readTrace,
  type StreamTraceOptions,
  type StreamTraceResult,
  streamTrace,
} from '../read-trace.js';
import { type TraceInfo, TraceSummary } from '../trace-info.js';
import { fileChunks } from './files.js';

/** Reads a trace file, plain, gzip or zstd, into compact columns. Throws {@link TraceError}. */
export async function openTrace(path: string | URL, options: ReadTraceOptions = {}): Promise<ReadTraceResult> {
  const file = typeof path === 'string' ? path : fileURLToPath(path);
  return await readTrace(fileChunks(file), file, options);
}

/** What a trace file is and what it holds, in one pass and without keeping its operations. Throws {@link TraceError}. */
export async function fileInfo(
  path: string | URL,
  options: StreamTraceOptions = {},
): Promise<{ readonly source: StreamTraceResult; readonly info: TraceInfo }> {
  const file = typeof path === 'string' ? path : fileURLToPath(path);
  const summary = new TraceSummary();
  const source = await streamTrace(fileChunks(file), file, summary, options);
  return { source, info: summary.result((flow) => source.volumeName(flow)) };
}

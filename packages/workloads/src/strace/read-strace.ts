import { type Packing, unpacked } from '../compression.js';
import { TraceError, TraceErrorCode } from '../trace-error.js';
import { type StraceOptions, StraceReader } from './strace-reader.js';
import type { SystemTrace } from './system-trace.js';

/**
 * Reads the text of `strace`, plain, gzip or zstd, from a stream of bytes; `file` is the name that errors show. Every
 * call is kept in memory, some 500 bytes each. Throws {@link TraceError}.
 */
export async function readStrace(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  options: StraceOptions = {},
): Promise<SystemTrace> {
  const reader = new StraceReader(file, options);
  const packing: Packing = { compression: 'none' };
  let bytes = 0;
  for await (const chunk of unpacked(generated(chunks), file, packing)) {
    bytes += chunk.length;
    reader.push(chunk);
  }
  if (bytes === 0) throw new TraceError(TraceErrorCode.empty, `${file}: the file is empty`);
  return reader.end();
}

async function* generated(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

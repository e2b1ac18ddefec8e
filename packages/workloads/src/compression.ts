import { TraceError, TraceErrorCode } from './trace-error.js';
import { inflateZstd, isZstd } from './zstd.js';

/** How the bytes of a trace are packed. */
export type Compression = 'none' | 'gzip' | 'zstd';

/** What the first bytes of a stream tell. */
export interface Packing {
  compression: Compression;
}

/**
 * Passes plain bytes through and unpacks gzip and zstd, told by their magic numbers, which no trace begins with.
 * Memory does not grow with the length of the stream. Throws {@link TraceError}; `found` tells what it is.
 */
export async function* unpacked(
  chunks: AsyncGenerator<Uint8Array>,
  file: string,
  found: Packing,
): AsyncGenerator<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < 4) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    head = joined(head, value);
  }
  if (head.length === 0) return;
  if (head[0] === 0x1f && head[1] === 0x8b) {
    found.compression = 'gzip';
    yield* gunzip(preceded(head, chunks), file);
  } else if (isZstd(head)) {
    found.compression = 'zstd';
    yield* inflateZstd(preceded(head, chunks), file);
  } else {
    yield head;
    yield* chunks;
  }
}

async function* preceded(head: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  yield* rest;
}

async function* gunzip(chunks: AsyncGenerator<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  let sourceError: unknown;
  const feed = async (): Promise<void> => {
    try {
      for await (const chunk of chunks) await writer.write(chunk as Uint8Array<ArrayBuffer>);
    } catch (error) {
      sourceError = error;
      await writer.abort(error);
      return;
    }
    await writer.close();
  };
  // A failure of the feed shows on the reading side as well, which reports it.
  const feeding = feed().catch(() => undefined);
  const reader = stream.readable.getReader();
  try {
    for (;;) {
      const piece = await reader.read().catch((error: unknown) => {
        throw sourceError ?? damaged(file, error);
      });
      if (piece.done) break;
      yield piece.value;
    }
  } finally {
    // Reached early when the text is wrong: ends the feed, which otherwise waits for room for ever.
    await reader.cancel().catch(() => undefined);
    await feeding;
  }
}

function damaged(file: string, error: unknown): TraceError {
  const text = error instanceof Error ? error.message : String(error);
  const early = /unexpected end|premature|incomplete|truncated/i.test(text);
  const what = early ? 'the gzip data ends early: the file is truncated' : `the gzip data is damaged (${text})`;
  return new TraceError(TraceErrorCode.compression, `${file}: ${what}`, [
    'Copy or download the file again; "gzip -t" tells whether it is whole.',
  ]);
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b;
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

import type { Trace } from './trace.js';
import { TraceDecoder, type TraceOptions } from './trace-decoder.js';
import { TraceError, TraceErrorCode } from './trace-error.js';

/** How a trace is read. */
export interface ReadTraceOptions extends TraceOptions {
  /** Name of the trace. Default: the file name without folders and endings. */
  readonly name?: string;
  /** Called after each chunk with the (compressed) bytes read so far and the operations decoded. */
  readonly progress?: (bytes: number, operations: number) => void;
}

/** A trace together with how it was found to be of its format. */
export interface ReadTraceResult {
  readonly trace: Trace;
  /** "named", or "recognised: " and why. */
  readonly evidence: string;
  /** Columns and units of the format. */
  readonly facts: string;
}

/**
 * Reads a trace, plain or gzip (told by its first bytes), from a stream of bytes; `file` is the name that errors show.
 * Nothing but the decoded columns is kept. Throws {@link TraceError}.
 */
export async function readTrace(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  options: ReadTraceOptions = {},
): Promise<ReadTraceResult> {
  const decoder = new TraceDecoder(file, options);
  const counter = { bytes: 0 };
  const text = { zipped: false };
  let wrong: unknown = null;
  for await (const chunk of inflated(counted(chunks, counter), file, text)) {
    // Damaged gzip data may unpack to wrong text before its checksum tells: the damage is the cause to report.
    if (wrong !== null) continue;
    try {
      decoder.push(chunk);
    } catch (error) {
      if (!text.zipped) throw error;
      wrong = error;
    }
    options.progress?.(counter.bytes, decoder.operations);
  }
  if (wrong !== null) throw wrong;
  if (counter.bytes === 0) throw new TraceError(TraceErrorCode.empty, `${file}: the file is empty`);
  const trace = decoder.end(options.name);
  return { trace, evidence: decoder.evidence, facts: decoder.format === null ? '' : decoder.format.facts };
}

async function* counted(chunks: AsyncIterable<Uint8Array>, counter: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    counter.bytes += chunk.length;
    yield chunk;
  }
}

/** Passes plain bytes through and unpacks gzip, which no text trace can look like. */
async function* inflated(
  chunks: AsyncGenerator<Uint8Array>,
  file: string,
  text: { zipped: boolean },
): AsyncGenerator<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < 2) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    head = joined(head, value);
  }
  if (head.length === 0) return;
  if (head[0] !== 0x1f || head[1] !== 0x8b) {
    yield head;
    yield* chunks;
    return;
  }
  text.zipped = true;
  yield* gunzip(head, chunks, file);
}

async function* gunzip(head: Uint8Array, rest: AsyncGenerator<Uint8Array>, file: string): AsyncGenerator<Uint8Array> {
  const stream = new DecompressionStream('gzip');
  const writer = stream.writable.getWriter();
  let sourceError: unknown;
  const feed = async (): Promise<void> => {
    try {
      await writer.write(head as Uint8Array<ArrayBuffer>);
      for await (const chunk of rest) await writer.write(chunk as Uint8Array<ArrayBuffer>);
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
  const early = /unexpected end|premature|incomplete/i.test(text);
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

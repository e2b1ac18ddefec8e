import type { Compression } from './compression.js';
import type { TraceFormat } from './formats/format.js';
import { traceFormats } from './formats/table.js';
import { packerFor, type WriteBytes } from './packer.js';
import { type StreamTraceOptions, type StreamTraceResult, streamTrace } from './read-trace.js';
import { namedFormat } from './recognise.js';
import { type ConversionLosses, TraceEncoder, type TraceEncoderOptions } from './trace-encoder.js';

const PIECE_BYTES = 256 * 1024;

/** What is read, and how it is written. */
export interface ConvertTraceOptions extends StreamTraceOptions {
  /** The format to write: a name out of `formats`, or a format itself. */
  readonly to: string | TraceFormat;
  /** How to pack what is written. Default `none`. */
  readonly pack?: Compression;
  /** How to write it. */
  readonly encoder?: TraceEncoderOptions;
}

/** What a conversion read, wrote and lost. */
export interface ConversionReport {
  /** What was read. */
  readonly source: StreamTraceResult;
  /** Name of the format written. */
  readonly format: string;
  /** Operations written. */
  readonly written: number;
  /** Bytes written, as packed. */
  readonly bytes: number;
  /** What the format written cannot hold. What the reader left out stands in `source.counts`. */
  readonly losses: ConversionLosses;
}

/**
 * Converts a trace from one format into another, from a stream of bytes to `write`, in constant memory. Nothing is
 * dropped in silence: the report counts what was left out or rounded. Throws {@link TraceError}.
 */
export async function convertTrace(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  options: ConvertTraceOptions,
  write: WriteBytes,
): Promise<ConversionReport> {
  const format = typeof options.to === 'string' ? namedFormat(options.to, options.formats ?? traceFormats) : options.to;
  const encoder = new TraceEncoder(format, options.encoder);
  let bytes = 0;
  const packer = packerFor(options.pack ?? 'none', (piece) => {
    bytes += piece.length;
    return write(piece);
  });
  const source = await streamTrace(chunks, file, encoder, options, async () => {
    if (encoder.pendingBytes >= PIECE_BYTES) await packer.push(encoder.take());
  });
  encoder.end();
  await packer.push(encoder.take());
  await packer.end();
  return { source, format: format.name, written: encoder.written, bytes, losses: encoder.losses };
}

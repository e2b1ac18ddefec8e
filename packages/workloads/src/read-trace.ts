import { type Packing, unpacked } from './compression.js';
import type { TraceFormat } from './formats/format.js';
import type { OperationSink } from './operation-sink.js';
import { type Trace, TraceBuilder } from './trace.js';
import { traceName } from './trace-decoder.js';
import { TraceError, TraceErrorCode } from './trace-error.js';
import { type TraceCounts, type TraceOptions, TraceParser } from './trace-parser.js';

const ESTIMATE_FROM = 1000;
const ESTIMATE_MARGIN = 1.02;

/** How a stream is read. */
export interface StreamTraceOptions extends TraceOptions {
  /** Bytes of the whole stream, as packed, if that is known: what keeps the operations gets its size at once. */
  readonly sizeBytes?: number;
  /** Called after each chunk with the (compressed) bytes read so far and the operations decoded. */
  readonly progress?: (bytes: number, operations: number) => void;
}

/** How a trace is read into memory. */
export interface ReadTraceOptions extends StreamTraceOptions {
  /** Name of the trace. Default: the file name without folders and endings. */
  readonly name?: string;
}

/** What was found in a stream besides its operations. */
export interface StreamTraceResult {
  readonly format: TraceFormat;
  /** "named", or "recognised: " and why. */
  readonly evidence: string;
  /** What became of its lines or records. */
  readonly counts: TraceCounts;
  /** How its bytes were packed. */
  readonly compression: Packing['compression'];
  /** Bytes read, as packed. */
  readonly bytes: number;
  /** How the format calls the volume of a `flow` number. */
  volumeName(flow: number): string;
}

/** A trace together with how it was found to be of its format. */
export interface ReadTraceResult {
  readonly trace: Trace;
  /** "named", or "recognised: " and why. */
  readonly evidence: string;
  /** Columns and units of the format. */
  readonly facts: string;
  /** How the format calls the volume of a `flow` number. */
  volumeName(flow: number): string;
}

/**
 * Reads a trace, plain, gzip or zstd (told by its first bytes), from a stream of bytes into compact columns; `file` is
 * the name that errors show. Throws {@link TraceError}.
 */
export async function readTrace(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  options: ReadTraceOptions = {},
): Promise<ReadTraceResult> {
  const builder = new TraceBuilder();
  const { format, evidence, counts, volumeName } = await streamTrace(chunks, file, builder, options);
  const trace = builder.build(options.name ?? traceName(file), format.name, counts);
  return { trace, evidence, facts: format.facts, volumeName };
}

/** One of the files that a trace is spread over. */
export interface TraceSourceFile {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The name that errors show. */
  readonly file: string;
}

/**
 * Reads the files that blktrace writes, one for each CPU, as one trace in order of time. Response times are not matched,
 * because a request may complete on another CPU than it was issued on; `blkparse -d` makes one file of them, which has
 * them. Throws {@link TraceError}.
 */
export async function readMergedTrace(
  files: readonly TraceSourceFile[],
  options: ReadTraceOptions = {},
): Promise<ReadTraceResult> {
  if (files.length === 0) throw new TraceError(TraceErrorCode.option, 'name at least one trace file, found none');
  const builder = new TraceBuilder();
  const sink: OperationSink = { add: (operation) => builder.add(operation) };
  const { limit, ...rest } = options;
  let found: StreamTraceResult | null = null;
  const counts: TraceCounts[] = [];
  for (const { chunks, file } of files) {
    found = await streamTrace(chunks, file, sink, rest);
    if (found.format.name !== 'blktrace') {
      throw new TraceError(TraceErrorCode.format, `${file}: a trace of format ${found.format.name} cannot be merged`, [
        'Only the files that blktrace writes for each CPU are merged, because their times are of one clock.',
      ]);
    }
    counts.push(found.counts);
  }
  const { format, evidence, volumeName } = found as StreamTraceResult;
  const all = builder.build(options.name ?? traceName(files[0].file), format.name, summed(counts)).sortedByTime();
  const trace = limit === undefined ? all : all.first(limit);
  return { trace, evidence, facts: format.facts, volumeName };
}

function summed(counts: readonly TraceCounts[]): TraceCounts {
  const sum = (key: 'operations' | 'zeroLength' | 'badLines' | 'otherRequests' | 'unselected'): number =>
    counts.reduce((total, count) => total + count[key], 0);
  return {
    operations: sum('operations'),
    zeroLength: sum('zeroLength'),
    badLines: sum('badLines'),
    firstBadLine: counts.find((count) => count.firstBadLine !== null)?.firstBadLine ?? null,
    otherRequests: sum('otherRequests'),
    firstOther: counts.find((count) => count.firstOther !== null)?.firstOther ?? null,
    unselected: sum('unselected'),
  };
}

/**
 * Reads a trace from a stream of bytes and hands each operation to `sink`; nothing of it is kept, so that memory does
 * not grow with its length. Times are relative to anything. `afterChunk` is awaited after each piece, for sinks that
 * have something to write. Throws {@link TraceError}.
 */
export async function streamTrace(
  chunks: AsyncIterable<Uint8Array>,
  file: string,
  sink: OperationSink,
  options: StreamTraceOptions = {},
  afterChunk?: () => Promise<void>,
): Promise<StreamTraceResult> {
  const parser = new TraceParser(file, options, sink);
  const counter = { bytes: 0 };
  const packing: Packing = { compression: 'none' };
  let wrong: unknown = null;
  let estimated = false;
  for await (const chunk of unpacked(counted(chunks, counter), file, packing)) {
    // Damaged data may unpack to wrong text before its checksum tells: the damage is the cause to report.
    if (wrong !== null) continue;
    try {
      parser.push(chunk);
    } catch (error) {
      if (packing.compression === 'none') throw error;
      wrong = error;
    }
    if (!estimated && parser.operations >= ESTIMATE_FROM) {
      estimated = true;
      const share = (options.sizeBytes ?? 0) / counter.bytes;
      const all = Math.ceil(parser.operations * share * ESTIMATE_MARGIN);
      sink.reserve?.(Math.min(all, options.limit ?? all));
    }
    options.progress?.(counter.bytes, parser.operations);
    if (afterChunk !== undefined) await afterChunk();
    if (parser.complete) break;
  }
  if (wrong !== null) throw wrong;
  if (counter.bytes === 0) throw new TraceError(TraceErrorCode.empty, `${file}: the file is empty`);
  parser.end();
  return {
    // Recognised at the latest when the trace ended with an operation.
    format: parser.format as TraceFormat,
    evidence: parser.evidence,
    counts: parser.counts,
    compression: packing.compression,
    bytes: counter.bytes,
    volumeName: (flow) => parser.volumeName(flow),
  };
}

async function* counted(chunks: AsyncIterable<Uint8Array>, counter: { bytes: number }): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    counter.bytes += chunk.length;
    yield chunk;
  }
}

import { BlockOp } from '@flashstack/block-device';
import { expect, test } from 'vitest';
import {
  type Compression,
  convertTrace,
  Operation,
  streamTrace,
  TraceEncoder,
  type TraceFormat,
  TraceSummary,
  traceFormats,
} from '../src/index.js';

// Traces are read in constant memory: streams far larger than what a process may grow by.
const MiB = 1024 * 1024;
const GiB = 1024 * MiB;
const full = process.env.CI !== undefined;
const long = process.env.FLASHSTACK_LONG !== undefined;
const GROWTH = 160 * MiB;

/** About 1 MiB of a trace, to be repeated: its head once, its body again and again. */
function sample(format: TraceFormat): { head: Uint8Array; body: Uint8Array<ArrayBuffer>; operations: number } {
  const encoder = new TraceEncoder(format);
  const head = encoder.take();
  const operation = new Operation();
  // The first operation of an iolog opens its file: that belongs to the head.
  operation.op = BlockOp.write;
  operation.lengthBytes = 4096;
  encoder.add(operation);
  const first = encoder.take();
  let operations = 0;
  while (encoder.pendingBytes < MiB) {
    operation.op = operations % 3 === 0 ? BlockOp.read : BlockOp.write;
    operation.timeNs = operations * 12_345;
    operation.offsetBytes = ((operations * 7919) % 1_000_003) * 4096;
    operation.lengthBytes = 4096 * (1 + (operations % 16));
    encoder.add(operation);
    operations++;
  }
  return { head: Buffer.concat([head, first]), body: encoder.take(), operations };
}

/** The stream, and how much the process has grown since its first tenth. */
class Watched {
  grown = 0;
  operations = 1;
  bytes = 0;
  private base = 0;
  private readonly format: TraceFormat;
  private readonly limit: number;

  constructor(format: TraceFormat, limit: number) {
    this.format = format;
    this.limit = limit;
  }

  /** A stream smaller than what a process may grow by proves nothing about memory, only that it is read. */
  check(): void {
    if (this.limit > 2 * GROWTH) expect(this.grown).toBeLessThan(GROWTH);
  }

  async *chunks(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const { head, body, operations } = sample(this.format);
    yield Uint8Array.from(head);
    while (this.bytes < this.limit) {
      yield body;
      this.bytes += body.length;
      this.operations += operations;
      const { rss } = process.memoryUsage();
      if (this.bytes * 10 < this.limit || this.base === 0) this.base = rss;
      else this.grown = Math.max(this.grown, rss - this.base);
    }
  }
}

const writable = traceFormats.filter((format) => format.writer !== undefined);
const sizeOf = (name: string): number => {
  if (long) return 10 * GiB;
  if (name !== 'msr') return 24 * MiB;
  return full ? GiB : 400 * MiB;
};

test.each(writable.map((format) => [format.name, format] as const))(
  '%s',
  async (name, format) => {
    const watched = new Watched(format, sizeOf(name));
    // Ten gigabytes are hundreds of millions of operations: then only counted, to end in minutes.
    const summary = new TraceSummary();
    const sink = long ? { add: () => undefined } : summary;
    const { counts, bytes } = await streamTrace(watched.chunks(), 'stream', sink, { format: name });
    expect(bytes).toBeGreaterThanOrEqual(sizeOf(name));
    expect(counts).toMatchObject({ operations: watched.operations, badLines: 0 });
    if (!long) expect(summary.result().requests).toBe(watched.operations);
    watched.check();
  },
  3_600_000,
);

async function* packedBy(chunks: AsyncIterable<Uint8Array>, pack: Compression): AsyncGenerator<Uint8Array> {
  const ready: Uint8Array[] = [];
  let wake: () => void = () => undefined;
  let ended = false;
  const converting = convertTrace(chunks, 'stream', { format: 'mqsim', to: 'mqsim', pack }, async (bytes) => {
    ready.push(bytes);
    wake();
    while (ready.length > 4) await new Promise((resolve) => setImmediate(resolve));
  }).finally(() => {
    ended = true;
    wake();
  });
  while (!ended || ready.length > 0) {
    const next = ready.shift();
    if (next !== undefined) yield next;
    else if (!ended) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  await converting;
}

test.each(['gzip', 'zstd'] as const)(
  'packed on the way (%s): converting and reading',
  async (pack) => {
    const format = writable.find((candidate) => candidate.name === 'mqsim') as TraceFormat;
    const watched = new Watched(format, long ? 2 * GiB : full ? 350 * MiB : 16 * MiB);
    const summary = new TraceSummary();
    const { counts, compression } = await streamTrace(packedBy(watched.chunks(), pack), 'stream', summary);
    expect(compression).toBe(pack);
    expect(counts.operations).toBe(watched.operations);
    watched.check();
  },
  3_600_000,
);

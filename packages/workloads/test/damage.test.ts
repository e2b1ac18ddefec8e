import { gzipSync } from 'node:zlib';
import { BlockOp } from '@flashstack/block-device';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Operation, readTrace, TraceEncoder, TraceError, type TraceFormat, traceFormats } from '../src/index.js';

const writable = traceFormats.filter((format) => format.writer !== undefined);

function sample(format: TraceFormat): Uint8Array {
  const encoder = new TraceEncoder(format);
  const operation = new Operation();
  for (let i = 0; i < 60; i++) {
    operation.op = i % 2 === 0 ? BlockOp.read : BlockOp.write;
    operation.timeNs = i * 1_234_567_890;
    operation.offsetBytes = i * 4096;
    operation.lengthBytes = 4096;
    operation.flow = i % 3;
    encoder.add(operation);
  }
  encoder.end();
  return encoder.take();
}

async function* inPieces(data: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

// Whatever happens to the bytes of a file: it reads, or a TraceError says what is wrong. Nothing else is thrown, and what
// is skipped is counted.
test.each(writable.map((format) => [format.name, format] as const))('%s with random damage', async (name, format) => {
  const good = sample(format);
  const damage = fc.record({
    changes: fc.array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 }),
    keep: fc.oneof(fc.constant(good.length), fc.nat(good.length)),
    piece: fc.integer({ min: 1, max: 700 }),
    named: fc.boolean(),
    badLines: fc.constantFrom('fail' as const, 'skip' as const),
    zip: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(damage, async ({ changes, keep, piece, named, badLines, zip }) => {
      const bytes = good.slice(0, keep);
      for (const [at, value] of changes) if (at < keep) bytes[at] = value;
      const options = { badLines, ...(named ? { format: name } : {}) };
      const found = await readTrace(inPieces(zip ? gzipSync(bytes) : bytes, piece), 'x', options).then(
        ({ trace }) => trace,
        (error: unknown) => error,
      );
      if (found instanceof Error) {
        expect(found).toBeInstanceOf(TraceError);
        expect(found.message).toMatch(/^x(:\d+:\d+|:\d+)?: /);
        return;
      }
      const trace = found as Awaited<ReturnType<typeof readTrace>>['trace'];
      for (let i = 0; i < trace.length; i++) {
        expect(Number.isSafeInteger(trace.offsetsBytes[i]) && trace.offsetsBytes[i] >= 0).toBe(true);
        expect(Number.isSafeInteger(trace.timesNs[i]) && trace.timesNs[i] >= 0).toBe(true);
        expect(trace.ops[i] <= BlockOp.discard).toBe(true);
      }
      if (badLines === 'fail') expect(trace.badLines).toBe(0);
    }),
    { numRuns: process.env.CI === undefined ? 60 : 1500, seed: 11 },
  );
});

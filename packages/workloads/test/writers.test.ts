import { gunzipSync } from 'node:zlib';
import { BlockFlag, BlockOp } from '@flashstack/block-device';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Compression,
  convertTrace,
  Operation,
  readTrace,
  type Trace,
  TraceBuilder,
  TraceEncoder,
  type TraceEncoderOptions,
  TraceError,
  type TraceFormat,
  traceFormats,
} from '../src/index.js';

const full = process.env.CI !== undefined;
const writable = traceFormats.filter((format) => format.writer !== undefined);
const { read, write, flush, discard, writeZeroes } = BlockOp;

interface Given {
  op: number;
  timeNs: number;
  offsetBytes: number;
  lengthBytes: number;
  flow: number;
  flags: number;
  responseNs: number;
}

const plain: Given = { op: write, timeNs: 0, offsetBytes: 0, lengthBytes: 4096, flow: 0, flags: 0, responseNs: 0 };

/** Operations that the format holds exactly. */
function holdable(format: TraceFormat): fc.Arbitrary<Given[]> {
  const limits = format.limits;
  if (limits === undefined) throw new Error('only read');
  const { unitBytes, tickNs, responseTickNs } = limits;
  const ops = [read, write, ...(limits.flush ? [flush] : []), ...(limits.discard ? [discard] : [])];
  const one = fc.record({
    op: fc.constantFrom(...ops),
    gap: fc.nat(Math.floor(2e12 / tickNs)).map((ticks) => ticks * tickNs),
    offset: fc.nat(2 ** 40 / 512).map((units) => units * unitBytes),
    length: fc.integer({ min: 1, max: Math.floor(0xffffffff / unitBytes) }).map((units) => units * unitBytes),
    flow: fc.nat(4000),
    flags: fc.nat(63),
    response: fc.nat(10_000_000).map((ticks) => ticks * responseTickNs),
  });
  return fc.array(one, { minLength: 1, maxLength: 50 }).map((rows) => {
    let timeNs = 0;
    return rows.map(({ op, gap, offset, length, flow, flags, response }, i) => {
      if (i > 0) timeNs += gap;
      const isFlush = op === flush;
      const allowed = op === write ? 7 : BlockFlag.sync | BlockFlag.ahead;
      return {
        op,
        timeNs,
        offsetBytes: isFlush ? 0 : offset,
        lengthBytes: isFlush ? 0 : length,
        flow,
        flags: limits.flags && !isFlush && op !== discard ? flags & allowed : 0,
        responseNs: response,
      };
    });
  });
}

function encoded(
  format: TraceFormat,
  rows: readonly Given[],
  options?: TraceEncoderOptions,
): [Uint8Array, TraceEncoder] {
  const encoder = new TraceEncoder(format, options);
  const operation = new Operation();
  for (const row of rows) encoder.add(Object.assign(operation, row));
  encoder.end();
  return [encoder.take(), encoder];
}

async function* inPieces(data: Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

/** What was read, with volumes named by order of appearance where the format names them itself. */
function rowsOf(trace: Trace): Given[] {
  return Array.from(trace.ops, (op, i) => ({
    op,
    timeNs: trace.timesNs[i],
    offsetBytes: trace.offsetsBytes[i],
    lengthBytes: trace.lengthsBytes[i],
    flow: trace.flows[i],
    flags: trace.flags[i],
    responseNs: trace.responsesNs === null ? 0 : trace.responsesNs[i],
  }));
}

function appearance(rows: readonly Given[]): Given[] {
  const flows: number[] = [];
  return rows.map((row) => {
    if (!flows.includes(row.flow)) flows.push(row.flow);
    return { ...row, flow: flows.indexOf(row.flow) };
  });
}

describe.each(writable.map((format) => [format.name, format] as const))('%s', (name, format) => {
  test('writer → reader: the same operations', async () => {
    await fc.assert(
      fc.asyncProperty(holdable(format), async (rows) => {
        const [bytes, encoder] = encoded(format, rows, { losses: 'fail' });
        const { trace } = await readTrace(inPieces(bytes), 'x', { format: name });
        expect(rowsOf(trace)).toEqual(name === 'fio-iolog' ? appearance(rows) : rows);
        expect(encoder.written).toBe(rows.length);
        expect(Object.values(encoder.losses).every((count) => count === 0)).toBe(true);
      }),
      { numRuns: full ? 1000 : 50, seed: 7 },
    );
  });

  test('what it writes is recognised', async () => {
    const rows = Array.from({ length: 40 }, (_, i) => ({
      ...plain,
      op: i % 2,
      timeNs: i * 1e9 + 5e8 * (i > 0 ? 1 : 0),
      offsetBytes: i * 4096,
    }));
    const [bytes] = encoded(format, rows);
    const { trace, evidence } = await readTrace(inPieces(bytes), 'x');
    expect([trace.format, evidence.startsWith('recognised: ')]).toEqual([name, true]);
  });

  test('what it cannot hold is counted', () => {
    const limits = format.limits;
    if (limits === undefined) throw new Error('only read');
    const rows: Given[] = [
      plain,
      { ...plain, op: flush, lengthBytes: 0 },
      { ...plain, op: discard },
      { ...plain, op: writeZeroes },
      { ...plain, flags: BlockFlag.fua },
      { ...plain, offsetBytes: 100, lengthBytes: 1000 },
      { ...plain, timeNs: 1_000_000_001 },
      { ...plain, timeNs: -5 },
      { ...plain, lengthBytes: 0xffffffff },
      { ...plain, responseNs: 77 },
    ];
    const [, encoder] = encoded(format, rows);
    const sectors = limits.unitBytes > 1;
    expect(encoder.losses).toEqual({
      flushes: limits.flush ? 0 : 1,
      discards: limits.discard ? 0 : 1,
      writeZeroes: 1,
      tooLong: sectors ? 1 : 0,
      widened: sectors ? 1 : 0,
      timesRounded: limits.tickNs > 1 ? 1 : 0,
      timesRaised: 1,
      flags: limits.flags ? 0 : 1,
      responses: limits.responseTickNs === 0 ? 1 : 0,
      responsesRounded: limits.responseTickNs > 1 ? 1 : 0,
    });
    expect(encoder.written).toBe(
      rows.length - 1 - (limits.flush ? 0 : 1) - (limits.discard ? 0 : 1) - (sectors ? 1 : 0),
    );
  });

  test('or refused, if that is asked for', () => {
    const attempt = (): unknown => encoded(format, [plain, { ...plain, op: writeZeroes }], { losses: 'fail' });
    expect(attempt).toThrow(TraceError);
    expect(attempt).toThrow(`operation 2: the format ${name} cannot hold a write of zeroes`);
  });
});

test('formats that are only read say so', () => {
  const only = traceFormats.filter((format) => format.writer === undefined);
  expect(only.map((format) => format.name)).toEqual(['fiu', 'vscsi', 'hfplayer']);
  for (const format of only)
    expect(() => new TraceEncoder(format)).toThrow(`traces of format ${format.name} are only read`);
});

test('an iolog of version 2 waits, in either unit', async () => {
  const format = writable.find((candidate) => candidate.name === 'fio-iolog') as TraceFormat;
  const rows = [0, 3_000_000, 3_000_000, 5_000_000].map((timeNs, i) => ({ ...plain, timeNs, flow: i % 2 }));
  for (const waitUnit of ['us', 'ms'] as const) {
    const [bytes] = encoded(format, rows, { iologVersion: 2, waitUnit });
    expect(new TextDecoder().decode(bytes)).toContain(waitUnit === 'us' ? 'dev0 wait 3000 0\n' : 'dev0 wait 3 0\n');
    expect(rowsOf((await readTrace(inPieces(bytes), 'x', { waitUnit })).trace)).toEqual(rows);
    await expect(readTrace(inPieces(bytes), 'x')).rejects.toThrow('the unit of a wait is');
  }
});

test('kernel traces are written with the action asked for', async () => {
  for (const format of writable.filter(({ name }) => name === 'blktrace' || name === 'blkparse')) {
    for (const action of ['Q', 'D'] as const) {
      const [bytes] = encoded(format, [plain], { action });
      const other = action === 'Q' ? 'D' : 'Q';
      expect((await readTrace(inPieces(bytes), 'x', { action })).trace.length).toBe(1);
      await expect(readTrace(inPieces(bytes), 'x', { action: other })).rejects.toThrow('the trace holds no requests');
    }
  }
});

describe('conversion', () => {
  const rows = Array.from({ length: 30_000 }, (_, i) => ({
    ...plain,
    op: i % 100 === 99 ? flush : i % 2,
    timeNs: i * 1000,
    offsetBytes: i % 100 === 99 ? 0 : i * 512,
    lengthBytes: i % 100 === 99 ? 0 : 512,
  }));
  const blktrace = writable.find((format) => format.name === 'blktrace') as TraceFormat;
  const [binary] = encoded(blktrace, rows);

  async function convert(pack: Compression): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    const report = await convertTrace(inPieces(binary, 50_000), 'x', { to: 'msr', pack }, (bytes) => {
      parts.push(bytes);
    });
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    expect(report).toMatchObject({ format: 'msr', written: 29_700, bytes: whole.length });
    expect(report.source.counts.operations).toBe(30_000);
    expect(report.losses).toMatchObject({ flushes: 300, discards: 0, timesRounded: 0 });
    return whole;
  }

  test('packed in any way it reads back as the same operations', async () => {
    const text = await convert('none');
    expect(Buffer.from(gunzipSync(await convert('gzip'))).equals(text)).toBe(true);
    const kept = rows.filter((row) => row.op !== flush);
    for (const pack of ['none', 'gzip', 'zstd'] as const) {
      const packed = await convert(pack);
      if (pack !== 'none') expect(packed.length).toBeLessThan(text.length / 2);
      const { trace } = await readTrace(inPieces(packed, 5000), 'x');
      expect(rowsOf(trace)).toEqual(kept);
    }
  });

  test.each(['none', 'gzip', 'zstd'] as const)('a failure of writing (%s) is the error', async (pack) => {
    const failing = convertTrace(inPieces(binary), 'x', { to: 'msr', pack }, () => {
      throw new Error('the disk is full');
    });
    await expect(failing).rejects.toThrow('the disk is full');
  });

  test('a failure of reading is the error', async () => {
    const attempt = convertTrace(inPieces(binary.subarray(0, 1000)), 'x', { to: 'msr', pack: 'gzip' }, () => undefined);
    await expect(attempt).rejects.toThrow('x: record 21 at byte 960: the trace ends inside a record, 40 bytes into it');
  });

  test('an unknown format to write', async () => {
    await expect(convertTrace(inPieces(binary), 'x', { to: 'mrs' }, () => undefined)).rejects.toThrow(
      'unknown trace format "mrs"',
    );
  });
});

test('a builder takes what an encoder takes', () => {
  const builder = new TraceBuilder();
  builder.add(Object.assign(new Operation(), { ...plain, timeNs: 5, flags: 3, responseNs: 9 }));
  expect(rowsOf(builder.build('x', 'y'))).toEqual([{ ...plain, flags: 3, responseNs: 9 }]);
});

import { gzipSync } from 'node:zlib';
import { BlockOp } from '@flashstack/block-device';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ReadTraceOptions,
  type Row,
  readTrace,
  type Trace,
  TraceDecoder,
  TraceError,
  type TraceFormat,
  traceFormats,
  traceName,
} from '../src/index.js';

const msr = ['128166372003061629,web,0,Read,7014609920,4096,41286', '128166372003061630,web,0,Write,0,512,1'].join(
  '\n',
);
const mqsim = '1000 4 264719034 16 0\n2000 3 197570570 16 1\n';
const mqsimFormat = traceFormats.find((format) => format.name === 'mqsim') as TraceFormat;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* inPieces(data: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

async function read(data: Uint8Array | string, options: ReadTraceOptions = {}, piece = 1 << 20): Promise<Trace> {
  const whole = typeof data === 'string' ? bytes(data) : data;
  return (await readTrace(inPieces(whole, piece), 'web.csv', options)).trace;
}

async function failure(data: Uint8Array | string, options: ReadTraceOptions = {}): Promise<TraceError> {
  const outcome = await read(data, options).then(
    () => null,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(TraceError);
  return outcome as TraceError;
}

describe('what is accepted', () => {
  test('MSR: file times beyond 2^53 are exact, letters of any case, a header, CRLF, a byte order mark', async () => {
    const trace = await read(
      '\ufeffTimestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n\r\n128166372003061629,web,3,READ,512,1024,0\r\n128166372003061630,web,3,write,0,512,1',
    );
    expect(trace.length).toBe(2);
    expect(Array.from(trace.timesNs)).toEqual([0, 100]);
    expect(Array.from(trace.ops)).toEqual([BlockOp.read, BlockOp.write]);
    expect(Array.from(trace.flows)).toEqual([3, 3]);
  });

  test('MQSim: 0 writes and 1 reads, sectors of 512 B, tabs and runs of spaces', async () => {
    const trace = await read('  5000\t4  2 16 0\n1000 3 1 1 1\n');
    expect(Array.from(trace.ops)).toEqual([BlockOp.write, BlockOp.read]);
    expect(Array.from(trace.offsetsBytes)).toEqual([1024, 512]);
    expect(Array.from(trace.lengthsBytes)).toEqual([8192, 512]);
    // The earliest is at 0; the order stays that of the file.
    expect(Array.from(trace.timesNs)).toEqual([4000, 0]);
    expect(trace.outOfOrder).toBe(1);
    expect(Array.from(trace.sortedByTime().timesNs)).toEqual([0, 4000]);
    expect(Array.from(trace.sortedByTime().ops)).toEqual([BlockOp.read, BlockOp.write]);
  });

  test('DiskSim: flags are hexadecimal, bit 0 reads', async () => {
    const flags = ['0', '1', 'a', 'B', '10', '1f', 'C'];
    const trace = await read(flags.map((flag, i) => `${i}.5 0 ${i} 8 ${flag}\n`).join(''));
    expect(trace.format).toBe('disksim');
    const expected = flags.map((flag) => (Number.parseInt(flag, 16) % 2 === 1 ? BlockOp.read : BlockOp.write));
    expect(Array.from(trace.ops)).toEqual(expected);
  });

  test('requests of length zero are left out and counted', async () => {
    const trace = await read('1000 4 2 0 0\n1000 3 1 1 1\n');
    expect([trace.length, trace.zeroLength]).toEqual([1, 1]);
  });

  test('bad lines are skipped and counted if that is asked for', async () => {
    const trace = await read(`${msr}\nrubbish\n${msr}\n1,2\n`, { format: 'msr', badLines: 'skip' });
    expect([trace.length, trace.badLines]).toEqual([4, 2]);
    expect(trace.firstBadLine).toBe('web.csv:3:8: the line has 1 column, at least 6 are needed');
  });

  test('any cut of the text into pieces gives the same trace, plain and gzip', async () => {
    const line = fc.tuple(fc.nat(1e9), fc.nat(15), fc.nat(1e9), fc.integer({ min: 1, max: 1e6 }), fc.nat(1));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 300 }),
        fc.boolean(),
        async (rows, piece, zip) => {
          const text = bytes(rows.map((row) => row.join(' ')).join('\n'));
          const trace = await read(zip ? gzipSync(text) : text, {}, piece);
          const earliest = Math.min(...rows.map((row) => row[0]));
          expect(Array.from(trace.timesNs)).toEqual(rows.map((row) => row[0] - earliest));
          expect(Array.from(trace.offsetsBytes)).toEqual(rows.map((row) => row[2] * 512));
          expect(Array.from(trace.lengthsBytes)).toEqual(rows.map((row) => row[3] * 512));
        },
      ),
      { numRuns: process.env.CI === undefined ? 50 : 1000, seed: 1 },
    );
  });

  test('text longer than the sample for recognition, in small pieces', async () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `${i} 0 ${i * 8} 8 ${i % 2}`).join('\n');
    const trace = await read(text, {}, 1000);
    expect(trace.length).toBe(20_000);
    expect(trace.endByte).toBe(20_000 * 4096);
  });

  test('a wrong size of the stream changes nothing but memory', async () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `${i} 0 ${i * 8} 8 ${i % 2}`).join('\n');
    for (const sizeBytes of [0, 1, text.length, text.length * 10]) {
      const trace = await read(text, { sizeBytes }, 100_000);
      expect([trace.length, trace.spanNs, trace.endByte]).toEqual([20_000, 19_999, 20_000 * 4096]);
    }
  });

  test('a trace that no memory holds', async () => {
    const text = '1000 0 8 8 1\n'.repeat(2000);
    const error = await failure(text, { format: 'mqsim', sizeBytes: 1e18 });
    expect(error.code).toBe('ERR_TRACE_TOO_LARGE');
    expect(error.message).toMatch(/^the trace is too large for memory: there is no room for \d+ operations$/);
    // What is limited needs no more room than that.
    expect((await read(text, { format: 'mqsim', sizeBytes: 1e18, limit: 1500 })).length).toBe(1500);
  });

  test('a format of the user', async () => {
    const own: TraceFormat = {
      kind: 'text',
      name: 'own',
      extension: '.own',
      summary: 'block numbers',
      facts: '1 column, blocks of 4 KiB',
      separator: 'comma',
      columns: ['block'],
      recognise: () => null,
      create: () => ({
        read(row: Row, out) {
          out.op = BlockOp.read;
          out.offsetBytes = row.uint(0, 'block') * 4096;
          out.lengthBytes = 4096;
          out.timeNs = 0;
          return true;
        },
      }),
    };
    const trace = await read('7\n9\n', { format: 'own', formats: [...traceFormats, own] });
    expect(Array.from(trace.offsetsBytes)).toEqual([7 * 4096, 9 * 4096]);
  });

  test('names of traces', () => {
    expect(traceName('/a/b/web_0.msr.csv.gz')).toBe('web_0');
    expect(traceName('C:\\x\\tpcc-small.trace')).toBe('tpcc-small');
    expect(traceName('.gz')).toBe('.gz');
  });
});

describe('what is refused', () => {
  test('an empty file, a file of empty lines, one without requests', async () => {
    expect((await failure('')).message).toBe('web.csv: the file is empty');
    expect((await failure('\n\n')).code).toBe('ERR_TRACE_EMPTY');
    expect((await failure('1 0 0 0 0\n')).message).toBe('web.csv: the trace holds nothing but requests of length zero');
    expect((await failure('\n', { format: 'msr' })).message).toBe('web.csv: the trace holds no requests');
    expect((await failure('x\n', { format: 'msr', badLines: 'skip' })).message).toContain(
      'every line was skipped as bad (1 in all)',
    );
  });

  test('gzip that ends early, wherever it is cut', async () => {
    const zipped = gzipSync(bytes(msr.repeat(100)));
    for (const keep of [3, 10, 12, Math.floor(zipped.length / 2), zipped.length - 9, zipped.length - 1]) {
      const error = await failure(zipped.subarray(0, keep));
      expect(error.code, `${keep} bytes`).toBe('ERR_TRACE_COMPRESSION');
      expect(error.message).toBe('web.csv: the gzip data ends early: the file is truncated');
    }
  });

  test('gzip that is damaged', async () => {
    const zipped = gzipSync(bytes(msr.repeat(100)));
    zipped[zipped.length - 6] ^= 1;
    const error = await failure(zipped);
    expect(error.code).toBe('ERR_TRACE_COMPRESSION');
    expect(error.message).toContain('damaged');
  });

  test('damage is told, not the wrong text that came of it', async () => {
    // Stored blocks, so that a changed byte changes the text and nothing else.
    const zipped = gzipSync(bytes(`${msr}\n`.repeat(100)), { level: 0 });
    zipped[zipped.indexOf(','.charCodeAt(0), 2000)] = 'x'.charCodeAt(0);
    for (const badLines of ['fail', 'skip'] as const) {
      expect((await failure(zipped, { badLines })).code).toBe('ERR_TRACE_COMPRESSION');
    }
  });

  test('a bad line of a gzip trace', async () => {
    const text = `${msr}\n`.repeat(30_000);
    const error = await failure(gzipSync(bytes(`${msr}\nx\n${text}`)), { format: 'msr' });
    expect(error.position?.line).toBe(3);
  });

  test.each([
    ['msr', `${msr}\n128166372003061629,web,0,Read,7014609920,-4096,41286`, 3, 42, 'size is negative'],
    ['msr', '128166372003061629,web,0,Read,7014609920', 1, 41, 'the line has 5 columns, at least 6 are needed'],
    ['msr', '128166372003061629,web,0,Trim,0,4096,1', 1, 26, 'type is neither Read nor Write but "Trim"'],
    ['msr', '128166372003061629,web,0,Read,12x,4096,1', 1, 31, 'offset is not a whole number'],
    ['msr', '128166372003061629,web,0,Read,,4096,1', 1, 31, 'offset is empty'],
    [
      'msr',
      '128166372003061629,web,0,Read,99999999999999999999,4096,1',
      1,
      31,
      'offset is too large (the limit is 2^53)',
    ],
    ['msr', '128166372003061629,web,0,Read,0,4294967296,1', 1, 33, 'size is 4 GiB or more'],
    [
      'msr',
      '1,web,0,Read,0,1,1\n128166372003061629,web,0,Read,0,1,1',
      2,
      1,
      'time is more than 104 days from that of the first line',
    ],
    ['mqsim', '1 2 3 4 5', 1, 9, 'type is neither 0 (write) nor 1 (read) but "5"'],
    ['mqsim', '1 2 3 4', 1, 8, 'the line has 4 columns, at least 5 are needed'],
    ['mqsim', '1 2 -3 4 1', 1, 5, 'sector is negative'],
    ['mqsim', '1 2 3 8388608 1', 1, 7, 'sectors make 4 GiB or more'],
  ])('%s: %s', async (format, text, line, column, message) => {
    const error = await failure(text, { format });
    expect(error.code).toBe('ERR_TRACE_LINE');
    expect(error.message).toBe(`web.csv:${line}:${column}: ${message}`);
    expect(error.position).toMatchObject({ file: 'web.csv', line, column, text: text.split('\n')[line - 1] });
    expect(error.hints.join()).toContain(`(format ${format}, as named)`);
  });

  test('a trace that no format fits with certainty', async () => {
    const letters = await failure('0.1;130944;8;1\n3.9;131056;8;1\n');
    expect(letters.code).toBe('ERR_TRACE_FORMAT');
    expect(letters.message).toContain('no known format fits with certainty');
    expect(letters.hints.join('\n')).toContain('First line: 0.1;130944;8;1');
    // Most lines must fit one format, and none another.
    expect((await failure(`${mqsim}0.1 1 2 3 2\n0.5 1 2 3 1\n`)).code).toBe('ERR_TRACE_FORMAT');
    expect((await failure(`${mqsim}${mqsim}${msr}\n`)).code).toBe('ERR_TRACE_FORMAT');
    const twice = await failure(mqsim, { formats: [...traceFormats, { ...mqsimFormat, name: 'twin' }] });
    expect(twice.message).toMatch(/several formats fit: mqsim \(5 columns.*\) and twin \(5 columns/);
  });

  test.each([
    ['128166372003061629,web,0,Read', 'the line has 4 columns, at least 6 are needed', 30],
    ['128166372003061629,web,0,Write,-4096,4096,0', 'offset is negative', 32],
  ])('a bad line among the first, of a format that the others make certain: %s', async (line, message, column) => {
    const text = `${msr}\n${line}\n${msr}\n`;
    const error = await failure(text);
    expect([error.code, error.message]).toEqual(['ERR_TRACE_LINE', `web.csv:3:${column}: ${message}`]);
    const trace = await read(text, { badLines: 'skip' });
    expect([trace.format, trace.length, trace.badLines]).toEqual(['msr', 4, 1]);
  });

  test('no byte of a file steers the terminal that shows the message', async () => {
    const { message, hints } = await failure(Uint8Array.from({ length: 256 }, (_, i) => (i === 10 ? 65 : i)));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(message + hints.join('')).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  });

  test('the wrong format, named', async () => {
    const error = await failure(mqsim, { format: 'msr' });
    expect(error.message).toBe('web.csv:1:22: the line has 1 column, at least 6 are needed');
    expect(error.hints.join('\n')).toContain('The file looks like mqsim');
  });

  test('an unknown format, with the nearest name', async () => {
    const error = await failure(msr, { format: 'mrs' });
    expect(error.message).toBe('unknown trace format "mrs"');
    expect(error.hints).toEqual([
      `Did you mean msr? Known formats: ${traceFormats.map((format) => format.name).join(', ')}, auto.`,
    ]);
  });

  test('a binary file and endless lines', async () => {
    expect((await failure(new Uint8Array(200_000).fill(7))).code).toBe('ERR_TRACE_FORMAT');
    const decoder = new TraceDecoder('x', { format: 'msr' });
    expect(() => decoder.push(new Uint8Array(70_000).fill(65))).toThrow('x:1: no end of line in 64 KiB');
  });
});

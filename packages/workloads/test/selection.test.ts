import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { BlockOp } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import { InputError } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import {
  type PatternOptions,
  patternFormat,
  type ReadTraceOptions,
  readTrace,
  type Trace,
  TraceError,
} from '../src/index.js';
import { openTrace } from '../src/node/index.js';

async function read(text: string, options: ReadTraceOptions = {}): Promise<Trace> {
  async function* once(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(text);
  }
  return (await readTrace(once(), 'x', options)).trace;
}

describe('volumes', () => {
  test.each([
    ['msr', ['1281663720030616{},web,{},Read,0,4096,1'], '3'],
    ['systor17', ['145630000{}.5,0.001,R,{},4096,4096'], '3'],
    ['alibaba', ['{1},R,8792731648,16384,157780814436076{}'], '3'],
    ['tencent', ['153832320{},12910952,128,0,{}'], '3'],
    ['spc', ['{1},20941264,8192,W,{}.5'], '3'],
    ['disksim', ['{}.5 {} 130944 8 1'], '3'],
    ['mqsim', ['{} {} 130944 8 1'], '3'],
  ])('%s: those named, and no other', async (format, [template], volume) => {
    // Line i goes to volume i modulo 5.
    const line = (i: number): string => {
      const values = template.includes('{1}') ? [i] : [i, i % 5];
      return template.replaceAll('{1}', String(i % 5)).replace(/\{\}/g, () => String(values.shift()).padStart(1, '0'));
    };
    const text = Array.from({ length: 9 }, (_, i) => line(i + (format === 'msr' ? 10 : 0))).join('\n');
    const all = await read(text, { format });
    const one = await read(text, { format, volumes: [volume] });
    const two = await read(text, { format, volumes: [volume, '1'] });
    expect([all.length, one.length, two.length]).toEqual([
      9,
      Array.from(all.flows).filter((flow) => flow === 3).length,
      4,
    ]);
    expect(new Set(one.flows)).toEqual(new Set([3]));
    expect([one.unselected, two.unselected]).toEqual([9 - one.length, 5]);
  });

  test('of an iolog are its files', async () => {
    const text = 'fio version 3 iolog\n1 a add\n1 b add\n2 a read 0 4096\n3 b write 4096 512\n4 a trim 0 512\n';
    const b = await read(text, { volumes: ['b'] });
    expect([b.length, b.ops[0], b.unselected]).toEqual([1, BlockOp.write, 2]);
    await expect(read(text, { volumes: ['c'] })).rejects.toThrow('x: the trace holds no requests to a volume "c"');
  });

  test('of kernel traces are device numbers, and names that are wrong get help', async () => {
    const url = fixtureUrl('f2fs-tar-extract.blktrace.gz');
    const all = (await openTrace(url)).trace;
    const { trace, volumeName } = await openTrace(url, { volumes: ['254,0'] });
    expect([trace.length, volumeName(trace.flows[0])]).toEqual([all.length, '254,0']);
    const error = await openTrace(url, { volumes: ['254,1'] }).catch((caught: unknown) => caught as TraceError);
    expect(error).toBeInstanceOf(TraceError);
    expect(error).toMatchObject({ code: 'ERR_TRACE_VOLUME', hints: ['Did you mean 254,0? It holds 254,0.'] });
    const partly = openTrace(url, { volumes: ['254,0', '8,0'] });
    await expect(partly).rejects.toThrow('the trace holds no requests to a volume "8,0"');
  });
});

describe('limit', () => {
  test('takes the first requests and reads no further', async () => {
    let pieces = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        pieces++;
        yield new TextEncoder().encode('1000 0 8 8 1\n'.repeat(10_000));
      }
    }
    const { trace } = await readTrace(endless(), 'x', { format: 'mqsim', limit: 25_000 });
    expect([trace.length, pieces]).toEqual([25_000, 3]);
  });

  test('counts those selected', async () => {
    const text = Array.from({ length: 100 }, (_, i) => `${i} ${i % 2} 8 8 1`).join('\n');
    const trace = await read(text, { limit: 10, volumes: ['1'] });
    expect(Array.from(trace.timesNs)).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
    // A limit reached before a volume appears is no mistake.
    expect((await read(text, { limit: 1, volumes: ['0', '7'] })).length).toBe(1);
  });
});

describe('files of blktrace for each CPU', () => {
  test('are one trace in order of time', async () => {
    const folder = mkdtempSync(`${tmpdir()}/flashstack-merge-`);
    const whole = gunzipSync(readFileSync(fixtureUrl('f2fs-tar-extract.blktrace.gz')));
    // Every record goes to one of three files, as if its CPU had written it.
    const parts: Buffer[][] = [[], [], []];
    for (let at = 0, n = 0; at < whole.length; n++) {
      const length = 48 + whole.readUInt16LE(at + 46);
      parts[(n * 7) % 3].push(whole.subarray(at, at + length));
      at += length;
    }
    const files = parts.map((records, i) => {
      writeFileSync(`${folder}/sda.blktrace.${i}`, Buffer.concat(records));
      return `${folder}/sda.blktrace.${i}`;
    });
    const merged = (await openTrace(files)).trace;
    const one = (await openTrace(fixtureUrl('f2fs-tar-extract.blktrace.gz'))).trace;
    for (const column of ['ops', 'offsetsBytes', 'lengthsBytes', 'timesNs', 'flags'] as const) {
      expect(Array.from(merged[column]), column).toEqual(Array.from(one[column]));
    }
    expect(Array.from((await openTrace(files, { limit: 10 })).trace.timesNs)).toEqual(
      Array.from(one.timesNs.subarray(0, 10)),
    );
    await expect(openTrace([])).rejects.toThrow('name at least one trace file');
    writeFileSync(`${folder}/b`, '1000 0 8 8 1\n');
    await expect(openTrace([files[0], `${folder}/b`])).rejects.toThrow('a trace of format mqsim cannot be merged');
    rmSync(folder, { recursive: true });
  });
});

describe('a line format of the user', () => {
  const options: PatternOptions = {
    pattern: '(?<time>[\\d.]+) (?<op>\\w+) (?<volume>\\S+) (?<offset>\\d+)\\+(?<length>\\d+)',
    timeUnit: 'ms',
    offsetUnitBytes: 512,
    lengthUnitBytes: 512,
    ignore: '#',
  };

  test('by regular expression with named groups and units', async () => {
    const text = '# comment\n10.000001 R sda 8+8 (rest)\n12.5 Write sdb 0+1\n13 FLUSH sda 0+0\n14 trim sda 16+8\n';
    const trace = await read(text, { format: patternFormat(options) });
    expect(trace.format).toBe('pattern');
    expect(Array.from(trace.ops)).toEqual([BlockOp.read, BlockOp.write, BlockOp.flush, BlockOp.discard]);
    expect(Array.from(trace.timesNs)).toEqual([0, 2_499_999, 2_999_999, 3_999_999]);
    expect(Array.from(trace.offsetsBytes)).toEqual([4096, 0, 0, 8192]);
    expect(Array.from(trace.lengthsBytes)).toEqual([4096, 512, 0, 4096]);
    expect(Array.from(trace.flows)).toEqual([0, 1, 0, 0]);
    expect((await read(text, { format: patternFormat(options), volumes: ['sdb'] })).length).toBe(1);
  });

  test('numbers as words mean what the user says', async () => {
    const pattern = /(?<op>[01]),(?<offset>\d+),(?<length>\d+)/;
    const ones = patternFormat({ pattern, words: { read: ['1'], write: ['0'] } });
    expect(Array.from((await read('1,0,512\n0,512,512\n', { format: ones })).ops)).toEqual([
      BlockOp.read,
      BlockOp.write,
    ]);
    await expect(read('1,0,512\n', { format: patternFormat({ pattern }) })).rejects.toThrow(
      'x:1:1: op is "1", which is none of the words r, read, w,',
    );
  });

  test('lines that do not match are errors, or counted', async () => {
    const text = '10 R sda 8+8\nnonsense\n11 R sda 8+8\n';
    const error = await read(text, { format: patternFormat(options) }).catch((caught: unknown) => caught as TraceError);
    expect(error).toMatchObject({ code: 'ERR_TRACE_LINE', message: 'x:2:1: the line does not match the pattern' });
    const trace = await read(text, { format: patternFormat(options), badLines: 'skip' });
    expect([trace.length, trace.badLines]).toEqual([2, 1]);
    const nothing = read('nonsense\n', { format: patternFormat(options), badLines: 'skip' });
    await expect(nothing).rejects.toThrow('every line was skipped as bad (1 in all)');
  });

  test.each<[Partial<PatternOptions>, string]>([
    [{ pattern: '(' }, 'the pattern is no regular expression'],
    [
      { pattern: '(?<op>.)(?<ofset>.)(?<length>.)' },
      'has a group "ofset"; known groups are time, op, offset, length, volume. Did you mean offset?',
    ],
    [{ pattern: '(?<op>.)(?<offset>.)' }, 'the pattern has no group (?<length>…)'],
    [{ timeUnit: 'h' as 's' }, 'timeUnit: "h" is no unit of time; there are s, ms, us, 100ns, ns'],
    [{ offsetUnitBytes: 0 }, 'offsetUnitBytes: must be a whole number of at least 1, found 0'],
    [{ words: { read: ['x'], write: ['X'] } }, 'words: the word "X" stands for two kinds of operation'],
  ])('%j is refused', (wrong, message) => {
    expect(() => patternFormat({ ...options, ...wrong })).toThrow(InputError);
    expect(() => patternFormat({ ...options, ...wrong })).toThrow(message);
  });
});

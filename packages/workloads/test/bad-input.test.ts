import { existsSync, lstatSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { BlockOp } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import { afterAll, describe, expect, test } from 'vitest';
import {
  convertTrace,
  Operation,
  type ReadTraceOptions,
  readTrace,
  type Trace,
  TraceEncoder,
  TraceError,
  type TraceFormat,
  traceFormats,
} from '../src/index.js';
import { convertFile, openTrace } from '../src/node/index.js';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* inPieces(data: Uint8Array, size = 1 << 16): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.length; at += size) yield data.subarray(at, at + size);
}

async function read(data: Uint8Array | string, options: ReadTraceOptions = {}): Promise<Trace> {
  return (await readTrace(inPieces(typeof data === 'string' ? bytes(data) : data), 'web.csv', options)).trace;
}

async function failure(data: Uint8Array | string, options: ReadTraceOptions = {}): Promise<TraceError> {
  const outcome = await read(data, options).then(
    () => null,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(TraceError);
  return outcome as TraceError;
}

/** Two good lines of each text format. */
const good: Readonly<Record<string, readonly string[]>> = {
  msr: ['128166372003061629,web,0,Read,7014609920,4096,41286', '128166372003061630,web,0,Write,0,512,1'],
  systor17: ['1456300000.5,0.001,R,0,4096,4096', '1456300001.25,,W,1,0,512'],
  alibaba: ['419,W,8792731648,16384,1577808144360767', '725,R,59110326272,360448,1577808144360813'],
  tencent: ['1538323200,12910952,128,0,1063', '1538323200,6338688,8,1,1627'],
  spc: ['0,20941264,8192,W,0.551706', '1,20939840,8192,r,0.554041,extra'],
  disksim: ['0.000000 0 130944 8 1', '3.946194 1 131056 8 0'],
  mqsim: ['1000 4 264719034 16 0', '2000 3 197570570 16 1'],
  'fio-iolog': ['fio version 3 iolog', '0 dev add', '10 dev read 4096 4096', '20 dev sync 0 0'],
  blkparse: [
    '  8,0    3        1     0.000000000   697  D   R 223490 + 8 [kjournald]',
    '  8,0    3        2     0.000001829   697  D  FN [kjournald]',
  ],
  fiu: [
    '0 4892 syslogd 904265560 8 W 6 0 531e779e9a9ee1dd18a3a0b1a8e3bc25',
    '39064 4892 my daemon 904265576 8 R 6 0 6a2b3f8be6b0ac2b5ad8b7a1ad1d1c12',
  ],
  hfplayer: ['0.5,0,4096,4096,1', '1.25,0,8192,512,0'],
};
const textFormats = traceFormats.filter((format) => format.kind === 'text');

test('there are good lines for every text format', () => {
  expect(Object.keys(good).sort()).toEqual(textFormats.map((format) => format.name).sort());
});

describe.each(textFormats.map((format) => [format.name, format] as const))('%s', (name) => {
  const lines = good[name];
  const text = `${lines.join('\n')}\n`;
  const repeated = `${text}${lines.slice(name === 'fio-iolog' ? 2 : 0).join('\n')}\n`;

  test('is recognised, and by name gives the same', async () => {
    const found = await read(text);
    expect(found.format).toBe(name);
    expect((await read(text, { format: name })).length).toBe(found.length);
  });

  test('an empty file', async () => {
    expect((await failure('', { format: name })).message).toBe('web.csv: the file is empty');
    const blank = await failure('\n\n', { format: name });
    expect([blank.code, blank.message]).toEqual(['ERR_TRACE_EMPTY', 'web.csv: the trace holds no requests']);
  });

  test('gzip that ends early', async () => {
    const zipped = gzipSync(bytes(repeated.repeat(50)), { level: 1 });
    const error = await failure(zipped.subarray(0, zipped.length - 9), { format: name });
    expect([error.code, error.message]).toEqual([
      'ERR_TRACE_COMPRESSION',
      'web.csv: the gzip data ends early: the file is truncated',
    ]);
  });

  test('another format than the one named', async () => {
    const other = name === 'msr' ? 'mqsim' : 'msr';
    const error = await failure(`${good[other].join('\n')}\n`, { format: name });
    expect(error.code).toBe('ERR_TRACE_LINE');
    expect(error.message).toMatch(/^web\.csv:1:\d+: /);
    expect(error.hints.join('\n')).toContain(`The file looks like ${other}`);
  });

  test('too few columns', async () => {
    const cut = lines[lines.length - 2]
      .split(/[ ,]+/)
      .filter((field) => field !== '')
      .slice(0, 2);
    const separator = lines[lines.length - 2].includes(' ') ? ' ' : ',';
    const error = await failure(`${text}${cut.join(separator)}\n`, { format: name });
    expect(error.code).toBe('ERR_TRACE_LINE');
    expect(error.message).toMatch(
      new RegExp(`^web\\.csv:${lines.length + 1}:\\d+: the line has \\d columns?, at least \\d+ are needed$`),
    );
    expect(error.position).toMatchObject({ line: lines.length + 1 });
    expect(error.hints.join()).toContain(`(format ${name}, as named)`);
  });

  test('a line without an end', async () => {
    const error = await failure(`${text}${'9'.repeat(70_000)}`, { format: name });
    expect(error.message).toBe(`web.csv:${lines.length + 1}: no end of line in 64 KiB`);
    expect((await failure(`${text}${'9'.repeat(200_000)}\n`, { format: name })).message).toBe(error.message);
  });

  test('binary garbage', async () => {
    const garbage = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919 + (i >> 3)) & 0xff);
    const named = await failure(garbage, { format: name });
    expect(named.code).toBe('ERR_TRACE_LINE');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(named.message + named.hints.join('')).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
    expect((await failure(garbage)).code).toBe('ERR_TRACE_FORMAT');
  });

  test('bad lines are skipped and counted if that is asked for', async () => {
    const trace = await read(`${text}rubbish\n${repeated.slice(text.length)}`, { format: name, badLines: 'skip' });
    expect(trace.badLines).toBe(1);
    expect(trace.firstBadLine).toContain(`web.csv:${lines.length + 1}:`);
    expect(trace.length).toBe((await read(repeated, { format: name })).length);
  });
});

describe('columns that are wrong', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['systor17', '1456300000.x,0.001,R,0,4096,4096', '1: time is not a number'],
    ['systor17', '-1.5,0.001,R,0,4096,4096', '1: time is negative'],
    ['systor17', '1456300000.5,fast,R,0,4096,4096', '14: response is not a number'],
    ['systor17', '1456300000.5,0.001,R,0,-1,4096', '24: offset is negative'],
    ['systor17', '1456300000.5,0.001,R,0,4096,4k', '29: size is not a whole number'],
    ['systor17', '1456300000.5,0.001,7,0,4096,4096', '20: type is not a letter but "7"'],
    ['alibaba', '419,X,8792731648,16384,1577808144360767', '5: opcode is neither R nor W but "X"'],
    ['alibaba', '419,R,8792731648,-5,1577808144360767', '18: length is negative'],
    ['alibaba', 'a,R,8792731648,5,1577808144360767', '1: device is not a whole number'],
    ['tencent', '1538323200,12910952,128,2,1063', '25: type is neither 0 (read) nor 1 (write) but "2"'],
    ['tencent', '1538323200,99999999999999999,128,0,1063', '12: sector is too large (the limit is 2^53)'],
    ['tencent', '1538323200,9007199254740991,128,0,1063', '12: sector is too large (the limit is 2^53 bytes)'],
    ['tencent', '1538323200,12910952,128,0,4294967296', '27: volume is too large (the limit is 2^32)'],
    ['alibaba', '4294967715,R,8792731648,5,1577808144360767', '1: device is too large (the limit is 2^32)'],
    ['spc', '0,20941264,8192,Q,0.551706', '17: opcode is neither R nor W but "Q"'],
    ['spc', '0,20941264,8192,W,0.55e3', '19: time is not a number'],
    ['disksim', '0.000000 0 130944 8 read', '21: flags is not a hexadecimal number but "read"'],
    ['disksim', '0.000000 0 -130944 8 1', '12: sector is negative'],
    [
      'fio-iolog',
      'fio version 3 iolog\n5 dev erase 0 4096',
      '7: action is not read, write, trim, sync, datasync, add, open or close but "erase"',
    ],
    ['fio-iolog', 'fio version 4 iolog', '1: the first line is not "fio version 2 iolog" or "fio version 3 iolog"'],
    ['fio-iolog', 'fio version 3 iolog\n5 dev read 0 -1', '14: length is negative'],
    [
      'blkparse',
      '  8,0 3 1 0.000000000 697 D XX 223490 + 8 [k]',
      '29: RWBS is "XX", expected R, W, D or N after an optional F',
    ],
    ['blkparse', '  8:0 3 1 0.000000000 697 D R 223490 + 8 [k]', '3: device is "8:0", expected major,minor'],
    ['blkparse', '  8,0 3 1 0.000000000 697 D R -1 + 8 [k]', '31: sector is negative'],
    [
      'blkparse',
      '  7,1048576 3 1 0.000000000 697 D R 8 + 8 [k]',
      '3: there is no device 7,1048576: major numbers have 12 bits, minor ones 20',
    ],
    ['fiu', '0 4892 syslogd 904265560 8 T 6 0 531e779e9a9ee1dd18a3a0b1a8e3bc25', '28: type is neither R nor W but "T"'],
    ['hfplayer', '0.5,0,4096,4096,2', '17: type is neither 0 (write) nor 1 (read) but "2"'],
    ['hfplayer', '0.5,0,4096,,1', '12: size is empty'],
  ];
  test.each(cases)('%s: %s', async (format, text, message) => {
    const error = await failure(text, { format });
    expect(error.code).toBe('ERR_TRACE_LINE');
    expect(error.message).toBe(`web.csv:${text.split('\n').length}:${message}`);
  });
});

describe('blktrace', () => {
  const format = traceFormats.find((candidate) => candidate.name === 'blktrace') as TraceFormat;
  const encoder = new TraceEncoder(format);
  for (let i = 0; i < 10; i++)
    encoder.add(Object.assign(new Operation(), { op: BlockOp.write, lengthBytes: 512, timeNs: i }));
  const whole = encoder.take();
  const changed = (at: number, value: number): Uint8Array => {
    const copy = whole.slice();
    copy[at] = value;
    return copy;
  };

  test('cut anywhere', async () => {
    for (const keep of [1, 47, 49, whole.length - 1]) {
      const error = await failure(whole.subarray(0, keep), { format: 'blktrace' });
      const record = Math.floor(keep / 48) + 1;
      expect(error.message).toBe(
        `web.csv: record ${record} at byte ${(record - 1) * 48}: the trace ends inside a record, ${keep % 48} bytes into it: the file is truncated`,
      );
    }
  });

  test('a record that is none, an unknown version, an empty file, text', async () => {
    expect((await failure(changed(96 + 3, 0))).message).toBe(
      'web.csv: record 3 at byte 96: no magic number of blktrace (0x656174…) but 0x00617407',
    );
    expect((await failure(changed(0, 8))).message).toBe(
      'web.csv: record 1 at byte 0: version 8 of blktrace, only version 7 is known',
    );
    expect((await failure('', { format: 'blktrace' })).message).toBe('web.csv: the file is empty');
    const text = await failure(good.mqsim.join('\n').repeat(10), { format: 'blktrace' });
    expect(text.message).toContain('record 1 at byte 0: no magic number of blktrace');
    expect((await failure(changed(96 + 3, 0), { badLines: 'skip' })).code).toBe('ERR_TRACE_LINE');
  });

  test('big-endian traces are read as well', async () => {
    const swapped = whole.slice();
    const widths = [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2];
    for (let at = 0; at < swapped.length; ) {
      for (const width of widths) {
        swapped.subarray(at, at + width).reverse();
        at += width;
      }
    }
    const [ours, theirs] = [await read(whole), await read(swapped)];
    expect(Array.from(theirs.timesNs)).toEqual(Array.from(ours.timesNs));
    expect(Array.from(theirs.lengthsBytes)).toEqual(Array.from(ours.lengthsBytes));
  });

  test('a trace without the action asked for', async () => {
    const error = await failure(whole, { action: 'Q' });
    expect(error.message).toBe('web.csv: the trace holds no requests');
    expect(error.hints).toEqual(['Only requests of action Q were taken; perhaps it recorded action D.']);
  });
});

describe('vscsi', () => {
  /** Serial, bytes, segments, command, version, sector, time in µs. */
  function record(command: number, lengthBytes: number, sector: number, timeUs: number): Uint8Array {
    const view = new DataView(new ArrayBuffer(32));
    view.setUint32(4, lengthBytes, true);
    view.setUint16(12, command, true);
    view.setUint16(14, 1 << 8, true);
    view.setBigUint64(16, BigInt(sector), true);
    view.setBigUint64(24, BigInt(timeUs), true);
    return new Uint8Array(view.buffer);
  }
  const joined = (...records: Uint8Array[]): Uint8Array => Uint8Array.from(records.flatMap((one) => Array.from(one)));

  test('reads, writes and flushes; other commands are counted', async () => {
    const start = 1.3e15;
    const records = joined(
      record(0x28, 4096, 8, start),
      record(0x8a, 512, 2 ** 33, start + 5),
      record(0x35, 0, 0, start + 6),
    );
    const trace = await read(records);
    expect(trace.format).toBe('vscsi');
    expect(Array.from(trace.ops)).toEqual([BlockOp.read, BlockOp.write, BlockOp.flush]);
    expect(Array.from(trace.offsetsBytes)).toEqual([4096, 2 ** 42, 0]);
    expect(Array.from(trace.timesNs)).toEqual([0, 5000, 6000]);
    const others = await read(joined(records, record(0x12, 36, 0, start)), { format: 'vscsi' });
    expect([others.length, others.otherRequests, others.firstOther]).toEqual([3, 1, 'record 4: SCSI command 0x12']);
  });

  test('what is none', async () => {
    const one = record(0x28, 4096, 8, 1);
    expect((await failure(one)).code).toBe('ERR_TRACE_FORMAT');
    const cut = await failure(joined(one, one).subarray(0, 40), { format: 'vscsi' });
    expect(cut.message).toContain('record 2 at byte 32: the trace ends inside a record, 8 bytes into it');
    const wrong = joined(one, record(0x4142, 1, 1, 1));
    expect((await failure(wrong, { format: 'vscsi' })).message).toBe(
      'web.csv: record 2 at byte 32: command 0x4142 is no SCSI operation code (one byte)',
    );
    const skipped = await read(wrong, { format: 'vscsi', badLines: 'skip' });
    expect([skipped.length, skipped.badLines]).toEqual([1, 1]);
    expect((await failure(record(0x12, 36, 0, 1), { format: 'vscsi' })).message).toBe(
      'web.csv: the trace holds no reads, writes, flushes or discards',
    );
  });
});

describe('zstd', () => {
  async function packed(text: string): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    await convertTrace(inPieces(bytes(text)), 'x', { to: 'mqsim', pack: 'zstd' }, (part) => {
      parts.push(part);
    });
    return Uint8Array.from(parts.flatMap((part) => Array.from(part)));
  }
  const text = Array.from({ length: 3000 }, (_, i) => `${i * 1000} 0 ${(i * 7919) % 10007} 8 ${i % 2}`).join('\n');

  test('that ends early, wherever it is cut', async () => {
    const whole = await packed(text);
    expect((await read(whole)).length).toBe(3000);
    for (const keep of [4, 5, 9, 12, Math.floor(whole.length / 2), whole.length - 1]) {
      const error = await failure(whole.subarray(0, keep));
      expect(error.code, `${keep} bytes`).toBe('ERR_TRACE_COMPRESSION');
      expect(error.message).toBe('web.csv: the zstd data ends early: the file is truncated');
    }
  });

  test('that is damaged', async () => {
    const whole = await packed(text);
    // Its literals, the header of its block, and what follows it.
    for (const [at, value] of [
      [5, 0xff],
      [whole.length - 3, whole[whole.length - 3] ^ 0xff],
    ]) {
      const copy = whole.slice();
      copy[at] = value;
      const error = await failure(copy);
      expect([error.code, error.message.includes('zstd data')], `byte ${at}`).toEqual(['ERR_TRACE_COMPRESSION', true]);
    }
    const more = new Uint8Array(whole.length + 20).fill(1);
    more.set(whole);
    expect((await failure(more)).message).toBe('web.csv: the zstd data is damaged (no frame starts where one should)');
  });

  test('that needs more than is offered', async () => {
    const dictionary = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x01, 0x58, 7, 1, 0, 0]);
    expect((await failure(dictionary)).message).toContain('needs a dictionary, which is not supported');
    const window = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x98, 1, 0, 0, 0]);
    expect((await failure(window)).message).toContain('needs a window of 2^29 bytes, more than 128 MiB');
  });

  test('several at a time do not mix', async () => {
    const [a, b] = [await packed(text), await packed(text.replaceAll(' 0\n', ' 1\n'))];
    const [first, second] = await Promise.all([readTrace(inPieces(a, 100), 'a'), readTrace(inPieces(b, 130), 'b')]);
    expect(first.trace.totals(BlockOp.write).requests).toBe(1500);
    expect(second.trace.totals(BlockOp.write).requests).toBe(0);
  });
});

describe('options', () => {
  const text = good.mqsim.join('\n').repeat(1);

  test.each([
    [{ limit: 0 }, 'limit must be a whole number of at least 1, found 0'],
    [{ limit: 1.5 }, 'limit must be a whole number of at least 1, found 1.5'],
    [{ volumes: [] }, 'volumes must name at least one volume, found none'],
    [{ action: 'X' as 'Q' }, 'action must be Q or D, found "X"'],
    [{ waitUnit: 's' as 'us' }, 'waitUnit must be us or ms, found "s"'],
  ])('%j', async (options, message) => {
    const error = await failure(text, options);
    expect([error.code, error.message]).toEqual(['ERR_TRACE_OPTION', message]);
  });
});

describe('files', () => {
  const folder = mkdtempSync(`${tmpdir()}/flashstack-traces-`);
  afterAll(() => rmSync(folder, { recursive: true }));
  const source = fixtureUrl('copy-remove.msr.csv.gz').pathname;

  test('that cannot be read', async () => {
    await expect(openTrace(`${folder}/none`)).rejects.toThrow('there is no such file');
    await expect(openTrace(`${folder}/none`)).rejects.toMatchObject({ code: 'ERR_TRACE_UNREADABLE' });
    await expect(openTrace(folder)).rejects.toMatchObject({ code: 'ERR_TRACE_UNREADABLE' });
    // Linux maps nothing at its start: the file is there and the reading fails, also for root.
    const failing = '/proc/self/mem';
    if (existsSync(failing)) await expect(openTrace(failing)).rejects.toMatchObject({ code: 'ERR_TRACE_DENIED' });
    await expect(openTrace(folder)).rejects.toThrow('this is a folder, not a trace file');
  });

  test('are converted by their names, and appear whole', async () => {
    const report = await convertFile(source, `${folder}/a.spc.txt.gz`);
    expect(report).toMatchObject({ format: 'spc', written: 258 });
    expect(existsSync(`${folder}/a.spc.txt.gz.part`)).toBe(false);
    const { trace } = await openTrace(`${folder}/a.spc.txt.gz`);
    expect(trace.length).toBe(258);
    expect(report.bytes).toBe(readFileSync(`${folder}/a.spc.txt.gz`).length);
  });

  test('that cannot be written', async () => {
    await expect(convertFile(source, `${folder}/none/a.spc.txt`)).rejects.toThrow(
      'cannot be written: there is no such file or folder',
    );
    await expect(convertFile(source, `${folder}/a.unknown`)).rejects.toThrow(
      'the name does not tell the format to write',
    );
    writeFileSync(`${folder}/bad.csv`, 'rubbish\n');
    await expect(convertFile(`${folder}/bad.csv`, `${folder}/b.spc.txt`)).rejects.toThrow('not recognised');
    expect([existsSync(`${folder}/b.spc.txt`), existsSync(`${folder}/b.spc.txt.part`)]).toEqual([false, false]);
  });

  test.skipIf(!existsSync('/dev/full'))('that are devices or pipes are written to, not replaced', async () => {
    const pipe = `${folder}/pipe.spc.txt`;
    symlinkSync('/dev/null', pipe);
    expect((await convertFile(source, pipe)).written).toBe(258);
    expect(lstatSync(pipe).isSymbolicLink()).toBe(true);
    const full = `${folder}/full.spc.txt`;
    symlinkSync('/dev/full', full);
    await expect(convertFile(source, full)).rejects.toThrow('cannot be written: the disk is full');
    expect(lstatSync(full).isSymbolicLink()).toBe(true);
    expect(existsSync(`${pipe}.part`)).toBe(false);
  });

  test.skipIf(!existsSync('/dev/full'))('on a full disk', async () => {
    symlinkSync('/dev/full', `${folder}/c.spc.txt.${process.pid}.part`);
    await expect(convertFile(source, `${folder}/c.spc.txt`)).rejects.toThrow('cannot be written: the disk is full');
    expect(existsSync(`${folder}/c.spc.txt`)).toBe(false);
  });
});

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { BlockFlag, BlockOp } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import { describe, expect, test } from 'vitest';
import type { Trace } from '../src/index.js';
import { openTrace } from '../src/node/index.js';

interface Totals {
  requests: number;
  read: { requests: number; bytes: number };
  write: { requests: number; bytes: number };
  flushes: number;
  end_byte: number;
  duration_ns: number;
  sha256_of_ops: string;
}

/** What the independent script counted in a binary block trace. */
interface BlockCounts {
  issued: Record<'read' | 'write' | 'discard' | 'flush', { requests: number; bytes: number }>;
  events: Record<string, number>;
  issued_fua_writes: number;
  issued_sync_writes: number;
  min_sector: number;
  end_sector: number;
  write_size_histogram: Record<string, number>;
}

// More samples than the fixtures hold lie beside this checkout; some must not be copied into it.
const samples = new URL('../../../../shared/data/workloads/', import.meta.url);
const present = existsSync(samples);
if (!present) console.warn('SKIPPED: the larger samples of traces are not beside this checkout');

/** The hash that the totals hold, over the reads and writes as this reader sees them. */
function hashOf(trace: Trace): string {
  const lines: string[] = [];
  for (let i = 0; i < trace.length; i++) {
    if (trace.ops[i] > BlockOp.write) continue;
    const letter = trace.ops[i] === BlockOp.read ? 'R' : 'W';
    lines.push(`${letter} ${trace.offsetsBytes[i]} ${trace.lengthsBytes[i]}`);
  }
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

function jsonOf<T>(url: URL): T {
  return JSON.parse(readFileSync(url, 'utf8')) as T;
}

function expectTotals(trace: Trace, totals: Totals): void {
  expect(trace.totals(BlockOp.read)).toEqual(totals.read);
  expect(trace.totals(BlockOp.write)).toEqual(totals.write);
  expect(trace.endByte).toBe(totals.end_byte);
  expect(hashOf(trace)).toBe(totals.sha256_of_ops);
}

function expectCounts(trace: Trace, counts: BlockCounts): void {
  const { read, write, discard, flush } = counts.issued;
  expect(trace.totals(BlockOp.read)).toEqual(read);
  expect(trace.totals(BlockOp.write)).toEqual(write);
  expect(trace.totals(BlockOp.discard)).toEqual(discard);
  expect(trace.totals(BlockOp.flush)).toEqual(flush);
  expect(trace.endByte).toBe(counts.end_sector * 512);
  const sizes: Record<string, number> = {};
  let fua = 0;
  let sync = 0;
  for (let i = 0; i < trace.length; i++) {
    if (trace.ops[i] !== BlockOp.write) continue;
    sizes[trace.lengthsBytes[i]] = (sizes[trace.lengthsBytes[i]] ?? 0) + 1;
    if ((trace.flags[i] & BlockFlag.fua) !== 0) fua++;
    if ((trace.flags[i] & BlockFlag.sync) !== 0) sync++;
  }
  expect(sizes).toEqual(counts.write_size_histogram);
  expect([fua, sync]).toEqual([counts.issued_fua_writes, counts.issued_sync_writes]);
}

function expectEqual(a: Trace, b: Trace): void {
  for (const column of ['ops', 'offsetsBytes', 'lengthsBytes', 'timesNs', 'flags', 'flows', 'responsesNs'] as const) {
    expect(Array.from(a[column] ?? []), column).toEqual(Array.from(b[column] ?? []));
  }
}

/** Endings of the files that hold one list of operations, the format, and the step of its times. */
const conversions: readonly (readonly [string, string, number])[] = [
  ['msr.csv.gz', 'msr', 100],
  // Written from a double of seconds since 1970, whose steps are 238 ns.
  ['systor17.csv.gz', 'systor17', 238],
  ['alibaba.csv.gz', 'alibaba', 1000],
  ['tencent.csv.gz', 'tencent', 1e9],
  ['spc.txt.gz', 'spc', 1000],
  ['disksim.txt.gz', 'disksim', 1],
  ['mqsim.txt.gz', 'mqsim', 1],
  ['fio-v3.iolog.gz', 'fio-iolog', 1000],
];

async function checkConversion(file: URL, totals: Totals, format: string, tick: number): Promise<void> {
  const { trace, evidence } = await openTrace(file);
  expect([trace.format, evidence.startsWith('recognised')]).toEqual([format, true]);
  expectTotals(trace, totals);
  expect(trace.totals(BlockOp.flush).requests).toBe(format === 'fio-iolog' ? totals.flushes : 0);
  // The list may end with a flush, which only the iolog holds; the times of the others end with the last request.
  if (format !== 'fio-iolog') expect(Math.abs(trace.spanNs - totals.duration_ns)).toBeLessThanOrEqual(tick);
}

describe('recorded traces give the totals of the independent script', () => {
  test.each(['sqlite-delete', 'postgres', 'git-clone-commit'])('%s (msr)', async (name) => {
    const { trace, evidence } = await openTrace(fixtureUrl(`${name}.msr.csv.gz`));
    const totals = jsonOf<Totals>(fixtureUrl(`${name}.msr.json`));
    expectTotals(trace, totals);
    expect(trace.length).toBe(totals.requests);
    expect(trace.name).toBe(name);
    expect(trace.format).toBe('msr');
    expect(evidence).toContain('recognised');
    // The format counts in 100 ns.
    expect(trace.spanNs).toBe(Math.floor(totals.duration_ns / 100) * 100);
  });

  test.each(conversions)('copy-remove.%s', async (ending, format, tick) => {
    const totals = jsonOf<Totals>(fixtureUrl('copy-remove.converted.json'));
    await checkConversion(fixtureUrl(`copy-remove.${ending}`), totals, format, tick);
  });

  test.each(['copy-remove', 'f2fs-tar-extract'])('%s (blktrace)', async (name) => {
    const { trace } = await openTrace(fixtureUrl(`${name}.blktrace.gz`));
    expect(trace.format).toBe('blktrace');
    expectCounts(trace, jsonOf<BlockCounts>(fixtureUrl(`${name}.blktrace.json`)));
  });

  test('the operations of a binary block trace are those converted from it', async () => {
    const { trace } = await openTrace(fixtureUrl('copy-remove.blktrace.gz'));
    const totals = jsonOf<Totals>(fixtureUrl('copy-remove.converted.json'));
    expectTotals(trace, totals);
    expect(trace.totals(BlockOp.flush).requests).toBe(totals.flushes);
  });

  test.each(['Q', 'D'] as const)('blkparse text is equal to the binary trace, action %s', async (action) => {
    const text = (await openTrace(fixtureUrl('f2fs-tar-extract.blkparse.txt.gz'), { action })).trace;
    const binary = (await openTrace(fixtureUrl('f2fs-tar-extract.blktrace.gz'), { action })).trace;
    expect(text.format).toBe('blkparse');
    expectEqual(text, binary);
    const counts = jsonOf<BlockCounts>(fixtureUrl('f2fs-tar-extract.blktrace.json'));
    expect(text.length + text.otherRequests).toBe(counts.events[action]);
  });

  test('both formats of one trace give equal columns, times to 100 ns', async () => {
    const msr = (await openTrace(fixtureUrl('fio-fsync.msr.csv.gz'))).trace;
    const mqsim = (await openTrace(fixtureUrl('fio-fsync.mqsim.txt.gz'))).trace;
    expect(Array.from(msr.ops)).toEqual(Array.from(mqsim.ops));
    expect(Array.from(msr.offsetsBytes)).toEqual(Array.from(mqsim.offsetsBytes));
    expect(Array.from(msr.lengthsBytes)).toEqual(Array.from(mqsim.lengthsBytes));
    for (let i = 0; i < msr.length; i++) {
      expect(Math.floor(mqsim.timesNs[i] / 100) * 100).toBe(msr.timesNs[i]);
    }
  });

  test('every column agrees with a naive reader that uses BigInt', async () => {
    const text = gunzipSync(readFileSync(fixtureUrl('postgres.msr.csv.gz'))).toString();
    const rows = text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    const first = BigInt(rows[0][0]);
    const { trace } = await openTrace(fixtureUrl('postgres.msr.csv.gz'));
    const naive = rows.map((row) => [
      Number((BigInt(row[0]) - first) * 100n),
      Number(row[4]),
      Number(row[5]),
      row[3] === 'Read' ? BlockOp.read : BlockOp.write,
      Number(row[6]) * 100,
    ]);
    const responses = trace.responsesNs ?? new Float64Array(trace.length);
    const ours = naive.map((_, i) => [
      trace.timesNs[i],
      trace.offsetsBytes[i],
      trace.lengthsBytes[i],
      trace.ops[i],
      responses[i],
    ]);
    expect(ours).toEqual(naive);
  });

  test('an iolog that fio wrote itself agrees with a naive reader', async () => {
    const lines = readFileSync(fixtureUrl('randrw.iolog'), 'utf8').trimEnd().split('\n').slice(1);
    const naive = lines
      .map((line) => line.split(' '))
      .filter((fields) => fields.length === 5)
      .map(([time, , action, offset, length]) => [
        Number(time) * 1000,
        action,
        // A sync carries the offset of the write before it, which means nothing.
        action === 'sync' ? 0 : Number(offset),
        Number(length),
      ]);
    const { trace } = await openTrace(fixtureUrl('randrw.iolog'));
    const names = ['read', 'write', 'sync', 'trim'];
    const first = naive[0][0] as number;
    expect(
      Array.from(trace.ops, (op, i) => [
        trace.timesNs[i] + first,
        names[op],
        trace.offsetsBytes[i],
        trace.lengthsBytes[i],
      ]),
    ).toEqual(naive);
    expect(naive.length).toBeGreaterThan(100);
  });
});

describe.skipIf(!present)('larger samples', () => {
  const block = new URL('block/', samples);
  const captures = new URL('captures/', samples);
  const named = (folder: URL, ending: string): string[] =>
    present
      ? readdirSync(folder)
          .filter((file) => file.endsWith(ending))
          .map((file) => file.slice(0, -ending.length))
      : [];

  test.each(named(block, '.msr.json'))('%s (msr)', async (name) => {
    const { trace } = await openTrace(new URL(`${name}.msr.csv.gz`, block));
    expectTotals(trace, jsonOf<Totals>(new URL(`${name}.msr.json`, block)));
  });

  test.each(named(block, '.converted.json').flatMap((name) => conversions.map((row) => [name, ...row] as const)))(
    '%s.%s',
    async (name, ending, format, tick) => {
      const totals = jsonOf<Totals>(new URL(`${name}.converted.json`, block));
      await checkConversion(new URL(`${name}.${ending}`, block), totals, format, tick);
    },
  );

  test.each(named(block, '.msr.json'))(
    '%s: response times are those that the independent script matched',
    async (name) => {
      const { trace } = await openTrace(new URL(`${name}.blktrace.gz`, captures));
      const msr = (await openTrace(new URL(`${name}.msr.csv.gz`, block))).trace;
      const ours: number[] = [];
      for (let i = 0; i < trace.length; i++) {
        if (trace.ops[i] <= BlockOp.write) ours.push(Math.floor((trace.responsesNs?.[i] ?? 0) / 100) * 100);
      }
      expect(ours).toEqual(Array.from(msr.responsesNs ?? []));
      expect(ours.filter((ns) => ns > 0).length).toBeGreaterThan(ours.length / 2);
    },
  );

  test.each(named(captures, '.blktrace.gz'))('%s (blktrace)', async (name) => {
    const { trace } = await openTrace(new URL(`${name}.blktrace.gz`, captures));
    expectCounts(trace, jsonOf<{ block: BlockCounts }>(new URL(`${name}.stats.json`, captures)).block);
  });

  test.each(named(captures, '.blkparse.txt.gz').flatMap((name) => [[name, 'Q'] as const, [name, 'D'] as const]))(
    '%s: blkparse text is equal to the binary trace, action %s',
    async (name, action) => {
      const text = (await openTrace(new URL(`${name}.blkparse.txt.gz`, captures), { action })).trace;
      const binary = (await openTrace(new URL(`${name}.blktrace.gz`, captures), { action })).trace;
      expectEqual(text, binary);
    },
  );

  test.each(['mqsim-tpcc-small', 'mqsim-wsrch-small'])('%s', async (name) => {
    const stats = jsonOf<
      Totals & { first_time: number; last_time: number; time_goes_back: number; devices: number; min_byte: number }
    >(new URL(`${name}.stats.json`, block));
    const { trace } = await openTrace(new URL(`${name}.trace.gz`, block));
    expect(trace.format).toBe('mqsim');
    expect(trace.length).toBe(stats.requests);
    expect(trace.totals(BlockOp.read)).toEqual(stats.read);
    expect(trace.totals(BlockOp.write)).toEqual(stats.write);
    expect(trace.endByte).toBe(stats.end_byte);
    expect(Math.min(...trace.offsetsBytes)).toBe(stats.min_byte);
    expect(trace.outOfOrder).toBe(stats.time_goes_back);
    expect(trace.spanNs).toBe(stats.last_time - stats.first_time);
    expect(new Set(trace.flows).size).toBe(stats.devices);
  });
});

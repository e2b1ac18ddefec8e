import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { BlockOp } from '@flashstack/block-device';
import { fixtureUrl } from '@flashstack/fixtures';
import { describe, expect, test } from 'vitest';
import type { Trace } from '../src/index.js';
import { openTrace } from '../src/node/index.js';

interface Totals {
  requests: number;
  read: { requests: number; bytes: number };
  write: { requests: number; bytes: number };
  end_byte: number;
  duration_ns: number;
  sha256_of_ops: string;
}

/** The hash that the totals hold, over the operations as this reader sees them. */
function hashOf(trace: Trace): string {
  const lines = Array.from(trace.ops, (op, i) => {
    const letter = op === BlockOp.read ? 'R' : 'W';
    return `${letter} ${trace.offsetsBytes[i]} ${trace.lengthsBytes[i]}`;
  });
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

function totalsOf(url: URL): Totals {
  return JSON.parse(readFileSync(url, 'utf8')) as Totals;
}

function expectTotals(trace: Trace, totals: Totals): void {
  expect(trace.length).toBe(totals.requests);
  expect(trace.totals(BlockOp.read)).toEqual(totals.read);
  expect(trace.totals(BlockOp.write)).toEqual(totals.write);
  expect(trace.endByte).toBe(totals.end_byte);
  expect(hashOf(trace)).toBe(totals.sha256_of_ops);
}

describe('recorded traces give the totals of the independent script', () => {
  test.each(['sqlite-delete', 'postgres', 'git-clone-commit'])('%s (msr)', async (name) => {
    const { trace, evidence } = await openTrace(fixtureUrl(`${name}.msr.csv.gz`));
    const totals = totalsOf(fixtureUrl(`${name}.msr.json`));
    expectTotals(trace, totals);
    expect(trace.name).toBe(name);
    expect(trace.format).toBe('msr');
    expect(evidence).toContain('recognised');
    // The format counts in 100 ns.
    expect(trace.spanNs).toBe(Math.floor(totals.duration_ns / 100) * 100);
  });

  test.each([
    ['copy-remove', 'msr.csv.gz', 100],
    ['copy-remove', 'mqsim.txt.gz', 1],
    ['fio-fsync', 'msr.csv.gz', 100],
    ['fio-fsync', 'mqsim.txt.gz', 1],
  ])('%s (%s)', async (name, ending, tick) => {
    const { trace } = await openTrace(fixtureUrl(`${name}.${ending}`));
    const totals = totalsOf(fixtureUrl(`${name}.converted.json`));
    expectTotals(trace, totals);
    expect(trace.spanNs).toBe(Math.floor(totals.duration_ns / tick) * tick);
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
    ]);
    const ours = naive.map((_, i) => [trace.timesNs[i], trace.offsetsBytes[i], trace.lengthsBytes[i], trace.ops[i]]);
    expect(ours).toEqual(naive);
  });
});

// The sample traces of MQSim carry its licence and are not copied into this repository.
describe.each(['mqsim-tpcc-small', 'mqsim-wsrch-small'])('%s', (name) => {
  const folder = new URL('../../../../shared/data/workloads/block/', import.meta.url);
  const file = new URL(`${name}.trace.gz`, folder);
  const present = existsSync(file);
  if (!present) console.warn(`SKIPPED: ${name}: the sample traces of MQSim are not beside this checkout`);

  test.skipIf(!present)('gives the totals of the independent script', async () => {
    const stats = JSON.parse(readFileSync(new URL(`${name}.stats.json`, folder), 'utf8')) as Totals & {
      first_time: number;
      last_time: number;
      time_goes_back: number;
      devices: number;
      min_byte: number;
    };
    const { trace } = await openTrace(file);
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

import { readFile } from 'node:fs/promises';
import type { ExperimentResult } from '@flashstack/experiment';
import { expect, test } from 'vitest';
import { renderSummary, type Summary, type SummaryRow } from '../src/summary.js';
import { summaryOf } from '../src/summary-of.js';
import { Style, width } from '../src/terminal.js';

const us = (...values: number[]): number[] => values.map((value) => value * 1000);

function row(name: string, requests: number, rate: number, iops: number, latencies: number[]): SummaryRow {
  const [meanNs, p50Ns, p99Ns, p999Ns, maxNs] = us(...latencies);
  return { name, requests, bytesPerSecond: rate * 1e6, iops, meanNs, p50Ns, p99Ns, p999Ns, maxNs };
}

const summary: Summary = {
  workload: 'tpcc-small',
  device: 'generic-tlc-nvme',
  seed: 1,
  specHash: '9c41e0d7aa55',
  headline: 'Limited by flash programs, at 92 % of their bound for this write amplification.',
  rows: [
    row('read', 811_204, 201, 49_100, [141, 94.2, 1060, 4870, 14_213]),
    row('write', 428_992, 468, 114_000, [118, 47.6, 2140, 7310, 17_904]),
  ],
  waf: 2.28,
  receivedBytes: 79.4 * 2 ** 30,
  flushedBytes: 79 * 2 ** 30,
  programmedBytes: 181 * 2 ** 30,
  written: [
    { label: 'host', tone: 'hostData', amount: 79 * 2 ** 30 },
    { label: 'GC', tone: 'gc', amount: 97 * 2 ** 30 },
    { label: 'map', tone: 'mapping', amount: 2 * 2 ** 30 },
    { label: 'pad', tone: 'padding', amount: 3 * 2 ** 30 },
  ],
  slowest: [
    { label: 'GC', tone: 'gc', amount: 71 },
    { label: 'buffer', tone: 'padding', amount: 14 },
    { label: 'die', tone: 'padding', amount: 15 },
  ],
  slowestKind: 'write',
  notes: [
    'GC ran from 21.4 s, when free blocks fell to 2 %; 18 412 erases',
    'dies busy 93 % (max 100 %), channels 61 % (max 66 %)',
  ],
  files: [['result', 'out/tpcc-small.json']],
  issued: 1_240_196,
  completed: 1_240_196,
  failed: 0,
  interruptedNs: null,
};

test('write amplification says what it counts where that is not what the drive received', () => {
  const line = (flushed: number): string | undefined =>
    renderSummary({ ...summary, flushedBytes: flushed * 2 ** 20 }, new Style(false, true))
      .split('\n')
      .find((text) => text.includes('counted on'));
  expect(line(79.4 * 1024)).toBeUndefined();
  expect(line(0.999)).toBe('    counted on 0.999 MiB: the rest was overwritten in the buffer, or waits there');
  expect(width(line(0.999) as string)).toBeLessThanOrEqual(80);
  expect(line(2e5)).toBe('    counted on 195 GiB: whole slots, also where a part was written');
});

test('the whole summary, as designed', () => {
  expect(renderSummary(summary, new Style(false, true))).toBe(`\
tpcc-small on generic-tlc-nvme                            seed 1 - spec 9c41e0d7
Limited by flash programs, at 92 % of their bound for this write amplification.

                       throughput                          latency, us
         requests    MB/s   req/s     mean    p50    p99  p99.9    max
  read    811 204     201  49.1 k      141   94.2  1 060  4 870 14 213
  write   428 992     468   114 k      118   47.6  2 140  7 310 17 904

  write amplification  2.28  drive received 79.4 GiB, flash programmed 181 GiB
    #################+++++++++++++++++++++#.  host 79, GC 97, map 2, pad 3 GiB
  slowest 0.1 % of writes wait for  GC 71 %, die 15 %, buffer 14 %
  GC ran from 21.4 s, when free blocks fell to 2 %; 18 412 erases
  dies busy 93 % (max 100 %), channels 61 % (max 66 %)

result   out/tpcc-small.json
1 240 196 issued = 1 240 196 completed + 0 failed.
`);
});

test('never wider than 80 columns nor longer than 24 lines, with colours too', () => {
  const wide: Summary = {
    ...summary,
    workload: 'a-very-long-name-of-a-trace-that-somebody-made-up-without-thinking-of-terminals',
    rows: ['read', 'write', 'flush', 'discard'].map((name) =>
      row(name, 9_811_204_111, 20_100, 4_910_000, [123_141, 94_211, 1_060_999, 4_870_111, 14_213_222]),
    ),
    notes: [
      ...summary.notes,
      'A long note that says many things at once and has therefore to be broken into two lines here.',
    ],
    interruptedNs: 55.2e9,
  };
  for (const shown of [summary, wide]) {
    for (const style of [new Style(false, false), new Style(true, false), new Style(true, true)]) {
      const lines = renderSummary(shown, style).trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(24);
      for (const line of lines) expect(width(line), line).toBeLessThanOrEqual(80);
    }
  }
});

test('nothing written: said, not left out; failures stand out', () => {
  const text = renderSummary(
    {
      ...summary,
      waf: Number.NaN,
      receivedBytes: 0,
      flushedBytes: 0,
      written: [],
      slowest: [],
      failed: 3,
      completed: 1_240_193,
    },
    new Style(true, false),
  );
  expect(text).toContain('write amplification  none: nothing was written');
  expect(text).toContain('\u001b[31m1\u202f240\u202f196 issued = 1\u202f240\u202f193 completed + 3 failed.\u001b[0m');
});

test('an interrupted run says so', () => {
  const text = renderSummary({ ...summary, interruptedNs: 55.2e9 }, new Style(false, false));
  expect(text).toContain('◐ interrupted at 55.2 s of simulated time. A partial result.');
});

test('the health of the drive is a note only if there is something to say', async () => {
  const stored = JSON.parse(
    await readFile(new URL('fixtures/greedy.json', import.meta.url), 'utf8'),
  ) as ExperimentResult;
  const notes = (health: Record<string, number>): readonly string[] =>
    summaryOf({ ...stored, metrics: { ...stored.metrics, ...health } }).notes;
  const usual = notes({});
  const fine = { 'health.mediaErrors': 0, 'health.retiredBlocks': 0, 'health.readOnly': 0 };
  expect(notes(fine)).toEqual(usual);
  const ill = notes({
    'health.mediaErrors': 3,
    'health.retiredBlocks': 12,
    'health.spareBlocks': 40,
    'health.spareBlocksAtStart': 52,
    'health.readOnly': 1,
  });
  expect(ill.filter((note) => !usual.includes(note))).toEqual([
    '3 reads failed because their data could not be corrected',
    '12 blocks retired, 40 of 52 spare blocks left',
    'the drive is worn out: it takes no writes any more',
  ]);
  expect(notes({ 'health.readOnly': 1, 'health.leastSpareBlocks': 2 })).toContain(
    'the drive is worn out: it takes no writes any more, as a domain has 2 spare blocks left and none lends it any',
  );
});

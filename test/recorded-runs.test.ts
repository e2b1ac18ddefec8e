import { BlockOp } from '@flashstack/block-device';
import { Simulator } from '@flashstack/sim';
import { resolvePreset, Ssd } from '@flashstack/ssd';
import { Operation, Replay, readTrace, type Trace, type TraceAction } from '@flashstack/workloads';
import { expect, test } from 'vitest';
import { recordStack } from './recorded-stack.js';

// A simulated run comes out as a block trace, and that goes in again as a workload.
const recording = recordStack('blktrace', 131_072);

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const read = async (bytes: Uint8Array, action: TraceAction): Promise<Trace> =>
  (await readTrace(once(bytes), 'run', { action })).trace;

/** Requests and bytes of each kind. */
function totals(trace: Trace): Record<string, [requests: number, bytes: number]> {
  const sums: Record<string, [number, number]> = {};
  const source = trace.source();
  for (const operation = new Operation(); source.next(operation); ) {
    const name = Object.keys(BlockOp)[operation.op];
    sums[name] ??= [0, 0];
    sums[name][0]++;
    sums[name][1] += operation.lengthBytes;
  }
  return sums;
}

test('text and binary records tell the same of queued and of issued requests', async () => {
  const text = recordStack('blkparse', 131_072);
  expect(text.stats).toEqual(recording.stats);
  for (const action of ['Q', 'D'] as const) {
    const a = await read(recording.bytes, action);
    const b = await read(text.bytes, action);
    expect(a.length).toBe(action === 'Q' ? recording.stats.queued : recording.stats.issued);
    for (const column of ['ops', 'offsetsBytes', 'lengthsBytes', 'timesNs', 'flags', 'flows'] as const) {
      expect(Array.from(a[column]), column).toEqual(Array.from(b[column]));
    }
  }
});

test('what was queued is issued byte by byte, merged and cut', async () => {
  const queued = totals(await read(recording.bytes, 'Q'));
  const issued = totals(await read(recording.bytes, 'D'));
  expect(issued.read[1]).toBe(queued.read[1]);
  expect(issued.write[1]).toBe(queued.write[1]);
  const { merged, splits } = recording.stats;
  expect(merged).toBeGreaterThan(20);
  expect(splits).toBeGreaterThan(100);
  const moved = (sums: typeof queued): number => sums.read[0] + sums.write[0];
  expect(moved(issued)).toBe(moved(queued) + splits - merged);
});

test('what was issued is replayed on another drive, in a closed loop and at its times', async () => {
  const trace = await read(recording.bytes, 'D');
  const sums = totals(trace);
  for (const loop of [{ kind: 'closed', depth: 4 }, { kind: 'open' }] as const) {
    const simulator = new Simulator();
    const drive = new Ssd(simulator, resolvePreset('sata-840-pro-class', { capacity: 2 ** 30 }));
    const replay = new Replay(simulator, drive, trace.source(), { loop });
    replay.advance();
    const { read, write, flush, failed } = replay.stats;
    expect(failed).toBe(0);
    expect([read.completed, read.bytes]).toEqual(sums.read);
    expect([write.completed, write.bytes]).toEqual(sums.write);
    expect(flush.completed).toBe(sums.flush[0]);
  }
});

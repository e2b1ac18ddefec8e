import { type BlockRecordingFormat, readTrace, type Trace, type TraceAction, traceInfo } from '@flashstack/workloads';
import { describe, expect, test } from 'vitest';
import { type ExperimentResult, type ExperimentSpec, runExperiment } from '../src/index.js';
import { smallSpec } from './small-spec.js';
import { jobSpec, withMiniJournal } from './stack-support.js';

const MIB = 2 ** 20;
const ZONED = { name: 'zoned', parameters: { placement: 'rotating', zoneUnits: 8, maxActive: 4 } };
const requests: ExperimentSpec = {
  ...smallSpec,
  workload: { kind: 'random', parameters: { requests: 5000, readShare: 0.3, flushEvery: 100 } },
};
const calls = jobSpec({ rw: 'randrw', numjobs: 2, fsync: 16, size: 2 * MIB });

/** A run that is recorded: its result and the bytes of the trace. */
async function recorded(spec: ExperimentSpec, format: BlockRecordingFormat) {
  const pieces: Uint8Array[] = [];
  const blockTrace = { format, write: (piece: Uint8Array) => void pieces.push(piece) };
  const result = await runExperiment(spec, { extensions: withMiniJournal, blockTrace });
  return { result, bytes: Buffer.concat(pieces) };
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function read(bytes: Uint8Array, action: TraceAction): Promise<Trace> {
  return (await readTrace(once(bytes), 'run', { action })).trace;
}

/** Requests and bytes that a trace holds. */
function held(trace: Trace): number[] {
  const { read, write, flushes } = traceInfo(trace.source());
  return [read.requests, read.bytes, write.requests, write.bytes, flushes];
}

/** The same by the metrics of the drive. */
function counted({ metrics }: ExperimentResult): number[] {
  const names = ['read.requests', 'read.bytes', 'write.requests', 'write.bytes', 'flush.requests'];
  return names.map((name) => metrics[`host.${name}`]);
}

describe.each(['blktrace', 'blkparse'] as const)('as %s', (format) => {
  test('requests of a workload: all of them, each issued as it comes', async () => {
    const { result, bytes } = await recorded(requests, format);
    const [queued, issued] = [await read(bytes, 'Q'), await read(bytes, 'D')];
    expect(held(issued)).toEqual(counted(result));
    expect(held(issued)[4]).toBeGreaterThan(10);
    expect(Array.from(queued.timesNs)).toEqual(Array.from(issued.timesNs));
    expect(Array.from(queued.offsetsBytes)).toEqual(Array.from(issued.offsetsBytes));
  });

  test('requests of a system: what its block layer has queued, and what the drive has got', async () => {
    const { result, bytes } = await recorded(calls, format);
    const { metrics } = result;
    expect(held(await read(bytes, 'D'))).toEqual(counted(result));
    const queued = await read(bytes, 'Q');
    expect(queued.length).toBe(metrics['block.queued']);
    expect(metrics['block.queued']).toBeGreaterThan(100);
  });
});

test.each([
  ['requests', requests],
  ['a system', calls],
])('a run of %s has the same result when it is recorded', async (_, spec) => {
  const { result } = await recorded(spec, 'blktrace');
  const { histograms, ...plain } = await runExperiment(spec, { extensions: withMiniJournal });
  expect(result).toEqual({ histograms, ...plain });
});

test('zones are refused before anything is simulated', async () => {
  const zoned: ExperimentSpec = {
    device: {
      preset: 'mqsim-b8',
      capacityBytes: 512 * MIB,
      overProvisioning: 0.3,
      overrides: { 'ftl.mapping': ZONED },
    },
    workload: { kind: 'segments', parameters: { requests: 10, requestBytes: 65_536 } },
  };
  await expect(recorded(zoned, 'blktrace')).rejects.toThrow('the device has zones');
});

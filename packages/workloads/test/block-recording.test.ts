import {
  type BlockDevice,
  BlockFlag,
  BlockOp,
  BlockRequest,
  BlockStatus,
  FaultDevice,
  type IoOwner,
  MemoryDevice,
  Origin,
} from '@flashstack/block-device';
import { BlockLayer } from '@flashstack/host';
import { Delay, InputError, RandomSource, Simulator, type Task } from '@flashstack/sim';
import { describe, expect, test } from 'vitest';
import { BlockRecorder, type BlockRecorderOptions, RecordedDevice, readTrace, type TraceAction } from '../src/index.js';

const { read, write, flush, discard } = BlockOp;

/** A recorder that keeps what it writes. */
function record(
  simulator: Simulator,
  format: 'blktrace' | 'blkparse',
  more: Partial<BlockRecorderOptions> = {},
): { recorder: BlockRecorder; bytes: () => Uint8Array } {
  const pieces: Uint8Array[] = [];
  const recorder = new BlockRecorder(simulator, 4096, { format, write: (piece) => pieces.push(piece), ...more });
  const bytes = (): Uint8Array => {
    recorder.end();
    return Buffer.concat(pieces);
  };
  return { recorder, bytes };
}

const quiet: IoOwner = { ioDone() {} };

function send(device: BlockDevice, op: number, block: number, count: number, more: Partial<BlockRequest> = {}): void {
  device.submit(Object.assign(new BlockRequest(quiet), { op, block, count }, more));
}

/** A device in memory that takes 1 µs for each request. */
function slow(simulator: Simulator, blockCount = 2 ** 16): BlockDevice {
  const memory = new MemoryDevice({ blockCount, features: { volatileCache: true } });
  return new FaultDevice(memory, { simulator, rules: [], latencyNs: 1000 });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const { sync, fua, preflush, ahead } = BlockFlag;

test('the text of a block layer at work, line by line', () => {
  const simulator = new Simulator();
  const layer = new BlockLayer(simulator, slow(simulator), { maxRequestBytes: 65_536 });
  simulator.runUntil(5_000_000_000);
  const { recorder, bytes } = record(simulator, 'blkparse', { device: 8 * 2 ** 20 + 16 });
  layer.probe = recorder;
  function* program(): Task<void> {
    yield new Delay(simulator).for(2_000_000_500);
    layer.plug();
    send(layer, write, 100, 2);
    send(layer, write, 102, 1);
    send(layer, write, 99, 1);
    send(layer, read, 500, 20, { flags: sync });
    layer.unplug();
    send(layer, write, 7, 1, { flags: preflush | fua | sync, origin: Origin.journal });
  }
  function* other(): Task<void> {
    yield new Delay(simulator).for(2_000_002_000);
    send(layer, read, 3, 1, { flags: ahead, origin: Origin.inode });
    send(layer, discard, 64, 8);
  }
  simulator.spawn('program with a long name', program());
  simulator.spawn('other', other());
  simulator.run();
  simulator.drain();
  expect(new TextDecoder().decode(bytes())).toBe(
    `  8,16   0        0     0.000000000     0  m   N simulated by flashstack
  8,16   0        1     2.000000500     1  Q   W 800 + 16 [program with a ]
  8,16   0        2     2.000000500     1  G   W 800 + 16 [program with a ]
  8,16   0        3     2.000000500     1  P   N [program with a ]
  8,16   0        4     2.000000500     1  Q   W 816 + 8 [program with a ]
  8,16   0        5     2.000000500     1  M   W 816 + 8 [program with a ]
  8,16   0        6     2.000000500     1  Q   W 792 + 8 [program with a ]
  8,16   0        7     2.000000500     1  F   W 792 + 8 [program with a ]
  8,16   0        8     2.000000500     1  Q  RS 4000 + 160 [program with a ]
  8,16   0        9     2.000000500     1  X  RS 4000 / 4128 [program with a ]
  8,16   0       10     2.000000500     1  G  RS 4000 + 128 [program with a ]
  8,16   0       11     2.000000500     1  G  RS 4128 + 32 [program with a ]
  8,16   0       12     2.000000500     1  U   N [program with a ] 3
  8,16   0       13     2.000000500     1  I   W 792 + 32 [program with a ]
  8,16   0       14     2.000000500     1  I  RS 4000 + 128 [program with a ]
  8,16   0       15     2.000000500     1  I  RS 4128 + 32 [program with a ]
  8,16   0       16     2.000000500     1  D  RS 4000 + 128 [program with a ]
  8,16   0       17     2.000000500     1  D  RS 4128 + 32 [program with a ]
  8,16   0       18     2.000000500     1  D   W 792 + 32 [program with a ]
  8,16   0       19     2.000000500     1  Q FWFSM 56 + 8 [program with a ]
  8,16   0       20     2.000000500     1  D  FN [program with a ]
  8,16   0       21     2.000001500     0  C  RS 4000 + 128 [0]
  8,16   0       22     2.000001500     0  C  RS 4128 + 32 [0]
  8,16   0       23     2.000001500     0  C   W 792 + 32 [0]
  8,16   0       24     2.000001500     0  C  FN 0 [0]
  8,16   0       25     2.000001500     0  G WFSM 56 + 8 [kernel]
  8,16   0       26     2.000001500     0  I WFSM 56 + 8 [kernel]
  8,16   0       27     2.000001500     0  D WFSM 56 + 8 [kernel]
  8,16   0       28     2.000002000     2  Q RAM 24 + 8 [other]
  8,16   0       29     2.000002000     2  G RAM 24 + 8 [other]
  8,16   0       30     2.000002000     2  I RAM 24 + 8 [other]
  8,16   0       31     2.000002000     2  D RAM 24 + 8 [other]
  8,16   0       32     2.000002000     2  Q   D 512 + 64 [other]
  8,16   0       33     2.000002000     2  G   D 512 + 64 [other]
  8,16   0       34     2.000002000     2  I   D 512 + 64 [other]
  8,16   0       35     2.000002000     2  D   D 512 + 64 [other]
  8,16   0       36     2.000002500     0  C WFSM 56 + 8 [0]
  8,16   0       37     2.000003000     0  C RAM 24 + 8 [0]
  8,16   0       38     2.000003000     0  C   D 512 + 64 [0]
`,
  );
});

/** What one request was, as our reader tells it. */
type Seen = readonly [op: number, timeNs: number, offset: number, length: number, flags: number];

/** Random requests to a recorded device; what was submitted. */
function* submitter(device: BlockDevice, simulator: Simulator, submitted: Seen[]): Task<void> {
  const random = new RandomSource(11).stream('requests');
  for (let at = 0; at < 3000; at++) {
    yield new Delay(simulator).for(random.below(900));
    const op = [read, write, write, flush, discard][random.below(5)];
    const block = op === flush ? 0 : random.below(65_000);
    const count = op === flush ? 0 : 1 + random.below(64);
    const flags = op === write ? random.below(8) : op === read ? [0, sync, ahead, ahead | sync][random.below(4)] : 0;
    submitted.push([op, simulator.now, block * 4096, count * 4096, flags]);
    send(device, op, block, count, { flags });
  }
}

describe.each(['blktrace', 'blkparse'] as const)('%s', (format) => {
  test.each(['Q', 'D'] as const)('of a device reads back as what it was given, action %s', async (action) => {
    const simulator = new Simulator();
    const { recorder, bytes } = record(simulator, format);
    const device = new RecordedDevice(slow(simulator), recorder);
    const submitted: Seen[] = [];
    simulator.spawn('submitter', submitter(device, simulator, submitted));
    simulator.run();
    simulator.drain();
    const [[, firstNs]] = submitted;
    const expected = submitted.map(([op, timeNs, ...rest]) => [op, timeNs - firstNs, ...rest]);
    expect(await readBack(bytes(), action)).toEqual(expected);
    const { queued, issued, completed, merged, splits } = recorder.stats;
    expect([queued, issued, completed, merged, splits]).toEqual([3000, 3000, 3000, 0, 0]);
  });

  test('a request longer than 2 GiB is told of in several rows', async () => {
    const simulator = new Simulator();
    const { recorder, bytes } = record(simulator, format);
    recorder.queued(discard, 2 ** 20, 1_572_865, 0, 0);
    const GiB = 2 ** 30;
    expect(await readBack(bytes(), 'Q')).toEqual([
      [discard, 0, 4 * GiB, 2 * GiB, 0],
      [discard, 0, 6 * GiB, 2 * GiB, 0],
      [discard, 0, 8 * GiB, 2 * GiB, 0],
      [discard, 0, 10 * GiB, 4096, 0],
    ]);
  });

  test('bytes come in pieces while it records', () => {
    const lengths: number[] = [];
    const recorder = new BlockRecorder(new Simulator(), 4096, { format, write: ({ length }) => lengths.push(length) });
    for (let at = 0; at < 10_000; at++) recorder.queued(write, at, 1, 0, 0);
    const before = lengths.length;
    recorder.end();
    recorder.end();
    expect(before).toBeGreaterThan(6);
    expect(Math.max(...lengths)).toBeLessThan(65_536 + 256);
    expect(lengths.length).toBe(before + 1);
  });
});

/** Requests as our reader tells them; their times are since the first. */
async function readBack(bytes: Uint8Array, action: TraceAction): Promise<Seen[]> {
  const { trace } = await readTrace(once(bytes), 'recording', { action });
  const { ops, timesNs, offsetsBytes, lengthsBytes, flags } = trace;
  return Array.from(ops, (op, at) => [op, timesNs[at], offsetsBytes[at], lengthsBytes[at], flags[at]] as const);
}

test('metadata is what the fixed origins of metadata say, and further ones that are named', () => {
  const simulator = new Simulator();
  const { recorder, bytes } = record(simulator, 'blkparse', { metadata: [40] });
  const marked: number[] = [];
  for (let origin = 0; origin < 256; origin++) recorder.issued(write, 1, 1, 0, origin);
  const lines = new TextDecoder().decode(bytes()).trim().split('\n').slice(1);
  lines.forEach((line, origin) => {
    if (/ WM /.test(line)) marked.push(origin);
  });
  const { directory, inode, node, allocationMap, journal, checkpoint, superblock, summary } = Origin;
  expect(marked).toEqual([
    ...[directory, inode, node, allocationMap, journal, checkpoint, superblock, summary],
    ...[Origin.extendedAttribute, Origin.quota, 40],
  ]);
});

test('failures have the error numbers of Linux, as the low half of the negative number', () => {
  const simulator = new Simulator();
  const { recorder, bytes } = record(simulator, 'blkparse');
  for (let status = 0; status < 8; status++) recorder.completed(write, 1, 1, 0, 0, status);
  const errors = [...new TextDecoder().decode(bytes()).matchAll(/\[(\d+)\]/g)].map(([, error]) => Number(error));
  expect(errors.map((error) => (error === 0 ? 0 : 65_536 - error))).toEqual([0, 5, 61, 28, 95, 30, 19, 5]);
});

test('only the completion that failed has an error', () => {
  const { recorder, bytes } = record(new Simulator(), 'blktrace');
  recorder.completed(write, 1, 1, 0, 0, BlockStatus.mediaError);
  recorder.queued(write, 2, 1, 0, 0);
  const view = new DataView(Uint8Array.from(bytes()).buffer);
  const errors: number[] = [];
  // Records of 48 bytes, with so much behind them as their last word says.
  for (let at = 0; at < view.byteLength; at += 48 + view.getUint16(at + 46, true)) {
    errors.push(view.getUint16(at + 44, true));
  }
  expect(errors).toEqual([0, 0, 65_536 - 61, 0]);
});

test('what cannot be recorded is refused', () => {
  const simulator = new Simulator();
  const make =
    (more: object, blockBytes = 4096) =>
    () =>
      new BlockRecorder(simulator, blockBytes, { write: () => {}, ...more });
  expect(make({ format: 'blktrase' })).toThrow(/"blktrase".*blktrace/s);
  expect(make({}, 520)).toThrow('blocks of 520 bytes are not of whole sectors of 512 bytes');
  expect(make({ device: 2 ** 32 })).toThrow('device is 4294967296');
  expect(make({ metadata: [256] })).toThrow('metadata names origin 256, expected 0 to 255');
  expect(make({}, 520)).toThrow(InputError);
});

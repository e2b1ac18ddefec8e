import { BlockOp } from '@flashstack/block-device';
import { RandomSource, Simulator, StatsRegistry } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  Operation,
  type OperationSource,
  Replay,
  ReplayError,
  type ReplayOptions,
  SyntheticSource,
  TraceBuilder,
  type TraceSource,
} from '../src/index.js';
import { InstantDevice, ServerDevice } from './devices.js';

type Row = [time: number, op: number, offset: number, length: number];

const { read: READ, write: WRITE, flush: FLUSH, discard: DISCARD } = BlockOp;
const full = process.env.CI !== undefined;

function source(rows: readonly Row[]): TraceSource {
  const builder = new TraceBuilder();
  const operation = new Operation();
  for (const [time, op, offset, length] of rows) {
    operation.timeNs = time;
    operation.op = op;
    operation.offsetBytes = offset;
    operation.lengthBytes = length;
    builder.add(operation);
  }
  return builder.build('test', 'rows').source();
}

const serviceNs = (block: number): number => 1000 + ((block * 7919) % 5000);

/** What a replay on a queue with `servers` servers must give, straight from the rules. */
function reference(
  rows: readonly Row[],
  servers: number,
  mode: { depth: number } | { timeScale: number; maxInFlight: number },
): { latencies: number[]; end: number; late: number } {
  const limit = 'depth' in mode ? mode.depth : mode.maxInFlight;
  const busy = new Array<number>(servers).fill(0);
  const done: number[] = [];
  const latencies: number[] = [];
  let late = 0;
  let clock = 0;
  for (const [time, , offset] of rows) {
    const arrival = 'depth' in mode ? 0 : Math.max(clock, Math.round(time * mode.timeScale));
    if (!('depth' in mode)) clock = arrival;
    // The limit-th completion from the end frees the place.
    const freed = done.length < limit ? 0 : [...done].sort((a, b) => a - b)[done.length - limit];
    const issue = Math.max(arrival, freed);
    const server = busy.indexOf(Math.min(...busy));
    const end = Math.max(issue, busy[server]) + serviceNs(offset / 512);
    busy[server] = end;
    done.push(end);
    latencies.push(end - ('depth' in mode ? issue : arrival));
    if (issue > arrival && !('depth' in mode)) late++;
  }
  return { latencies, end: Math.max(0, ...done), late };
}

const rowsArbitrary = fc.array(
  fc.tuple(
    fc.nat(3000),
    fc.constantFrom<number>(READ, WRITE),
    fc.nat(999).map((block) => block * 512),
    fc.integer({ min: 1, max: 16 }).map((blocks) => blocks * 512),
  ),
  { minLength: 1, maxLength: 60 },
);

describe('against the reference', () => {
  test('closed loop of any depth', () => {
    fc.assert(
      fc.property(
        rowsArbitrary,
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 1, max: 5 }),
        (rows, depth, servers) => {
          const simulator = new Simulator();
          const device = new ServerDevice(simulator, 2048, servers, serviceNs);
          const replay = new Replay(simulator, device, source(rows), { loop: { kind: 'closed', depth } });
          expect(replay.advance()).toBe(true);
          const expected = reference(rows, servers, { depth });
          const { stats } = replay;
          expect(stats.endNs).toBe(expected.end);
          expect(stats.read.latencyNs.sum + stats.write.latencyNs.sum).toBe(
            expected.latencies.reduce((a, b) => a + b, 0),
          );
          expect(Math.max(stats.read.latencyNs.max, stats.write.latencyNs.max)).toBe(Math.max(...expected.latencies));
          expect([stats.issued, stats.completed, stats.failed]).toEqual([rows.length, rows.length, 0]);
          expect(stats.maxInFlight).toBe(Math.min(depth, rows.length));
          expect(device.seen.map((seen) => [seen.op, seen.block * 512, seen.count * 512])).toEqual(
            rows.map(([, op, offset, length]) => [op, offset, length]),
          );
        },
      ),
      { numRuns: full ? 2000 : 200, seed: 3 },
    );
  });

  test('open loop with any time scale and limit', () => {
    const gaps = fc.array(fc.nat(4000), { minLength: 60, maxLength: 60 });
    fc.assert(
      fc.property(
        rowsArbitrary,
        gaps,
        fc.constantFrom(0.1, 0.5, 1, 3),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        (shape, gap, timeScale, maxInFlight, servers) => {
          let time = 0;
          const rows = shape.map<Row>((row, i) => {
            if (i > 0) time += gap[i];
            return [time, row[1], row[2], row[3]];
          });
          const simulator = new Simulator();
          const device = new ServerDevice(simulator, 2048, servers, serviceNs);
          const loop = { kind: 'open', timeScale, maxInFlight } as const;
          const replay = new Replay(simulator, device, source(rows), { loop });
          replay.advance();
          const expected = reference(rows, servers, { timeScale, maxInFlight });
          const { stats } = replay;
          expect(stats.endNs).toBe(expected.end);
          expect(stats.read.latencyNs.sum + stats.write.latencyNs.sum).toBe(
            expected.latencies.reduce((a, b) => a + b, 0),
          );
          expect(stats.late).toBe(expected.late);
          expect(stats.maxInFlight).toBeLessThanOrEqual(maxInFlight);
        },
      ),
      { numRuns: full ? 2000 : 200, seed: 4 },
    );
  });

  test('cut into steps of any size, the result is the same', () => {
    fc.assert(
      fc.property(rowsArbitrary, fc.integer({ min: 1, max: 7 }), fc.boolean(), (rows, step, open) => {
        const run = (size: number): unknown => {
          const simulator = new Simulator();
          const device = new ServerDevice(simulator, 2048, 3, serviceNs);
          const loop = open ? ({ kind: 'open' } as const) : ({ kind: 'closed', depth: 4 } as const);
          const replay = new Replay(simulator, device, source(rows), { loop, repeat: 2 });
          while (!replay.advance(size));
          const registry = new StatsRegistry();
          replay.stats.register(registry.layer('host'));
          return [registry.read(), device.seen];
        };
        expect(run(step)).toEqual(run(Number.POSITIVE_INFINITY));
      }),
      { numRuns: full ? 500 : 100, seed: 5 },
    );
  });
});

function run(
  rows: readonly Row[],
  options: Partial<ReplayOptions>,
  blocks = 1000,
): { device: InstantDevice; replay: Replay } {
  const simulator = new Simulator();
  const device = new InstantDevice(simulator, blocks);
  const replay = new Replay(simulator, device, source(rows), { loop: { kind: 'closed', depth: 4 }, ...options });
  replay.advance();
  return { device, replay };
}

test('repeated passes of an open loop begin one mean gap after the last arrival', () => {
  const rows: Row[] = [0, 100, 400].map((time) => [time, READ, 0, 512]);
  const { device, replay } = run(rows, { loop: { kind: 'open' }, repeat: 3 });
  expect(device.seen.map((seen) => seen.atNs)).toEqual([0, 100, 400, 600, 700, 1000, 1200, 1300, 1600]);
  expect(replay.stats.passes).toBe(3);
  expect(replay.total).toBe(9);
});

test('times that go back arrive with the one before, and are counted', () => {
  const rows: Row[] = [50, 20, 70].map((time) => [time, READ, 0, 512]);
  const { device, replay } = run(rows, { loop: { kind: 'open' } });
  // The earliest is time 0.
  expect(device.seen.map((seen) => seen.atNs)).toEqual([30, 30, 50]);
  expect(replay.stats.outOfOrder).toBe(1);
  expect(replay.stats.late).toBe(0);
});

test('kinds, bytes, flushes without an address, discards', () => {
  const rows: Row[] = [
    [0, WRITE, 0, 1024],
    [0, FLUSH, 0, 0],
    [0, DISCARD, 512, 2048],
    [0, READ, 512, 512],
  ];
  const { replay, device } = run(rows, { repeat: 2 });
  const { stats } = replay;
  const found = stats.kinds.map((kind) => [kind.issued, kind.completed, kind.bytes, kind.latencyNs.count]);
  expect(found).toEqual([
    [2, 2, 1024, 2],
    [2, 2, 2048, 2],
    [2, 2, 0, 2],
    [2, 2, 4096, 2],
  ]);
  expect(device.seen.filter((seen) => seen.op === FLUSH).every((seen) => seen.count === 0)).toBe(true);
});

test('failed requests are counted apart, with issued = completed + failed', () => {
  const simulator = new Simulator();
  const device = new InstantDevice(simulator, 1000, 512, (request) => request.block % 3 === 0);
  const rows = Array.from({ length: 30 }, (_, i): Row => [0, i % 2 === 0 ? READ : WRITE, i * 512, 512]);
  const replay = new Replay(simulator, device, source(rows), { loop: { kind: 'closed', depth: 4 } });
  replay.advance();
  expect([replay.stats.issued, replay.stats.completed, replay.stats.failed]).toEqual([30, 20, 10]);
  expect(replay.stats.read.bytes + replay.stats.write.bytes).toBe(20 * 512);
});

describe('addresses', () => {
  const at = (offset: number, length = 512): Row => [0, WRITE, offset, length];
  const placed = (rows: readonly Row[], options: Partial<ReplayOptions>, blocks: number): number[][] =>
    run(rows, options, blocks).device.seen.map((seen) => [seen.block, seen.count]);

  test('wrap: modulo the capacity; a request across the end is split and counts once', () => {
    const rows = [at(0), at(100 * 512), at(199 * 512), at(98 * 512, 4 * 512)];
    const { device, replay } = run(rows, { address: 'wrap' }, 100);
    const found = device.seen.map((seen) => [seen.block, seen.count]);
    expect(found).toEqual([
      [0, 1],
      [0, 1],
      [99, 1],
      [98, 2],
      [0, 2],
    ]);
    expect([replay.stats.issued, replay.stats.completed]).toEqual([4, 4]);
    expect(replay.stats.write.bytes).toBe(3 * 512 + 4 * 512);
  });

  test('wrap: a split request fails if either part does', () => {
    for (const bad of [0, 98]) {
      const simulator = new Simulator();
      const device = new InstantDevice(simulator, 100, 512, (request) => request.block === bad);
      const options: ReplayOptions = { loop: { kind: 'closed', depth: 4 }, address: 'wrap' };
      const replay = new Replay(simulator, device, source([at(98 * 512, 4 * 512), at(512)]), options);
      replay.advance();
      expect([replay.stats.completed, replay.stats.failed]).toEqual([1, 1]);
    }
  });

  test('compact: used ranges move together in units of 4 KiB, against a naive page map', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(5000), fc.integer({ min: 1, max: 40 })), { minLength: 1, maxLength: 50 }),
        (shape) => {
          const rows = shape.map(([block, count]) => at(block * 512, count * 512));
          const pages = new Set<number>();
          for (const [block, count] of shape) {
            for (let b = block; b < block + count; b++) pages.add(Math.floor(b / 8));
          }
          const order = [...pages].sort((a, b) => a - b);
          const expected = shape.map(([block, count]) => [
            order.indexOf(Math.floor(block / 8)) * 8 + (block % 8),
            count,
          ]);
          expect(placed(rows, { address: 'compact' }, order.length * 8)).toEqual(expected);
          const tooSmall = (): unknown => placed(rows, { address: 'compact' }, order.length * 8 - 1);
          expect(tooSmall).toThrow(/the workload touches .* the device has/);
        },
      ),
      { numRuns: full ? 1000 : 100, seed: 6 },
    );
  });

  test('scale: pieces of 1 MiB keep their inside and their order, and everything fits', () => {
    const MiB = 2048;
    const rows = [at(0), at((10 * MiB + 5) * 512), at((39 * MiB + 2047) * 512), at((20 * MiB + 2040) * 512, 16 * 512)];
    expect(placed(rows, { address: 'scale' }, 4 * MiB)).toEqual([
      [0, 1],
      [MiB + 5, 1],
      [3 * MiB + 2047, 1],
      [2 * MiB + 2040, 16],
    ]);
    expect(placed(rows, { address: 'scale' }, 80 * MiB)).toEqual([
      [0, 1],
      [20 * MiB + 5, 1],
      [78 * MiB + 2047, 1],
      [40 * MiB + 2040, 16],
    ]);
    // A request over the last piece's end is moved to end at the end.
    expect(
      placed([at(0), at((2 * MiB - 4) * 512, 8 * 512), at((4 * MiB - 1) * 512)], { address: 'scale' }, MiB),
    ).toEqual([
      [0, 1],
      [MiB - 8, 8],
      [MiB - 1, 1],
    ]);
  });

  test('ranges are widened to whole blocks, and counted', () => {
    const { device, replay } = run([at(100, 10), at(500, 100), at(512, 512)], {});
    expect(device.seen.map((seen) => [seen.block, seen.count])).toEqual([
      [0, 1],
      [0, 2],
      [1, 1],
    ]);
    expect(replay.stats.widened).toBe(2);
  });

  test('fail: names the request before anything is simulated', () => {
    const rows = [at(0), at(512), at(100 * 512)];
    const error = catchError(() => run(rows, {}, 100));
    expect(error).toBeInstanceOf(ReplayError);
    expect(error).toMatchObject({ code: 'ERR_REPLAY_BEYOND_DEVICE', key: 'address' });
    expect((error as Error).message).toBe(
      'request 3 ends at 50.5 KiB; the device has 50 KiB. Choose how to map addresses: wrap, compact or scale',
    );
  });

  test('a request longer than the device fits under no policy', () => {
    for (const address of ['fail', 'wrap', 'scale'] as const) {
      expect(catchError(() => run([at(0), at(0, 101 * 512)], { address }, 100))).toMatchObject({
        code: 'ERR_REPLAY_TOO_LARGE',
        message: 'request 2 is 50.5 KiB long; the device has 50 KiB',
      });
    }
  });

  test('an unknown policy', () => {
    expect(catchError(() => run([at(0)], { address: 'fold' as never }))).toMatchObject({
      message: 'unknown address policy "fold"; known: wrap, compact, scale, fail',
    });
  });
});

function catchError(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return null;
}

test.each([
  [{ loop: { kind: 'closed', depth: 0 } }, 'depth must be a whole number of at least 1, found 0'],
  [{ loop: { kind: 'closed', depth: 1.5 } }, 'depth must be a whole number of at least 1, found 1.5'],
  [{ loop: { kind: 'open', timeScale: 0 } }, 'timeScale must be a number greater than 0, found 0'],
  [{ loop: { kind: 'open', maxInFlight: -1 } }, 'maxInFlight must be a whole number of at least 1, found -1'],
  [{ repeat: 0 }, 'repeat must be a whole number of at least 1, found 0'],
  [{ verify: true }, 'reads can be verified only on a device that keeps contents'],
] as [Partial<ReplayOptions>, string][])('refuses %j', (options, message) => {
  expect(() => run([[0, READ, 0, 512]], options)).toThrow(message);
});

test('arrivals beyond the simulated clock are an error of the options', () => {
  const rows: Row[] = [
    [0, READ, 0, 512],
    [1000, READ, 0, 512],
  ];
  for (const options of [{ loop: { kind: 'open', timeScale: 1e300 } }, { loop: { kind: 'open', timeScale: 7.5e12 } }]) {
    const error = catchError(() => run(rows, { ...options, repeat: 2 } as Partial<ReplayOptions>));
    expect(error).toBeInstanceOf(ReplayError);
    expect(error).toMatchObject({ code: 'ERR_REPLAY_OPTION', key: 'timeScale' });
  }
});

test('an empty source is an error, not an endless loop', () => {
  const empty: OperationSource = { count: 0, next: () => false, restart: () => undefined };
  const simulator = new Simulator();
  const replay = new Replay(simulator, new InstantDevice(simulator, 10), empty, {
    loop: { kind: 'closed', depth: 1 },
    repeat: 5,
  });
  expect(() => replay.advance()).toThrow('the workload holds no operation');
});

test('a device that loses a request is a stall', () => {
  const simulator = new Simulator();
  const device = new InstantDevice(simulator, 1000);
  device.submit = () => undefined;
  const replay = new Replay(simulator, device, source([[0, READ, 0, 512]]), { loop: { kind: 'closed', depth: 1 } });
  expect(() => replay.advance()).toThrow('1 requests are in flight and nothing is left to happen');
});

test('stop: nothing more is issued, what is in flight completes', () => {
  const simulator = new Simulator();
  const device = new ServerDevice(simulator, 2048, 1, () => 100);
  const rows = Array.from({ length: 50 }, (_, i): Row => [0, READ, i * 512, 512]);
  const replay = new Replay(simulator, device, source(rows), { loop: { kind: 'closed', depth: 4 } });
  expect(replay.advance(10)).toBe(false);
  replay.stop();
  expect(replay.advance()).toBe(true);
  expect([replay.stats.issued, replay.stats.completed]).toEqual([14, 14]);
});

test('a replay that begins later counts its time from there', () => {
  const simulator = new Simulator();
  simulator.runUntil(5_000_000);
  const device = new ServerDevice(simulator, 2048, 1, () => 100);
  const rows: Row[] = [
    [0, READ, 0, 512],
    [1000, READ, 0, 512],
  ];
  const replay = new Replay(simulator, device, source(rows), { loop: { kind: 'open' } });
  replay.advance();
  expect(device.seen.map((seen) => seen.atNs)).toEqual([5_000_000, 5_001_000]);
  expect(replay.stats.elapsedNs).toBe(1100);
  expect(replay.stats.read.bytesOverTime.length).toBe(1);
});

test('a million requests keep a small pool', () => {
  const simulator = new Simulator();
  const device = new InstantDevice(simulator, 1 << 20);
  device.seen.push = () => 0;
  const workload = new SyntheticSource({ pattern: 'random', rangeBytes: 1 << 29, requests: 1e6 }, new RandomSource(1));
  const replay = new Replay(simulator, device, workload, { loop: { kind: 'closed', depth: 32 } });
  replay.advance();
  expect(replay.stats.completed).toBe(1e6);
  expect(replay.stats.maxInFlight).toBe(1);
});

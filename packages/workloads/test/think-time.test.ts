import { BlockOp } from '@flashstack/block-device';
import { Simulator } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Operation, Replay, ReplayError, TraceBuilder, type TraceSource } from '../src/index.js';
import { ServerDevice } from './devices.js';

const full = process.env.CI !== undefined;

interface Recorded {
  arrival: number;
  response: number;
  block: number;
}

function source(rows: readonly Recorded[]): TraceSource {
  const builder = new TraceBuilder();
  const operation = new Operation();
  operation.op = BlockOp.read;
  operation.lengthBytes = 512;
  for (const row of rows) {
    operation.timeNs = row.arrival;
    operation.responseNs = row.response;
    operation.offsetBytes = row.block * 512;
    builder.add(operation);
  }
  return builder.build('test', 'rows').source();
}

const serviceNs = (block: number): number => 1000 + ((block * 7919) % 5000);

/** When each request is issued, by the rule and nothing else: quadratic, without any bookkeeping. */
function reference(rows: readonly Recorded[], servers: number, timeScale: number): number[] {
  const arrivals = rows.map((row) => Math.round(row.arrival * timeScale));
  const completions = rows.map((row, i) => arrivals[i] + Math.round(row.response * timeScale));
  const busy = new Array<number>(servers).fill(0);
  const issues: number[] = [];
  const done: number[] = [];
  for (let k = 0; k < rows.length; k++) {
    let j = -1;
    for (let i = 0; i < k; i++) {
      if (completions[i] <= arrivals[k] && (j < 0 || completions[i] >= completions[j])) j = i;
    }
    const last = k === 0 ? 0 : issues[k - 1];
    const hanging =
      j < 0 ? last + arrivals[k] - (k === 0 ? 0 : arrivals[k - 1]) : done[j] + arrivals[k] - completions[j];
    issues.push(Math.max(last, hanging));
    const server = busy.indexOf(Math.min(...busy));
    busy[server] = Math.max(issues[k], busy[server]) + serviceNs(rows[k].block);
    done.push(busy[server]);
  }
  return issues;
}

const rowsArbitrary = fc
  .array(fc.record({ gap: fc.nat(3000), response: fc.nat(9000), block: fc.nat(999) }), { minLength: 1, maxLength: 60 })
  .map((rows) => {
    let arrival = 0;
    return rows.map(({ gap, response, block }, i) => {
      if (i > 0) arrival += gap;
      return { arrival, response, block };
    });
  });

describe('think-time loop', () => {
  test('issues as the rule says, on any device and with any time scale', () => {
    fc.assert(
      fc.property(
        rowsArbitrary,
        fc.integer({ min: 1, max: 5 }),
        fc.constantFrom(0, 0.5, 1, 3),
        (rows, servers, scale) => {
          const simulator = new Simulator();
          const device = new ServerDevice(simulator, 2048, servers, serviceNs);
          const timeScale = scale === 0 ? 1 : scale;
          const recorded = scale === 0 ? rows.map((row) => ({ ...row, response: 0 })) : rows;
          const replay = new Replay(simulator, device, source(recorded), { loop: { kind: 'think', timeScale } });
          expect(replay.advance()).toBe(true);
          expect(device.seen.map((seen) => seen.atNs)).toEqual(reference(recorded, servers, timeScale));
          expect([replay.stats.completed, replay.stats.late]).toEqual([rows.length, 0]);
        },
      ),
      { numRuns: full ? 3000 : 300, seed: 5 },
    );
  });

  test('without response times one request is in flight, and the gaps are those between arrivals', () => {
    const simulator = new Simulator();
    const device = new ServerDevice(simulator, 2048, 4, () => 700);
    const rows = [0, 100, 100, 5000].map((arrival, block) => ({ arrival, response: 0, block }));
    const replay = new Replay(simulator, device, source(rows), { loop: { kind: 'think' } });
    replay.advance();
    expect(device.seen.map((seen) => seen.atNs)).toEqual([0, 800, 1500, 7100]);
    expect(replay.stats.maxInFlight).toBe(1);
  });

  test('on the device that was recorded it repeats the recording, pass after pass', () => {
    const simulator = new Simulator();
    const device = new ServerDevice(simulator, 2048, 8, () => 700);
    const rows = [0, 100, 200, 950, 1700, 1710].map((arrival, block) => ({ arrival, response: 700, block }));
    const replay = new Replay(simulator, device, source(rows), { loop: { kind: 'think' }, repeat: 2 });
    replay.advance();
    const second = 1710 + Math.round(1710 / 5);
    expect(device.seen.map((seen) => seen.atNs)).toEqual(
      rows.map((row) => row.arrival).concat(rows.map((row) => row.arrival + second)),
    );
  });

  test('a limit on requests in flight makes them late, which the result tells', () => {
    const simulator = new Simulator();
    const device = new ServerDevice(simulator, 2048, 8, () => 700);
    const rows = [0, 0, 0].map((arrival, block) => ({ arrival, response: 700, block }));
    const loop = { kind: 'think', maxInFlight: 2 } as const;
    const replay = new Replay(simulator, device, source(rows), { loop });
    replay.advance();
    expect(device.seen.map((seen) => seen.atNs)).toEqual([0, 0, 700]);
    expect([replay.stats.late, replay.stats.maxLateNs]).toEqual([1, 700]);
    expect(replay.stats.read.latencyNs.max).toBe(1400);
  });

  test('impossible options', () => {
    const simulator = new Simulator();
    const device = new ServerDevice(simulator, 2048, 1, serviceNs);
    const trace = source([{ arrival: 0, response: 0, block: 0 }]);
    for (const loop of [{ kind: 'think', timeScale: 0 } as const, { kind: 'think', maxInFlight: 0 } as const]) {
      expect(() => new Replay(simulator, device, trace, { loop })).toThrow(ReplayError);
    }
  });
});

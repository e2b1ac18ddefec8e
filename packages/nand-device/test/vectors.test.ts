import { describe, expect, it } from 'vitest';
import {
  createEventScheduler,
  type NandArray,
  NandClass,
  TimelineScheduler,
  type TransactionScheduler,
} from '../src/index.js';
import { arrayOf, type Changes, fill, Simulator, vectorConfig } from './support.js';

const { userRead, userWrite, gcErase } = NandClass;

type Make = (array: NandArray, simulator: Simulator) => TransactionScheduler;
const schedulers: [string, Make][] = [
  ['timeline', (array, simulator) => new TimelineScheduler(array, simulator)],
  ['event: fifo, reserve', (a, s) => createEventScheduler(a, s, { policy: 'fifo', bus: 'reserve' })],
  ['event: outOfOrder, reserve', (a, s) => createEventScheduler(a, s, { bus: 'reserve' })],
  ['event: outOfOrder, arbitrate', (a, s) => createEventScheduler(a, s, {})],
  ['event: fifo, arbitrate', (a, s) => createEventScheduler(a, s, { policy: 'fifo' })],
];

describe.each(schedulers)('timing vectors on %s', (_name, make) => {
  /** Completion times, ns, in order of issue. */
  function run(changes: Changes, issue: (scheduler: TransactionScheduler) => number[]): number[] {
    const simulator = new Simulator();
    const scheduler = make(arrayOf(vectorConfig(changes)), simulator);
    const tokens = issue(scheduler);
    const done = tokens.map(() => -1);
    const client = {
      nandDone: (_token: number, arg: number) => {
        done[arg] = simulator.now;
      },
    };
    tokens.forEach((token, index) => {
      scheduler.then(token, client, index);
    });
    simulator.drain();
    return done;
  }
  const cached: Changes = { features: { cacheRegister: true } };
  const twoPlanes: Changes = { geometry: { planes: 2 } };

  it('1: one read', () => {
    expect(
      run({}, (s) => {
        fill(s.array, 0, 1);
        return [s.read(0, 1, userRead, 0)];
      }),
    ).toEqual([60_440]);
  });

  it('2: two reads on two dies of a channel', () => {
    const done = run({}, (s) => {
      fill(s.array, 0, 1);
      fill(s.array, 8, 1);
      return [s.read(0, 1, userRead, 0), s.read(8 * 16, 1, userRead, 0)];
    });
    expect(done).toEqual([60_440, 70_680]);
  });

  it('2b: a program on another die uses the gap before a reserved transfer', () => {
    const done = run({}, (s) => {
      fill(s.array, 0, 1);
      return [s.read(0, 1, userRead, 0), s.program(8 * 16, userWrite, 0)];
    });
    // Command 0.2–0.4 and data to 10.64, then tPROG.
    expect(done).toEqual([60_440, 610_640]);
  });

  it('3: two reads on one die, with and without a cache register', () => {
    const plain = run({}, (s) => {
      fill(s.array, 0, 2);
      return [s.read(0, 1, userRead, 0), s.read(1, 1, userRead, 0)];
    });
    expect(plain).toEqual([60_440, 120_880]);
    const run2 = run(cached, (s) => {
      fill(s.array, 0, 2);
      const tokens = new Int32Array(2);
      s.readCache(Int32Array.of(0, 1), 2, userRead, 0, tokens);
      return [...tokens];
    });
    expect(run2).toEqual([63_440, 116_440]);
  });

  it('4: two programs on one plane, plain and cached', () => {
    expect(run({}, (s) => [s.program(0, userWrite, 0), s.program(1, userWrite, 0)])).toEqual([610_440, 1_220_880]);
    const done = run(cached, (s) => [s.programCache(0, userWrite, 0), s.program(1, userWrite, 0)]);
    expect(done).toEqual([615_440, 1_215_440]);
  });

  it('5: one two-plane program', () => {
    expect(run(twoPlanes, (s) => [s.programPlanes(Int32Array.of(0, 8 * 16), 2, userWrite, 0)])).toEqual([621_880]);
  });

  it('6: one erase', () => {
    expect(run({}, (s) => [s.erase(0, gcErase, 0)])).toEqual([3_000_200]);
  });

  it('7: a copyback, and the same move through the controller', () => {
    const copyback = run({ features: { copyback: true } }, (s) => {
      fill(s.array, 0, 1);
      return [s.copyback(0, 16, NandClass.gcWrite, 0)];
    });
    expect(copyback).toEqual([650_400]);
    const moved = run({}, (s) => {
      fill(s.array, 0, 1);
      return [s.program(16, NandClass.gcWrite, s.read(0, 1, NandClass.gcRead, 0))];
    });
    expect(moved).toEqual([670_880]);
  });
});

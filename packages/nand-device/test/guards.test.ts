import { describe, expect, it } from 'vitest';
import {
  createEventScheduler,
  NandClass,
  type NandClient,
  TimelineScheduler,
  type TransactionScheduler,
  VssimScheduler,
} from '../src/index.js';
import { arrayOf, fill, plainChanges, Simulator, vectorConfig, vectorDelays } from './support.js';

const { userWrite, gcErase } = NandClass;
// Two channels, so that the two dies have nothing in common but the guard.
const config = () => vectorConfig({ geometry: { channels: 2 } });
const makers: [string, (simulator: Simulator) => TransactionScheduler][] = [
  ['timeline', (simulator) => new TimelineScheduler(arrayOf(config()), simulator)],
  ['event, arbitrate', (simulator) => createEventScheduler(arrayOf(config()), simulator)],
  ['event, reserve', (simulator) => createEventScheduler(arrayOf(config()), simulator, { bus: 'reserve' })],
  [
    'event, planned',
    (simulator) => createEventScheduler(arrayOf(config()), simulator, { policy: 'fifo', bus: 'reserve' }),
  ],
  [
    'vssim',
    (simulator) => {
      const plain = vectorConfig(plainChanges({ geometry: { channels: 2 } }));
      return new VssimScheduler(arrayOf(plain), simulator, vectorDelays);
    },
  ],
];
const ERASE_NS = 3_000_200;

describe.each(makers)('guards on %s', (_name, make) => {
  /** Programs a page on the first die, then erases a block of the other one; when each is done, ns. */
  function run(guarded: boolean): { programNs: number; eraseNs: number } {
    const simulator = new Simulator();
    const scheduler = make(simulator);
    const { geometry } = scheduler.array;
    const other = geometry.blocks / 2;
    fill(scheduler.array, other, 1);
    const done = { programNs: 0, eraseNs: 0 };
    const note = (which: keyof typeof done): NandClient => ({
      nandDone: () => {
        done[which] = simulator.now;
      },
    });
    const program = scheduler.program(0, userWrite, 0);
    if (guarded) scheduler.guard(other, program);
    scheduler.then(program, note('programNs'), 0);
    const erase = scheduler.erase(other, gcErase, 0);
    scheduler.then(erase, note('eraseNs'), 0);
    simulator.drain();
    return done;
  }

  it('an erase waits until the program that supersedes its block is durable', () => {
    expect(run(true)).toEqual({ programNs: 610_440, eraseNs: 610_440 + ERASE_NS });
  });

  it('without a guard it waits for nothing on another die', () => {
    expect(run(false)).toEqual({ programNs: 610_440, eraseNs: ERASE_NS });
  });
});

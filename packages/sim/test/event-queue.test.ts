import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EventTarget, RandomSource, Simulator } from '../src/index.js';

const full = process.env.CI !== undefined;

/** The naive reference: a list kept sorted by (time, order of insertion). */
class SortedList {
  private readonly list: { time: number; order: number; id: number }[] = [];
  private order = 0;
  add(time: number, id: number): void {
    this.list.push({ time, order: this.order++, id });
    this.list.sort((a, b) => a.time - b.time || a.order - b.order);
  }
  take(): { time: number; id: number } | undefined {
    return this.list.shift();
  }
}

describe('event queue', () => {
  it('fires in order of time and, at equal times, of insertion, as a sorted list does', () => {
    const step = fc.record({
      initial: fc.boolean(),
      delay: fc.nat(6),
      children: fc.array(fc.nat(5), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80 }), (steps) => {
        const run = (
          schedule: (delay: number, id: number) => void,
          start: (fire: (id: number) => void) => string[],
        ) => {
          let nextId = 0;
          for (const { delay } of steps.slice(0, 20)) schedule(delay, nextId++);
          return start((id) => {
            for (const delay of steps[id % steps.length].children) if (nextId < 300) schedule(delay, nextId++);
          });
        };
        const list = new SortedList();
        let listNow = 0;
        const expected = run(
          (delay, id) => list.add(listNow + delay, id),
          (fire) => {
            const log: string[] = [];
            for (let event = list.take(); event !== undefined; event = list.take()) {
              listNow = event.time;
              log.push(`${event.time}:${event.id}`);
              fire(event.id);
            }
            return log;
          },
        );
        const simulator = new Simulator();
        const log: string[] = [];
        let onFire: (id: number) => void = () => {};
        const target: EventTarget = {
          fire(id) {
            log.push(`${simulator.now}:${id}`);
            onFire(id);
          },
        };
        const actual = run(
          (delay, id) => simulator.after(delay, target, id),
          (fire) => {
            onFire = fire;
            simulator.drain();
            return log;
          },
        );
        expect(actual).toEqual(expected);
        expect(simulator.events).toBe(expected.length);
        expect(simulator.pendingEvents).toBe(0);
      }),
      { numRuns: full ? 1000 : 100 },
    );
  });

  it('grows past its initial capacity without losing an event', () => {
    const simulator = new Simulator();
    const random = new RandomSource(1).stream('times');
    const times: number[] = [];
    const fired: number[] = [];
    for (let i = 0; i < 5000; i++) {
      const time = random.below(1_000_000);
      times.push(time);
      simulator.at(time, { fire: () => fired.push(simulator.now) }, i);
    }
    expect(simulator.pendingEvents).toBe(5000);
    simulator.drain();
    expect(fired).toEqual(times.sort((a, b) => a - b));
  });

  it('refuses times that are past or not integers, and arguments that are not 32-bit integers', () => {
    const simulator = new Simulator();
    const target: EventTarget = { fire() {} };
    simulator.at(10, target, 0);
    simulator.drain();
    expect(() => simulator.at(9, target, 0)).toThrow(/at least 10 ns \(now\), found 9/);
    expect(() => simulator.at(10.5, target, 0)).toThrow(RangeError);
    expect(() => simulator.at(Number.NaN, target, 0)).toThrow(RangeError);
    expect(() => simulator.at(Number.POSITIVE_INFINITY, target, 0)).toThrow(RangeError);
    expect(() => simulator.at(20, target, 2 ** 31)).toThrow(/32-bit integer/);
    expect(simulator.pendingEvents).toBe(0);
  });
});

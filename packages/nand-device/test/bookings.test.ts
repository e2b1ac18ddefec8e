import { RandomSource, Simulator } from '@flashstack/sim';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Bus } from '../src/bus.js';
import { NandArray, NandClass, TimelineScheduler } from '../src/index.js';
import { nthSmallest } from '../src/nth-smallest.js';
import { type Changes, vectorConfig } from './support.js';

/** The reservations of one channel as the rules say: a list of intervals, shortened by sorting its gaps. */
class NaiveBus {
  intervals: { start: number; end: number }[] = [];
  private readonly limit: number;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** @returns the start of the first gap of `length` at or after `from`. */
  reserve(from: number, length: number, now: number): number {
    let start = from;
    for (const each of this.intervals) if (each.end > start && each.start - start < length) start = each.end;
    const before = this.intervals.length;
    this.intervals.push({ start, end: start + length });
    this.intervals.sort((a, b) => a.start - b.start);
    this.join();
    if (this.intervals.length > before) this.shorten(now);
    return start;
  }

  private join(): void {
    const joined: { start: number; end: number }[] = [];
    for (const each of this.intervals) {
      const last = joined.at(-1);
      if (last?.end === each.start) last.end = each.end;
      else joined.push(each);
    }
    this.intervals = joined;
  }

  private shorten(now: number): void {
    const ahead = this.intervals.filter((each) => each.end > now);
    if (ahead.length <= this.limit) return;
    const kept = Math.max(1, Math.floor((3 * this.limit) / 4));
    const gaps = ahead.slice(1).map((each, i) => ({ before: each, size: each.start - ahead[i].end, i }));
    gaps.sort((a, b) => a.size - b.size || a.i - b.i);
    for (const { before } of gaps.slice(0, ahead.length - kept)) {
      const at = ahead.indexOf(before);
      ahead[at - 1].end = before.end;
      ahead.splice(at, 1);
    }
    this.intervals = ahead;
  }
}

describe('reservations of a channel', () => {
  test('are those of a list that is searched from its start', () => {
    const request = fc.record({
      channel: fc.integer({ min: 0, max: 1 }),
      passing: fc.integer({ min: 0, max: 12 }),
      ahead: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 3_000 })),
      length: fc.integer({ min: 1, max: 9 }),
      // Another booking behind this one, or none.
      behind: fc.integer({ min: 0, max: 9 }),
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 70 }),
        fc.array(request, { minLength: 1, maxLength: 400, size: 'max' }),
        (limit, requests) => {
          const clock = { now: 0 };
          const bus = new Bus(2, limit, clock);
          const naive = [new NaiveBus(limit), new NaiveBus(limit)];
          let bookedNs = 0;
          for (const { channel, passing, ahead, length, behind } of requests) {
            clock.now += passing;
            bus.io[0] = clock.now + ahead;
            bus.io[1] = length;
            bus.io[3] = behind;
            if (behind > 0) bus.reserveBoth(channel);
            else bus.reserve(channel);
            const start = naive[channel].reserve(clock.now + ahead, length, clock.now);
            expect(bus.io[2]).toBe(start);
            if (behind > 0) expect(bus.io[4]).toBe(naive[channel].reserve(start + length, behind, clock.now));
            bookedNs += length + behind;
          }
          expect(bus.busyNs[0] + bus.busyNs[1]).toBe(bookedNs);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('nthSmallest', () => {
  test('finds what sorting finds, and parts the values there', () => {
    const values = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.nat()), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(values, fc.nat(), (list, seed) => {
        const n = seed % list.length;
        const column = Float64Array.from(list);
        const found = nthSmallest(column, n);
        expect(found).toBe(Float64Array.from(list).sort()[n]);
        expect(column.slice(0, n).every((value) => value <= found)).toBe(true);
        expect(column.slice(n).every((value) => value >= found)).toBe(true);
        expect(column.slice().sort()).toEqual(Float64Array.from(list).sort());
      }),
    );
  });
});

describe('programs in flight', () => {
  const parts: [string, Changes][] = [
    ['single pages', {}],
    ['two planes', { geometry: { planes: 2 }, features: { multiPlane: true } }],
    [
      'word lines',
      {
        geometry: { cellBits: 3, programUnit: 'wordline', pagesPerBlock: 18 },
        timing: { readNs: [50_000, 60_000, 70_000] },
      },
    ],
    ['pages in any order', { features: { randomPageProgram: true } }],
  ];
  test.each(parts)('are known by page until they end: %s', (_, changes) => {
    const array = new NandArray(vectorConfig(changes), { keeps: 'nothing', random: new RandomSource(1) });
    const simulator = new Simulator();
    const scheduler = new TimelineScheduler(array, simulator);
    const random = new RandomSource(3).stream('pages');
    const { geometry } = array;
    const endNs = new Float64Array(geometry.pages);
    let asked = 0;
    const compare = (): void => {
      for (let ppn = 0; ppn < geometry.pages; ppn++) {
        const expected = endNs[ppn] > simulator.now;
        if (expected) asked++;
        expect(scheduler.isProgramming(ppn)).toBe(expected);
      }
    };
    for (let step = 0; step < 600; step++) {
      const block = random.below(geometry.blocks);
      if (array.nextPage[block] === geometry.pagesPerBlock) {
        // A block is erased when its last program has ended, and programmed when its erase has.
        simulator.runUntil(Math.max(simulator.now, array.busyUntilNs[block]));
        scheduler.drop(scheduler.erase(block, NandClass.gcErase, 0));
        simulator.runUntil(array.busyUntilNs[block]);
      }
      const ppn = geometry.ppn(block, array.nextPage[block]);
      const token = scheduler.program(ppn, random.below(2) === 0 ? NandClass.userWrite : NandClass.gcWrite, 0);
      endNs.fill(scheduler.doneNs[token], ppn, ppn + geometry.programPages);
      scheduler.drop(token);
      if (random.below(4) === 0) simulator.runUntil(simulator.now + random.below(900_000));
      if (step % 5 === 0) compare();
      if (step % 200 !== 199) continue;
      scheduler.powerCut();
      endNs.fill(0);
      compare();
    }
    expect(asked).toBeGreaterThan(1_000);
  });
});

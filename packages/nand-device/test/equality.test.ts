import { describe, expect, it } from 'vitest';
import {
  createEventScheduler,
  NAND_PHASES,
  NandPhase,
  TimelineScheduler,
  type TransactionScheduler,
} from '../src/index.js';
import { Reference } from './reference.js';
import { arrayOf, RandomSource, Simulator, vectorConfig } from './support.js';
import { type Issued, Workout } from './workout.js';

const full = process.env.CI !== undefined;
/** The deep profile multiplies the seeds. */
const depth = process.env.FLASHSTACK_LONG === undefined ? 1 : 3;
const SEEDS = depth * (full ? 1000 : 60);

/** A random device: every feature that changes placement is drawn. */
function device(seed: number) {
  const random = new RandomSource(seed).stream('device');
  const flip = () => random.below(2) === 0;
  const cellBits = 1 + random.below(3);
  const copyback = flip();
  const config = vectorConfig({
    geometry: {
      channels: 1 + random.below(2),
      ways: 1 + random.below(3),
      planes: 1 + random.below(3),
      blocksPerPlane: 6,
      pagesPerBlock: 12,
      slotBytes: flip() ? 4096 : 1024,
      oobBytes: random.below(256),
      cellBits,
    },
    timing: {
      readNs: [50_000, 64_000, 90_000].slice(0, cellBits),
      programNs: [600_000, 1_300_000, 2_100_000].slice(0, cellBits),
      statusNs: flip() ? 0 : 150,
      channelBytesPerSec: [40e6, 333e6, 400e6][random.below(3)],
    },
    features: {
      cacheRegister: flip(),
      copyback,
      copybackCheck: flip(),
      independentPlaneReads: flip(),
      maxCopybacks: 3,
    },
  });
  const repertoire = { planes: config.geometry.planes > 1, cache: config.features.cacheRegister, copyback };
  return { config, repertoire, gapNs: [20_000, 200_000, 2_000_000][random.below(3)] };
}

/** Issues a recorded log again, at the same times, on another scheduler. */
function replay(
  log: readonly Issued[],
  scheduler: TransactionScheduler,
  simulator: Simulator,
): { done: number[]; phases: number[][] } {
  const done = log.map(() => -1);
  const phases: number[][] = log.map(() => []);
  const tokens: number[] = [];
  const used = new Set(log.flatMap((entry) => entry.after));
  log.forEach((entry, number) => {
    simulator.runUntil(entry.atNs);
    let after = 0;
    for (const each of entry.after) after = scheduler.join(after, tokens[each]);
    if (entry.fenced) after = scheduler.fence();
    const at = Int32Array.from(entry.at);
    const run = new Int32Array(at.length);
    let token = 0;
    if (entry.op === 'read') {
      token =
        at.length > 1
          ? scheduler.readPlanes(at, at.length, entry.cls, after)
          : scheduler.read(at[0], entry.slotMask, entry.cls, after);
    } else if (entry.op === 'program') {
      token =
        at.length > 1
          ? scheduler.programPlanes(at, at.length, entry.cls, after)
          : scheduler.program(at[0], entry.cls, after);
    } else if (entry.op === 'cacheProgram') token = scheduler.programCache(at[0], entry.cls, after);
    else if (entry.op === 'erase') {
      token =
        at.length > 1
          ? scheduler.erasePlanes(at, at.length, entry.cls, after)
          : scheduler.erase(at[0], entry.cls, after);
    } else if (entry.op === 'copyback') token = scheduler.copyback(at[0], at[1], entry.cls, after);
    else scheduler.readCache(at, at.length, entry.cls, after, run);
    tokens.push(token);
    if (used.has(number)) {
      done[number] = scheduler.doneNs[token];
      return;
    }
    for (const each of entry.op === 'run' ? run : [token]) {
      const client = {
        nandDone: () => {
          done[number] = simulator.now;
          phases[number].push(...scheduler.phasesNs.subarray(each * NAND_PHASES, (each + 1) * NAND_PHASES));
        },
      };
      scheduler.then(each, client, 0);
    }
  });
  simulator.drain();
  return { done, phases };
}

describe('one set of rules', () => {
  it.each([2, 16, 1000])('timeline = event (fifo, reserve) = naive rules, with %i reservations', (reservations) => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const { config, repertoire, gapNs } = device(seed);
      const simulator = new Simulator();
      const timeline = new TimelineScheduler(arrayOf(config), simulator, { reservations });
      const workout = new Workout(timeline, simulator, new RandomSource(seed).stream('workout'), repertoire);
      workout.run(150, gapNs);
      expect(workout.outstanding).toBe(0);

      const reference = new Reference(config, reservations);
      const behindGc: number[] = [];
      const expected = workout.log.map((entry) => {
        const done = reference.place(entry);
        behindGc.push(reference.gcWait);
        return done;
      });
      const chained = new Set(workout.log.flatMap((entry) => entry.after));
      workout.log.forEach((entry, number) => {
        if (!chained.has(number))
          expect([seed, number, entry.op, entry.doneNs]).toEqual([seed, number, entry.op, expected[number]]);
      });

      workout.log.forEach((entry, number) => {
        if (chained.has(number)) return;
        expect([seed, number, entry.op, entry.phases.at(NandPhase.gcWait - NAND_PHASES)]).toEqual([
          seed,
          number,
          entry.op,
          behindGc[number],
        ]);
      });

      const second = new Simulator();
      const event = createEventScheduler(arrayOf(config), second, { policy: 'fifo', bus: 'reserve', reservations });
      const again = replay(workout.log, event, second);
      expect([seed, again.done]).toEqual([seed, expected]);
      workout.log.forEach((entry, number) => {
        if (!chained.has(number)) expect([seed, number, again.phases[number]]).toEqual([seed, number, entry.phases]);
      });
    }
  });

  it.each([3, 16, 1000])('books no resource twice, with %i reservations', (reservations) => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const { config, repertoire, gapNs } = device(seed);
      const simulator = new Simulator();
      const timeline = new TimelineScheduler(arrayOf(config), simulator, { reservations });
      const busy = new Map<string, [number, number][]>();
      const note = (name: string, start: number, end: number) => {
        busy.set(name, [...(busy.get(name) ?? []), [start, end]]);
      };
      timeline.trace = {
        onBus: (channel, start, end) => {
          note(`channel ${channel}`, start, end);
        },
        onDie: (die, start, end) => {
          note(`die ${die}`, start, end);
        },
      };
      new Workout(timeline, simulator, new RandomSource(seed).stream('workout'), repertoire).run(150, gapNs);
      for (const [name, intervals] of busy) {
        intervals.sort((a, b) => a[0] - b[0]);
        for (let i = 1; i < intervals.length; i++) {
          expect([name, intervals[i][0] >= intervals[i - 1][1]]).toEqual([name, true]);
        }
        const total = intervals.reduce((sum, [start, end]) => sum + end - start, 0);
        const column = name.startsWith('die') ? timeline.dieBusyNs : timeline.channelBusyNs;
        expect(column[Number(name.split(' ')[1])]).toBe(total);
      }
    }
  });
});

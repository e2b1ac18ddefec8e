import { describe, expect, it } from 'vitest';
import {
  createEventScheduler,
  type NandArray,
  NandClass,
  NandStatus,
  TimelineScheduler,
  type TransactionScheduler,
  VssimScheduler,
} from '../src/index.js';
import {
  arrayOf,
  type Changes,
  fill,
  plainChanges,
  RandomSource,
  Simulator,
  vectorConfig,
  vectorDelays,
} from './support.js';
import { Workout } from './workout.js';

const full = process.env.CI !== undefined;
/** The deep profile multiplies the seeds. */
const depth = process.env.FLASHSTACK_LONG === undefined ? 1 : 3;
const SEEDS = depth * (full ? 500 : 50);
const { userWrite, gcErase } = NandClass;

type Make = (array: NandArray, simulator: Simulator) => TransactionScheduler;
const asGiven = (changes: Changes): Changes => changes;
const makers: [string, Make, (changes: Changes) => Changes][] = [
  ['timeline', (array, simulator) => new TimelineScheduler(array, simulator), asGiven],
  ['event fifo reserve', (a, s) => createEventScheduler(a, s, { policy: 'fifo', bus: 'reserve' }), asGiven],
  ['event outOfOrder reserve', (a, s) => createEventScheduler(a, s, { bus: 'reserve' }), asGiven],
  ['event outOfOrder arbitrate', (a, s) => createEventScheduler(a, s), asGiven],
  ['vssim', (a, s) => new VssimScheduler(a, s, vectorDelays), plainChanges],
];

describe.each(makers)('power cut on %s', (_name, make, adapt) => {
  const on = (changes: Changes = {}) => {
    const simulator = new Simulator();
    return { simulator, scheduler: make(arrayOf(vectorConfig(adapt(changes))), simulator) };
  };

  it('keeps what has ended, tears what is in progress, undoes what has not begun', () => {
    const { simulator, scheduler } = on({ features: { tornLost: 1 } });
    const { array } = scheduler;
    for (let page = 0; page < 4; page++) scheduler.drop(scheduler.program(page, userWrite, 0));
    simulator.runUntil(1_000_000);
    expect(array.nextPage[0]).toBe(4);
    expect(scheduler.powerCut()).toEqual({ undonePrograms: 2, undoneErases: 0, tornPrograms: 1, tornErases: 0 });
    expect(array.nextPage[0]).toBe(2);
    expect([0, 1, 2].map((page) => array.isReadable(page))).toEqual([true, false, false]);
    expect([0, 1, 2].map((page) => array.read(page, 1))).toEqual([
      NandStatus.ok,
      NandStatus.uncorrectable,
      NandStatus.erased,
    ]);
    // Nothing of the past happens any more, and the scheduler serves whoever recovers.
    const before = simulator.now;
    scheduler.drop(scheduler.program(2, userWrite, 0));
    expect(scheduler.isProgramming(2)).toBe(true);
    simulator.runUntil(before + 610_440);
    expect(scheduler.isProgramming(2)).toBe(false);
  });

  it('leaves a page whose data is still on the bus untouched', () => {
    const { simulator, scheduler } = on();
    scheduler.drop(scheduler.program(0, userWrite, 0));
    simulator.runUntil(10_000);
    expect(scheduler.powerCut().undonePrograms).toBe(1);
    expect(scheduler.array.isErased(0)).toBe(true);
  });

  it('a torn erase leaves garbage, an erase that has not begun leaves the data', () => {
    const { simulator, scheduler } = on();
    const { array } = scheduler;
    fill(array, 0, 3);
    fill(array, 1, 5);
    scheduler.drop(scheduler.erase(0, gcErase, 0));
    scheduler.drop(scheduler.erase(1, gcErase, 0));
    expect([array.nextPage[0], array.nextPage[1], array.eraseCount[1]]).toEqual([0, 0, 1]);
    simulator.runUntil(1_000_000);
    expect(scheduler.powerCut()).toEqual({ undonePrograms: 0, undoneErases: 1, tornPrograms: 0, tornErases: 1 });
    expect([array.nextPage[1], array.eraseCount[1], array.isReadable(20)]).toEqual([5, 0, true]);
    expect([array.garbage[0], array.isReadable(0), array.read(0, 1)]).toEqual([1, false, NandStatus.uncorrectable]);
    expect(() => scheduler.program(0, userWrite, 0)).toThrowError(expect.objectContaining({ rule: 'block-garbage' }));
    scheduler.drop(scheduler.erase(0, gcErase, 0));
    simulator.runUntil(simulator.now + 3_000_200);
    expect(array.garbage[0]).toBe(0);
    expect(() => scheduler.program(0, userWrite, 0)).not.toThrow();
  });

  it('calls no client afterwards and frees every token', () => {
    const { simulator, scheduler } = on();
    let called = 0;
    const client = {
      nandDone: () => {
        called++;
      },
    };
    scheduler.then(scheduler.program(0, userWrite, 0), client, 0);
    scheduler.then(scheduler.fence(), client, 0);
    scheduler.then(scheduler.program(2 * 16, userWrite, scheduler.program(16, userWrite, 0)), client, 0);
    scheduler.powerCut();
    simulator.runUntil(10_000_000);
    expect(called).toBe(0);
    scheduler.then(scheduler.program(0, userWrite, 0), client, 0);
    simulator.drain();
    expect(called).toBe(1);
  });

  it('may come from inside a client', () => {
    const { simulator, scheduler } = on();
    let called = 0;
    const client = {
      nandDone: () => {
        called++;
        scheduler.powerCut();
      },
    };
    for (let page = 0; page < 3; page++) scheduler.then(scheduler.program(page, userWrite, 0), client, 0);
    simulator.drain();
    expect(called).toBe(1);
    expect(scheduler.array.nextPage[0]).toBeLessThanOrEqual(2);
  });

  it('at any moment: ended work is whole, unbegun work never happened, blocks stay in page order', () => {
    let torn = 0;
    let undone = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const random = new RandomSource(seed).stream('cut');
      const { simulator, scheduler } = on({
        geometry: { planes: 2, ways: 2, blocksPerPlane: 4, pagesPerBlock: 8 },
        features: { copyback: true, suspend: random.below(2) === 0 ? 'none' : 'program+erase', tornLost: 1 },
      });
      const { array } = scheduler;
      const { multiPlane, copyback } = array.config.features;
      const repertoire = { planes: multiPlane, cache: false, copyback };
      const workout = new Workout(scheduler, simulator, new RandomSource(seed).stream('workout'), repertoire);
      workout.run(60, 300_000);
      // From here on every page and block carries what became of it.
      const issued = { programs: new Map<number, boolean>(), erases: new Map<number, boolean>() };
      const before = [...array.nextPage];
      const counts = [...array.eraseCount];
      let budget = 40;
      const busy = new Set<number>();
      while (budget-- > 0) {
        const block = random.below(array.geometry.blocks);
        if (array.nextPage[block] < 8 && !issued.erases.has(block)) {
          const ppn = array.geometry.ppn(block, array.nextPage[block]);
          issued.programs.set(ppn, false);
          busy.add(block);
          scheduler.then(
            scheduler.program(ppn, userWrite, 0),
            {
              nandDone: () => {
                issued.programs.set(ppn, true);
              },
            },
            0,
          );
        } else if (!busy.has(block) && !issued.erases.has(block)) {
          issued.erases.set(block, false);
          scheduler.then(
            scheduler.erase(block, gcErase, 0),
            {
              nandDone: () => {
                issued.erases.set(block, true);
              },
            },
            0,
          );
        }
        if (random.below(3) === 0) simulator.runUntil(simulator.now + random.below(500_000));
      }
      simulator.runUntil(simulator.now + random.below(2_000_000));
      const cut = scheduler.powerCut();
      torn += cut.tornPrograms + cut.tornErases;
      undone += cut.undonePrograms + cut.undoneErases;
      expect(cut.tornPrograms + cut.undonePrograms).toBe([...issued.programs.values()].filter((done) => !done).length);
      expect(cut.tornErases + cut.undoneErases).toBe([...issued.erases.values()].filter((done) => !done).length);
      for (const [ppn, done] of issued.programs) {
        const state = array.isErased(ppn) ? 'erased' : array.isReadable(ppn) ? 'whole' : 'torn';
        if (done) expect([seed, ppn, state]).toEqual([seed, ppn, 'whole']);
        else expect([seed, ppn, state]).not.toEqual([seed, ppn, 'whole']);
      }
      for (const [block, done] of issued.erases) {
        const state = [array.nextPage[block], array.garbage[block], array.eraseCount[block] - counts[block]];
        const allowed = done
          ? [[0, 0, 1]]
          : [
              [8, 1, 1],
              [before[block], 0, 0],
            ];
        expect(allowed).toContainEqual(state);
      }
      // At most one torn page at the end of each block.
      for (let block = 0; block < array.geometry.blocks; block++) {
        if (array.garbage[block] !== 0) continue;
        for (let page = 0; page + 1 < array.nextPage[block]; page++)
          expect(array.isReadable(block * 8 + page)).toBe(true);
      }
    }
    expect(torn).toBeGreaterThan(SEEDS / 2);
    expect(undone).toBeGreaterThan(SEEDS / 2);
  });
});

describe('what a torn program leaves', () => {
  it('is lost with probability tornLost, and takes lower pages of its word line with it with pairedLost', () => {
    const config = vectorConfig({
      geometry: { cellBits: 2, blocksPerPlane: 2048, pagesPerBlock: 16, pairing: 'shifted' },
      timing: { readNs: [1, 1], programNs: [1, 1] },
      features: { tornLost: 0.3, pairedLost: 0.6 },
    });
    const array = arrayOf(config, 8);
    let lost = 0;
    let weak = 0;
    let paired = 0;
    const n = array.geometry.blocks;
    for (let block = 0; block < n; block++) {
      fill(array, block, 5);
      // Page 4 is the upper page of page 0.
      array.tearProgram(block * 16 + 4);
      if (!array.isReadable(block * 16 + 4)) lost++;
      else if (array.isWeak(block * 16 + 4)) weak++;
      if (!array.isReadable(block * 16)) paired++;
      for (const page of [1, 2, 3]) expect(array.isReadable(block * 16 + page)).toBe(true);
    }
    expect(lost + weak).toBe(n);
    expect(Math.abs(lost - 0.3 * n)).toBeLessThan(3 * Math.sqrt(n * 0.21));
    expect(Math.abs(paired - 0.6 * n)).toBeLessThan(3 * Math.sqrt(n * 0.24));
  });
});

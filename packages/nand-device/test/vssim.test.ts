import { describe, expect, it } from 'vitest';
import {
  defaultVssimDelays,
  NAND_PHASES,
  NandClass,
  type NandConfig,
  NandPhase,
  type Token,
  type VssimDelays,
  VssimScheduler,
} from '../src/index.js';
import { arrayOf, type Changes, fill, RandomSource, Simulator, vectorConfig } from './support.js';
import { VssimModel } from './vssim-model.js';
import { Workout } from './workout.js';

const full = process.env.CI !== undefined;
/** The deep profile multiplies the seeds. */
const depth = process.env.FLASHSTACK_LONG === undefined ? 1 : 3;
const SEEDS = depth * (full ? 500 : 60);
const { userRead, userWrite, gcErase, gcRead } = NandClass;

/** The chips of the X25-M that VSSIM ships, with fewer and smaller blocks. */
function x25m(changes: Changes = {}): NandConfig {
  return vectorConfig({
    geometry: { channels: 10, ways: 2, ...changes.geometry },
    timing: { readNs: [140_000], programNs: [940_000], eraseNs: 2_000_000, ...changes.timing },
    features: { multiPlane: false, ...changes.features },
  });
}

/** A scheduler whose tokens are watched by name. */
class Bench {
  readonly simulator = new Simulator();
  readonly scheduler: VssimScheduler;
  readonly doneNs: Record<string, number> = {};
  readonly phases: Record<string, number[]> = {};

  constructor(config: NandConfig = x25m(), delays: Partial<VssimDelays> = {}) {
    this.scheduler = new VssimScheduler(arrayOf(config), this.simulator, { ...defaultVssimDelays, ...delays });
  }

  /** First page of the first block of a chip of a channel. */
  page(channel: number, way: number, block = 0): number {
    const { geometry } = this.scheduler.array;
    return geometry.ppn(geometry.unit(channel, way, 0, 0) * geometry.blocksPerPlane + block, 0);
  }

  block(channel: number, way: number, block = 0): number {
    return this.scheduler.array.geometry.blockOf(this.page(channel, way, block));
  }

  watch(name: string, token: Token): void {
    const { scheduler, simulator } = this;
    const nandDone = (): void => {
      this.doneNs[name] = simulator.now;
      this.phases[name] = [...scheduler.phasesNs.subarray(token * NAND_PHASES, (token + 1) * NAND_PHASES)];
    };
    scheduler.then(token, { nandDone }, 0);
  }

  read(name: string, ppn: number, after = 0): void {
    fill(this.scheduler.array, this.scheduler.array.geometry.blockOf(ppn), 1);
    this.watch(name, this.scheduler.read(ppn, 1, userRead, after));
  }
}

describe('single commands', () => {
  it('a read: switch, cell, register; a write: switch, register, cell; an erase: cell only', () => {
    const bench = new Bench();
    bench.read('read', bench.page(0, 0));
    bench.simulator.drain();
    expect(bench.doneNs.read).toBe(16_000 + 140_000 + 82_000);
    expect(bench.phases.read).toEqual([0, 0, 0, 140_000, 98_000]);

    const from = bench.simulator.now;
    bench.watch('write', bench.scheduler.program(bench.page(1, 0), userWrite, 0));
    bench.simulator.drain();
    expect(bench.doneNs.write - from).toBe(33_000 + 82_000 + 940_000);
    expect(bench.phases.write).toEqual([0, 0, 0, 940_000, 115_000]);

    const then = bench.simulator.now;
    bench.watch('erase', bench.scheduler.erase(bench.block(1, 0), gcErase, 0));
    bench.simulator.drain();
    expect(bench.doneNs.erase - then).toBe(2_000_000);
    expect(bench.phases.erase).toEqual([0, 0, 0, 2_000_000, 0]);
  });

  it('counts dies and channels busy for as long as they were', () => {
    const bench = new Bench();
    const told: [string, number, number, number][] = [];
    bench.scheduler.trace = {
      onBus: (channel, from, to) => {
        told.push(['channel', channel, from, to]);
      },
      onDie: (die, from, to) => {
        told.push(['die', die, from, to]);
      },
    };
    bench.watch('write', bench.scheduler.program(bench.page(0, 1), userWrite, 0));
    bench.simulator.drain();
    expect(told).toEqual([
      ['channel', 0, 33_000, 115_000],
      ['die', 1, 0, 1_055_000],
    ]);
    expect([bench.scheduler.channelBusyNs[0], bench.scheduler.dieBusyNs[1]]).toEqual([82_000, 1_055_000]);
  });
});

describe('page commands', () => {
  it('of two channels start a switch delay apart, of one channel at once', () => {
    const bench = new Bench();
    bench.read('a', bench.page(0, 0));
    bench.read('b', bench.page(1, 0));
    bench.simulator.drain();
    expect(bench.doneNs).toEqual({ a: 238_000, b: 16_000 + 238_000 });
    // The second waited for its turn.
    expect(bench.phases.b).toEqual([0, 0, 16_000, 140_000, 98_000]);

    const same = new Bench();
    same.read('a', same.page(0, 0));
    same.read('b', same.page(0, 1));
    same.simulator.drain();
    // Both cells at once, then one register after the other.
    expect(same.doneNs).toEqual({ a: 238_000, b: 238_000 + 82_000 });
    expect(same.phases.b).toEqual([0, 0, 82_000, 140_000, 98_000]);
  });

  it('the delay is that of the command before, and erases take no part in it', () => {
    const bench = new Bench();
    bench.watch('write', bench.scheduler.program(bench.page(0, 0), userWrite, 0));
    fill(bench.scheduler.array, bench.block(3, 1), 1);
    bench.watch('erase', bench.scheduler.erase(bench.block(3, 1), gcErase, 0));
    bench.read('read', bench.page(1, 0));
    bench.simulator.drain();
    expect(bench.doneNs).toEqual({ write: 1_055_000, erase: 2_000_000, read: 33_000 + 238_000 });
  });

  it('wait for their chip, and hold back whatever was issued later', () => {
    const bench = new Bench();
    bench.read('first', bench.page(0, 0));
    bench.read('same chip', bench.page(0, 0, 1));
    bench.read('other channel', bench.page(5, 0));
    bench.simulator.drain();
    expect(bench.doneNs['same chip']).toBe(2 * 238_000);
    expect(bench.doneNs['other channel']).toBe(238_000 + 16_000 + 238_000);
    expect(bench.phases['same chip']).toEqual([238_000, 0, 0, 140_000, 98_000]);
    expect(bench.phases['other channel']).toEqual([0, 0, 254_000, 140_000, 98_000]);
  });

  it('of two planes of a chip overlap only if planes work apart', () => {
    const run = (parallel: 'chip' | 'plane'): number => {
      const bench = new Bench(x25m({ geometry: { planes: 2 } }), { parallel });
      const { geometry } = bench.scheduler.array;
      bench.read('a', 0);
      bench.read('b', geometry.blocksPerPlane * geometry.pagesPerBlock);
      bench.simulator.drain();
      return bench.doneNs.b;
    };
    expect(run('chip')).toBe(2 * 238_000);
    expect(run('plane')).toBe(238_000 + 82_000);
  });

  it('a write pushes back the reads of its channel that have not begun to move data', () => {
    const bench = new Bench();
    bench.read('read', bench.page(0, 0));
    bench.watch('write', bench.scheduler.program(bench.page(0, 1), userWrite, 0));
    bench.simulator.drain();
    // The write does not ask for the channel.
    expect(bench.doneNs).toEqual({ read: 238_000 + 82_000, write: 1_055_000 });
    expect(bench.phases.read).toEqual([0, 0, 82_000, 140_000, 98_000]);

    const late = new Bench();
    late.read('read', late.page(0, 0));
    // Its register phase begins at 156 us, as that of the read.
    late.simulator.runUntil(123_000);
    late.watch('write', late.scheduler.program(late.page(0, 1), userWrite, 0));
    late.simulator.drain();
    expect(late.doneNs.read).toBe(238_000);
  });

  it('what a wait for a chip spent behind garbage collection is told apart', () => {
    const bench = new Bench();
    fill(bench.scheduler.array, bench.block(0, 0, 2), 1);
    bench.watch('gc', bench.scheduler.read(bench.page(0, 0, 2), 1, gcRead, 0));
    bench.read('read', bench.page(0, 0));
    bench.simulator.drain();
    expect(bench.phases.read[NandPhase.gcWait]).toBe(238_000);
    expect(bench.phases.read[NandPhase.dieWait]).toBe(0);
  });
});

describe('bandwidth of the X25-M', () => {
  /** Bytes per second of page commands round robin over channels, then ways. */
  function rate(kind: 'read' | 'write'): number {
    const bench = new Bench(x25m({ geometry: { blocksPerPlane: 4, pagesPerBlock: 64 } }));
    const { scheduler, simulator } = bench;
    const rounds = 100;
    let firstNs = 0;
    for (let round = 0; round < rounds; round++) {
      for (let chip = 0; chip < 20; chip++) {
        const ppn = bench.page(chip % 10, Math.floor(chip / 10), Math.floor(round / 64)) + (round % 64);
        if (kind === 'read') scheduler.array.program(ppn);
        const token = kind === 'read' ? scheduler.read(ppn, 1, userRead, 0) : scheduler.program(ppn, userWrite, 0);
        if (round === 0 && chip === 0) scheduler.then(token, { nandDone: () => (firstNs = simulator.now) }, 0);
        else scheduler.drop(token);
      }
    }
    simulator.drain();
    return ((20 * rounds - 1) * 4096) / ((simulator.now - firstNs) / 1e9);
  }

  it('reads are bound by the switch delay: 4,096 B in 16 us', () => {
    expect(rate('read') / 1e6).toBeCloseTo(4096 / 16, 6);
  });

  it('writes are bound by 20 chips of 82 + 940 us and the switch delay: 78 to 80 MB/s', () => {
    const expected = (20 * 4096) / (33 + 82 + 940);
    // The last round ends 19 switch delays after its first write, a hundred periods are 105.5 ms.
    expect(Math.abs(rate('write') / 1e6 / expected - 1)).toBeLessThan(0.006);
    expect(Math.round(rate('write') / 1e6)).toBeGreaterThanOrEqual(78);
    expect(rate('write') / 1e6).toBeLessThanOrEqual((20 * 4096) / (82 + 940));
  });
});

describe('tokens', () => {
  it('a fence, a join, a guard and an input hold back what comes after them', () => {
    const bench = new Bench();
    const { scheduler } = bench;
    const slow = scheduler.program(bench.page(0, 0), userWrite, 0);
    fill(scheduler.array, bench.block(2, 0), 1);
    scheduler.guard(bench.block(2, 0), slow);
    scheduler.drop(slow);
    bench.watch('erase', scheduler.erase(bench.block(2, 0), gcErase, 0));
    bench.watch('fence', scheduler.fence());
    const joined = scheduler.join(
      scheduler.program(bench.page(3, 0), userWrite, 0),
      scheduler.program(bench.page(4, 0), userWrite, 0),
    );
    bench.watch('after both', scheduler.program(bench.page(5, 0), userWrite, joined));
    bench.simulator.drain();
    const write = 1_055_000;
    // The erase waits for the write, and what was issued later waits for the erase to begin.
    expect(bench.doneNs).toEqual({
      erase: write + 2_000_000,
      fence: write,
      'after both': write + (33_000 + write) + write,
    });
  });

  it('a chip is idle when nothing works there, nothing waits and the switch delay is over', () => {
    const bench = new Bench();
    const { scheduler, simulator } = bench;
    expect(scheduler.isIdle(bench.page(0, 0))).toBe(true);
    scheduler.drop(scheduler.program(bench.page(0, 0), userWrite, 0));
    expect([bench.page(0, 0), bench.page(0, 1), bench.page(1, 0)].map((ppn) => scheduler.isIdle(ppn))).toEqual([
      false,
      true,
      false,
    ]);
    simulator.runUntil(33_000);
    expect(scheduler.isIdle(bench.page(1, 0))).toBe(true);
    scheduler.drop(scheduler.program(bench.page(0, 0, 1), userWrite, 0));
    expect(scheduler.isIdle(bench.page(1, 0))).toBe(false);
    simulator.drain();
    expect(scheduler.isIdle(bench.page(0, 0))).toBe(true);
  });
});

describe('configuration', () => {
  const make =
    (changes: Changes, delays: unknown = defaultVssimDelays) =>
    () =>
      new VssimScheduler(arrayOf(x25m(changes)), new Simulator(), delays as VssimDelays);

  it('refuses what VSSIM does not know, all of it at once', () => {
    const changes: Changes = {
      features: {
        multiPlane: true,
        cacheRegister: true,
        suspend: 'erase',
        copyback: true,
        independentPlaneReads: true,
      },
      timing: { statusNs: 100 },
    };
    for (const key of ['multiPlane', 'cacheRegister', 'suspend', 'copyback', 'independentPlaneReads', 'statusNs']) {
      expect(make(changes)).toThrowError(expect.objectContaining({ message: expect.stringContaining(key) }));
    }
    expect(make(changes)).toThrowError(expect.objectContaining({ code: 'ERR_NAND_VSSIM' }));
    expect(make({ geometry: { programUnit: 'wordline' } })).toThrowError(/programUnit: .*expected page/);
  });

  it('refuses delays that cannot be, and names the key', () => {
    const wrong = (change: object) => make({}, { ...defaultVssimDelays, ...change });
    expect(wrong({ switchReadNs: -1 })).toThrowError(/vssim\.switchReadNs: expected an integer .* found -1/);
    expect(wrong({ registerWriteNs: 0.5 })).toThrowError(/vssim\.registerWriteNs/);
    expect(wrong({ parallel: 'die' })).toThrowError(/vssim\.parallel: expected chip or plane, found "die"/);
    expect(wrong({ switchReadsNs: 1 })).toThrowError(/vssim\.switchReadsNs: unknown key; did you mean switchReadNs\?/);
    expect(make({}, null)).toThrowError(/vssim: expected a map/);
    expect(make({}, { switchReadNs: 1 })).toThrowError(/vssim\.switchWriteNs: .* found nothing/);
  });
});

describe('random traffic', () => {
  /** A random device, and delays that now and then are nothing. */
  function device(seed: number) {
    const random = new RandomSource(seed).stream('device');
    const cellBits = 1 + random.below(3);
    const delay = (most: number): number => (random.below(5) === 0 ? 0 : random.below(most));
    const config = vectorConfig({
      geometry: {
        channels: 1 + random.below(4),
        ways: 1 + random.below(3),
        dies: 1 + random.below(2),
        planes: 1 + random.below(3),
        blocksPerPlane: 5,
        pagesPerBlock: 12,
        slotBytes: random.below(2) === 0 ? 4096 : 1024,
        cellBits,
      },
      timing: {
        readNs: [50_000, 64_000, 90_000].slice(0, cellBits),
        programNs: [600_000, 1_300_000, 2_100_000].slice(0, cellBits),
      },
      features: { multiPlane: false },
    });
    const delays: VssimDelays = {
      switchReadNs: delay(60_000),
      switchWriteNs: delay(60_000),
      registerReadNs: delay(100_000),
      registerWriteNs: delay(100_000),
      parallel: random.below(2) === 0 ? 'chip' : 'plane',
    };
    return { config, delays, gapNs: [20_000, 200_000, 1_000_000][random.below(3)] };
  }

  it('ends as the naive model says, to the nanosecond; phases add up; no resource is taken twice', () => {
    let pushed = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const { config, delays, gapNs } = device(seed);
      const simulator = new Simulator();
      const scheduler = new VssimScheduler(arrayOf(config), simulator, delays);
      const busy = new Map<string, [number, number][]>();
      const note = (name: string, start: number, end: number): void => {
        busy.set(name, [...(busy.get(name) ?? []), [start, end]]);
      };
      scheduler.trace = {
        onBus: (channel, start, end) => note(`channel ${channel}`, start, end),
        onDie: (die, start, end) => note(`die ${die}`, start, end),
      };
      const repertoire = { planes: false, cache: false, copyback: false };
      const workout = new Workout(scheduler, simulator, new RandomSource(seed).stream('workout'), repertoire);
      workout.run(150, gapNs);
      expect(workout.outstanding).toBe(0);
      const expected = new VssimModel(config, delays).run(workout.log);
      const chained = new Set(workout.log.flatMap((entry) => entry.after));
      workout.log.forEach((entry, number) => {
        if (chained.has(number)) return;
        expect([seed, number, entry.op, entry.doneNs]).toEqual([seed, number, entry.op, expected[number]]);
        const sum = entry.phases.reduce((total, ns) => total + ns, 0);
        expect([seed, number, sum]).toEqual([seed, number, entry.doneNs - entry.readyNs]);
        expect(Math.min(...entry.phases)).toBeGreaterThanOrEqual(0);
        if (entry.op === 'read' && entry.phases[NandPhase.busWait] >= delays.registerWriteNs) pushed++;
      });
      for (const [name, intervals] of busy) {
        for (let i = 1; i < intervals.length; i++) {
          expect([seed, name, intervals[i][0] >= intervals[i - 1][1]]).toEqual([seed, name, true]);
        }
        const total = intervals.reduce((sum, [start, end]) => sum + end - start, 0);
        const column = name.startsWith('die') ? scheduler.dieBusyNs : scheduler.channelBusyNs;
        expect(column[Number(name.split(' ')[1])]).toBe(total);
      }
    }
    expect(pushed).toBeGreaterThan(SEEDS);
  });
});

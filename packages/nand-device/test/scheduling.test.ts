import { describe, expect, it } from 'vitest';
import {
  createEventScheduler,
  defaultReliability,
  EventScheduler,
  type EventSchedulerOptions,
  NAND_PHASES,
  NandClass,
  NandPhase,
  OpKind,
  TimelineScheduler,
  type Token,
  type TransactionScheduler,
} from '../src/index.js';
import { arrayOf, type Changes, fill, RandomSource, Simulator, vectorConfig } from './support.js';

const { mappingRead, userRead, userWrite, gcRead, gcWrite, gcErase } = NandClass;

/** A scheduler on a small device, and the order and times at which what was issued ended. */
class Bench {
  readonly simulator = new Simulator();
  readonly scheduler: EventScheduler;
  readonly ended: string[] = [];
  readonly atNs: Record<string, number> = {};
  readonly phases: Record<string, number[]> = {};

  constructor(changes: Changes = {}, options: EventSchedulerOptions = {}) {
    const scheduler = createEventScheduler(arrayOf(vectorConfig(changes)), this.simulator, options);
    if (!(scheduler instanceof EventScheduler)) throw new Error('these tests are about queues');
    this.scheduler = scheduler;
  }

  watch(name: string, token: Token): void {
    const client = {
      nandDone: () => {
        this.ended.push(name);
        this.atNs[name] = this.simulator.now;
        this.phases[name] = [...this.scheduler.phasesNs.subarray(token * NAND_PHASES, (token + 1) * NAND_PHASES)];
      },
    };
    this.scheduler.then(token, client, 0);
  }
}

describe.each(['arbitrate', 'reserve'] as const)('die policies, bus %s', (bus) => {
  /** While a program holds the die, one transaction of each class is issued, most urgent last. */
  function order(options: EventSchedulerOptions): string[] {
    const bench = new Bench({}, { bus, merge: false, ...options });
    const { scheduler } = bench;
    fill(scheduler.array, 0, 4);
    fill(scheduler.array, 2, 4);
    scheduler.drop(scheduler.program(16, userWrite, 0));
    bench.watch('gc erase', scheduler.erase(2, gcErase, 0));
    bench.watch('gc write', scheduler.program(3 * 16, gcWrite, 0));
    bench.watch('user write', scheduler.program(4 * 16, userWrite, 0));
    bench.watch('gc read', scheduler.read(0, 1, gcRead, 0));
    bench.watch('user read', scheduler.read(1, 1, userRead, 0));
    bench.watch('mapping read', scheduler.read(2, 1, mappingRead, 0));
    bench.simulator.drain();
    return bench.ended;
  }

  it('outOfOrder serves by class', () => {
    expect(order({ policy: 'outOfOrder' })).toEqual([
      'mapping read',
      'user read',
      'gc read',
      'user write',
      'gc write',
      'gc erase',
    ]);
  });

  it('readFirst serves reads first, otherwise by arrival', () => {
    expect(order({ policy: 'readFirst' })).toEqual([
      'gc read',
      'user read',
      'mapping read',
      'gc erase',
      'gc write',
      'user write',
    ]);
  });

  it('priority shares by weight: nobody waits for ever behind a stream of reads', () => {
    const bench = new Bench({}, { bus, policy: 'priority', weights: [1, 3, 1, 1, 1, 1, 1], merge: false });
    const { scheduler } = bench;
    fill(scheduler.array, 0, 1);
    scheduler.drop(scheduler.program(16, userWrite, 0));
    for (let i = 0; i < 8; i++) bench.watch('r', scheduler.read(0, 1, userRead, 0));
    for (let i = 0; i < 2; i++) bench.watch('W', scheduler.program(3 * 16 + i, userWrite, 0));
    bench.simulator.drain();
    // The program that held the die had used up its class's share of the first round.
    expect(bench.ended.join('')).toBe('rrrrrrWrrW');
  });

  it('whatever the classes, pages of a block are programmed in order and an erase waits for what was issued before', () => {
    const bench = new Bench({}, { bus, merge: false });
    const { scheduler } = bench;
    fill(scheduler.array, 0, 4);
    const slow = scheduler.read(0, 1, gcRead, 0);
    bench.watch('first', scheduler.program(16, gcWrite, slow));
    bench.watch('second', scheduler.program(17, userWrite, 0));
    bench.watch('third', scheduler.program(18, gcWrite, 0));
    bench.watch('fourth', scheduler.program(19, userWrite, 0));
    bench.watch('read', scheduler.read(1, 1, userRead, scheduler.program(20, gcWrite, 0)));
    bench.watch('erase', scheduler.erase(0, mappingRead, 0));
    bench.simulator.drain();
    expect(bench.ended).toEqual(['first', 'second', 'third', 'fourth', 'read', 'erase']);
  });
});

describe.each(['arbitrate', 'reserve'] as const)('suspension, bus %s', (bus) => {
  const part: Changes = {
    features: { suspend: 'program+erase', minRemainingNs: 100_000, maxSuspends: 2, maxSuspendNs: 1_000_000 },
  };

  function readBehindErase(changes: Changes): Bench {
    const bench = new Bench(changes, { bus });
    fill(bench.scheduler.array, 0, 2);
    fill(bench.scheduler.array, 1, 2);
    bench.watch('erase', bench.scheduler.erase(1, gcErase, 0));
    bench.simulator.runUntil(1_000_000);
    bench.watch('read', bench.scheduler.read(0, 1, userRead, 0));
    bench.simulator.drain();
    return bench;
  }

  it('lets a read pass an erase, to the nanosecond', () => {
    const bench = readBehindErase(part);
    // Suspend command 40 ns, tSuspend 100 µs, then the read; then resume command and tResume on top of what is left.
    expect(bench.atNs.read).toBe(1_000_000 + 40 + 100_000 + 60_440);
    const left = 3_000_200 - 1_000_040;
    expect(bench.atNs.erase).toBe(bench.atNs.read + 40 + 30_000 + left);
    expect(bench.phases.read[NandPhase.gcWait]).toBe(100_040);
    expect(bench.phases.erase[NandPhase.array]).toBe(3_000_000 + 30_000);
    expect(bench.phases.erase[NandPhase.dieWait]).toBe(100_000 + 60_440);
    expect(bench.scheduler.suspensions).toBe(1);
  });

  it('is off unless the part can, and then the read waits', () => {
    const bench = readBehindErase({ features: { suspend: 'none' } });
    expect(bench.atNs.read).toBe(3_000_200 + 60_440);
    expect(bench.phases.read[NandPhase.gcWait]).toBe(2_000_200);
  });

  it('repeats the current pulse with eraseRestart', () => {
    const bench = readBehindErase({
      features: { ...part.features, eraseRestart: true },
      timing: { erasePulseNs: 400_000 },
    });
    // 999,840 ns of array time had passed: two pulses and 199,840 ns of the third.
    const left = 3_000_200 - 1_000_040;
    expect(bench.atNs.erase).toBe(bench.atNs.read + 40 + 30_000 + left + 199_840);
  });

  it('leaves an operation alone that is nearly over', () => {
    const bench = new Bench(part, { bus });
    fill(bench.scheduler.array, 0, 1);
    bench.watch('erase', bench.scheduler.erase(1, gcErase, 0));
    bench.simulator.runUntil(2_900_200);
    bench.watch('read', bench.scheduler.read(0, 1, userRead, 0));
    bench.simulator.drain();
    expect([bench.atNs.erase, bench.scheduler.suspensions]).toEqual([3_000_200, 0]);
  });

  it('bounds how often and for how long', () => {
    const bench = new Bench(part, { bus });
    fill(bench.scheduler.array, 0, 8);
    bench.watch('erase', bench.scheduler.erase(1, gcErase, 0));
    // A read every 50 µs, for ever longer than the erase would take.
    for (let i = 0; i < 100; i++) {
      bench.simulator.runUntil((i + 1) * 50_000);
      bench.watch(`read ${i}`, bench.scheduler.read(i % 8, 1, userRead, 0));
    }
    bench.simulator.drain();
    expect(bench.scheduler.suspensions).toBe(2);
    // Twice at most maxSuspendNs and one read, plus its own work.
    expect(bench.atNs.erase).toBeLessThan(3_000_200 + 2 * (1_000_000 + 60_440 + 30_040 + 100_040));
    expect(bench.ended).toContain('read 99');
  });

  it('a read of the word line that is being programmed does not suspend it', () => {
    const mlc: Changes = {
      ...part,
      geometry: { cellBits: 2 },
      timing: { readNs: [50_000, 50_000], programNs: [600_000, 600_000] },
    };
    for (const [page, suspensions] of [
      [2, 0],
      [0, 1],
    ]) {
      const bench = new Bench(mlc, { bus });
      fill(bench.scheduler.array, 0, 3);
      bench.watch('program', bench.scheduler.program(3, userWrite, 0));
      bench.simulator.runUntil(100_000);
      bench.watch('read', bench.scheduler.read(page, 1, userRead, 0));
      bench.simulator.drain();
      expect([page, bench.scheduler.suspensions]).toEqual([page, suspensions]);
    }
  });

  it('lowers the 99th percentile of read latency under a mixed load', () => {
    const p99 = (['none', 'erase', 'program+erase'] as const).map((suspend) => {
      const bench = new Bench(
        { geometry: { blocksPerPlane: 32 }, features: { ...part.features, suspend, maxSuspends: 8 } },
        { bus },
      );
      const { scheduler, simulator } = bench;
      const random = new RandomSource(4).stream('load');
      for (let block = 0; block < 16; block++) fill(scheduler.array, block, 16);
      const latencies: number[] = [];
      for (let i = 0; i < 1500; i++) {
        simulator.runUntil(simulator.now + 100_000 + random.below(400_000));
        const issuedNs = simulator.now;
        const token = scheduler.read(random.below(8 * 16), 1, userRead, 0);
        scheduler.then(
          token,
          {
            nandDone: () => {
              latencies.push(simulator.now - issuedNs);
            },
          },
          0,
        );
        const victim = 16 + random.below(16);
        if (i % 4 === 0 && scheduler.array.nextPage[victim] < 16 && scheduler.array.busyUntilNs[victim] === 0) {
          scheduler.drop(scheduler.program(victim * 16 + scheduler.array.nextPage[victim], userWrite, 0));
        }
        if (i % 8 === 1 && scheduler.array.busyUntilNs[victim] === 0)
          scheduler.drop(scheduler.erase(victim, gcErase, 0));
      }
      simulator.drain();
      return latencies.sort((a, b) => a - b)[Math.floor(latencies.length * 0.99)];
    });
    expect(p99[1]).toBeLessThan(p99[0]);
    expect(p99[2]).toBeLessThan(p99[1]);
  });
});

describe('merging', () => {
  const planar: Changes = { geometry: { planes: 2 } };

  it('makes one multi-plane program of two that wait', () => {
    const together = new Bench(planar);
    const apart = new Bench(planar, { merge: false });
    for (const bench of [together, apart]) {
      const { scheduler } = bench;
      scheduler.drop(scheduler.program(0, userWrite, 0));
      bench.watch('a', scheduler.program(16, userWrite, 0));
      bench.watch('b', scheduler.program(8 * 16, userWrite, 0));
      bench.simulator.drain();
    }
    expect(together.scheduler.merged).toBe(1);
    expect([together.atNs.a, together.atNs.b]).toEqual([610_440 + 621_880, 610_440 + 621_880]);
    expect([apart.atNs.a, apart.atNs.b]).toEqual([1_220_880, 1_831_320]);
  });

  it('only if page index, kind and planes fit', () => {
    const bench = new Bench(planar);
    const { scheduler } = bench;
    fill(scheduler.array, 8, 1);
    scheduler.drop(scheduler.program(0, userWrite, 0));
    bench.watch('page 0', scheduler.program(16, userWrite, 0));
    bench.watch('page 1', scheduler.program(8 * 16 + 1, userWrite, 0));
    bench.watch('same plane', scheduler.program(2 * 16, userWrite, 0));
    bench.simulator.drain();
    expect(scheduler.merged).toBe(0);
  });

  it('reads share the array phase and transfer one after the other', () => {
    const bench = new Bench(planar);
    const { scheduler } = bench;
    fill(scheduler.array, 0, 2);
    fill(scheduler.array, 8, 2);
    scheduler.drop(scheduler.read(0, 1, userRead, 0));
    bench.watch('a', scheduler.read(1, 1, userRead, 0));
    bench.watch('b', scheduler.read(8 * 16 + 1, 1, userRead, 0));
    bench.simulator.drain();
    // Two commands with tDBSY, tR, then two transfers.
    const start = 60_440 + 200 + 1000 + 200 + 50_000;
    expect([bench.atNs.a, bench.atNs.b]).toEqual([start + 10_240, start + 20_480]);
  });

  it('a program with a successor becomes a cache program where there is a register', () => {
    const bench = new Bench({ features: { cacheRegister: true } });
    const { scheduler } = bench;
    for (let page = 0; page < 4; page++) bench.watch(`${page}`, scheduler.program(page, userWrite, 0));
    bench.simulator.drain();
    // The first found nobody behind it; from then on data comes in while the array works.
    expect(bench.atNs['1']).toBe(610_440 + 10_440 + 5_000 + 600_000);
    expect(bench.atNs['2']).toBe(bench.atNs['1'] + 5_000 + 600_000);
    expect(bench.atNs['3']).toBe(bench.atNs['2'] + 600_000);
  });
});

describe('cache read runs', () => {
  it('reads that wait for one plane are read in a run where there is a register', () => {
    const bench = new Bench({ features: { cacheRegister: true } });
    const { scheduler } = bench;
    fill(scheduler.array, 0, 4);
    for (let page = 0; page < 4; page++) bench.watch(`${page}`, scheduler.read(page, 1, userRead, 0));
    bench.simulator.drain();
    // The first found nobody behind it; its page is on the bus until the command of the run can follow.
    expect(bench.atNs['0']).toBe(60_440);
    const handedOver = 60_440 + 200 + 50_000 + 3_000;
    expect(bench.atNs['1']).toBe(handedOver + 10_240);
    expect(bench.atNs['2']).toBe(handedOver + 53_000 + 10_240);
    expect(bench.atNs['3']).toBe(handedOver + 2 * 53_000 + 10_240);
    for (let page = 0; page < 4; page++) {
      expect(bench.phases[`${page}`].reduce((sum, ns) => sum + ns, 0)).toBe(bench.atNs[`${page}`]);
    }
  });

  it('without merging, or without a register, each is a read of its own', () => {
    for (const [cacheRegister, merge] of [
      [true, false],
      [false, true],
    ] as const) {
      const bench = new Bench({ features: { cacheRegister } }, { merge });
      fill(bench.scheduler.array, 0, 3);
      for (let page = 0; page < 3; page++) bench.watch(`${page}`, bench.scheduler.read(page, 1, userRead, 0));
      bench.simulator.drain();
      expect(bench.atNs['2']).toBe(3 * 60_440);
    }
  });
});

const makers: [string, (changes: Changes, simulator: Simulator) => TransactionScheduler][] = [
  ['timeline', (changes, simulator) => new TimelineScheduler(arrayOf(vectorConfig(changes)), simulator)],
  ['event', (changes, simulator) => createEventScheduler(arrayOf(vectorConfig(changes)), simulator)],
  [
    'event reserve',
    (changes, simulator) => createEventScheduler(arrayOf(vectorConfig(changes)), simulator, { bus: 'reserve' }),
  ],
];

describe.each(makers)('tokens on %s', (_name, make) => {
  it('a fence is done when every program issued before it is, whatever is issued after', () => {
    const simulator = new Simulator();
    const scheduler = make({ geometry: { channels: 2 } }, simulator);
    const log: string[] = [];
    const note = (name: string) => ({
      nandDone: () => {
        log.push(`${name} ${simulator.now}`);
      },
    });
    scheduler.then(scheduler.fence(), note('nothing'), 0);
    scheduler.drop(scheduler.program(0, userWrite, 0));
    scheduler.drop(scheduler.program(1, userWrite, 0));
    scheduler.drop(scheduler.program(16 * 16, userWrite, 0));
    scheduler.then(scheduler.fence(), note('fence'), 0);
    scheduler.drop(scheduler.program(2, userWrite, 0));
    simulator.drain();
    expect(log).toEqual(['nothing 0', 'fence 1220880']);
  });

  it('a join is done with the later of the two, and reports the worse status', () => {
    const simulator = new Simulator();
    const scheduler = make({}, simulator);
    fill(scheduler.array, 0, 1);
    const erased = scheduler.read(5, 1, userRead, 0);
    const program = scheduler.program(8 * 16, userWrite, 0);
    const seen: number[] = [];
    const joined = scheduler.join(erased, program);
    scheduler.then(
      joined,
      {
        nandDone: (_token, _arg, status) => {
          seen.push(simulator.now, status);
        },
      },
      0,
    );
    simulator.drain();
    expect(seen).toEqual([610_640, 4]);
  });

  it('after waits, and what comes after a token that is done begins at once', () => {
    const simulator = new Simulator();
    const scheduler = make({}, simulator);
    const first = scheduler.program(0, userWrite, 0);
    const seen: number[] = [];
    const client = {
      nandDone: () => {
        seen.push(simulator.now);
      },
    };
    scheduler.then(scheduler.program(8 * 16, userWrite, first), client, 0);
    const done = scheduler.program(9 * 16, userWrite, 0);
    simulator.runUntil(5_000_000);
    scheduler.then(scheduler.read(0, 1, userRead, done), client, 0);
    simulator.drain();
    expect(seen[0]).toBeGreaterThanOrEqual(2 * 610_440);
    expect(seen[1]).toBe(5_060_440);
  });

  it('then on a token that is done calls back from the event loop, not from inside', () => {
    const simulator = new Simulator();
    const scheduler = make({}, simulator);
    const token = scheduler.program(0, userWrite, 0);
    simulator.runUntil(2_000_000);
    let calls = 0;
    scheduler.then(
      token,
      {
        nandDone: () => {
          calls++;
        },
      },
      0,
    );
    expect(calls).toBe(0);
    simulator.drain();
    expect([calls, simulator.now]).toEqual([1, 2_000_000]);
  });

  it('counts by kind and class, and tells a probe of every transaction', () => {
    const simulator = new Simulator();
    const scheduler = make({ geometry: { planes: 2 }, features: { copyback: true } }, simulator);
    const told: number[][] = [];
    scheduler.probe = {
      issued: (_token, kind, cls, status, ppns, at, count) => {
        told.push([kind, cls, status, ...ppns.subarray(at, at + count)]);
      },
    };
    scheduler.drop(scheduler.programPlanes(Int32Array.of(0, 128), 2, userWrite, 0));
    simulator.runUntil(1_000_000);
    scheduler.drop(scheduler.read(0, 1, userRead, 0));
    scheduler.drop(scheduler.copyback(0, 16, gcWrite, 0));
    scheduler.drop(scheduler.erase(5, gcErase, 0));
    simulator.runUntil(20_000_000);
    expect(told).toEqual([
      [OpKind.program, userWrite, 0, 0, 128],
      [OpKind.read, userRead, 0, 0],
      [OpKind.copyback, gcWrite, 0, 16],
      [OpKind.erase, gcErase, 0, 5],
    ]);
    const { counts } = scheduler;
    expect([
      counts.total(counts.reads),
      counts.programs[userWrite],
      counts.programs[gcWrite],
      counts.erases[gcErase],
      counts.copybacks[gcWrite],
    ]).toEqual([1, 2, 1, 1, 1]);
    expect(scheduler.dieBusyNs[0]).toBe(621_880 + 60_440 + 650_400 + 3_000_200);
    expect(scheduler.channelBusyNs[0]).toBe(21_880 + 10_440 + 400 + 200);
  });

  it('a read with retries repeats tR and the transfer, a soft decode only reads', () => {
    const simulator = new Simulator();
    const scheduler = make({ reliability: { ...defaultReliability(2), factoryBad: 0 } }, simulator);
    const { array } = scheduler;
    fill(array, 0, 1);
    const read = array.read.bind(array);
    array.read = (ppn, mask) => {
      const status = read(ppn, mask);
      array.lastRetries = 2;
      array.lastSoftReads = 3;
      return status;
    };
    const seen: number[] = [];
    const token = scheduler.read(0, 1, userRead, 0);
    scheduler.then(
      token,
      {
        nandDone: () => {
          seen.push(simulator.now, scheduler.phasesNs[token * NAND_PHASES + NandPhase.array]);
        },
      },
      0,
    );
    simulator.drain();
    const arrayNs = 50_000 + 2 * 51_000 + 150_000;
    expect(seen).toEqual([200 + arrayNs + 4 * 10_240, arrayNs]);
  });
});

describe('waits', () => {
  it('tell apart what was behind garbage collection, on timeline and event alike', () => {
    for (const [, make] of makers) {
      const simulator = new Simulator();
      const scheduler = make({}, simulator);
      fill(scheduler.array, 0, 1);
      fill(scheduler.array, 1, 1);
      // A user program (to 610,440), then a GC erase (to 3,610,640); the read arrives in the middle of the first.
      scheduler.drop(scheduler.program(2 * 16, userWrite, 0));
      scheduler.drop(scheduler.erase(1, gcErase, 0));
      simulator.runUntil(110_440);
      const phases: number[] = [];
      const token = scheduler.read(0, 1, userRead, 0);
      scheduler.then(
        token,
        {
          nandDone: () => {
            phases.push(...scheduler.phasesNs.subarray(token * NAND_PHASES, (token + 1) * NAND_PHASES));
          },
        },
        0,
      );
      simulator.drain();
      if (scheduler instanceof TimelineScheduler) expect(phases).toEqual([500_000, 3_000_200, 0, 50_000, 10_440]);
      // By class the read goes ahead of the erase.
      else expect(phases).toEqual([500_000, 0, 0, 50_000, 10_440]);
    }
  });
});

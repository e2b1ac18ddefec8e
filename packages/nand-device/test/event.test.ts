import { describe, expect, it } from 'vitest';
import {
  createEventScheduler,
  type EventScheduler,
  type EventSchedulerOptions,
  type NandConfig,
  NandPhase,
  TimelineScheduler,
  type TransactionScheduler,
} from '../src/index.js';
import { arrayOf, RandomSource, Simulator, vectorConfig } from './support.js';
import { Workout } from './workout.js';

const full = process.env.CI !== undefined;
const SEEDS = full ? 150 : 12;

const variants: [string, (config: NandConfig, simulator: Simulator) => TransactionScheduler][] = [
  ['timeline', (config, simulator) => new TimelineScheduler(arrayOf(config), simulator, { reservations: 1000 })],
];
for (const bus of ['arbitrate', 'reserve'] as const) {
  for (const policy of ['fifo', 'readFirst', 'outOfOrder', 'priority'] as const) {
    const options: EventSchedulerOptions = { bus, policy, reservations: 1000 };
    variants.push([
      `event ${policy} ${bus}`,
      (config, simulator) => createEventScheduler(arrayOf(config), simulator, options),
    ]);
  }
}

function device(seed: number) {
  const random = new RandomSource(seed).stream('device');
  const flip = () => random.below(2) === 0;
  const copyback = flip();
  const suspend = (['none', 'erase', 'program+erase'] as const)[random.below(3)];
  const config = vectorConfig({
    geometry: {
      channels: 1 + random.below(2),
      ways: 1 + random.below(3),
      planes: 1 + random.below(3),
      blocksPerPlane: 5,
      pagesPerBlock: 12,
      slotBytes: flip() ? 4096 : 1024,
      oobBytes: random.below(256),
    },
    timing: { statusNs: suspend === 'none' && flip() ? 150 : 0 },
    features: {
      cacheRegister: flip(),
      copyback,
      copybackCheck: flip(),
      independentPlaneReads: flip(),
      suspend,
      minRemainingNs: 50_000,
      maxSuspends: 3,
      maxSuspendNs: 400_000,
      eraseRestart: flip(),
    },
  });
  const repertoire = { planes: config.geometry.planes > 1, cache: config.features.cacheRegister, copyback };
  return { config, repertoire, gapNs: [20_000, 200_000, 2_000_000][random.below(3)] };
}

describe.each(variants)('%s', (_name, make) => {
  it('ends everything, divides every latency exactly and takes no resource twice', () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const { config, repertoire, gapNs } = device(seed);
      const simulator = new Simulator();
      const scheduler = make(config, simulator) as TransactionScheduler & Pick<EventScheduler, 'trace'>;
      const busy = new Map<string, [number, number][]>();
      const note = (name: string, start: number, end: number) => {
        busy.set(name, [...(busy.get(name) ?? []), [start, end]]);
      };
      scheduler.trace = {
        onBus: (channel, start, end) => {
          note(`channel ${channel}`, start, end);
        },
        onDie: (die, start, end) => {
          note(`die ${die}`, start, end);
        },
      };
      const workout = new Workout(scheduler, simulator, new RandomSource(seed).stream('workout'), repertoire);
      workout.run(150, gapNs);
      expect([seed, workout.outstanding]).toEqual([seed, 0]);
      const chained = new Set(workout.log.flatMap((entry) => entry.after));
      workout.log.forEach((entry, number) => {
        if (chained.has(number)) return;
        const where = [seed, number, entry.op];
        const last = entry.phases.slice(-5);
        expect([...where, last.reduce((sum, ns) => sum + ns, 0)]).toEqual([...where, entry.doneNs - entry.readyNs]);
        for (const ns of entry.phases) expect([...where, Number.isInteger(ns) && ns >= 0]).toEqual([...where, true]);
        expect(last[NandPhase.array]).toBeGreaterThan(0);
        expect(entry.readyNs).toBeGreaterThanOrEqual(entry.atNs);
      });
      for (const [name, intervals] of busy) {
        intervals.sort((a, b) => a[0] - b[0]);
        for (let i = 1; i < intervals.length; i++) {
          expect([seed, name, intervals[i], intervals[i][0] >= intervals[i - 1][1]]).toEqual([
            seed,
            name,
            intervals[i],
            true,
          ]);
        }
      }
      const elapsed = simulator.now;
      for (const ns of [...scheduler.dieBusyNs, ...scheduler.channelBusyNs]) expect(ns).toBeLessThanOrEqual(elapsed);
    }
  });

  it('gives the same result twice', () => {
    const runs = [1, 2].map(() => {
      const { config, repertoire, gapNs } = device(3);
      const simulator = new Simulator();
      const workout = new Workout(
        make(config, simulator),
        simulator,
        new RandomSource(9).stream('workout'),
        repertoire,
      );
      workout.run(200, gapNs);
      return JSON.stringify(workout.log);
    });
    expect(runs[0]).toBe(runs[1]);
  });
});

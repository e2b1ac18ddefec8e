import {
  ArbitratingScheduler,
  defaultReliability,
  InstantScheduler,
  type NandArray,
  type NandReliability,
  type NandScheduler,
  ReservingScheduler,
  TimelineScheduler,
} from '@flashstack/nand-device';
import { RandomSource, type RandomStream, Simulator } from '@flashstack/sim';
import type { FtlScenario, FtlSubject } from '../src/conformance/index.js';
import { createFtl, type FtlClient, type FtlOptions, victimKinds } from '../src/index.js';
import { nandArray, type Shape } from './support.js';

export type Engine = 'instant' | 'timeline' | 'event-reserve' | 'event-arbitrate';

/** Failing programs and erases after a few cycles, but never a bit error. */
export function failing(): NandReliability {
  const base = defaultReliability(1);
  const none = { ...base.rawBitErrors, r0: 0, a: 0, c: 0, f: 0 };
  return { ...base, factoryBad: 0.02, ratedCycles: 20, programFailShare: 1, rawBitErrors: none };
}

const layouts: readonly (Shape & { readonly domain: 'unit' | 'die' | 'superblock' })[] = [
  { domain: 'unit', blocksPerPlane: 20, pagesPerBlock: 16 },
  { domain: 'unit', channels: 2, planes: 2, blocksPerPlane: 14, pagesPerBlock: 16 },
  { domain: 'unit', blocksPerPlane: 20, pagesPerBlock: 16, pageBytes: 16384, cellBits: 2, pairing: 'shifted' },
  { domain: 'die', ways: 2, planes: 2, blocksPerPlane: 16, pagesPerBlock: 16, pageBytes: 8192 },
  { domain: 'die', planes: 4, blocksPerPlane: 20, pagesPerBlock: 12, cellBits: 3, programUnit: 'wordline' },
  { domain: 'superblock', channels: 2, planes: 2, blocksPerPlane: 20, pagesPerBlock: 12, cellBits: 2 },
  { domain: 'superblock', channels: 3, blocksPerPlane: 20, pagesPerBlock: 12 },
];

export function pick<T>(random: RandomStream, from: readonly T[]): T {
  return from[random.below(from.length)];
}

/** What a subject is made of. */
export interface Setup {
  readonly shape: Shape;
  readonly options: FtlOptions;
}

/** Page mapping for a seed: every seed exercises another combination of strategies. */
function pageMapSetup(seed: number, faults: boolean): Setup {
  const random = new RandomSource(seed).stream('setup');
  const { domain, ...layout } = pick(random, layouts);
  const shape: Shape = {
    ...layout,
    features: { copyback: layout.programUnit !== 'wordline' },
    reliability: faults ? failing() : null,
  };
  const units = (shape.channels ?? 1) * (shape.ways ?? 1) * (shape.planes ?? 1);
  const slots = units * (shape.blocksPerPlane ?? 0) * (shape.pagesPerBlock ?? 0) * ((shape.pageBytes ?? 4096) / 4096);
  const options: FtlOptions = {
    logicalSlots: Math.floor(slots * (faults ? 0.35 : 0.4 + 0.1 * random.nextFloat())),
    domain,
    allocation: pick(random, ['static', 'striped', 'dynamic'] as const),
    preferIdle: random.below(2) === 0,
    order: pick(random, ['CWDP', 'PDWC', 'WCPD']),
    victim: pick(random, victimKinds).name,
    streams: pick(random, ['none', 'none', 'hot-cold', { name: 'host', parameters: { maxStreams: 2 } }]),
    placement: pick(random, ['separate', 'mixed'] as const),
    gcKeepsStream: random.below(2) === 0,
    gcMode: pick(random, ['token', 'blocking', 'background'] as const),
    copyback: random.below(2) === 0,
    freeOrder: pick(random, ['youngest', 'fifo'] as const),
    wearLevelling: pick(random, [
      { kind: 'none' },
      { kind: 'threshold', delta: 3, interval: 2 },
      { kind: 'bet', k: 1, threshold: 4 },
    ] as const),
  };
  return { shape, options };
}

/** DFTL for a seed: page mapping as above, with caches so small that they miss all the time. */
export function dftlSetup(seed: number, faults: boolean): Setup {
  const { shape, options } = pageMapSetup(seed, faults);
  const random = new RandomSource(seed).stream('dftl');
  const entryBytes = pick(random, [128, 256, 512]);
  const slotsPerPage = pick(random, [1, 1, 2]);
  const granularity = pick(random, ['entry', 'entry', 'page']);
  const least = granularity === 'page' ? (slotsPerPage * 4096) / entryBytes : 1;
  const parameters = {
    cmtEntries: least * (1 + random.below(granularity === 'page' ? 3 : 24)),
    protectedShare: pick(random, [0, 0.5, 1]),
    translationPageBytes: 4096 * slotsPerPage,
    entryBytes,
    granularity,
    prefetch: 0,
    batchUpdate: random.below(3) > 0,
    foldOnCopy: random.below(3) > 0,
  };
  if (granularity === 'entry') parameters.prefetch = random.below(Math.min(4, parameters.cmtEntries));
  const shrunk = Math.floor(options.logicalSlots * (faults ? 0.4 : 0.7));
  return { shape, options: { ...options, logicalSlots: shrunk, mapping: { name: 'dftl', parameters } } };
}

/** Page mapping, or DFTL, with a stream policy that places relocated data too. */
export function separatingSetup(policy: 'dac' | 'sepbit' | 'fdp'): (seed: number, faults: boolean) => Setup {
  return (seed, faults) => {
    const random = new RandomSource(seed).stream('separating');
    const { shape, options } = random.below(3) === 0 ? dftlSetup(seed, faults) : pageMapSetup(seed, faults);
    const isUnit = options.domain === 'unit' && shape.channels === 2;
    const fdp = { handles: 2, groups: isUnit ? 2 : 1, isolation: pick(random, ['initial', 'persistent']) };
    const ages = { promoteAge: pick(random, [0, 0.5]), demoteAge: pick(random, [0, 0.5]) };
    const parameters = { dac: { regions: 3, ...ages }, sepbit: {}, fdp }[policy];
    const mixes = policy === 'dac' || (policy === 'fdp' && fdp.isolation === 'persistent');
    const placement = mixes ? (options.placement ?? 'separate') : 'separate';
    const logicalSlots = Math.floor(options.logicalSlots * (faults ? 0.35 : 0.5));
    // Many frontiers in small domains: blocks of more, smaller ones.
    const blocksPerPlane = (shape.blocksPerPlane ?? 0) + 8;
    return {
      shape: { ...shape, blocksPerPlane },
      options: { ...options, logicalSlots, streams: { name: policy, parameters }, placement, gcKeepsStream: false },
    };
  };
}

/** A subject for the conformance suite, of any mapping scheme. */
export function subject(
  engine: Engine,
  scenario: FtlScenario,
  client: FtlClient,
  setup: (seed: number, faults: boolean) => Setup = pageMapSetup,
): FtlSubject {
  const { shape, options } = setup(scenario.seed, scenario.faults);
  const array = nandArray(shape, 'contents', scenario.seed);
  const world = engine === 'instant' ? new Instantly(array) : new Timed(array, engine);
  const random = new RandomSource(scenario.seed);
  const ftl = createFtl({ array, scheduler: world.scheduler, client, random, options });
  return {
    ftl,
    ...(ftl.segments === undefined ? {} : { segments: ftl.segments }),
    wordAt: (psn) => (array.word as Uint32Array)[psn],
    advance: (amount) => world.advance(amount),
    drain: () => world.drain(),
    step: () => world.step(),
    powerCut: () => {
      world.powerCut();
      ftl.powerCut();
      ftl.attachScheduler(world.scheduler);
      ftl.recover();
    },
    inspect: () => ftl.inspect(),
    slotsOfHandle: (word) => {
      let found = 0;
      const { flags } = array;
      array.word?.forEach((other, psn) => {
        const kind = (flags as Uint8Array)[psn];
        if (other === word && (kind & 128) !== 0 && (kind & 7) === 0) found++;
      });
      return found;
    },
  };
}

class Instantly {
  scheduler: InstantScheduler;
  private readonly array: NandArray;

  constructor(array: NandArray) {
    this.array = array;
    this.scheduler = new InstantScheduler(array);
  }

  advance(amount: number): void {
    if (amount > 0.5) this.scheduler.deliver();
  }

  drain(): void {
    this.scheduler.deliver();
  }

  step(): boolean {
    return false;
  }

  powerCut(): void {
    this.scheduler = new InstantScheduler(this.array);
  }
}

class Timed {
  readonly scheduler: NandScheduler & { powerCut(): unknown };
  private readonly simulator: Simulator = new Simulator();

  constructor(array: NandArray, engine: Engine) {
    if (engine === 'timeline') this.scheduler = new TimelineScheduler(array, this.simulator);
    else if (engine === 'event-reserve') this.scheduler = new ReservingScheduler(array, this.simulator);
    else this.scheduler = new ArbitratingScheduler(array, this.simulator);
  }

  advance(amount: number): void {
    this.simulator.runUntil(this.simulator.now + Math.floor(amount * 6_000_000));
  }

  drain(): void {
    while (this.simulator.pendingEvents > 0) this.simulator.runUntil(this.simulator.now + 1_000_000_000);
  }

  /** Reads, which leave no trace, come by the dozen: goes to the first event after a while, or half of the way to it. */
  step(): boolean {
    const { simulator } = this;
    const start = simulator.now;
    let due = simulator.pump();
    if (due === Number.POSITIVE_INFINITY) return false;
    while (due - start < 150_000) {
      simulator.runUntil(due);
      due = simulator.pump();
    }
    if (due === Number.POSITIVE_INFINITY) return true;
    const isFar = due - simulator.now >= 150_000;
    simulator.runUntil(isFar ? Math.floor((simulator.now + due) / 2) : due);
    return true;
  }

  powerCut(): void {
    this.scheduler.powerCut();
  }
}

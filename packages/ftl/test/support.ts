import {
  defaultCommandTiming,
  defaultFeatures,
  InstantScheduler,
  NandArray,
  type NandConfig,
  type NandFeatures,
  type NandGeometry,
  type NandKeeps,
  type NandReliability,
} from '@flashstack/nand-device';
import { RandomSource } from '@flashstack/sim';
import { type FtlClient, type FtlOptions, PageMapFtl } from '../src/index.js';

export const full: boolean = process.env.CI !== undefined;
/** Power cuts per scheme or stream policy on each of four schedulers: 2,000 under CI, 100,000 in the deep profile in all. */
export const cutsPerScheduler: number = process.env.FLASHSTACK_LONG !== undefined ? 25_000 : full ? 500 : 0;

/** Recoveries that are cut themselves, per scheme and scheduler: how many, and at each so many of their steps. */
const long = process.env.FLASHSTACK_LONG !== undefined;
export const nested: { readonly nestedSeeds: number; readonly nestedEvery: number } = {
  nestedSeeds: long ? 40 : full ? 2 : 1,
  nestedEvery: long ? 1 : full ? 4 : 32,
};

export interface Shape extends Partial<NandGeometry> {
  readonly features?: Partial<NandFeatures>;
  readonly reliability?: NandReliability | null;
}

/** A small device: one channel, one unit, SLC pages of one slot, unless the shape says otherwise. */
export function nandConfig(shape: Shape = {}): NandConfig {
  const { features, reliability, ...geometry } = shape;
  const readTypes = geometry.cellBits ?? 1;
  const programTypes = geometry.programUnit === 'wordline' ? 1 : readTypes;
  return {
    geometry: {
      channels: 1,
      ways: 1,
      dies: 1,
      planes: 1,
      blocksPerPlane: 64,
      pagesPerBlock: 64,
      pageBytes: 4096,
      oobBytes: 128,
      slotBytes: 4096,
      cellBits: 1,
      pairing: 'simple',
      programUnit: 'page',
      ...geometry,
    },
    timing: {
      ...defaultCommandTiming,
      readNs: [50_000, 60_000, 70_000, 80_000].slice(0, readTypes),
      programNs: [600_000, 700_000, 800_000, 900_000].slice(0, programTypes),
      eraseNs: 3_000_000,
      channelBytesPerSec: 400_000_000,
    },
    features: { ...defaultFeatures, ...features },
    reliability: reliability ?? null,
  };
}

export function nandArray(shape: Shape = {}, keeps: NandKeeps = 'nothing', seed = 1): NandArray {
  return new NandArray(nandConfig(shape), { keeps, random: new RandomSource(seed) });
}

/** Counts completions and forgets contents. */
export class CountingClient implements FtlClient {
  done = 0;
  failed = 0;

  ftlDone(_job: number, status: number): void {
    this.done++;
    if (status !== 0) this.failed++;
  }

  slotWord(_job: number, lpn: number): number {
    return lpn;
  }

  slotRead(): void {}
  wordCopied(): void {}
  wordDead(): void {}
}

export interface Bed {
  readonly ftl: PageMapFtl;
  readonly array: NandArray;
  readonly scheduler: InstantScheduler;
  readonly client: CountingClient;
}

/** An FTL on the instant scheduler. */
export function bed(shape: Shape, options: FtlOptions, keeps: NandKeeps = 'nothing', seed = 1): Bed {
  const array = nandArray(shape, keeps, seed);
  const scheduler = new InstantScheduler(array);
  const client = new CountingClient();
  const ftl = new PageMapFtl({ array, scheduler, client, random: new RandomSource(seed), options });
  return { ftl, array, scheduler, client };
}

/** Writes one slot and lets everything finish. */
export function write(on: Bed, lpn: number, stream = 0, origin = 0): void {
  on.ftl.write(lpn, 1, origin, stream, 0);
  on.scheduler.deliver();
}

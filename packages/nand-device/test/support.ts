import { RandomSource, Simulator } from '@flashstack/sim';
import {
  defaultCommandTiming,
  defaultFeatures,
  NandArray,
  type NandConfig,
  type NandFeatures,
  type NandGeometry,
  type NandReliability,
  type NandTiming,
  type VssimDelays,
} from '../src/index.js';

/** Changes to the small device of the tests. */
export interface Changes {
  readonly geometry?: Partial<NandGeometry>;
  readonly timing?: Partial<NandTiming>;
  readonly features?: Partial<NandFeatures>;
  readonly reliability?: NandReliability | null;
}

/** The device of the timing vectors: 4 KiB pages at 400 MB/s, one channel of two single-plane dies. */
export function vectorConfig(changes: Changes = {}): NandConfig {
  return {
    geometry: {
      channels: 1,
      ways: 2,
      dies: 1,
      planes: 1,
      blocksPerPlane: 8,
      pagesPerBlock: 16,
      pageBytes: 4096,
      oobBytes: 0,
      slotBytes: 4096,
      cellBits: 1,
      pairing: 'simple',
      programUnit: 'page',
      ...changes.geometry,
    },
    timing: {
      ...defaultCommandTiming,
      readNs: [50_000],
      programNs: [600_000],
      eraseNs: 3_000_000,
      channelBytesPerSec: 400e6,
      commandNs: 200,
      eraseCommandNs: 200,
      tDbsyNs: 1_000,
      tCbsyNs: 5_000,
      tRcbsyNs: 3_000,
      ...changes.timing,
    },
    features: { ...defaultFeatures, ...changes.features },
    reliability: changes.reliability ?? null,
  };
}

/** The delays of VSSIM that give a single command of the vector device the time it has on the other schedulers … */
export const vectorDelays: VssimDelays = {
  switchReadNs: 0,
  switchWriteNs: 0,
  registerReadNs: 10_440,
  registerWriteNs: 10_440,
  parallel: 'chip',
};

/** … if it has no features that VSSIM lacks, and the command of an erase is part of tBERS. */
export function plainChanges(changes: Changes): Changes {
  return {
    ...changes,
    timing: { eraseNs: 3_000_200, ...changes.timing },
    features: { ...changes.features, multiPlane: false, copyback: false, suspend: 'none' },
  };
}

/** An array with a seed of its own. */
export function arrayOf(config: NandConfig, seed = 1): NandArray {
  return new NandArray(config, { random: new RandomSource(seed) });
}

/** Programs the first pages of a block without time. */
export function fill(array: NandArray, block: number, pages: number): void {
  for (let page = 0; page < pages; page++) array.program(array.geometry.ppn(block, page));
}

export { RandomSource, Simulator };

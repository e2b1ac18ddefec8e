import { InstantScheduler } from '@flashstack/nand-device';
import { RandomSource } from '@flashstack/sim';
import { createFtl, type FtlOptions } from '../src/index.js';
import { failing, pick, type Setup } from './subjects.js';
import { CountingClient, nandArray, type Shape } from './support.js';

const layouts: readonly (Shape & { readonly domain: 'unit' | 'die' | 'superblock' })[] = [
  { domain: 'unit', blocksPerPlane: 20, pagesPerBlock: 16 },
  { domain: 'unit', channels: 2, planes: 2, blocksPerPlane: 16, pagesPerBlock: 8 },
  { domain: 'unit', blocksPerPlane: 20, pagesPerBlock: 16, pageBytes: 16384, cellBits: 2, pairing: 'shifted' },
  { domain: 'die', ways: 2, planes: 2, blocksPerPlane: 16, pagesPerBlock: 8, pageBytes: 8192 },
  { domain: 'die', planes: 4, blocksPerPlane: 24, pagesPerBlock: 6, cellBits: 3, programUnit: 'wordline' },
  { domain: 'superblock', channels: 2, planes: 2, blocksPerPlane: 20, pagesPerBlock: 12, cellBits: 2 },
  { domain: 'superblock', channels: 3, blocksPerPlane: 20, pagesPerBlock: 12 },
];

/** Other groups of SAST every few writes, so that log blocks of groups that are no more are always among the others. */
function restless(cap: number): string {
  const least = Math.max(1, cap);
  const shapes = Array.from({ length: 100 }, (_, i) => `${least + ((i * 3) % (5 - least))}:${1 + (i % 3)}`);
  return shapes.map((groups, i) => `${37 * (i + 1)} ${groups}`).join(', ');
}

/** Parameters of each scheme that a seed chooses from. */
const parameters: Readonly<Record<string, Readonly<Record<string, readonly (number | boolean | string)[]>>>> = {
  block: { replacementBlocks: [1, 2], idleMerge: [false, true] },
  bast: { logBlocks: [0, 1, 3], victim: ['lru', 'switch-first'], idleMerge: [false, true] },
  sast: {
    logBlocks: [0, 3, 4],
    dataBlocks: [1, 2, 4],
    logBlocksPerGroup: [1, 2],
    cap: [0, 0, 1, 2],
    schedule: ['', restless(0)],
    idleMerge: [false, true],
  },
  // SAST with a cap, and groups that change.
  kast: {
    logBlocks: [0, 3, 4],
    dataBlocks: [2, 4],
    logBlocksPerGroup: [1, 2],
    cap: [1, 2],
    idleMerge: [false, true],
  },
  fast: { logBlocks: [0, 2, 4], lazySwitch: [false, true], idleMerge: [false, true] },
  last: {
    logBlocks: [0, 3, 4],
    seqThreshold: [8192, 16384],
    hotWindow: [0, 16],
    deadWait: [0, 2],
    idleMerge: [false, true],
  },
};

/** A hybrid scheme for a seed: every seed exercises another combination. */
export function hybridSetup(scheme: string): (seed: number, faults: boolean) => Setup {
  return (seed, faults) => {
    const random = new RandomSource(seed).stream('setup');
    const { domain, ...layout } = pick(random, layouts);
    const shape: Shape = { ...layout, reliability: faults ? failing() : null };
    const units = (shape.channels ?? 1) * (shape.ways ?? 1) * (shape.planes ?? 1);
    const slots = units * (shape.blocksPerPlane ?? 0) * (shape.pagesPerBlock ?? 0) * ((shape.pageBytes ?? 4096) / 4096);
    const chosen: Record<string, number | boolean | string> = {};
    for (const [name, values] of Object.entries(parameters[scheme])) chosen[name] = pick(random, values);
    if (scheme === 'sast')
      chosen.cap = chosen.schedule === '' ? Math.min(chosen.cap as number, chosen.dataBlocks as number) : 0;
    if (scheme === 'kast') chosen.schedule = restless(chosen.cap as number);
    const options = {
      mapping: { name: scheme === 'kast' ? 'sast' : scheme, parameters: chosen },
      domain,
      multiPlane: random.below(4) > 0,
      order: pick(random, ['CWDP', 'PDWC', 'WCPD']),
      freeOrder: pick(random, ['youngest', 'fifo'] as const),
    };
    // Half of the drives have no block to spare.
    const share = faults ? 0.3 : 0.4 + 0.1 * random.nextFloat();
    const isTight = !faults && random.below(2) === 0;
    const logicalSlots = isTight ? mostSlots(shape, options) : Math.floor(slots * share);
    return { shape, options: { ...options, logicalSlots } };
  };
}

/** The most logical slots that a hybrid scheme takes on a device: more are refused with that number. */
export function mostSlots(shape: Shape, options: Omit<FtlOptions, 'logicalSlots'>): number {
  const array = nandArray(shape);
  const scheduler = new InstantScheduler(array);
  const client = new CountingClient();
  const parts = { array, scheduler, client, random: new RandomSource(1) };
  try {
    createFtl({ ...parts, options: { ...options, logicalSlots: 1_000_000 } });
  } catch (error) {
    return Number(/at most (\d+) logical slots/.exec((error as Error).message)?.[1]);
  }
  throw new Error('a million slots fit');
}

export const schemes: readonly string[] = Object.keys(parameters);

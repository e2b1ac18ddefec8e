import type { NandGeometry } from '@flashstack/nand-device';
import { RandomSource } from '@flashstack/sim';
import type { FtlOptions } from '../src/index.js';
import { failing, pick, type Setup } from './subjects.js';
import type { Shape } from './support.js';

const layouts: readonly Shape[] = [
  { channels: 2, blocksPerPlane: 20, pagesPerBlock: 8 },
  { channels: 2, planes: 2, blocksPerPlane: 20, pagesPerBlock: 8, pageBytes: 8192 },
  { channels: 2, blocksPerPlane: 30, pagesPerBlock: 16, pageBytes: 8192, cellBits: 2, pairing: 'shifted' },
  { ways: 2, planes: 2, blocksPerPlane: 20, pagesPerBlock: 8, cellBits: 2 },
  { channels: 2, planes: 2, blocksPerPlane: 20, pagesPerBlock: 6, cellBits: 3, programUnit: 'wordline' },
  { channels: 2, blocksPerPlane: 20, pagesPerBlock: 8, features: { tornLost: 0, pairedLost: 0.5 } },
];

export type SegmentKind = 'segment' | 'disaggregate' | 'zoned';

/** An append-only scheme for a seed, on as many blocks as a small device has. */
export function segmentSetup(kind: SegmentKind): (seed: number, faults: boolean) => Setup {
  return (seed, faults) => {
    const random = new RandomSource(seed).stream('setup');
    const layout = pick(random, layouts);
    const shape: Shape = {
      ...layout,
      features: { ...layout.features, mpSameBlock: random.below(2) === 0 },
      reliability: faults ? failing() : null,
      blocksPerPlane: (layout.blocksPerPlane as number) + (faults ? 8 : 0),
    };
    const g = shape as NandGeometry;
    const planes = g.planes ?? 1;
    const units = (g.channels ?? 1) * (g.ways ?? 1) * planes;
    const blockSlots = g.pagesPerBlock * ((g.pageBytes ?? 4096) / 4096);
    const depth = 1 + random.below(2);
    const parameters: Record<string, number | boolean | string> = {};
    let segmentUnits = units;
    if (kind === 'zoned') {
      const placement = pick(random, ['striped', 'rotating', 'channel'] as const);
      parameters.placement = placement;
      if (placement !== 'striped') segmentUnits = pick(random, [1, planes, units]);
      parameters.zoneUnits = segmentUnits;
    } else parameters.overwrite = random.below(2) === 0;
    // Not always a whole number of program units.
    const slots = segmentUnits * blockSlots * depth - (random.below(2) === 0 ? 0 : 1 + random.below(5));
    const stride = kind === 'zoned' && random.below(2) === 0 ? slots + random.below(7) : slots;
    const sets = units / segmentUnits;
    const perSet = Math.floor(7 / depth);
    const meta = kind === 'disaggregate' ? 10 + random.below(20) : 0;
    if (kind === 'segment') parameters.segmentBytes = stride * 4096;
    if (kind === 'disaggregate') Object.assign(parameters, { superblockBytes: stride * 4096, metaBytes: meta * 4096 });
    if (kind === 'zoned') Object.assign(parameters, { zoneBytes: stride * 4096, zoneCapacity: slots * 4096 });
    const last = kind === 'zoned' ? 0 : random.below(stride - 1);
    const options: FtlOptions = {
      logicalSlots: meta + stride * sets * perSet - last,
      mapping: { name: kind, parameters },
      multiPlane: random.below(3) > 0,
      order: pick(random, ['CWDP', 'PDWC', 'WCPD']),
      ...(kind === 'disaggregate' ? { domain: pick(random, ['unit', 'die', 'superblock'] as const) } : {}),
    };
    return { shape, options };
  };
}

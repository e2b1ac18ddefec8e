import { defaultFeatures, type NandConfig } from '@flashstack/nand-device';
import type { SsdConfig } from '../src/index.js';
import { bufferedDrive, plainDrive, protectedDrive, smallNand, wideDrive } from './small-drives.js';

/** Zones of a drive for tests: units and erase blocks per unit of each, slots short of all that they hold, and limits. */
export interface TestZones {
  readonly units: number;
  readonly depth?: number;
  readonly count: number;
  readonly short?: number;
  readonly maxOpen?: number;
  readonly maxActive?: number;
}

/** A drive with zones. Blocks are slots, so that the host may write single ones. */
export function zonedDrive(base: SsdConfig, zones: TestZones, nand: NandConfig = base.nand): SsdConfig {
  const { pageBytes, pagesPerBlock } = nand.geometry;
  const zoneBytes = zones.units * (zones.depth ?? 1) * pagesPerBlock * pageBytes;
  const parameters = {
    placement: 'rotating',
    zoneUnits: zones.units,
    zoneBytes,
    zoneCapacity: zoneBytes - (zones.short ?? 0) * 4096,
    maxOpen: zones.maxOpen ?? 0,
    maxActive: zones.maxActive ?? 0,
  };
  return {
    ...base,
    name: `zoned ${base.name}`,
    blockBytes: 4096,
    capacityBytes: zones.count * zoneBytes,
    nand: { ...nand, geometry: { ...nand.geometry, blocksPerPlane: 30 } },
    ftl: { mapping: { name: 'zoned', parameters } },
  };
}

const shifted: NandConfig = {
  ...smallNand,
  geometry: { ...smallNand.geometry, pairing: 'shifted' },
  features: { ...defaultFeatures, pairedLost: 0.5 },
};

/** Zoned drives that differ in what stands between host and flash. */
export const zonedDrives: readonly SsdConfig[] = [
  zonedDrive(plainDrive, { units: 4, count: 12, short: 5, maxOpen: 3, maxActive: 4 }),
  zonedDrive(bufferedDrive, { units: 2, count: 16, maxOpen: 3, maxActive: 5 }, shifted),
  zonedDrive(wideDrive, { units: 2, count: 12, short: 7, maxOpen: 2, maxActive: 2 }),
  { ...zonedDrive(wideDrive, { units: 8, count: 5, maxActive: 3 }), name: 'zoned unbuffered', buffer: null },
  zonedDrive(protectedDrive, { units: 4, count: 8, maxOpen: 4, maxActive: 6 }),
];

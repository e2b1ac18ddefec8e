import type { NandGeometry } from '@flashstack/nand-device';
import { InputError, lookupStrategy } from '@flashstack/sim';
import { checkSsdConfig } from './check-config.js';
import type { SsdConfig } from './config.js';
import { presets } from './presets/table.js';

/** A scaled drive keeps at least so many blocks per plane, if need be by smaller blocks … */
const WANTED_BLOCKS = 256;
/** … and is refused below so many. */
const LEAST_BLOCKS = 16;
/** Allocation blocks are not made smaller than this: write amplification depends little on their size above it. */
const LEAST_SLOTS_PER_BLOCK = 64;
/** Smaller blocks would lose a good part of what collection gains to the padding of one program unit. */
const LEAST_UNITS_PER_BLOCK = 8;

/** How a preset is changed on the way. */
export interface PresetOptions {
  /** What the host may address, bytes. Default: the preset's own. See `scaleSsd`. */
  readonly capacity?: number;
  /** Spare space as a share of the capacity. Default: the preset's. */
  readonly overProvisioning?: number;
  /** Presets to choose from. Default: those of the package. */
  readonly table?: readonly SsdConfig[];
}

/**
 * The configuration of a preset, scaled if wanted, and checked.
 * @throws InputError `ERR_UNKNOWN_NAME` with the nearest known name; what `scaleSsd` and `checkSsdConfig` throw.
 */
export function resolvePreset(name: string, options: PresetOptions = {}): SsdConfig {
  const preset = lookupStrategy(options.table ?? presets, name, 'device preset');
  const { capacity, overProvisioning } = options;
  const unchanged = capacity === undefined && overProvisioning === undefined;
  const config = unchanged ? preset : scaleSsd(preset, capacity ?? preset.capacityBytes, overProvisioning);
  checkSsdConfig(config);
  return config;
}

/**
 * The same drive with another capacity: parallelism and over-provisioning (unless given) stay, the number of blocks per
 * plane changes.
 * When fewer than 256 blocks per plane would be left, blocks are made smaller as well (halved, or divided by three),
 * down to 64 slots and eight program units, because garbage collection needs a choice of victims and reserves whole blocks. Their erase time
 * shrinks in proportion, so that the share of time spent erasing stays; a single erase is shorter than the real one then.
 * @throws InputError `ERR_SSD_CAPACITY` if the capacity is no positive number or too small for the drive's parallelism.
 */
export function scaleSsd(config: SsdConfig, capacityBytes: number, overProvisioning?: number): SsdConfig {
  const { geometry } = config.nand;
  const planes = geometry.channels * geometry.ways * geometry.dies * geometry.planes;
  const rawBytes = planes * geometry.blocksPerPlane * geometry.pagesPerBlock * geometry.pageBytes;
  const spare = overProvisioning ?? rawBytes / config.capacityBytes - 1;
  if (!Number.isFinite(spare) || spare < 0) {
    throw new InputError(
      'ERR_SSD_CAPACITY',
      `overProvisioning: found ${spare}, expected a share of the capacity of at least 0`,
      'overProvisioning',
    );
  }
  const slots = Math.floor(capacityBytes / geometry.slotBytes);
  if (!Number.isFinite(capacityBytes) || slots < 1) {
    throw new InputError(
      'ERR_SSD_CAPACITY',
      `capacity: found ${capacityBytes}, expected at least one slot of ${geometry.slotBytes} bytes`,
      'capacity',
    );
  }
  const planesPerBlock = config.ftl.domain === undefined || config.ftl.domain === 'unit' ? 1 : geometry.planes;
  const scaled = scaleGeometry(geometry, slots * geometry.slotBytes, spare, planesPerBlock);
  const eraseNs = Math.round((config.nand.timing.eraseNs * scaled.pagesPerBlock) / geometry.pagesPerBlock);
  return {
    ...config,
    capacityBytes: slots * geometry.slotBytes,
    nand: { ...config.nand, geometry: scaled, timing: { ...config.nand.timing, eraseNs } },
  };
}

function scaleGeometry(
  geometry: NandGeometry,
  capacityBytes: number,
  spare: number,
  planesPerBlock: number,
): NandGeometry {
  const planes = geometry.channels * geometry.ways * geometry.dies * geometry.planes;
  const pagesPerPlane = Math.ceil((capacityBytes * (1 + spare)) / geometry.pageBytes / planes);
  const slotsPerRow = (geometry.pageBytes / geometry.slotBytes) * planesPerBlock;
  const unitSlots = slotsPerRow * (geometry.programUnit === 'wordline' ? geometry.cellBits : 1);
  const leastSlots = Math.max(LEAST_SLOTS_PER_BLOCK, LEAST_UNITS_PER_BLOCK * unitSlots);
  let pagesPerBlock = geometry.pagesPerBlock;
  for (;;) {
    if (Math.floor(pagesPerPlane / pagesPerBlock) >= WANTED_BLOCKS) break;
    const smaller = shrink(geometry, pagesPerBlock);
    if (smaller * slotsPerRow < leastSlots) break;
    pagesPerBlock = smaller;
  }
  const blocksPerPlane = Math.ceil(pagesPerPlane / pagesPerBlock);
  if (blocksPerPlane < LEAST_BLOCKS) {
    const least = (LEAST_BLOCKS * pagesPerBlock * geometry.pageBytes * planes) / (1 + spare);
    throw new InputError(
      'ERR_SSD_CAPACITY',
      `capacity of ${mib(capacityBytes)} MiB is too small for ${planes} planes: ${blocksPerPlane} blocks per plane, expected at least ${LEAST_BLOCKS}. ` +
        `Smallest possible here: ${mib(least)} MiB.`,
      'capacity',
    );
  }
  return { ...geometry, blocksPerPlane, pagesPerBlock };
}

/** The next smaller number of pages per block that keeps whole word lines, or 0. */
function shrink(geometry: NandGeometry, pages: number): number {
  const unit = geometry.cellBits;
  // A page table of the user's own fits one number of pages only; the built-in orders have a period of four pages.
  if (typeof geometry.pairing === 'object') return 0;
  const multiple = geometry.pairing === 'simple' ? unit : 4;
  for (const divisor of [2, 3]) {
    const smaller = pages / divisor;
    if (Number.isInteger(smaller) && smaller % multiple === 0) return smaller;
  }
  return 0;
}

function mib(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}

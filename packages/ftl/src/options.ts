import type { NandArray } from '@flashstack/nand-device';
import { InputError, unknownName } from '@flashstack/sim';
import type { AllocationKind } from './allocation.js';
import type { BlockTable, DomainKind, FreeOrder } from './block-table.js';
import type { MappingScheme } from './mapping.js';
import { mostPadding } from './paired-risk.js';
import type { StrategyChoice } from './strategy-choice.js';
import type { StreamPolicy } from './streams.js';
import type { VictimPolicy } from './victims/policy.js';
import { type ResolvedWearLevelling, resolveWearLevelling, type WearLevelling } from './wear-options.js';

/** When victims are processed (specification section 3, GC modes). */
export type GcMode = 'blocking' | 'token' | 'background';

/** Everything that defines an FTL. Plain data, except for strategies given as objects. Not every scheme uses every option. */
export interface FtlOptions {
  /** Slots the host may address. See `logicalSlotsFor`. */
  readonly logicalSlots: number;
  /** Mapping scheme; names are those of `mappingKinds`. Default `page`. */
  readonly mapping?: StrategyChoice<MappingScheme>;
  /** What one allocation block spans and where garbage collection looks for victims. Default `unit`. */
  readonly domain?: DomainKind;
  /** Program all planes of a die together where a block spans them. Default true. */
  readonly multiPlane?: boolean;
  /** How the domain of a write is chosen: computed from the lpn, strictly in turn, or next with room. Default `dynamic`. */
  readonly allocation?: AllocationKind;
  /** With `dynamic`: prefer a die that is idle. Default false. */
  readonly preferIdle?: boolean;
  /** Permutation of C, W, D, P, fastest-varying first. Default `CWDP`. */
  readonly order?: string;
  /** Victim policy; names are those of `victimKinds`. Default `greedy`. */
  readonly victim?: StrategyChoice<VictimPolicy>;
  /** Stream policy; names are those of `streamKinds`. Default `none`. */
  readonly streams?: StrategyChoice<StreamPolicy>;
  /** Whether relocated data has frontiers of its own or shares those of the host. Default `separate`. */
  readonly placement?: 'separate' | 'mixed';
  /** Relocated data stays in its stream. Default false: one stream for all of it. */
  readonly gcKeepsStream?: boolean;
  /** Default `token`. */
  readonly gcMode?: GcMode;
  /**
   * Free blocks of a domain that only garbage collection may take. Default, and least value: 1,
   * and what padding may take if programs take several slots or pages are paired; one more on a device with faults.
   */
  readonly gcHard?: number;
  /** A victim is chosen when so many blocks of a domain are free or being erased. Default `gcHard` + 1. */
  readonly gcLow?: number;
  /** Blocking and background collection stop at so many. Default `gcLow` + 1. */
  readonly gcHigh?: number;
  /** Move whole pages inside a plane without the bus where the part's rules allow it. Default false. */
  readonly copyback?: boolean;
  /** Dynamic wear levelling: which free block frontiers of the host take. Default `youngest`. */
  readonly freeOrder?: FreeOrder;
  /** The same for relocated data. Default `oldest`; `fifo` if `freeOrder` is `fifo`. */
  readonly gcFreeOrder?: FreeOrder;
  /** Static wear levelling. Default none. */
  readonly wearLevelling?: WearLevelling;
}

/** Options with every default filled in. */
export interface ResolvedFtlOptions {
  readonly logicalSlots: number;
  readonly domain: DomainKind;
  readonly multiPlane: boolean;
  readonly allocation: AllocationKind;
  readonly preferIdle: boolean;
  readonly order: string;
  readonly placement: 'separate' | 'mixed';
  readonly gcKeepsStream: boolean;
  readonly gcMode: GcMode;
  readonly gcHard: number;
  readonly gcLow: number;
  readonly gcHigh: number;
  readonly copyback: boolean;
  readonly freeOrder: FreeOrder;
  readonly gcFreeOrder: FreeOrder;
  readonly wearLevelling: ResolvedWearLevelling;
}

const names = {
  domain: ['unit', 'die', 'superblock'],
  allocation: ['static', 'striped', 'dynamic'],
  placement: ['separate', 'mixed'],
  gcMode: ['blocking', 'token', 'background'],
  freeOrder: ['youngest', 'oldest', 'fifo'],
} as const;

const optionNames = [
  ...[
    'logicalSlots',
    'mapping',
    'domain',
    'multiPlane',
    'allocation',
    'preferIdle',
    'order',
    'victim',
    'streams',
    'placement',
  ],
  ...['gcKeepsStream', 'gcMode', 'gcHard', 'gcLow', 'gcHigh', 'copyback', 'freeOrder', 'gcFreeOrder', 'wearLevelling'],
];

function oneOf<T extends string>(key: string, value: string | undefined, known: readonly T[], fallback: T): T {
  if (value === undefined) return fallback;
  const found = known.find((name) => name === value);
  if (found === undefined) throw unknownName(key, String(value), known);
  return found;
}

function blocks(key: string, value: number | undefined, least: number, fallback: number, why: string): number {
  if (value === undefined) return fallback;
  if (!Number.isSafeInteger(value) || value < least) {
    throw new InputError(
      'ERR_FTL_THRESHOLD',
      `${key}: found ${value}, expected an integer of at least ${least} blocks (${why})`,
      key,
    );
  }
  return value;
}

function flag(key: string, value: boolean | undefined, fallback: boolean): boolean {
  if (value === undefined) return fallback;
  if (typeof value !== 'boolean')
    throw new InputError('ERR_FTL_OPTION', `${key}: found ${String(value)}, expected true or false`, key);
  return value;
}

/** Blocks that a collection may need: one for each frontier it moves into, and room to settle frontiers before and after an erase. */
function leastReserve(array: NandArray, domain: DomainKind, multiPlane: boolean, moveFrontiers: number): number {
  const { geometry } = array;
  const members = domain === 'unit' ? 1 : domain === 'die' ? geometry.planes : geometry.units;
  const unitSlots =
    (multiPlane ? Math.min(members, geometry.planes) : 1) * geometry.programPages * geometry.slotsPerPage;
  const blockSlots = members * geometry.pagesPerBlock * geometry.slotsPerPage;
  return moveFrontiers + Math.ceil((4 * mostPadding(array, members, unitSlots)) / blockSlots);
}

/**
 * Checks options and fills in the defaults. Collection moves into up to `moveFrontiers` frontiers of a domain.
 * @throws InputError `ERR_UNKNOWN_NAME`, `ERR_FTL_OPTION`, `ERR_FTL_THRESHOLD`.
 */
export function resolveFtlOptions(options: FtlOptions, array: NandArray, moveFrontiers: number): ResolvedFtlOptions {
  for (const name of Object.keys(options))
    if (!optionNames.includes(name)) throw unknownName('FTL option', name, optionNames);
  const { logicalSlots } = options;
  if (!Number.isSafeInteger(logicalSlots) || logicalSlots < 1) {
    throw new InputError(
      'ERR_FTL_OPTION',
      `ftl.logicalSlots: found ${logicalSlots}, expected an integer of at least 1`,
      'ftl.logicalSlots',
    );
  }
  if (array.geometry.slots > 0x7fff_ffff) {
    throw new InputError(
      'ERR_FTL_OPTION',
      `ftl: the device has ${array.geometry.slots} slots, more than the 2^31 − 1 a mapping entry can name; use a larger slotBytes`,
      'nand.geometry.slotBytes',
    );
  }
  const domain = oneOf('ftl.domain', options.domain, names.domain, 'unit');
  const multiPlane = flag('ftl.multiPlane', options.multiPlane, true) && array.config.features.multiPlane;
  const leastHard = leastReserve(array, domain, multiPlane, moveFrontiers);
  const gcHard = blocks(
    'ftl.gcHard',
    options.gcHard,
    leastHard,
    leastHard + (array.reliability === null ? 0 : 1),
    `collection needs ${moveFrontiers === 1 ? 'a block' : `${moveFrontiers} blocks`} to move into` +
      (leastHard === moveFrontiers ? '' : ', and room for padding'),
  );
  const gcLow = blocks('ftl.gcLow', options.gcLow, gcHard + 1, gcHard + 1, 'gcHard + 1');
  const gcHigh = blocks('ftl.gcHigh', options.gcHigh, gcLow + 1, gcLow + 1, 'gcLow + 1');
  const freeOrder = oneOf('ftl.freeOrder', options.freeOrder, names.freeOrder, 'youngest');
  return {
    logicalSlots,
    domain,
    multiPlane,
    allocation: oneOf('ftl.allocation', options.allocation, names.allocation, 'dynamic'),
    preferIdle: flag('ftl.preferIdle', options.preferIdle, false),
    order: options.order ?? 'CWDP',
    placement: oneOf('ftl.placement', options.placement, names.placement, 'separate'),
    gcKeepsStream: flag('ftl.gcKeepsStream', options.gcKeepsStream, false),
    gcMode: oneOf('ftl.gcMode', options.gcMode, names.gcMode, 'token'),
    gcHard,
    gcLow,
    gcHigh,
    copyback: flag('ftl.copyback', options.copyback, false) && array.config.features.copyback,
    freeOrder,
    gcFreeOrder: oneOf(
      'ftl.gcFreeOrder',
      options.gcFreeOrder,
      names.freeOrder,
      freeOrder === 'fifo' ? 'fifo' : 'oldest',
    ),
    wearLevelling: resolveWearLevelling(options.wearLevelling),
  };
}

/**
 * Checks that the space beyond the logical slots is enough to collect garbage: S − L ≥ (gcHard + frontiers) · block
 * slots in every domain (specification section 6.4).
 * @throws InputError `ERR_FTL_OVERPROVISIONING` naming the largest logical size and smallest over-provisioning.
 */
export function checkCapacity(options: ResolvedFtlOptions, table: BlockTable, frontiers: number, mapped: number): void {
  const reserve = (options.gcHard + frontiers) * table.slotsPerBlock;
  const perDomain = new Float64Array(table.domains);
  for (let block = 0; block < table.blocks; block++) perDomain[table.domainOf(block)] += table.capacity[block];
  // Statically placed data cannot move to another domain, so the smallest one decides.
  const least = perDomain.reduce((a, b) => Math.min(a, b));
  const physical = options.allocation === 'static' ? least * table.domains : perDomain.reduce((a, b) => a + b);
  const usable = physical - reserve * table.domains;
  if (mapped <= usable) return;
  const largest = Math.max(0, Math.floor(usable - (mapped - options.logicalSlots)));
  const smallest =
    largest === 0
      ? 'none is enough on so small a device'
      : `at least ${((100 * (physical - largest)) / largest).toFixed(2)} %`;
  const found = ((100 * (physical - options.logicalSlots)) / options.logicalSlots).toFixed(2);
  throw new InputError(
    'ERR_FTL_OVERPROVISIONING',
    `ftl.logicalSlots: ${options.logicalSlots} of ${physical} good physical slots leave ${found} % over-provisioning, too little to ` +
      `collect garbage: gcHard ${options.gcHard} + ${frontiers} frontiers of ${table.slotsPerBlock} slots in each of ` +
      `${table.domains} domains. Use at most ${largest} logical slots (${smallest}), fewer frontiers, or smaller blocks`,
    'ftl.logicalSlots',
  );
}

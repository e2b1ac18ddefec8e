import type { NandArray } from '@flashstack/nand-device';
import { InputError, type ParameterTable, type ParameterValues } from '@flashstack/sim';

/** What is cached: single entries of the map, or whole translation pages. */
type MapGranularity = 'entry' | 'page';

/** Parameters of a map cache, as `ftl.mapping` names them. */
export interface MapCacheOptions {
  /** Entries kept in RAM; 0: 1 % of the logical slots. */
  readonly cmtEntries: number;
  /** Share of them that is protected from entries used once. */
  readonly protectedShare: number;
  /** Bytes of a translation page, a multiple of the slot; 0: one slot. */
  readonly translationPageBytes: number;
  /** Bytes of an entry in a translation page. */
  readonly entryBytes: number;
  readonly granularity: MapGranularity;
  /** Entries behind a missed one that are taken along. */
  readonly prefetch: number;
  /** A write of a translation page takes all dirty entries of the page with it. */
  readonly batchUpdate: boolean;
  /** A relocation of a translation page takes them with it too. */
  readonly foldOnCopy: boolean;
}

/** The parameters of `dftl`. */
export const mapCacheParameters: ParameterTable = [
  {
    name: 'cmtEntries',
    type: 'integer',
    default: 0,
    min: 0,
    max: 0x7fff_ffff,
    help: 'Mapping entries kept in RAM; 0: 1 % of the logical slots.',
  },
  {
    name: 'protectedShare',
    type: 'number',
    default: 0.5,
    min: 0,
    max: 1,
    help: 'Share of the cache that entries used once cannot displace (segmented LRU); 0: plain LRU.',
  },
  {
    name: 'translationPageBytes',
    type: 'integer',
    unit: 'bytes',
    default: 0,
    min: 0,
    max: 2 ** 20,
    help: 'Size of a translation page, a multiple of the slot; 0: one slot.',
  },
  {
    name: 'entryBytes',
    type: 'integer',
    unit: 'bytes',
    default: 4,
    min: 1,
    max: 4096,
    help: 'Size of an entry in a translation page.',
  },
  {
    name: 'granularity',
    type: 'enum',
    default: 'entry',
    values: ['entry', 'page'],
    help: 'Cache single entries, or whole translation pages.',
  },
  {
    name: 'prefetch',
    type: 'integer',
    unit: 'entries',
    default: 0,
    min: 0,
    max: 65_536,
    help: 'Entries behind a missed one in its page that are cached with it, as long as they displace clean ones only.',
  },
  {
    name: 'batchUpdate',
    type: 'boolean',
    default: true,
    help: 'Writing a translation page takes all dirty entries of the page with it.',
  },
  {
    name: 'foldOnCopy',
    type: 'boolean',
    default: true,
    help: 'Relocating a translation page takes its dirty entries with it (page granularity: pages of one slot only).',
  },
];

/** Options as `resolveParameters` made them from `mapCacheParameters`. */
export function mapCacheOptions(values: ParameterValues): MapCacheOptions {
  return values as unknown as MapCacheOptions;
}

/** How the map is laid out in translation pages. */
export interface MapPages {
  readonly pages: number;
  /** Slots of a translation page, and entries per slot. */
  readonly slotsPerPage: number;
  readonly entriesPerSlot: number;
  readonly entriesPerPage: number;
  /** Capacity of the cache: entries, or translation pages with granularity `page`. */
  readonly capacity: number;
}

/**
 * The layout for so many logical slots.
 * @throws InputError `ERR_FTL_OPTION` if the parameters do not fit together or the device.
 */
export function mapPages(options: MapCacheOptions, logicalSlots: number, array: NandArray): MapPages {
  const { slotBytes } = array.geometry.config;
  const bytes = options.translationPageBytes === 0 ? slotBytes : options.translationPageBytes;
  if (bytes % slotBytes !== 0) {
    throw wrong(
      'translationPageBytes',
      bytes,
      `a multiple of nand.geometry.slotBytes (${slotBytes}), or 0 for one slot`,
    );
  }
  const entriesPerSlot = Math.floor(slotBytes / options.entryBytes);
  if (entriesPerSlot === 0) throw wrong('entryBytes', options.entryBytes, `at most a slot (${slotBytes} bytes)`);
  const slotsPerPage = bytes / slotBytes;
  const entriesPerPage = entriesPerSlot * slotsPerPage;
  const pages = Math.ceil(logicalSlots / entriesPerPage);
  const asked = options.cmtEntries === 0 ? Math.ceil(logicalSlots / 100) : options.cmtEntries;
  let capacity = Math.min(asked, logicalSlots);
  if (options.granularity === 'page') {
    capacity = Math.min(Math.floor(asked / entriesPerPage), pages);
    // A share of a small drive may be less than a page; a number that was asked for is taken at its word.
    if (capacity === 0 && options.cmtEntries === 0) capacity = 1;
    if (capacity === 0) throw wrong('cmtEntries', asked, `at least one translation page of ${entriesPerPage} entries`);
    if (options.prefetch > 0) throw wrong('prefetch', options.prefetch, '0, since whole translation pages are cached');
  }
  if (options.prefetch >= capacity) {
    throw wrong('prefetch', options.prefetch, `less than the ${capacity} entries of the cache`);
  }
  return { pages, slotsPerPage, entriesPerSlot, entriesPerPage, capacity };
}

function wrong(name: string, found: number, expected: string): InputError {
  const key = `ftl.mapping.parameters.${name}`;
  return new InputError('ERR_FTL_OPTION', `${key}: found ${found}, expected ${expected}`, key);
}

import { InputError, unknownName } from '@flashstack/sim';
import { f2fsMetadataBytes } from './metadata-size.js';

/** The kinds of mapping tables. `hybrid`: block mapping with page-mapped log blocks (BAST, SAST, FAST, LAST). */
export const tableSchemes = ['page', 'dftl', 'block', 'hybrid', 'segment', 'disaggregate', 'zoned'] as const;
export type TableScheme = (typeof tableSchemes)[number];

/** What a mapping table describes. Bytes unless the name says otherwise. */
export interface MappedSpace {
  /** Logical capacity. */
  readonly capacityBytes: number;
  /** Mapping unit of page-granular tables. Default 4 KiB. */
  readonly slotBytes?: number;
  /** Erase block. Default 512 KiB. */
  readonly blockBytes?: number;
  /** A physical address in a table. Default 4. */
  readonly entryBytes?: number;
  /** `dftl`: mapping entries kept in RAM. Default: 1 % of the slots. */
  readonly cmtEntries?: number;
  /** `dftl`: page that holds a part of the table in flash. Default 4 KiB. */
  readonly translationPageBytes?: number;
  /** `hybrid`: log blocks. Default: 3 % of the blocks. */
  readonly logBlocks?: number;
  /** `segment`: what one entry maps (application-managed flash: a block of 512 KiB). */
  readonly entrySpanBytes?: number;
  /** `disaggregate`: superblock of the data area. Default 256 MiB. */
  readonly superblockBytes?: number;
  /** `disaggregate`: page-mapped metadata area. Default: what F2FS keeps in place with sections of one superblock. */
  readonly metadataBytes?: number;
  /** `zoned`: from the start of a zone to that of the next. Default 256 MiB, as a superblock. */
  readonly zoneBytes?: number;
}

/** One table in controller RAM. */
export interface TablePart {
  readonly name: string;
  readonly entries: number;
  readonly bytes: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

function size(key: keyof MappedSpace, value: number | undefined, fallback: number, least: number): number {
  if (value === undefined) return fallback;
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new InputError('ERR_FTL_TABLE_SIZE', `${key}: found ${value}, expected an integer of at least ${least}`, key);
}

/**
 * The tables that a scheme keeps in controller RAM for a space of the given size (digest of the papers, chapters 3 and
 * 4): one entry per slot, block, span or superblock that can be addressed, and what stands for the log blocks of hybrid
 * schemes and the cached entries of DFTL (logical and physical address each).
 * @throws InputError `ERR_UNKNOWN_NAME`, `ERR_FTL_TABLE_SIZE`.
 */
export function mappingTables(scheme: TableScheme, space: MappedSpace): readonly TablePart[] {
  const capacity = size('capacityBytes', space.capacityBytes, 0, 1);
  const slotBytes = size('slotBytes', space.slotBytes, 4 * KIB, 512);
  // A slot larger than the usual block is no size of a block: only schemes that map blocks ask for one.
  const mapsBlocks = scheme === 'block' || scheme === 'hybrid';
  const blockBytes = size('blockBytes', space.blockBytes ?? 512 * KIB, 0, mapsBlocks ? slotBytes : 1);
  const entry = size('entryBytes', space.entryBytes, 4, 1);
  const slots = Math.ceil(capacity / slotBytes);
  const blocks = Math.ceil(capacity / blockBytes);
  const part = (name: string, entries: number, bytes: number = entry): TablePart => ({
    name,
    entries,
    bytes: entries * bytes,
  });
  switch (scheme) {
    case 'page':
      return [part('page map', slots)];
    case 'dftl': {
      const perPage = Math.floor(size('translationPageBytes', space.translationPageBytes, 4 * KIB, entry) / entry);
      return [
        part('cached entries', size('cmtEntries', space.cmtEntries, Math.ceil(slots / 100), 1), 2 * entry),
        part('directory of translation pages', Math.ceil(slots / perPage)),
      ];
    }
    case 'block':
      return [part('block map', blocks)];
    case 'hybrid': {
      const logBlocks = size('logBlocks', space.logBlocks, Math.ceil((3 * blocks) / 100), 1);
      const pages = Math.floor(blockBytes / slotBytes);
      return [part('block map', blocks), part('log blocks', logBlocks), part('pages of log blocks', logBlocks * pages)];
    }
    case 'segment':
      return [
        part('segment map', Math.ceil(capacity / size('entrySpanBytes', space.entrySpanBytes, 512 * KIB, slotBytes))),
      ];
    case 'disaggregate': {
      // The layout of F2FS knows segments of 2 MiB only.
      const least = space.metadataBytes === undefined ? 2 * MIB : slotBytes;
      const superblock = size('superblockBytes', space.superblockBytes, 256 * MIB, least);
      const metadata = size('metadataBytes', space.metadataBytes ?? metadataOf(capacity, superblock), 0, 0);
      if (metadata > capacity) {
        const why = `metadataBytes: found ${metadata}, expected at most the capacity of ${capacity}`;
        throw new InputError('ERR_FTL_TABLE_SIZE', why, 'metadataBytes');
      }
      return [
        part('page map of the metadata area', Math.ceil(metadata / slotBytes)),
        part('superblock map', Math.ceil(capacity / superblock)),
      ];
    }
    case 'zoned':
      return [part('zone map', Math.ceil(capacity / size('zoneBytes', space.zoneBytes, 256 * MIB, 1)))];
    default:
      throw unknownName('mapping table', String(scheme), tableSchemes);
  }
}

function metadataOf(capacity: number, superblock: number): number {
  const why = (expected: string): InputError =>
    new InputError(
      'ERR_FTL_TABLE_SIZE',
      `superblockBytes: found ${superblock}, expected ${expected}`,
      'superblockBytes',
    );
  if (superblock % (2 * MIB) !== 0)
    throw why('a multiple of 2 MiB, the segment of F2FS, unless metadataBytes is given');
  const bytes = capacity < 2 * superblock ? capacity : f2fsMetadataBytes(capacity, superblock);
  if (bytes >= capacity) throw why(`less: a space of ${capacity} bytes has no room for metadata and data`);
  return bytes;
}

/** Bytes of all tables of a scheme, see `mappingTables`. */
export function mappingTableBytes(scheme: TableScheme, space: MappedSpace): number {
  return mappingTables(scheme, space).reduce((sum, { bytes }) => sum + bytes, 0);
}

import { Origin, OriginTable } from '@flashstack/block-device';
import { type FtlStats, MoveReason } from '@flashstack/ftl';
import type { Ssd } from '@flashstack/ssd';
import type { ProgramShare } from './analysis.js';

/** Where bytes were written, from the top; what stands between two layers tells how one became the other. */
export const writeLayers = [
  'application',
  'pageCache',
  'fileSystem',
  'blockLayer',
  'device',
  'buffer',
  'flash',
] as const;
/** One of {@link writeLayers}. */
export type WriteLayer = (typeof writeLayers)[number];

/** Why bytes were written at a layer, or why they are more or fewer than in the layer above. */
export type WriteCause =
  /** By whoever is above. */
  | 'written'
  /** Overwritten or discarded before they went on; of a page cache also those that are still dirty at the end. */
  | 'absorbed'
  /** Added, to make whole slots or blocks of parts. */
  | 'filled'
  /** Went on later than they came, or not at all: held or in flight when counting began, or now; or failed. */
  | 'waiting'
  | ProgramShare['cause']
  /** Placed, but not programmed: their program unit is not full. */
  | 'pending'
  /** Placed, but lost or released before their program unit was full. */
  | 'dropped'
  /** Programmed, but placed before counting began. */
  | 'carried';

/** Bytes of one cause and origin at a layer. */
export interface WritePart {
  readonly layer: WriteLayer;
  readonly cause: WriteCause;
  /** Name of the `Origin`, or null where bytes have none: padding, metadata of the drive, writes of the application. */
  readonly origin: string | null;
  /** Negative: taken off. Never 0. */
  readonly bytes: number;
}

/** What a host tells of the layers above the drive. */
export interface WriteFlowSource {
  /** Bytes that write calls have taken. */
  applicationBytes(): number;
  /** Bytes handed to the block layer, by origin. */
  readonly fileSystemBytes: Float64Array;
  /** Names of origins; those that come with the project by default. */
  readonly origins?: OriginTable;
}

/** Origins of what applications have written; all others a file system adds. */
const APPLICATION_DATA: readonly number[] = [Origin.fileData, Origin.applicationLog];

/**
 * The bytes written since counting began, layer by layer, each byte by who caused it. `host`: null for a drive alone.
 *
 * The parts of `application` and `pageCache` add up to the data of `fileSystem`, those of `fileSystem` and `blockLayer` to
 * `device`, those of `device` and `buffer` to cause `host` of `flash`. The parts of `device` add up to `ssd.write.bytes`,
 * those of `flash` to the bytes of all programs.
 */
export function writeFlowOf(ssd: Ssd, host: WriteFlowSource | null): readonly WritePart[] {
  const { stats, flash, config, blockBytes } = ssd;
  const ftl = flash.ftl.stats;
  const { slotBytes } = config.nand.geometry;
  const parts = new Parts(host?.origins ?? new OriginTable());
  if (host !== null) {
    const { fileSystemBytes } = host;
    const applicationBytes = host.applicationBytes();
    const data = APPLICATION_DATA.reduce((sum, origin) => sum + fileSystemBytes[origin], 0);
    parts.add('application', 'written', null, applicationBytes);
    parts.add('pageCache', data < applicationBytes ? 'absorbed' : 'filled', null, data - applicationBytes);
    parts.addByOrigin('fileSystem', 'written', (origin) => fileSystemBytes[origin]);
    parts.addByOrigin('blockLayer', 'waiting', (origin) => stats.writtenByOrigin[origin] - fileSystemBytes[origin]);
  }
  const { absorbed, filled } = stats.buffered;
  const added = (origin: number): number => (filled[origin] - absorbed[origin]) * blockBytes;
  parts.addByOrigin('device', 'written', (origin) => stats.writtenByOrigin[origin]);
  parts.addByOrigin('buffer', 'absorbed', (origin) => -absorbed[origin] * blockBytes);
  parts.addByOrigin('buffer', 'filled', (origin) => filled[origin] * blockBytes);
  parts.addByOrigin(
    'buffer',
    'waiting',
    (origin) => ftl.hostByOrigin[origin] * slotBytes - stats.writtenByOrigin[origin] - added(origin),
  );
  addPrograms(parts, ftl, slotBytes);
  return parts.all;
}

/** Every slot programmed, by what for; of hosts' data and of copies also by whose it is. */
function addPrograms(parts: Parts, ftl: FtlStats, slotBytes: number): void {
  parts.addByOrigin('flash', 'host', (origin) => ftl.hostByOrigin[origin] * slotBytes);
  for (const cause of ['gc', 'wearLevelling', 'refresh', 'retirement', 'merge'] as const) {
    const first = MoveReason[cause] << 8;
    parts.addByOrigin('flash', cause, (origin) => ftl.movedByOrigin[first | origin] * slotBytes);
  }
  const { mapping, trimMap, backups, padding, reprogrammed, pending, dropped, carried } = ftl;
  const others = { mapping, trimMap, backup: backups, padding, reprogrammed };
  const later = { pending: -pending, dropped: -dropped, carried };
  for (const [cause, slots] of Object.entries({ ...others, ...later })) {
    parts.add('flash', cause as WriteCause, null, slots * slotBytes);
  }
}

/** Collects parts that are not 0. */
class Parts {
  readonly all: WritePart[] = [];
  private readonly names: OriginTable;

  constructor(names: OriginTable) {
    this.names = names;
  }

  add(layer: WriteLayer, cause: WriteCause, origin: string | null, bytes: number): void {
    if (bytes !== 0) this.all.push({ layer, cause, origin, bytes });
  }

  addByOrigin(layer: WriteLayer, cause: WriteCause, bytesOf: (origin: number) => number): void {
    for (let origin = 0; origin < 256; origin++) this.add(layer, cause, this.names.nameOf(origin), bytesOf(origin));
  }
}

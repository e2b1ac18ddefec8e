import type { NandArray } from '@flashstack/nand-device';
import type { Parameter, ParameterValues } from '@flashstack/sim';
import type { DriveFtl, ZoneLimits } from '../contract.js';
import type { FtlParts, MappingKind } from '../mapping.js';
import { mappingTableBytes } from '../mapping-size.js';
import { f2fsMetadataBytes } from '../metadata-size.js';
import type { SegmentPlacement } from './layout.js';
import { designSegments, type SegmentRequest, tooLarge, wrongParameter } from './segment-design.js';
import { SegmentFtl } from './segment-ftl.js';

const MIB = 1024 * 1024;

const bytes = (name: string, value: number, help: string): Parameter => ({
  name,
  type: 'integer',
  unit: 'bytes',
  default: value,
  min: 0,
  help,
});
const whole = (name: string, unit: string, help: string): Parameter => ({
  name,
  type: 'integer',
  unit,
  default: 0,
  min: 0,
  help,
});
const spareBlocks = whole(
  'spareBlocks',
  'blocks',
  'Blocks of each unit that replace bad ones; 0: one in a hundred, and at least two if there are faults.',
);
const overwrite = (value: boolean): Parameter => ({
  name: 'overwrite',
  type: 'boolean',
  default: value,
  help: 'The first write at the start of a written one releases it; otherwise it must be discarded before.',
});

const plain = {
  metaBytes: 0,
  metaSpare: 0,
  capacityBytes: 0,
  units: 0,
  placement: 'striped',
  zones: null,
} as const;

const segment: MappingKind = {
  name: 'segment',
  summary: 'Append-only segments (application-managed flash): one map entry a segment, no garbage collection.',
  parameters: [
    bytes('segmentBytes', 0, 'Size of a segment; 0: one erase block of every unit.'),
    bytes('entrySpanBytes', 512 * 1024, 'What one entry of the mapping table describes: for the size of the table.'),
    overwrite(false),
    spareBlocks,
  ],
  uses: ['multiPlane', 'order'],
  create: (values) => ({
    attach: (parts) => {
      const names = { stride: 'segmentBytes', capacity: 'segmentBytes', segment: 'segment' };
      const strideBytes = values.segmentBytes as number;
      const entrySpanBytes = values.entrySpanBytes as number;
      const request = { ...plain, ...common(values), strideBytes, names };
      return make(parts, request, (capacityBytes) => {
        const { slotBytes } = parts.array.config.geometry;
        if (entrySpanBytes < slotBytes) {
          throw wrongParameter('entrySpanBytes', `found ${entrySpanBytes}, expected at least the slot of ${slotBytes}`);
        }
        return mappingTableBytes('segment', { capacityBytes, slotBytes, entrySpanBytes });
      });
    },
  }),
};

const disaggregate: MappingKind = {
  name: 'disaggregate',
  summary: 'A page-mapped metadata area and append-only superblocks for data (OrcFS).',
  parameters: [
    bytes('superblockBytes', 256 * MIB, 'Size of a superblock; 0: one erase block of every unit.'),
    bytes('metaBytes', 0, 'Size of the metadata area, from the start; 0: up to the main area of F2FS.'),
    {
      name: 'metaSpare',
      type: 'number',
      default: 0.25,
      min: 0,
      max: 100,
      help: 'Over-provisioning of the metadata area, as a share of it.',
    },
    overwrite(true),
    spareBlocks,
  ],
  uses: [
    ...(['domain', 'multiPlane', 'preferIdle', 'order', 'victim', 'streams', 'placement', 'gcKeepsStream'] as const),
    ...(['gcMode', 'gcHard', 'gcLow', 'gcHigh', 'copyback', 'freeOrder', 'gcFreeOrder', 'wearLevelling'] as const),
  ],
  create: (values) => ({
    attach: (parts) => {
      const names = { stride: 'superblockBytes', capacity: 'superblockBytes', segment: 'superblock' };
      const { array, options } = parts;
      const { slotBytes } = array.config.geometry;
      const capacityBytes = options.logicalSlots * slotBytes;
      const superblockBytes = (values.superblockBytes as number) || levelBytes(array);
      const metaBytes = (values.metaBytes as number) || mainAreaOf(capacityBytes, superblockBytes);
      const metaSpare = values.metaSpare as number;
      const request = { ...plain, ...common(values), metaBytes, metaSpare, strideBytes: superblockBytes, names };
      return make(parts, request, () =>
        mappingTableBytes('disaggregate', {
          capacityBytes,
          slotBytes,
          superblockBytes,
          metadataBytes: metaBytes,
        }),
      );
    },
  }),
};

const zoned: MappingKind = {
  name: 'zoned',
  summary: 'A zoned namespace (ZNS): the host appends to zones and resets them.',
  parameters: [
    bytes('zoneBytes', 0, 'From the start of a zone to that of the next; 0: one erase block of each of its units.'),
    bytes('zoneCapacity', 0, 'What can be written of a zone; 0: all of it.'),
    whole('zoneUnits', 'units', 'Parallel units of a zone; 0: all.'),
    {
      name: 'placement',
      type: 'enum',
      values: ['striped', 'rotating', 'channel'],
      default: 'striped',
      help: 'Units of a zone: all; the next ones in turn, over the channels; or those of one channel.',
    },
    whole('maxOpen', 'zones', 'Zones that may be open at a time; 0: any number.'),
    whole('maxActive', 'zones', 'Zones that may be open or closed at a time; 0: any number.'),
    bytes('appendLimit', 0, 'Largest append; 0: a whole zone.'),
    spareBlocks,
  ],
  uses: ['multiPlane', 'order'],
  create: (values) => ({
    attach: (parts) => {
      const names = { stride: 'zoneBytes', capacity: 'zoneCapacity', segment: 'zone' };
      const zones = limits(values, parts.array.config.geometry.slotBytes);
      const request: SegmentRequest = {
        ...plain,
        ...common({ ...values, overwrite: false }),
        strideBytes: values.zoneBytes as number,
        capacityBytes: values.zoneCapacity as number,
        units: values.zoneUnits as number,
        placement: values.placement as SegmentPlacement,
        zones,
        names,
      };
      return make(parts, request, (capacityBytes, strideBytes) =>
        mappingTableBytes('zoned', { capacityBytes, zoneBytes: strideBytes }),
      );
    },
  }),
};

/** The append-only mapping schemes. */
export const segmentKinds: readonly MappingKind[] = [segment, disaggregate, zoned];

function common(values: ParameterValues): Pick<SegmentRequest, 'spareBlocks' | 'overwrite'> {
  return { spareBlocks: values.spareBlocks as number, overwrite: values.overwrite as boolean };
}

function limits(values: ParameterValues, slotBytes: number): ZoneLimits {
  const maxOpen = values.maxOpen as number;
  const maxActive = values.maxActive as number;
  const appendLimit = values.appendLimit as number;
  if (maxOpen > maxActive && maxActive > 0) {
    throw wrongParameter(
      'maxOpen',
      `found ${maxOpen}, expected at most maxActive (${maxActive}): open zones are active`,
    );
  }
  if (appendLimit % slotBytes !== 0) {
    throw wrongParameter('appendLimit', `found ${appendLimit}, expected a multiple of the slot of ${slotBytes} bytes`);
  }
  return { maxOpen, maxActive, appendSlots: appendLimit / slotBytes };
}

function levelBytes(array: NandArray): number {
  const { geometry } = array;
  return geometry.units * geometry.pagesPerBlock * geometry.config.pageBytes;
}

/** Where the main area of F2FS begins: one section for its superblocks, then what it updates in place. */
function mainAreaOf(capacityBytes: number, superblockBytes: number): number {
  if (superblockBytes % (2 * MIB) === 0) {
    const bytes = superblockBytes + f2fsMetadataBytes(capacityBytes, superblockBytes);
    if (bytes > 0 && bytes < capacityBytes) return bytes;
  }
  throw wrongParameter(
    superblockBytes % (2 * MIB) === 0 ? 'superblockBytes' : 'metaBytes',
    `F2FS with sections of ${superblockBytes} bytes does not fit a drive of ${capacityBytes} bytes (sections are multiples of ` +
      '2 MiB, and the metadata takes two of them at least). Choose smaller superblocks, or give metaBytes',
  );
}

function make(
  parts: FtlParts,
  request: SegmentRequest,
  table: (capacityBytes: number, strideBytes: number) => number,
): DriveFtl {
  const { array, options } = parts;
  const { slotBytes } = array.config.geometry;
  const design = designSegments(array, options, request);
  const { layout } = design;
  const tableBytes = table(options.logicalSlots * slotBytes, layout.plan.stride * slotBytes);
  const ftl = new SegmentFtl(parts, { ...design, tableBytes });
  for (let set = 0; set < layout.sets; set++) {
    const usable = ftl.area.blocks.usable(set);
    if (usable >= layout.segmentsOf(set)) continue;
    const what = `bad blocks leave ${usable} groups for ${layout.segmentsOf(set)} ${request.names.segment}s on one set of units`;
    throw tooLarge(array, options.logicalSlots, what, layout.plan.first + usable * layout.sets * layout.plan.stride);
  }
  return ftl;
}

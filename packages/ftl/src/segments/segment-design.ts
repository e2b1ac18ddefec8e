import type { NandArray } from '@flashstack/nand-device';
import { InputError } from '@flashstack/sim';
import type { BlockRange } from '../block-table.js';
import type { SegmentView } from '../contract.js';
import { frontierLayout } from '../frontier-layout.js';
import type { FtlOptions } from '../options.js';
import { resolveFtlOptions } from '../options.js';
import { resolveStrategy } from '../strategy-choice.js';
import { streamKinds } from '../streams.js';
import { TrimMap } from '../trim-map.js';
import { SegmentLayout, type SegmentPlacement } from './layout.js';

/** What a mapping kind asks for. Bytes of the host's address space. */
export interface SegmentRequest {
  /** Range below the data area, which may be written in any order; and its over-provisioning as a share of it. */
  readonly metaBytes: number;
  readonly metaSpare: number;
  /** From the start of a segment to that of the next; 0: what one erase block of each of its units holds. */
  readonly strideBytes: number;
  /** What can be written of a segment; 0: all of it. */
  readonly capacityBytes: number;
  /** Units of a segment; 0: all. */
  readonly units: number;
  readonly placement: SegmentPlacement;
  /** Per unit; 0: one in a hundred blocks, at least two on a device with faults. */
  readonly spareBlocks: number;
  readonly overwrite: boolean;
  readonly zones: SegmentView['zones'];
  /** Names of the parameters for messages. */
  readonly names: { readonly stride: string; readonly capacity: string; readonly segment: string };
}

/** How an append-only FTL divides its device. */
export interface SegmentDesign {
  readonly layout: SegmentLayout;
  readonly zones: SegmentView['zones'];
  /** Block indices of the page map beside the data area, its options, and the slots that it holds at a time. */
  readonly storeRange: BlockRange;
  readonly storeOptions: FtlOptions;
  readonly mostMapped: number;
  readonly tableBytes: number;
}

const PARAMETERS = 'ftl.mapping.parameters';

/** The error for a parameter of the mapping scheme. */
export function wrongParameter(name: string, message: string): InputError {
  return new InputError('ERR_FTL_SEGMENTS', `${PARAMETERS}.${name}: ${message}`, `${PARAMETERS}.${name}`);
}

/**
 * Divides the device as the request says.
 * @throws InputError `ERR_FTL_SEGMENTS` naming the parameter, or `ERR_FTL_OVERPROVISIONING` if the drive is too large.
 */
export function designSegments(
  array: NandArray,
  options: FtlOptions,
  request: SegmentRequest,
): Omit<SegmentDesign, 'tableBytes'> {
  const { mapping: _, ...others } = options;
  const resolved = resolveFtlOptions(others, array, 1);
  const units = unitsOf(array, request);
  const plan = sizes(array, options.logicalSlots, units, request);
  const faulty = array.reliability !== null;
  const { blocksPerPlane } = array.geometry;
  const spareBlocks = request.spareBlocks || Math.max(faulty ? 2 : 1, Math.ceil(blocksPerPlane / 100));
  const { appendSlots = 0 } = request.zones ?? {};
  if (appendSlots > plan.capacity) {
    const { slotBytes } = array.config.geometry;
    throw wrongParameter(
      'appendLimit',
      `found ${appendSlots * slotBytes}, expected at most what a zone takes (${plan.capacity * slotBytes}), or 0 for that`,
    );
  }
  // The range does not matter for what the page map must hold.
  const whole = { first: 0, count: blocksPerPlane };
  const draft = new SegmentLayout(array, { ...plan, range: whole, spareBlocks }, resolved.multiPlane);
  const notes = request.zones === null ? 0 : draft.segments;
  const storeOptions = { ...others, logicalSlots: options.logicalSlots + notes };
  const mostMapped =
    Math.ceil(plan.first * (1 + request.metaSpare)) +
    // What the last flush needed, and what the next one will.
    2 * draft.segments * draft.mostUnsafe +
    notes +
    TrimMap.pagesFor(storeOptions.logicalSlots, array);
  const count = storeBlocks(array, storeOptions, mostMapped);
  const range = { first: count, count: blocksPerPlane - count };
  const layout = new SegmentLayout(array, { ...plan, range, spareBlocks }, resolved.multiPlane);
  checkGroups(layout, array, request, count);
  return { layout, zones: request.zones, storeRange: { first: 0, count }, storeOptions, mostMapped };
}

function unitsOf(array: NandArray, request: SegmentRequest): number {
  const { units, planes } = array.geometry;
  const wanted = request.units === 0 ? units : request.units;
  if (request.placement === 'striped' && wanted !== units) {
    throw wrongParameter(
      'zoneUnits',
      `found ${wanted} with placement striped, which uses all ${units} units. Choose placement rotating or channel`,
    );
  }
  const fits = units % wanted === 0 && (wanted % planes === 0 || planes % wanted === 0);
  if (fits) return wanted;
  const possible: number[] = [];
  for (let n = 1; n <= units; n++) if (units % n === 0 && (n % planes === 0 || planes % n === 0)) possible.push(n);
  throw wrongParameter(
    'zoneUnits',
    `found ${wanted}; the ${units} units (${planes} planes a die) are shared out evenly by ${possible.join(', ')}`,
  );
}

function slotsOf(array: NandArray, name: string, bytes: number): number {
  const { slotBytes } = array.geometry.config;
  if (bytes % slotBytes === 0) return bytes / slotBytes;
  throw wrongParameter(name, `found ${bytes}, expected a multiple of the slot of ${slotBytes} bytes`);
}

/** First slot, end, stride and capacity of the data area, in slots. */
function sizes(array: NandArray, logicalSlots: number, units: number, request: SegmentRequest) {
  const { names, placement, overwrite } = request;
  const { slotBytes } = array.geometry.config;
  const first = slotsOf(array, 'metaBytes', request.metaBytes);
  const level = units * array.geometry.pagesPerBlock * array.geometry.slotsPerPage;
  const stride = request.strideBytes === 0 ? level : slotsOf(array, names.stride, request.strideBytes);
  const capacity = request.capacityBytes === 0 ? stride : slotsOf(array, names.capacity, request.capacityBytes);
  if (capacity > stride) {
    throw wrongParameter(
      names.capacity,
      `found ${request.capacityBytes}, expected at most ${names.stride} (${stride * slotBytes})`,
    );
  }
  if (first >= logicalSlots) {
    throw wrongParameter(
      'metaBytes',
      `${request.metaBytes} bytes leave nothing of the drive's ${logicalSlots * slotBytes} for data. Give fewer, or smaller superblocks`,
    );
  }
  const room = logicalSlots - first;
  if (stride > room) {
    throw wrongParameter(
      names.stride,
      `a ${names.segment} of ${stride * slotBytes} bytes is larger than the data area of ${room * slotBytes} bytes. ` +
        `Choose at most that, best a multiple of ${level * slotBytes}, one erase block of each of ${units} units`,
    );
  }
  if (request.zones !== null && room % stride !== 0) {
    const whole = Math.floor(room / stride) * stride * slotBytes;
    throw wrongParameter(
      names.stride,
      `zones of ${stride * slotBytes} bytes do not divide the drive of ${room * slotBytes} bytes. Choose a capacity of ${whole} bytes, or other zones`,
    );
  }
  return { first, end: logicalSlots, stride, capacity, units, placement, overwrite };
}

/** Block indices of every plane that a page map needs to hold so many slots. */
function storeBlocks(array: NandArray, options: FtlOptions, mapped: number): number {
  const resolved = resolveFtlOptions(options, array, 1);
  const streams = resolveStrategy(options.streams, {
    key: 'ftl.streams',
    what: 'stream policy',
    fallback: 'none',
    kinds: streamKinds,
  });
  const { geometry } = array;
  const members = resolved.domain === 'unit' ? 1 : resolved.domain === 'die' ? geometry.planes : geometry.units;
  const domains = geometry.units / members;
  const reserve = resolved.gcHard + frontierLayout(resolved, streams, false).total;
  const slotsPerMember = geometry.pagesPerBlock * geometry.slotsPerPage;
  const good = new Int32Array(domains);
  for (let count = 1; count < geometry.blocksPerPlane; count++) {
    for (let unit = 0; unit < geometry.units; unit++) {
      const physical = unit * geometry.blocksPerPlane + count - 1;
      const domain = resolved.domain === 'superblock' ? 0 : Math.floor(unit / members);
      if (array.bad[physical] === 0) good[domain]++;
    }
    // Each domain must be able to collect by itself, and lose a block.
    const least = (reserve + (array.reliability === null ? 1 : 2)) * members;
    const slots = good.reduce((sum, blocks) => sum + blocks - reserve * members, 0) * slotsPerMember;
    if (slots >= mapped && good.every((blocks) => blocks >= least)) return count;
  }
  throw tooLarge(array, options.logicalSlots, `the page map beside the data area needs ${mapped} slots`, 0);
}

function checkGroups(layout: SegmentLayout, array: NandArray, request: SegmentRequest, storeCount: number): void {
  const { plan, depth, sets } = layout;
  const perSet = Math.max(0, Math.floor((plan.range.count - plan.spareBlocks) / depth));
  if (perSet >= layout.segmentsOf(0)) return;
  const what =
    `${layout.segments} ${request.names.segment}s of ${depth} erase blocks on each of ${layout.units} units need ` +
    `${layout.segmentsOf(0) * depth} blocks of each unit; of ${array.geometry.blocksPerPlane}, ${storeCount} are for the page map beside ` +
    `the data area and ${plan.spareBlocks} are spare`;
  throw tooLarge(array, plan.end, what, perSet === 0 ? 0 : plan.first + perSet * sets * plan.stride);
}

/** The error for a drive on which a set has fewer groups of good blocks than segments. */
export function tooLarge(array: NandArray, logicalSlots: number, what: string, largest: number): InputError {
  const { slotBytes } = array.geometry.config;
  const hint = largest > 0 ? `Use a capacity of at most ${largest * slotBytes} bytes, or ` : 'Use ';
  return new InputError(
    'ERR_FTL_OVERPROVISIONING',
    `ftl.logicalSlots: ${logicalSlots} are too many: ${what}. ${hint}segments that fill their erase blocks better, or more blocks per plane`,
    'ftl.logicalSlots',
  );
}

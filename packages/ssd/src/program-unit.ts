import { mappingName } from '@flashstack/ftl';
import type { SsdConfig } from './config.js';

/** Mapping schemes whose data is striped over all planes of a die, whatever the domain. */
const appendOnly: readonly string[] = ['segment', 'disaggregate', 'zoned'];

/** Name of the built-in mapping scheme if it takes writes to a segment or zone in order only, otherwise null. */
export function appendOnlyMapping(config: SsdConfig): string | null {
  const name = mappingName(config.ftl.mapping);
  return appendOnly.includes(name) ? name : null;
}

/** Slots that one program command writes. */
export function programSlots(config: SsdConfig): number {
  const { geometry, features } = config.nand;
  const { domain = 'unit', multiPlane = true } = config.ftl;
  const pages = geometry.programUnit === 'wordline' ? geometry.cellBits : 1;
  const together = domain !== 'unit' || appendOnlyMapping(config) !== null;
  const planes = features.multiPlane && multiPlane && together ? geometry.planes : 1;
  return (geometry.pageBytes / geometry.slotBytes) * pages * planes;
}

/** Schemes whose frontiers are those that `openSlots` counts: a buffer that is larger never fills up with what waits. */
const fewFrontiers: readonly string[] = ['page', 'dftl'];

/** True if so many program units may be open at a time that they could fill the buffer for good: they must be padded. */
export function mayFillBuffer(config: SsdConfig): boolean {
  return programSlots(config) > 1 && !fewFrontiers.includes(mappingName(config.ftl.mapping));
}

/** Slots that may wait for their program units in all frontiers of one stream. */
export function openSlots(config: SsdConfig): number {
  const { channels, ways, dies, planes } = config.nand.geometry;
  const { domain = 'unit' } = config.ftl;
  const frontiers = channels * ways * dies * (domain === 'unit' ? planes : 1);
  return frontiers * programSlots(config);
}

import type { SsdConfig } from './config.js';

/** Slots that one program command writes. */
export function programSlots(config: SsdConfig): number {
  const { geometry, features } = config.nand;
  const { domain = 'unit', multiPlane = true } = config.ftl;
  const pages = geometry.programUnit === 'wordline' ? geometry.cellBits : 1;
  const planes = features.multiPlane && multiPlane && domain !== 'unit' ? geometry.planes : 1;
  return (geometry.pageBytes / geometry.slotBytes) * pages * planes;
}

/** Slots that may wait for their program units in all frontiers of one stream. */
export function openSlots(config: SsdConfig): number {
  const { channels, ways, dies, planes } = config.nand.geometry;
  const { domain = 'unit' } = config.ftl;
  const frontiers = channels * ways * dies * (domain === 'unit' ? planes : 1);
  return frontiers * programSlots(config);
}

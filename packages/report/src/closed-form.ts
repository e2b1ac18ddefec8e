import type { Analysis } from '@flashstack/experiment';
import { fifoWriteAmplification, greedyWriteAmplification } from '@flashstack/ftl';
import type { RunView } from './view.js';

/**
 * Write amplification that theory gives for the run, or null where no closed form applies. One is known for uniformly
 * random writes of whole slots over the whole drive in steady state, with greedy or FIFO victims (Desnoyers, "Analytic
 * Modeling of SSD Write Performance", 2012). Space that collection holds free counts as absent.
 */
export function closedFormAmplification(view: RunView): number | null {
  const { spec, analysis } = view.result;
  const { threshold, domainBlocks }: Partial<Analysis['gc']> = analysis.gc;
  const victims = view.distribution('ftl.victimValid');
  if (threshold === undefined || domainBlocks === undefined || victims === null || !isUniform(view)) return null;
  const { geometry } = spec.device.nand;
  const planes = geometry.channels * geometry.ways * geometry.dies * geometry.planes;
  const pages = planes * geometry.blocksPerPlane * geometry.pagesPerBlock;
  const slots = (pages * geometry.pageBytes) / geometry.slotBytes;
  // The last bin holds wholly valid blocks alone, so it begins at the size of a block.
  const blockSlots = victims.from + (victims.counts.length - 1) * victims.binWidth;
  const domains = slots / blockSlots / domainBlocks;
  // Blocks kept erased, and one each that the host and collection have open.
  const reserve = domains * (threshold + 1) * blockSlots;
  const alpha = (slots - reserve) / (spec.device.capacityBytes / geometry.slotBytes);
  if (!(alpha > 1)) return null;
  if (view.victim === 'greedy') return greedyWriteAmplification(alpha, blockSlots);
  return view.victim === 'fifo' ? fifoWriteAmplification(alpha) : null;
}

function isUniform(view: RunView): boolean {
  const { workload, precondition, device } = view.result.spec;
  if (precondition !== 'steady' || workload.kind !== 'random' || !('parameters' in workload)) return false;
  const { slotBytes } = device.nand.geometry;
  const { readShare, requestBytes, alignBytes, offsetBytes, rangeBytes, ...rest } = workload.parameters;
  const whole = (size: unknown): boolean => typeof size === 'number' && size % slotBytes === 0;
  const everywhere = offsetBytes === 0 && (rangeBytes === 0 || rangeBytes === device.capacityBytes);
  const plain = rest.sizes === undefined || rest.sizes === '';
  return readShare !== 1 && plain && whole(requestBytes) && whole(alignBytes) && everywhere;
}

import { BlockState, VALIDITY_BUCKETS } from '@flashstack/ftl';
import type { Ssd } from '@flashstack/ssd';

/** How many things had a value: bin i covers [from + i × binWidth, from + (i + 1) × binWidth). */
export interface DistributionRecord {
  /** What the value is measured in. */
  readonly unit: string;
  /** Lower edge of the first bin. */
  readonly from: number;
  readonly binWidth: number;
  readonly counts: readonly number[];
}

/** Bins of erase counts, at most. */
const ERASE_BINS = 64;

/**
 * Distributions of a drive: `ftl.victimValid` (valid slots of the victims of garbage collection since statistics
 * began), `ftl.blockValid` (valid slots of the blocks that are closed now), `nand.eraseCount` (usable blocks by erases).
 */
export function distributionsOf(ssd: Ssd): Readonly<Record<string, DistributionRecord>> {
  const { ftl } = ssd.flash;
  const steps = VALIDITY_BUCKETS - 1;
  const binWidth = ftl.tables[0].slotsPerBlock / steps;
  const slots = (counts: Float64Array): DistributionRecord => ({
    unit: 'valid slots',
    from: 0,
    binWidth,
    counts: Array.from(counts),
  });
  const closed = new Float64Array(VALIDITY_BUCKETS);
  for (const { state, valid, capacity } of ftl.tables) {
    for (let block = 0; block < state.length; block++) {
      if (state[block] === BlockState.closed) closed[Math.floor((valid[block] / capacity[block]) * steps)]++;
    }
  }
  return {
    'ftl.victimValid': slots(ftl.stats.victimValidity),
    'ftl.blockValid': slots(closed),
    'nand.eraseCount': eraseCounts(ssd),
  };
}

function eraseCounts(ssd: Ssd): DistributionRecord {
  const erases: number[] = [];
  for (const { blocks, capacity, eraseCount } of ssd.flash.ftl.tables) {
    for (let block = 0; block < blocks; block++) if (capacity[block] > 0) erases.push(eraseCount[block]);
  }
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  for (const count of erases) {
    least = Math.min(least, count);
    most = Math.max(most, count);
  }
  if (least > most) return { unit: 'erases', from: 0, binWidth: 1, counts: [] };
  const binWidth = Math.ceil((most - least + 1) / ERASE_BINS);
  const counts = new Array<number>(Math.floor((most - least) / binWidth) + 1).fill(0);
  for (const count of erases) counts[Math.floor((count - least) / binWidth)]++;
  return { unit: 'erases', from: least, binWidth, counts };
}

import { LOGICAL } from './drive.js';
import { type FlashBenchmark, segmentRow } from './writer.js';

/** Segments of 32 MiB, an erase block of every unit, or of 256 MiB; a drive of whole ones. */
const WHOLE = LOGICAL - (LOGICAL % (32 * 256));

export const benchmarks: readonly FlashBenchmark[] = ['segment', 'disaggregate', 'zoned'].map((scheme) =>
  segmentRow(scheme, 3_000_000, WHOLE),
);

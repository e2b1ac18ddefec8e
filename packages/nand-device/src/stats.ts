/** Number of priority classes. */
export const CLASSES = 7;

/** Counts of page and block operations since construction, by priority class. */
export class NandCounts {
  /** Pages read, pages programmed, blocks erased, pages copied back (also counted as programs). */
  readonly reads: Float64Array = new Float64Array(CLASSES);
  readonly programs: Float64Array = new Float64Array(CLASSES);
  readonly erases: Float64Array = new Float64Array(CLASSES);
  readonly copybacks: Float64Array = new Float64Array(CLASSES);

  /** Sum over classes. */
  total(counts: Float64Array): number {
    let sum = 0;
    for (const count of counts) sum += count;
    return sum;
  }
}

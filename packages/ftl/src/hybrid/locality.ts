const UNKNOWN = 0;
const RANDOM = 1;
const SEQUENTIAL = 2;

/**
 * Tells sequential requests from random ones (specification section 14). What a request was is kept for each of its slots,
 * because a drive hands them over one by one, when they leave its buffer.
 */
export class Locality {
  /** Slots from which on a request is sequential; 0: nobody asks. */
  private readonly threshold: number;
  /** Per logical slot: what the last request for it was. */
  private readonly kinds: Uint8Array;
  /** Slot behind the last request. */
  private behind = -1;

  constructor(threshold: number, logicalSlots: number) {
    this.threshold = threshold;
    this.kinds = new Uint8Array(threshold === 0 ? 0 : logicalSlots);
  }

  get bytes(): number {
    return this.kinds.byteLength;
  }

  /** A request for these slots has come; they will be written in parts, later. */
  announce(lpn: number, count: number): void {
    if (this.threshold === 0) return;
    this.kinds.fill(this.classify(lpn, count), lpn, lpn + count);
  }

  /** True if slots that are written now belong to a sequential request: the announced one, or they are one themselves. */
  isSequential(lpn: number, count: number): boolean {
    if (this.threshold === 0) return false;
    const announced = this.kinds[lpn];
    return (announced === UNKNOWN ? this.classify(lpn, count) : announced) === SEQUENTIAL;
  }

  /** Power loss. */
  clear(): void {
    this.kinds.fill(UNKNOWN);
    this.behind = -1;
  }

  private classify(lpn: number, count: number): number {
    const follows = lpn === this.behind;
    this.behind = lpn + count;
    return follows || count >= this.threshold ? SEQUENTIAL : RANDOM;
  }
}

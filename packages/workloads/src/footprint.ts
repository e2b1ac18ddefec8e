import { Operation, type OperationSource } from './operation.js';

/** The disjoint ranges that a workload touches, and where each lies when all are moved together. */
export class RangeTable {
  /** Bytes in all ranges. */
  readonly totalBytes: number;
  /** Number of ranges. */
  readonly length: number;
  private readonly starts: Float64Array;
  private readonly targets: Float64Array;

  /** Ranges must be ascending and disjoint. */
  constructor(starts: Float64Array, ends: Float64Array) {
    this.length = starts.length;
    this.starts = starts;
    this.targets = new Float64Array(starts.length);
    let total = 0;
    for (let i = 0; i < starts.length; i++) {
      this.targets[i] = total;
      total += ends[i] - starts[i];
    }
    this.totalBytes = total;
  }

  /** The new place of a byte that lies in one of the ranges. Ranges keep their order, so a request stays in one piece. */
  map(offsetBytes: number): number {
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.starts[middle] <= offsetBytes) low = middle;
      else high = middle - 1;
    }
    return this.targets[low] + (offsetBytes - this.starts[low]);
  }
}

/** Reads one pass of the source and returns the union of its ranges, widened to multiples of `granuleBytes`. */
export function compactRanges(source: OperationSource, granuleBytes: number): RangeTable {
  const operation = new Operation();
  let starts = new Float64Array(1024);
  let ends = new Float64Array(1024);
  let n = 0;
  source.restart();
  while (source.next(operation)) {
    if (operation.lengthBytes === 0) continue;
    if (n === starts.length) {
      starts = doubled(starts);
      ends = doubled(ends);
    }
    starts[n] = Math.floor(operation.offsetBytes / granuleBytes) * granuleBytes;
    ends[n] = Math.ceil((operation.offsetBytes + operation.lengthBytes) / granuleBytes) * granuleBytes;
    n++;
  }
  source.restart();
  return union(starts.subarray(0, n).sort(), ends.subarray(0, n).sort());
}

/** Sweeps over sorted starts and sorted ends: a range of the union lasts while more have started than ended. */
function union(starts: Float64Array, ends: Float64Array): RangeTable {
  const n = starts.length;
  let ranges = 0;
  let ended = 0;
  let from = 0;
  for (let i = 0; i < n; i++) {
    if (i === ended) from = starts[i];
    while (ended <= i && (i + 1 === n || ends[ended] < starts[i + 1])) {
      ended++;
      if (ended === i + 1) {
        starts[ranges] = from;
        ends[ranges] = ends[i];
        ranges++;
      }
    }
  }
  return new RangeTable(starts.slice(0, ranges), ends.slice(0, ranges));
}

function doubled(from: Float64Array): Float64Array<ArrayBuffer> {
  const to = new Float64Array(from.length * 2);
  to.set(from);
  return to;
}

/**
 * One block operation, in bytes. Mutable and reused: a source fills it in, so that generating and replaying millions
 * of operations allocates nothing.
 */
export class Operation {
  /** What to do: a `BlockOp` of the block-device contract. */
  op = 0;
  /** First byte. 0 for a flush. */
  offsetBytes: number;
  /** Length in bytes. 0 for a flush, otherwise at least 1. */
  lengthBytes: number;
  /** Arrival in ns after the start of the pass. Closed loops do not look at it. */
  timeNs: number;
  /** `BlockFlag` bits of the block-device contract. */
  flags = 0;
  /** Write-lifetime hint to the device; 0: none. */
  stream = 0;
  /** Tenant, disk or queue the operation belongs to. */
  flow = 0;
  /** Who caused it, an `Origin` of the block-device contract. */
  origin = 0;
  /** How long it took where it was recorded, in ns; 0: not known. Only think-time loops look at it. */
  responseNs: number;

  constructor() {
    // Start as a non-integer, so that the engine stores these fields as unboxed doubles from the beginning.
    this.offsetBytes = Number.NaN;
    this.lengthBytes = Number.NaN;
    this.timeNs = Number.NaN;
    this.responseNs = Number.NaN;
    this.offsetBytes = 0;
    this.lengthBytes = 0;
    this.timeNs = 0;
    this.responseNs = 0;
  }
}

/** A stream of operations: a trace, a generator, or something of your own. */
export interface OperationSource {
  /** Operations of one pass, or −1 when that is not known beforehand. */
  readonly count: number;
  /** End of the highest range touched, in bytes; without it a replay that must know reads the whole pass beforehand. */
  readonly endByte?: number;
  /** Fills in `out` and returns true, or returns false at the end of the pass. Every field that matters is set anew. */
  next(out: Operation): boolean;
  /** Goes back to the start; the same operations come again. */
  restart(): void;
}

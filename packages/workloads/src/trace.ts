import type { Operation, OperationSource } from './operation.js';
import type { OperationSink } from './operation-sink.js';
import { TraceError, TraceErrorCode } from './trace-error.js';
import type { TraceCounts } from './trace-parser.js';

/** Requests and bytes of one kind of operation. */
export interface OperationTotals {
  readonly requests: number;
  readonly bytes: number;
}

/**
 * A decoded trace in compact columns (26 bytes an operation, 34 with response times), so that it can be replayed many times without reading
 * its text again. Times start at 0 with the earliest operation; the order is that of the file.
 */
export class Trace {
  /** Name to show, usually that of the file without its endings. */
  readonly name: string;
  /** Name of the format it was read in. */
  readonly format: string;
  readonly length: number;
  /** Arrival in ns. */
  readonly timesNs: Float64Array;
  readonly offsetsBytes: Float64Array;
  readonly lengthsBytes: Uint32Array;
  /** A `BlockOp` each. */
  readonly ops: Uint8Array;
  /** Disk or device number of each operation. */
  readonly flows: Uint32Array;
  /** `BlockFlag` bits of each operation. */
  readonly flags: Uint8Array;
  /** How long each took where it was recorded, in ns, 0 if not known; null if that is known of none. */
  readonly responsesNs: Float64Array | null;
  /** Time from the first to the last arrival, in ns. */
  readonly spanNs: number;
  /** End of the highest range touched, in bytes. */
  readonly endByte: number;
  /** Operations whose time lies before that of the one above them. */
  readonly outOfOrder: number;
  /** Lines without effect that were left out: zero-length requests. */
  readonly zeroLength: number;
  /** Lines that could not be read and were skipped because that was asked for. */
  readonly badLines: number;
  /** Message about the first of the bad lines, or null. */
  readonly firstBadLine: string | null;
  /** Requests left out because they are neither read, write, flush nor discard. */
  readonly otherRequests: number;
  /** What the first of those was, or null. */
  readonly firstOther: string | null;
  /** Requests left out because their volume was not selected. */
  readonly unselected: number;

  constructor(columns: TraceColumns) {
    this.name = columns.name;
    this.format = columns.format;
    this.length = columns.ops.length;
    this.timesNs = columns.timesNs;
    this.offsetsBytes = columns.offsetsBytes;
    this.lengthsBytes = columns.lengthsBytes;
    this.ops = columns.ops;
    this.flows = columns.flows;
    this.flags = columns.flags ?? new Uint8Array(this.length);
    this.responsesNs = columns.responsesNs ?? null;
    this.zeroLength = columns.zeroLength ?? 0;
    this.badLines = columns.badLines ?? 0;
    this.firstBadLine = columns.firstBadLine ?? null;
    this.otherRequests = columns.otherRequests ?? 0;
    this.firstOther = columns.firstOther ?? null;
    this.unselected = columns.unselected ?? 0;
    let end = 0;
    let last = 0;
    let latest = 0;
    let outOfOrder = 0;
    for (let i = 0; i < this.length; i++) {
      end = Math.max(end, this.offsetsBytes[i] + this.lengthsBytes[i]);
      const time = this.timesNs[i];
      if (time < last) outOfOrder++;
      last = time;
      latest = Math.max(latest, time);
    }
    this.endByte = end;
    this.spanNs = latest;
    this.outOfOrder = outOfOrder;
  }

  /** Requests and bytes of one `BlockOp`. */
  totals(op: number): OperationTotals {
    let requests = 0;
    let bytes = 0;
    for (let i = 0; i < this.length; i++) {
      if (this.ops[i] !== op) continue;
      requests++;
      bytes += this.lengthsBytes[i];
    }
    return { requests, bytes };
  }

  /** The same operations in order of time; equal times keep their order. Itself if it is in order already. */
  sortedByTime(): Trace {
    if (this.outOfOrder === 0) return this;
    const order = Uint32Array.from({ length: this.length }, (_, i) => i);
    const times = this.timesNs;
    order.sort((a, b) => times[a] - times[b] || a - b);
    const pick = <T extends Float64Array | Uint32Array | Uint8Array>(from: T, to: T): T => {
      for (let i = 0; i < order.length; i++) to[i] = from[order[i]];
      return to;
    };
    return new Trace({
      ...this,
      timesNs: pick(times, new Float64Array(this.length)),
      offsetsBytes: pick(this.offsetsBytes, new Float64Array(this.length)),
      lengthsBytes: pick(this.lengthsBytes, new Uint32Array(this.length)),
      ops: pick(this.ops, new Uint8Array(this.length)),
      flows: pick(this.flows, new Uint32Array(this.length)),
      flags: pick(this.flags, new Uint8Array(this.length)),
      responsesNs: this.responsesNs === null ? null : pick(this.responsesNs, new Float64Array(this.length)),
    });
  }

  /** The first operations of the same trace, at most `count`. */
  first(count: number): Trace {
    if (count >= this.length) return this;
    return new Trace({
      ...this,
      timesNs: this.timesNs.subarray(0, count),
      offsetsBytes: this.offsetsBytes.subarray(0, count),
      lengthsBytes: this.lengthsBytes.subarray(0, count),
      ops: this.ops.subarray(0, count),
      flows: this.flows.subarray(0, count),
      flags: this.flags.subarray(0, count),
      responsesNs: this.responsesNs === null ? null : this.responsesNs.subarray(0, count),
    });
  }

  /** A stream over the operations, from the first. Several may run at once. */
  source(): TraceSource {
    return new TraceSource(this);
  }
}

/** What a {@link Trace} is made of; columns are taken, not copied, and must have equal lengths. */
export interface TraceColumns {
  readonly name: string;
  readonly format: string;
  readonly timesNs: Float64Array;
  readonly offsetsBytes: Float64Array;
  readonly lengthsBytes: Uint32Array;
  readonly ops: Uint8Array;
  readonly flows: Uint32Array;
  readonly flags?: Uint8Array;
  readonly responsesNs?: Float64Array | null;
  readonly zeroLength?: number;
  readonly badLines?: number;
  readonly firstBadLine?: string | null;
  readonly otherRequests?: number;
  readonly firstOther?: string | null;
  readonly unselected?: number;
}

/** Reads a {@link Trace} as an {@link OperationSource}. */
export class TraceSource implements OperationSource {
  readonly trace: Trace;
  readonly count: number;
  readonly endByte: number;
  private position = 0;

  constructor(trace: Trace) {
    this.trace = trace;
    this.count = trace.length;
    this.endByte = trace.endByte;
  }

  next(out: Operation): boolean {
    const i = this.position;
    const trace = this.trace;
    if (i >= trace.length) return false;
    out.op = trace.ops[i];
    out.offsetBytes = trace.offsetsBytes[i];
    out.lengthBytes = trace.lengthsBytes[i];
    out.timeNs = trace.timesNs[i];
    out.flow = trace.flows[i];
    out.flags = trace.flags[i];
    out.responseNs = trace.responsesNs === null ? 0 : trace.responsesNs[i];
    out.stream = 0;
    out.origin = 0;
    this.position = i + 1;
    return true;
  }

  restart(): void {
    this.position = 0;
  }
}

/** Collects operations into a {@link Trace}; columns grow by doubling. */
export class TraceBuilder implements OperationSink {
  private timesNs = new Float64Array(1024);
  private offsetsBytes = new Float64Array(1024);
  private lengthsBytes = new Uint32Array(1024);
  private ops = new Uint8Array(1024);
  private flows = new Uint32Array(1024);
  private flags = new Uint8Array(1024);
  /** Made when the first response time comes. */
  private responsesNs: Float64Array<ArrayBuffer> | null = null;
  /** Operations so far. */
  length = 0;

  /** Appends one operation; `timeNs` may be relative to anything, also negative. */
  add(operation: Operation): void {
    const i = this.length;
    if (i === this.ops.length) this.grow(i * 2);
    this.timesNs[i] = operation.timeNs;
    this.offsetsBytes[i] = operation.offsetBytes;
    this.lengthsBytes[i] = operation.lengthBytes;
    this.ops[i] = operation.op;
    this.flows[i] = operation.flow;
    this.flags[i] = operation.flags;
    this.length = i + 1;
    if (operation.responseNs !== 0) this.respond(i, operation.responseNs);
  }

  /** Makes room for so many operations in all, to save growing step by step. */
  reserve(operations: number): void {
    if (operations > this.ops.length) this.grow(operations);
  }

  /** Sets the response time of an operation added before. */
  respond(operation: number, responseNs: number): void {
    if (this.responsesNs === null) this.responsesNs = new Float64Array(this.ops.length);
    this.responsesNs[operation] = responseNs;
  }

  /** The finished trace, its earliest time moved to 0. The builder must not be used afterwards. */
  build(name: string, format: string, counts: Partial<TraceCounts> = {}): Trace {
    const n = this.length;
    const timesNs = this.timesNs.subarray(0, n);
    let earliest = n > 0 ? timesNs[0] : 0;
    for (let i = 1; i < n; i++) earliest = Math.min(earliest, timesNs[i]);
    for (let i = 0; i < n; i++) timesNs[i] -= earliest;
    return new Trace({
      ...counts,
      name,
      format,
      timesNs,
      offsetsBytes: this.offsetsBytes.subarray(0, n),
      lengthsBytes: this.lengthsBytes.subarray(0, n),
      ops: this.ops.subarray(0, n),
      flows: this.flows.subarray(0, n),
      flags: this.flags.subarray(0, n),
      responsesNs: this.responsesNs === null ? null : this.responsesNs.subarray(0, n),
    });
  }

  private grow(capacity: number): void {
    try {
      this.resize(capacity);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new TraceError(
        TraceErrorCode.tooLarge,
        `the trace is too large for memory: there is no room for ${capacity} operations`,
        ['Take a part of it: a limit on requests, or some of its volumes.'],
      );
    }
  }

  private resize(capacity: number): void {
    this.timesNs = resized(this.timesNs, new Float64Array(capacity));
    this.offsetsBytes = resized(this.offsetsBytes, new Float64Array(capacity));
    this.lengthsBytes = resized(this.lengthsBytes, new Uint32Array(capacity));
    this.ops = resized(this.ops, new Uint8Array(capacity));
    this.flows = resized(this.flows, new Uint32Array(capacity));
    this.flags = resized(this.flags, new Uint8Array(capacity));
    if (this.responsesNs !== null) this.responsesNs = resized(this.responsesNs, new Float64Array(capacity));
  }
}

function resized<T extends Float64Array | Uint32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

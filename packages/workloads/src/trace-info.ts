import { BlockFlag, BlockOp } from '@flashstack/block-device';
import { Operation, type OperationSource } from './operation.js';

import type { OperationSink } from './operation-sink.js';
import { PageSet } from './page-set.js';

/** What a trace holds of one kind of operation. */
export interface OpSummary {
  readonly requests: number;
  readonly bytes: number;
  /** Share of the requests that begin where the one before them (of any kind, on the same volume) ended, 0 to 1. */
  readonly sequentialShare: number;
  /** Bytes of the pages of 4 KiB touched, each counted once. */
  readonly footprintBytes: number;
}

/** Requests of one class of sizes. */
export interface SizeClass {
  /** Sizes from here … */
  readonly fromBytes: number;
  /** … up to, not including, here: twice as much. */
  readonly toBytes: number;
  readonly reads: number;
  readonly writes: number;
}

/** What goes to one volume. */
export interface VolumeSummary {
  /** The name that the format gives it. */
  readonly name: string;
  readonly requests: number;
  readonly bytes: number;
  /** End of the highest range touched. */
  readonly endByte: number;
}

/** What `trace info` tells about a trace. All sizes in bytes, all times in ns. */
export interface TraceInfo {
  readonly requests: number;
  readonly read: OpSummary;
  readonly write: OpSummary;
  readonly discard: OpSummary;
  readonly flushes: number;
  /** Requests with the flag FUA, and with preflush. */
  readonly fua: number;
  readonly preflush: number;
  /** From the first arrival to the last. */
  readonly spanNs: number;
  /** Requests whose time lies before that of the one above them. */
  readonly outOfOrder: number;
  /** Mean response time of the requests that tell one, and how many do. */
  readonly meanResponseNs: number;
  readonly responses: number;
  /** Lowest byte touched, and the end of the highest range. */
  readonly startByte: number;
  readonly endByte: number;
  /** Bytes of all pages of 4 KiB touched, volumes told apart. */
  readonly footprintBytes: number;
  /** Share of all reads and writes that are sequential, and of their bytes. */
  readonly sequentialShare: number;
  readonly sequentialByteShare: number;
  /** Requests that do not start or do not end at a multiple of 4 KiB. */
  readonly unaligned: number;
  /** Sizes of reads and writes by powers of two, ascending, empty classes left out. */
  readonly sizes: readonly SizeClass[];
  /** The most frequent sizes of reads and writes, at most ten. */
  readonly commonSizes: readonly { readonly bytes: number; readonly requests: number }[];
  /** In order of appearance. */
  readonly volumes: readonly VolumeSummary[];
}

const PAGE_BYTES = 4096;
const COMMON = 10;
const kinds = [BlockOp.read, BlockOp.write, BlockOp.discard] as const;

/** Sums up a workload in one pass. `volumeName` tells the names of volumes; default: their numbers. */
export function traceInfo(source: OperationSource, volumeName: (flow: number) => string = String): TraceInfo {
  const summary = new TraceSummary();
  const operation = new Operation();
  source.restart();
  while (source.next(operation)) summary.add(operation);
  source.restart();
  return summary.result(volumeName);
}

/** Sums up operations as they come. Memory grows with what they touch, not with their number. */
export class TraceSummary implements OperationSink {
  private readonly requests = new Float64Array(5);
  private readonly bytes = new Float64Array(5);
  private readonly sequential = new Float64Array(5);
  private readonly sequentialBytes = new Float64Array(1);
  private readonly volumes = new Map<number, VolumeState>();
  private readonly sizes = new Map<number, number[]>();
  private readonly times = new Float64Array(3);
  private fua = 0;
  private preflush = 0;
  private outOfOrder = 0;
  private responses = 0;
  private responseNs = 0;
  private unaligned = 0;
  private count = 0;
  private lastFlow = -1;
  private lastVolume: VolumeState | null = null;

  add(operation: Operation): void {
    const { op, lengthBytes, offsetBytes, responseNs, flags } = operation;
    this.time(operation.timeNs);
    this.requests[op]++;
    if ((flags & BlockFlag.fua) !== 0) this.fua++;
    if ((flags & BlockFlag.preflush) !== 0) this.preflush++;
    this.respond(this.count, responseNs);
    const volume = this.volume(operation.flow);
    volume.requests++;
    if (op === BlockOp.flush) return;
    this.bytes[op] += lengthBytes;
    if (offsetBytes % PAGE_BYTES !== 0 || lengthBytes % PAGE_BYTES !== 0) this.unaligned++;
    if (volume.touch(op, offsetBytes, lengthBytes)) {
      this.sequential[op]++;
      if (op <= BlockOp.write) this.sequentialBytes[0] += lengthBytes;
    }
    if (op <= BlockOp.write) this.size(op, lengthBytes);
  }

  /** An operation added before took so long. */
  respond(_operation: number, responseNs: number): void {
    if (responseNs === 0) return;
    this.responses++;
    this.responseNs += responseNs;
  }

  /** What the operations so far amount to. */
  result(volumeName: (flow: number) => string = String): TraceInfo {
    const volumes = [...this.volumes.values()];
    const [read, write, discard] = kinds.map((op) => this.summaryOf(op, volumes));
    const touching = volumes.filter((volume) => volume.endByte > 0);
    const moved = read.requests + write.requests;
    const sequential = this.sequential[BlockOp.read] + this.sequential[BlockOp.write];
    return {
      requests: this.count,
      read,
      write,
      discard,
      flushes: this.requests[BlockOp.flush],
      fua: this.fua,
      preflush: this.preflush,
      spanNs: this.count === 0 ? 0 : this.times[LATEST] - this.times[EARLIEST],
      outOfOrder: this.outOfOrder,
      meanResponseNs: this.responses === 0 ? 0 : this.responseNs / this.responses,
      responses: this.responses,
      startByte: touching.reduce((least, volume) => Math.min(least, volume.startByte), touching[0]?.startByte ?? 0),
      endByte: volumes.reduce((most, volume) => Math.max(most, volume.endByte), 0),
      footprintBytes: volumes.reduce((sum, volume) => sum + volume.all.bytes, 0),
      sequentialShare: moved === 0 ? 0 : sequential / moved,
      sequentialByteShare: moved === 0 ? 0 : this.sequentialBytes[0] / (read.bytes + write.bytes),
      unaligned: this.unaligned,
      sizes: this.sizeClasses(),
      commonSizes: this.commonSizes(),
      volumes: volumes.map(({ flow, requests, bytes, endByte }) => ({
        name: volumeName(flow),
        requests,
        bytes,
        endByte,
      })),
    };
  }

  private time(timeNs: number): void {
    const times = this.times;
    if (this.count++ === 0) {
      times.fill(timeNs);
      return;
    }
    if (timeNs < times[LAST]) this.outOfOrder++;
    times[LAST] = timeNs;
    if (timeNs < times[EARLIEST]) times[EARLIEST] = timeNs;
    if (timeNs > times[LATEST]) times[LATEST] = timeNs;
  }

  private volume(flow: number): VolumeState {
    if (flow === this.lastFlow && this.lastVolume !== null) return this.lastVolume;
    let volume = this.volumes.get(flow);
    if (volume === undefined) {
      volume = new VolumeState(flow);
      this.volumes.set(flow, volume);
    }
    this.lastFlow = flow;
    this.lastVolume = volume;
    return volume;
  }

  private size(op: number, lengthBytes: number): void {
    const counts = this.sizes.get(lengthBytes);
    if (counts !== undefined) counts[op]++;
    else this.sizes.set(lengthBytes, op === BlockOp.read ? [1, 0] : [0, 1]);
  }

  private summaryOf(op: number, volumes: readonly VolumeState[]): OpSummary {
    const requests = this.requests[op];
    return {
      requests,
      bytes: this.bytes[op],
      sequentialShare: requests === 0 ? 0 : this.sequential[op] / requests,
      footprintBytes: volumes.reduce((sum, volume) => sum + volume.pagesOf(op).bytes, 0),
    };
  }

  private sizeClasses(): SizeClass[] {
    const classes = new Map<number, [number, number]>();
    for (const [bytes, [reads, writes]] of this.sizes) {
      const from = 2 ** Math.floor(Math.log2(bytes));
      const sums = classes.get(from) ?? [0, 0];
      classes.set(from, [sums[0] + reads, sums[1] + writes]);
    }
    return [...classes]
      .sort(([a], [b]) => a - b)
      .map(([from, [reads, writes]]) => ({ fromBytes: from, toBytes: from * 2, reads, writes }));
  }

  private commonSizes(): { bytes: number; requests: number }[] {
    return [...this.sizes]
      .map(([bytes, [reads, writes]]) => ({ bytes, requests: reads + writes }))
      .sort((a, b) => b.requests - a.requests || a.bytes - b.bytes)
      .slice(0, COMMON);
  }
}

const EARLIEST = 0;
const LATEST = 1;
const LAST = 2;

class VolumeState {
  readonly flow: number;
  requests = 0;
  bytes = 0;
  startByte = Number.POSITIVE_INFINITY;
  endByte = 0;
  readonly all = new PageSet();
  private readonly read = new PageSet();
  private readonly write = new PageSet();
  private readonly discard = new PageSet();
  private lastEnd = -1;

  constructor(flow: number) {
    this.flow = flow;
  }

  pagesOf(op: number): PageSet {
    if (op === BlockOp.read) return this.read;
    return op === BlockOp.discard ? this.discard : this.write;
  }

  /** Counts a range; true if it begins where the last one ended. */
  touch(op: number, offsetBytes: number, lengthBytes: number): boolean {
    const sequential = offsetBytes === this.lastEnd;
    const end = offsetBytes + lengthBytes;
    this.lastEnd = end;
    this.bytes += lengthBytes;
    if (offsetBytes < this.startByte) this.startByte = offsetBytes;
    if (end > this.endByte) this.endByte = end;
    this.all.add(offsetBytes, lengthBytes);
    this.pagesOf(op).add(offsetBytes, lengthBytes);
    return sequential;
  }
}

import { Histogram, type StatsRegistry } from '@flashstack/sim';
import { BufferedBlocks } from './buffered-blocks.js';
import { PhaseProfile, phaseNames } from './phases.js';

/**
 * Kinds of request that statistics tell apart. Discards, write-zeroes and commands to zones (their resets, above all) count
 * together, appends as writes.
 */
export const hostKinds = ['read', 'write', 'discard', 'flush'] as const;
/** One of {@link hostKinds}. */
export type HostKind = (typeof hostKinds)[number];

/** What happens inside the controller, as counts. */
export class SsdCounters {
  /** Slots of reads served from the write buffer. */
  bufferReadHits = 0;
  /** Slots overwritten in the buffer before they were programmed. */
  bufferOverwrites = 0;
  /** Writes that waited for room in the buffer. */
  bufferFullWaits = 0;
  /** Slots read because a write covered only part of them. */
  readModifyWrites = 0;
  /** Writes and discards that waited for an overlapping one. */
  overlapWaits = 0;
  /** Slots acknowledged from the buffer and then not programmed (drive worn out, old part unreadable). */
  lostWrites = 0;
}

/** What a read cache does, in slots. */
export class ReadCacheCounters {
  /** Served from it. */
  hits = 0;
  /** Waited for a slot that somebody read already, mostly ahead. */
  waits = 0;
  /** Went to flash. */
  misses = 0;
  /** Read ahead. */
  readAheadSlots = 0;
}

/** Requests of one kind, from submission to completion as the host sees it. */
export class KindStats {
  /** Done, with or without success. */
  requests = 0;
  failed = 0;
  /** Bytes of requests done without failure. */
  bytes = 0;
  /** Of requests done without failure, ns. */
  readonly latencyNs: Histogram = new Histogram();
  readonly phases: PhaseProfile = new PhaseProfile();

  /** Counts a request; only the latency of a successful one. */
  record(status: number, bytes: number, latencyNs: number, phasesNs: Float64Array, at: number): void {
    this.requests++;
    if (status !== 0) {
      this.failed++;
      return;
    }
    this.bytes += bytes;
    this.latencyNs.record(latencyNs);
    this.phases.record(latencyNs, phasesNs, at);
  }

  reset(): void {
    this.requests = 0;
    this.failed = 0;
    this.bytes = 0;
    this.latencyNs.reset();
    this.phases.reset();
  }
}

/** Requests of one submission queue. */
export class QueueStats {
  /** Done without failure. */
  requests = 0;
  readonly latencyNs: Histogram = new Histogram();

  record(latencyNs: number): void {
    this.requests++;
    this.latencyNs.record(latencyNs);
  }

  reset(): void {
    this.requests = 0;
    this.latencyNs.reset();
  }
}

/** Kind by `BlockOp` and `ZoneOp`. */
const KIND_OF_OP: readonly HostKind[] = [
  ...(['read', 'write', 'flush', 'discard', 'discard', 'write'] as const),
  ...(['discard', 'discard', 'discard', 'discard', 'discard'] as const),
];

const QUANTILES = [
  ['p50', 0.5],
  ['p99', 0.99],
  ['p999', 0.999],
] as const;

/** Everything a drive counts at its host interface. */
export class SsdStats {
  readonly kinds: Readonly<Record<HostKind, KindStats>> = {
    read: new KindStats(),
    write: new KindStats(),
    discard: new KindStats(),
    flush: new KindStats(),
  };
  /** The same by `BlockOp` and `ZoneOp`; some share theirs. */
  readonly byOp: readonly KindStats[] = KIND_OF_OP.map((kind) => this.kinds[kind]);
  readonly counters: SsdCounters = new SsdCounters();
  /** Bytes of writes done without failure, by origin; their sum is `kinds.write.bytes`. */
  readonly writtenByOrigin: Float64Array = new Float64Array(256);
  readonly buffered: BufferedBlocks = new BufferedBlocks();
  /** Null: the drive has no read cache. */
  readonly readCache: ReadCacheCounters | null;
  /** By submission queue, with a host interface of the kind `nvme`; otherwise empty. */
  readonly queues: readonly QueueStats[];
  /** Requests submitted since the drive was made; `submitted` = requests of all kinds + in flight + cut. */
  submitted = 0;
  /** Requests that a power cut ended. */
  cut = 0;
  /** Start of counting, ns of simulated time. */
  sinceNs = 0;

  /** `queues`: submission queues that have figures of their own. */
  constructor(hasReadCache = false, queues = 0) {
    this.readCache = hasReadCache ? new ReadCacheCounters() : null;
    this.queues = Array.from({ length: queues }, () => new QueueStats());
  }

  /** Starts counting again; what is in flight stays submitted. */
  reset(nowNs: number, inFlight: number): void {
    for (const kind of hostKinds) this.kinds[kind].reset();
    Object.assign(this.counters, new SsdCounters());
    this.writtenByOrigin.fill(0);
    this.buffered.reset();
    for (const queue of this.queues) queue.reset();
    if (this.readCache !== null) Object.assign(this.readCache, new ReadCacheCounters());
    this.submitted = inFlight;
    this.cut = 0;
    this.sinceNs = nowNs;
  }

  /** Requests that have ended. */
  get done(): number {
    let done = 0;
    for (const kind of hostKinds) done += this.kinds[kind].requests;
    return done;
  }

  /**
   * Registers for each kind `ssd.{kind}.{requests,bytes,failed,iops,bytesPerSecond}`, latencies, mean phases of all
   * requests, of those around p50, p99 and p99.9, and of the slowest thousandth, the controller's counters as `ssd.{counter}`, those of the read cache as `readCache.{counter}`, and `queue.{q}.{requests,latencyNs}`. Rates are over the time
   * since `sinceNs`.
   */
  register(registry: StatsRegistry, now: () => number): void {
    const layer = registry.layer('ssd');
    for (const kind of hostKinds) {
      const stats = this.kinds[kind];
      layer.gauge(`${kind}.requests`, () => stats.requests);
      layer.gauge(`${kind}.bytes`, () => stats.bytes);
      layer.gauge(`${kind}.failed`, () => stats.failed);
      layer.histogram(`${kind}.latencyNs`, stats.latencyNs);
      const perSecond = (value: number): number => {
        const elapsed = now() - this.sinceNs;
        return elapsed === 0 ? 0 : value / (elapsed / 1e9);
      };
      layer.gauge(`${kind}.iops`, () => perSecond(stats.requests - stats.failed));
      layer.gauge(`${kind}.bytesPerSecond`, () => perSecond(stats.bytes));
      for (const phase of phaseNames) {
        layer.gauge(`${kind}.phaseNs.${phase}`, () => stats.phases.slowest(1)[phase]);
        layer.gauge(`${kind}.slowest.phaseNs.${phase}`, () => stats.phases.slowest(0.001)[phase]);
        for (const [name, quantile] of QUANTILES) {
          layer.gauge(`${kind}.${name}.phaseNs.${phase}`, () => stats.phases.around(quantile)[phase]);
        }
      }
    }
    layer.counters(this.counters);
    for (const [q, queue] of this.queues.entries()) {
      registry.gauge(`queue.${q}.requests`, () => queue.requests);
      registry.histogram(`queue.${q}.latencyNs`, queue.latencyNs);
    }
    if (this.readCache !== null) registry.layer('readCache').counters(this.readCache);
  }
}

import type { SsdConfig } from '@flashstack/ssd';

/** A part of the drive that does work. */
export type Resource =
  | 'host link'
  | 'controller cores'
  | 'flash channels'
  | 'flash programs'
  | 'flash reads'
  | 'flash erases';

/** How near the run came to what one resource allows, given the work that was done: 1 is its bound. */
export interface BoundShare {
  readonly resource: Resource;
  /** Mean busy share of its servers (channels, dies, cores, directions of a link). */
  readonly share: number;
  /** Busy share of the busiest server. */
  readonly worst: number;
  /** What the host would get if the servers were busy all the time with the same mix of work; null if they had none. */
  readonly boundBytesPerSecond: number | null;
  readonly boundRequestsPerSecond: number | null;
}

/** What limited a run. */
export type Bottleneck =
  | 'link'
  | 'firmware'
  | 'channel'
  | 'die'
  | 'gc'
  | 'flush'
  | 'buffer'
  | 'host'
  /** Nothing was saturated, and no wait stands out. */
  | 'none'
  /** The run failed, was interrupted or did nothing: there is nothing to explain. */
  | 'unknown';

/** Slots programmed for one cause. */
export interface ProgramShare {
  readonly cause: 'host' | 'gc' | 'wearLevelling' | 'refresh' | 'retirement' | 'trimMap' | 'padding' | 'reprogrammed';
  readonly slots: number;
}

/** When garbage collection began, or how far free space fell without it. */
export interface GcSummary {
  /** Simulated time since the start of the replay, ns; null: it did not run. */
  readonly startedNs: number | null;
  /** Share of blocks that were free when it began; the least that was seen if it did not run. */
  readonly freeShare: number;
  /** Free blocks of the domain where it began, or the least of any domain that was seen if it did not run. */
  readonly freeBlocks: number;
  /** Free blocks of a domain at which a victim is chosen, and blocks of a domain. */
  readonly threshold: number;
  readonly domainBlocks: number;
  /** Share of the time of the dies that it took. */
  readonly dieShare: number;
}

/** Why a run was as fast as it was. */
export interface Analysis {
  readonly bottleneck: Bottleneck;
  /** One sentence that names the cause. */
  readonly headline: string;
  /** What the host got, over all kinds of requests. */
  readonly measured: { readonly bytesPerSecond: number; readonly requestsPerSecond: number };
  /** One sentence that sets the nearest bound beside what was measured; empty if nothing was done. */
  readonly boundSentence: string;
  /** Resources by how near they were to their bound, nearest first. */
  readonly bounds: readonly BoundShare[];
  readonly gc: GcSummary;
  /** One sentence about garbage collection. */
  readonly gcSentence: string;
  /** What flash programs were for, largest first; their sum is all slots programmed or still waiting for a program. */
  readonly programs: readonly ProgramShare[];
}

/** What an analysis needs besides metrics. */
export interface GcObservation {
  readonly gcStartNs: number;
  readonly gcStartFreeShare: number;
  readonly gcStartFreeBlocks: number;
  readonly leastFreeShare: number;
  readonly leastFreeBlocks: number;
  /** Free blocks of a domain at which a victim is chosen, and blocks of a domain. */
  readonly threshold: number;
  readonly domainBlocks: number;
  /** Flash operations of garbage collection and other relocation. */
  readonly work: { readonly reads: number; readonly programs: number; readonly erases: number };
}

type Metrics = Readonly<Record<string, number>>;

const SATURATED = 0.85;
const UNEVEN = 0.95;
const GC_TAIL = 0.3;
const HALF = 0.5;
const KINDS = ['read', 'write', 'discard', 'flush'] as const;

/** Derives the causes from a run's metrics. */
export function analyse(metrics: Metrics, config: SsdConfig, gc: GcObservation, partial: boolean): Analysis {
  const measured = {
    bytesPerSecond: metrics['host.read.bytesPerSecond'] + metrics['host.write.bytesPerSecond'],
    requestsPerSecond: KINDS.reduce((sum, kind) => sum + metrics[`host.${kind}.iops`], 0),
  };
  const bounds = boundShares(metrics, config, measured);
  const started = gc.gcStartNs >= 0;
  const summary: GcSummary = {
    startedNs: started ? gc.gcStartNs : null,
    freeShare: started ? gc.gcStartFreeShare : gc.leastFreeShare,
    freeBlocks: started ? gc.gcStartFreeBlocks : gc.leastFreeBlocks,
    threshold: gc.threshold,
    domainBlocks: gc.domainBlocks,
    dieShare: gcDieShare(metrics, config, gc.work),
  };
  const [bottleneck, headline] = causeOf(metrics, bounds, summary, partial);
  return {
    bottleneck,
    headline,
    measured,
    boundSentence: boundSentence(bounds, measured),
    bounds,
    gc: summary,
    gcSentence: gcSentence(metrics, summary),
    programs: programShares(metrics),
  };
}

function boundShares(metrics: Metrics, config: SsdConfig, measured: Analysis['measured']): BoundShare[] {
  const both = metrics['link.read.busyFraction'] + metrics['link.write.busyFraction'];
  const either = Math.max(metrics['link.read.busyFraction'], metrics['link.write.busyFraction']);
  const link = config.link?.duplex === 'half' ? both : either;
  const bound = (resource: Resource, share: number, worst: number): BoundShare => ({
    resource,
    share,
    worst,
    boundBytesPerSecond: share > 0 ? measured.bytesPerSecond / share : null,
    boundRequestsPerSecond: share > 0 ? measured.requestsPerSecond / share : null,
  });
  const cores = metrics['firmware.busyFraction'];
  const channels = metrics['channel.busyFraction.mean'];
  const dies = metrics['nand.busyFraction.mean'];
  return [
    bound('host link', link, link),
    bound('controller cores', cores, cores),
    bound('flash channels', channels, metrics['channel.busyFraction.max']),
    bound(dominantWork(metrics, config), dies, metrics['nand.busyFraction.max']),
  ].sort((a, b) => b.share - a.share);
}

interface DieTimes {
  readonly programNs: number;
  readonly readNs: number;
  readonly eraseNs: number;
}

/** Die time of one page programmed, one page read, one block erased. */
function dieTimes(config: SsdConfig): DieTimes {
  const { timing, geometry, features } = config.nand;
  const mean = (times: readonly number[]): number => times.reduce((sum, ns) => sum + ns, 0) / times.length;
  // Planes that work together, and pages of a word line, share one array operation.
  const planes =
    features.multiPlane &&
    config.ftl.domain !== undefined &&
    config.ftl.domain !== 'unit' &&
    config.ftl.multiPlane !== false
      ? geometry.planes
      : 1;
  const wordLine = geometry.programUnit === 'wordline';
  const programNs = wordLine ? timing.programNs[0] / geometry.cellBits : mean(timing.programNs);
  return { programNs: programNs / planes, readNs: mean(timing.readNs), eraseNs: timing.eraseNs / planes };
}

/** What the dies spend most of their time on. */
function dominantWork(metrics: Metrics, config: SsdConfig): 'flash programs' | 'flash reads' | 'flash erases' {
  const times = dieTimes(config);
  const programs = metrics['nand.programs'] * times.programNs;
  const reads = metrics['nand.reads'] * times.readNs;
  const erases = metrics['nand.erases'] * times.eraseNs;
  if (programs >= reads && programs >= erases) return 'flash programs';
  return reads >= erases ? 'flash reads' : 'flash erases';
}

/** Share of the time of the dies that relocation and erases took. */
function gcDieShare(metrics: Metrics, config: SsdConfig, work: GcObservation['work']): number {
  const { programNs, readNs, eraseNs } = dieTimes(config);
  const time = (programs: number, reads: number, erases: number): number =>
    programs * programNs + reads * readNs + erases * eraseNs;
  const all = time(metrics['nand.programs'], metrics['nand.reads'], metrics['nand.erases']);
  return all === 0 ? 0 : time(work.programs, work.reads, work.erases) / all;
}

const bottlenecks: Readonly<Record<Resource, Bottleneck>> = {
  'host link': 'link',
  'controller cores': 'firmware',
  'flash channels': 'channel',
  'flash programs': 'die',
  'flash reads': 'die',
  'flash erases': 'die',
};

/** What limited the run and the headline that says so, by rules of which the first that applies wins. */
function causeOf(
  metrics: Metrics,
  bounds: readonly BoundShare[],
  gc: GcSummary,
  partial: boolean,
): readonly [Bottleneck, string] {
  if (metrics['host.failed'] > 0) {
    return ['unknown', `${metrics['host.failed']} of ${metrics['host.issued']} requests failed.`];
  }
  if (partial) return ['unknown', 'Interrupted: the figures cover the part that ran.'];
  if (metrics['host.completed'] === 0) return ['unknown', 'Nothing was asked of the drive.'];
  const [first] = bounds;
  return (
    saturated(first, gc) ??
    flushing(metrics) ??
    uneven(bounds) ??
    waiting(metrics) ??
    tail(metrics) ??
    unsaturated(first, metrics)
  );
}

type Cause = readonly [Bottleneck, string];

/** One resource is busy nearly all the time. */
function saturated(first: BoundShare, gc: GcSummary): Cause | null {
  if (first.share < SATURATED) return null;
  const dies = bottlenecks[first.resource] === 'die';
  if (dies && gc.dieShare >= HALF) {
    const busy = percent(first.share);
    return [
      'gc',
      `Limited by garbage collection: it takes ${percent(gc.dieShare)} of the work of the dies, which are busy ${busy}.`,
    ];
  }
  return [bottlenecks[first.resource], limitedBy(first)];
}

/** One die or channel is busy nearly all the time, others are not. */
function uneven(bounds: readonly BoundShare[]): Cause | null {
  const worst = bounds.reduce((a, b) => (b.worst > a.worst ? b : a));
  if (worst.worst < UNEVEN) return null;
  const cause = bottlenecks[worst.resource];
  const one = cause === 'channel' ? 'channel' : 'die';
  return [
    cause,
    `Limited by one ${one}, busy ${percent(worst.worst)}, while ${one}s are busy ${percent(worst.share)} on average: the load is uneven.`,
  ];
}

/** Most of the time goes to flushes: one at a time keeps a die busy, but it is the flush that asks for it. */
function flushing(metrics: Metrics): Cause | null {
  const flush = flushShare(metrics);
  if (flush < HALF) return null;
  return ['flush', `Flushes set the pace: ${percent(flush)} of all request time is theirs.`];
}

/** Most of the time of the requests is one kind of wait. */
function waiting(metrics: Metrics): Cause | null {
  const gc = phaseShare(metrics, 'gc');
  if (gc >= HALF) return ['gc', `Limited by garbage collection: requests wait for it ${percent(gc)} of their time.`];
  const buffer = phaseShare(metrics, 'buffer');
  if (buffer < HALF) return null;
  return ['buffer', `Limited by the write buffer: requests wait for room in it ${percent(buffer)} of their time.`];
}

function tail(metrics: Metrics): Cause | null {
  const { kind, share } = gcTail(metrics);
  if (share < GC_TAIL) return null;
  return ['gc', `Garbage collection sets the tail: ${percent(share)} of the time of the slowest 0.1 % of ${kind}s.`];
}

function unsaturated(first: BoundShare, metrics: Metrics): Cause {
  const what = withArticle(first.resource);
  if (first.share < HALF) {
    const depth = meanInFlight(metrics);
    const inFlight = `with ${depth < 9.95 ? depth.toFixed(1) : Math.round(depth)} requests in flight on average`;
    return [
      'host',
      `Limited by the host: ${inFlight} the drive's busiest resource, ${what}, reached ${percent(first.share)}.`,
    ];
  }
  return [
    'none',
    `No resource was saturated: the busiest, ${what}, reached ${percent(first.share)} of ${boundOf(first)}.`,
  ];
}

/** By Little's law: the sum of all latencies over the time that passed. */
function meanInFlight(metrics: Metrics): number {
  const elapsedNs = metrics['host.elapsedNs'];
  return elapsedNs > 0 ? requestTime(metrics) / elapsedNs : 0;
}

/** What the nearest bound allows beside what was measured: in MB/s, or in requests per second if they carry no data. */
function boundSentence([first]: readonly BoundShare[], measured: Analysis['measured']): string {
  if (first.boundRequestsPerSecond === null || measured.requestsPerSecond === 0) return '';
  const what = withArticle(first.resource);
  const rates = (bytes: number | null, requests: number | null): string =>
    measured.bytesPerSecond > 0
      ? `${rounded((bytes ?? 0) / 1e6)} MB/s (${rounded(requests ?? 0)} requests/s)`
      : `${rounded(requests ?? 0)} requests/s`;
  const got = rates(measured.bytesPerSecond, measured.requestsPerSecond);
  const bound = rates(first.boundBytesPerSecond, first.boundRequestsPerSecond);
  return `Measured ${got}; for this work ${what} would allow ${bound}.`;
}

function rounded(value: number): string {
  if (value >= 99.5) return String(Math.round(value));
  return value >= 9.95 ? value.toFixed(1) : value.toFixed(2);
}

function limitedBy(bound: BoundShare): string {
  const { resource, share } = bound;
  if (resource === 'flash programs') {
    return `Limited by flash programs, at ${percent(share)} of their bound for this write amplification.`;
  }
  return `Limited by ${withArticle(resource)}, at ${percent(share)} of ${boundOf(bound)}.`;
}

function boundOf({ resource }: BoundShare): string {
  return resource === 'host link' ? 'its bound' : 'their bound';
}

function withArticle(resource: string): string {
  return resource.startsWith('flash') && resource !== 'flash channels' ? resource : `the ${resource}`;
}

/** The share of garbage collection in the slowest writes, or reads if nothing was written. */
function gcTail(metrics: Metrics): { kind: string; share: number } {
  const kind = metrics['ssd.write.requests'] > 0 ? 'write' : 'read';
  const prefix = `ssd.${kind}.slowest.phaseNs.`;
  let total = 0;
  for (const [name, value] of Object.entries(metrics)) if (name.startsWith(prefix)) total += value;
  return { kind, share: total === 0 ? 0 : metrics[`${prefix}gc`] / total };
}

/** All time that requests spent in the drive, ns. */
function requestTime(metrics: Metrics): number {
  return KINDS.reduce(
    (sum, kind) => sum + metrics[`host.${kind}.requests`] * metrics[`host.${kind}.latencyNs.mean`],
    0,
  );
}

function flushShare(metrics: Metrics): number {
  const total = requestTime(metrics);
  return total === 0 ? 0 : (metrics['host.flush.requests'] * metrics['host.flush.latencyNs.mean']) / total;
}

/** The share of one phase in the time of all reads, writes and discards. */
function phaseShare(metrics: Metrics, phase: 'buffer' | 'gc'): number {
  let time = 0;
  let inPhase = 0;
  for (const kind of ['read', 'write', 'discard']) {
    time += metrics[`ssd.${kind}.requests`] * metrics[`ssd.${kind}.latencyNs.mean`];
    inPhase += metrics[`ssd.${kind}.requests`] * metrics[`ssd.${kind}.phaseNs.${phase}`];
  }
  return time === 0 ? 0 : inPhase / time;
}

function gcSentence(metrics: Metrics, gc: GcSummary): string {
  const free = percent(gc.freeShare);
  const blocks = (count: number): string => `${count} free block${count === 1 ? '' : 's'}`;
  if (gc.startedNs === null) {
    const least = `the least was ${blocks(gc.freeBlocks)} of ${gc.domainBlocks}`;
    return `No garbage collection ran: it begins at ${blocks(gc.threshold)} of a domain, and ${least}.`;
  }
  const seconds = (gc.startedNs / 1e9).toFixed(1);
  const why = `when a domain was down to ${blocks(gc.freeBlocks)} of ${gc.domainBlocks} and ${free} of all were free`;
  return `GC ran from ${seconds} s, ${why}; ${metrics['ftl.gc.erases']} erases.`;
}

function programShares(metrics: Metrics): ProgramShare[] {
  const shares: ProgramShare[] = [
    { cause: 'host', slots: metrics['ftl.hostSlots'] },
    { cause: 'gc', slots: metrics['ftl.gc.copies'] },
    { cause: 'wearLevelling', slots: metrics['ftl.wearLevelling.copies'] },
    { cause: 'refresh', slots: metrics['ftl.refresh.copies'] },
    { cause: 'retirement', slots: metrics['ftl.retirement.copies'] },
    { cause: 'trimMap', slots: metrics['ftl.trimMap.slots'] },
    { cause: 'padding', slots: metrics['ftl.padding.slots'] },
    { cause: 'reprogrammed', slots: metrics['ftl.reprogrammed.slots'] },
  ];
  return shares.filter((share) => share.slots > 0).sort((a, b) => b.slots - a.slots);
}

function percent(share: number): string {
  const value = share * 100;
  if (value > 0 && value < 0.05) return 'less than 0.1 %';
  return `${value >= 9.95 || value === 0 ? Math.round(value) : value.toFixed(1)} %`;
}

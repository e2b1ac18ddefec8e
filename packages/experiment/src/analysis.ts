import { appendOnlyMapping, type SsdConfig } from '@flashstack/ssd';
import { causeOf } from './cause.js';
import { KINDS, type Metrics, percent, withArticle } from './wording.js';

/** A part of the drive that does work. */
export type Resource =
  | 'host link'
  | 'host-interface core'
  | 'controller cores'
  | 'collection core'
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
  /** Commands start in order of issue, as in VSSIM: they wait for those before them. */
  | 'issue'
  /** Requests wait for each other: for a command slot, or for an earlier write to the same place. */
  | 'queue'
  | 'host'
  /** Nothing was saturated, and no wait stands out. */
  | 'none'
  /** The run failed, was interrupted or did nothing: there is nothing to explain. */
  | 'unknown';

/** Slots programmed for one cause. */
export interface ProgramShare {
  readonly cause:
    | 'host'
    | 'gc'
    | 'wearLevelling'
    | 'refresh'
    | 'retirement'
    | 'trimMap'
    | 'padding'
    | 'reprogrammed'
    | 'merge'
    | 'mapping'
    | 'backup';
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
  /**
   * What flash programs were for, largest first. Their sum is `ftl.programmedSlots` + `ftl.pendingSlots` (they still wait
   * for their program unit) + `ftl.droppedSlots` (they will not be programmed) − `ftl.carriedSlots` (placed before counting
   * began).
   */
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
  const appendOnly = appendOnlyMapping(config);
  const [bottleneck, headline] = causeOf(metrics, bounds, summary, {
    partial,
    inOrder: config.scheduler.kind === 'vssim',
    appendOnly,
  });
  return {
    bottleneck,
    headline,
    measured,
    boundSentence: boundSentence(bounds, measured),
    bounds,
    gc: summary,
    gcSentence: gcSentence(metrics, summary, appendOnly !== null),
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
  // Only of drives that have it.
  const single = (resource: Resource, metric: string): BoundShare[] =>
    metrics[metric] === undefined ? [] : [bound(resource, metrics[metric], metrics[metric])];
  const channels = metrics['channel.busyFraction.mean'];
  const dies = metrics['nand.busyFraction.mean'];
  return [
    bound('host link', link, link),
    ...single('host-interface core', 'firmware.hostCore.busyFraction'),
    bound('controller cores', metrics['firmware.busyFraction'], metrics['firmware.busyFraction.max']),
    ...single('collection core', 'firmware.gcCore.busyFraction'),
    bound('flash channels', channels, metrics['channel.busyFraction.max']),
    bound(dominantWork(metrics, config), dies, metrics['nand.busyFraction.max']),
  ].sort((a, b) => b.share - a.share);
}

interface DieTimes {
  readonly programNs: number;
  readonly readNs: number;
  readonly eraseNs: number;
}

/** Die time of one program (a page or a word line of a plane), one page read, one block erased. */
function dieTimes(config: SsdConfig): DieTimes {
  const { timing, geometry, features } = config.nand;
  const mean = (times: readonly number[]): number => times.reduce((sum, ns) => sum + ns, 0) / times.length;
  // Planes that work together share one array operation.
  const planes =
    features.multiPlane &&
    config.ftl.domain !== undefined &&
    config.ftl.domain !== 'unit' &&
    config.ftl.multiPlane !== false
      ? geometry.planes
      : 1;
  const wordLine = geometry.programUnit === 'wordline';
  const programNs = wordLine ? timing.programNs[0] : mean(timing.programNs);
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

/** A time in the unit that leaves no leading zeroes. */
function timeOf(ns: number): string {
  if (ns >= 1e8) return `${(ns / 1e9).toFixed(1)} s`;
  return ns >= 1e5 ? `${(ns / 1e6).toFixed(1)} ms` : `${(ns / 1e3).toFixed(1)} µs`;
}

function gcSentence(metrics: Metrics, gc: GcSummary, appendOnly: boolean): string {
  const free = percent(gc.freeShare);
  const blocks = (count: number): string => `${count} free block${count === 1 ? '' : 's'}`;
  const merges = metrics['ftl.merges.full'];
  if (merges !== undefined && gc.startedNs === null) {
    const of = (kind: string): string => `${metrics[`ftl.merges.${kind}`]} ${kind}`;
    return `Merges of log blocks: ${of('switch')}, ${of('partial')}, ${of('full')}; ${metrics['ftl.gc.erases']} erases.`;
  }
  if (appendOnly && gc.startedNs === null) {
    return `No garbage collection ran: blocks are erased when the host releases them; ${metrics['nand.erases']} erases.`;
  }
  if (gc.startedNs === null) {
    const least = `the least was ${blocks(gc.freeBlocks)} of ${gc.domainBlocks}`;
    return `No garbage collection ran: it begins at ${blocks(gc.threshold)} of a domain, and ${least}.`;
  }
  const why = `when a domain was down to ${blocks(gc.freeBlocks)} of ${gc.domainBlocks} and ${free} of all were free`;
  return `GC ran from ${timeOf(gc.startedNs)}, ${why}; ${metrics['ftl.gc.erases']} erases.`;
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
    // Only of schemes that merge log blocks, keep their map in flash, or take writes in order only.
    { cause: 'merge', slots: metrics['ftl.merges.copies'] ?? 0 },
    { cause: 'mapping', slots: metrics['ftl.mapping.slots'] ?? 0 },
    { cause: 'backup', slots: metrics['ftl.backups.slots'] ?? 0 },
  ];
  return shares.filter((share) => share.slots > 0).sort((a, b) => b.slots - a.slots);
}

import type { SsdConfig } from '@flashstack/ssd';

/** How near the run came to what one resource allows, given the work that was done: 1 is its bound. */
export interface BoundShare {
  readonly resource:
    | 'host link'
    | 'controller cores'
    | 'flash channels'
    | 'flash programs'
    | 'flash reads'
    | 'flash erases';
  readonly share: number;
}

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
}

/** Why a run was as fast as it was. */
export interface Analysis {
  /** One sentence that names the cause. */
  readonly headline: string;
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
  readonly leastFreeShare: number;
}

type Metrics = Readonly<Record<string, number>>;

const SATURATED = 0.85;
const GC_TAIL = 0.3;
const HALF = 0.5;

/** Derives the causes from a run's metrics. */
export function analyse(metrics: Metrics, config: SsdConfig, gc: GcObservation, partial: boolean): Analysis {
  const bounds = boundShares(metrics, config);
  const started = gc.gcStartNs >= 0;
  const summary = {
    startedNs: started ? gc.gcStartNs : null,
    freeShare: started ? gc.gcStartFreeShare : gc.leastFreeShare,
  };
  return {
    headline: headlineOf(metrics, bounds, partial),
    bounds,
    gc: summary,
    gcSentence: gcSentence(metrics, summary),
    programs: programShares(metrics),
  };
}

function boundShares(metrics: Metrics, config: SsdConfig): BoundShare[] {
  const both = metrics['link.read.busyFraction'] + metrics['link.write.busyFraction'];
  const either = Math.max(metrics['link.read.busyFraction'], metrics['link.write.busyFraction']);
  const link = config.link?.duplex === 'half' ? both : either;
  const bounds: BoundShare[] = [
    { resource: 'host link', share: link },
    { resource: 'controller cores', share: metrics['firmware.busyFraction'] },
    { resource: 'flash channels', share: metrics['channel.busyFraction.mean'] },
    { resource: dominantWork(metrics, config), share: metrics['nand.busyFraction.mean'] },
  ];
  return bounds.sort((a, b) => b.share - a.share);
}

/** What the dies spend most of their time on. */
function dominantWork(metrics: Metrics, config: SsdConfig): 'flash programs' | 'flash reads' | 'flash erases' {
  const { timing, geometry, features } = config.nand;
  const mean = (times: readonly number[]): number => times.reduce((sum, ns) => sum + ns, 0) / times.length;
  // Planes that work together, and pages of a word line, share one array operation.
  const planes =
    features.multiPlane && config.ftl.domain !== 'unit' && config.ftl.multiPlane !== false ? geometry.planes : 1;
  const pages = geometry.programUnit === 'wordline' ? geometry.cellBits : 1;
  const programs = (metrics['nand.programs'] * mean(timing.programNs)) / planes / pages;
  const reads = metrics['nand.reads'] * mean(timing.readNs);
  const erases = metrics['nand.erases'] * timing.eraseNs;
  if (programs >= reads && programs >= erases) return 'flash programs';
  return reads >= erases ? 'flash reads' : 'flash erases';
}

/** The headline, by rules of which the first that applies wins. */
function headlineOf(metrics: Metrics, bounds: readonly BoundShare[], partial: boolean): string {
  if (metrics['host.failed'] > 0) return `${metrics['host.failed']} of ${metrics['host.issued']} requests failed.`;
  if (partial) return 'Interrupted: the figures cover the part that ran.';
  if (metrics['host.completed'] === 0) return 'Nothing was asked of the drive.';
  const [first] = bounds;
  if (first.share >= SATURATED) return limitedBy(first);
  const tail = gcTail(metrics);
  if (tail.share >= GC_TAIL) {
    return `Garbage collection sets the tail: ${percent(tail.share)} of the time of the slowest 0.1 % of ${tail.kind}s.`;
  }
  const flush = flushShare(metrics);
  if (flush >= HALF) return `Flushes set the pace: ${percent(flush)} of all request time is theirs.`;
  if (first.share < HALF) {
    return `Limited by the host: the drive's busiest resource, ${withArticle(first.resource)}, reached ${percent(first.share)}.`;
  }
  return `No resource was saturated: the busiest, ${withArticle(first.resource)}, reached ${percent(first.share)} of ${boundOf(first)}.`;
}

function limitedBy({ resource, share }: BoundShare): string {
  if (resource === 'flash programs') {
    return `Limited by flash programs, at ${percent(share)} of their bound for this write amplification.`;
  }
  return `Limited by ${withArticle(resource)}, at ${percent(share)} of ${boundOf({ resource, share })}.`;
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

function flushShare(metrics: Metrics): number {
  let total = 0;
  for (const kind of ['read', 'write', 'discard', 'flush']) {
    total += metrics[`host.${kind}.requests`] * metrics[`host.${kind}.latencyNs.mean`];
  }
  return total === 0 ? 0 : (metrics['host.flush.requests'] * metrics['host.flush.latencyNs.mean']) / total;
}

function gcSentence(metrics: Metrics, gc: GcSummary): string {
  const free = percent(gc.freeShare);
  if (gc.startedNs === null) return `No garbage collection ran: free blocks stayed at or above ${free}.`;
  const seconds = (gc.startedNs / 1e9).toFixed(1);
  return `GC ran from ${seconds} s, when ${free} of the blocks were free; ${metrics['ftl.gc.erases']} erases.`;
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

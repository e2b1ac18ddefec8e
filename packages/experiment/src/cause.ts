import type { Bottleneck, BoundShare, GcSummary, Resource } from './analysis.js';
import { KINDS, type Metrics, percent, withArticle } from './wording.js';

const SATURATED = 0.85;
const UNEVEN = 0.95;
const GC_TAIL = 0.3;
const HALF = 0.5;
const bottlenecks: Readonly<Record<Resource, Bottleneck>> = {
  'host link': 'link',
  'host-interface core': 'firmware',
  'controller cores': 'firmware',
  'collection core': 'firmware',
  'flash channels': 'channel',
  'flash programs': 'die',
  'flash reads': 'die',
  'flash erases': 'die',
};

/**
 * What kind of run it was: interrupted; on a scheduler that starts commands strictly in order of issue; on a drive whose
 * mapping takes writes to a segment only in order (its name).
 */
interface RunNature {
  readonly partial: boolean;
  readonly inOrder: boolean;
  readonly appendOnly: string | null;
}

/** What limited the run and the headline that says so, by rules of which the first that applies wins. */
export function causeOf(
  metrics: Metrics,
  bounds: readonly BoundShare[],
  gc: GcSummary,
  { partial, inOrder, appendOnly }: RunNature,
): readonly [Bottleneck, string] {
  if (metrics['host.failed'] > 0) {
    const count = `${metrics['host.failed']} of ${metrics['host.issued']} requests failed`;
    if (appendOnly === null || !(metrics['host.write.failed'] > 0)) return ['unknown', `${count}.`];
    return [
      'unknown',
      `${count}: ${appendOnly} mapping takes writes only where a segment ends so far. The workload segments writes so.`,
    ];
  }
  if (partial) return ['unknown', 'Interrupted: the figures cover the part that ran.'];
  if (metrics['host.completed'] === 0) return ['unknown', 'Nothing was asked of the drive.'];
  const [first] = bounds;
  return (
    saturated(first, gc) ??
    flushing(metrics) ??
    uneven(bounds) ??
    waiting(metrics) ??
    issuing(metrics, inOrder) ??
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

/** One die, channel or core is busy nearly all the time, others are not. */
function uneven(bounds: readonly BoundShare[]): Cause | null {
  const worst = bounds.reduce((a, b) => (b.worst > a.worst ? b : a));
  if (worst.worst < UNEVEN) return null;
  const cause = bottlenecks[worst.resource];
  const one = cause === 'channel' || cause === 'die' ? cause : 'core';
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

/** VSSIM issues from one thread: a command waits for the start of all before it, and then a switch delay. */
function issuing(metrics: Metrics, inOrder: boolean): Cause | null {
  const bus = phaseShare(metrics, 'bus');
  if (!inOrder || bus < HALF) return null;
  return [
    'issue',
    `Limited by the order of issue: flash commands start one after the other, and requests wait ${percent(bus)} of their time for those before them.`,
  ];
}

function tail(metrics: Metrics): Cause | null {
  const { kind, share } = gcTail(metrics);
  if (share < GC_TAIL) return null;
  return ['gc', `Garbage collection sets the tail: ${percent(share)} of the time of the slowest 0.1 % of ${kind}s.`];
}

function unsaturated(first: BoundShare, metrics: Metrics): Cause {
  const what = withArticle(first.resource);
  if (first.share < HALF) {
    const queue = phaseShare(metrics, 'queue');
    if (queue >= HALF) {
      return [
        'queue',
        `Requests wait for each other ${percent(queue)} of their time: for a command slot of the drive, or for an earlier write to the same place.`,
      ];
    }
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

function limitedBy(bound: BoundShare): string {
  const { resource, share } = bound;
  if (resource === 'flash programs') {
    return `Limited by flash programs, at ${percent(share)} of their bound for this write amplification.`;
  }
  return `Limited by ${withArticle(resource)}, at ${percent(share)} of ${boundOf(bound)}.`;
}

function boundOf({ resource }: BoundShare): string {
  return resource.endsWith('s') ? 'their bound' : 'its bound';
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
function phaseShare(metrics: Metrics, phase: 'queue' | 'buffer' | 'gc' | 'bus'): number {
  let time = 0;
  let inPhase = 0;
  for (const kind of ['read', 'write', 'discard']) {
    time += metrics[`ssd.${kind}.requests`] * metrics[`ssd.${kind}.latencyNs.mean`];
    inPhase += metrics[`ssd.${kind}.requests`] * metrics[`ssd.${kind}.phaseNs.${phase}`];
  }
  return time === 0 ? 0 : inPhase / time;
}

import type { ExperimentResult } from '@flashstack/experiment';
import { type PhaseName, phaseNames } from '@flashstack/ssd';
import { callKinds, requestKinds } from '@flashstack/workloads';
import { Numbers } from './numbers.js';
import type { Part, Summary, SummaryRow } from './summary.js';
import type { Tone } from './terminal.js';

type Metrics = Readonly<Record<string, number>>;
type Cause = ExperimentResult['analysis']['programs'][number]['cause'];

const causes: Readonly<Record<Cause, readonly [label: string, tone: Tone]>> = {
  host: ['host', 'hostData'],
  gc: ['GC', 'gc'],
  wearLevelling: ['wear levelling', 'gc'],
  refresh: ['refresh', 'gc'],
  retirement: ['bad blocks', 'gc'],
  trimMap: ['map', 'mapping'],
  padding: ['pad', 'padding'],
  reprogrammed: ['reprogrammed', 'padding'],
  merge: ['merge', 'gc'],
  mapping: ['translation pages', 'mapping'],
  backup: ['backups', 'mapping'],
};
const BEYOND = 10;
// Notes are sentences of the summary: the style's characters are put in when it is printed.
const numbers = new Numbers(false);

/** What a summary shows, out of a result. */
export function summaryOf(result: ExperimentResult): Summary {
  const { metrics, analysis, partial, spec } = result;
  const slotBytes = spec.device.nand.geometry.slotBytes;
  const written = analysis.programs.map(({ cause, slots }): Part => {
    const [label, tone] = causes[cause];
    return { label, tone, amount: slots * slotBytes };
  });
  const programmedBytes = written.reduce((sum, part) => sum + part.amount, 0);
  const flushedBytes = metrics['ftl.hostSlots'] * slotBytes;
  const slowestKind = metrics['host.write.requests'] > 0 ? 'write' : 'read';
  return {
    workload: 'name' in spec.workload ? spec.workload.name : spec.workload.kind,
    device: spec.device.name,
    seed: result.seed,
    specHash: result.specHash,
    headline: grouped(analysis.headline),
    rows:
      spec.system === undefined
        ? requestRows(metrics, '')
        : [...callRows(metrics), ...phaseRows(result), ...requestRows(metrics, 'drive ')],
    // As the causes add up, with what still waits for its program unit to fill: a short run has little else.
    waf: programmedBytes / flushedBytes,
    receivedBytes: metrics['host.write.bytes'],
    flushedBytes,
    programmedBytes,
    written,
    // With a system the lines are for what is above the drive.
    slowest: spec.system === undefined ? slowestParts(slowestKind, metrics) : [],
    slowestKind,
    notes: spec.system === undefined ? notesOf(result) : systemNotes(result, spec.system.cpus),
    files: [],
    ...settled(metrics, spec.system === undefined ? 'host' : 'calls'),
    interruptedNs: partial === null ? null : partial.atNs,
  };
}

/** A sentence of the result, its long numbers as a terminal shows them. */
function grouped(sentence: string): string {
  return sentence.replace(/\d{4,}/g, (digits) => numbers.count(Number(digits)));
}

/** Requests to the drive, or system calls. */
function settled(metrics: Metrics, layer: string): Pick<Summary, 'issued' | 'completed' | 'failed'> {
  const [completed, failed] = [metrics[`${layer}.completed`], metrics[`${layer}.failed`]];
  return { issued: metrics[`${layer}.issued`] ?? completed + failed, completed, failed };
}

function requestRows(metrics: Metrics, label: string): SummaryRow[] {
  const kinds = requestKinds.filter((kind) => metrics[`host.${kind}.requests`] > 0);
  return kinds.map((kind) => rowOf(`host.${kind}`, `${label}${kind}`, metrics));
}

function callRows(metrics: Metrics): SummaryRow[] {
  const kinds = callKinds.filter((kind) => metrics[`calls.${kind}.requests`] > 0);
  return kinds.map((kind) => rowOf(`calls.${kind}`, kind === 'other' ? 'other calls' : kind, metrics));
}

/** Phases of iozone, each over its own time. */
function phaseRows({ metrics, histograms }: ExperimentResult): SummaryRow[] {
  return Object.entries(histograms).flatMap(([key, { count }]) => {
    const [, phase] = /^iozone\.(.+)\.latencyNs$/.exec(key) ?? [];
    if (phase === undefined || count === 0) return [];
    const seconds = metrics[`iozone.${phase}.elapsedNs`] / 1e9;
    const known = {
      [`iozone.${phase}.requests`]: count,
      [`iozone.${phase}.iops`]: count / seconds,
      [`iozone.${phase}.bytesPerSecond`]: metrics[`iozone.${phase}.bytes`] / seconds,
    };
    return [rowOf(`iozone.${phase}`, `· ${phase}`, { ...metrics, ...known })];
  });
}

function rowOf(layer: string, label: string, metrics: Metrics): SummaryRow {
  const of = (name: string): number => metrics[`${layer}.${name}`];
  // With fewer than ten samples beyond it a percentile says nothing: it is shown as unknown.
  const percentile = (name: string, beyond: number): number =>
    of('requests') * beyond < BEYOND ? Number.NaN : of(`latencyNs.${name}`);
  return {
    name: label,
    requests: of('requests'),
    bytesPerSecond: of('bytesPerSecond'),
    iops: of('iops'),
    meanNs: of('latencyNs.mean'),
    p50Ns: percentile('p50', 0.5),
    p99Ns: percentile('p99', 0.01),
    p999Ns: percentile('p999', 0.001),
    maxNs: of('latencyNs.max'),
  };
}

const phaseLabels: Readonly<Record<PhaseName, string>> = {
  queue: 'queue',
  link: 'link',
  firmware: 'firmware',
  buffer: 'buffer',
  mapping: 'map',
  bus: 'bus',
  die: 'die',
  array: 'array',
  transfer: 'transfer',
  gc: 'GC',
};

function slowestParts(kind: string, metrics: Metrics): Part[] {
  return phaseNames
    .map((phase): Part => {
      const amount = metrics[`ssd.${kind}.slowest.phaseNs.${phase}`];
      return { label: phaseLabels[phase], tone: phase === 'gc' ? 'gc' : 'dim', amount };
    })
    .filter((part) => part.amount > 0);
}

/** What was measured, beside what the nearest bound allows. */
function boundNote({ measured, bounds: [nearest] }: ExperimentResult['analysis']): string[] {
  const { resource, boundBytesPerSecond, boundRequestsPerSecond } = nearest;
  if (boundRequestsPerSecond === null || measured.requestsPerSecond === 0) return [];
  const [got, bound, unit] =
    measured.bytesPerSecond > 0
      ? [measured.bytesPerSecond / 1e6, (boundBytesPerSecond ?? 0) / 1e6, 'MB/s']
      : [measured.requestsPerSecond, boundRequestsPerSecond, 'requests/s'];
  const what = resource.startsWith('flash') && resource !== 'flash channels' ? resource : `the ${resource}`;
  const verb = resource.endsWith('s') ? 'allow' : 'allows';
  return [`${numbers.short(got)} of the ${numbers.short(bound)} ${unit} that ${what} ${verb} for this work`];
}

function notesOf({ analysis, metrics }: ExperimentResult): string[] {
  const percent = (name: string): string => numbers.percent(metrics[name]);
  const busy = (name: string): string =>
    `${percent(`${name}.busyFraction.mean`)} (max ${percent(`${name}.busyFraction.max`)})`;
  const notes = [
    ...boundNote(analysis),
    grouped(analysis.gcSentence.replace(/\.$/, '')),
    `dies busy ${busy('nand')}, channels ${busy('channel')}`,
  ];
  notes.push(...healthNotes(metrics));
  const late = metrics['host.late.requests'];
  if (late > 0) {
    const mean = numbers.simulated(metrics['host.late.meanNs']);
    const most = numbers.simulated(metrics['host.late.maxNs']);
    notes.push(`${numbers.count(late)} requests issued late, by ${mean} on average, ${most} at most`);
  }
  const widened = metrics['host.widened'];
  if (widened > 0) notes.push(`${numbers.count(widened)} requests widened to whole blocks of the drive`);
  return notes;
}

/** What happened above the drive, and the least about the drive itself. */
function systemNotes({ analysis, metrics, spec }: ExperimentResult, cpus: number): string[] {
  const { 'cache.hits': hits, 'cache.misses': misses, 'os.writtenBytes': written, 'sim.elapsedNs': elapsed } = metrics;
  const notes: string[] = [];
  if (metrics['iozone.write.elapsedNs'] !== undefined || metrics['iozone.read.elapsedNs'] !== undefined)
    notes.push('rows with · are phases of iozone, each over its own time');
  if (hits + misses > 0) {
    const ahead = Math.max(0, metrics['cache.fetched'] - misses);
    notes.push(
      `page cache: ${numbers.percent(hits / (hits + misses))} of ${numbers.counted(hits + misses, 'page')} found, ` +
        `${numbers.count(ahead)} read ahead`,
    );
  }
  if (written > 0) {
    const received = metrics['host.write.bytes'];
    notes.push(
      `${numbers.bytes(written)} written by calls, ${numbers.bytes(received)} written to the drive: ` +
        `${numbers.short(received / written)} for each byte`,
    );
  }
  const throttled = metrics['cache.throttles'];
  if (throttled > 0) {
    const time = numbers.simulated(metrics['cache.throttledNs']);
    notes.push(`write-back too slow: writers held back ${numbers.count(throttled)} times, ${time} in all`);
  }
  if (elapsed > 0) notes.push(`processors busy ${numbers.percent(metrics['os.cpuBusyNs'] / (elapsed * cpus))}`);
  return [...notes, ...replayNotes(metrics, spec), ...driveNotes(analysis, metrics)];
}

/** What of a trace of system calls could not be done, or went otherwise. */
function replayNotes(metrics: Metrics, { workload }: ExperimentResult['spec']): string[] {
  if (workload.kind !== 'strace') return [];
  const notes: string[] = [];
  const different = metrics['trace.different'];
  if (different > 0) notes.push(`${numbers.counted(different, 'call')} went otherwise than recorded`);
  const prefix = 'trace.unsupported.';
  const names = Object.keys(metrics).filter((name) => name.startsWith(prefix));
  if (names.length > 0) {
    const each = names.map((name) => `${name.slice(prefix.length)} ${numbers.count(metrics[name])}`);
    notes.push(`not supported and left out: ${each.join(', ')}`);
  }
  return notes;
}

function driveNotes(analysis: ExperimentResult['analysis'], metrics: Metrics): string[] {
  const { gc, gcSentence } = analysis;
  const collected = gc.startedNs === null ? [] : [grouped(gcSentence.replace(/\.$/, ''))];
  return [...collected, ...healthNotes(metrics)];
}

/** Why a drive has ended whose blocks cannot stand in for those of another domain. */
function endOf(metrics: Metrics): string {
  const left = metrics['health.leastSpareBlocks'];
  if (left === undefined) return '';
  return `, as a domain has ${numbers.counted(left, 'spare block')} left and none lends it any`;
}

/** What the health record of the drive has to say, if it is worth a line. */
function healthNotes(metrics: Metrics): string[] {
  const notes: string[] = [];
  const errors = metrics['health.mediaErrors'];
  if (errors > 0) notes.push(`${numbers.count(errors)} reads failed because their data could not be corrected`);
  const retired = metrics['health.retiredBlocks'];
  if (retired > 0) {
    const [left, of] = ['health.spareBlocks', 'health.spareBlocksAtStart'].map((name) => numbers.count(metrics[name]));
    notes.push(`${numbers.count(retired)} blocks retired, ${left} of ${of} spare blocks left`);
  }
  if (metrics['health.readOnly'] > 0) notes.push(`the drive is worn out: it takes no writes any more${endOf(metrics)}`);
  return notes;
}

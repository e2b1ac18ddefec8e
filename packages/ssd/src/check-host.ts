import { queueClasses } from './arbiter.js';
import type { HostConfig, SsdConfig } from './config.js';
import { type Findings, type Range, show } from './findings.js';

/** SATA: commands that NCQ tells apart. */
const NCQ_DEPTH = 32;
/** NVMe: queues with figures of their own. */
const MOST_QUEUES = 256;

const ranges: Record<string, Range> = {
  packedCommands: [1, 63],
  flushNs: [0, 0x3fff_ffff],
  arbitrationBurst: [1, 128],
  highWeight: [1, 256],
  mediumWeight: [1, 256],
  lowWeight: [1, 256],
};

/** Keys by the kind of interface that they belong to. */
const keysOf: Readonly<Record<HostConfig['kind'], readonly (keyof HostConfig)[]>> = {
  emmc: ['packedCommands', 'cache', 'flushNs'],
  'sata-ncq': ['queuedTrim'],
  nvme: ['arbitration', 'arbitrationBurst', 'classes', 'highWeight', 'mediumWeight', 'lowWeight'],
};
const weightedKeys = ['classes', 'highWeight', 'mediumWeight', 'lowWeight'] as const;

/** Checks the protocol of the host interface, and that the queues fit it. */
export function checkHost(findings: Findings, { host = null, queue }: SsdConfig): void {
  const others = ['cache', 'queuedTrim', 'arbitration', 'classes'];
  if (host === null || !findings.section('host', host, {}, ['kind'], ranges, others)) return;
  // Reported as missing; what the other keys belong to nobody can tell then.
  if (host.kind === undefined) return;
  const kinds = Object.keys(keysOf) as HostConfig['kind'][];
  findings.oneOf('host.kind', host.kind, kinds);
  if (!kinds.includes(host.kind)) return;
  for (const kind of kinds) {
    if (kind === host.kind) continue;
    for (const key of keysOf[kind]) {
      if (host[key] !== undefined)
        findings.add(`host.${key}`, `belongs to kind ${kind}, not to ${host.kind}; leave it out`);
    }
  }
  findings.optionalFlag('host.cache', host.cache);
  findings.optionalFlag('host.queuedTrim', host.queuedTrim);
  if (host.kind === 'nvme') checkArbitration(findings, host);
  checkQueues(findings, host.kind, queue);
}

function checkArbitration(findings: Findings, host: HostConfig): void {
  const { arbitration = 'roundRobin', classes } = host;
  findings.oneOf('host.arbitration', arbitration, ['roundRobin', 'weightedRoundRobin']);
  for (const key of weightedKeys) {
    if (host[key] === undefined || arbitration !== 'roundRobin') continue;
    findings.add(`host.${key}`, 'has a meaning only with arbitration: weightedRoundRobin; leave it out');
  }
  if (classes === undefined) return;
  if (!Array.isArray(classes) || classes.length === 0) {
    findings.add('host.classes', `expected a list of ${queueClasses.join(', ')}, found ${show(classes)}`);
    return;
  }
  for (const [at, name] of classes.entries()) findings.oneOf(`host.classes.${at}`, name, queueClasses);
}

function checkQueues(findings: Findings, kind: HostConfig['kind'], { depth, queues }: SsdConfig['queue']): void {
  if (kind === 'nvme') {
    if (queues > MOST_QUEUES) {
      findings.add(
        'queue.queues',
        `expected at most ${MOST_QUEUES} with host.kind nvme, as each has figures of its own, found ${queues}`,
      );
    }
    return;
  }
  const most = kind === 'emmc' ? 1 : NCQ_DEPTH;
  const why = kind === 'emmc' ? 'which takes one command at a time' : `which tells ${NCQ_DEPTH} commands apart`;
  if (depth > most)
    findings.add('queue.depth', `expected at most ${most} with host.kind ${kind}, ${why}, found ${depth}`);
  if (queues > 1)
    findings.add('queue.queues', `expected 1 with host.kind ${kind}, which has one queue, found ${queues}`);
}

import { traceReading } from '@flashstack/experiment';
import type { ConversionReport, OpSummary, TraceInfo } from '@flashstack/workloads';
import { convertFile, fileInfo } from '@flashstack/workloads/node';
import { ExitCode } from './exit-code.js';
import { Interrupt } from './interrupt.js';
import { parseSelection, traceFlags, valuesOf } from './option-flags.js';
import { UsageError } from './report-error.js';
import type { SpecFlags } from './run-command.js';
import type { Session } from './session.js';
import { type Style, table, wrap } from './terminal.js';

const LIMIT = 80;
const LABEL = 11;
const VOLUMES = 5;

/** `flashstack trace info TRACE`: what a trace file is, and what it holds. Returns the exit code. */
export async function runTraceInfo(
  file: string,
  flags: SpecFlags & { readonly json?: boolean },
  session: Session,
): Promise<number> {
  const interrupt = new Interrupt(session.host);
  try {
    session.progress.start('read');
    const { source, info } = await fileInfo(file, { ...readingOf(flags), progress: watch(session, interrupt) });
    const { format, evidence, compression, bytes, counts } = source;
    if (flags.json === true) {
      const shown = { file, format: format.name, evidence, compression, bytes, counts, info };
      session.print(`${JSON.stringify(shown, null, 2)}\n`);
    } else {
      const head = `${format.name} (${format.facts}), ${evidence}`;
      session.print(describe(file, [head, packed(compression, bytes, session.style)], info, counts, session.style));
    }
    return ExitCode.done;
  } finally {
    interrupt.release();
  }
}

/** `flashstack trace convert FROM TO`: the same requests in another format. Returns the exit code. */
export async function runTraceConvert(
  from: string,
  to: string,
  flags: SpecFlags & { readonly to?: string; readonly strict?: boolean },
  session: Session,
): Promise<number> {
  if (from === to) throw new UsageError(`${to}: the file written would be the one that is read.`);
  const interrupt = new Interrupt(session.host);
  try {
    session.progress.start('convert');
    const report = await convertFile(from, to, {
      ...readingOf(flags),
      ...(flags.to === undefined ? {} : { to: flags.to }),
      encoder: { losses: flags.strict === true ? 'fail' : 'count' },
      progress: watch(session, interrupt),
    });
    session.print(converted(to, report, session.style));
    return ExitCode.done;
  } finally {
    interrupt.release();
  }
}

function readingOf(flags: SpecFlags): ReturnType<typeof traceReading> {
  return traceReading({
    ...valuesOf(traceFlags, flags),
    ...(flags.select === undefined ? {} : { volumes: parseSelection(flags.select) }),
  });
}

function watch(session: Session, interrupt: Interrupt): (bytes: number, operations: number) => void {
  return (_, operations) => {
    interrupt.throwIfRequested();
    session.progress.update(operations, 0, ' requests');
  };
}

function packed(compression: string, bytes: number, style: Style): string {
  const size = style.numbers.bytes(bytes);
  return compression === 'none' ? size : `${size} of ${compression}`;
}

function describe(
  file: string,
  head: readonly string[],
  info: TraceInfo,
  counts: ConversionReport['source']['counts'],
  style: Style,
): string {
  const { numbers } = style;
  const share = (part: number): string => numbers.percent(part);
  const facts: [string, string][] = [
    ['format', head[0]],
    ['size', head[1]],
    ['requests', `${numbers.count(info.requests)} in ${numbers.simulated(info.spanNs)}`],
    ['footprint', `${numbers.bytes(info.footprintBytes)} touched, up to ${numbers.bytes(info.endByte)}`],
    [
      'sequential',
      `${share(info.sequentialShare)} of the reads and writes, ${share(info.sequentialByteShare)} of their bytes`,
    ],
    [
      'unaligned',
      info.unaligned === 1
        ? '1 request does not begin and end at 4 KiB'
        : `${numbers.count(info.unaligned)} requests do not begin and end at 4 KiB`,
    ],
  ];
  if (info.flushes > 0) facts.push(['flushes', numbers.count(info.flushes)]);
  if (info.fua + info.preflush > 0) {
    facts.push(['durable', `${numbers.count(info.fua)} with FUA, ${numbers.count(info.preflush)} with preflush`]);
  }
  if (info.responses > 0) facts.push(['recorded', `${numbers.simulated(info.meanResponseNs)} mean response time`]);
  if (info.outOfOrder > 0)
    facts.push([
      'order',
      `${numbers.count(info.outOfOrder)} ${info.outOfOrder === 1 ? 'request is' : 'requests are'} older than the one above`,
    ]);
  const left = leftOut(counts, style);
  if (left !== '') facts.push(['left out', left]);
  const lines = [style.tone('strong', file), ...facts.flatMap(([label, text]) => fact(label, text, style))];
  lines.push('', ...kinds(info, style), ...sizes(info, style), ...volumes(info, style));
  return `${lines.join('\n')}\n`;
}

function fact(label: string, text: string, style: Style): string[] {
  const indent = ' '.repeat(LABEL + 2);
  return wrap(style.plain(text), LIMIT - indent.length).map((line, at) =>
    at === 0 ? `  ${style.tone('dim', label.padEnd(LABEL))}${line}` : indent + line,
  );
}

function leftOut(counts: ConversionReport['source']['counts'], style: Style): string {
  const parts: readonly (readonly [number, string])[] = [
    [counts.badLines, 'bad lines'],
    [counts.zeroLength, 'of length zero'],
    [counts.otherRequests, 'of other kinds'],
    [counts.unselected, 'to other volumes'],
  ];
  return parts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${style.numbers.count(count)} ${what}`)
    .join(', ');
}

function kinds(info: TraceInfo, style: Style): string[] {
  const { numbers } = style;
  const rows = (['read', 'write', 'discard'] as const)
    .map((kind): [string, OpSummary] => [kind, info[kind]])
    .filter(([, summary]) => summary.requests > 0)
    .map(([kind, { requests, bytes, sequentialShare, footprintBytes }]) => [
      `  ${kind}`,
      numbers.count(requests),
      numbers.bytes(bytes),
      numbers.bytes(bytes / requests),
      numbers.percent(sequentialShare),
      numbers.bytes(footprintBytes),
    ]);
  const [head, ...lines] = table([['', 'requests', 'bytes', 'mean', 'sequential', 'footprint'], ...rows], 'lrrrrr');
  return [style.tone('dim', head), ...lines];
}

function sizes({ commonSizes, read, write }: TraceInfo, style: Style): string[] {
  const total = read.requests + write.requests;
  if (total === 0) return [];
  const { numbers } = style;
  const shown = commonSizes
    .slice(0, 5)
    .map(({ bytes, requests }) => `${numbers.bytes(bytes)} (${numbers.percent(requests / total)})`);
  return ['', ...fact('sizes', shown.join(', '), style)];
}

function volumes({ volumes: all }: TraceInfo, style: Style): string[] {
  if (all.length < 2) return [];
  const { numbers } = style;
  const largest = [...all].sort((a, b) => b.requests - a.requests);
  const rows = largest
    .slice(0, VOLUMES)
    .map(({ name, requests, bytes, endByte }) => [
      `  ${name}`,
      numbers.count(requests),
      numbers.bytes(bytes),
      numbers.bytes(endByte),
    ]);
  const [head, ...lines] = table([['  volume', 'requests', 'bytes', 'up to'], ...rows], 'lrrr');
  const more =
    all.length > VOLUMES ? [style.tone('dim', `  and ${numbers.counted(all.length - VOLUMES, 'more volume')}`)] : [];
  return ['', style.tone('dim', head), ...lines, ...more];
}

const lossNames: Readonly<Record<keyof ConversionReport['losses'], string>> = {
  flushes: 'flushes left out',
  discards: 'discards left out',
  writeZeroes: 'write-zeroes left out',
  tooLong: 'requests of 4 GiB or more left out',
  widened: 'requests widened to whole sectors',
  timesRounded: 'times rounded',
  timesRaised: 'times raised to that of the first request',
  flags: 'flags left out',
  responses: 'response times left out',
  responsesRounded: 'response times rounded',
};

function converted(to: string, report: ConversionReport, style: Style): string {
  const { numbers } = style;
  const { written, bytes, format, losses, source } = report;
  const lines = [
    `${numbers.counted(written, 'request')} from ${source.format.name} to ${format}, ${numbers.bytes(bytes)}`,
  ];
  for (const [key, text] of Object.entries(lossNames) as [keyof typeof lossNames, string][]) {
    const count = losses[key];
    if (count > 0) lines.push(`  ${style.tone('attention', style.attention)} ${numbers.count(count)} ${text}`);
  }
  const left = leftOut(source.counts, style);
  if (left !== '') lines.push(`  ${style.tone('attention', style.attention)} not taken from the source: ${left}`);
  lines.push(`${style.tone('dim', 'trace'.padEnd(8))} ${style.tone('path', to)}`);
  return `${lines.join('\n')}\n`;
}

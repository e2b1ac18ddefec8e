import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BlockOp } from '@flashstack/block-device';
import { readSpec, repeatable, writeResult, writeWhole } from '@flashstack/experiment/node';
import type { Trace } from '@flashstack/workloads';
import { openTrace } from '@flashstack/workloads/node';
import { ExitCode } from './exit-code.js';
import { Interrupt, orNone } from './interrupt.js';
import { parseWhole } from './option-flags.js';
import { named } from './recorded.js';
import { UsageError } from './report-error.js';
import { type Run, runSpec } from './run.js';
import type { Session } from './session.js';
import { waits } from './summary.js';
import { type Style, table, width, wrap } from './terminal.js';

const LIMIT = 80;
const DRIVES = ['generic-tlc-nvme', 'sata-840-pro-class'];
const TRACES = ['sqlite-delete.msr.csv.gz', 'postgres.msr.csv.gz'];
const CAPACITY = 8 * 2 ** 30;
/** The drives receive so many times their capacity, long after garbage collection has begun. */
const DRIVE_WRITES = 1;
const DEPTH = 32;

/**
 * `flashstack demo`, the main job of `npm start`: two recorded traces on two drives, compared; the results and a page
 * that compares them are written into a folder. Returns the exit code.
 */
export async function runDemo(
  traces: URL,
  flags: { readonly seed: string; readonly out: string },
  session: Session,
): Promise<number> {
  const seed = parseWhole('--seed', flags.seed, 0, Number.MAX_SAFE_INTEGER);
  if (flags.out === '') throw new UsageError('--out is "", expected the name of a folder.');
  const interrupt = new Interrupt(session.host);
  try {
    const files = TRACES.map((name) => fileURLToPath(new URL(name, traces)));
    const runs: Run[] = [];
    for (const file of files) {
      const { trace } = await openTrace(file);
      for (const device of DRIVES) {
        if (runs.length === 0) interrupt.throwIfRequested();
        const loaded = await readSpec(specOf(file, device, trace, seed), { name: trace.name, folder: '.' });
        const run = await runSpec(named(loaded, trace), trace, session, interrupt).catch(orNone(runs.length));
        if (run === null) break;
        session.note('cpu', `${run.summary.workload} on ${run.summary.device}: ${run.cost}`);
        runs.push(run);
        if (run.summary.interruptedNs !== null) break;
      }
      if (interrupt.requested) break;
    }
    const report = await writeFiles(runs, flags.out);
    session.print(render(runs, seed, files[0], report, session.style));
    if (interrupt.requested) return ExitCode.interrupted;
    return runs.some((run) => run.summary.failed > 0) ? ExitCode.no : ExitCode.done;
  } finally {
    interrupt.release();
  }
}

function specOf(file: string, device: string, trace: Trace, seed: number): Readonly<Record<string, unknown>> {
  return {
    device: { preset: device, capacity: CAPACITY },
    workload: { trace: file },
    loop: `closed:${DEPTH}`,
    address: 'wrap',
    repeat: repeats(trace),
    precondition: 'steady',
    seed,
  };
}

/** The results, and the page that compares them; returns the page's path. */
async function writeFiles(runs: readonly Run[], folder: string): Promise<string> {
  const results = runs.map(({ result }) => repeatable(result));
  for (const { result, summary } of runs) writeResult(result, folder, `${summary.workload}-${summary.device}`);
  const { renderReport } = await import('@flashstack/report');
  const path = `${folder.replace(/(?<=.)\/+$/, '')}/report.html`;
  writeWhole(path, renderReport(results));
  return path;
}

/** Passes over the trace until it has written the drive often enough. */
function repeats(trace: Trace): number {
  return Math.ceil((DRIVE_WRITES * CAPACITY) / trace.totals(BlockOp.write).bytes);
}

function render(runs: readonly Run[], seed: number, trace: string, report: string, style: Style): string {
  const { numbers } = style;
  const title = `Two recorded traces on two simulated drives of ${numbers.bytes(CAPACITY)}`;
  const identity = `seed ${seed}`;
  const lines = [
    `${style.tone('strong', title)}${style.tone('dim', identity.padStart(LIMIT - title.length))}`,
    `In steady state at the start, ${DEPTH} requests in flight, ${DRIVE_WRITES} × the capacity written.`,
    '',
  ];
  const partial = runs.some((run) => run.summary.interruptedNs !== null);
  if (partial || runs.length < TRACES.length * DRIVES.length) {
    const what = partial ? 'the last run is partial, others are missing' : 'some runs are missing';
    lines.push(`${style.tone('attention', style.attention)} interrupted: ${what}`, '');
  }
  lines.push(...comparison(runs, style), style.tone('dim', "WAF counts what left the drive's write buffer for flash."));
  lines.push('', style.tone('dim', 'what the slowest 0.1 % of the writes waited for'));
  lines.push(...reasons(runs, style), '', `${style.tone('dim', 'report')}   ${style.tone('path', report)}`);
  lines.push(style.tone('dim', 'where to go on'), ...further(trace, style));
  return `${lines.join('\n')}\n`;
}

/** Latencies are in µs unless that does not fit the line. */
function comparison(runs: readonly Run[], style: Style): string[] {
  const lines = comparisonIn(runs, 'µs', 1e3, style);
  return lines.every((line) => width(line) <= LIMIT) ? lines : comparisonIn(runs, 'ms', 1e6, style);
}

function comparisonIn(runs: readonly Run[], unit: string, ns: number, style: Style): string[] {
  const { numbers } = style;
  const rows = runs.map(({ summary, result: { metrics } }, i) => {
    const first = i === 0 || runs[i - 1].summary.workload !== summary.workload;
    const write = summary.rows.find((row) => row.name === 'write');
    const latencies = write === undefined ? [] : [write.p50Ns, write.p99Ns, write.p999Ns];
    const rate = summary.rows.reduce((sum, row) => sum + row.bytesPerSecond, 0);
    return [
      first ? summary.workload : '',
      summary.device,
      numbers.short(rate / 1e6),
      ...latencies.map((latency) => numbers.short(latency / ns)),
      style.tone('strong', Number.isFinite(summary.waf) ? summary.waf.toFixed(2) : 'none'),
      numbers.count(metrics['ftl.gc.erases']),
    ];
  });
  const head = ['trace', 'drive', 'MB/s', 'p50', 'p99', 'p99.9', 'WAF', 'erases'];
  const lines = table([head, ...rows], 'llrrrrrr');
  const end = lines[0].lastIndexOf('p99.9') + 'p99.9'.length;
  return [style.tone('dim', `write latency, ${unit}`.padStart(end)), style.tone('dim', lines[0]), ...lines.slice(1)];
}

function reasons(runs: readonly Run[], style: Style): string[] {
  return runs.flatMap(({ summary }) => {
    const lines = wrap(`${summary.workload} on ${summary.device}: ${waits(summary.slowest, style)}`, LIMIT - 2);
    return lines.map((line, i) => (i === 0 ? `  ${line}` : `    ${line}`));
  });
}

function further(trace: string, style: Style): string[] {
  const command = (text: string): string => style.tone('path', text);
  return [
    `  ${command('npm run -s flashstack -- devices')}   all drives`,
    `  ${command('npm run -s flashstack -- replay \\')}   one run, explained`,
    `    ${command(`${relative('', trace)} \\`)}`,
    `    ${command('--device emmc-5.0 --capacity 8GiB --precondition steady --repeat 20')}`,
    `  ${command('docs/guide')}, ${command('docs/packages')}: how to do more; ${command('docs/validation')}: why to trust it`,
  ];
}

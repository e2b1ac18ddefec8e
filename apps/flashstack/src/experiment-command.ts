import { readFileSync } from 'node:fs';
import type { ExperimentResult } from '@flashstack/experiment';
import {
  HostError,
  type LoadedSpec,
  reasonOf,
  repeatable,
  resultText,
  writeResult,
  writeWhole,
} from '@flashstack/experiment/node';
import type { Ssd } from '@flashstack/ssd';
import { blockTraceFormat, withBlockTrace } from './block-trace-file.js';
import { renderComparison } from './comparison.js';
import { ExitCode } from './exit-code.js';
import { groupsOf } from './groups.js';
import { Interrupt, orNone } from './interrupt.js';
import { metricsTable } from './metrics-table.js';
import { parseWhole } from './option-flags.js';
import { loadRecorded, named, type Recorded } from './recorded.js';
import { UsageError } from './report-error.js';
import { type Run, type RunExtras, runSpec } from './run.js';
import type { Session } from './session.js';
import { renderSummary } from './summary.js';

/** Options of `run` and `replay` that are no keys of a spec. */
export interface ExperimentFlags {
  readonly json?: boolean;
  readonly verbose?: boolean;
  readonly out?: string;
  readonly html?: string;
  readonly seeds: string;
  readonly traceEvents?: string;
  readonly blockTrace?: string;
  readonly saveDrive?: string;
  readonly loadDrive?: string;
}

/** Runs a spec with one or several seeds, prints what came of it and writes the files asked for. Returns the exit code. */
export async function runExperimentCommand(
  load: () => Promise<LoadedSpec>,
  /** How files are called; default: as the spec. */
  nameOf: (loaded: LoadedSpec) => string,
  flags: ExperimentFlags,
  session: Session,
): Promise<number> {
  const interrupt = new Interrupt(session.host);
  try {
    const seeds = parseWhole('--seeds', flags.seeds, 1, 10_000);
    checkFiles(flags, seeds);
    const loaded = await load();
    const recorded = await loadRecorded(loaded, session, interrupt);
    const spec = named(loaded, recorded);
    const name = nameOf(spec);
    const runs: Run[] = [];
    const files: (readonly [string, string])[] = [];
    interrupt.throwIfRequested();
    for (let index = 0; index < seeds && !interrupt.requested; index++) {
      const seed = (spec.spec.seed ?? 1) + index;
      const one = { ...spec, spec: { ...spec.spec, seed } };
      const run = await runOne(one, recorded, flags, session, interrupt, files).catch(orNone(runs.length));
      if (run === null) break;
      runs.push(run);
      if (seeds > 1) session.note('seed', `${seed}: ${run.cost}`);
      if (flags.out !== undefined) {
        files.push(['result', writeResult(run.result, flags.out, seeds === 1 ? name : `${name}-seed${seed}`)]);
      }
    }
    const results = runs.map(({ result }) => result);
    await writeReport(results, runs.length < seeds, name, flags, files);
    show(runs, results, name, flags, files, session);
    return exitCode(runs, seeds);
  } finally {
    interrupt.release();
  }
}

async function runOne(
  loaded: LoadedSpec,
  recorded: Recorded | null,
  flags: ExperimentFlags,
  session: Session,
  interrupt: Interrupt,
  files: (readonly [string, string])[],
  extras: RunExtras = {},
): Promise<Run> {
  const { blockTrace, ...others } = flags;
  const { traceEvents: events, saveDrive, loadDrive } = flags;
  if (blockTrace !== undefined) {
    const run = await withBlockTrace(blockTrace, (taken) =>
      runOne(loaded, recorded, others, session, interrupt, files, { ...extras, blockTrace: taken }),
    );
    files.push(['requests', blockTrace]);
    return run;
  }
  if (events === undefined && saveDrive === undefined && loadDrive === undefined) {
    return await runSpec(loaded, recorded, session, interrupt, extras);
  }
  const { TimelineRecorder, traceEvents } = await import('@flashstack/report');
  let recorder: InstanceType<typeof TimelineRecorder> | null = null;
  const all: RunExtras = {
    ...extras,
    ...(events === undefined
      ? {}
      : {
          observe: (ssd: Ssd) => {
            recorder = new TimelineRecorder(ssd);
          },
        }),
    ...(saveDrive === undefined ? {} : { saveImage: (image: Uint8Array) => writeWhole(saveDrive, image) }),
    ...(loadDrive === undefined ? {} : { image: readImage(loadDrive) }),
  };
  const run = await runSpec(loaded, recorded, session, interrupt, all);
  if (saveDrive !== undefined) files.push(['drive', saveDrive]);
  if (events !== undefined && recorder !== null) {
    writeWhole(events, [...traceEvents(recorder)].join(''));
    files.push(['timeline', events]);
  }
  return run;
}

function readImage(path: string): Uint8Array {
  try {
    // A copy: the slices of a Buffer share its memory, those of an array do not.
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new UsageError(`--load-drive is "${path}": there is no such file.`, ['Make it by --save-drive.']);
    }
    throw new HostError(`${path}: ${reasonOf(error, 0)}.`);
  }
}

/** What can be said before anything is read or simulated. */
function checkFiles(flags: ExperimentFlags, seeds: number): void {
  for (const [flag, value] of [
    ['--out', flags.out],
    ['--html', flags.html],
    ['--trace-events', flags.traceEvents],
    ['--block-trace', flags.blockTrace],
    ['--save-drive', flags.saveDrive],
    ['--load-drive', flags.loadDrive],
  ] as const) {
    if (value === '')
      throw new UsageError(`${flag} is "", expected the name of a ${flag === '--out' ? 'folder' : 'file'}.`);
  }
  if (flags.blockTrace !== undefined) blockTraceFormat(flags.blockTrace);
  if (seeds === 1) return;
  for (const [flag, value] of [
    ['--trace-events', flags.traceEvents],
    ['--block-trace', flags.blockTrace],
    ['--save-drive', flags.saveDrive],
    ['--load-drive', flags.loadDrive],
  ] as const) {
    if (value !== undefined) throw new UsageError(`${flag} is of one run and cannot go with --seeds ${seeds}.`);
  }
}

/** With `--out` a report lies beside the results; `--html` says where it is to lie. */
async function writeReport(
  results: readonly ExperimentResult[],
  /** Seeds are missing. */
  few: boolean,
  name: string,
  { out, html }: ExperimentFlags,
  files: (readonly [string, string])[],
): Promise<void> {
  const partial = few || results.some((result) => result.partial !== null) ? '.partial' : '';
  const path = html ?? (out === undefined ? undefined : `${out.replace(/(?<=.)\/+$/, '')}/${name}${partial}.html`);
  if (path === undefined) return;
  const { renderReport } = await import('@flashstack/report');
  writeWhole(path, renderReport(results.map(repeatable)));
  files.unshift(['report', path]);
}

function show(
  runs: readonly Run[],
  results: readonly ExperimentResult[],
  name: string,
  { json, verbose }: ExperimentFlags,
  files: readonly (readonly [string, string])[],
  session: Session,
): void {
  const { style } = session;
  const [{ result, summary, cost }] = runs;
  if (json === true) {
    const texts = results.map((one) => resultText(one, true));
    session.print(texts.length === 1 ? texts[0] : `[\n${texts.map((text) => text.trimEnd()).join(',\n')}\n]\n`);
  } else if (runs.length === 1) {
    session.print(renderSummary({ ...summary, files }, style));
    if (verbose === true) session.print(metricsTable(result.metrics, style));
  } else {
    const groups = groupsOf(results.map((one) => ({ name, result: one })));
    session.print(renderComparison(groups, style));
    session.print(
      `\n${files.map(([what, path]) => `${style.tone('dim', what.padEnd(8))} ${style.tone('path', path)}\n`).join('')}`,
    );
  }
  if (runs.length === 1) session.note('cpu', cost);
}

function exitCode(runs: readonly Run[], wanted: number): number {
  if (runs.length < wanted || runs.some(({ summary }) => summary.interruptedNs !== null)) return ExitCode.interrupted;
  return runs.some(({ summary }) => summary.failed > 0) ? ExitCode.no : ExitCode.done;
}

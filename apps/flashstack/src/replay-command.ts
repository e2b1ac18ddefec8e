import { type DeviceSpec, resolveDevice } from '@flashstack/experiment';
import { InputError } from '@flashstack/sim';
import { type PreconditionState, presets } from '@flashstack/ssd';
import { ReplayError, ReplayErrorCode, type ReplayLoop, type Trace } from '@flashstack/workloads';
import { openTrace } from '@flashstack/workloads/node';
import { ExitCode } from './exit-code.js';
import { Interrupt } from './interrupt.js';
import {
  parseAddress,
  parseChoice,
  parseLoop,
  parsePositive,
  parseSettings,
  parseShare,
  parseSize,
  parseWhole,
} from './options.js';
import { UsageError } from './report-error.js';
import { writeWhole } from './result-file.js';
import { type Run, type RunRequest, runOnDevice } from './run.js';
import type { Session } from './session.js';
import { renderSummary } from './summary.js';
import { type Style, table } from './terminal.js';

/** Options of `flashstack replay`, as the command line gives them. */
export interface ReplayFlags {
  readonly device?: string;
  readonly format: string;
  readonly skipBadLines?: boolean;
  readonly loop: string;
  readonly timeScale: string;
  readonly address: string;
  readonly repeat: string;
  readonly precondition: string;
  readonly capacity?: string;
  readonly overProvisioning?: string;
  readonly set?: readonly string[];
  readonly seed: string;
  readonly scheduler?: string;
  readonly json?: boolean;
  readonly out?: string;
  readonly verbose?: boolean;
}

const schedulers = ['timeline', 'event'] as const;
const preconditions: readonly PreconditionState[] = ['none', 'fill', 'steady'];

/** `flashstack replay`: one trace on one drive. Returns the exit code. */
export async function runReplay(path: string, flags: ReplayFlags, session: Session): Promise<number> {
  const interrupt = new Interrupt(session.host);
  try {
    const request = requestFrom(flags);
    const trace = await loadTrace(path, flags, request.loop, session, interrupt);
    const run = await runOnDevice({ ...request, trace }, session, interrupt).catch((error: unknown) => {
      throw advised(path, error);
    });
    const files = flags.out === undefined ? [] : [saveResult(run, flags.out)];
    if (flags.json === true) session.print(`${JSON.stringify(run.result, null, 2)}\n`);
    else session.print(renderSummary({ ...run.summary, files }, session.style));
    if (flags.verbose === true && flags.json !== true) session.print(metricsTable(run, session.style));
    session.note('cpu', run.cost);
    return exitCode(run);
  } finally {
    interrupt.release();
  }
}

/** Checks every option before anything is read or simulated. */
function requestFrom(flags: ReplayFlags): Omit<RunRequest, 'trace'> {
  const { device: preset } = flags;
  if (preset === undefined) {
    const names = presets.map((known) => known.name).join(', ');
    throw new UsageError('--device is missing: which drive is to be simulated?', [`There are ${names}.`]);
  }
  const device: DeviceSpec = {
    preset,
    ...(flags.capacity === undefined ? {} : { capacityBytes: parseSize('--capacity', flags.capacity) }),
    ...(flags.overProvisioning === undefined
      ? {}
      : { overProvisioning: parseShare('--over-provisioning', flags.overProvisioning) }),
    overrides: parseSettings('--set', flags.set ?? []),
  };
  const scheduler = flags.scheduler === undefined ? undefined : parseChoice('--scheduler', flags.scheduler, schedulers);
  resolveDevice({ device });
  if (flags.out === '') throw new UsageError('--out is "", expected the name of a folder.');
  if (flags.loop !== 'open' && flags.timeScale !== '1') {
    throw new UsageError('--time-scale has no meaning with a closed loop, which ignores recorded times.', [
      'Add --loop open, or leave it out.',
    ]);
  }
  return {
    name: preset,
    device,
    scheduler,
    loop: parseLoop(flags.loop, parsePositive('--time-scale', flags.timeScale)),
    address: parseAddress(flags.address),
    repeat: parseWhole('--repeat', flags.repeat, 1),
    precondition: parseChoice('--precondition', flags.precondition, preconditions),
    seed: parseWhole('--seed', flags.seed, 0),
  };
}

async function loadTrace(
  path: string,
  flags: ReplayFlags,
  loop: ReplayLoop,
  session: Session,
  interrupt: Interrupt,
): Promise<Trace> {
  session.progress.start('read');
  const { trace, facts, evidence } = await openTrace(path, {
    format: flags.format,
    badLines: flags.skipBadLines === true ? 'skip' : 'fail',
    progress: (_, operations) => {
      interrupt.throwIfRequested();
      session.progress.update(operations, 0, ' requests');
    },
  });
  const { numbers } = session.errorStyle;
  const how = evidence === 'named' ? 'as named' : 'recognised';
  const size = `${numbers.counted(trace.length, 'request')}, ${numbers.simulated(trace.spanNs)}`;
  session.note('format', `${trace.format} (${facts}), ${how}; ${size}`);
  if (trace.badLines > 0)
    session.warn(`${numbers.counted(trace.badLines, 'line')} skipped; the first: ${trace.firstBadLine}`);
  if (trace.zeroLength > 0) session.warn(`${numbers.counted(trace.zeroLength, 'request')} of length zero left out`);
  if (loop.kind === 'closed' || trace.outOfOrder === 0) return trace;
  session.note(
    'order',
    `${numbers.count(trace.outOfOrder)} requests are older than the one above them: sorted by time`,
  );
  return trace.sortedByTime();
}

/** The error with the options that help, where they go by other names than in it. */
function advised(path: string, error: unknown): unknown {
  if (error instanceof ReplayError) return inFile(path, error);
  if (!(error instanceof InputError) || error.code !== 'ERR_FTL_OVERPROVISIONING') return error;
  return new UsageError(error.message, ['Choose a larger --capacity or --over-provisioning.']);
}

/** What the trace and the drive cannot agree on, with the file's name and the option that helps. */
function inFile(path: string, error: ReplayError): UsageError {
  const [what, ...rest] = error.message.split('. ');
  const beyond = error.code === ReplayErrorCode.beyondDevice;
  const help = beyond ? ['Choose how to map addresses: --address wrap | compact | scale.'] : rest;
  return new UsageError(`${path}: ${what}.`, help);
}

function saveResult(run: Run, folder: string): readonly [string, string] {
  const suffix = run.summary.interruptedNs === null ? '' : '.partial';
  const path = `${folder.replace(/\/+$/, '')}/${run.summary.workload}${suffix}.json`;
  writeWhole(path, `${JSON.stringify(run.result, null, 2)}\n`);
  return ['result', path];
}

function metricsTable(run: Run, style: Style): string {
  const { numbers } = style;
  // CPU time and memory differ from run to run; they are in the file and on stderr.
  const names = Object.keys(run.metrics).filter((name) => !name.startsWith('run.'));
  const rows = names.map((name) => {
    const value = run.metrics[name];
    return [`  ${name}`, Number.isInteger(value) ? numbers.count(value) : numbers.short(value)];
  });
  return `\n${table(rows, 'lr').join('\n')}\n`;
}

function exitCode(run: Run): number {
  if (run.summary.interruptedNs !== null) return ExitCode.interrupted;
  return run.summary.failed > 0 ? ExitCode.no : ExitCode.done;
}

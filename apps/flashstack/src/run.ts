import {
  type ExperimentProgress,
  type ExperimentResult,
  type ExperimentSpec,
  runExperiment,
  traceReading,
} from '@flashstack/experiment';
import { HostError, type LoadedSpec } from '@flashstack/experiment/node';
import { InputError } from '@flashstack/sim';
import type { PreconditionState, Ssd } from '@flashstack/ssd';
import { ReplayError, ReplayErrorCode, type Trace } from '@flashstack/workloads';
import { openTrace } from '@flashstack/workloads/node';
import { type Interrupt, InterruptedError } from './interrupt.js';
import { leastCapacity } from './least-capacity.js';
import { UsageError } from './report-error.js';
import type { Session } from './session.js';
import type { Summary } from './summary.js';
import { summaryOf } from './summary-of.js';

/** What came of one run. */
export interface Run {
  /** The result, with the metrics that tell of the machine. */
  readonly result: ExperimentResult;
  readonly summary: Summary;
  /** CPU time, rate and memory, for stderr. */
  readonly cost: string;
}

/** What a run takes and gives besides its result. */
export interface RunExtras {
  readonly observe?: (ssd: Ssd) => void;
  readonly image?: Uint8Array;
  readonly saveImage?: (image: Uint8Array) => void;
}

const states: Readonly<Record<PreconditionState, string>> = {
  none: 'empty drive',
  fill: 'every block written once',
  steady: 'steady state',
};

/** Runs a spec, with progress; after Ctrl-C what there is comes back as a partial result. */
export async function runSpec(
  loaded: LoadedSpec,
  trace: Trace | null,
  session: Session,
  interrupt: Interrupt,
  extras: RunExtras = {},
): Promise<Run> {
  const { host, progress } = session;
  const { spec, extensions } = loaded;
  const { precondition = 'none' } = spec;
  const label = trace === null ? 'run' : 'replay';
  const phase = async (now: ExperimentProgress): Promise<void> => {
    if (now.phase === 'prepare') {
      progress.start('prepare');
      progress.announce(states[precondition]);
      // Twice: signals are looked at between two turns, and one that came while the drive was built must not be lost.
      await interrupt.yield();
      await interrupt.yield();
      interrupt.throwIfRequested();
      // Filling a drive is one long step that no handler could break, and nothing in it is worth keeping.
      interrupt.release();
      return;
    }
    interrupt.watch();
    if (progress.phase !== label) progress.start(label);
    progress.update(now.requests, now.of);
    await interrupt.yield();
  };
  const environment = {
    ...(trace === null ? {} : { source: trace.source() }),
    extensions,
    clock: host,
    versions: { flashstack: session.version },
    progress: phase,
    cancelled: () => interrupt.requested,
    ...extras,
  };
  const result = await runExperiment(spec, environment).catch((error: unknown) => {
    throw advised(loaded, error);
  });
  progress.clear();
  if (precondition !== 'none') session.note('prepare', preparation(precondition, result, session));
  return { result, summary: summaryOf(result), cost: costOf(result, session) };
}

/** Reads the trace of a spec and says on stderr what was found; null for a synthetic workload. */
export async function loadTrace(loaded: LoadedSpec, session: Session, interrupt: Interrupt): Promise<Trace | null> {
  const { trace: request, spec } = loaded;
  if (request === null) return null;
  session.progress.start('read');
  const { trace, facts, evidence } = await openTrace(request.path, {
    ...traceReading(request.options),
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
  if ((spec.loop?.kind ?? 'closed') === 'closed' || trace.outOfOrder === 0) return trace;
  session.note(
    'order',
    `${numbers.count(trace.outOfOrder)} requests are older than the one above them: sorted by time`,
  );
  return trace.sortedByTime();
}

/** The spec with the name of its trace as reports show it. */
export function named(loaded: LoadedSpec, trace: Trace | null): LoadedSpec {
  if (trace === null || !('name' in loaded.spec.workload)) return loaded;
  const workload: ExperimentSpec['workload'] = { ...loaded.spec.workload, name: trace.name };
  return { ...loaded, spec: { ...loaded.spec, workload } };
}

function preparation(state: PreconditionState, result: ExperimentResult, session: Session): string {
  const seconds = session.errorStyle.numbers.duration(result.metrics['run.prepareCpuSeconds']);
  return `${states[state]}, ${result.preconditioned}, ${seconds} of CPU`;
}

function costOf({ metrics }: ExperimentResult, session: Session): string {
  const { numbers } = session.errorStyle;
  const seconds = numbers.duration(metrics['run.cpuSeconds']);
  const rate = numbers.scaled(metrics['run.requestsPerCpuSecond']);
  return `${seconds} of CPU, ${rate} requests/s of CPU, ${numbers.bytes(metrics['run.maxRssBytes'])} of memory`;
}

/** The error with the options that help, where they go by other names than in it. */
function advised(loaded: LoadedSpec, error: unknown): unknown {
  if (error instanceof ReplayError) return inFile(loaded.trace?.path ?? 'workload', error);
  if (!(error instanceof InputError)) return ofModules(loaded, error);
  if (error.code !== 'ERR_FTL_OVERPROVISIONING') return error;
  const { device } = loaded.spec;
  const least = leastCapacity(typeof device === 'string' ? { preset: device } : device, loaded.extensions);
  const hints = ['Choose a larger --capacity or --over-provisioning.'];
  if (least !== null)
    hints.unshift(`The least capacity of this drive with this over-provisioning is ${least / 2 ** 20} MiB.`);
  return new UsageError(error.message, hints);
}

/** What went wrong in a run in which modules of the user's own took part: they are to be looked at first. */
function ofModules({ extensions }: LoadedSpec, error: unknown): unknown {
  const paths = extensions.modules.map(({ path }) => path);
  if (paths.length === 0 || error instanceof HostError || error instanceof InterruptedError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const failure = new UsageError(`the run failed: ${message}`, [
    `Modules of your own took part: look at ${paths.join(', ')} first. --debug shows where it happened.`,
  ]);
  if (error instanceof Error && error.stack !== undefined) failure.stack = error.stack;
  return failure;
}

/** What the workload and the drive cannot agree on, with the file's name and the option that helps. */
function inFile(path: string, error: ReplayError): UsageError {
  const [what, ...rest] = error.message.split('. ');
  const beyond = error.code === ReplayErrorCode.beyondDevice;
  const help = beyond ? ['Choose how to map addresses: --address wrap | compact | scale.'] : rest;
  return new UsageError(`${path}: ${what}.`, help);
}

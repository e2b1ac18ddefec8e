import {
  type ExperimentEnvironment,
  type ExperimentProgress,
  type ExperimentResult,
  runExperiment,
} from '@flashstack/experiment';
import { HostError, type LoadedSpec } from '@flashstack/experiment/node';
import { InputError } from '@flashstack/sim';
import type { PreconditionState, Ssd } from '@flashstack/ssd';
import { ReplayError, ReplayErrorCode } from '@flashstack/workloads';
import { type Interrupt, InterruptedError } from './interrupt.js';
import { leastCapacity } from './least-capacity.js';
import { isCalls, type Recorded } from './recorded.js';
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
  readonly blockTrace?: NonNullable<ExperimentEnvironment['blockTrace']>;
}

const states: Readonly<Record<PreconditionState, string>> = {
  none: 'empty drive',
  fill: 'every block written once',
  steady: 'steady state',
};

/** Runs a spec, with progress; after Ctrl-C what there is comes back as a partial result. */
export async function runSpec(
  loaded: LoadedSpec,
  recorded: Recorded | null,
  session: Session,
  interrupt: Interrupt,
  extras: RunExtras = {},
): Promise<Run> {
  const { host, progress } = session;
  const { spec, extensions } = loaded;
  const { precondition = 'none' } = spec;
  const label = recorded === null ? 'run' : 'replay';
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
    ...(recorded === null ? {} : isCalls(recorded) ? { calls: recorded } : { source: recorded.source() }),
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

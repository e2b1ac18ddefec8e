import {
  type DeviceSpec,
  type ExperimentProgress,
  type ExperimentResult,
  type ExperimentSpec,
  runExperiment,
} from '@flashstack/experiment';
import type { PreconditionState } from '@flashstack/ssd';
import type { AddressPolicy, ReplayLoop, Trace } from '@flashstack/workloads';
import type { Interrupt } from './interrupt.js';
import type { Session } from './session.js';
import type { Summary } from './summary.js';
import { summaryOf } from './summary-of.js';

/** One run: a trace on a drive. */
export interface RunRequest {
  readonly trace: Trace;
  /** Name of the drive, for the summary. */
  readonly name: string;
  readonly device: DeviceSpec;
  /** Undefined: as the preset says. */
  readonly scheduler: 'timeline' | 'event' | undefined;
  readonly loop: ReplayLoop;
  readonly address: AddressPolicy;
  readonly repeat: number;
  readonly precondition: PreconditionState;
  readonly seed: number;
}

/** What came of it. */
export interface Run {
  /** The result as it goes into a file. */
  readonly result: ExperimentResult;
  readonly metrics: Readonly<Record<string, number>>;
  readonly summary: Summary;
  /** CPU time, rate and memory, for stderr. */
  readonly cost: string;
}

const states: Readonly<Record<PreconditionState, string>> = {
  none: 'empty drive',
  fill: 'every block written once',
  steady: 'steady state',
};

/** Runs one trace on one drive, with progress; after Ctrl-C what there is comes back as a partial result. */
export async function runOnDevice(request: RunRequest, session: Session, interrupt: Interrupt): Promise<Run> {
  const { host, progress } = session;
  const phase = async (now: ExperimentProgress): Promise<void> => {
    if (now.phase === 'prepare') {
      progress.start('prepare');
      progress.announce(states[request.precondition]);
      // Twice: signals are looked at between two turns, and one that came while the drive was built must not be lost.
      await interrupt.yield();
      await interrupt.yield();
      interrupt.throwIfRequested();
      // Filling a drive is one long step that no handler could break, and nothing in it is worth keeping.
      interrupt.release();
      return;
    }
    interrupt.watch();
    if (progress.phase !== 'replay') progress.start('replay');
    progress.update(now.requests, now.of);
    await interrupt.yield();
  };
  const result = await runExperiment(specOf(request), {
    source: request.trace.source(),
    clock: host,
    versions: { flashstack: session.version },
    progress: phase,
    cancelled: () => interrupt.requested,
  });
  progress.clear();
  if (request.precondition !== 'none') session.note('prepare', preparation(request, result, session));
  return { result, metrics: result.metrics, summary: summaryOf(result, request.name), cost: costOf(result, session) };
}

function specOf(request: RunRequest): ExperimentSpec {
  const { trace, device, scheduler, loop, address, repeat, precondition, seed } = request;
  return {
    device,
    workload: { kind: 'given', name: trace.name },
    ...(scheduler === undefined ? {} : { scheduler }),
    loop,
    address,
    repeat,
    precondition,
    seed,
  };
}

function preparation(request: RunRequest, result: ExperimentResult, session: Session): string {
  const seconds = session.errorStyle.numbers.duration(result.metrics['run.prepareCpuSeconds']);
  return `${states[request.precondition]}, ${result.preconditioned}, ${seconds} of CPU`;
}

function costOf({ metrics }: ExperimentResult, session: Session): string {
  const { numbers } = session.errorStyle;
  const seconds = numbers.duration(metrics['run.cpuSeconds']);
  const rate = numbers.scaled(metrics['run.requestsPerCpuSecond']);
  return `${seconds} of CPU, ${rate} requests/s of CPU, ${numbers.bytes(metrics['run.maxRssBytes'])} of memory`;
}

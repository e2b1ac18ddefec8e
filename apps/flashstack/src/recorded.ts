import { type ExperimentSpec, type RecordedCalls, type TraceRequest, traceReading } from '@flashstack/experiment';
import type { LoadedSpec } from '@flashstack/experiment/node';
import { type Trace, traceName } from '@flashstack/workloads';
import { openListing, openStrace, openTrace } from '@flashstack/workloads/node';
import type { Interrupt } from './interrupt.js';
import type { Session } from './session.js';

/** A recorded workload in memory: requests to a drive, or system calls. */
export type Recorded = Trace | RecordedCalls;

/** Reads what a spec asks for and says on stderr what was found; null for a workload that is made. */
export async function loadRecorded(
  loaded: LoadedSpec,
  session: Session,
  interrupt: Interrupt,
): Promise<Recorded | null> {
  const { trace: request, spec } = loaded;
  if (request === null) return null;
  session.progress.start('read');
  return spec.workload.kind === 'strace'
    ? await loadCalls(request.path, request.options, session)
    : await loadTrace(request, spec, session, interrupt);
}

/** True for system calls. */
export function isCalls(recorded: Recorded): recorded is RecordedCalls {
  return 'calls' in recorded;
}

/** The spec with the name of its trace as reports show it. */
export function named(loaded: LoadedSpec, recorded: Recorded | null): LoadedSpec {
  if (recorded === null || !('name' in loaded.spec.workload)) return loaded;
  const name = isCalls(recorded) ? traceName(recorded.calls.file) : recorded.name;
  const workload = { ...loaded.spec.workload, name } as ExperimentSpec['workload'];
  return { ...loaded, spec: { ...loaded.spec, workload } };
}

async function loadCalls(
  path: string,
  options: Readonly<Record<string, unknown>>,
  session: Session,
): Promise<RecordedCalls> {
  const { badLines, listing } = options as { badLines?: 'fail' | 'skip'; listing?: string };
  const calls = await openStrace(path, badLines === undefined ? {} : { badLines });
  const { numbers } = session.errorStyle;
  const size = `${numbers.counted(calls.calls.length, 'call')}, ${numbers.counted(calls.threads, 'thread')}`;
  session.note('format', `strace${calls.timed ? '' : ', without times'}; ${size}`);
  if (calls.unfinished > 0) {
    session.warn(`${numbers.counted(calls.unfinished, 'call')} left out, whose end is not in the trace`);
  }
  if (calls.badLines > 0) {
    session.warn(`${numbers.counted(calls.badLines, 'line')} skipped; the first: ${calls.firstBadLine}`);
  }
  return { calls, tree: listing === undefined ? [] : await openListing(listing) };
}

async function loadTrace(
  request: TraceRequest,
  spec: ExperimentSpec,
  session: Session,
  interrupt: Interrupt,
): Promise<Trace> {
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

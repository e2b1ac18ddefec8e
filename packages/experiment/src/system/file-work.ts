import {
  InputError,
  lookupStrategy,
  mix32,
  nearestName,
  type ParameterValues,
  resolveParameters,
} from '@flashstack/sim';
import {
  type FileWorkloadFactory,
  fileJobsOf,
  SystemReplay,
  type SystemReplayOptions,
  type SystemTrace,
  type TreeEntry,
} from '@flashstack/workloads';
import type { Extensions } from '../extensions.js';
import type { FileJobsSpec, ResolvedWorkload, StraceSpec, WorkloadSpec } from '../spec.js';

/** Recorded system calls, and what was there before them. */
export interface RecordedCalls {
  readonly calls: SystemTrace;
  /** Files and directories below the root, as `parseListing` reads them. */
  readonly tree: readonly TreeEntry[];
}

/** A workload on files, checked: what a spec holds of it, and what makes it. */
export interface FileWork {
  readonly resolved: ResolvedWorkload;
  readonly create: FileWorkloadFactory;
}

/** The workload of a stack with an operating system. @throws InputError for one of requests to a drive, and for impossible parameters. */
export function fileWork(workload: WorkloadSpec, recorded: RecordedCalls | null, extensions: Extensions): FileWork {
  if (!isMap(workload) || typeof workload.kind !== 'string') {
    throw new InputError('ERR_SPEC_VALUE', 'workload: expected an object with kind, a text.', 'workload');
  }
  if (workload.kind === 'strace') return recordedWork(workload as StraceSpec, recorded);
  if (workload.kind === 'given' || isOf(extensions.workloads, workload.kind)) {
    const known = [...extensions.fileWorkloads.map(({ name }) => name), 'strace'].join(', ');
    throw new InputError(
      'ERR_SPEC_VALUE',
      `workload ${workload.kind} asks the drive itself, but the spec has a system, and programs on it work on files. ` +
        `Choose one of ${known}, or leave system out.`,
      'workload',
    );
  }
  const kind = lookupStrategy(extensions.fileWorkloads, workload.kind, 'workload');
  const { parameters = {}, jobs } = workload as FileJobsSpec;
  const unknown = Object.keys(workload).find((key) => !['kind', 'parameters', 'jobs'].includes(key));
  if (unknown !== undefined || (jobs !== undefined && kind.name !== 'file-jobs')) {
    const key = unknown ?? 'jobs';
    const meant = nearestName(key, ['kind', 'parameters']);
    const hint = meant === null ? '' : ` Did you mean ${meant}?`;
    throw new InputError('ERR_UNKNOWN_NAME', `unknown key workload.${key}.${hint}`, `workload.${key}`);
  }
  if (!isMap(parameters)) throw notAMap('workload.parameters', parameters);
  if (jobs === undefined) {
    const values = resolveParameters(kind, parameters);
    return { resolved: { kind: kind.name, parameters: values }, create: kind.create(values) };
  }
  if (!Array.isArray(jobs)) {
    const found = JSON.stringify(jobs);
    throw new InputError(
      'ERR_SPEC_VALUE',
      `workload.jobs: found ${found}, expected a list of objects.`,
      'workload.jobs',
    );
  }
  const all = jobs.map((job: unknown, at): ParameterValues => {
    if (!isMap(job)) throw notAMap(`workload.jobs.${at}`, job);
    return resolveParameters(kind, { ...parameters, ...job });
  });
  return { resolved: { kind: kind.name, parameters: {}, jobs: all }, create: fileJobsOf(all) };
}

function recordedWork({ name, parameters }: StraceSpec, recorded: RecordedCalls | null): FileWork {
  if (recorded === null) {
    const what = 'workload.kind is "strace", but the environment gives no calls';
    throw new InputError('ERR_SPEC_SOURCE', what, 'workload');
  }
  const { calls, tree } = recorded;
  const options: SystemReplayOptions = { missing: 'make', ...parameters };
  return {
    resolved: {
      kind: 'strace',
      name,
      parameters: { ...options } as ParameterValues,
      requests: calls.calls.length,
      digest: digestOf(recorded),
    },
    create: (simulator, host) => new SystemReplay(simulator, host, calls, options, tree),
  };
}

/** 64 bits that tell whether two traces hold the same calls in the same order and begin with the same files. */
function digestOf({ calls: { calls, order }, tree }: RecordedCalls): string {
  let a = 0;
  let b = 0x9e37_79b9;
  const number = (value: number): void => {
    a = mix32(a ^ value);
    b = mix32(Math.imul(b, 31) + Math.floor(value / 0x1_0000_0000) + a);
  };
  const text = (value: string): void => {
    let hash = value.length;
    for (let at = 0; at < value.length; at++) hash = Math.imul(hash ^ value.charCodeAt(at), 0x0100_0193);
    number(hash);
  };
  for (const call of calls) {
    text(call.name);
    text(call.error);
    for (const argument of call.arguments) text(argument);
    // Of a call whose result the trace does not tell it is NaN.
    for (const value of [call.pid, Number.isNaN(call.result) ? -0.5 : call.result, call.startNs, call.endNs])
      number(value);
  }
  for (const event of order) number(event);
  for (const { kind, size, path } of tree) {
    text(kind);
    text(path);
    number(size);
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0');
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notAMap(key: string, value: unknown): InputError {
  return new InputError('ERR_SPEC_VALUE', `${key}: found ${JSON.stringify(value)}, expected an object.`, key);
}

function isOf(kinds: readonly { readonly name: string }[], name: string): boolean {
  return kinds.some((kind) => kind.name === name);
}

import { InputError, nearestName, type Parameter } from '@flashstack/sim';
import { badValue, isMap, leaf, readMap, type Tree, unknownKey } from './document-parts.js';
import type { Extensions } from './extensions.js';
import { parameterOption } from './options/parameter-option.js';
import { traceOptions } from './options/run-options.js';
import { callTraceOptions } from './options/system-options.js';
import type { FileJobsSpec, StraceSpec, WorkloadSpec } from './spec.js';
import { SpecError, type SpecPath } from './spec-problem.js';
import { fileWork } from './system/file-work.js';

/** A recorded workload that a spec asks for. */
export interface TraceRequest {
  /** As written: relative to the spec. */
  readonly path: string;
  /** The other keys of the workload, checked: `format`, `badLines` and so on. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** A workload of a document. */
interface ReadWorkload {
  readonly workload: WorkloadSpec;
  readonly trace: TraceRequest | null;
}

type Parameters = Record<string, number | string | boolean>;
type Named = readonly { readonly name: string }[];

/** The workload of a spec without a system: requests to the drive. @throws SpecError */
export function readRequests(value: unknown, { workloads, fileWorkloads }: Extensions): ReadWorkload {
  const names = namesOf(workloads);
  if (value === undefined) {
    throw new SpecError('ERR_SPEC_VALUE', 'workload is missing: what is to be asked of the drive?', {
      path: [],
      hints: [`Give a trace file, or one of ${names.join(', ')}.`],
    });
  }
  if (typeof value === 'string') {
    if (names.includes(value)) return { workload: { kind: value }, trace: null };
    // A path has a folder or an extension; a bare word is a mistyped name.
    if (/[/\\.]/.test(value)) return traceOf(value, {});
    throw unknownWorkload(['workload'], value, names, onFiles(value, fileWorkloads));
  }
  if (!isMap(value)) throw badValue(['workload'], value, 'a name, a trace file, or a map with kind or trace');
  if (value.trace !== undefined) {
    const { trace, ...options } = readMap(['workload'], value, traceOptions);
    checkPattern(options);
    return traceOf(trace as string, options);
  }
  const { kind: name, ...given } = value;
  if (name === undefined) throw badValue(['workload'], value, 'a map with kind or trace');
  if (typeof name !== 'string') throw badValue(['workload', 'kind'], name, `one of ${names.join(', ')}`);
  const kind = workloads.find((candidate) => candidate.name === name);
  if (kind === undefined) throw unknownWorkload(['workload', 'kind'], name, names, onFiles(name, fileWorkloads));
  return {
    workload: { kind: name, parameters: readParameters(['workload'], kind.parameters, given, ['kind']) },
    trace: null,
  };
}

/** The workload of a spec with a system: programs that work on files. @throws SpecError */
export function readPrograms(value: unknown, extensions: Extensions): ReadWorkload {
  const { fileWorkloads, workloads } = extensions;
  const names = namesOf(fileWorkloads);
  if (value === undefined) {
    throw new SpecError('ERR_SPEC_VALUE', 'workload is missing: what do the programs do?', {
      path: [],
      hints: [`Give a trace of strace with its root, or one of ${names.join(', ')}.`],
    });
  }
  const map = typeof value === 'string' ? (/[/\\.]/.test(value) ? { trace: value } : { kind: value }) : value;
  if (!isMap(map)) throw badValue(['workload'], value, 'a name, or a map with kind or trace');
  if (map.trace !== undefined) return callsOf(map);
  const { kind: name, jobs, ...given } = map;
  if (name === undefined) throw badValue(['workload'], value, 'a map with kind or trace');
  const path: SpecPath = typeof value === 'string' ? ['workload'] : ['workload', 'kind'];
  if (typeof name !== 'string') throw badValue(path, name, `one of ${names.join(', ')}`);
  const kind = fileWorkloads.find((candidate) => candidate.name === name);
  if (kind === undefined) throw unknownWorkload(path, name, names, onDrive(name, workloads));
  const several = name === 'file-jobs' ? ['kind', 'jobs'] : ['kind'];
  if (jobs !== undefined && several.length === 1)
    throw unknownKey(['workload', 'jobs'], [...namesOf(kind.parameters), 'kind']);
  const parameters = readParameters(['workload'], kind.parameters, given, several);
  const workload: FileJobsSpec = {
    kind: name,
    parameters,
    ...(jobs === undefined ? {} : { jobs: readJobs(jobs, kind.parameters) }),
  };
  checkTogether(workload, extensions);
  return { workload, trace: null };
}

function readJobs(value: unknown, table: readonly Parameter[]): readonly Parameters[] {
  if (!Array.isArray(value) || value.length === 0)
    throw badValue(['workload', 'jobs'], value, 'a list of maps, one a job');
  return value.map((job: unknown, at) => {
    if (!isMap(job)) throw badValue(['workload', 'jobs', at], job, 'a map with the keys of a job');
    return readParameters(['workload', 'jobs', at], table, job, []);
  });
}

/** What only holds between parameters, such as that a file is at least as large as a request. */
function checkTogether(workload: FileJobsSpec, extensions: Extensions): void {
  try {
    fileWork(workload, null, extensions);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { key } = error;
    const path =
      workload.parameters !== undefined && Object.hasOwn(workload.parameters, key) ? ['workload', key] : ['workload'];
    throw new SpecError(error.code, `workload: ${error.message}.`.replace(/\.\.$/, '.'), { path });
  }
}

/** A trace of system calls with how it is replayed. */
function callsOf(map: Tree): ReadWorkload {
  const { trace, listing, badLines, ...parameters } = readMap(['workload'], map, callTraceOptions);
  if (parameters.root === undefined) {
    throw new SpecError('ERR_SPEC_VALUE', 'workload.root is missing: which files of the traced machine are replayed?', {
      path: ['workload'],
      hints: ['Give the directory that holds them, such as root: /mnt/bench; calls on others are left out.'],
    });
  }
  for (const key of ['root', 'directory']) {
    const path = parameters[key];
    if (path === undefined || (path as string).startsWith('/')) continue;
    throw badValue(['workload', key], path, 'an absolute path of the traced machine');
  }
  const name = trace as string;
  const workload: StraceSpec = { kind: 'strace', name, parameters: parameters as unknown as StraceSpec['parameters'] };
  const options = { ...(listing === undefined ? {} : { listing }), ...(badLines === undefined ? {} : { badLines }) };
  return { workload, trace: { path: name, options } };
}

/** Keys of a line format of one's own mean nothing with another format. */
function checkPattern(options: Tree): void {
  const own = ['pattern', 'ignore', 'timeUnit', 'offsetUnitBytes', 'lengthUnitBytes', 'readWords', 'writeWords'];
  const foreign = [...own, 'flushWords', 'discardWords'].find((key) => options[key] !== undefined);
  if (options.format === 'pattern' && options.pattern === undefined) {
    throw new SpecError(
      'ERR_SPEC_VALUE',
      'workload.pattern is missing: format pattern is a regular expression of yours.',
      {
        path: ['workload', 'format'],
      },
    );
  }
  if (options.format === 'pattern' || foreign === undefined) return;
  throw new SpecError('ERR_SPEC_VALUE', `workload.${foreign} has no meaning without format: pattern.`, {
    path: ['workload', foreign],
    target: 'key',
  });
}

function traceOf(path: string, options: Readonly<Record<string, unknown>>): ReadWorkload {
  return { workload: { kind: 'given', name: path, reading: options }, trace: { path, options } };
}

function unknownWorkload(path: SpecPath, name: string, names: readonly string[], hint: string): SpecError {
  return new SpecError('ERR_UNKNOWN_NAME', `unknown workload "${name}".`, {
    path,
    meant: hint === '' ? (nearestName(name, names) ?? '') : '',
    hints: [
      ...(hint === '' ? [] : [hint]),
      `Known: ${names.join(', ')}; the file of a trace has a folder or an extension in its name.`,
    ],
  });
}

function onFiles(name: string, kinds: Named): string {
  return isOf(kinds, name) ? 'It works on files: add a system, such as system: { fileSystem: memfs }.' : '';
}

function onDrive(name: string, kinds: Named): string {
  return isOf(kinds, name) ? 'It asks the drive itself, and programs on a system work on files: leave system out.' : '';
}

function isOf(kinds: Named, name: string): boolean {
  return kinds.some((kind) => kind.name === name);
}

function namesOf(kinds: Named): readonly string[] {
  return kinds.map(({ name }) => name);
}

/** Parameters of a workload, which may be written with units; its own table checks the ranges. */
function readParameters(
  section: SpecPath,
  table: readonly Parameter[],
  given: Tree,
  others: readonly string[],
): Parameters {
  const values: Parameters = {};
  for (const [key, value] of Object.entries(given)) {
    const path = [...section, key];
    const parameter = table.find(({ name }) => name === key);
    if (parameter === undefined) throw unknownKey(path, [...others, ...namesOf(table)]);
    values[key] = leaf(path, parameterOption(parameter), value) as number | string | boolean;
  }
  return values;
}

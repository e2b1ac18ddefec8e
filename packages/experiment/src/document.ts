import { InputError, nearestName, type Parameter } from '@flashstack/sim';
import { linkNames, linkOf, type PreconditionState } from '@flashstack/ssd';
import type { AddressPolicy } from '@flashstack/workloads';
import { setElsewhere } from './drive-overrides.js';
import type { Extensions } from './extensions.js';
import { driveOptions, nullableSections } from './options/drive-options.js';
import { type Option, type OptionTable, parseOption, shown } from './options/option.js';
import { parameterOption } from './options/parameter-option.js';
import { deviceOptions, runOptions, traceOptions } from './options/run-options.js';
import type { LoopChoice, Warmup } from './options/run-values.js';
import type { DeviceSpec, ExperimentSpec, WorkloadSpec } from './spec.js';
import { SpecError, type SpecPath } from './spec-problem.js';

/** A recorded workload that a spec asks for. */
export interface TraceRequest {
  /** As written: relative to the spec. */
  readonly path: string;
  /** The other keys of the workload, checked: `format`, `badLines` and so on. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** What a spec document means. */
export interface ReadDocument {
  readonly spec: ExperimentSpec;
  /** The trace to be read, or null for a synthetic workload. */
  readonly trace: TraceRequest | null;
}

type Tree = Readonly<Record<string, unknown>>;

/** Names of the modules that a spec document asks for. @throws SpecError. */
export function modulesOf(document: unknown): readonly string[] {
  if (!isMap(document) || document.modules === undefined) return [];
  return leaf(['modules'], runOptions.get('modules') as Option, document.modules) as readonly string[];
}

/**
 * Reads a spec as people write it: units, short forms, sections that override single values of the preset.
 * @throws SpecError at the first key that is unknown, missing or has an impossible value.
 */
export function readDocument(document: unknown, extensions: Extensions): ReadDocument {
  if (!isMap(document)) {
    throw new SpecError('ERR_SPEC_VALUE', `a spec is a map with device and workload, found ${shown(document)}.`, {
      path: [],
    });
  }
  const drive = driveOptions(extensions);
  const sections = new Set([...drive.keys()].map((path) => path.split('.')[0]));
  const known = ['device', 'workload', ...runOptions.keys(), ...sections];
  for (const key of Object.keys(document)) if (!known.includes(key)) throw unknownKey([key], known);
  const values = new Map<string, unknown>();
  for (const [key, option] of runOptions) {
    if (document[key] !== undefined) values.set(key, leaf([key], option, document[key]));
  }
  const overrides: Record<string, unknown> = {};
  for (const section of sections) {
    if (document[section] !== undefined) readDrive([section], document[section], drive, overrides);
  }
  const { workload, trace } = readWorkload(document.workload, extensions);
  const device = { ...readDevice(document.device, extensions), overrides };
  const run = runOf(values);
  return { spec: { device, workload, ...run }, trace };
}

function runOf(values: ReadonlyMap<string, unknown>): Partial<ExperimentSpec> {
  const loop = values.get('loop') as LoopChoice | undefined;
  for (const key of ['timeScale', 'maxInFlight']) {
    if (values.has(key) && (loop === undefined || loop.kind === 'closed')) {
      throw new SpecError('ERR_SPEC_VALUE', `${key} has no meaning with a closed loop.`, {
        path: [key],
        target: 'key',
        hints: ['Add "loop: open" or "loop: think", or leave it out.'],
      });
    }
  }
  const openOptions = {
    ...(values.has('timeScale') ? { timeScale: values.get('timeScale') as number } : {}),
    ...(values.has('maxInFlight') ? { maxInFlight: values.get('maxInFlight') as number } : {}),
  };
  return {
    ...(values.has('seed') ? { seed: values.get('seed') as number } : {}),
    ...(values.has('precondition') ? { precondition: values.get('precondition') as PreconditionState } : {}),
    ...(values.has('address') ? { address: values.get('address') as AddressPolicy } : {}),
    ...(values.has('repeat') ? { repeat: values.get('repeat') as number } : {}),
    ...(values.has('verify') ? { verify: values.get('verify') as boolean } : {}),
    ...(values.has('warmup') ? { warmup: values.get('warmup') as Warmup | null } : {}),
    ...(loop === undefined ? {} : { loop: loop.kind === 'closed' ? loop : { ...loop, ...openOptions } }),
  };
}

function readDevice(value: unknown, { presets }: Extensions): DeviceSpec {
  const names = presets.map(({ name }) => name);
  if (value === undefined) {
    throw new SpecError('ERR_SPEC_VALUE', 'device is missing: which drive is to be simulated?', {
      path: [],
      hints: [`There are ${names.join(', ')}.`],
    });
  }
  const map = typeof value === 'string' ? { preset: value } : value;
  if (!isMap(map)) throw badValue(['device'], value, 'the name of a drive, or a map with preset');
  const read = readMap(['device'], map, deviceOptions);
  const preset = read.preset as string | undefined;
  if (preset === undefined) throw badValue(['device'], value, 'a map with preset, the name of a drive');
  if (!names.includes(preset)) {
    const meant = nearestName(preset, names) ?? '';
    throw new SpecError('ERR_UNKNOWN_NAME', `unknown device preset "${preset}".`, {
      path: typeof value === 'string' ? ['device'] : ['device', 'preset'],
      meant,
      hints: [`Known: ${names.join(', ')}.`],
    });
  }
  return {
    preset,
    ...(read.capacity === undefined ? {} : { capacityBytes: read.capacity as number }),
    ...(read.overProvisioning === undefined ? {} : { overProvisioning: read.overProvisioning as number }),
  };
}

function readWorkload(
  value: unknown,
  { workloads }: Extensions,
): { workload: WorkloadSpec; trace: TraceRequest | null } {
  const names = workloads.map(({ name }) => name);
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
    throw unknownWorkload(['workload'], value, names);
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
  if (kind === undefined) throw unknownWorkload(['workload', 'kind'], name, names);
  return { workload: { kind: name, parameters: readParameters(kind.parameters, given) }, trace: null };
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

function traceOf(path: string, options: Readonly<Record<string, unknown>>): ReturnType<typeof readWorkload> {
  return { workload: { kind: 'given', name: path, reading: options }, trace: { path, options } };
}

function unknownWorkload(path: SpecPath, name: string, names: readonly string[]): SpecError {
  return new SpecError('ERR_UNKNOWN_NAME', `unknown workload "${name}".`, {
    path,
    meant: nearestName(name, names) ?? '',
    hints: [`Known: ${names.join(', ')}; the file of a trace has a folder or an extension in its name.`],
  });
}

/** Parameters of a generator, which may be written with units; the generator's own table checks the ranges. */
function readParameters(table: readonly Parameter[], given: Tree): Record<string, number | string | boolean> {
  const names = table.map(({ name }) => name);
  const values: Record<string, number | string | boolean> = {};
  for (const [key, value] of Object.entries(given)) {
    const path = ['workload', key];
    const parameter = table.find(({ name }) => name === key);
    if (parameter === undefined) throw unknownKey(path, ['kind', ...names]);
    values[key] = leaf(path, parameterOption(parameter), value) as number | string | boolean;
  }
  return values;
}

/** Collects the leaves of a section as overrides by path. A null section is an override of its own. */
function readDrive(path: SpecPath, value: unknown, table: OptionTable, overrides: Record<string, unknown>): void {
  const name = path.join('.');
  const option = table.get(name);
  if (option !== undefined) {
    overrides[name] = leaf(path, option, value);
    return;
  }
  const children = childrenOf(name, table);
  if (value === null && children.nullable) {
    overrides[name] = null;
    return;
  }
  // `scheduler: event` is short for its kind, `link: pcie3x4` for its standard and lanes.
  if (name === 'scheduler' && typeof value === 'string') {
    overrides['scheduler.kind'] = leaf(path, table.get('scheduler.kind') as Option, value);
    return;
  }
  if (name === 'link' && typeof value === 'string') {
    if (!linkNames.includes(value)) throw unknownLink(path, value);
    for (const [key, part] of Object.entries(linkOf(value))) overrides[`link.${key}`] = part;
    return;
  }
  if (!isMap(value)) throw badValue(path, value, `a map with ${children.names.join(', ')}`);
  for (const [key, inner] of Object.entries(value)) {
    if (!children.names.includes(key)) throw unknownKey([...path, key], children.names);
    readDrive([...path, key], inner, table, overrides);
  }
}

function unknownLink(path: SpecPath, value: string): SpecError {
  return new SpecError('ERR_UNKNOWN_NAME', `unknown link "${value}".`, {
    path,
    meant: nearestName(value, linkNames) ?? '',
    hints: [`Known: ${linkNames.join(', ')}; or a map with standard, lanes and so on.`],
  });
}

function childrenOf(name: string, table: OptionTable): { names: string[]; nullable: boolean } {
  const prefix = `${name}.`;
  const names = [...table.keys()]
    .filter((path) => path.startsWith(prefix))
    .map((path) => path.slice(prefix.length).split('.')[0]);
  return { names: [...new Set(names)], nullable: nullableSections.includes(name) };
}

function readMap(path: SpecPath, value: Tree, table: OptionTable): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const option = table.get(key);
    if (option === undefined) throw unknownKey([...path, key], [...table.keys()]);
    read[key] = leaf([...path, key], option, inner);
  }
  return read;
}

function leaf(path: SpecPath, option: Option, value: unknown): unknown {
  try {
    return parseOption(path.join('.'), option, value);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new SpecError(error.code, error.message, { path, hints: sectionHint(path) });
  }
}

function unknownKey(path: SpecPath, known: readonly string[]): SpecError {
  const key = String(path.at(-1));
  const name = path.join('.');
  if (Object.hasOwn(setElsewhere, name)) {
    const what = `${name} is not set by itself.`;
    return new SpecError('ERR_UNKNOWN_NAME', what, { path, target: 'key', hints: [setElsewhere[name]] });
  }
  const meant = nearestName(key, known);
  return new SpecError('ERR_UNKNOWN_NAME', `unknown key ${path.join('.')}.`, {
    path,
    target: 'key',
    meant: meant ?? '',
    hints: [...(meant === null ? [`Known: ${known.join(', ')}.`] : []), ...sectionHint(path)],
  });
}

function badValue(path: SpecPath, found: unknown, expected: string): SpecError {
  return new SpecError('ERR_SPEC_VALUE', `${path.join('.')} is ${shown(found)}, expected ${expected}.`, {
    path,
    hints: sectionHint(path),
  });
}

function sectionHint(path: SpecPath): readonly string[] {
  return path.length > 1 ? [`See: flashstack schema ${path[0]}`] : [];
}

function isMap(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { InputError, nearestName } from '@flashstack/sim';
import type { PreconditionState } from '@flashstack/ssd';
import type { AddressPolicy } from '@flashstack/workloads';
import { badValue, isMap, leaf, readDrive, readMap, unknownKey } from './document-parts.js';
import type { Extensions } from './extensions.js';
import { driveOptions } from './options/drive-options.js';
import { type Option, shown } from './options/option.js';
import { deviceOptions, runOptions } from './options/run-options.js';
import type { LoopChoice, Warmup } from './options/run-values.js';
import { systemOptions } from './options/system-options.js';
import { readPrograms, readRequests, type TraceRequest } from './read-workload.js';
import type { DeviceSpec, ExperimentSpec } from './spec.js';
import { SpecError } from './spec-problem.js';
import { resolveSystem, type SystemSpec } from './system/system-spec.js';

/** What a spec document means. */
export interface ReadDocument {
  readonly spec: ExperimentSpec;
  /** The trace to be read, or null for a synthetic workload. With a system it is one of system calls. */
  readonly trace: TraceRequest | null;
}

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
  const known = ['device', 'workload', 'system', ...runOptions.keys(), ...sections];
  for (const key of Object.keys(document)) if (!known.includes(key)) throw unknownKey([key], known);
  const values = new Map<string, unknown>();
  for (const [key, option] of runOptions) {
    if (document[key] !== undefined) values.set(key, leaf([key], option, document[key]));
  }
  const overrides: Record<string, unknown> = {};
  for (const section of sections) {
    if (document[section] !== undefined) readDrive([section], document[section], drive, overrides);
  }
  const device = { ...readDevice(document.device, extensions), overrides };
  const run = runOf(values);
  if (document.system === undefined) {
    const { workload, trace } = readRequests(document.workload, extensions);
    return { spec: { device, workload, ...run }, trace };
  }
  checkWithSystem(values);
  const system = readSystem(document.system, extensions);
  const { workload, trace } = readPrograms(document.workload, extensions);
  return { spec: { device, workload, system, ...run }, trace };
}

/** Keys that say how requests reach a drive mean nothing where a file system makes them. */
function checkWithSystem(values: ReadonlyMap<string, unknown>): void {
  for (const [key, value] of values) {
    if (value === null || !requestKeys.includes(key)) continue;
    const hint = key === 'warmup' ? 'Formatting and the layout of files are left out of the metrics anyway.' : '';
    throw new SpecError('ERR_SPEC_VALUE', `${key} has no meaning with a system: it is about requests to the drive.`, {
      path: [key],
      target: 'key',
      hints: [hint, 'Leave it out.'].filter((text) => text !== ''),
    });
  }
}

const requestKeys: readonly string[] = ['loop', 'timeScale', 'maxInFlight', 'address', 'repeat', 'warmup', 'verify'];

/** The section `system`; `system: mini-journal` is short for its file system. */
function readSystem(value: unknown, extensions: Extensions): SystemSpec {
  const map = typeof value === 'string' ? { fileSystem: value } : value;
  const table = new Map([...systemOptions(extensions)].map(([path, option]) => [`system.${path}`, option]));
  const leaves: Record<string, unknown> = {};
  readDrive(['system'], map, table, leaves);
  if (leaves['system.fileSystem'] === undefined) {
    throw new SpecError('ERR_SPEC_VALUE', 'system.fileSystem is missing: which file system is on the drive?', {
      path: ['system'],
      hints: [`There are ${extensions.fileSystems.map(({ name }) => name).join(', ')}.`],
    });
  }
  const system: Record<string, unknown> = {};
  for (const [path, leafValue] of Object.entries(leaves)) {
    const [, section, key] = path.split('.');
    system[section] = key === undefined ? leafValue : { ...(system[section] as object | undefined), [key]: leafValue };
  }
  const read = system as unknown as SystemSpec;
  try {
    resolveSystem(read, extensions);
  } catch (error) {
    // What only holds between two values: each by itself is possible.
    if (!(error instanceof InputError)) throw error;
    throw new SpecError(error.code, `system.${error.message}`, { path: ['system', ...error.key.split('.')] });
  }
  return read;
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

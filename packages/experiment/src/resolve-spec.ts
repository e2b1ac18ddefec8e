import { InputError, lookupStrategy, nearestName, resolveParameters, unknownName } from '@flashstack/sim';
import { checkSsdConfig, resolvePreset, type SsdConfig, scaleSsd } from '@flashstack/ssd';
import { type OperationSource, syntheticKinds } from '@flashstack/workloads';
import { operationsDigest } from './digest.js';
import type { DeviceSpec, ExperimentSpec, ResolvedSpec, ResolvedWorkload, WorkloadSpec } from './spec.js';

const specKeys = [
  ...['device', 'workload', 'seed', 'scheduler', 'precondition', 'loop', 'address', 'repeat', 'verify'],
];
const deviceKeys = ['preset', 'config', 'capacityBytes', 'overProvisioning', 'overrides'];
/** Documentation of a drive, which changes nothing of a run. */
const documentation = ['summary', 'sources', 'figures'];
const UNSAFE_SEED = 'expected an integer from 0 to 2^53 - 1';

/**
 * Checks a spec and fills in everything that was left out.
 * @throws InputError for unknown keys or names (with the nearest known one) and impossible values.
 */
export function resolveSpec(spec: ExperimentSpec, source: OperationSource | null): ResolvedSpec {
  checkKeys('spec', spec, specKeys);
  const { seed = 1, repeat = 1, verify = false } = spec;
  if (!Number.isSafeInteger(seed) || seed < 0) throw wrong('seed', seed, UNSAFE_SEED);
  if (!Number.isSafeInteger(repeat) || repeat < 1) throw wrong('repeat', repeat, 'expected an integer of at least 1');
  if (typeof verify !== 'boolean') throw wrong('verify', verify, 'expected true or false');
  const config = resolveDevice(spec);
  const device = Object.fromEntries(Object.entries(config).filter(([key]) => !documentation.includes(key)));
  return {
    device: device as unknown as ResolvedSpec['device'],
    workload: resolveWorkload(spec.workload, source),
    seed,
    precondition: oneOf('precondition', spec.precondition ?? 'none', ['none', 'fill', 'steady']),
    loop: resolveLoop(spec.loop ?? { kind: 'closed', depth: 32 }),
    address: oneOf('address', spec.address ?? 'fail', ['wrap', 'compact', 'scale', 'fail']),
    repeat,
    verify,
  };
}

/** The configuration that a spec's drive means, documentation included. @throws InputError as `resolveSpec`. */
export function resolveDevice(spec: Pick<ExperimentSpec, 'device' | 'scheduler'>): SsdConfig {
  const device: DeviceSpec = typeof spec.device === 'string' ? { preset: spec.device } : spec.device;
  checkKeys('device', device, deviceKeys);
  const { preset, config, capacityBytes, overProvisioning, overrides = {} } = device;
  if ((preset === undefined) === (config === undefined)) {
    throw new InputError('ERR_SPEC_VALUE', 'device: expected either the name of a preset or a config', 'device');
  }
  let resolved: SsdConfig;
  if (preset !== undefined) {
    resolved = resolvePreset(preset, {
      ...(capacityBytes === undefined ? {} : { capacity: capacityBytes }),
      ...(overProvisioning === undefined ? {} : { overProvisioning }),
    });
  } else {
    resolved = config as SsdConfig;
    checkSsdConfig(resolved);
    if (capacityBytes !== undefined || overProvisioning !== undefined) {
      resolved = scaleSsd(resolved, capacityBytes ?? resolved.capacityBytes, overProvisioning);
    }
  }
  for (const [path, value] of Object.entries(overrides)) resolved = override(resolved, path, value);
  if (spec.scheduler !== undefined) {
    const kind = oneOf('scheduler', spec.scheduler, ['timeline', 'event']);
    resolved = { ...resolved, scheduler: { ...resolved.scheduler, kind } };
  }
  checkSsdConfig(resolved);
  return resolved;
}

/** The configuration with one value replaced, named by its path. */
function override(config: SsdConfig, path: string, value: unknown): SsdConfig {
  const steps = path.split('.');
  const replace = (node: unknown, depth: number): unknown => {
    const step = steps[depth];
    const record = node as Record<string, unknown>;
    // Options of the FTL are optional, so a missing one is not unknown; the FTL checks their names.
    const optional = depth > 0 && steps[0] === 'ftl';
    if (typeof node !== 'object' || node === null || !(Object.hasOwn(record, step) || optional)) {
      const known = typeof node === 'object' && node !== null ? Object.keys(node) : [];
      const prefix = steps.slice(0, depth).join('.');
      const nearest = nearestName(step, known);
      const hint =
        nearest === null
          ? `Known: ${known.join(', ')}.`
          : `Did you mean ${prefix === '' ? '' : `${prefix}.`}${nearest}?`;
      throw new InputError('ERR_UNKNOWN_NAME', `Unknown key device.overrides["${path}"]. ${hint}`, path);
    }
    const next = depth + 1 === steps.length ? value : replace(record[step], depth + 1);
    return Array.isArray(node)
      ? node.map((item, at) => (String(at) === step ? next : item))
      : { ...node, [step]: next };
  };
  return replace(config, 0) as SsdConfig;
}

function resolveWorkload(workload: WorkloadSpec, source: OperationSource | null): ResolvedWorkload {
  if (typeof workload !== 'object' || workload === null)
    throw wrong('workload', workload, 'expected an object with kind');
  if (workload.kind === 'given') {
    checkKeys('workload', workload, ['kind', 'name']);
    if (source === null) {
      throw new InputError(
        'ERR_SPEC_SOURCE',
        'workload.kind is "given", but the environment gives no operations',
        'workload',
      );
    }
    const { requests, digest } = operationsDigest(source);
    return { kind: 'given', name: 'name' in workload ? workload.name : 'given', requests, digest };
  }
  checkKeys('workload', workload, ['kind', 'parameters']);
  const kind = lookupStrategy(syntheticKinds, workload.kind, 'workload');
  const given = 'parameters' in workload ? (workload.parameters ?? {}) : {};
  return { kind: kind.name, parameters: resolveParameters(kind, given) };
}

function resolveLoop(loop: ResolvedSpec['loop']): ResolvedSpec['loop'] {
  oneOf('loop.kind', loop.kind, ['closed', 'open']);
  if (loop.kind === 'closed') {
    checkKeys('loop', loop, ['kind', 'depth']);
    return { kind: 'closed', depth: loop.depth };
  }
  checkKeys('loop', loop, ['kind', 'timeScale', 'maxInFlight']);
  return { kind: 'open', timeScale: loop.timeScale ?? 1, maxInFlight: loop.maxInFlight ?? 65_536 };
}

function checkKeys(path: string, value: object, known: readonly string[]): void {
  if (typeof value !== 'object' || value === null) throw wrong(path, value, 'expected an object');
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw unknownName(`key in ${path}`, key, known);
  }
}

function oneOf<T extends string>(key: string, value: T, known: readonly T[]): T {
  if (!known.includes(value)) throw unknownName(key, String(value), known);
  return value;
}

function wrong(key: string, found: unknown, expected: string): InputError {
  return new InputError('ERR_SPEC_VALUE', `${key}: found ${JSON.stringify(found) ?? String(found)}, ${expected}.`, key);
}

import { InputError, lookupStrategy, resolveParameters, unknownName } from '@flashstack/sim';
import { appendOnlyMapping, checkSsdConfig, resolvePreset, type SsdConfig, scaleSsd } from '@flashstack/ssd';
import type { OperationSource, ReplayLoop } from '@flashstack/workloads';
import { operationsDigest } from './digest.js';
import { applyOverrides, withVssimDelays } from './drive-overrides.js';
import { type Extensions, noExtensions } from './extensions.js';
import type { Warmup } from './options/run-values.js';
import type { DeviceSpec, ExperimentSpec, ResolvedSpec, ResolvedWorkload, WorkloadSpec } from './spec.js';
import { fileWork, type RecordedCalls } from './system/file-work.js';
import { makeScheme, resolveSystem, type SystemSpec } from './system/system-spec.js';

const specKeys = [
  ...[
    'device',
    'workload',
    'system',
    'seed',
    'scheduler',
    'precondition',
    'loop',
    'address',
    'repeat',
    'verify',
    'warmup',
  ],
];
const deviceKeys = ['preset', 'config', 'capacityBytes', 'overProvisioning', 'overrides'];
/** Documentation of a drive, which changes nothing of a run. */
const documentation = ['summary', 'sources', 'figures'];
const UNSAFE_SEED = 'expected an integer from 0 to 2^53 - 1';

/**
 * Checks a spec and fills in everything that was left out.
 * @throws InputError for unknown keys or names (with the nearest known one) and impossible values.
 */
export function resolveSpec(
  spec: ExperimentSpec,
  source: OperationSource | RecordedCalls | null,
  extensions: Extensions = noExtensions,
): ResolvedSpec {
  checkKeys('spec', spec, specKeys);
  const { seed = 1, repeat = 1, verify = false } = spec;
  if (!Number.isSafeInteger(seed) || seed < 0) throw wrong('seed', seed, UNSAFE_SEED);
  if (!Number.isSafeInteger(repeat) || repeat < 1) throw wrong('repeat', repeat, 'expected an integer of at least 1');
  if (typeof verify !== 'boolean') throw wrong('verify', verify, 'expected true or false');
  const config = resolveDevice(spec, extensions);
  const device = Object.fromEntries(Object.entries(config).filter(([key]) => !documentation.includes(key)));
  const recorded = source !== null && 'calls' in source ? source : null;
  const common = {
    device: device as unknown as ResolvedSpec['device'],
    workload:
      spec.system === undefined
        ? resolveWorkload(spec.workload, source !== null && 'next' in source ? source : null, extensions)
        : fileWork(spec.workload, recorded, extensions).resolved,
    seed,
    precondition: oneOf('precondition', spec.precondition ?? 'none', ['none', 'fill', 'steady']),
    modules: extensions.modules,
  };
  if (spec.system !== undefined) {
    checkWithSystem(spec, config);
    return { ...common, system: resolveSystem(spec.system, extensions), warmup: null };
  }
  return {
    ...common,
    loop: resolveLoop(spec.loop ?? { kind: 'closed', depth: 32 }),
    address: oneOf('address', spec.address ?? 'fail', ['wrap', 'compact', 'scale', 'fail']),
    repeat,
    verify,
    warmup: resolveWarmup(spec.warmup ?? null),
  };
}

/** Keys that say how requests reach a drive mean nothing where a file system makes them. @throws InputError naming the key. */
function checkWithSystem(spec: ExperimentSpec, config: SsdConfig): void {
  for (const key of ['loop', 'address', 'repeat', 'verify', 'warmup'] as const) {
    if (spec[key] === undefined || spec[key] === null) continue;
    throw new InputError('ERR_SPEC_VALUE', `${key} has no meaning with a system. ${instead[key] ?? withoutHost}`, key);
  }
  const appendOnly = appendOnlyMapping(config);
  if (appendOnly === null) return;
  throw new InputError(
    'ERR_SPEC_VALUE',
    `the drive takes writes only in order (${appendOnly} mapping); file systems here write anywhere. Choose another ftl.mapping.`,
    'ftl.mapping',
  );
}

const withoutHost = 'The workload says how its programs run; leave it out.';
const instead: Readonly<Record<string, string>> = {
  warmup: 'Formatting and the layout of files are never counted; leave it out, or count less of a longer workload.',
};

/** The configuration that a spec's drive means, documentation included. @throws InputError as `resolveSpec`. */
export function resolveDevice(
  spec: Pick<ExperimentSpec, 'device' | 'scheduler' | 'system'>,
  extensions: Extensions = noExtensions,
): SsdConfig {
  const device: DeviceSpec = typeof spec.device === 'string' ? { preset: spec.device } : spec.device;
  checkKeys('device', device, deviceKeys);
  const { preset, config, capacityBytes, overProvisioning, overrides = {} } = device;
  if ((preset === undefined) === (config === undefined)) {
    throw new InputError('ERR_SPEC_VALUE', 'device: expected either the name of a preset or a config', 'device');
  }
  let resolved: SsdConfig;
  if (preset !== undefined) {
    resolved = resolvePreset(preset, {
      table: extensions.presets,
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
  resolved = applyOverrides(resolved, overrides, extensions);
  if (spec.scheduler !== undefined) {
    const kind = oneOf('scheduler', spec.scheduler, ['timeline', 'event', 'vssim']);
    resolved = { ...resolved, scheduler: { ...resolved.scheduler, kind } };
  }
  resolved = keepingContents(withVssimDelays(resolved), spec.system, overrides, extensions);
  checkSsdConfig(resolved);
  return resolved;
}

/** With a file system that keeps its files there, a drive has to keep contents. @throws InputError if it must not. */
function keepingContents(
  config: SsdConfig,
  system: SystemSpec | undefined,
  overrides: Readonly<Record<string, unknown>>,
  extensions: Extensions,
): SsdConfig {
  if (system === undefined || config.keeps === 'contents') return config;
  const { fileSystem } = resolveSystem(system, extensions);
  const { name } = fileSystem;
  if (!makeScheme(fileSystem, extensions).onDevice) return config;
  if (overrides.keeps === undefined) return { ...config, keeps: 'contents' };
  const what = `keeps is "nothing", but ${name} keeps its files on the drive and has to find them again: leave keeps out.`;
  throw new InputError('ERR_SPEC_VALUE', what, 'keeps');
}

function resolveWorkload(
  workload: WorkloadSpec,
  source: OperationSource | null,
  { workloads, fileWorkloads }: Extensions,
): ResolvedWorkload {
  if (typeof workload !== 'object' || workload === null || typeof workload.kind !== 'string')
    throw wrong('workload', workload, 'expected an object with kind, a text');
  if (workload.kind === 'given') {
    checkKeys('workload', workload, ['kind', 'name', 'reading']);
    if (source === null) {
      throw new InputError(
        'ERR_SPEC_SOURCE',
        'workload.kind is "given", but the environment gives no operations',
        'workload',
      );
    }
    const { requests, digest } = operationsDigest(source);
    const { name = 'given', reading = {} } = workload as { name?: string; reading?: Readonly<Record<string, unknown>> };
    return { kind: 'given', name, requests, digest, reading };
  }
  if (workload.kind === 'strace' || fileWorkloads.some(({ name }) => name === workload.kind)) {
    const known = workloads.map(({ name }) => name).join(', ');
    throw new InputError(
      'ERR_SPEC_VALUE',
      `workload ${workload.kind} works on files, which takes a file system: add system, such as { fileSystem: memfs }. ` +
        `Workloads of requests to the drive are ${known}.`,
      'workload',
    );
  }
  checkKeys('workload', workload, ['kind', 'parameters']);
  const kind = lookupStrategy(workloads, workload.kind, 'workload');
  const given = 'parameters' in workload ? (workload.parameters ?? {}) : {};
  return { kind: kind.name, parameters: resolveParameters(kind, given) };
}

function resolveLoop(loop: ReplayLoop): ReplayLoop {
  oneOf('loop.kind', loop.kind, ['closed', 'open', 'think']);
  if (loop.kind === 'closed') {
    checkKeys('loop', loop, ['kind', 'depth']);
    return { kind: 'closed', depth: loop.depth };
  }
  checkKeys('loop', loop, ['kind', 'timeScale', 'maxInFlight']);
  return { kind: loop.kind, timeScale: loop.timeScale ?? 1, maxInFlight: loop.maxInFlight ?? 65_536 };
}

function resolveWarmup(warmup: Warmup | null): Warmup | null {
  if (warmup === null) return null;
  const { requests, timeNs, share } = warmup as { requests?: number; timeNs?: number; share?: number };
  const whole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 1;
  if (Object.keys(warmup).length === 1) {
    if (whole(requests) || whole(timeNs)) return warmup;
    if (share !== undefined && share > 0 && share < 1) return warmup;
  }
  throw wrong('warmup', warmup, 'expected one of { requests }, { timeNs } (at least 1) or { share } (between 0 and 1)');
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

import {
  type CrashSubject,
  DURABILITY_RULES,
  type DurabilityRules,
  POSIX_RULES,
  prepareSubject,
} from '@flashstack/crash-lab';
import { amountAdvice, parseAmount } from '@flashstack/experiment';
import { loadModules } from '@flashstack/experiment/node';
import { InputError, lookupStrategy, type ParameterValues, resolveParameters, unknownName } from '@flashstack/sim';
import type { FsCapabilities } from '@flashstack/vfs';
import { knownNames } from './known-names.js';
import { parseSettings } from './option-flags.js';
import { UsageError } from './report-error.js';

const BLOCK_BYTES = 4096;

/** Flags that name a file system and the volume it is tried on. */
export interface TargetFlags {
  readonly fs: string;
  readonly set?: readonly string[];
  readonly module?: readonly string[];
  readonly capacity: string;
  readonly rules?: string;
}

/** A file system on a volume, as results and replay files name it. */
export interface TargetDescription {
  readonly fileSystem: string;
  readonly parameters: ParameterValues;
  readonly modules: readonly { readonly path: string; readonly sha256: string }[];
  readonly capacityBytes: number;
  /** Name of the promises it is held to. */
  readonly rules: string;
}

/** The same, ready to be explored. */
export interface Target {
  readonly description: TargetDescription;
  readonly subject: CrashSubject;
  readonly capabilities: FsCapabilities;
}

/** @throws InputError for flags that name nothing, or a file system that cannot be explored. */
export async function targetOf(flags: TargetFlags): Promise<Target> {
  const capacityBytes = parseAmount('size', flags.capacity);
  if (!Number.isSafeInteger(capacityBytes) || capacityBytes < BLOCK_BYTES || capacityBytes % BLOCK_BYTES !== 0) {
    throw new UsageError(`--capacity is "${flags.capacity}", expected whole blocks of 4 KiB.`, [
      amountAdvice('size', flags.capacity),
    ]);
  }
  const { fs: fileSystem } = flags;
  const rules = flags.rules ?? (Object.hasOwn(DURABILITY_RULES, fileSystem) ? fileSystem : POSIX_RULES.name);
  const parameters = parseSettings('--set', flags.set ?? []) as ParameterValues;
  return await open({ fileSystem, parameters, capacityBytes, rules }, flags.module ?? []);
}

/**
 * The file system of a replay file or a result, whose modules may be given anew by `modules`.
 * @throws InputError as `targetOf`
 */
export async function targetAgain(description: TargetDescription, modules?: readonly string[]): Promise<Target> {
  return await open(description, modules ?? description.modules.map(({ path }) => path));
}

async function open(
  { fileSystem, parameters: given, capacityBytes, rules }: Omit<TargetDescription, 'modules'>,
  paths: readonly string[],
): Promise<Target> {
  const extensions = await loadModules(paths, '.', knownNames);
  const kind = lookupStrategy(extensions.fileSystems, fileSystem, 'file system');
  const parameters = resolveParameters(kind, given);
  const scheme = kind.create(parameters);
  if (!scheme.onDevice) {
    const others = extensions.fileSystems.map(({ name }) => name).filter((name) => name !== fileSystem);
    throw new UsageError(
      `--fs is "${fileSystem}", which keeps nothing on a device: there is nothing that a power cut could leave.`,
      [`Others: ${others.join(', ')}; your own by --module.`],
    );
  }
  const subject: CrashSubject = {
    name: fileSystem,
    scheme,
    blocks: capacityBytes / BLOCK_BYTES,
    rules: rulesOf(rules),
    ...(scheme.check === undefined
      ? {}
      : { check: (device) => (scheme.check as NonNullable<CrashSubject['check']>)(device) }),
  };
  const description = { fileSystem, parameters, modules: extensions.modules, capacityBytes, rules };
  return { description, subject, capabilities: prepared(subject) };
}

function prepared(subject: CrashSubject): FsCapabilities {
  try {
    return prepareSubject(subject);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw Object.assign(new UsageError(error.message, ['--capacity makes the volume larger.']), { cause: error });
  }
}

function rulesOf(name: string): DurabilityRules {
  if (Object.hasOwn(DURABILITY_RULES, name)) return DURABILITY_RULES[name];
  throw unknownName('--rules', name, Object.keys(DURABILITY_RULES));
}

import {
  type MappingScheme,
  mappingKinds,
  type StreamPolicy,
  streamKinds,
  type VictimPolicy,
  victimKinds,
} from '@flashstack/ftl';
import { type ReadaheadPolicy, readaheadKinds } from '@flashstack/pagecache-readahead';
import { InputError, type ParameterValues, type StrategyKind } from '@flashstack/sim';
import { checkSsdConfig, presets, type SsdConfig } from '@flashstack/ssd';
import { type FileSystemScheme, fileSystemKinds } from '@flashstack/vfs';
import {
  type FileWorkloadFactory,
  fileWorkloadKinds,
  syntheticKinds,
  type WorkloadFactory,
} from '@flashstack/workloads';

/** A module of the user's own, as a result names it. */
export interface SpecModule {
  /** As the spec writes it. */
  readonly path: string;
  /** SHA-256 of its text; what it imports is not part of it. */
  readonly sha256: string;
}

/** Everything that specs can name: what comes with the project, and what modules of the user's own add. */
export interface Extensions {
  readonly mappings: readonly StrategyKind<MappingScheme>[];
  readonly victims: readonly StrategyKind<VictimPolicy>[];
  readonly streams: readonly StrategyKind<StreamPolicy>[];
  /** Workloads of requests to the drive. */
  readonly workloads: readonly StrategyKind<WorkloadFactory>[];
  /** Workloads on files, for a stack with an operating system. */
  readonly fileWorkloads: readonly StrategyKind<FileWorkloadFactory>[];
  readonly fileSystems: readonly StrategyKind<FileSystemScheme>[];
  readonly readaheads: readonly StrategyKind<ReadaheadPolicy>[];
  readonly presets: readonly SsdConfig[];
  readonly modules: readonly SpecModule[];
}

/** Without any module of the user's own. */
export const noExtensions: Extensions = {
  mappings: mappingKinds,
  victims: victimKinds,
  streams: streamKinds,
  workloads: syntheticKinds,
  fileWorkloads: fileWorkloadKinds,
  fileSystems: fileSystemKinds,
  readaheads: readaheadKinds,
  presets,
  modules: [],
};

const exportNames = [
  ...(['mappings', 'victims', 'streams', 'workloads', 'fileWorkloads', 'fileSystems', 'readaheads'] as const),
  'presets',
] as const;

/**
 * Adds what a module exports as `mappings`, `victims`, `streams`, `workloads`, `fileWorkloads`, `fileSystems`, `readaheads` or
 * `presets` (arrays of strategy kinds, or of drive configurations); other exports are the module's own business.
 * @throws InputError `ERR_SPEC_MODULE` if it exports none of them, something malformed, or a name that is taken.
 */
export function extend(base: Extensions, module: SpecModule, exported: Readonly<Record<string, unknown>>): Extensions {
  if (!exportNames.some((name) => name in exported)) {
    const found = Object.keys(exported);
    throw refused(
      module,
      `exports none of ${exportNames.join(', ')}; it exports ${found.length === 0 ? 'nothing' : found.join(', ')}`,
    );
  }
  return {
    mappings: [...base.mappings, ...kinds<MappingScheme>('mappings', base.mappings, module, exported)],
    victims: [...base.victims, ...kinds<VictimPolicy>('victims', base.victims, module, exported)],
    streams: [...base.streams, ...kinds<StreamPolicy>('streams', base.streams, module, exported)],
    workloads: [...base.workloads, ...kinds<WorkloadFactory>('workloads', base.workloads, module, exported)],
    fileWorkloads: [...base.fileWorkloads, ...kinds('fileWorkloads', base.fileWorkloads, module, exported)],
    fileSystems: [...base.fileSystems, ...kinds('fileSystems', base.fileSystems, module, exported)],
    readaheads: [...base.readaheads, ...kinds('readaheads', base.readaheads, module, exported)],
    presets: [...base.presets, ...drives(base.presets, module, exported)],
    modules: [...base.modules, module],
  };
}

function kinds<T>(
  name: (typeof exportNames)[number],
  known: readonly StrategyKind<T>[],
  module: SpecModule,
  exported: Readonly<Record<string, unknown>>,
): StrategyKind<T>[] {
  const found: StrategyKind<T>[] = [];
  for (const [at, value] of list(name, module, exported).entries()) {
    const kind = value as Partial<StrategyKind<T>> | null;
    if (typeof kind !== 'object' || kind === null) throw refused(module, `${name}[${at}] is no object`);
    if (typeof kind.name !== 'string' || kind.name === '') throw refused(module, `${name}[${at}].name is no text`);
    const { parameters = [], summary = '', create } = kind;
    if (!Array.isArray(parameters)) throw refused(module, `parameters of "${kind.name}" are no array`);
    if (typeof create !== 'function') throw refused(module, `"${kind.name}" has no function create(parameters)`);
    free(kind.name, [...known, ...found], name, module);
    const make = (values: ParameterValues): T => (kind as StrategyKind<T>).create(values);
    found.push({ name: kind.name, summary, parameters, create: make });
  }
  return found;
}

function drives(
  known: readonly SsdConfig[],
  module: SpecModule,
  exported: Readonly<Record<string, unknown>>,
): SsdConfig[] {
  const found: SsdConfig[] = [];
  for (const value of list('presets', module, exported)) {
    const config = value as SsdConfig;
    checkSsdConfig(config);
    free(config.name, [...known, ...found], 'presets', module);
    found.push(config);
  }
  return found;
}

function list(name: string, module: SpecModule, exported: Readonly<Record<string, unknown>>): readonly unknown[] {
  const value = exported[name] ?? [];
  if (!Array.isArray(value)) throw refused(module, `${name} is no array`);
  return value as readonly unknown[];
}

function free(name: string, known: readonly { readonly name: string }[], what: string, module: SpecModule): void {
  if (known.some((other) => other.name === name)) throw refused(module, `"${name}" of ${what} is taken already`);
}

function refused({ path }: SpecModule, what: string): InputError {
  return new InputError('ERR_SPEC_MODULE', `module ${path}: ${what}.`, 'modules');
}

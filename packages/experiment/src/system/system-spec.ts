import {
  BLOCK_LAYER_PARAMETERS,
  type BlockLayerOptions,
  type CallCosts,
  COST_PARAMETERS,
  type HostOptions,
} from '@flashstack/host';
import { type PageCacheOptions, type ReadaheadPolicy, resolvePageCacheOptions } from '@flashstack/pagecache-readahead';
import {
  InputError,
  lookupStrategy,
  type ParameterTable,
  type ParameterValues,
  resolveParameters,
  unknownName,
} from '@flashstack/sim';
import type { FileSystemScheme } from '@flashstack/vfs';
import { complete, FILE_SYSTEM_SCHEME, READAHEAD_POLICY } from '../complete.js';
import type { Extensions } from '../extensions.js';
import { type OptionTable, parseOption } from '../options/option.js';
import { cacheParameters, kernelParameters, systemOptions } from '../options/system-options.js';

/** A strategy by name, or by name with parameters. */
type Choice = string | { readonly name: string; readonly parameters?: ParameterValues };

/** The system of an experiment: what lies between programs and the drive. */
export interface SystemSpec extends Omit<HostOptions, 'seed' | 'readOnly' | 'costs' | 'log'> {
  /** File system of the drive, made anew before the run. */
  readonly fileSystem: Choice;
  /** Memory for pages of files, bytes. Default 256 MiB. */
  readonly memory?: number;
  /** Default `linux-6`. */
  readonly readahead?: Choice;
  /** Most that is read ahead at a time, bytes; whole pages count. Default 128 KiB. */
  readonly readaheadWindow?: number;
  readonly pageCache?: Omit<PageCacheOptions, 'memoryBytes'>;
  readonly blockLayer?: BlockLayerOptions;
  /** CPU times of system calls where they differ from the default, ns. */
  readonly costs?: Partial<CallCosts>;
  /**
   * Everything is written back at the end of the workload, and counts (default); otherwise the run ends with the last call,
   * and what is dirty then is nobody's.
   */
  readonly finalSync?: boolean;
}

/** A strategy with all its parameters. */
interface ResolvedChoice {
  readonly name: string;
  readonly parameters: ParameterValues;
}

/** The system of a resolved spec: everything filled in. */
export interface ResolvedSystem extends Required<Omit<SystemSpec, 'fileSystem' | 'readahead' | 'pageCache' | 'costs'>> {
  readonly fileSystem: ResolvedChoice;
  readonly readahead: ResolvedChoice;
  readonly blockLayer: Required<BlockLayerOptions>;
  readonly pageCache: Required<Omit<PageCacheOptions, 'memoryBytes'>>;
  readonly costs: CallCosts;
}

type Tree = Readonly<Record<string, unknown>>;

/**
 * Checks a system and fills in what was left out. Amounts may have units.
 * @throws InputError naming the key, for unknown keys, names and parameters, and for impossible values.
 */
export function resolveSystem(system: SystemSpec, extensions: Extensions): ResolvedSystem {
  const table = systemOptions(extensions);
  const given = checked('', system as unknown as Tree, table);
  if (given.fileSystem === undefined) {
    const known = extensions.fileSystems.map(({ name }) => name).join(', ');
    throw new InputError('ERR_SPEC_VALUE', `system.fileSystem is missing. Known: ${known}.`, 'system.fileSystem');
  }
  const memory = (given.memory as number | undefined) ?? 268_435_456;
  const pageCache = filled('pageCache', cacheParameters, given.pageCache);
  resolvePageCacheOptions({ ...pageCache, memoryBytes: memory });
  const kernel = Object.fromEntries(Object.entries(given).filter(([key]) => isOf(kernelParameters, key)));
  const fileSystem = choice(given.fileSystem as Choice, extensions.fileSystems);
  const readahead = choice((given.readahead as Choice | undefined) ?? 'linux-6', extensions.readaheads);
  makeScheme(fileSystem, extensions);
  makePolicy(readahead, extensions);
  return {
    fileSystem,
    memory,
    readahead,
    readaheadWindow: (given.readaheadWindow as number | undefined) ?? 131_072,
    ...(filled('', kernelParameters, kernel) as unknown as Pick<
      ResolvedSystem,
      'cpus' | 'sliceNs' | 'dentries' | 'openFiles' | 'accessTimes' | 'epochSec'
    >),
    finalSync: (given.finalSync as boolean | undefined) ?? true,
    pageCache: pageCache as unknown as ResolvedSystem['pageCache'],
    blockLayer: filled(
      'blockLayer',
      BLOCK_LAYER_PARAMETERS,
      given.blockLayer,
    ) as unknown as ResolvedSystem['blockLayer'],
    costs: filled('costs', COST_PARAMETERS, given.costs) as unknown as CallCosts,
  };
}

/** How a file system is formatted and opened. @throws InputError `ERR_SPEC_MODULE` for one that lacks something. */
export function makeScheme({ name, parameters }: ResolvedChoice, { fileSystems }: Extensions): FileSystemScheme {
  const key = 'system.fileSystem';
  const scheme = lookupStrategy(fileSystems, name, key).create(parameters);
  return complete(scheme, FILE_SYSTEM_SCHEME, `create of the file system "${name}"`, key);
}

/** A read-ahead policy. @throws InputError `ERR_SPEC_MODULE` for one that lacks something. */
export function makePolicy({ name, parameters }: ResolvedChoice, { readaheads }: Extensions): ReadaheadPolicy {
  const key = 'system.readahead';
  const policy = lookupStrategy(readaheads, name, key).create(parameters);
  return complete(policy, READAHEAD_POLICY, `create of the read-ahead policy "${name}"`, key);
}

/** The values of a map and of the maps in it, checked by the table. */
function checked(prefix: string, map: Tree, table: OptionTable): Record<string, unknown> {
  const path = `system.${prefix}`.replace(/\.$/, '');
  if (typeof map !== 'object' || map === null || Array.isArray(map)) {
    const found = JSON.stringify(map) ?? String(map);
    throw new InputError('ERR_SPEC_VALUE', `${path}: found ${found}, expected an object.`, path);
  }
  const known = [
    ...new Set(
      [...table.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length).split('.')[0]),
    ),
  ];
  const values: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue;
    if (!known.includes(key)) throw unknownName(`key in ${path}`, key, known);
    const option = table.get(`${prefix}${key}`);
    values[key] =
      option === undefined
        ? checked(`${prefix}${key}.`, value as Tree, table)
        : parseOption(`${path}.${key}`, option, value);
  }
  return values;
}

function filled(section: string, parameters: ParameterTable, given: unknown): ParameterValues {
  const name = section === '' ? 'system' : `system.${section}`;
  return resolveParameters({ name, parameters }, (given ?? {}) as Tree);
}

function isOf(parameters: ParameterTable, key: string): boolean {
  return parameters.some(({ name }) => name === key);
}

/** With all parameters, so that a default that is written down is the same spec. */
function choice(
  given: Choice,
  kinds: readonly { readonly name: string; readonly parameters: ParameterTable }[],
): ResolvedChoice {
  const { name, parameters = {} } = typeof given === 'string' ? { name: given } : given;
  const kind = kinds.find((candidate) => candidate.name === name);
  return { name, parameters: kind === undefined ? {} : resolveParameters(kind, parameters) };
}

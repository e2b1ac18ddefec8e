import { describeParameter, InputError, type ParameterTable, unknownName } from '@flashstack/sim';
import { PAGE_BYTES } from '@flashstack/vfs';

/** Options of a page cache; the defaults are those of Linux. */
export interface PageCacheOptions {
  /** Memory for pages of files, bytes. Default 256 MiB. */
  readonly memoryBytes?: number;
  /** Write-back begins above this percentage of the memory. Default 10. */
  readonly dirtyBackgroundRatio?: number;
  /** Writers are held back from half-way on, so that it is not exceeded. Default 20. */
  readonly dirtyRatio?: number;
  /** Time after which a dirty file is written, ns. Default 30 s. */
  readonly dirtyExpireNs?: number;
  /** Time between two looks at what has expired, ns. Default 5 s. */
  readonly writebackIntervalNs?: number;
  /** Most pages of one file that write-back writes before it turns to the next. Default 1024. */
  readonly writebackChunkPages?: number;
}

/** Memory below which reads, writes and write-back would get into each other's way, bytes. */
export const LEAST_MEMORY_BYTES: number = 512 * PAGE_BYTES;

/** The options with their defaults and limits. */
export const pageCacheParameters: ParameterTable = [
  {
    name: 'memoryBytes',
    type: 'integer',
    unit: 'bytes',
    default: 268_435_456,
    min: LEAST_MEMORY_BYTES,
    help: 'Memory for pages of files.',
  },
  {
    name: 'dirtyBackgroundRatio',
    type: 'number',
    unit: '%',
    default: 10,
    min: 0,
    max: 100,
    help: 'Write-back begins above this share of the memory.',
  },
  {
    name: 'dirtyRatio',
    type: 'number',
    unit: '%',
    default: 20,
    min: 1,
    max: 90,
    help: 'Writers are held back from half-way between the two shares on, so that this one is not exceeded.',
  },
  {
    name: 'dirtyExpireNs',
    type: 'integer',
    unit: 'ns',
    default: 30_000_000_000,
    min: 0,
    help: 'Time after which a dirty file is written.',
  },
  {
    name: 'writebackIntervalNs',
    type: 'integer',
    unit: 'ns',
    default: 5_000_000_000,
    min: 1,
    help: 'Time between two looks at what has expired.',
  },
  {
    name: 'writebackChunkPages',
    type: 'integer',
    unit: 'pages',
    default: 1024,
    min: 1,
    max: 65_536,
    help: 'Most pages of one file that write-back writes before it turns to the next.',
  },
];

/**
 * The options, complete.
 * @throws InputError `ERR_UNKNOWN_NAME`, `ERR_PARAMETER_TYPE`, `ERR_PARAMETER_RANGE`, `ERR_PAGE_CACHE_RATIO`
 */
export function resolvePageCacheOptions(options: PageCacheOptions): Required<PageCacheOptions> {
  const names = pageCacheParameters.map(({ name }) => name);
  for (const name of Object.keys(options)) {
    if (!names.includes(name)) throw unknownName('option of the page cache', name, names);
  }
  const given = options as Readonly<Record<string, unknown>>;
  const values: Record<string, number> = {};
  for (const parameter of pageCacheParameters) {
    const value = given[parameter.name] ?? parameter.default;
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = parameter;
    const wrong = (code: string): InputError =>
      new InputError(
        code,
        `pageCache.${parameter.name} is ${String(value)}, expected ${describeParameter(parameter)}.`,
        `pageCache.${parameter.name}`,
      );
    if (typeof value !== 'number' || !Number.isFinite(value)) throw wrong('ERR_PARAMETER_TYPE');
    if (parameter.type === 'integer' && !Number.isSafeInteger(value)) throw wrong('ERR_PARAMETER_TYPE');
    if (value < min || value > max) throw wrong('ERR_PARAMETER_RANGE');
    values[parameter.name] = value;
  }
  const { dirtyBackgroundRatio, dirtyRatio } = values;
  if (dirtyBackgroundRatio >= dirtyRatio) {
    throw new InputError(
      'ERR_PAGE_CACHE_RATIO',
      `pageCache.dirtyBackgroundRatio is ${dirtyBackgroundRatio}, expected less than dirtyRatio, which is ${dirtyRatio}: ` +
        'write-back must begin before writers are held back. Lower the one or raise the other.',
      'pageCache.dirtyBackgroundRatio',
    );
  }
  return values as unknown as Required<PageCacheOptions>;
}

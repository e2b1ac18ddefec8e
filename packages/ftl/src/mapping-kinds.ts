import type { DriveFtl } from './contract.js';
import { hybridKinds } from './hybrid/kinds.js';
import { mapCacheOptions, mapCacheParameters } from './map-cache/options.js';
import type { FtlParts, MappingKind, MappingScheme } from './mapping.js';
import { checkUsed } from './mapping.js';
import type { FtlOptions } from './options.js';
import { PageMapFtl } from './page-map.js';
import { segmentKinds } from './segments/kinds.js';
import { resolveStrategy, strategyName } from './strategy-choice.js';

/** The mapping schemes that come with the package. */
export const mappingKinds: readonly MappingKind[] = [
  {
    name: 'page',
    summary: 'Page mapping: any logical slot in any physical slot, the whole table in RAM.',
    parameters: [],
    create: () => ({ attach: (parts) => new PageMapFtl(parts) }),
  },
  ...hybridKinds,
  {
    name: 'dftl',
    summary: 'Page mapping with the table in flash, of which a part is cached in RAM (DFTL).',
    parameters: mapCacheParameters,
    create: (values) => ({ attach: (parts) => new PageMapFtl(parts, mapCacheOptions(values)) }),
  },
  ...segmentKinds,
];

/** Name of the mapping scheme that a choice means; empty for an object of the user's own. */
export function mappingName(choice: FtlOptions['mapping']): string {
  return strategyName(choice, 'page').name;
}

/**
 * The FTL that the options describe, of any mapping scheme.
 * @throws InputError for options that are wrong, not used by the scheme, or leave too little space.
 */
export function createFtl(parts: FtlParts): DriveFtl {
  const { mapping } = parts.options;
  const option = { key: 'ftl.mapping', what: 'mapping scheme', fallback: 'page', kinds: mappingKinds };
  const scheme: MappingScheme = resolveStrategy<MappingScheme>(mapping, option);
  const name = mappingName(mapping);
  const kind = mappingKinds.find((known) => known.name === name);
  if (kind !== undefined) checkUsed(name, kind.uses, parts.options);
  else checkUsed(scheme.name ?? 'of your own', scheme.uses, parts.options);
  return scheme.attach(parts);
}

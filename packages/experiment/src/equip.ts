import { type MappingScheme, mappingKinds, mappingName, streamKinds, victimKinds } from '@flashstack/ftl';
import { lookupStrategy, type ParameterValue, resolveParameters, type StrategyKind } from '@flashstack/sim';
import type { SsdConfig } from '@flashstack/ssd';
import type { Extensions } from './extensions.js';

type Named = string | { readonly name: string; readonly parameters?: Readonly<Record<string, ParameterValue>> };

/** The drive with strategies of the user's own made: the FTL looks up only the names that come with it. */
export function equip(config: SsdConfig, extensions: Extensions): SsdConfig {
  const mapping = made(config.ftl.mapping, mappingKinds, extensions.mappings, 'ftl.mapping');
  const victim = made(config.ftl.victim, victimKinds, extensions.victims, 'ftl.victim');
  const streams = made(config.ftl.streams, streamKinds, extensions.streams, 'ftl.streams');
  return {
    ...config,
    ftl: {
      ...config.ftl,
      ...(mapping === undefined ? {} : { mapping }),
      ...(victim === undefined ? {} : { victim }),
      ...(streams === undefined ? {} : { streams }),
    },
  };
}

/** Options of the FTL that the mapping scheme of a drive uses, one of the user's own too; undefined: all. */
export function mappingUses({ ftl }: SsdConfig, extensions: Extensions): MappingScheme['uses'] {
  const builtIn = mappingKinds.find(({ name }) => name === mappingName(ftl.mapping));
  if (builtIn !== undefined) return builtIn.uses;
  const scheme = made(ftl.mapping, mappingKinds, extensions.mappings, 'ftl.mapping');
  return typeof scheme === 'object' && 'attach' in scheme ? scheme.uses : undefined;
}

function made<T extends object>(
  choice: T | Named | undefined,
  builtIn: readonly StrategyKind<T>[],
  all: readonly StrategyKind<T>[],
  what: string,
): T | Named | undefined {
  if (choice === undefined || (typeof choice === 'object' && 'attach' in choice)) return choice;
  const { name, parameters = {} } = typeof choice === 'string' ? { name: choice } : (choice as Exclude<Named, string>);
  if (builtIn.some((kind) => kind.name === name)) return choice;
  const kind = lookupStrategy(all, name, what);
  return kind.create(resolveParameters(kind, parameters));
}

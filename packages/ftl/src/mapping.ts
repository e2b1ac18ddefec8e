import type { NandArray, NandScheduler } from '@flashstack/nand-device';
import { InputError, nearestName, type RandomSource, type StrategyKind } from '@flashstack/sim';
import type { DriveFtl, FtlClient } from './contract.js';
import type { FtlOptions } from './options.js';
import { resolveWearLevelling } from './wear-options.js';

/** What an FTL is built on. */
export interface FtlParts {
  readonly array: NandArray;
  readonly scheduler: NandScheduler;
  readonly client: FtlClient;
  /** Root of the random streams of the FTL, such as `ftl.victim` and `ftl.wearLevelling`. */
  readonly random: RandomSource;
  readonly options: FtlOptions;
}

/** A mapping scheme: makes the FTL of a drive. */
export interface MappingScheme {
  /** What messages call it. Default: a scheme of the user's own. */
  readonly name?: string;
  /** Options of the FTL that it uses besides `mapping` and `logicalSlots`; others are refused. Default: all. */
  readonly uses?: readonly (keyof FtlOptions)[];
  /**
   * An FTL on an empty array, or on one whose `recover` is called right after.
   * @throws InputError for options that are wrong, not used by the scheme, or leave too little space.
   */
  attach(parts: FtlParts): DriveFtl;
}

/** A mapping scheme as it is named in `ftl.mapping`. */
export interface MappingKind extends StrategyKind<MappingScheme> {
  /** Options of the FTL that the scheme uses besides `mapping` and `logicalSlots`; others are refused. Default: all. */
  readonly uses?: readonly (keyof FtlOptions)[];
}

/**
 * Refuses options that the scheme `name` does not use; `uses`: see `MappingScheme`.
 * @throws InputError `ERR_FTL_OPTION`.
 */
export function checkUsed(name: string, uses: MappingScheme['uses'], options: FtlOptions): void {
  if (uses === undefined) return;
  for (const key of Object.keys(options) as (keyof FtlOptions)[]) {
    if (key === 'logicalSlots' || key === 'mapping' || options[key] === undefined || uses.includes(key)) continue;
    // Asks for nothing.
    if (key === 'wearLevelling' && resolveWearLevelling(options.wearLevelling).kind === 'none') continue;
    const nearest = nearestName(key, uses);
    throw new InputError(
      'ERR_FTL_OPTION',
      `ftl.${key}: has no meaning with ftl.mapping ${name}, which uses ${uses.length === 0 ? 'no other option' : uses.join(', ')}` +
        `${nearest === null ? '.' : `; did you mean ${nearest}?`} Leave it out`,
      `ftl.${key}`,
    );
  }
}

import { InputError, type Parameter, resolveParameters, unknownName } from '@flashstack/sim';

/** Static wear levelling by the spread of erase counts, or by a block erasing table (Chang et al. 2007). */
export type WearLevelling =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'threshold';
      /** Most minus fewest erases of a domain from which cold blocks are moved. At least 1, default 100. */
      readonly delta?: number;
      /** At most one move per so many erases of a domain. At least 1, default 5: with 50 the spread outruns small deltas. */
      readonly interval?: number;
    }
  | {
      readonly kind: 'bet';
      /** Blocks per flag are 2^k. 0 to 30, default 0. */
      readonly k?: number;
      /** Erases per set flag from which untouched sets are collected. At least 1, default 100. */
      readonly threshold?: number;
    };

/** Wear levelling with all parameters of its kind. */
export type ResolvedWearLevelling = AllOf<WearLevelling>;

type AllOf<T> = T extends unknown ? Required<T> : never;

const integer = (name: string, value: number, min: number, help: string, max?: number): Parameter =>
  max === undefined
    ? { name, type: 'integer', default: value, min, help }
    : { name, type: 'integer', default: value, min, max, help };

const kinds: Readonly<Record<WearLevelling['kind'], readonly Parameter[]>> = {
  none: [],
  threshold: [
    integer('delta', 100, 1, 'Most minus fewest erases of a domain from which cold blocks are moved.'),
    integer('interval', 5, 1, 'At most one move per so many erases of a domain.'),
  ],
  bet: [
    integer('k', 0, 0, 'Blocks per flag are 2^k.', 30),
    { name: 'threshold', type: 'number', default: 100, min: 1, help: 'Erases per set flag that start a collection.' },
  ],
};

/**
 * Wear levelling with every default filled in.
 * @throws InputError `ERR_UNKNOWN_NAME`, `ERR_PARAMETER_TYPE`, `ERR_PARAMETER_RANGE` or `ERR_FTL_OPTION`.
 */
export function resolveWearLevelling(choice: WearLevelling | undefined): ResolvedWearLevelling {
  if (choice === undefined) return { kind: 'none' };
  const key = 'ftl.wearLevelling';
  if (typeof choice !== 'object' || choice === null || typeof choice.kind !== 'string') {
    throw new InputError(
      'ERR_FTL_OPTION',
      `${key}: found ${JSON.stringify(choice)}, expected an object with kind ${Object.keys(kinds).join(', ')}`,
      key,
    );
  }
  const { kind, ...given } = choice;
  const parameters = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (parameters === undefined) throw unknownName(`${key}.kind`, kind, Object.keys(kinds));
  return { kind, ...resolveParameters({ name: key, parameters }, given) } as ResolvedWearLevelling;
}

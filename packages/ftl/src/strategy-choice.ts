import {
  InputError,
  lookupStrategy,
  type ParameterValue,
  resolveParameters,
  type StrategyKind,
  unknownName,
} from '@flashstack/sim';

/** A strategy by name, by name with parameters, or as an object of the user's own (known by its method `attach`). */
export type StrategyChoice<T> =
  | string
  | { readonly name: string; readonly parameters?: Readonly<Record<string, ParameterValue>> }
  | T;

/** A strategy as it was asked for. */
export interface NamedStrategy {
  readonly name: string;
  readonly parameters: Readonly<Record<string, ParameterValue>>;
}

/** Where a choice comes from: the option it is given in, what it chooses, and what there is to choose from. */
export interface StrategyOption<T> {
  readonly key: string;
  readonly what: string;
  readonly fallback: string;
  readonly kinds: readonly StrategyKind<T>[];
}

/** Name and parameters of a choice; an empty name for an object. */
export function strategyName(choice: StrategyChoice<object> | undefined, fallback: string): NamedStrategy {
  if (choice === undefined || typeof choice === 'string') return { name: choice ?? fallback, parameters: {} };
  if (isOwn(choice)) return { name: '', parameters: {} };
  const named = choice as { readonly name: string; readonly parameters?: NamedStrategy['parameters'] };
  return { name: named.name, parameters: named.parameters ?? {} };
}

/**
 * The strategy that a choice means: an object as it is, a name looked up and made with its parameters.
 * @throws InputError `ERR_UNKNOWN_NAME`, `ERR_PARAMETER_TYPE`, `ERR_PARAMETER_RANGE` or `ERR_FTL_OPTION`.
 */
export function resolveStrategy<T extends object>(choice: StrategyChoice<T> | undefined, option: StrategyOption<T>): T {
  if (choice === undefined || typeof choice === 'string') return make({ name: choice ?? option.fallback }, option);
  if (typeof choice !== 'object' || choice === null || Array.isArray(choice)) throw notAChoice(choice, option);
  return isOwn(choice) ? (choice as T) : make(choice as Readonly<Record<string, unknown>>, option);
}

function isOwn(choice: object): boolean {
  return 'attach' in choice && typeof choice.attach === 'function';
}

function make<T>(choice: Readonly<Record<string, unknown>>, option: StrategyOption<T>): T {
  const { name, parameters = {}, ...others } = choice;
  if (typeof name !== 'string' && Object.keys(others).length === 0) throw notAChoice(choice, option);
  const kind = typeof name === 'string' ? lookupStrategy(option.kinds, name, option.what) : undefined;
  for (const key of Object.keys(others)) {
    if (kind?.parameters.some((parameter) => parameter.name === key)) {
      const meant = JSON.stringify({ name, parameters: { [key]: others[key] } });
      throw new InputError(
        'ERR_FTL_OPTION',
        `${option.key}.${key}: found beside the name, expected among the parameters, as in ${meant}`,
        `${option.key}.${key}`,
      );
    }
    throw unknownName(`key of ${option.key}`, key, ['name', 'parameters']);
  }
  if (kind === undefined) throw notAChoice(choice, option);
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) {
    throw new InputError(
      'ERR_FTL_OPTION',
      `${option.key}.parameters: found ${JSON.stringify(parameters)}, expected an object of values by name`,
      `${option.key}.parameters`,
    );
  }
  return kind.create(resolveParameters(kind, parameters as Readonly<Record<string, unknown>>));
}

function notAChoice<T>(choice: unknown, { key, what, kinds }: StrategyOption<T>): InputError {
  const names = kinds.map((kind) => kind.name).join(', ');
  return new InputError(
    'ERR_FTL_OPTION',
    `${key}: found ${JSON.stringify(choice)}, expected the name of a ${what} (${names}), { name, parameters }, or an object with a method attach`,
    key,
  );
}

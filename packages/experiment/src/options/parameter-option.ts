import type { Parameter } from '@flashstack/sim';
import type { Option } from './option.js';
import { type UnitKind, writeAmount } from './units.js';

/** The option that a strategy's parameter is in a spec. */
export function parameterOption(parameter: Parameter): Option {
  const { type, unit, min, max, values, help } = parameter;
  const shared = { default: parameter.default === '' ? 'empty' : String(parameter.default), help };
  if (type === 'enum') return { type, values: values ?? [], ...shared };
  if (type === 'boolean') return { type, ...shared };
  if (type === 'string') return { type, mayBeEmpty: true, ...shared };
  const kinds: Readonly<Record<string, UnitKind>> = { bytes: 'size', ns: 'time' };
  const kind = kinds[unit ?? ''];
  const amount = kind !== undefined && typeof parameter.default === 'number';
  const isShare = type === 'number' && unit === undefined && min === 0 && max === 1;
  return {
    type: 'amount',
    unit: isShare ? 'share' : (kind ?? 'count'),
    ...(unit === undefined || unit in kinds ? {} : { of: unit }),
    whole: type === 'integer',
    ...(min === undefined ? {} : { min }),
    ...(max === undefined ? {} : { max }),
    ...shared,
    ...(amount ? { default: writeAmount(kind, parameter.default) } : {}),
  };
}

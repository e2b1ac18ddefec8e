import { InputError } from '@flashstack/sim';

/**
 * JSON with sorted keys and without white space: equal values give equal text. Keys with the value undefined are left
 * out. @throws InputError `ERR_SPEC_VALUE` for what JSON cannot hold (functions, NaN, cycles), naming its path.
 */
export function canonicalJson(value: unknown, path = 'spec'): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw notJson(path, String(value));
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item, at) => canonicalJson(item, `${path}[${at}]`)).join(',')}]`;
  if (typeof value !== 'object' || !isPlain(value)) throw notJson(path, describe(value));
  const record = value as Record<string, unknown>;
  const parts = Object.keys(record)
    .filter((key) => record[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(record[key], `${path}.${key}`)}`);
  return `{${parts.join(',')}}`;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  // Objects of another realm have another Object.prototype, but it is still the end of the chain.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: unknown): string {
  return typeof value === 'object' ? `an object of class ${value?.constructor.name}` : `a ${typeof value}`;
}

function notJson(path: string, found: string): InputError {
  return new InputError(
    'ERR_SPEC_VALUE',
    `${path} is ${found}, expected plain data: a spec is stored and hashed as JSON. Give strategies by name.`,
    path,
  );
}

import type { Parameter } from '@flashstack/sim';

/** A parameter that is a number of something, `unit`, from `min` on. */
export function whole(name: string, value: number, min: number, unit: string, help: string): Parameter {
  return { name, type: 'integer', unit, default: value, min, help };
}

/** A parameter that is a plain number, from `min` on. */
export function count(name: string, value: number, min: number, help: string): Parameter {
  return { name, type: 'integer', default: value, min, help };
}

/** A size in bytes, from `min` on. */
export function bytes(name: string, value: number, min: number, help: string): Parameter {
  return whole(name, value, min, 'bytes', help);
}

/** A share, from 0 to 1. */
export function share(name: string, value: number, help: string): Parameter {
  return { name, type: 'number', default: value, min: 0, max: 1, help };
}

/** Yes or no. */
export function flag(name: string, value: boolean, help: string): Parameter {
  return { name, type: 'boolean', default: value, help };
}

/** One of several names. */
export function choice(name: string, values: readonly string[], value: string, help: string): Parameter {
  return { name, type: 'enum', values, default: value, help };
}

import { InputError } from '@flashstack/sim';
import type { FileSystem } from '@flashstack/vfs';

/** What must be there of a thing that a module makes, and of which type. */
export type Shape = Readonly<Record<string, 'function' | 'boolean' | 'object'>>;

export const FILE_SYSTEM_SCHEME: Shape = { onDevice: 'boolean', format: 'function', open: 'function' };

export const READAHEAD_POLICY: Shape = {
  miss: 'function',
  marker: 'function',
  force: 'function',
  positionAfter: 'function',
};

export const FILE_SYSTEM: Readonly<Record<keyof FileSystem, 'function' | 'object'>> = {
  capabilities: 'object',
  mount: 'function',
  unmount: 'function',
  daemons: 'function',
  root: 'function',
  lookup: 'function',
  create: 'function',
  link: 'function',
  unlink: 'function',
  rmdir: 'function',
  rename: 'function',
  readdir: 'function',
  readlink: 'function',
  setAttributes: 'function',
  accessed: 'function',
  fallocate: 'function',
  seek: 'function',
  getAttribute: 'function',
  setAttribute: 'function',
  listAttributes: 'function',
  status: 'function',
  beginWrite: 'function',
  endWrite: 'function',
  readPages: 'function',
  writePages: 'function',
  direct: 'function',
  fsync: 'function',
  sync: 'function',
  evict: 'function',
};

/**
 * The thing itself. @throws InputError `ERR_SPEC_MODULE` that names all that is missing or of another type; `what` is what
 * made it, `key` what chose that in the spec.
 */
export function complete<T>(made: T, shape: Shape, what: string, key: string): T {
  if (typeof made !== 'object' || made === null) {
    throw new InputError(
      'ERR_SPEC_MODULE',
      `${what} gives ${made === null ? 'null' : typeof made}, expected an object.`,
      key,
    );
  }
  const given = made as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(shape).filter(([name, type]) => typeof given[name] !== type || given[name] === null);
  if (wrong.length === 0) return made;
  const list = wrong.map(
    ([name, type]) => `${name} (a ${type}, found ${given[name] === null ? 'null' : typeof given[name]})`,
  );
  throw new InputError('ERR_SPEC_MODULE', `${what} gives an object without ${list.join(', ')}.`, key);
}

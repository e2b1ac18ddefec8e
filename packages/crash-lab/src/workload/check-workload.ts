import { InputError, unknownName } from '@flashstack/sim';
import { BASE_STATES } from './base-states.js';
import { ALLOCATIONS, type ArgumentKind, OPERATIONS } from './operations.js';
import type { Step, Workload } from './workload.js';

const KEYS = ['base', 'processes', 'seed'];

const EXPECTED: Readonly<Record<ArgumentKind, string>> = {
  path: 'a path relative to the root, such as "A/foo", without "." and ".."',
  file: 'a path such as "A/foo", or a handle such as "#1"',
  handle: 'a handle such as "#1"',
  text: 'text',
  offset: 'an integer ≥ 0 of bytes',
  length: 'an integer ≥ 0 of bytes',
  mode: 'permission bits, 0 to 4095 (0o7777)',
  owner: 'an integer ≥ -1',
  allocation: `one of ${Object.keys(ALLOCATIONS).join(', ')}`,
};

/**
 * Checks what was read from a file, such as YAML or JSON: an object with `base` (default `empty`), `seed` (default 1) and
 * `processes`, lists of steps such as `[rename, A/foo, bar]`. @throws InputError that names the step and what was expected.
 */
export function checkWorkload(value: unknown): Workload {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong('workload', value, 'an object with processes, and perhaps base and seed');
  }
  for (const key of Object.keys(value)) if (!KEYS.includes(key)) throw unknownName('key of a workload', key, KEYS);
  const { base = 'empty', seed = 1, processes } = value as Record<string, unknown>;
  if (typeof base !== 'string') throw wrong('base', base, `one of ${Object.keys(BASE_STATES).join(', ')}`);
  if (!Object.hasOwn(BASE_STATES, base)) throw unknownName('base', base, Object.keys(BASE_STATES));
  if (typeof seed !== 'number' || !Number.isSafeInteger(seed) || seed < 0) throw wrong('seed', seed, 'an integer ≥ 0');
  if (!Array.isArray(processes) || processes.length === 0) {
    throw wrong('processes', processes, 'a list with a list of steps for each program');
  }
  return { base, seed, processes: processes.map((steps, process) => checkProgram(steps, `processes[${process}]`)) };
}

function checkProgram(steps: unknown, key: string): Step[] {
  if (!Array.isArray(steps)) throw wrong(key, steps, 'a list of steps such as [create, foo]');
  const open = new Set<string>();
  return steps.map((step, at) => checkStep(step, `${key}[${at}]`, open));
}

/** @param open handles that are open; a step may open or close one. */
function checkStep(step: unknown, key: string, open: Set<string>): Step {
  if (!Array.isArray(step) || typeof step[0] !== 'string') {
    throw wrong(key, step, 'a list of an operation and its arguments, such as [write, foo, 0, 4096]');
  }
  const [name, ...args] = step as [string, ...unknown[]];
  if (!Object.hasOwn(OPERATIONS, name)) throw unknownName(`operation in ${key}`, name, Object.keys(OPERATIONS));
  const { args: kinds } = OPERATIONS[name];
  if (args.length !== kinds.length) {
    const wanted = kinds.length === 0 ? 'no arguments' : `${kinds.length} arguments: ${kinds.join(', ')}`;
    throw wrong(key, step, `${name} with ${wanted}`);
  }
  for (const [at, kind] of kinds.entries()) {
    const place = `${key}, argument ${at + 1} of ${name}`;
    if (!isOf(kind, args[at])) throw wrong(place, args[at], EXPECTED[kind]);
    const handle = String(args[at]);
    const opens = name === 'open' || name === 'tmpfile';
    if (!handle.startsWith('#') || kind === 'text') continue;
    if (opens ? open.has(handle) : !open.has(handle)) {
      throw wrong(
        place,
        handle,
        opens ? 'a handle that is not open yet' : 'a handle that `open` or `tmpfile` has opened before',
      );
    }
    if (opens) open.add(handle);
    if (name === 'close') open.delete(handle);
  }
  return step as unknown as Step;
}

function isOf(kind: ArgumentKind, value: unknown): boolean {
  const integer = typeof value === 'number' && Number.isSafeInteger(value);
  switch (kind) {
    case 'path':
      return isPath(value);
    case 'file':
      return isPath(value) || isHandle(value);
    case 'handle':
      return isHandle(value);
    case 'text':
      return typeof value === 'string';
    case 'mode':
      return integer && value >= 0 && value <= 0o7777;
    case 'owner':
      return integer && value >= -1;
    case 'allocation':
      return typeof value === 'string' && Object.hasOwn(ALLOCATIONS, value);
    default:
      return integer && value >= 0;
  }
}

const isHandle = (value: unknown): boolean => typeof value === 'string' && /^#\w+$/.test(value);

function isPath(value: unknown): boolean {
  if (typeof value !== 'string' || value.startsWith('#') || value.includes('\0')) return false;
  return value === '' || value.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function wrong(key: string, found: unknown, expected: string): InputError {
  return new InputError('ERR_WORKLOAD', `${key} is ${JSON.stringify(found) ?? 'absent'}, expected ${expected}.`, key);
}
